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
# Nobody is on call at first in what the solver thinks of: that is no violation.
sed -n '/^setup/,/^}/p' "$ISOSCOPE_SOURCE/programs/sql/on-call.spec" >leave.spec
cat >>leave.spec <<'END'
session look
step looks { UPDATE doctor SET on_call = true WHERE name = 'bob'; }
assert { SELECT count(*) >= 1 FROM doctor WHERE on_call }
END
run 4 prove leave.spec -i si --assertions
prints 'not provable this way'
finish
