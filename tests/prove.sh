#!/bin/sh
# isoscope prove, from outside.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >bank.tx <<'END'
global balance[*] = 10;
txn withdraw(account, amount) {
	assume amount > 0;
	let b = balance[account];
	if (b >= amount) { balance[account] = b - amount; }
}
END
for level in ra cc pc prc; do
	run 1 prove bank.tx -i $level
	prints 'These transactions, for example: withdraw('
	prints 'lost update'
done
run 0 prove bank.tx -i psi --one-each
prints 'holds: proved: every execution is serializable under Parallel Snapshot Isolation (psi), for any number of transactions, one in each session'
run 1 prove bank.tx -i psi
prints 'store buffering'
run 0 prove bank.tx -i si
prints 'for any number of sessions and transactions'
prints 'withdraw -> withdraw: wr ww rw, rw also when the second has committed before the first'
run 0 prove bank.tx -i postgres-repeatable-read
prints '(si), as postgres-repeatable-read, for any number'
run 0 prove bank.tx -i ser
prints 'None of it leads to an earlier commit'

# The client is a program with that counterexample.
run 1 prove bank.tx -i cc --client client.tx -q
run 1 explore client.tx --quiet
run 2 prove bank.tx --client bank.tx
says 'would overwrite the program'
run 1 prove bank.tx -i cc --dot picture
grep -q '^digraph' picture; result=$?
[ $result -eq 0 ] && pass || fail 'a picture'

run 0 prove bank.tx -i si --json
prints '"one_each":false,"no_errors":false,"max_length":4,"verdict":"holds"'
prints '"transactions":["withdraw"],"uncovered":[],"candidate":null,"pairs":[{"from":"withdraw","to":"withdraw","wr":true,"ww":true,"rw":true,"against":true}]'
run 1 prove bank.tx -i cc --json
prints '"anomaly":"lost update"'
prints '"sources":[{"file":"bank.tx (client).tx","first":'

# Which accesses conflict, where it is proved and where it is not.
run 0 prove bank.tx -i si --table
prints 'Where one depends on the other, if the keys are the same:'
prints '  withdraw -> withdraw'
prints 'rw  line 4 reads balance[account], if 0 < amount; line 5 writes balance[account], if (0 < amount) and (balance[account] >= amount); also when the second has committed before the first'
run 1 prove bank.tx -i cc --table
prints 'ww  line 5 writes balance[account]'
run 0 prove bank.tx -i ser --table --json
prints '"kind":"rw","against":false,"first":{"line":4,"key":"balance[account]","condition":'
cat >far.spec <<'END'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1), (2, 2); }
session a
step a { UPDATE t SET n = 3 WHERE id = 1; }
session b
step b { UPDATE t SET n = 3 WHERE id = 2; }
session c
step c { SELECT n FROM t WHERE id = 1; }
END
run 0 prove far.spec -i si --table
prints '  c -> a'
lacks 'c -> b'
lacks 'a -> b'
prints 'line 7 reads t[1]'
cat >two.tx <<'END'
global x = 0;
global y[*] = 0;
txn look(k) { let a = x; return y[k]; }
txn set(k) { y[k] = 1; }
END
run 0 prove two.tx -i si --table
prints '    rw  line 3 reads y[k]; line 4 writes y[k]'
prints '    wr  line 4 writes y[k]; line 3 reads y[k]'
lacks 'reads x'
run 0 prove two.tx -i si --json
lacks '"conflicts"'

