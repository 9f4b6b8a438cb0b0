#!/bin/sh
# isoscope prove --assertions and --invariant, from outside.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >bank.tx <<'END'
global balance[*] = 10;
txn withdraw(account, amount) {
	assume amount > 0;
	if (balance[account] >= amount) { atomic balance[account] += 0 - amount; }
}
END
sed 's/if (balance/if (locked balance/' bank.tx >locked.tx
run 0 prove bank.tx -i si --invariant 'balance["a"] >= 0'
prints 'holds: proved: the assertion holds in every final state under Snapshot Isolation (si), for any number of sessions and transactions'
run 0 prove bank.tx -i psi --invariant 'balance["a"] >= 0' -q
run 1 prove bank.tx -i prc --invariant 'balance["a"] >= 0' --client client.tx
prints "violated: the assertion fails under PostgreSQL's Read Committed (prc)"
prints 'These transactions, for example: withdraw('
prints 'This fails: balance["a"] >= 0'
run 1 explore client.tx -q
run 0 prove locked.tx -i prc --invariant 'balance["a"] >= 0' -q
run 1 prove bank.tx -i si -q --invariant 'forall(k in ["a", "b"] : balance[k] > 0)'
run 0 prove bank.tx -i si --json --invariant 'balance["a"] >= 0 && balance["b"] >= 0'
prints '"assertions":1,"verdict":"holds"'
prints '"step":null'
run 1 prove bank.tx -i prc --invariant 'balance["a"] >= 0' --json
prints '"assertion":"balance[\"a\"] >= 0"'
prints '"calls":"withdraw('

# Two accounts together: a write skew.
cat >two.tx <<'END'
global balance[*] = 10;
txn withdraw(account, amount) {
	assume amount > 0;
	if (balance["a"] + balance["b"] >= amount) {
		balance[account] = balance[account] - amount;
	}
}
finally {
	let sum = balance["a"] + balance["b"];
	assert "together" : sum >= 0;
}
END
run 0 prove two.tx -i ser --assertions
run 1 prove two.tx -i si --assertions
prints 'write skew'
prints 'This fails: sum >= 0'

# True, but for a reason that the rule does not see.
cat >order.tx <<'END'
global x = 0;
global y = 0;
txn one() { x = 1; }
txn two() { if (x == 1) { y = 1; } }
END
run 4 prove order.tx -i cc --invariant 'y == 0 || x == 1'
prints 'inconclusive: not provable this way: two might break it'
prints '  writes        y = 1'
run 4 prove order.tx -i cc --invariant 'y == 0 || x == 1' --json
prints '"step":{"call":"two()"'
run 0 prove order.tx -i ser --invariant 'y == 0 || x == 1'
run 1 prove order.tx -i ser --invariant 'x == 1'
prints 'the assertion fails of what the program has at first'
run 4 prove order.tx -i none --invariant 'x == 0'
prints 'there are no proofs for this level'
run 4 prove order.tx --assertions
prints 'nothing is asserted of final states'
run 4 prove "$ISOSCOPE_SOURCE/programs/examples/on-call.tx" --assertions
prints 'Left out: 1 assertion about what sessions have.'
cat >loop.tx <<'END'
global n[*] = 0;
txn all(keys) { for k in keys { n[k] = 1; } }
END
run 4 prove loop.tx -i ser --invariant 'n[0] >= 0'
prints 'loop.tx:2: a change of any number of keys (in all) is not covered'
run 2 prove order.tx -i si --assertions --table
says '--table, --explain, --subsets and --allocate are about serializability'
run 2 prove order.tx -i si --invariant 'true' --allocate
run 2 prove order.tx -i si --among si

# Beside what the program asserts itself.
run 0 prove two.tx -i ser --invariant 'balance["a"] + balance["b"] >= 0 - 1'
prints 'the assertions hold in every final state'
run 1 prove two.tx -i ser --invariant 'balance["a"] >= 0'
prints 'This fails: balance["a"] >= 0'
run 3 prove two.tx -i ser --invariant 'balance["a"] >='
says 'two.tx:8:33: error: expected an expression'

