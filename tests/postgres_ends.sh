#!/bin/sh
# However a private PostgreSQL, its clients or isoscope end, there is a clear word
# and the right exit code, what was found is told, and nothing is left: no process,
# no folder, no shared memory.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server

cat >accounts.sql <<'END_OF_FILE'
CREATE TABLE account (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO account VALUES (1, 0), (2, 0);
END_OF_FILE
cat >lost.spec <<'END_OF_FILE'
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0); }
session a step a1 { UPDATE t SET v = (SELECT v FROM t) + 1 }
session b step b1 { UPDATE t SET v = (SELECT v FROM t) + 1 }
assert { SELECT v = 2 FROM t }
END_OF_FILE

is_empty() {
	[ -z "$(ls folders)" ]
}
# The segments that nobody uses, and of which there were none when it was called first.
unused() {
	awk '$7 == 0 && NR > 1 { print $2 }' /proc/sysvipc/shm | sort
}
unused >before
# clean WHAT: nothing is left of it.
clean() {
	what=$1
	soon is_empty
	unused >after
	equal "$what: shared memory that is left" \
		"$(comm -13 before after | tr '\n' ' ')" ''
	unused >before
}
server_runs() {
	grep -q ready folders/*/data/postmaster.pid 2>/dev/null
}

# The server is killed: what was found is told.
cat >count.sh <<'END_OF_FILE'
for i in 1 2 3; do psql -qXAtc 'UPDATE account SET n = n + 1 WHERE id = 1'; done
kill -9 "$(head -n 1 "$PGHOST/../data/postmaster.pid")"
sleep 600
END_OF_FILE
run 4 serve --schema accounts.sql --history history.jsonl -- sh count.sh
prints 'inconclusive: PostgreSQL has ended: it was ended by signal 9'
prints 'transactions              3'
clean 'serve, without its server'
run 0 check -i prc history.jsonl
rm -f killed
cat >kill.spec <<'END_OF_FILE'
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0); }
session a command "sh kill.sh 1"
session b command "sh kill.sh 2"
assert { SELECT count(*) = 3 FROM t }
END_OF_FILE
cat >kill.sh <<'END_OF_FILE'
psql -qXAtc "UPDATE t SET v = (SELECT v FROM t WHERE id = 3 - $1) + 1 WHERE id = $1" || exit
echo x >>runs
n=$(wc -l <runs)
[ "$n" != 8 ] || kill -9 "$(head -n 1 "$PGHOST/../data/postmaster.pid")"
END_OF_FILE
run 4 explore --engine=postgres kill.spec
prints 'inconclusive: PostgreSQL has ended, with no violation in the '
prints 'PostgreSQL has ended: it was ended by signal 9'
clean 'explore, without its server'

# So it is when the process that watches over the server is killed.
cat >keeper.sh <<'END_OF_FILE'
keeper() {
	ps -o ppid= -p "$(head -n 1 "$PGHOST/../data/postmaster.pid")" | tr -d ' '
}
END_OF_FILE
cat >count.sh <<'END_OF_FILE'
. ./keeper.sh
psql -qXAtc 'UPDATE account SET n = n + 1 WHERE id = 1'
kill -9 "$(keeper)"
psql -qXAtc 'SELECT pg_sleep(600)'
exit 1
END_OF_FILE
run 4 serve --schema accounts.sql --history history.jsonl -- sh count.sh
prints 'inconclusive: PostgreSQL has ended with the process that watches over it, which was ended by signal 9'
prints 'transactions              1'
clean 'serve, without its keeper'
run 0 check -i prc history.jsonl
rm -f runs
sed -i -e "1i. $work/keeper.sh" \
	-e 's/kill -9 .*/{ kill -9 "$(keeper)"; psql -qXAtc "SELECT pg_sleep(600)"; }/' kill.sh
run 4 explore --engine=postgres kill.spec
prints 'inconclusive: PostgreSQL has ended, with no violation in the '
prints 'PostgreSQL has ended with the process that watches over it'
clean 'explore, without its keeper'

# A backend is killed, and with it all others: a session is run again.
rm -f runs
cat >kill.sh <<'END_OF_FILE'
echo x >>runs
n=$(wc -l <runs)
psql -qXAtc "UPDATE t SET v = (SELECT v FROM t WHERE id = 3 - $1) + 1 WHERE id = $1" || exit
[ "$n" != 8 ] || pkill -9 -P "$(head -n 1 "$PGHOST/../data/postmaster.pid")" -f 'isoscope postgres'
psql -qXAtc "SELECT v FROM t WHERE id = $1" || exit
END_OF_FILE
sed -i 's/SELECT count(\*) = 3/SELECT count(*) = 2/' kill.spec
run 0 explore --engine=postgres kill.spec
prints 'histories                 3 '
[ "$(wc -l <runs)" -gt 8 ] && pass || fail 'no backend was killed'
clean 'explore, a backend of which is killed'
cat >kills.sh <<'END_OF_FILE'
psql -qXAtc 'UPDATE account SET n = n + 1 WHERE id = 1'
psql -qXAtc 'SELECT pg_sleep(600)' &
until pgrep -f 'isoscope postgres .local. SELECT' >/dev/null; do sleep 0.1; done
pkill -9 -P "$(head -n 1 "$PGHOST/../data/postmaster.pid")" -f 'isoscope postgres'
wait
until psql -qXAtc 'SELECT n FROM account WHERE id = 1' 2>/dev/null; do sleep 0.1; done
END_OF_FILE
run 0 serve --runs 2 --policy latest --schema accounts.sql -- sh kills.sh
prints 'runs                      2'
prints 'Meanwhile a backend of PostgreSQL was terminated by signal 9: Killed, which ends all connections.'
clean 'serve, whose backends are killed'

# A backend is killed while it is set up, by SQL and by a command: that is not done
# again, and is nobody's input's fault.
cat >die.sh <<'END_OF_FILE'
psql -qXAtc 'SELECT pg_sleep(600)' &
until pgrep -f 'isoscope postgres .local. SELECT' >/dev/null; do sleep 0.1; done
pkill -9 -P "$(head -n 1 "$PGHOST/../data/postmaster.pid")" -f 'isoscope postgres'
wait
exit 1
END_OF_FILE
run 70 serve --setup 'sh die.sh' -- true
says 'it ends with exit code 1'
clean 'set-up by a command, a backend of which is killed'
echo 'SELECT pg_sleep(600);' >sleep.sql
"$ISOSCOPE" serve --schema sleep.sql -- true >out 2>err </dev/null &
child=$!
what='set-up by SQL, a backend of which is killed'
asleep() {
	pgrep -P "$(head -n 1 folders/*/data/postmaster.pid 2>/dev/null)" \
		-f 'isoscope postgres .local. SELECT' >backend
}
soon asleep
kill -9 "$(head -n 1 backend)"
wait $child
equal "$what: exit code" $? 70
says 'setup failed: PostgreSQL has closed the connection'
clean "$what"

# Ctrl-C, at any moment, while initdb makes the files, while they are copied, while
# it is set up and while it runs: a terminal sends it to all processes of a group.
cat >interrupt.py <<'END_OF_FILE'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGQUIT, signal.SIG_IGN) # as in the background of a shell
p = subprocess.Popen(sys.argv[3:], start_new_session=True, stdin=subprocess.DEVNULL,
    stdout=open("out", "w"), stderr=open("err", "w"))
