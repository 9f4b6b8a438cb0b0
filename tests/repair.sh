#!/bin/sh
# isoscope explore --fix, from outside: the programs of the manual.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
examples=$top/programs/examples

run 1 explore --fix "$examples/last-seat.tx"
prints '1. a locked read of enrolled[course] in enroll  (cost 1; nothing is violated in 2 histories)'
prints '+    let who = locked enrolled[course];'
prints '+txn enroll(student, course) at si {'
run 1 explore --fix "$examples/on-call.tx"
prints '+    if (on_call[me] && locked on_call[other]) {'
prints '- a locked read of on_call[me] in go_home: still violated in 1 of 3 histories'
prints '+    if (locked on_call[me] && on_call[other]) {'
run 1 explore --fix "$examples/shopping-cart.tx" --json
prints '"words":"one atomic update of cart[user] in add_item"'
prints '+    atomic cart[user] += [item];'
prints '"not_enough":[{'
run 1 explore --fix "$examples/courseware.tx" -q
prints 'violated: '
lacks 'locked'
run 1 explore --fix "$top/programs/oltp/checked/smallbank-penalty.tx"
prints '+    if (shared savings[who] + checking[who] < amount) {'
prints '+txn write_check(name, amount) at ser {'
# SmallBank: under si just the programs with balance, transact_savings and
# write_check are not robust, and write_check is the one to change (Fekete 2005;
# Alomari, Cahill, Fekete, Roehm 2008).
for mask in $(seq 1 31); do
	{
		echo "isolation si; import \"$top/programs/oltp/apps/smallbank.tx\";"
		n=0
		for call in 'balance("c1")' 'deposit_checking("c1", 5)' \
			'transact_savings("c1", 2020)' \
			'amalgamate("c1", "c2")' 'write_check("c1", 500)'; do
			[ $((mask >> n & 1)) -eq 0 ] ||
				echo "session s$n { $call; }"
			n=$((n + 1))
		done
	} >bank.tx
	if [ $((mask & 21)) -eq 21 ]; then
		run 1 explore --fix --robust bank.tx
		prints '1. a shared read of savings[who] in write_check  (cost 1;'
		prints '2. write_check at ser  (cost 4;'
		prints '3. all at ser  '
		lacks '4. '
	else
		run 0 explore --fix --robust bank.tx
	fi
done
# From rc and prc too, if all are to be serial, write_check is the one that needs
# ser: the others are safe beside it at si (Fekete 2005).
printf 'lock never\natomic never\n' >levels
for level in rc prc; do
	sed "1s/isolation si/isolation $level/" bank.tx >bank-$level.tx
	run 1 explore --fix --robust bank-$level.tx --weights levels \
		--max-edits 5
	prints '1. balance at si, deposit_checking at si, transact_savings at si, amalgamate at si and write_check at ser  (cost 16;'
	prints '2. all at ser  (cost 20;'
	lacks '3. '
done
# With updates that lock, at Read Committed, these and what is within them are
# robust, any number of times: amalgamate, deposit_checking and
# transact_savings; balance and one of the latter two (Vandevoort, Ketsman,
# Koch, Neven, VLDB 2021). Of balance the first read has to be promoted.
small_bank >programs.tx
for mask in $(seq 1 31); do
	{
		echo 'isolation prc; import "programs.tx";'
		n=0
		for call in balance:1 deposit_checking:1,5 \
			transact_savings:1,20 amalgamate:1,2 write_check:1,400
		do
			[ $((mask >> n & 1)) -eq 0 ] || for i in 1 2; do
				echo "session s$n$i { ${call%:*}(${call#*:}); }"
			done
			n=$((n + 1))
		done
	} >bank.tx
	case $mask in
	1 | 3 | 5 | 2 | 4 | 6 | 8 | 10 | 12 | 14) robust=0 ;;
	*) robust=1 ;;
	esac
	"$ISOSCOPE" explore -q --robust --stop-on-violation bank.tx >out 2>err
	equal "exit code of SmallBank's programs $mask at prc" $? $robust
	[ $mask -eq 7 ] || continue
	run 1 explore --fix --robust bank.tx
	prints '1. a shared read of savings[who] in balance  (cost 1;'
	prints '- a shared read of checking[who] in balance: still violated'
	prints '2. balance at si  (cost 3;'
