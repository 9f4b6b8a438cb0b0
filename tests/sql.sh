#!/bin/sh
# Programs in SQL, from outside: what is explored, and what is refused where.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >seat.spec <<'END_OF_SPEC'
# Two people, one seat.
setup {
  CREATE TABLE seat (id int PRIMARY KEY, owner text);
  INSERT INTO seat VALUES (1, NULL);
}
teardown { DROP TABLE seat; }
session ann
step a { UPDATE seat SET owner = 'ann' WHERE id = 1 AND owner IS NULL
	RETURNING id; }
session ben
setup { BEGIN; }
step b { SELECT owner FROM seat WHERE id = 1; }
step b2 { UPDATE seat SET owner = 'ben' WHERE id = 1 RETURNING owner; }
step b3 { COMMIT; }
permutation a b b2 b3
assert "ann keeps it" {
  SELECT NOT EXISTS (SELECT 1 FROM ann) OR owner = 'ann' FROM seat
}
assert { SELECT count(*) = 1 FROM b2 }
END_OF_SPEC

cat >skew.spec <<'END_OF_SPEC'
setup {
  CREATE TABLE doctor (name text PRIMARY KEY, on_call bool NOT NULL);
  INSERT INTO doctor VALUES ('alice', true), ('bob', true);
}
session s1
step r1 { BEGIN; SELECT count(*) AS n FROM doctor WHERE on_call; }
step w1 { UPDATE doctor SET on_call = false WHERE name = 'alice'
	AND (SELECT count(*) FROM doctor WHERE on_call) >= 2; }
step c1 { COMMIT; }
session s2
step r2 { BEGIN; SELECT count(*) AS n FROM doctor WHERE on_call; }
step w2 { UPDATE doctor SET on_call = false WHERE name = 'bob'
	AND (SELECT count(*) FROM doctor WHERE on_call) >= 2; }
step c2 { COMMIT; }
assert "somebody is on call" { SELECT count(*) >= 1 FROM doctor WHERE on_call }
isolation si
END_OF_SPEC

# Rows that a session may insert are read where they are not there yet.
cat >phantom.spec <<'END_OF_SPEC'
setup { CREATE TABLE booking (room int, slot int, who text NOT NULL); }
session ann
step a { INSERT INTO booking SELECT 1, 9, 'ann' WHERE NOT EXISTS
	(SELECT 1 FROM booking WHERE room = 1 AND slot = 9); }
session ben
step b { INSERT INTO booking SELECT 1, 9, 'ben' WHERE NOT EXISTS
	(SELECT 1 FROM booking WHERE room = 1 AND slot = 9); }
session cid
step c { INSERT INTO booking SELECT 2, 9, 'cid' WHERE NOT EXISTS
	(SELECT 1 FROM booking WHERE room = 2 AND slot = 9); }
assert "no room is booked twice" {
  SELECT NOT EXISTS (SELECT 1 FROM booking x JOIN booking y
    ON x.room = y.room AND x.slot = y.slot WHERE x.who < y.who)
}
END_OF_SPEC

cat >errors.spec <<'END_OF_SPEC'
setup {
  CREATE TABLE name (name text PRIMARY KEY CHECK (length(name) > 1),
    n int NOT NULL DEFAULT 7, UNIQUE (n));
  INSERT INTO name VALUES ('root', 0);
}
session s
step dup { INSERT INTO name VALUES ('root', 1); }
step unique1 { INSERT INTO name VALUES ('x1', 0); }
step null { INSERT INTO name VALUES ('x2', NULL); }
step check1 { INSERT INTO name VALUES ('x'); }
step zero { SELECT 1 / n FROM name; }
step fine { INSERT INTO name VALUES ('x3') RETURNING n; }
step begin1 { BEGIN; }
step save { SAVEPOINT p; DELETE FROM name; }
step bad { INSERT INTO name VALUES ('y', 1); }
step failed { SELECT 1 AS one; }
step back { ROLLBACK TO p; }
step commit1 { COMMIT; }
assert { SELECT dup.error = '23505' AND unique1.error = '23505'
  AND null.error = '23502' AND check1.error = '23514' AND zero.error = '22012'
  AND fine.error IS NULL AND bad.error = '23514' AND failed.error = '25P02' }
assert { SELECT count(*) = 2 AND max(n) = 7 FROM name }
assert { SELECT n = 7 FROM fine }
END_OF_SPEC
sed -i 's/null\.error/"null".error/' errors.spec

# Routines: what they read and write is their caller's.
cat >buy.spec <<'END_OF_SPEC'
setup {
CREATE TABLE seat (id int PRIMARY KEY, owner text);
CREATE TABLE refused (who text PRIMARY KEY, why text);
INSERT INTO seat VALUES (1, NULL);
CREATE FUNCTION buy(n int, who text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  o text;
BEGIN
  SELECT owner INTO o FROM seat WHERE id = n;
  IF o IS NULL THEN
    UPDATE seat SET owner = who WHERE id = n;
    RETURN true;
  END IF;
  RAISE EXCEPTION 'sold to %', o;
EXCEPTION WHEN raise_exception THEN
  INSERT INTO refused VALUES (who, sqlerrm);
  RETURN false;
END $$;
}
session ann
step a { SELECT buy(1, 'ann') AS ok; }
session ben
step b { SELECT buy(1, 'ben') AS ok; }
assert "it is sold once" { SELECT NOT (a.ok AND b.ok) FROM a, b }
assert "who does not get it is told" {
  SELECT count(*) = 1 AND bool_and(why = 'sold to ' || owner)
  FROM refused CROSS JOIN seat
}
isolation si
END_OF_SPEC

cat >spin.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (i int PRIMARY KEY);
CREATE PROCEDURE spin() LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (1);
  LOOP
    NULL;
  END LOOP;
EXCEPTION WHEN OTHERS THEN NULL;
END $$; }
session s
step a { CALL spin(); }
END_OF_SPEC

