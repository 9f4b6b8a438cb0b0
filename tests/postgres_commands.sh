#!/bin/sh
# Sessions that are commands: programs in several languages lose what they lose at
# prc, and nothing at si or ser; what is refused, and what is left behind.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
NODE_PATH=${NODE_PATH-/usr/share/nodejs}
export NODE_PATH

# explores CODE LEVEL FILE PATTERN: a line of the report has it.
explores() {
	run "$1" explore --engine=postgres "$3" ${2:+-i "$2"}
	if grep -q -e "$4" out; then pass; else fail "$what: no '$4'"; fi
}

# confirms FILE: what fails at prc happens on an unmodified PostgreSQL, where the
# statements that were recorded are sent.
confirms() {
	run 1 explore --engine=postgres -i prc --confirm --reproduce again.sh "$1"
	prints 'Confirmed on an unmodified PostgreSQL at READ COMMITTED:'
	[ -s again.sh ] && pass || fail "$what: nothing to reproduce it"
}

programs=$top/programs/postgres
explores 1 prc "$programs/stock.spec" '^  fails in 2 of 4 histories'
confirms "$programs/stock.spec"
if python3 -c 'import psycopg2' 2>err; then
	explores 1 prc "$programs/bank.spec" '^  fails in 2 of 4 histories'
	confirms "$programs/bank.spec"
else
	cat err
fi
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	if python3 -c 'import psycopg2' 2>/dev/null; then
		explores 0 si "$programs/bank.spec" '^histories  *2 '
	fi
	if node -e 'require("pg")' 2>err; then
		explores 1 prc "$programs/queue.spec" '^  fails in 2 of 4 histories'
		confirms "$programs/queue.spec"
		explores 0 ser "$programs/queue.spec" '^histories  *2 '
	else
		echo "node-postgres is not installed: its queue is not explored"
	fi
	if python3 -c 'import django, psycopg2' 2>err; then
		explores 1 prc "$programs/shop/shop.spec" \
			'^  fails in 2 of 4 histories'
		explores 0 si "$programs/shop/shop.spec" '^histories  *2 '
	else
		cat err
	fi
fi

# command TEXT [ASSERTION]: two sessions, of which one is this command.
command_of() {
	cat >a.sh
	cat >x.spec <<END
setup { CREATE TABLE t (id serial PRIMARY KEY, v int);
        INSERT INTO t (v) VALUES (0); }
session s command "sh a.sh"
session u step v { UPDATE t SET v = v + 1 WHERE id = 1 }
assert { ${1-SELECT true} }
END
}
psql='psql -X -q -A -t -v ON_ERROR_STOP=1'

# The output and the exit code; an exit code is an error.
command_of 'SELECT s.output = $$0$$ OR s.output = $$1$$ FROM s' <<END
$psql -c 'SELECT v FROM t WHERE id = 1'
END
explores 0 prc x.spec '^histories  *2 '
run 3 explore x.spec
says 'x.spec:3:9: error: a command needs a real PostgreSQL'
command_of 'SELECT s.exit = 0 OR s.output = $$1$$ FROM s' <<END
v=\$($psql -c 'SELECT v FROM t WHERE id = 1')
echo \$v
echo lost >&2
exit \$((v * 3))
END
explores 1 prc x.spec "the command of session 's' ends with exit code 3: lost"

# Sequences go on in the next connection; who disconnects has rolled back.
command_of 'SELECT count(*) = 3 AND max(id) = 3 FROM t' <<END
$psql -c 'INSERT INTO t (v) VALUES (7)' -c 'INSERT INTO t (v) VALUES (8)'
echo 'BEGIN; UPDATE t SET v = 9;' | $psql
END
explores 0 prc x.spec '^histories'

# Levels that transactions ask for.
command_of 'SELECT s.output = $$0 0$$ OR s.output = $$1 1$$ FROM s' <<END
echo \$($psql -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' \\
	-c 'SELECT v FROM t WHERE id = 1' -c 'SELECT v FROM t WHERE id = 1' \\
	-c COMMIT)
END
explores 0 '' x.spec '^histories  *2 '
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	sed -i 's/ISOLATION LEVEL REPEATABLE READ//' a.sh
	explores 1 '' x.spec '^  fails in 1 of 3 histories'
fi