done
# What holds has levels that are stronger than needed; -i stands in no file.
run 0 explore --fix -i ser "$examples/last-seat.tx"
prints 'Stronger than needed'
prints '+txn enroll(student, course) at si {'
run 1 explore --fix -i rc "$examples/last-seat.tx"
prints 'with -i psi in place of -i rc'
run 1 explore --fix -i rc "$examples/last-seat.tx" --json
prints '"file":null,"line":null,"option":"-i psi"}],"diff":""'
# The limits hold for all together.
run 4 explore --fix -i cc "$top/programs/tpcc/client-1.tx" --robust \
	--timeout 0.001
# Each answer is a diff that patch applies, and the program then holds.
apply() {
	rm -rf patched
	mkdir -p patched
	cp -r "$top/programs" patched
	if ! patch -s -p1 -d patched <"$1" >patch.out 2>&1; then
		fail "$2: $1 does not apply: $(cat patch.out)"
		return
	fi
	(cd patched && "$ISOSCOPE" explore -q "$2") >out 2>err
	equal "exit code of $2 with $1" $? 0
}
# A file for each answer, as far as it is a diff.
answers() {
	awk '/^  [0-9]+\. / { n++ }
	/^Not enough/ || /^A transaction/ { exit }
	n && /^      [-+@ \\]/ { print >("answer." n) }' out
}
for name in last-seat on-call shopping-cart courseware twitter; do
	rm -f answer.*
	(cd "$top" && "$ISOSCOPE" explore --fix \
		"programs/examples/$name.tx") >out 2>err
	equal "exit code of --fix $name" $? 1
	answers
	[ -f answer.1 ] && command -v patch >/dev/null || continue
	for file in answer.*; do
		apply "$file" "programs/examples/$name.tx"
	done
done

# A program that is not below the folder: named from the root.
if command -v patch >/dev/null; then
	mkdir below
	cp "$examples/last-seat.tx" up.tx
	rm -f answer.*
	(cd below && "$ISOSCOPE" explore --fix ../up.tx) >out 2>err
	equal "exit code of --fix ../up.tx" $? 1
	prints 'The diffs are for patch -p1 -d /.'
	answers
	patch -s -p1 -d / <answer.1
	run 0 explore -q up.tx
fi