# Why there is no cycle: the rules that exclude each.
run 0 prove bank.tx -i si --one-each --explain
prints '  no read has an older version than one in sight; of two that write a key the later one has the earlier in sight; a transaction reads from one snapshot:'
prints '    withdraw -> withdraw -> the first'
prints '; a transaction reads from one snapshot; the last of them commits first:'
prints '    withdraw -> withdraw -> withdraw'
run 0 prove bank.tx -i ser --one-each --explain --json
prints '"exclusions":[{"transactions":["withdraw","withdraw"],"pair":false,"back":false,"rules":["versions","snapshot","serial","first commit"],"unwritten":[]}]'
run 1 prove bank.tx -i cc --explain
lacks 'Why no'
cat >prices.tx <<'END'
global price[*] = 1;
global sold[*] = 0;
txn sell(k) { sold[k] = 1; }
txn buy(k) {
	let p = price[k];
	let q = price[k];
	if (p != q) { let s = sold[k]; }
	sold[k] = 2;
}
END
run 0 prove prices.tx -i rc --explain --one-each
prints '; nobody writes price:'
# Two that never depend on each other, and why.
cat >apart.tx <<'END'
global n[*] = 0;
global on = false;
txn one() { n[1] = 1; }
txn two() { let v = n[2]; }
txn three() { let v = on; let w = on; if (v != w) { n[2] = 1; } }
END
run 0 prove apart.tx -i rc --one-each --explain
prints 'Why of two that have keys of one name the second never depends on the first:'
prints '  what they read and write:'
prints 'nobody writes on:'
prints '    one -> two'
prints '    two -> three'
run 0 prove apart.tx -i rc --one-each --explain --json
prints '"pair":true,"back":false'

# Records: who is meant stands in one.
run 1 prove "$ISOSCOPE_SOURCE/programs/oltp/apps/smallbank.tx" -i prc --client c.tx
prints 'lost update'
run 1 explore c.tx -q
grep -q '= {custid: ' c.tx; result=$?
[ $result -eq 0 ] && pass || fail 'a record in a client'
run 1 prove "$ISOSCOPE_SOURCE/programs/oltp/apps/smallbank.tx" -i si -q
run 0 prove "$ISOSCOPE_SOURCE/programs/oltp/apps/smallbank.tx" -i ser -q
cat >fields.tx <<'END'
global who[*] = {id: 1};
global n[*] = 0;
txn add(a) { let w = who[a]; if (w.id != 3) { n[w.id] = n[w.id] + 1; } }
END
run 0 prove fields.tx -i si --table
prints 'reads n[who[a].id], if who[a].id != 3'

# Collections: what is in them is known of those that are asked, and a client
# has them.
cat >members.tx <<'END'
global a = [];
global b = [];
txn one(k) { if (k in a) { b = b + [k]; } }
txn other(k) { if (k in b) { a = a + [k]; } }
END
sed 's/\[\]/{}/; s/\[k\]/{k}/' members.tx >sets.tx
cat >walks.tx <<'END'
global all = [];
global n[*] = 0;
fn of(ids, w) = filter(i in ids : i[0] == w);
txn add(w) { let s = 0; for i in of(all, w) { s = s + n[i[1]]; } n[w] = s; }
END
for program in members sets walks; do
	run 1 prove $program.tx -i si --client found.tx -q
	run 1 explore found.tx -q
done
grep -q '^global all = \[' found.tx; result=$?
[ $result -eq 0 ] && pass || fail 'a list in a client'

# Limits end a question to the solver, too: those of this program take seconds.
tpcc=$ISOSCOPE_SOURCE/programs/apps/tpcc.tx
begun=$(date +%s)
run 4 prove "$tpcc" -i si --timeout 1
prints 'inconclusive: the time limit was reached; whether'
run 4 prove "$tpcc" -i si --memory 25M
prints 'inconclusive: the memory limit was reached; whether'
[ $(($(date +%s) - begun)) -lt 40 ] && pass || fail 'limits come too late'

# Which are serializable together: SmallBank, with updates that lock (Vandevoort,
# Ketsman, Koch, Neven, VLDB 2021; Fekete 2005; Alomari, Cahill, Fekete, Roehm
# 2008).
small_bank >smallbank.tx
# The sets under a heading, without their examples.
sets() {
	sed -n "/^$1/,/^\$/{s/^  \([^ :][^:]*\).*/\1/p;}" out
}
run 1 prove smallbank.tx -i prc --no-errors --one-each --subsets
equal 'proved at prc' "$(sets Proved)" 'balance, deposit_checking
balance, transact_savings
deposit_checking, transact_savings, amalgamate'
equal 'violated at prc' "$(sets 'Not serializable')" \
	'write_check
balance, deposit_checking, transact_savings
balance, amalgamate'
run 1 prove smallbank.tx -i si --no-errors --one-each --subsets
equal 'proved at si' "$(sets Proved)" \
	'balance, deposit_checking, transact_savings, amalgamate
