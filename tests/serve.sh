#!/bin/sh
# Clients that are served: what a level lets them read, the history of it, what is
# refused, and what is left behind.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
seed=${ISOSCOPE_SEED:-1}

cat >accounts.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO account VALUES (1, 0), (2, 0);
END

# serves CODE LEVEL POLICY COMMAND...: and its history satisfies the level.
serves() {
	code=$1 level=$2 policy=$3
	shift 3
	rm -f history.jsonl
	run "$code" serve -i "$level" --policy "$policy" --seed "$seed" \
		--schema accounts.sql --history history.jsonl -- "$@"
	cp err told
	run 0 check -i "$level" history.jsonl
	prints "holds"
	cp told err
}

# Two psql: both are connected before the first writes. The second reads the
# oldest version that it may.
cat >lost.sh <<'END'
rm -f connected go
psql -qX -v ON_ERROR_STOP=1 <<SQL &
\! touch connected
\! until [ -e go ]; do sleep 0.02; done
BEGIN;
SELECT n FROM account WHERE id = 1 \gset
UPDATE account SET n = :n + 10 WHERE id = 1;
COMMIT;
SQL
until [ -e connected ]; do sleep 0.02; done
psql -qX -c 'UPDATE account SET n = n + 1 WHERE id = 1'
touch go
wait $! || exit 2
[ "$(psql -qXAtc 'SELECT n FROM account WHERE id = 1')" = 11 ]
END
prints_before() {
	if sed -n 1p out | grep -qF -e "$1"; then pass; else fail "$what: '$1' is not first"; fi
}
run 1 serve -q --policy oldest --schema accounts.sql -- sh lost.sh
prints_before "violated: the command ended with exit code 1, served at PostgreSQL"
[ -n "${ISOSCOPE_QUICK:-}" ] || serves 1 rc oldest sh lost.sh
serves 1 si oldest sh lost.sh
says "could not serialize access: account[1] was changed by a transaction"
serves 0 ser oldest sh lost.sh
serves 0 prc latest sh lost.sh
run 0 serve --policy latest --schema accounts.sql -- sh lost.sh
lacks 'drawn at random'
run 0 serve --stale 0 --schema accounts.sql -- sh lost.sh
lacks 'drawn at random'
run 0 serve --stale 0.0001 --schema accounts.sql -- sh lost.sh
prints 'What reads got was drawn at random'

# Write skew: each looks at the other's row.
cat >skew.sh <<'END'
rm -f connected go
psql -qX -v ON_ERROR_STOP=1 <<SQL &
\! touch connected
\! until [ -e go ]; do sleep 0.02; done
BEGIN;
SELECT sum(n) FROM account \gset
UPDATE account SET n = 1 WHERE id = 2 AND :sum = 0;
COMMIT;
SQL
until [ -e connected ]; do sleep 0.02; done
psql -qX -c 'UPDATE account SET n = 1 WHERE id = 1'
touch go
wait $! || exit 2
[ "$(psql -qXAtc 'SELECT sum(n) FROM account')" = 1 ]
END
serves 1 si oldest sh skew.sh
[ -n "${ISOSCOPE_QUICK:-}" ] || serves 0 ser oldest sh skew.sh

# What a transaction asks for by itself counts.
serves 0 prc oldest sh -c 'sed "s/^BEGIN/BEGIN ISOLATION LEVEL SERIALIZABLE/" \
	lost.sh >own.sh; sh own.sh'
grep -q '"at":"ser"' history.jsonl && pass || fail "no level of its own"

# A connection that is made later sees what was there.
serves 0 rc oldest sh -c 'psql -qXc "UPDATE account SET n = 5";
	[ "$(psql -qXAtc "SELECT sum(n) FROM account")" = 10 ]'

# In real time, only those that ran beside another may miss it.
run 0 serve --real-time --policy oldest --schema accounts.sql -- sh lost.sh
cat >beside.sh <<'END'
rm -f begun go
psql -qXAt -o seen <<SQL &
BEGIN;
SELECT n FROM account WHERE id = 2;
\! touch begun
\! until [ -e go ]; do sleep 0.02; done
SELECT n FROM account WHERE id = 1;
COMMIT;
SQL
until [ -e begun ]; do sleep 0.02; done
psql -qXc 'UPDATE account SET n = n + 1 WHERE id = 1'
touch go
wait
[ "$(sed -n 2p seen)$(psql -qXAtc 'SELECT n FROM account WHERE id = 1')" != 01 ]
END
run 1 serve --real-time --policy oldest --schema accounts.sql -- sh beside.sh
run 0 serve --real-time --policy latest --schema accounts.sql -- sh beside.sh