# A file of SQL, with sessions and assertions from the command line.
cat >shop.sql <<'END_OF_SQL'
CREATE TYPE state AS ENUM ('free', 'sold');
CREATE TABLE seat (id int PRIMARY KEY, owner text, now_is state DEFAULT 'free');
INSERT INTO seat VALUES (1), (2);
CREATE PROCEDURE buy(n int, who text) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seat SET owner = who, now_is = 'sold' WHERE id = n AND now_is = 'free';
  IF NOT FOUND THEN RAISE 'sold'; END IF;
END $$;
END_OF_SQL
shop() {
	explored=$1
	shift
	run "$explored" "$@" --session "ann: CALL buy(1, 'ann')" \
		--session "ben: CALL buy(1, 'ben')" \
		--assert "SELECT count(*) = 1 FROM seat WHERE now_is = 'sold'" \
		--assert 'SELECT (ann.error IS NULL) <> (ben.error IS NULL)'
}
shop 0 explore shop.sql -i si
prints 'histories                 2  under si'
shop 0 explore shop.sql -i ser -j1
shop 0 run shop.sql -i si --runs 20
shop 0 record shop.sql
shop 0 compile --dump shop.sql
prints "CALL buy(1, 'ann')"
run 1 explore shop.sql -i si --session "ann: CALL buy(1, 'ann')" \
	--assert 'SELECT ann.error IS NOT NULL'
prints 'at --assert:1:1'
run 3 explore shop.sql -i si
says "there is no session: give it one with --session 'name: SQL'"
run 3 explore shop.sql -i si --session 'SELECT 1'
says "--session:1:1: error: expected a session as 'name: SQL'"
run 3 explore shop.sql -i si --session 'a: SELECT 1' --session 'a: SELECT 2'
says 'a session of this name was given before'
run 3 explore shop.sql -i si --session 'a: SELECT 1' --assert '1 = 1'
says 'an assertion is a query, as SELECT a = b'
run 3 explore shop.sql -i si --session 'a: CALL bye(1)'
says '--session:1:9: error: procedure bye(integer) does not exist'
run 3 explore buy.spec --session 'a: SELECT 1'
says '--session and --assert are for files of SQL'
run 0 fmt shop.sql
says 'is left as it is'

run 0 explore buy.spec
prints 'histories                 2  under si'
run 0 compile --dump buy.spec
prints 'function buy(n, who)'
prints 'by key [n] where (seat.id = n)'
prints 'after an error P0001'
run 1 explore spin.spec -i si
prints 'an endless loop: loops of one statement went round more than 100000 times'
prints 'spin.spec:5:3'

# What one statement may take, in memory and steps.
cat >large.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int); }
session a
step a { DO $$ DECLARE i text := 'x'; BEGIN LOOP i := i || i; END LOOP; END $$; }
END_OF_SPEC
cat >joined.spec <<'END_OF_SPEC'
setup { CREATE VIEW d AS SELECT n FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) a (n); }
session a
step a { SELECT count(*) FROM d a, d b, d c, d d, d e, d f, d g, d h WHERE h.n < 0; }
END_OF_SPEC
run 1 explore large.spec
prints 'a statement too large: it takes more than 256 MiB of memory'
prints 'large.spec:3:50'
run 1 explore joined.spec
prints 'a statement without end: it takes more than 10000000 steps'
prints 'joined.spec:3:10'


# Time is heeded inside of a statement, and a statement has so many reads.
cat >slow.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); }
session a
step a { DO $$ BEGIN LOOP PERFORM 1 FROM t; END LOOP; END $$; }
END_OF_SPEC
run 1 explore slow.spec
prints 'an endless loop: it reads more than 2000 keys'
run 4 explore --timeout 0.01 slow.spec
prints 'the time limit was reached'

# Rows of a table are read at once, however many there are, in statements and in
# assertions; and what is too much is told.
cat >rows.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL);
  INSERT INTO t SELECT i, 1 FROM generate_series(1, 5000) i; }
session a
step a { SELECT sum(n) AS n FROM t; }
session b
step b { UPDATE t SET n = 3 WHERE n > 1 OR id = 7; }
assert { SELECT n = 5000 OR n = 5002 FROM a }
assert { SELECT sum(n) = 5002 FROM t }
END_OF_SPEC
run 0 explore rows.spec
prints 'histories                 2'

# A key and another column: the row that the session makes is another one.
cat >asked.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { UPDATE t SET n = 5 WHERE id = 1; }
assert { SELECT count(*) = 1 FROM t WHERE id = 1 AND n = 5 }
END_OF_SPEC
run 0 explore asked.spec

# A subquery that gives the key: other rows are not read.
cat >subkey.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE u (id int, t_id int);
  INSERT INTO t VALUES (1, 0), (2, 0); INSERT INTO u VALUES (7, 1); }
session a
step a { UPDATE t SET n = 1 WHERE id = (SELECT t_id FROM u WHERE id = 7); }
session b
step b { UPDATE t SET n = 1 WHERE id = 2; }
END_OF_SPEC
run 0 explore subkey.spec
prints 'histories                 1  under prc'