balance, deposit_checking, amalgamate, write_check
deposit_checking, transact_savings, amalgamate, write_check'
equal 'violated at si' "$(sets 'Not serializable')" \
	'balance, transact_savings, write_check'
lacks 'Neither proved'
lacks 'Not all sets'
run 0 prove smallbank.tx -i ser --no-errors --subsets --json
prints '"sets":[{"transactions":["balance","deposit_checking","transact_savings","amalgamate","write_check"],"verdict":"holds","cycle":null,"client":null,"consequence":null,"fails":null,"cause":null}],"sets_complete":true'
run 1 prove smallbank.tx -i si --no-errors --one-each --subsets --json
prints '"transactions":["balance","transact_savings","write_check"],"verdict":"violated","cycle":"balance('
run 1 prove smallbank.tx -i si --no-errors --one-each --json
lacks '"sets"'
# Nothing else can change what they read, so that a set is proved by what it
# lacks.
cat >lacking.tx <<'END'
global price[*] = 1;
global sold[*] = 0;
txn sell(k) { sold[k] = 1; }
txn buy(k) {
	let p = price[k];
	let q = price[k];
	if (p != q) { let s = sold[k]; sold[k + 1] = s; }
}
txn mark(k) { price[k] = 3; }
END
run 1 prove lacking.tx -i rc --subsets
equal 'proved in part' "$(sets Proved)" 'sell, buy
sell, mark'
equal 'violated in part' "$(sets 'Not serializable')" 'buy, mark'
{
	echo 'global x = 0;'
	for i in $(seq 65); do echo "txn t$i() { x = $i; }"; done
} >many.tx
run 2 prove many.tx -i si --subsets
says '--subsets takes programs of at most 64 transactions; this one has 65'
run 4 prove smallbank.tx -i cc --no-errors --subsets --timeout 0.001
lacks 'of no larger set'

# The weakest levels. Where serializable transactions are so among each other
# only, all of a dangerous structure need it (Vandevoort, Ketsman, Neven, PODS
# 2023).
levels() {
	sed -n '/^Proved to be serializable with levels/,/^$/s/^  \([^ ].* at .*\)/\1/p' out
}
run 1 prove smallbank.tx -i si --no-errors --one-each --allocate
equal 'levels of SmallBank' "$(levels)" \
	'balance at si, deposit_checking at prc, transact_savings at prc, amalgamate at prc, write_check at ser'