time.sleep(float(sys.argv[2]))
os.killpg(p.pid, getattr(signal, sys.argv[1]))
sys.exit(p.wait() & 255)
END_OF_FILE
cat >slow.spec <<'END_OF_FILE'
setup { CREATE TABLE t (id int PRIMARY KEY, v int); SELECT pg_sleep(0.3); }
session a step a1 { SELECT pg_sleep(600) FROM t }
session b command "sleep 600"
END_OF_FILE
interrupts() {
	signal=$1 moment=$2
	shift 2
	what="isoscope $*, $signal after $moment s"
	python3 interrupt.py $signal "$moment" "$ISOSCOPE" "$@"
	code=$?
	case $signal$code in
	SIGINT4 | SIGTERM4)
		cat out >>err
		says interrupted
		;;
	SIGKILL247) pass ;;
	*) fail "$what: exit code $code" ;;
	esac
	clean "$what"
}
moments='0.1 0.4 0.9 1.5'
[ -z "${ISOSCOPE_QUICK:-}" ] ||
	moments=$(awk -v seed="${ISOSCOPE_SEED:-1}" 'BEGIN {
		srand(seed); print 0.1 + 2 * rand() }')
if command -v python3 >/dev/null; then
	cache=${XDG_CACHE_HOME-unset}
	for moment in $moments; do
		for signal in SIGINT SIGKILL; do
			XDG_CACHE_HOME=$work/cache
			export XDG_CACHE_HOME
			rm -rf cache
			interrupts $signal "$moment" serve --schema accounts.sql -- sleep 600
			if [ "$cache" = unset ]; then
				unset XDG_CACHE_HOME
			else
				XDG_CACHE_HOME=$cache
			fi
			interrupts $signal "$moment" serve --schema accounts.sql -- sleep 600
			interrupts $signal "$moment" explore --engine=postgres slow.spec
		done
	done
fi

# A prepared cluster that is damaged is made anew.
XDG_CACHE_HOME=$work/damaged
export XDG_CACHE_HOME
chmod 755 .
run 0 serve --schema accounts.sql -- psql -qXc 'TABLE account'
prepared=$(echo damaged/isoscope/postgres-*)
for damage in "rm $prepared/global/pg_control" "rm -r $prepared/base" \
	"truncate -s 100 $prepared/PG_VERSION" "rm -r $prepared/*"; do
	$damage
	run 0 serve --schema accounts.sql -- psql -qXc 'TABLE account'
	what="after $damage"
	[ -s "$prepared/global/pg_control" ] && pass || fail "$what: it is not made anew"
	equal "$what" "$(ls damaged/isoscope | wc -l)" 1