# Who wants a row that another one has changed waits for it, and looks at it anew,
# or is refused; who waits in a circle is told.
cat >waits.sh <<'END'
rm -f held go
waiting() {
	psql -qXAtc "SELECT count(*) FROM pg_stat_activity
		WHERE wait_event_type = 'Lock'"
}
psql -qX -v VERBOSITY=sqlstate <<SQL &
BEGIN;
UPDATE account SET n = n + 1 WHERE id = 1;
\! touch held
\! until [ -e go ]; do sleep 0.02; done
$1
COMMIT;
SQL
until [ -e held ]; do sleep 0.02; done
psql -qXAt <<SQL >late 2>&1 &
\set VERBOSITY sqlstate
BEGIN;
UPDATE account SET n = n + 1 WHERE id = 2;
UPDATE account SET n = n + 10 WHERE id = 1 AND n < 1 RETURNING n;
UPDATE account SET n = n + 10 WHERE id = 1 RETURNING n;
COMMIT;
SQL
until [ "$(waiting)" = 1 ]; do sleep 0.02; done
psql -qXAt -v VERBOSITY=sqlstate <<SQL >others 2>&1
SELECT n FROM account WHERE id = 1 FOR UPDATE NOWAIT;
SELECT id FROM account WHERE id = 1 FOR UPDATE SKIP LOCKED;
SET lock_timeout = 10;
UPDATE account SET n = 0 WHERE id = 1;
SET lock_timeout = 0;
SET statement_timeout = 10;
DELETE FROM account WHERE id = 1;
SQL
touch go
wait
cat late others >&2
psql -qXAtc 'SELECT n FROM account ORDER BY id' >&2
END
told() {
	equal "$what" "$(cat told | tr '\n' ' ')" "$1"
}
others='ERROR:  55P03 ERROR:  55P03 ERROR:  57014'
serves 0 prc latest sh waits.sh ''
told "11 $others 11 1 "
serves 0 si latest sh waits.sh ''
told "ERROR:  40001 ERROR:  25P02 $others 1 0 "
# Which of the two it ends is up to PostgreSQL.
serves 0 prc latest sh waits.sh 'UPDATE account SET n = n + 1 WHERE id = 2;'
says 40P01

# Who inserts a row waits for who changes that of its key, not for who has merely
# locked it.
cat >inserts.sh <<'END'
rm -f held go
psql -qX -o /dev/null <<SQL &
BEGIN;
$1;
\! touch held
\! until [ -e go ]; do sleep 0.02; done
ROLLBACK;
SQL
until [ -e held ]; do sleep 0.02; done
psql -qXAt -v VERBOSITY=sqlstate -c "SET lock_timeout = $2" \
	-c 'INSERT INTO account VALUES (1, 0)' >others 2>&1
touch go
wait
cat others >&2
END
for level in prc si; do
	serves 0 $level latest sh inserts.sh \
		'SELECT n FROM account WHERE id = 1 FOR UPDATE' 0
	told 'ERROR:  23505 '
	[ -z "${ISOSCOPE_QUICK:-}" ] || break
	serves 0 $level latest sh inserts.sh \
		'UPDATE account SET n = n + 1 WHERE id = 1' 100
	told 'ERROR:  55P03 '
done

# A connection that sleeps keeps what it may read, as far back as it may begin.
cat >sleeps.sh <<'END'
rm -f connected go
psql -qXAt <<SQL >slept &
\! touch connected
\! until [ -e go ]; do sleep 0.02; done
SELECT n FROM account WHERE id = 1;
SQL
until [ -e connected ]; do sleep 0.02; done
yes 'UPDATE account SET n = n + 1 WHERE id = 1;' | head -n 300 | psql -qX
touch go
wait
cat slept >&2
END
serves 0 prc oldest sh sleeps.sh
told '0 '
run 0 serve --policy oldest --stale-within 7 --schema accounts.sql -- sh sleeps.sh
says 293
run 0 serve --policy latest --schema accounts.sql -- sh sleeps.sh
says 300
run 2 serve --stale-within 0 -- true
says 'takes a positive number'