prints 'no other choice that is proved has a weaker level'
prints '    balance at prc: not serializable, for example balance('
prints '    write_check at si: not serializable, for example'
lacks 'neither proved nor violated'
# In their place, reads that lock: WriteCheck's of the savings, as in Alomari,
# Cahill, Fekete, Roehm.
prints '    savings[who] of write_check (line 21, shared)'
prints '    savings[who] of balance (line 4, shared), savings[who] of write_check (line 21, shared), checking[who] of write_check (line 23, locked)'
sed '21s/= savings/= shared savings/' smallbank.tx >locked.tx
run 0 prove locked.tx -i si --no-errors --one-each -q
sed '4s/= savings/= shared savings/; 23s/checking/locked checking/' locked.tx >locked2.tx
run 0 prove locked2.tx -i prc --no-errors --one-each -q
run 1 prove locked.tx -i prc --no-errors --one-each -q
run 0 prove bank.tx -i si --allocate --json
prints '"allocations":[{"levels":[{"transaction":"withdraw","level":"si"}],"weaker":[{"transaction":"withdraw","level":"prc","verdict":"violated","cycle":"withdraw('
prints '"allocations_complete":true'
prints '{"level":"si","complete":true,"sets":[{"reads":[],"diff":""}]}'
cat >skew.sql <<'END'
CREATE TABLE s (id int PRIMARY KEY, n int NOT NULL);
CREATE TABLE c (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION one(a int) RETURNS void LANGUAGE sql AS
$$ UPDATE s SET n = (SELECT n FROM c WHERE id = a) WHERE id = a $$;
CREATE FUNCTION other(a int) RETURNS void LANGUAGE sql AS
$$ UPDATE c SET n = (SELECT n FROM s WHERE id = a) WHERE id = a $$;
END
run 1 prove skew.sql -i si --no-errors --one-each --allocate --json
prints '"levels":[{"transaction":"one","level":"ser"},{"transaction":"other","level":"ser"}]'
prints 'BEGIN ISOLATION LEVEL SERIALIZABLE; }'
run 2 prove skew.sql --allocate --among rc+si
says 'no transaction in SQL runs at rc'
run 2 prove bank.tx --allocate --among si+psi
says '--among: '
run 2 prove bank.tx --allocate --among none
says '--among: there are no proofs for none'
run 2 prove bank.tx --among si
says '--among is for --allocate'
run 2 prove many.tx --allocate
says '--allocate takes programs of at most 64 transactions'
run 4 prove smallbank.tx -i cc --no-errors --allocate --timeout 0.001
lacks 'no other choice'

# What is not covered is named with its line, and nothing is proved.
cat >loop.tx <<'END'
global n[*] = 0;
txn touch(keys) {
	let some = exists(k in keys : n[k] > 0);
}
END
run 4 prove loop.tx -i si
prints 'loop.tx:3: a comprehension that reads the database is not covered'
run 4 prove loop.tx -i si --subsets
prints 'Neither proved nor violated'
lacks 'Proved to be'
run 4 prove loop.tx -i si --allocate
prints 'With no levels out of prc, si or ser they are proved'
run 4 prove loop.tx -i si --json
prints '"uncovered":[{"file":"loop.tx","line":3,"what":"a comprehension that reads the database"}]'
echo 'global n = 0; session a { txn { n = 1; } }' >anonymous.tx
run 4 prove anonymous.tx -i si
prints 'a transaction without a name is not covered'
echo 'global n = 0; txn look() { return n; }' >look.tx
run 0 prove look.tx -i rc
prints 'No transaction depends on another'
run 4 prove look.tx -i none
prints 'there are no proofs for this level'

# Loops in loops are cut off before they are written out.
cat >nested.tx <<'END'
global x[*] = 0;
txn t() {
	for a in 0..16 { for b in 0..16 { for c in 0..16 { for d in 0..16 {
		for e in 0..16 { for f in 0..16 { for g in 0..16 { x[g] = 1; } } }
	} } } }
}
END
run 4 prove nested.tx -i si
prints 'nested.tx:2: a transaction as large as this is not covered'

cat >chain.tx <<'END'
global x[*] = 0;
txn t(k) { for a in 0..16 { x[k + a] = x[k + a + a] + 1; } }
END
run 4 prove chain.tx -i si
prints 'chain.tx:2: a transaction as large as this is not covered'

# Overflow makes a transfer one that only reads.
cat >reads.tx <<'END'
global a[*] = 0;
global b[*] = 0;
txn both(k, v) { let x = a[k]; let y = b[k]; let z = x + y + v; b[k] = z; }
txn one(k, v) { a[k] = a[k] + v; }
END
run 0 prove reads.tx -i si --no-errors
prints 'proved: every execution without run-time errors is serializable'

run 2 prove
says 'prove needs a program: isoscope prove PROGRAM'
run 2 prove bank.tx --max-length 9
says '--max-length takes a number from 2 to 8'
run 2 prove bank.tx -i sj
run 3 prove none.tx

# What sessions of a specification run, any number of times.
run 0 prove "$ISOSCOPE_SOURCE/programs/sql/seats.spec" -i si
prints 'ann -> ben: wr ww rw'
run 1 prove "$ISOSCOPE_SOURCE/programs/sql/on-call.spec" -i si --client found.spec
prints 'write skew'
run 1 explore --robust found.spec --quiet
cat >levels.spec <<'END'
setup { CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL); }
session a
step look { BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t WHERE id = 1; }
step again { SELECT v FROM t WHERE id = 1; }
step done { COMMIT; }
step add { INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING; }
END
run 0 prove levels.spec
prints 'look -> add: rw'
run 1 prove levels.spec -i prc
prints 'look -rw-> add'
sed 's/REPEATABLE READ/SERIALIZABLE/' levels.spec >serial.spec
run 0 prove serial.spec
run 0 prove serial.spec -i ser
cat >late.spec <<'END'
setup { CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL); }
session a
step one { BEGIN; SAVEPOINT s; UPDATE t SET v = 1 WHERE id = 1; COMMIT; }
step two { BEGIN READ ONLY; UPDATE t SET v = 1 WHERE id = 1; COMMIT; }
END
run 4 prove late.spec -i si
prints 'late.spec:3: a statement of this kind is not covered, and 1 other place'
prints 'late.spec:4: a READ ONLY transaction that writes or locks'

