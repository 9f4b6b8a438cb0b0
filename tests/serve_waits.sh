#!/bin/sh
# Who waits for whom where clients are served: savepoints that are rolled back,
# tables that are emptied or altered, time limits, turns; and cursors that others
# come between. As on tables of PostgreSQL's own, where it has the same.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
chmod 777 "$work"
cp "$top"/tests/drivers/side_by_side.py "$top"/tests/drivers/waits.py .
if ! python3 -c 'import psycopg2' 2>err; then
	cat err
	finish
	exit
fi

cat >tables.sql <<'SQL'
CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE);
INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t (id));
INSERT INTO child VALUES (1, 1);
CREATE TABLE other (id int PRIMARY KEY, n int);
INSERT INTO other VALUES (1, 5), (2, 6);
SQL
cat >theirs.sh <<'SH'
PGOPTIONS='-c search_path=theirs -c default_table_access_method=heap'
export PGOPTIONS
psql -qX -c 'CREATE SCHEMA theirs' -f tables.sql || exit
python3 waits.py schedules >theirs
unset PGOPTIONS
psql -qX -c 'SET client_min_messages = error' -c 'DROP SCHEMA theirs CASCADE' \
	-f tables.sql
SH

# as_theirs LEVEL: the schedules give what they give on PostgreSQL's own tables.
as_theirs() {
	rm -f theirs ours
	run 0 serve -i "$1" --policy latest --history history.jsonl \
		--setup 'sh theirs.sh' -- sh -c 'python3 waits.py schedules >ours'
	equal schedules "$(grep -c '^schedule' theirs)" "$(grep -c '^--' schedules)"
	same "schedules at $1" ours theirs
	run 0 check -i "$1" history.jsonl
}

cat >savepoints <<'SQL'
-- a savepoint that is rolled back gives its locks back
a BEGIN
a SAVEPOINT s
a UPDATE t SET n = 10 WHERE id = 1
b UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n
a ROLLBACK TO s
a SELECT n FROM t WHERE id = 2
a COMMIT
-- and what it has inserted
a BEGIN
a SAVEPOINT s
a INSERT INTO t VALUES (7, 7, 7)
b INSERT INTO t VALUES (7, 8, 8)
a ROLLBACK TO s
a COMMIT
-- and what a savepoint within it has locked, which was released
a BEGIN
a SAVEPOINT s
a SELECT n FROM t WHERE id = 3 FOR UPDATE
a SAVEPOINT inner
a UPDATE t SET n = 4 WHERE id = 2
a RELEASE inner
b UPDATE t SET n = n + 1 WHERE id = 2 RETURNING n
a ROLLBACK TO s
b SELECT n FROM t WHERE id = 3 FOR UPDATE
a COMMIT
-- a savepoint that is released gives nothing back
a BEGIN
a SAVEPOINT s
a UPDATE t SET n = 10 WHERE id = 1
b UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n
a RELEASE s
a ROLLBACK
-- what was locked before it stays
a BEGIN
a SELECT n FROM t WHERE id = 1 FOR SHARE
a SAVEPOINT s
a UPDATE t SET n = 11 WHERE id = 1
a ROLLBACK TO s
b SELECT n FROM t WHERE id = 1 FOR SHARE
b UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n
a COMMIT
-- an exception that a block handles is a savepoint
a BEGIN
a DO 'BEGIN UPDATE t SET n = 0 WHERE id = 2; PERFORM 1 / 0; EXCEPTION WHEN others THEN NULL; END'
b UPDATE t SET n = n + 1 WHERE id = 2 RETURNING n
a COMMIT
-- a statement that fails behind a savepoint, by a time limit, too
a BEGIN
b BEGIN
b UPDATE t SET n = 30 WHERE id = 3
a SAVEPOINT s
a SET lock_timeout = 300
a UPDATE t SET n = 31 WHERE id = 3
a ROLLBACK TO s
a SELECT n FROM t ORDER BY id
b COMMIT
a COMMIT
a SELECT n FROM t ORDER BY id
SQL
cat >snapshots <<'SQL'
-- who was refused behind a savepoint goes on
a BEGIN ISOLATION LEVEL REPEATABLE READ
a SELECT n FROM t WHERE id = 1
b UPDATE t SET n = n + 1 WHERE id = 1
a SAVEPOINT s
a UPDATE t SET n = n + 5 WHERE id = 1
a ROLLBACK TO s
a SELECT n FROM t WHERE id = 1
a UPDATE t SET n = n + 5 WHERE id = 2 RETURNING n
b SELECT n FROM t WHERE id = 1 FOR UPDATE
a COMMIT
SQL
cat >tables <<'SQL'
-- who empties a table waits for those who read it
a BEGIN
a SELECT count(*) FROM other
b TRUNCATE other
a SELECT count(*) FROM other
a COMMIT
b SELECT count(*) FROM other
b INSERT INTO other VALUES (1, 1)
-- and those who would read it for who empties it
a BEGIN
a TRUNCATE other
b SELECT count(*) FROM other
a ROLLBACK
b SELECT count(*) FROM other
-- one that is named, and one that refers to it
a BEGIN
a SELECT count(*) FROM child
b TRUNCATE t CASCADE
a COMMIT
b INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)
-- so it is when it is altered, or dropped
a BEGIN
a UPDATE other SET n = 2 WHERE id = 1
b ALTER TABLE other DISABLE TRIGGER ALL
a COMMIT
a BEGIN
a SELECT n FROM other
b BEGIN
b DROP TABLE other
c SELECT n FROM other
a COMMIT
b ROLLBACK
b SELECT n FROM other
-- or locked
a BEGIN
a LOCK TABLE t IN SHARE MODE
b UPDATE t SET n = 3 WHERE id = 3
c SELECT n FROM t WHERE id = 3
a COMMIT
-- time limits of who waits for a table
a BEGIN
a TRUNCATE other
b SET lock_timeout = 300
b SELECT count(*) FROM other
b SET lock_timeout = 0
b SET statement_timeout = 300
b SELECT count(*) FROM other
b TRUNCATE other
b SET statement_timeout = 0
a ROLLBACK
b SELECT count(*) FROM other
SQL
cat >cursors <<'SQL'
-- what a cursor shows is of when it was declared
a BEGIN
a DECLARE c CURSOR FOR SELECT id, n FROM t ORDER BY id
a UPDATE t SET n = n + 100 WHERE id = 1
a SELECT count(*) FROM other
a FETCH ALL c
a COMMIT
a BEGIN
a DECLARE c CURSOR FOR SELECT t.id, child.id FROM t LEFT JOIN child ON child.t = t.id ORDER BY 1
a FETCH 1 c
a SELECT count(*) FROM other
a FETCH ALL c
a DECLARE d CURSOR FOR SELECT t.id, child.id FROM t, child WHERE child.id = t.n
a SELECT count(*) FROM child
a FETCH ALL d
a COMMIT
-- and it locks what it finds
a BEGIN
a DECLARE c CURSOR FOR SELECT id, n FROM t WHERE id = 2 FOR UPDATE
a SELECT count(*) FROM other
a FETCH ALL c
b UPDATE t SET n = 0 WHERE id = 2 RETURNING n
a COMMIT
SQL
cat savepoints snapshots tables cursors >schedules
rm -f theirs ours
run 0 serve -i prc --policy latest --history history.jsonl --setup 'sh theirs.sh' -- \
	sh -c 'python3 waits.py schedules >ours'