# A client may wait for what its other connections do.
cat >two.py <<'END'
import psycopg2
a, b = psycopg2.connect(""), psycopg2.connect("")
with a.cursor() as x, b.cursor() as y:
    x.execute("UPDATE account SET n = 5 WHERE id = 1")
    y.execute("SELECT sum(n) FROM account")
    assert y.fetchone() == (0,)
    y.execute("UPDATE account SET n = 7 WHERE id = 2")
    b.commit()
    x.execute("SELECT sum(n) FROM account")
    assert x.fetchone() == (12,)
a.commit()
END
if python3 -c 'import psycopg2' 2>err; then
	serves 0 prc latest python3 two.py
	prints 'history   2 transactions in 2 sessions'
fi

# Random schedules of three connections give what they give on tables of
# PostgreSQL's own.
cat >kept.sql <<'END'
CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE);
CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t (id));
END
cat >theirs.sh <<'END'
PGOPTIONS='-c search_path=theirs -c default_table_access_method=heap'
export PGOPTIONS
psql -qX -c 'CREATE SCHEMA theirs' -f kept.sql || exit
python3 side_by_side.py "$@" >theirs
unset PGOPTIONS
psql -qX -c 'SET client_min_messages = error' -c 'DROP SCHEMA theirs CASCADE' \
	-f kept.sql
END
cp "$top/tests/drivers/side_by_side.py" .
chmod 777 .
beside() {
	set -- $((seed * 1000)) $times "$1" "$2"
	rm -f theirs ours
	run 0 serve -i "$3" --policy latest --history history.jsonl \
		--setup "sh theirs.sh $1 $2 '$4'" -- \
		sh -c "python3 side_by_side.py $1 $2 '$4' >ours"
	equal "schedules at $3" "$(grep -c '^schedule' theirs)" $2
	diff theirs ours >err && pass || fail "$what: other than PostgreSQL's own"
	run 0 check -i "$3" history.jsonl
}
if python3 -c 'import psycopg2' 2>err; then
	times=200
	[ -z "${ISOSCOPE_QUICK:-}" ] || times=20
	beside prc 'READ COMMITTED'
	beside si 'REPEATABLE READ'
fi

# Test suites empty their tables.
cat >notes.sql <<'END'
CREATE TABLE note (id serial PRIMARY KEY, n int UNIQUE);
CREATE TABLE line (id serial PRIMARY KEY, note int REFERENCES note);
INSERT INTO note (n) VALUES (5), (6);
INSERT INTO line (note) VALUES (1), (2);
END
run 0 serve --schema notes.sql --history history.jsonl -- \
	psql -qXAt -c 'TRUNCATE note' -c 'TRUNCATE note CASCADE' \
	-c 'SELECT count(*) FROM line' -c 'TRUNCATE line, note RESTART IDENTITY' \
	-c 'INSERT INTO note (n) VALUES (5) RETURNING id'
says 'cannot truncate a table referenced in a foreign key constraint'
equal "printed" "$(grep -v '^[A-Z]' err | tr '\n' .)" 0.1.
run 0 check -i prc history.jsonl

# It is run until it fails; of the stale reads, those are told that are enough.
run 1 serve --runs 60 --seed "$seed" --schema accounts.sql -- sh lost.sh
prints '1 read that is not of the newest version is enough:'
prints 'c1.1  SELECT n FROM account WHERE id = 1'
prints 'read account[1] = {id: 1, n: 0}, from set-up'
prints 'and not {id: 1, n: 1}, from c2.1'
run 0 serve --runs 2 -i ser --seed "$seed" --schema accounts.sql -- sh lost.sh
prints 'exit code 0 in each run'
cat >both.sh <<'END'
rm -f connected? go read?
client() {
	psql -qXAt -o read$1 <<SQL
\! touch connected$1
\! until [ -e go ]; do sleep 0.02; done
SELECT n FROM account WHERE id = 2;
SELECT n FROM account WHERE id = 1;
SQL
}
client 1 & client 2 &
until [ -e connected1 ] && [ -e connected2 ]; do sleep 0.02; done
psql -qXc 'UPDATE account SET n = 1 WHERE id = 1' \
	-c 'UPDATE account SET n = 1 WHERE id = 2'
touch go
wait
[ "$(sed 1d read1)$(sed 1d read2)" != 00 ]
END
run 1 serve --runs 90 -i rc --seed "$seed" --schema accounts.sql --json -- \
	sh both.sh