# Routines of a file of SQL.
cat >bank.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
CREATE FUNCTION withdraw(a int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE b int;
BEGIN
  SELECT balance INTO b FROM account WHERE id = a;
  IF b >= n THEN UPDATE account SET balance = b - n WHERE id = a; END IF;
END $$;
END
run 1 prove bank.sql --client found.spec
prints "not serializable under PostgreSQL's Read Committed (prc)"
prints 'These transactions, for example: withdraw('
run 1 explore --robust found.spec --quiet
run 0 prove bank.sql -i si
run 0 prove bank.sql -i ser
cat >handled.sql <<'END'
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
CREATE FUNCTION open(a int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO account VALUES (a, 0);
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
END
run 4 prove handled.sql
prints 'a block with EXCEPTION is not covered'
# What is proved and what is not, of the programs that are shipped.
while read -r program level code; do
	run "$code" prove "$ISOSCOPE_SOURCE/programs/sql/apps/$program.sql" -i "$level"
done <<'END'
courseware prc 1
courseware si 1
courseware ser 0
twitter ser 0
END
# What may be stale is left out, and told.
cat >stale.tx <<'END'
global x[*] = 0;
txn put(k) { atomic x[k] += 1; }
txn both(a, b) stale ok { let v = x[a]; let w = x[b]; return v + w; }
txn one(a) at si stale ok { return x[a]; }
END
sed 's/ stale ok//' stale.tx >fresh.tx
run 0 prove stale.tx -i prc --no-errors
prints 'every execution without run-time errors is serializable, but for transactions that are stale ok, under'
prints 'Stale ok, and left out: both, one'
prints '  both: a stale answer, for example both('
prints '    both reads x[a] (line 3), which put has overwritten (line 2)'
prints '  one: never stale, which is proved'
run 1 prove fresh.tx -i prc --no-errors -q
prints '; only what is answered is out of date'
cat >hangs.tx <<'END'
global x = 0;
global z = 0;
txn w() { x = 1; }
txn t() { let u = x; let v = x; if (u == v) { z = 1; } }
END
run 1 prove hangs.tx -i prc --one-each
prints 'what is written depends on that'
run 0 prove fresh.tx -i prc --no-errors --stale-ok both,one -q
run 0 prove fresh.tx -i prc --no-errors --stale-ok both -q
run 0 prove fresh.tx -i prc --no-errors --stale-ok read-only --json
prints '"transactions":["put"]'
prints '"stale_ok":["both","one"],"stale_answers":[{"transaction":"both","verdict":"violated","cycle":"both('
prints '"consequence":"answer","fails":null,"cause":"both reads x[a]'
prints '{"transaction":"one","verdict":"holds","cycle":null'
run 2 prove fresh.tx -i prc --stale-ok put
says "'put' writes, so it cannot be stale ok"
run 2 prove fresh.tx -i prc --stale-ok both,nobody
says "there is no transaction 'nobody'"
echo 'txn w() stale ok { x[0] = 1; }' | cat stale.tx - >writes.tx
run 3 prove writes.tx
says "writes.tx:5:20: error: a transaction that is 'stale ok' only reads"
sed 's/^txn put.*//' stale.tx >none.tx
run 4 prove none.tx
prints 'all transactions are stale ok'
run 0 prove none.tx --invariant 'x[0] == 0' -q
# A read of a routine that nobody calls.
cat >rota.sql <<'END'
CREATE TABLE rota (id int PRIMARY KEY, here bool NOT NULL);
CREATE FUNCTION leave(a int, b int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE other bool;
BEGIN
  SELECT here INTO other FROM rota WHERE id = b;
  IF other THEN UPDATE rota SET here = false WHERE id = a; END IF;
END $$;
END
run 1 prove rota.sql -i si --no-errors --one-each --allocate --json
prints '"complete":true,"sets":[{"reads":[{"transaction":"leave","key":"rota","line":5,"lock":"locked"}]'
prints '+  SELECT here INTO other FROM rota WHERE id = b FOR UPDATE;'
# Each by itself, and then all of them.
cat >fork.tx <<'END'
global x = 0;
global y = 0;
txn one() { atomic x += 1; }
txn two() { atomic y += 1; }
txn look() stale ok { return x; }
txn peek() stale ok { return y; }
END
run 0 prove fork.tx -i si
prints '  look: never stale, which is proved'
prints '  peek: never stale, which is proved'
prints '  all of them together: never stale, which is proved'
run 0 prove fork.tx -i psi --no-errors
prints '  look: may be stale, but no case was found'

# How bad it is.
cat >worse.tx <<'END'
global a = 1;
global b = 1;
txn leave_a() { let v = a; let w = b; if (v + w > 1) { a = 0; } }
txn leave_b() { let v = a; let w = b; if (v + w > 1) { b = 0; } }
END
cat worse.tx - >worst.tx <<'END'
finally { assert a + b > 0; }
END
run 1 prove worse.tx -i si
prints ', and what is written depends on that'
prints 'At the root: leave_'
run 1 prove worst.tx -i si -q
prints ', and an assertion fails: a + b > 0'
# In SQL, too: of who only reads nothing is written.
cat >look.sql <<'END'
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE FUNCTION put(a int) RETURNS void LANGUAGE sql AS $$
  UPDATE t SET v = v + 1 WHERE id = a;
$$;
CREATE FUNCTION look(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; y int;
BEGIN
  SELECT v INTO x FROM t WHERE id = a;
  SELECT v INTO y FROM t WHERE id = a;
  RETURN x + y;
END $$;
END
run 1 prove look.sql -i prc --no-errors -q
prints '; only what is answered is out of date'
sed 's/  RETURN x + y/  UPDATE t SET v = x + y WHERE id = a; &/' look.sql >copies.sql
run 1 prove copies.sql -i prc --no-errors -q
prints ', and what is written depends on that'
# One that fails of a serial execution is no consequence.
cat worse.tx - >always.tx <<'END'
finally { assert a + b > 5; }
END
run 1 prove always.tx -i si -q
prints ', and what is written depends on that'
# Of long tuples nothing is told, rather than much.
awk 'BEGIN {
	print "global m[*] = 0;"
	printf "txn a(p) { let t = (p"
	for (i = 0; i < 400; i++) printf ", p"
	print "); m[t] = 1; let u = m[t]; }"
}' >wide.tx
run 0 prove wide.tx -i ser --one-each --no-errors
run 2 prove bank.sql --client /nonexistent/found.spec
says 'cannot write /nonexistent/found.spec'
# Who aborts has locked what it read as well.
cat >locks.tx <<'END'
global x[*] = 0;
txn t(p, q) { let v = locked x[p]; x[q] = 1; }
END
for level in rc ra cc prc pc psi si; do run 0 prove locks.tx -i $level; done
# The solver does not take what is meant to end the program.
cat >long.sql <<'END'
CREATE TABLE customer (id int PRIMARY KEY, name text UNIQUE, credit int CHECK (credit >= 0));
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customer(id), amount int NOT NULL);
INSERT INTO customer VALUES (1, 'ann', 10), (2, 'bob', 5);
CREATE FUNCTION buy(c int, o int, a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE have int;
BEGIN
  SELECT credit INTO have FROM customer WHERE id = c FOR UPDATE;
  IF have IS NULL OR have < a OR a < 0 THEN RAISE EXCEPTION 'no credit'; END IF;
  INSERT INTO orders VALUES (o, c, a);
  UPDATE customer SET credit = credit - a WHERE id = c;
  RETURN have - a;
END $$;
CREATE FUNCTION drop_customer(c int) RETURNS void LANGUAGE sql AS $$
  DELETE FROM customer WHERE id = c;
$$;
CREATE FUNCTION total(c int) RETURNS bigint LANGUAGE sql AS $$
  WITH o AS (SELECT amount FROM orders WHERE customer = c) SELECT sum(amount) FROM o;
$$;
END
"$ISOSCOPE" prove long.sql -i si -q >out 2>err &
pid=$!
begins $pid
sleep 1
kill -INT $pid
wait $pid
equal 'interrupted' $? 4
what=interrupted
prints 'inconclusive: interrupted; whether every execution is serializable'

finish