# What does not depend on the database alone.
command_of <<END
$psql -c 'SELECT v FROM t WHERE id = 1'
echo x >>runs
$psql -c "UPDATE t SET v = \$(wc -l <runs) WHERE id = 1"
$psql -c 'SELECT v FROM t WHERE id = 1'
END
run 3 explore --engine=postgres x.spec
says "it does not do the same for the same answers: it writes {id: 1, v: 1} to t[1], and when it is run again it writes {id: 1, v: 2} to t[1]"
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
command_of <<END
echo \$\$; $psql -c 'SELECT v FROM t WHERE id = 1'
END
run 3 explore --engine=postgres x.spec
says 'it does not do the same for the same answers: its exit code and output'
command_of <<END
$psql -c 'CREATE TABLE w ()'
END
run 3 explore --engine=postgres x.spec
says 'does not support CREATE TABLE in a session'
fi
if python3 -c 'import psycopg2' 2>/dev/null; then
	command_of <<'END'
python3 -c '
import psycopg2
for i in range(2):
    c = psycopg2.connect("").cursor()
    c.execute("SELECT v FROM t WHERE id = 1")
    globals()["c%d" % i] = c
'
END
	run 3 explore --engine=postgres x.spec
	says 'begins a transaction in one connection while it is within one in another'
fi

# Set-up by commands, and sessions on the command line.
cat >x.spec <<END
setup command "$psql -c 'CREATE TABLE t (id int PRIMARY KEY)'"
setup { INSERT INTO t VALUES (1) }
session s step v { SELECT id FROM t }
assert { SELECT id = 1 FROM v }
END
explores 0 prc x.spec '^histories'
echo 'setup command "echo no >&2; exit 4" session s step v { SELECT 1 }' >x.spec
run 3 explore --engine=postgres x.spec
says 'setup failed: echo no >&2; exit 4: it ends with exit code 4: no'
echo 'session s command " "' >x.spec
run 3 explore --engine=postgres x.spec
says 'x.spec:1:19: error: this command is empty'
echo 'CREATE TABLE t (id int PRIMARY KEY);' >x.sql
run 0 explore --engine=postgres x.sql --session 's: !echo $PGUSER' \
	--assert "SELECT output = 'isoscope' FROM s"

run 3 explore --engine=postgres x.sql --session 's: ! '
says '--session:1:1: error: this command is empty'
# What is told of a session that was given is told of that.
run 3 explore --engine=postgres x.sql --session 's: !echo $$'
says "--session:1:1: error: session 's': it does not do the same"
# Parameters are sent as what they were; beside a session in SQL.
cat >take.py <<'END'
import psycopg
with psycopg.connect("") as c:
    n, = c.execute("SELECT v FROM t WHERE id = %s AND '$1' <> %s -- $1", [1, "it's"]).fetchone()
    c.execute("UPDATE t SET v = %s, w = %s WHERE id = %s", [n + 1, None, 1])
END
cat >x.spec <<'END'
setup { CREATE TABLE t (id int PRIMARY KEY, v int, w text); INSERT INTO t VALUES (1, 0, 'x') }
session s command "python3 take.py"
session u step v { UPDATE t SET v = v + 1 WHERE id = 1 }
assert { SELECT v = 2 FROM t }
END
if python3 -c 'import psycopg' 2>err; then
	confirms x.spec
	prints "SELECT v FROM t WHERE id = '1'::smallint AND '\$1' <> 'it''s'::text -- \$1"
	prints "UPDATE t SET v = '1'::smallint, w = NULL WHERE id = '1'::smallint"
else
	cat err
fi
command_of 'SELECT v = 2 FROM t' <<END
v=\$($psql -c 'SELECT v FROM t WHERE id = 1')
$psql -c "UPDATE t SET v = \$v + 1 WHERE id = 1 AND '}' <> 'x'"
END
run 1 explore --engine=postgres x.spec --confirm
prints 'Not tried on PostgreSQL: there is a brace in its SQL'
# What is found is told, though it cannot be tried elsewhere.
run 1 explore --engine=postgres x.sql --session 's: !echo x' --confirm \
	--reproduce s.sh --assert "SELECT output = 'y' FROM s"
prints 'Not tried on PostgreSQL: its sessions have used no table'
says "nothing was confirmed, so 's.sh' was not written"
[ ! -e s.sh ] && pass || fail "$what: s.sh is there"

# Nothing is left behind, whoever is killed.
command_of <<'END'
sleep 1234 & sleep 1234
END
is_there() {
	pgrep -f '^sleep 1234$' >/dev/null
}
is_gone() {
	! is_there
}
"$ISOSCOPE" explore --engine=postgres x.spec >/dev/null 2>&1 &
soon is_there
kill -9 $!
soon is_gone
run 4 explore --engine=postgres --timeout 2 x.spec
soon is_gone
is_empty() {
	[ -z "$(ls folders)" ]
}
soon is_empty
finish