prints '"cause":"minimal","staleReads":[{"transaction":"'
equal "reads told" "$(grep -o 'SELECT n FROM account WHERE id = [12]' out |
	tr '\n' .)" "SELECT n FROM account WHERE id = 1.SELECT n FROM account WHERE id = 1."
# What fails anyhow, needs none.
run 1 serve --runs 3 --schema accounts.sql -- sh -c 'psql -qXc "TABLE account"; echo so; exit 7'
prints 'exit code 7, in run 1, with seed 1'
prints 'It fails as well when each read gets the newest version'
says so

# What does something else each time is said to, whatever it has read.
rm -f tries
run 1 serve --runs 3 --schema accounts.sql -- \
	sh -c 'echo x >>tries; psql -qXc "TABLE account"; exit $(($(wc -l <tries) % 2))'
prints 'does not do the same each time: when each read gets the newest version that it may have, it fails in 1 of 2 runs.'
rm -f tries
run 1 serve --runs 3 --stale 1 --schema accounts.sql -- \
	sh -c 'echo x >>tries; sh lost.sh; n=$(wc -l <tries); [ $n != 1 ] && [ $n != 3 ]'
prints 'it fails in 0 of 4 runs, and with this one in 1 of 4 runs:'
prints 'read account[1] = {id: 1, n: 0}, from set-up'
# Faults are told from stale reads; and what came before there is no other run is kept.
run 1 serve --runs 3 --faults 1 --schema accounts.sql -- \
	psql -qXc 'UPDATE account SET n = 2'
prints 'when each read gets the newest version that it may have, but not without faults.'
prints 'The last fault before it failed was 40P01, in answer to:'
prints '  c1.1  UPDATE account SET n = 2'
run 4 serve --runs 3 --schema accounts.sql -- psql -qXc 'DROP TABLE account'
prints 'inconclusive: the command has dropped tables of set-up, so there is no other run'
prints 'connections               1'
run 1 serve --runs 3 --schema accounts.sql -- sh -c 'psql -qXc "DROP TABLE account"; exit 5'
prints 'exit code 5, in run 1, with seed 1'
prints 'Which stale reads it needs was not found out: the command has dropped'

# Shares: of stale reads, none and all that can be; of faults.
run 1 serve --stale 1 --schema accounts.sql -- sh lost.sh
run 1 serve --faults 1 --schema accounts.sql -- \
	psql -qXc 'UPDATE account SET n = 2'
says 'deadlock detected, by isoscope serve --faults'
prints 'faults                    1'
run 0 serve --faults 1 --schema accounts.sql -- \
	sh -c 'psql -qXc "SELECT * FROM account"; true'
says 'could not serialize access, by isoscope serve --faults'
run 2 serve --stale 2 -- true
says 'takes a share from 0 to 1'
run 2 serve --stale 0.1 --policy latest -- true
run 2 serve --runs 3
says '--runs repeats a command'

# Random clients: whatever they are told satisfies the level.
cat >clients.py <<'END'
import psycopg2, random, sys, threading
draw = random.Random(int(sys.argv[1]))
connections = [psycopg2.connect("") for _ in range(3)]
def statement(draw):
    i, j = draw.randint(1, 4), draw.randint(1, 4)
    return draw.choice([
        "SELECT * FROM t WHERE id = %d" % i, "SELECT * FROM t",
        "SELECT sum(n) FROM t WHERE n > %d" % j,
        "UPDATE t SET n = n + 1 WHERE id = %d" % i,
        "UPDATE t SET n = %d WHERE n = %d" % (i, j),
        "DELETE FROM t WHERE id = %d" % i,
        "INSERT INTO t VALUES (%d, %d)" % (i, j),
        "INSERT INTO t VALUES (%d, %d) ON CONFLICT (id) "
        "DO UPDATE SET n = t.n + 1" % (i, j),
        "INSERT INTO t VALUES (%d, %d) ON CONFLICT DO NOTHING" % (i, j),
        "SELECT * FROM t WHERE id = %d FOR UPDATE" % i,
        "SELECT * FROM t WHERE id = %d FOR SHARE" % i,
        "INSERT INTO child VALUES (%d, %d)" % (i + 1, j),
        "UPDATE child SET t = %d WHERE id = %d" % (j, i),
        "DELETE FROM child WHERE id = %d" % i, "SELECT count(*) FROM child",
        "INSERT INTO keyless VALUES (%d)" % i, "SELECT count(*) FROM keyless",
        "DELETE FROM keyless WHERE x = %d" % i,
        "INSERT INTO named VALUES (%d, %d)" % (i, j),
        "UPDATE named SET b = %d WHERE a = %d" % (i, j)])