equal schedules "$(grep -c '^schedule' theirs)" "$(grep -c '^--' schedules)"
grep -q waits theirs && pass || fail 'nobody waits'
same 'as on tables of PostgreSQL' ours theirs
run 0 check -i prc history.jsonl

# gives EXPECTED LEVEL POLICY: what the schedules give.
gives() {
	run 0 serve -i "$2" --policy "$3" --schema tables.sql --history history.jsonl -- \
		sh -c 'python3 waits.py schedules >ours'
	equal "schedules at $2" "$(sed -n 's/^  //p' ours | tr '\n' '.')" "$1"
	run 0 check -i "$2" history.jsonl
}

# Who waits for its turn has time limits, too, and goes on behind them.
cat >schedules <<'SQL'
-- turns
a BEGIN
a SELECT n FROM t WHERE id = 1
b SET statement_timeout = 300
b SELECT n FROM t WHERE id = 2
b BEGIN
b SAVEPOINT s
b SELECT n FROM t WHERE id = 2
b ROLLBACK TO s
b SET LOCAL lock_timeout = 100
b UPDATE t SET n = 9 WHERE id = 2
b ROLLBACK
b SET statement_timeout = 300
b TRUNCATE other
a UPDATE t SET n = 8 WHERE id = 1
a COMMIT
b SELECT n FROM t ORDER BY id
b SELECT n FROM other ORDER BY id
SQL
gives 'a BEGIN .a SELECT 1 [(1,)].b SET .b 57014.b BEGIN .b SAVEPOINT .b 57014.'"\
b ROLLBACK .b SET .b 55P03.b ROLLBACK .b SET .b 57014.a UPDATE 1 .a COMMIT .\
b SELECT 3 [(8,), (2,), (3,)].b SELECT 2 [(5,), (6,)]." ser latest