# SQL: of any rows.
cat >bank.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
CREATE FUNCTION withdraw(a int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE b int;
BEGIN
  SELECT balance INTO b FROM account WHERE id = a;
  IF b >= n AND n > 0 THEN
    UPDATE account SET balance = balance - n WHERE id = a;
  END IF;
END $$;
CREATE FUNCTION open(a int) RETURNS void LANGUAGE sql AS $$
  INSERT INTO account VALUES (a, 0) ON CONFLICT DO NOTHING;
$$;
END
run 0 prove bank.sql -i si --invariant 'SELECT count(*) = 0 FROM account WHERE balance < 0'
run 1 prove bank.sql -i prc --client found.spec \
	--invariant 'SELECT NOT EXISTS (SELECT 1 FROM account WHERE balance < 0)'
prints 'from a state in which no assertion fails'
run 1 explore found.spec -q
sed 's/WHERE id = a;$/WHERE id = a AND balance >= n;/' bank.sql >checked.sql
run 0 prove checked.sql -i prc -q \
	--invariant 'SELECT NOT EXISTS (SELECT 1 FROM account WHERE balance < 0)'
# Sums over all rows, and that there are some.
cat >transfer.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, open bool);
INSERT INTO account VALUES (1, 50, true), (2, 50, true);
CREATE FUNCTION transfer(a int, b int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x int; y int;
BEGIN
  IF a = b OR n <= 0 THEN RETURN; END IF;
  SELECT balance INTO x FROM account WHERE id = a;
  SELECT balance INTO y FROM account WHERE id = b;
  IF y IS NOT NULL AND x >= n THEN
    UPDATE account SET balance = x - n WHERE id = a;
    UPDATE account SET balance = y + n WHERE id = b;
  END IF;
END $$;
END
total='SELECT sum(balance) = 100 FROM account'
run 0 prove transfer.sql -i ser --invariant "$total" -q
run 0 prove transfer.sql -i si --invariant "$total"
prints 'holds: proved: the assertion holds in every final state under Snapshot Isolation (si)'
run 1 prove transfer.sql -i prc --invariant "$total" --client found.spec
prints 'This fails: SELECT sum(balance) = 100 FROM account'
run 1 explore found.spec -q
sed '/^CREATE FUNCTION/,$d' transfer.sql >held.sql
cat >>held.sql <<'END'
CREATE FUNCTION transfer(a int, b int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance - n WHERE id = a AND balance >= n;
  IF NOT FOUND THEN RAISE EXCEPTION 'too little'; END IF;
  UPDATE account SET balance = balance + n WHERE id = b;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such account'; END IF;
END $$;
END
run 0 prove held.sql -i prc --invariant "$total" -q
# To oneself: the last write counts.
sed 's/a = b OR//' transfer.sql >self.sql
run 1 prove self.sql -i ser --invariant "$total"
prints 'These transactions, for example: transfer('
sed 's/= [xy] \([-+]\)/= balance \1/; s/a = b OR//' transfer.sql >self.sql
run 0 prove self.sql -i ser --invariant "$total" -q
# A row that is written twice is one row.
sed '/^CREATE FUNCTION/,$d' transfer.sql >twice.sql
cat >>twice.sql <<'END'
CREATE FUNCTION transfer(a int, b int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance - 2 WHERE id = a;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such account'; END IF;
  UPDATE account SET balance = balance + 1 WHERE id = b;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such account'; END IF;
  UPDATE account SET balance = balance + 1 WHERE id = a;
END $$;
END
run 0 prove twice.sql -i si --invariant "$total" -q
run 0 prove transfer.sql -i prc -q --invariant 'SELECT count(*) >= 2 FROM account WHERE open'
cat >more.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO account VALUES (1, 50), (2, 50);
CREATE FUNCTION deposit(a int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF n >= 0 THEN UPDATE account SET balance = balance + n WHERE id = a; END IF;
END $$;
CREATE FUNCTION leave(a int) RETURNS void LANGUAGE sql AS $$
  DELETE FROM account WHERE id = a AND balance = 0;
$$;
END
run 0 prove more.sql -i prc -q --invariant 'SELECT sum(balance) >= 100 FROM account'
run 1 prove more.sql -i prc -q --invariant 'SELECT sum(balance) <= 100 FROM account'
run 0 prove more.sql -i prc -q --invariant 'SELECT EXISTS (SELECT 1 FROM account) AND
	(SELECT sum(balance) FROM account) >= 1'
run 4 prove more.sql -i cc --invariant 'SELECT sum(balance) >= 100 FROM account'
prints '  commits over  sum(balance) of account = '
run 4 prove more.sql -i rc --invariant 'SELECT sum(balance) >= 100 FROM account'
prints 'what the last transaction reads need not be of one state'
run 4 prove more.sql -i si --invariant 'SELECT sum(balance * balance) >= 0 FROM account'
prints 'for all that is known of what the query at'
# Sums that a transaction reads itself, before it writes and behind that.
cat >booking.sql <<'END'
CREATE TABLE booking (id int PRIMARY KEY, seats int NOT NULL);
INSERT INTO booking VALUES (0, 1);
CREATE FUNCTION book(i int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE taken int;
BEGIN
  SELECT coalesce(sum(seats), 0) INTO taken FROM booking;
  IF n > 0 AND taken + n <= 100 THEN
    INSERT INTO booking VALUES (i, n);
  END IF;
END $$;
END
cat >overbooked.sql <<'END'
CREATE TABLE booking (id int PRIMARY KEY, seats int NOT NULL);
INSERT INTO booking VALUES (0, 1);
CREATE FUNCTION book(i int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE taken int;
BEGIN
  INSERT INTO booking VALUES (i, n);
  SELECT sum(seats) INTO taken FROM booking;
  IF taken > 100 THEN RAISE EXCEPTION 'full'; END IF;
END $$;
END
seats='SELECT coalesce(sum(seats), 0) <= 100 FROM booking'
for program in booking overbooked; do
	run 0 prove $program.sql -i ser --invariant "$seats" -q
	run 1 prove $program.sql -i si --invariant "$seats" --client found.spec
	prints "This fails: $seats"
	run 1 explore found.spec -q
	run 1 prove $program.sql -i prc --invariant "$seats" -q
done
# What all write keeps them apart, but of that the rule knows nothing.
{
	echo 'CREATE TABLE day (id int PRIMARY KEY, bookings int NOT NULL);'
	echo 'INSERT INTO day VALUES (1, 0);'
	sed 's/^BEGIN/&\n  UPDATE day SET bookings = bookings + 1 WHERE id = 1;\
  IF NOT FOUND THEN RETURN; END IF;/' booking.sql
} >apart.sql
run 4 prove apart.sql -i si --invariant "$seats"
prints ', sum(seats) of booking = '
cat >job.sql <<'END'
CREATE TABLE job (id int PRIMARY KEY, runs bool NOT NULL);
CREATE FUNCTION start(i int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM job WHERE runs) THEN
    INSERT INTO job VALUES (i, true);
  END IF;
END $$;
CREATE FUNCTION stop(i int) RETURNS void LANGUAGE sql AS $$
  UPDATE job SET runs = false WHERE id = i;
$$;
END
one='SELECT count(*) <= 1 FROM job WHERE runs'
run 0 prove job.sql -i ser --invariant "$one" -q
run 1 prove job.sql -i si --invariant "$one" -q
sed 's/NOT EXISTS (SELECT 1/(SELECT count(*)/; s/WHERE runs)/WHERE runs) < 2/' job.sql >jobs.sql
run 0 prove jobs.sql -i ser --invariant 'SELECT count(*) < 3 FROM job WHERE runs' -q
run 1 prove jobs.sql -i ser --invariant "$one" -q
# Of a sum over other rows nothing follows.
sed 's/runs)/id > 500)/' job.sql >other.sql
run 1 prove other.sql -i ser --invariant "$one" -q
# Nobody is on call at first in what the solver thinks of: that is no violation.
sed -n '/^setup/,/^}/p' "$ISOSCOPE_SOURCE/programs/sql/on-call.spec" >leave.spec
cat >>leave.spec <<'END'
session look
step looks { UPDATE doctor SET on_call = true WHERE name = 'bob'; }
assert { SELECT count(DISTINCT name) >= 1 FROM doctor WHERE on_call }
END
run 4 prove leave.spec -i si --assertions
prints 'not provable this way'

# What is asserted is no condition.
cat >number.tx <<'END'
global x = 0;
txn t(d) { x = d; }
END
run 4 prove number.tx --invariant x
prints 'inconclusive: what is asserted ends in a run-time error with what the program has at first'

finish