def transaction(c, draw):
    k = c.cursor()
    try:
        if len(sys.argv) > 2 and draw.random() < 0.4:
            k.execute("SET TRANSACTION ISOLATION LEVEL " +
                draw.choice(["REPEATABLE READ", "SERIALIZABLE"]))
        for _ in range(draw.randint(1, 4)):
            inner = draw.random() < 0.2
            if inner: k.execute("SAVEPOINT s")
            try: k.execute(statement(draw))
            except psycopg2.Error as e:
                if not inner: raise
                k.execute("ROLLBACK TO s")
        c.commit() if draw.random() < 0.9 else c.rollback()
    except psycopg2.Error as e:
        if e.pgcode not in ("40001", "40P01", "23505", "23503"): raise
        c.rollback()
# One after the other; and side by side.
for _ in range(14): transaction(draw.choice(connections), draw)
def thread(i):
    own = random.Random(int(sys.argv[1]) * 10 + i)
    for _ in range(8): transaction(connections[i], own)
threads = [threading.Thread(target=thread, args=[i]) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
END
cat >accounts.sql <<'END'
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t);
INSERT INTO child VALUES (1, 1);
CREATE TABLE keyless (x int);
CREATE TABLE named (a int PRIMARY KEY, b int UNIQUE);
INSERT INTO named VALUES (1, 1);
END
if python3 -c 'import psycopg2' 2>err; then
	times=20
	[ -z "${ISOSCOPE_QUICK:-}" ] || times=1
	for n in $(seq $times); do
		seed=$((${ISOSCOPE_SEED:-1} * 100 + n))
		for level in prc si ser; do
			serves 0 "$level" random python3 clients.py "$seed"
		done
		serves 0 rc random python3 clients.py "$seed" mixed
		[ -n "${ISOSCOPE_QUICK:-}" ] ||
			serves 0 psi random python3 clients.py "$seed"
	done
else
	cat err
fi

# What is refused, and said.
run 3 serve --schema missing.sql -- true
says "--schema:1:1: error: cannot read 'missing.sql'"
echo 'SELEC 1' >wrong.sql
run 3 serve --schema wrong.sql -- true
says 'wrong.sql:1:1: error: setup failed: syntax error'
echo 'SELECT nosuch(1)' >wrong.sql
run 3 serve --schema wrong.sql -- true
says 'does not exist (42883); hint: No function matches the given name'
run 3 serve --setup 'echo no >&2; exit 3' -- true
says '--setup:1:1: error: setup failed: echo no >&2; exit 3: it ends with exit code 3: no'
run 2 serve --policy some -- true
run 2 serve psql -c 'SELECT 1'
says "stand behind '--': isoscope serve -- COMMAND"
run 2 serve --schema accounts.sql --history accounts.sql -- true
says 'would write over accounts.sql'
run 0 serve -- true
prints 'The command did not connect'
for runs in 1 3; do
	run 3 serve --runs $runs --json -- no-such-command
	says "cannot run 'no-such-command': No such file or directory"
	prints_nothing
done
run 3 serve -- /etc/passwd
says "cannot run '/etc/passwd': Permission denied"
run 1 serve -- sh -c 'exit 127'
prints 'the command ended with exit code 127'
run 0 serve --setup 'psql -qXc "CREATE TABLE x (id int)"' --json -- \
	psql -qXc 'INSERT INTO x VALUES (1)'
prints '"committed":1'
# The command that is told can be typed again.
run 1 serve --json --schema accounts.sql -i si -- sh -c 'echo $#; exit 3' 'a b' -q "it's"
prints "\"client\":\"sh -c 'echo \$#; exit 3' 'a b' -q 'it'"
told=$(sed 's/.*"command":"isoscope \([^"]*\)".*/\1/; s/\\\\/\\/g' out)
what="isoscope $told"
eval "\"\$ISOSCOPE\" $told" >out 2>err </dev/null
equal "$what: exit code" $? 1
prints 'exit code 3, served at Snapshot Isolation'
equal "$what" "$(cat err)" 2