# What SET TRANSACTION asks for at the beginning of a step is its level.
cat >steplevel.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT n FROM t; UPDATE t SET n = 1; }
END_OF_SPEC
run 0 explore steplevel.spec
prints 'under ser'

# A row that refers to another one locks it, and one that goes looks for those
# that refer to it.
cat >foreign.spec <<'END_OF_SPEC'
setup {
  CREATE TABLE course (id int PRIMARY KEY, name text);
  CREATE TABLE student (id int PRIMARY KEY, course int REFERENCES course);
  INSERT INTO course VALUES (1, 'logic');
}
session ann
step a { INSERT INTO student VALUES (1, 1); }
session ben
step b { DELETE FROM course WHERE id = 1; }
assert "no student is in a course that is gone" {
  SELECT count(*) = 0 FROM student s LEFT JOIN course c ON c.id = s.course
    WHERE c.id IS NULL
}
assert "one of them fails" {
  SELECT (ann.error IS NULL) <> (ben.error IS NULL)
    AND coalesce(ann.error, ben.error) = '23503'
}
END_OF_SPEC

# What is read beside the row that is locked is as old as the statement; locked
# before, it is not.
cat >locked.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a1 { BEGIN; }
step a2 { SELECT n FROM t WHERE id = 1; }
step a3 { UPDATE t SET n = (SELECT n + 1 FROM t WHERE id = 1) WHERE id = 1; }
step a4 { COMMIT; }
session b
step b1 { BEGIN; }
step b2 { SELECT n FROM t WHERE id = 1; }
step b3 { UPDATE t SET n = (SELECT n + 1 FROM t WHERE id = 1) WHERE id = 1; }
step b4 { COMMIT; }
assert { SELECT n = 2 FROM t }
END_OF_SPEC
sed 's/SELECT n FROM t WHERE id = 1;/SELECT n FROM t WHERE id = 1 FOR UPDATE;/' \
	locked.spec >locking.spec

cat >levels.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0); }
session a
step a1 { BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT n FROM t WHERE id = 1; }
step a2 { UPDATE t SET n = 1 WHERE id = 2; COMMIT; }
session b
step b1 { BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t WHERE id = 2; }
step b2 { UPDATE t SET n = 1 WHERE id = 1; COMMIT; }
session c
step c1 { BEGIN TRANSACTION READ ONLY; SELECT n FROM t WHERE id = 2; }
step c2 { UPDATE t SET n = 1 WHERE id = 1; }
step c3 { COMMIT; }
assert { SELECT c2.error = '25006' }
isolation ser
END_OF_SPEC

# Many rows at once, with a key and without one.
cat >many.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (n int); CREATE TABLE p (id int PRIMARY KEY, n int); }
session a
step a { INSERT INTO t SELECT generate_series(1, 10000); }
step b { INSERT INTO p SELECT i, i FROM generate_series(1, 100) i; }
assert { SELECT count(*) = 1 FROM p WHERE id = 100 }
END_OF_SPEC
run 0 explore many.spec

# What is dropped since it is explored elsewhere assumes nothing.
cat >gone.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { DELETE FROM t WHERE id = 1; }
session b
step b { UPDATE t SET n = n + 1 WHERE n = 0; }
assert { SELECT count(*) = 0 FROM t }
END_OF_SPEC
run 0 explore gone.spec
prints ', 3 pruned'
lacks 'assumption'

# Of two rows that are locked, the first one has changed: it is looked at again.
cat >rejoined.spec <<'END_OF_SPEC'
setup {
  CREATE TABLE a (id int PRIMARY KEY, n int);
  CREATE TABLE b (id int PRIMARY KEY);
  INSERT INTO a VALUES (1, 0);
  INSERT INTO b VALUES (1);
}
session s
step s1 { UPDATE a SET n = 1 WHERE id = 1; }
session t
step t1 { SELECT a.n FROM a JOIN b ON b.id = a.id WHERE a.n = 0 FOR UPDATE; }
assert { SELECT count(*) = 0 FROM t1 WHERE n <> 0 }
END_OF_SPEC
run 0 explore rejoined.spec

run 1 explore seat.spec
prints "under PostgreSQL's Read Committed (prc)"
run 1 explore seat.spec --levels
run 1 explore seat.spec -i ser -j1
prints 'holds  assert SELECT count(*) = 1 FROM b2'
prints 'ann keeps it'
prints 'histories                 2  under ser'
run 1 explore seat.spec -i si
prints 'histories                 2  under si'
run 1 explore skew.spec
prints 'write skew'
prints '12: UPDATE doctor SET on_call = false WHERE name'
lacks 'finally.doctor'
run 0 explore skew.spec -i ser
prints 'histories                 2  under ser'
# What is put together cannot be locked where it is read: a statement before it
# locks the rows.
run 1 explore --fix skew.spec -i prc
prints '+step r1 { BEGIN; SELECT 1 FROM doctor WHERE on_call FOR UPDATE; SELECT count(*) AS n'
run 1 explore phantom.spec -i si
prints 'no room is booked twice'
run 0 explore phantom.spec -i ser
run 0 explore errors.spec -i si
prints 'histories                 1  under si'
for level in rc cc prc psi si ser; do
	for file in seat skew phantom; do
		run 0 compile $file.spec
		"$ISOSCOPE" explore $file.spec -i $level -j1 --json >out 2>err
		one=$(jq .stats.histories out)
		"$ISOSCOPE" explore $file.spec -i $level --algorithm orderly \
			--json >out 2>err
		if [ "$one" = "$(jq .stats.histories out)" ]; then
			pass
		else
			fail "$file at $level: $one histories, and orderly finds others"
		fi
	done
