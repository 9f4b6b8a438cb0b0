#!/bin/sh
# explore --watch: what changes is explored again, however it was written.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cp "$top"/programs/examples/on-call.tx safe.tx
cp "$top"/programs/examples/on-call-locked.tx locked.tx
cp safe.tx base.tx
mkdir parts
echo 'import "../base.tx";' >parts/all.tx
echo 'import "parts/all.tx";' >program.tx

# watched ARGUMENT...: in the background; `pid` is the process.
watched() {
	what="isoscope explore --watch $*"
	"$ISOSCOPE" explore --watch "$@" >out 2>err &
	pid=$!
}
# shows FILE WORDS N: that many lines have them.
shows() {
	[ "$(grep -cF -e "$2" "$1")" -ge "$3" ]
}
# ended CODE: it does so, with this exit code.
ended() {
	code=0
	wait "$pid" || code=$?
	equal "$what: exit code" "$code" "$1"
}

watched program.tx -i si -q --html page.html
soon shows out 'violated: 2 of 2' 1
soon shows err 'waiting for changes of 3 files' 1
[ -s page.html ] && pass || fail 'no page'
# As editors do: another file gets the name.
cp locked.tx new && mv new base.tx
soon shows out 'holds: ' 1
soon shows err 'waiting for changes of 3 files' 2
# What is wrong is shown, and waited on.
echo 'session' >base.tx
soon shows err 'base.tx:2:1: error: expected' 1
soon shows err 'waiting for changes' 3
# A file that is not there, and comes.
rm base.tx
soon shows err "cannot read 'parts/../base.tx'" 1
soon shows err 'waiting for changes' 4
cat safe.tx >base.tx
soon shows out 'violated: 2 of 2' 2
soon shows err 'waiting for changes' 5
# What no file of it is changes nothing: the page, a neighbour.
echo 'x' >neighbour.tx
touch page.html
# In place, through a link.
mv base.tx real.tx && ln -s real.tx base.tx
soon shows err 'waiting for changes' 6
cat locked.tx >real.tx
soon shows out 'holds: ' 2
soon shows err 'waiting for changes' 7
shows err 'waiting for changes' 8 && fail 'explored without a change' || pass
kill -INT "$pid"
ended 0

# A change ends an exploration that takes long, and so does a signal.
cat >long.tx <<'END'
global x = 0;
txn both(v) { x = x + v; x = x + v; }
session a { both(1); both(2); both(3); both(4); }
session b { both(5); both(6); both(7); both(8); }
session c { both(9); both(10); both(11); both(12); }
session d { both(13); both(14); both(15); both(16); }
assert a.nothing == null;
END
sed -i '/^assert/d' long.tx
echo 'assert serializable;' >>long.tx
watched long.tx -i rc
begins "$pid"
sleep 0.3
cat locked.tx >long.tx
soon shows out 'holds: ' 1
soon shows err 'waiting for changes' 1
kill -TERM "$pid"
ended 0

# Parts of a program in SQL.
cat >setup.sql <<'END'
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t VALUES (1, 0);
END
cat >sum.spec <<'END'
setup "setup.sql"
session a step a1 { UPDATE t SET n = n + 1 WHERE id = 1; }
session b step b1 { UPDATE t SET n = n + 1 WHERE id = 1; }
assert "both count" { SELECT n = 2 FROM t }
END
watched sum.spec -q
soon shows err 'waiting for changes of 2 files' 1
sed -i 's/(1, 0)/(1, 1)/' setup.sql
soon shows out 'violated' 1
soon shows err 'waiting for changes' 2
kill -INT "$pid"
ended 1

# What no change makes right ends it.
run 2 explore --watch
says 'needs a program'
run 2 explore --watch program.tx -i nothing
run 2 explore --watch program.tx --checkpoint x
says '--watch cannot be used with --checkpoint'
run 2 explore --watch -
says '--watch needs a program in a file'
finish