done
stamp=$(stat -c %i "$prepared")
run 0 serve --schema accounts.sql -- psql -qXc 'TABLE account'
equal 'one that is whole' "$(stat -c %i "$prepared")" "$stamp"
clean 'damaged prepared clusters'
if [ "${cache-unset}" = unset ]; then unset XDG_CACHE_HOME; else XDG_CACHE_HOME=$cache; fi

# Places that it cannot be in; and without any command to make or remove files.
# elsewhere FOLDER WORDS
elsewhere() {
	[ "$1" = /no/where ] || mkdir -p -m 1777 "$1"
	for command in 'serve -- true' 'explore --engine=postgres lost.spec'; do
		what="TMPDIR='$1' isoscope $command"
		TMPDIR=$1 "$ISOSCOPE" $command >out 2>err </dev/null
		equal "$what: exit code" $? 3
		says "cannot make a folder in $1: $2 (set TMPDIR to use another folder)"
	done
}
place=$(mktemp -d /tmp/odd.XXXXXX)
chmod 755 "$place"
elsewhere /no/where 'No such file or directory'
elsewhere "$place/a,b" "the name of a socket cannot have the character ','"
elsewhere "$place/a'b" "the name of a socket cannot have the character '''"
elsewhere "$place/a b" "the name of a socket cannot have the character ' '"
elsewhere folders "it does not begin with '/'"
rm -r "$place"
what='without PATH'
PATH=/nonexistent "$ISOSCOPE" serve -- true >out 2>err </dev/null
equal "$what: exit code" $? 3
says "cannot run 'cp'"
clean "$what"

# Several at once.
for _ in 1 2 3; do
	"$ISOSCOPE" serve --schema accounts.sql -- \
		psql -qXc 'UPDATE account SET n = 1' >/dev/null 2>&1 &
	others="${others-} $!"
done
run 1 explore --engine=postgres lost.spec
for other in $others; do
	wait "$other"
	equal 'beside others: exit code' $? 0
done
clean 'several at once'

# apart COMMAND...: in a file system of its own view, where that is allowed.
apart() {
	unshare -m "$@"
}
if ! apart true 2>err; then
	cat err
	echo 'no disk is filled, and no initdb is missing'
	finish
	exit
fi
# A full disk: while it is started, with and without prepared files; and while it runs.
mkdir -m 1777 full
cat >filled.sh <<'END_OF_FILE'
mount -t tmpfs -o size=60m,mode=1777 tmpfs full || exit
TMPDIR=$PWD/full
export TMPDIR
head -c "$1"m /dev/zero >full/filled
shift
"$@"
code=$?
rm -f full/filled
[ -z "$(ls full)" ] || echo left: full/* >&2
exit $code
END_OF_FILE
filled() {
	code=$1
	shift
	what="a disk with $1 of 60 MB filled: $*"
	apart sh filled.sh "$@" >out 2>err
	equal "$what: exit code" $? "$code"
	if grep -q '^left:' err; then fail "$what: something is left"; else pass; fi
}
for size in 55 50; do
	filled 3 $size "$ISOSCOPE" serve -- true
	says 'PostgreSQL does not start: '
	says "the disk of $work/full is full; TMPDIR=FOLDER has isoscope use another one"
	XDG_CACHE_HOME=$work/none
	export XDG_CACHE_HOME
	filled 3 $size "$ISOSCOPE" explore --engine=postgres lost.spec
	says "the disk of $work/full is full; TMPDIR=FOLDER has isoscope use another one"
	if [ "$cache" = unset ]; then unset XDG_CACHE_HOME; else XDG_CACHE_HOME=$cache; fi
done
cat >fill.sh <<'END_OF_FILE'
cat /dev/zero >full/filled 2>/dev/null
psql -qXAtc 'SELECT count(*) FROM (SELECT g FROM generate_series(1, 3000000) g ORDER BY g DESC) x'
psql -qXAtc 'UPDATE account SET n = n + 1 WHERE id = 1'
psql -qXAtc 'SELECT n FROM account WHERE id = 1'
END_OF_FILE
filled 0 0 "$ISOSCOPE" serve --policy latest --schema accounts.sql -- sh fill.sh
says 'No space left on device'
equal 'with a full disk' "$(grep -x '[0-9]*' err)" 1
clean 'full disks'

# No initdb.
programs=$(ls -d /usr/lib/postgresql/15/bin 2>/dev/null)
if [ -n "$programs" ]; then
	mkdir nothing
	for command in 'serve -- true' 'explore --engine=postgres lost.spec'; do
		what="isoscope $command, without initdb"
		apart sh -c "mount --bind nothing $programs && \"$ISOSCOPE\" $command" \
			>out 2>err
		equal "$what: exit code" $? 3
		says 'PostgreSQL is missing: there is no postgres or no initdb in '
		says 'apt-get install postgresql-15'
	done
fi
clean 'no initdb'
finish