# Without assertions every level will do.
run 0 explore --fix "$top/programs/tpcc/client-1.tx"
prints 'nothing is asserted'
lacks 'Stronger than needed'
cat >serial.tx <<'END'
global n = 0;
session a { txn { n = 1; } }
finally { let end = n; }
assert finally.end == 0;
END
run 1 explore --fix serial.tx
prints 'no lock and no level repairs that'
# A level of the program leaves those of the transactions: it says nothing of
# serial histories.
cat >own.tx <<'END'
global x = 0;
global y = 0;
txn f() at si { let a = x; y = a + 1; return a; }
txn g() at si { let b = y; x = b + 1; return b; }
session s { let r = f(); }
session t { let r = g(); }
assert !(s.r == 0 && t.r == 0);
END
run 1 explore --fix own.tx
prints '1. a shared read of x in f and a shared read of y in g  (cost 2;'
prints '4. f at ser and g at ser  (cost 8;'
# What edits cost, and what Oracle has.
echo 'lock never' >costs
run 1 explore --fix --weights costs "$examples/last-seat.tx"
prints '1. enroll at si  (cost 3;'
lacks 'locked'
echo 'lock 1 1' >costs
run 3 explore --fix --weights costs "$examples/last-seat.tx"
says "costs:1:8: error: nothing follows the cost"
run 3 explore --fix --weights missing "$examples/last-seat.tx"
run 1 explore --fix --oracle "$examples/on-call.tx"
prints '1. a locked read of on_call[other] in go_home  (cost 1;'
prints 'a read that is locked counts as a write'
lacks 'ser'
run 2 explore --oracle serial.tx
says '--oracle needs --fix'
# Programs in SQL: FOR UPDATE and FOR SHARE, one UPDATE, levels. What is told is
# a patch.
# repaired N FILE: the program with its answer number N holds.
repaired() {
	command -v jq >/dev/null || return
	command -v patch >/dev/null || return
	"$ISOSCOPE" explore --fix "$2" --json 2>err |
		jq -r ".answers[$1].diff" >answer.diff
	cp "$2" kept
	patch -s -p1 <answer.diff
	run 0 explore -q "$2"
	cp kept "$2"
}
# Of what is not enough, the first histories tell enough.
cat >many.tx <<'END'
isolation rc;
global n = 0;
txn add() { let old = n; n = old + 1; }
txn look() { let a = n; let b = n; let c = n; }
session a { add(); look(); }
session b { add(); look(); }
session c { look(); }
finally { let end = n; }
assert finally.end == 2;
END
run 1 explore --fix many.tx
prints 'violated: 8,971 of 10,971 histories'
prints 'still violated in 2,731 of the first 4,096 histories'
prints 'still violated in 51 of 63 histories'
run 1 explore --fix many.tx --max-histories 20000 -j2 --html many.html
prints 'still violated in 2,731 of the first 4,096 histories'
cat many.html >out
prints 'still violated in 2,731 of the first 4,096 histories'
prints 'still violated in 51 of 63 histories'
cat >buy.spec <<'END'
setup {
CREATE TABLE seat (id int PRIMARY KEY, owner text);
INSERT INTO seat VALUES (1, NULL);
CREATE FUNCTION buy(n int, who text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  o text;
BEGIN
  SELECT owner INTO o FROM seat WHERE id = n; -- is it free?
  IF o IS NULL THEN
    UPDATE seat SET owner = who WHERE id = n;
    RETURN true;
  END IF;
  RETURN false;
END $$;
}
session ann
step a { SELECT buy(1, 'ann') AS ok; }
session ben
step b { SELECT buy(1, 'ben') AS ok; }
assert "it is sold once" { SELECT NOT (a.ok AND b.ok) FROM a, b }
END
run 1 explore --fix buy.spec
prints '1. a locked read of seat in buy  (cost 1;'
prints '+  SELECT owner INTO o FROM seat WHERE id = n FOR UPDATE; -- is it free?'
prints '2. a at si and b at si  (cost 6;'
prints "+step a { SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT buy(1, 'ann') AS ok; }"
prints '3. all at si  (cost 6;'
prints '+isolation si'
repaired 0 buy.spec
repaired 1 buy.spec
repaired 2 buy.spec
sed -n 2,14p buy.spec >shop.sql
run 1 explore --fix shop.sql --session "ann: SELECT buy(1, 'ann') AS ok" \
	--session "ben: SELECT buy(1, 'ben') AS ok" \
	--assert 'SELECT NOT (ann.ok AND ben.ok) FROM ann, ben'
prints '+++ b/shop.sql'
prints '@@ -7 +7 @@'
prints 'with -i si in place of -i prc'
# Several reads of a routine have the same name: their lines tell them apart.
run 1 explore --fix -i si "$top/programs/sql/on-call.spec"
prints '1. a locked read of doctor in alice_looks (line 8) and a locked read of doctor in bob_looks (line 13)  (cost 2;'
prints '2. a locked read of doctor in alice_looks (line 8) and a locked read of doctor in bob_looks (line 14)  (cost 2;'
# One transaction at SERIALIZABLE is protected from others at SERIALIZABLE only.
{ cat "$top/programs/sql/smallbank.spec"; echo; echo 'isolation si'; } >smallbank.spec
run 1 explore --fix smallbank.spec --max-edits 2
prints '1. all at ser  (cost 12;'
prints '- write_check at ser: still violated in 1 of 7 histories'
prints 'transactions at ser are protected from each other only'
prints 'Sets of more than 2 edits were not tried (--max-edits).'
run 1 explore --fix -i si "$top/programs/sql/on-call.spec" --max-repairs 1
prints 'There may be others: the search ends with 1 (--max-repairs).'
run 1 explore --fix -i si "$top/programs/sql/on-call.spec" --max-repairs 1 --json
prints '"max_repairs":1'
prints '"larger_untried":false'
printf 'setup "shop.sql"\n' >split.spec
sed 1,15d buy.spec >>split.spec
run 1 explore --fix split.spec
prints '+++ b/shop.sql'
run 1 explore --fix -i prc buy.spec
prints 'with -i si in place of -i prc'
# What prc takes for plain reads may be forbidden at rc: prc is no stronger.
# At si the check is beside the snapshot, which no serial order explains.
run 1 explore --fix --robust -i rc "$top/tests/specs/foreign-key-check.spec"
prints '1. all at ser'
lacks 'all at prc'
run 2 explore --fix --oracle buy.spec
says '--oracle is for programs in .tx'
cat >count.spec <<'END'
setup {
CREATE TABLE counter (id int PRIMARY KEY, n int);
INSERT INTO counter VALUES (1, 0);
CREATE PROCEDURE increase(k int) LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  SELECT n INTO v FROM counter WHERE id = 1;
  UPDATE counter SET n = v + k WHERE id = 1;
END $$;
}
session ann
step a { CALL increase(1); }
session ben
step b { UPDATE counter SET n = (SELECT n + 2 FROM counter WHERE id = 1) WHERE id = 1; }
assert "nothing is lost" { SELECT n = 3 FROM counter }
END
run 1 explore --fix count.spec
prints 'one atomic update of counter in b and one atomic update of counter in increase  (cost 4;'
prints '+  UPDATE counter SET n = n + k WHERE id = 1;'
prints '+step b { UPDATE counter SET n = (n + 2) WHERE id = 1; }'
repaired 0 count.spec
repaired 1 count.spec
cat >trigger.spec <<'END'
setup {
CREATE TABLE a (id int PRIMARY KEY, n int);
CREATE TABLE total (id int PRIMARY KEY, n int);
INSERT INTO a VALUES (1, 0), (2, 0);
INSERT INTO total VALUES (1, 0);
CREATE FUNCTION sum_up() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE v int;
BEGIN
  SELECT n INTO v FROM total WHERE id = 1;
  UPDATE total SET n = v + 1 WHERE id = 1;
  EXECUTE 'SELECT n FROM total' INTO v;
  RETURN NEW;
END $$;
CREATE TRIGGER t AFTER UPDATE ON a FOR EACH ROW EXECUTE FUNCTION sum_up();
}
session s
step s1 { UPDATE a SET n = 1 WHERE id = 1; }
session t
step t1 { UPDATE a SET n = 1 WHERE id = 2; }
assert { SELECT n = 2 FROM total }
END
run 1 explore --fix trigger.spec
prints '1. a locked read of total in sum_up  (cost 1;'
lacks 'atomic'
repaired 0 trigger.spec
repaired 1 trigger.spec
# Of a write skew both have to be serializable, or lock what they count; one has a
# level already.
cat >skew.spec <<'END'
setup { CREATE TABLE doctor (name text PRIMARY KEY, on_call bool NOT NULL);
  INSERT INTO doctor VALUES ('alice', true), ('bob', true); }
session s1
setup { START TRANSACTION READ WRITE; }
step w1 { UPDATE doctor SET on_call = false WHERE name = 'alice'
  AND (SELECT count(*) FROM doctor WHERE on_call) >= 2; COMMIT; }
session s2
step w2 { BEGIN TRANSACTION ISOLATION LEVEL
    REPEATABLE  READ; UPDATE doctor SET on_call = false WHERE name = 'bob'
  AND (SELECT count(*) FROM doctor WHERE on_call) >= 2; COMMIT; }
assert "somebody is on call" { SELECT count(*) >= 1 FROM doctor WHERE on_call }
END
run 1 explore --fix skew.spec
prints '1. a locked read of doctor in s1 and a locked read of doctor in w2  (cost 2;'
prints '    REPEATABLE  READ; SELECT 1 FROM doctor WHERE on_call FOR UPDATE; UPDATE doctor'
prints '2. s1 at ser and w2 at ser  (cost 8;'
lacks '3. '
prints '+setup { START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ WRITE; }'
prints '+    SERIALIZABLE; UPDATE doctor'
for which in 0 1; do repaired $which skew.spec; done
# Before IF, and what is assigned.
cat >count.spec <<'END'
setup { CREATE TABLE seat (id int PRIMARY KEY, owner text);
  CREATE TABLE sold (n int PRIMARY KEY);
  INSERT INTO seat VALUES (1, NULL), (2, NULL); INSERT INTO sold VALUES (0);
  CREATE FUNCTION buy(who text, i int) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF (SELECT count(*) FROM seat WHERE owner IS NULL) > 1 THEN
      UPDATE seat SET owner = who WHERE id = i;
    END IF;
  END $$; }
session a
step a { SELECT buy('ann', 1); }
session b
step b { SELECT buy('ben', 2); }
assert { SELECT count(*) = 1 FROM seat WHERE owner IS NULL }
END
run 1 explore --fix count.spec
prints '1. a locked read of seat in buy  (cost 1;'
prints '+    PERFORM 1 FROM seat WHERE owner IS NULL FOR UPDATE; IF (SELECT count(*)'
repaired 0 count.spec
# A row that nobody writes keeps out who locks it as well: where it is read, and
# where a row that refers to it is inserted.
cat >shift.spec <<'END'
setup {
  CREATE TABLE shift (id int PRIMARY KEY, name text);
  CREATE TABLE duty (doctor text PRIMARY KEY, shift int REFERENCES shift,
    active bool);
  INSERT INTO shift VALUES (1, 'night');
  INSERT INTO duty VALUES ('alice', 1, true), ('bob', 1, true);
}
session s1
step a { BEGIN; SELECT name FROM shift WHERE id = 1; }
step b { UPDATE duty SET active = false WHERE doctor = 'alice' AND
  (SELECT count(*) FROM duty WHERE shift = 1 AND active) >= 2; COMMIT; }
session s2
step c { BEGIN; SELECT name FROM shift WHERE id = 1; }
step d { UPDATE duty SET active = false WHERE doctor = 'bob' AND
  (SELECT count(*) FROM duty WHERE shift = 1 AND active) >= 2; COMMIT; }
assert { SELECT count(*) >= 1 FROM duty WHERE active }
END
run 1 explore --fix shift.spec
prints '1. a locked read of shift in a and a locked read of shift in c  (cost 2;'
prints '- a locked read of shift in a: still violated'
repaired 0 shift.spec
cat >room.spec <<'END'
setup {
  CREATE TABLE room (id int PRIMARY KEY);
  CREATE TABLE booking (id int PRIMARY KEY, room int REFERENCES room, hour int);
  INSERT INTO room VALUES (1), (2);
  CREATE FUNCTION book(n int, r int, h int) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT 1 FROM booking WHERE room = r AND hour = h) THEN
      RETURN;
    END IF;
    INSERT INTO booking VALUES (n, r, h);
  END $$;
}
session s1
step a { SELECT book(1, 1, 9); }
session s2
step b { SELECT book(2, 1, 9); }
assert { SELECT count(*) <= 1 FROM booking }
END
run 1 explore --fix room.spec
prints '1. a locked read of room in book  (cost 1;'
prints '+    PERFORM 1 FROM room WHERE id = r FOR UPDATE; IF EXISTS'
repaired 0 room.spec
sed 's/ REFERENCES room//' room.spec >free.spec
run 1 explore --fix free.spec
lacks 'a locked read of room'
for file in "$top"/programs/sql/*.spec; do
	case $file in
	*/tpcc.spec|*/cart.spec) ;;
	*) "$ISOSCOPE" explore --fix "$file" --max-edits 2 >out 2>err
		code=$?
		if [ $code -le 1 ]; then pass; else fail "--fix $file: $code"; fi ;;
	esac
done

run 2 explore --fix serial.tx --symmetry
says '--fix cannot be used with --symmetry'
run 2 explore serial.tx --max-edits 2
says '--max-edits needs --fix'
run 3 explore --fix missing.tx
finish