done
for level in ra cc prc pc psi si ser; do
	run 0 explore foreign.spec -i $level
	prints "histories                 2  under $level"
	run 0 explore locking.spec -i $level
	prints "histories                 2  under $level"
done
# So it is with a row that a statement names by its key alone, unless it reads
# more, or other conditions decide whether it is found.
robust() {
	printf '%s\n' 'setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }' \
		'session a' "step a { $2 }" 'session b' "step b { $3 }" >by-key.spec
	run $1 explore by-key.spec -i prc --robust
	prints "histories                 $4  under prc"
}
gone='DELETE FROM t WHERE id = 1;'
robust 0 "$gone" "$gone" 2
robust 0 "$gone" 'UPDATE t SET n = n + 1 WHERE id = 1;' 2
robust 0 "$gone" 'SELECT n FROM t WHERE id = 1 FOR UPDATE;' 2
robust 1 "$gone" 'UPDATE t SET n = n + 1 WHERE id = 1 AND n = 0;' 3
robust 1 'UPDATE t SET n = 1 WHERE id = 1;' 'UPDATE t SET n = (SELECT n + 1 FROM t WHERE id = 1) WHERE id = 1;' 3
# Under prc, checks of foreign keys are plain reads: it allows what rc does not.
# Who comes between the look for a row in the way and its lock could have come
# before the look: that is one history, and a serial one.
run 0 explore "$top/tests/specs/insert-conflict-do-nothing.spec" -i prc --robust
prints 'histories                 2  under prc, 0 not serializable'
run 0 explore "$top/tests/specs/foreign-key-check.spec" --levels
prints 'histories           108      9      5      5     13      9      5      9      5'
run 0 explore locked.spec -i si
run 1 explore locked.spec
prints 'update t[1] n: '

# A row comes again between two statements of one step, which only prc allows.
cat >again.spec <<'END_OF_SPEC'
setup {
  CREATE TABLE t (id int PRIMARY KEY, n int);
  INSERT INTO t VALUES (1, 0), (2, 0);
}
session s1
step b1 { BEGIN; INSERT INTO t VALUES (1, 6); }
step l1 { SELECT id, n FROM t WHERE n = 0 FOR UPDATE; }
step c1 { COMMIT; }
session s2
step s2 { DELETE FROM t WHERE id = 1; }
session s3
step s3 {
  UPDATE t SET id = 3 WHERE id = 1;
  UPDATE t SET n = n + (SELECT sum(n) FROM t) WHERE id < 3;
}
assert { SELECT count(*) >= 0 FROM t }
END_OF_SPEC
run 0 explore again.spec
prints 'histories                13  under prc'
{
	echo 'session s'
	seq 5000 | sed 's/.*/step s& { SELECT 1; }/'
} >long.spec
run 3 explore long.spec
says 'long.spec:4098:6: error: more than 4096 steps in a session'

# A transaction's own level stays, unless -i is given: the columns of --levels
# are the levels of the others, and with -i of all.
sed 's/^step r1 { BEGIN;/step r1 { BEGIN ISOLATION LEVEL SERIALIZABLE;/
	/^isolation/d' skew.spec >own.spec
run 1 explore own.spec --levels
prints 'keep it, unless -i is given; the columns are the levels of the others'
prints 'There is no psi beside other levels'
"$ISOSCOPE" explore own.spec --levels --json >columns 2>err
for level in none rc ra cc prc pc si ser; do
	{ cat own.spec; echo "isolation $level"; } >beside.spec
	"$ISOSCOPE" explore beside.spec --json 2>err |
		jq .stats.histories >out
	jq ".levels[] | select(.level == \"$level\") | .histories" \
		columns >expected
	same "--levels beside a level of its own, $level" out expected
done
"$ISOSCOPE" explore own.spec -i si --levels --json | jq .levels >columns
"$ISOSCOPE" explore skew.spec -i si --levels --json | jq .levels >out
same 'with -i, no transaction has a level of its own' out columns