# Circles of turns and locks, which PostgreSQL does not see: who waits for its turn is
# refused, whatever else it asks in its transaction, and then goes on.
cat >circles.sh <<'SH'
psql -qXAt >a 2>&1 <<SQL &
\set VERBOSITY sqlstate
SELECT 1 FROM pg_advisory_lock(1);
\! touch locked; until [ -e turn ]; do sleep 0.02; done
BEGIN;
SAVEPOINT s;
UPDATE t SET n = 9 WHERE id = 2;
ROLLBACK TO s;
SELECT n FROM t WHERE id = 2;
ROLLBACK TO s;
SELECT 3 FROM pg_advisory_unlock(1);
COMMIT;
UPDATE t SET n = 8 WHERE id = 2 RETURNING n;
SQL
until [ -e locked ]; do sleep 0.02; done
psql -qXAt >b 2>&1 <<SQL
BEGIN;
SELECT n FROM t WHERE id = 1;
\! touch turn
SELECT 2 FROM pg_advisory_lock(1);
UPDATE t SET n = 7 WHERE id = 1 RETURNING n;
COMMIT;
SQL
wait
rm turn
psql -qXAt >>a 2>&1 <<SQL &
BEGIN;
SELECT n FROM t WHERE id = 1;
\! touch turn; until psql -qXAtc "SELECT 'other'::regclass = ANY (SELECT relation FROM pg_locks)" | grep -q t; do sleep 0.02; done
TRUNCATE other;
COMMIT;
SELECT count(*) FROM other;
SQL
until [ -e turn ]; do sleep 0.02; done
psql -qXAt -v VERBOSITY=sqlstate -c 'SELECT n FROM other' >>b 2>&1
wait
echo "$(cat a; echo; cat b)" | tr '\n' ' '
SH
run 0 serve -i ser --schema tables.sql --history history.jsonl -- sh circles.sh
equal "$what" "$(cat err)" '1 ERROR:  40P01 ERROR:  40P01 3 8 7 0  1 2 7 ERROR:  40P01 '
prints 'deadlocks                 2  of who waits for its turn'
run 0 check -i ser history.jsonl

# A table is empty behind TRUNCATE, whatever who says so sees of it.
cat >schedules <<'SQL'
-- b is there
b SELECT 1
a INSERT INTO other VALUES (7, 7)
a UPDATE other SET n = 0 WHERE id = 1
b TRUNCATE other
c SELECT count(*) FROM other
SQL
gives 'b SELECT 1 [(1,)].a INSERT 0 1 .a UPDATE 1 .b TRUNCATE TABLE .c SELECT 1 [(0,)].' \
	prc oldest

# What a cursor of PL/pgSQL reads, it reads when it is fetched from.
run 1 serve --schema tables.sql -- psql -qX -v ON_ERROR_STOP=1 -c "DO 'DECLARE
	c CURSOR FOR SELECT id FROM t; i int; BEGIN OPEN c; SELECT count(*) INTO i FROM other;
	FETCH c INTO i; END'"
says 'does not support FETCH from a cursor that has more to read, after another statement'

# Who has heard that a transaction has ended asks behind its end, also where both are
# heard at once: isoscope, which has started this, sleeps meanwhile.
cat >late.py <<'PY'
import os, psycopg2, signal, threading, time
a, b = psycopg2.connect(""), psycopg2.connect("")
def read(found):
    with b.cursor() as y:
        y.execute("SELECT n FROM t WHERE id = 1")
        found += y.fetchone()
for i in range(3):
    with a.cursor() as x: x.execute("UPDATE t SET n = %d WHERE id = 1" % (10 + i))
    os.kill(os.getppid(), signal.SIGSTOP)
    found = []
    reader = threading.Thread(target=read, args=[found])
    try:
        a.commit()
        reader.start()
        time.sleep(0.2)
    finally:
        os.kill(os.getppid(), signal.SIGCONT)
    reader.join()
    b.commit()
    assert found == [10 + i], found
PY
run 0 serve --policy latest --schema tables.sql -- python3 late.py

# Rows that a connection was told one by one, then with their whole table, which
# others delete while it goes on, and keys that never were: it looks for the others.
cat >many.sql <<'SQL'
CREATE TABLE many (id int PRIMARY KEY, n int);
INSERT INTO many SELECT i, 0 FROM generate_series(1, 3000) i;
SQL
cat >many.py <<'PY'
import psycopg2
a, b = psycopg2.connect(""), psycopg2.connect("")
b.autocommit = True
x, y = a.cursor(), b.cursor()
for i in range(1, 2001): x.execute("SELECT n FROM many WHERE id = %d" % i)
def forget():
    for _ in range(3):
        x.execute("SELECT n FROM many WHERE id = 2500")
        for i in range(1000): y.execute("UPDATE many SET n = n + 1 WHERE id = 2500")
y.execute("UPDATE many SET n = 1 WHERE id <= 2000")
forget()
x.execute("SELECT count(*) FROM many")
y.execute("DELETE FROM many WHERE id <= 2000")
forget()
x.execute("SELECT n FROM many WHERE id = 2500")
a.commit()
for i in range(4000):
    x.execute("SELECT n FROM many WHERE id = %d" % (10000 + i))
    a.commit()
y.execute("INSERT INTO many SELECT i, 0 FROM generate_series(20001, 22000) i")
x.execute("SELECT count(*), sum(n) FROM many")
assert x.fetchone() == (3000, 6000)
PY
run 0 serve --policy latest --schema many.sql -- python3 many.py
finish