# Clients and backends that die in a transaction: it is rolled back, and what was
# committed stays.
cat >die.sh <<'END'
psql -qXc 'UPDATE t SET n = 7 WHERE id = 1'
psql -qX <<'SQL'
BEGIN;
UPDATE t SET n = 8 WHERE id = 1;
\! kill -9 $PPID
SQL
psql -qXAtc 'SELECT n FROM t WHERE id = 1'
psql -qXAt -v ON_ERROR_STOP=1 <<'SQL'
BEGIN;
UPDATE t SET n = 9 WHERE id = 1;
SELECT pg_backend_pid() AS pid \gset
\setenv pid :pid
\! kill -9 $pid
SELECT n FROM t;
SQL
until psql -qXAtc 'SELECT n FROM t WHERE id = 1' 2>/dev/null; do sleep 0.1; done
END
run 0 serve --policy latest --schema accounts.sql --history history.jsonl -- \
	sh die.sh
equal "after deaths" "$(grep -x '[0-9]*' err | tr '\n' .)" 7.7.
run 0 check -i prc history.jsonl

# Ctrl-C while it is set up, by SQL and by a command.
echo 'SELECT pg_sleep(60)' >slow.sql
for slow in '--schema slow.sql' '--setup=sleep\ 60'; do
	what="serve $slow, interrupted"
	eval "timeout --foreground --preserve-status -s INT 1 \"\$ISOSCOPE\" serve $slow" \
		>out 2>err </dev/null
	equal "$what: exit code" $? 4
	says interrupted
	prints_nothing
done

# Cursors go back; what else is said of all transactions than their level holds.
run 1 serve --policy latest --schema accounts.sql -- psql -qXAt -v ON_ERROR_STOP=1 \
	-c 'BEGIN' -c 'DECLARE c SCROLL CURSOR FOR SELECT id FROM t' -c 'FETCH ALL c' \
	-c 'FETCH BACKWARD 1 c' -c 'FETCH PRIOR c' -c 'FETCH 1 c' -c 'COMMIT' \
	-c 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY' \
	-c 'UPDATE t SET n = 0'
equal 'a cursor' "$(grep -x '[0-9]*' err | tr '\n' .)" 1.2.2.1.2.
says 'cannot execute UPDATE in a read-only transaction'

# By TCP: set-up, then who is served, with a password that is made or given.
cat >tcp.sh <<'END'
case $PGHOST in /*) exit 3 ;; esac
psql -qXAtw -c "SELECT 'n is ' || n FROM t WHERE id = 1" "$DATABASE_URL" || exit 3
psql -qXwc 'UPDATE t SET n = n + 1' || exit 3
PGPASSWORD=wrong psql -qXwc 'UPDATE t SET n = n + 1' && exit 3
unset PGPASSWORD
psql -qXwc 'UPDATE t SET n = n + 1' && exit 3
true
END
run 0 serve --listen localhost:0 --history history.jsonl --setup \
	'psql -qXwc "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 5)"' \
	-- sh tcp.sh
says 'n is 5'
says 'password authentication failed'
prints 'transactions              2'
PGPASSWORD="it's \\a@b"
export PGPASSWORD
run 0 serve --listen 127.0.0.1:0 --schema accounts.sql -- \
	psql -qXAtwc "SELECT current_setting('listen_addresses'), count(*) FROM t"
unset PGPASSWORD
says '127.0.0.1|2'
"$ISOSCOPE" serve --listen 127.0.0.1:0 >out 2>err </dev/null &
child=$!
soon grep -q postgresql: err
port=$(sed -n 's/.*PGPORT=\([0-9]*\).*/\1/p' err)
run 2 serve --listen "127.0.0.1:$port" -- true
says "cannot listen at 127.0.0.1, port $port: Address already in use"
kill -INT $child
wait $child
run 2 serve --listen nobody: -- true
says "'nobody:' is no HOST:PORT"

# Without a command it waits; and nothing is left, however it ends.
serving() {
	"$ISOSCOPE" serve --schema accounts.sql >out 2>err </dev/null &
	child=$!
	soon grep -q 'PGHOST=' err
	PGHOST=$(sed -n 's/.*PGHOST=\([^ ]*\).*/\1/p' err)
}
serving
equal "rows of t" "$(PGHOST=$PGHOST PGUSER=isoscope PGDATABASE=postgres \
	psql -qXAtc 'SELECT count(*) FROM t')" 2
kill -INT $child
wait $child
equal "interrupted: exit code" $? 0
prints 'no violation: it served whoever came until it was interrupted, at '
prints 'transactions              1'
serving
kill -KILL $child
wait $child 2>/dev/null
empty() {
	[ -z "$(ls folders)" ]
}
soon empty
finish