# What three sessions did fits a screen.
for program in bookings smallbank twitter; do
	COLUMNS=80 "$ISOSCOPE" explore "$top/programs/sql/$program.spec" >out 2>err
	lines=$(awk '/^    [a-z]+\.1 / { n = n ? n : NR }
		/^    schedule/ { print NR - n - 1; exit }' out)
	if [ "${lines:-99}" -le 24 ]; then
		pass
	else
		fail "$program: a counterexample of $lines lines"
	fi
done
prints 'insert tweet["ann", 1] = {author: "ann", body: "hello", no: 1}'
prints '{author: "ann", body: "hello", no: 1}  ← ann.1'
# A statement looks for all its rows before it locks one.
cat >whole.spec <<'END'
setup { CREATE TABLE o (id int PRIMARY KEY, v int);
        INSERT INTO o VALUES (1, 1), (2, 2); }
session a
step a1 { BEGIN; UPDATE o SET v = 2 WHERE id = 1; INSERT INTO o VALUES (3, 3);
          COMMIT; }
session b
step b1 { SELECT id FROM o WHERE v >= 2 FOR UPDATE; }
assert { SELECT count(*) <> 1 FROM b1 WHERE id IN (1, 3) }
END
run 0 explore whole.spec
prints 'histories                 2  under prc'
run 0 explore levels.spec
prints 'histories                 6  under ser'
run 0 explore levels.spec -i prc
sed 's/ser$/prc/' levels.spec >mixed.spec
run 0 explore mixed.spec
prints "under PostgreSQL's Read Committed (prc), beside transactions with levels"
sed 's/BEGIN;/BEGIN ISOLATION LEVEL REPEATABLE READ;/' skew.spec >own.spec
sed -i 's/isolation si/isolation ser/' own.spec
run 1 explore own.spec
prints 'under Snapshot Isolation (si)'
run 1 run skew.spec --runs 50
prints 'somebody is on call'
run 0 explore skew.spec --estimate -i ser
run 0 compile --dump seat.spec
prints "locks to update seat by key [1] where (seat.id = 1) AND (seat.owner IS NULL)"
prints "sets owner := 'ann'"
prints 'a  seat.spec:8:10'
run 0 compile --dump phantom.spec
prints 'reads booking where (booking.room = 1) AND (booking.slot = 9)'
for file in "$top"/programs/sql/*.spec; do
	run 0 compile --dump "$file"
done
run 0 fmt skew.spec
says 'is left as it is'

# The shipped programs: histories and verdict at prc, psi, si and ser, in two
# ways.
while read -r name rest; do
	# shellcheck disable=SC2086
	set -- $rest
	for level in prc psi si ser; do
		for way in ce orderly; do
			# Under prc, ce explores what rc allows.
			[ "$level $way" = 'prc ce' ] && [ "$1" -gt 500 ] &&
				continue
			"$ISOSCOPE" explore "$top/programs/sql/$name.spec" \
				-i $level --algorithm $way --json >out 2>err
			found=$(jq -r '"\(.stats.histories) \(.verdict)"' out)
			if [ "$found" = "$1 $2" ]; then
				pass
			else
				fail "$name at $level by $way: $found, not $1 $2"
			fi
		done
		shift 2
	done
done <"$top/programs/sql/expected"

# All the ways to explore give the same histories, and an observed execution is
# gone out from, predicted on and checked.
set -- "$top/programs/sql/tpcc.spec"
for level in prc si ser; do
	"$ISOSCOPE" explore "$1" -i $level --json >out 2>err
	all=$(jq .stats.histories out)
	run 0 explore "$1" -i $level -j 2
	prints " $all  under $level"
	run 0 split "$1" -i $level --units 3 -o units
	for unit in units/unit-*.json; do
		run 0 explore --unit "$unit"
	done
	run 0 merge units
	prints " $all  under $level"
	rm -r units
	run 4 explore "$1" -i $level --max-histories 20 --checkpoint kept.json
	run 0 explore --resume kept.json
	prints " $all  under $level"
	rm kept.json
	run 0 record "$top/programs/sql/on-call.spec" --seed 2 -o seen.jsonl
	run 0 check seen.jsonl -i $level
	expect=1
	[ $level = ser ] && expect=0
	run $expect explore "$top/programs/sql/on-call.spec" -i $level \
		--from seen.jsonl
done
run 1 predict seen.jsonl -i prc --validate "$top/programs/sql/on-call.spec"
prints 'reads doctor["alice"] from init instead of'
run 1 compare "$top/programs/sql/on-call.spec"
prints 'exploration '

# Every command takes them.
for name in bookings courseware twitter smallbank seats; do
	set -- "$top/programs/sql/$name.spec"
	"$ISOSCOPE" explore "$1" --json >out 2>err
	verdict=$?
	all=$(jq .stats.histories out)
	for way in "-j 2" --read-all-rows; do
		# shellcheck disable=SC2086
		run $verdict explore "$1" $way
		[ "$way" = --read-all-rows ] || prints " $all  under prc"
	done
	run $verdict explore "$1" --estimate
	run $verdict explore "$1" --max-histories "$all" --checkpoint kept.json
	run $verdict explore --resume kept.json
	prints " $all  under prc"
	run 0 split "$1" --units 2 -o units
	for unit in units/unit-*.json; do
		[ ! -f "$unit" ] && continue
		"$ISOSCOPE" explore --unit "$unit" >out 2>err
		found=$?
		[ $found -le "$verdict" ] || fail "a unit of $name: $found"
	done
	run $verdict merge units
	prints " $all  under prc"
	rm -r units kept.json
	run 0 run "$1" -i ser --runs 5
	run 0 record "$1" -o seen.jsonl
	run 0 check seen.jsonl -i prc
	run 1 explore "$1" --from seen.jsonl --robust
	"$ISOSCOPE" predict seen.jsonl -i prc --validate "$1" >out 2>err
	found=$?
	case $found in
	0|1|4) pass ;;
	*) fail "predict on $name: $found" ;;
	esac
	run 1 compare "$1"
	run 0 compile --dump "$1"
	prints "$name.spec:"
done

# More values than can be known beforehand: each order of the sessions gives
# others, and all orders are found.
if [ -z "${ISOSCOPE_QUICK-}" ]; then
	{
		echo 'setup { CREATE TABLE t (id int PRIMARY KEY, n int);'
		echo 'INSERT INTO t VALUES (1, 1); }'
		for i in 1 2 3 4 5 6 7 8; do
			echo "session s$i step a$i { UPDATE t SET n = n * 2 + $i"
			echo 'WHERE id = 1 AND n < 1000000; }'
		done
		echo 'assert { SELECT count(*) = 1 FROM t WHERE n > 256 }'
	} >orders.spec
	run 0 explore orders.spec -i ser
	prints ' 40,320  under ser'
	grep -q 'is explored anew' err || fail 'orders.spec: not explored anew'
	run 3 explore orders.spec -i ser --checkpoint kept.json
	grep -q 'too large to know beforehand' err || fail "$(cat err)"
	rm -f kept.json
fi

# What has ended a transaction stands in its place, and long lines are wrapped.
cat >refused.spec <<'END_OF_SPEC'
setup { CREATE TABLE account (id int PRIMARY KEY, owner text, n int CHECK (n >= 0), note text);
  INSERT INTO account VALUES (1, 'ann', 100, 'a note that makes the row a long one'); }
session ann
step a1 { BEGIN; }
step a2 { UPDATE account SET n = n - 120 WHERE id = 1; }
step a3 { SELECT 1; }
step a4 { COMMIT; }
session ben
step b { INSERT INTO account VALUES (1); }
session cat
step c1 { BEGIN; SAVEPOINT s; }
step c2 { SELECT 1 / (SELECT n - 100 FROM account); }
step c3 { ROLLBACK TO s; }
step c4 { ROLLBACK; }
assert { SELECT a2.error IS NULL }
END_OF_SPEC
COLUMNS=80
export COLUMNS
run 1 explore refused.spec
unset COLUMNS
prints '      abort: 23514: new row for relation "account" violates check constraint'
prints '          "account_n_check": (1, ann, -20, a note that makes the row a long one)'
prints '      abort: 23505: duplicate key value violates unique constraint'
lacks '25P02'
lacks '22012'

# What cannot be run, and why.

# refuse SQL TEXT: a step with this statement is refused so.
refuse() {
	printf '%s\n' "setup { CREATE TABLE seat (id int PRIMARY KEY," \
		'  owner text, n bigint); }' 'session s' "step a { $1 }" >x.spec
	run 3 explore x.spec -i si
	says "$2"
}
refuse 'SELECT ownr FROM seat' \
	'x.spec:4:17: error: column "ownr" does not exist; did you mean "owner"?'
refuse 'SELECT * FROM seats' \
	'relation "seats" does not exist; did you mean "seat"?'
refuse 'SELECT FROM WHERE' 'syntax error at or near "WHERE"'
refuse "SELECT 'é', 1 FROM WHERE" 'x.spec:4:29: error: syntax error'
refuse 'SELECT id = owner FROM seat' 'operator does not exist: integer = text'
refuse 'SELECT lenght(owner) FROM seat' 'did you mean "length"?'
refuse 'SELECT owner, count(*) FROM seat' 'must appear in the GROUP BY'
refuse 'SELECT id FROM seat FOR UPDATE NOWAIT' \
	'x.spec:4:10: error: NOWAIT and SKIP LOCKED: not supported'
refuse 'SELECT id FROM seat FOR SHARE SKIP LOCKED' 'NOWAIT and SKIP LOCKED'
refuse 'SELECT count(*) FROM seat FOR UPDATE' \
	'FOR UPDATE is not allowed with aggregate functions'
refuse 'SELECT 1 FROM seat FOR UPDATE OF x' \
	'relation "x" in FOR UPDATE clause not found'
refuse 'SELECT sqrt(n) FROM seat' 'x.spec:4:17: error: function sqrt(bigint) gives double precision, which is not supported'
says '; make an argument numeric: x::numeric'
refuse 'SELECT n ^ 2 FROM seat' 'operator bigint ^ integer gives double precision'
refuse 'SELECT ln(2.0)' 'x.spec:4:17: error: function ln(numeric) of PostgreSQL is not supported here'
refuse "SELECT substring(owner FROM 'a+') FROM seat" \
	'function substring(text, unknown) of PostgreSQL is not supported here'
refuse 'SELECT ARRAY[1] || 2' 'operator integer[] || integer of PostgreSQL is not supported'
refuse 'SELECT sqrtt(n) FROM seat' 'function sqrtt(bigint) does not exist'
refuse 'SELECT id FROM seat LIMIT n' 'x.spec:4:36: error: argument of LIMIT must not contain variables'
refuse 'SELECT id FROM seat LIMIT (SELECT seat.n)' 'missing FROM-clause entry for table "seat"'
refuse 'SELECT id FROM seat GROUP BY 3' 'GROUP BY position 3 is not in select list'
refuse 'SELECT id::integr FROM seat' 'x.spec:4:21: error: type "integr" does not exist'
refuse 'SELECT id::jsonb FROM seat' 'type "jsonb": not supported'
refuse 'SELECT 1 FROM public.seats' 'relation "public.seats" does not exist'
refuse 'DO $$ BEGIN EXIT; END $$' 'EXIT cannot be used outside a loop'
refuse 'DO $$ DECLARE r seat; BEGIN r.foo := 1; END $$' 'record "r" has no field "foo"'
refuse "DO \$\$ BEGIN RAISE USING ERRCOD = 'x'; END \$\$" \
	'unrecognized RAISE statement option at or near "errcod"'
refuse 'SELECT random()' 'random() gives something else each time'
refuse 'SELECT count(*) OVER () FROM seat' 'a window function'
refuse 'CREATE TABLE t (id int)' 'CREATE TABLE changes the schema'
refuse 'BEGIN AND CHAIN' 'syntax error'
refuse "UPDATE seat SET id = 'x'::text" \
	'column "id" is of type integer but expression is of type text'
refuse 'INSERT INTO seat VALUES (1, 2, 3, 4)' 'INSERT has more expressions than target columns'
refuse 'WITH RECURSIVE x AS (SELECT 1) SELECT 1 FROM x' 'WITH RECURSIVE'
refuse 'LOCK TABLE seat' 'x.spec:4:10: error: LOCK TABLE: not supported;'
refuse "SELECT owner ~ 'a' FROM seat" \
	'operator text ~ unknown of PostgreSQL is not supported here'
refuse 'SELECT xmin FROM seat' 'the column xmin, which PostgreSQL fills: not'
refuse 'SELECT owner COLLATE "de_DE" FROM seat' 'COLLATE: not supported'
refuse 'SELECT pg_advisory_xact_lock(1)' 'lock a row instead: SELECT ... FOR UPD'
refuse 'SHOW search_path' 'x.spec:4:10: error: SHOW: not supported'
refuse 'DECLARE c CURSOR FOR SELECT 1' 'DECLARE ... CURSOR: not supported'
refuse 'DROP MATERIALIZED VIEW v' 'DROP MATERIALIZED VIEW: not supported'
refuse 'SELECT 1 FROM seat TABLESAMPLE SYSTEM (10)' \
	'TABLESAMPLE: not supported; write it in another way'
refuse 'MERGE INTO seat USING seat s ON true WHEN MATCHED THEN DELETE' \
	'MERGE: not supported; write it in another way'
run_loop() { # SESSIONS: each goes round as long as the other's row is not seen
	cat >loop.spec <<'END'
setup {
  CREATE TABLE db (a int PRIMARY KEY, b int);
  CREATE FUNCTION merge(k int, d int) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    LOOP
      UPDATE db SET b = d WHERE a = k;
      IF found THEN RETURN; END IF;
      BEGIN
        INSERT INTO db VALUES (k, d);
        RETURN;
      EXCEPTION WHEN unique_violation THEN NULL;
      END;
    END LOOP;
  END $$;
}
assert { SELECT count(*) = 1 FROM db }
END
	for session in $1; do
		printf 'session %s\nstep step_%s { SELECT merge(1, 2); }\n' \
			"$session" "$session" >>loop.spec
	done
}
# A loop without end ends the exploration, and its history is an excerpt.
run_loop 'ann ben cid'
run 1 explore -i si loop.spec
prints 'at loop.spec:5:5'
prints 'an endless loop: it reads more than 2000 keys'
prints ' more reads and writes …'
[ "$(wc -l <out)" -lt 1000 ] && pass || fail "a long history"
run 0 explore loop.spec
# Each statement of the grammar has its words.
for statement in $(sed -n 's/^message \([A-Za-z]*Stmt\)$/\1/p' \
	/usr/include/pg_query/pg_query.proto); do
	case $statement in
	RawStmt | PLAssignStmt | SetOperationStmt | ReplicaIdentityStmt)
		continue
		;;
	esac
	grep -q "\"$statement\"" "$top/src/sql/node_words.c" ||
		fail "no words for $statement"
done
refuse 'SELECT buy(1)' 'function buy(integer) does not exist'
refuse 'CALL buy(1)' 'procedure buy(integer) does not exist'
refuse 'DO $$ BEGIN UPDATE seat SET ownr = 1; END $$' \
	'x.spec:4:38: error: column "ownr" of relation "seat" does not exist; did you mean "owner"?'
refuse 'DO $$ DECLARE id int; BEGIN UPDATE seat SET n = 1 WHERE id = 1; END $$' \
	'column reference "id" is ambiguous'
refuse 'DO $$ BEGIN IF true THEN NULL; END; END $$' 'syntax error at or near ";"'
refuse 'DO $$ BEGIN x := 1; END $$' '"x" is not a known variable'
refuse 'DO $$ DECLARE i integr; BEGIN END $$' 'type "integr"'
refuse 'DO $$ BEGIN PERFORM 1 FROM; END $$' 'syntax error at end of input'
refuse "DO \$\$ DECLARE t text; BEGIN EXECUTE 'SELECT ' || t; END \$\$" \
	'EXECUTE of a text that depends on variables'
refuse "DO \$\$ BEGIN EXECUTE 'UPDATE seat SET ownr = 1'; END \$\$" \
	'x.spec:4:47: error: column "ownr" of relation "seat" does not exist'
refuse "DO \$\$ BEGIN EXECUTE 'SELECT ' || 'idd FROM seat'; END \$\$" \
	'x.spec:4: EXECUTE:1:8: error: column "idd" does not exist'
refuse 'SELECT id FROM seat WHERE generate_series(1, 2) = id' \
	'set-returning functions are not allowed in WHERE (0A000)'
refuse 'SELECT DISTINCT id FROM seat FOR SHARE' \
	'FOR SHARE is not allowed with DISTINCT clause'
refuse 'SELECT id FROM seat WHERE (id, n) = (1, 2, 3)' \
	'unequal number of entries in row expressions'
refuse 'SELECT seat FROM seat' 'x.spec:4:17: error: a whole row as a value'
refuse 'UPDATE seat SET (id, n) = (SELECT nextval('"'q'"'), 1)' 'x.spec:4:52: error: relation "q" does not exist'
refuse 'UPDATE seat SET (id, n) = (SELECT 1)' 'number of columns does not match number of values'
refuse 'UPDATE seat SET (id, n) = (SELECT 1, 2 FROM seat FOR UPDATE)' \
	'a query which calls functions or locks rows: not supported'
refuse 'SELECT id FROM seat WHERE (id, n) = (SELECT 1)' 'subquery has too few columns'
refuse 'SELECT 1 FROM seat s RIGHT JOIN LATERAL (SELECT s.id) x ON true' \
	'the combining JOIN type must be INNER or LEFT'
refuse "DO \$\$ BEGIN RAISE 'a %'; END \$\$" 'too few parameters specified for RAISE'

# bad TEXT CODE-LINES...: a specification that is no good.
bad() {
	text=$1
	shift
	printf '%s\n' "$@" >x.spec
	run 3 explore x.spec -i si
	says "$text"
}
bad 'there is no session' '# nothing'
bad "x.spec:3:11: error: unknown isolation level 'foo'" 'session s' \
	'step a { SELECT 1 }' 'isolation foo'
bad 'this brace ends the block, in quotes and comments as well' 'session s' \
	"step a { SELECT '{}'; }"
bad '"t" is the name of a step or session and of a table: write public.t' \
	'setup { CREATE TABLE t (i int); }' 'session t' 'step a { SELECT 1 }' \
	'assert { SELECT count(*) = 0 FROM t }'
bad 'did you mean "Ann"? (in double quotes' 'session Ann' \
	'step a { SELECT 1 AS x }' 'assert { SELECT x = 1 FROM Ann }'
bad 'function f must return type trigger' \
	'setup { CREATE TABLE t (i int);' \
	'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;' \
	'CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();' \
	'}' 'session s' 'step a { SELECT 1 }'
bad 'x.spec:3:18: error: record "new" has no field "j"' \
	'setup { CREATE TABLE t (i int);' \
	'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN' \
	'  IF true OR 1 = NEW.j THEN RETURN NEW; END IF; END $body$;' \
	'CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();' \
	'}' 'session s' 'step a { SELECT 1 }'
bad 'x.spec:3:34: error: a trigger FOR EACH STATEMENT of a table whose rows a foreign key changes (write FOR EACH ROW)' \
	'setup { CREATE TABLE t (i int PRIMARY KEY, j int REFERENCES t ON DELETE CASCADE);' \
	'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;' \
	'CREATE TRIGGER g AFTER INSERT ON t EXECUTE FUNCTION f();' \
	'}' 'session s' 'step a { SELECT 1 }'
run 3 explore shop.sql --session 'a:'
says '--session:1:1: error: expected SQL behind the colon'
# Errors of running are in the history; a mark of the byte order is none.
{
	printf '\357\273\277'
	printf '%s\n' 'setup { CREATE TABLE t (i int);' \
	'CREATE SEQUENCE q; }' 'session s' \
	"step a { SELECT i FROM t WHERE i = 'x' }" \
	"step b { DO \$\$ DECLARE i int; BEGIN i := 'x'; END \$\$ }" \
	"step c { SELECT currval('q') }" \
	"step d { SELECT nextval('q'); SELECT currval('q') = lastval() AS same }" \
	"assert { SELECT a.error = '22P02' AND b.error = '22P02'" \
	"  AND c.error = '55000' AND same FROM d }"
} >x.spec
run 0 explore x.spec
bad 'this block has no closing brace' 'setup { SELECT 1;'
bad 'this session has no step' 'session s'
bad "duplicate step name 'a'" 'session s' 'step a { SELECT 1 }' 'session t' \
	'step a { SELECT 1 }'
bad 'setup failed: duplicate key value violates unique constraint "t_pkey"' \
	'setup { CREATE TABLE t (i int PRIMARY KEY);' \
	'INSERT INTO t VALUES (1), (1); }' 'session s' 'step a { SELECT 1 }'
printf '%s\n' 'session s' 'setup { SELECT 1/0; }' 'step a { SELECT 1; }' \
	>x.spec
run 1 explore x.spec -i si
prints 'setup failed: division by zero (22012)'
bad 'an assertion has one column, a boolean' 'session s' \
	'step a { SELECT 1 AS x }' 'assert { SELECT x FROM a }'
bad "cannot read 'lost.sql'" 'setup "lost.sql"' 'session s' \
	'step a { SELECT 1 }'
{
	printf 'session s step a { SELECT '
	printf '(%.0s' $(seq 1000)
	printf 1
	printf ')%.0s' $(seq 1000)
	printf ' AS x; }\n'
} >deep.spec
run 0 explore deep.spec -i si
{
	printf 'session s step a { SELECT '
	printf -- '- %.0s' $(seq 100000)
	printf '1; }\n'
} >deep.spec
run 3 explore deep.spec -i si

# Long sessions that lock: what they can write is known within a bound.
{
	echo 'setup { CREATE TABLE t (id int PRIMARY KEY, n int);'
	echo 'INSERT INTO t VALUES (1, 0), (2, 0); }'
	for s in 1 2; do
		echo "session s$s"
		for i in $(seq 1000); do
			echo "step a${s}_$i { UPDATE t SET n = n + 1 WHERE id = $((1 + i % 2)); }"
		done
	done
} >long.spec
run 0 compile long.spec
# Nobody comes to refer to a row that another one renames behind a savepoint.
cat >renamed.spec <<'END'
setup {
  CREATE TABLE t (id int PRIMARY KEY, n int);
  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t ON UPDATE CASCADE);
  INSERT INTO t VALUES (1), (2);
  INSERT INTO c VALUES (1, 1);
}
session ann
step renames { BEGIN; SAVEPOINT p; UPDATE t SET n = 1 WHERE id = 2;
  UPDATE t SET id = 3 WHERE id = 2; COMMIT; }
session ben
step refers { UPDATE c SET t_id = 2 WHERE id = 1; }
assert { SELECT count(*) = 0 FROM c WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = t_id) }
END
for level in prc si; do
	run 0 explore renamed.spec -i $level
	prints 'histories                 2 '
done

finish
