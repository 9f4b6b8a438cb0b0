#!/bin/sh
# isoscope decide, from outside.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >seat.tx <<'EOF'
global seats = 1;
txn book() {
	let n = seats;
	if (n > 0) { seats = n - 1; return true; }
	return false;
}
session ann { let ok = book(); }
session ben { let ok = book(); }
session cay { let ok = book(); }
assert "given once" : !(ann.ok && ben.ok) && !(ann.ok && cay.ok) && !(ben.ok && cay.ok);
assert "somebody has it" : ann.ok || ben.ok || cay.ok;
EOF
for level in none rc ra cc prc pc; do
	run 1 decide seat.tx -i $level
	prints 'violated: 1 of 2 assertions fails under'
	prints 'fails, for example:'
	prints 'This is a lost update.'
done
for level in psi si ser oracle-serializable; do
	run 0 decide seat.tx -i $level
	prints 'holds: both assertions are true in every history under'
	prints 'all there are'
done
run 1 decide seat.tx --json
prints '"level":"cc"'
prints '"state":"fails"'
prints '"state":"holds"'
prints '"complete":true'
run 1 decide seat.tx --dot picture
grep -q '^digraph' picture; result=$?
[ $result -eq 0 ] && pass || fail 'a picture'
run 1 decide seat.tx --html page.html -q
grep -q 'lost update' page.html; result=$?
[ $result -eq 0 ] && pass || fail 'a page'

# A proof, and what it is of.
run 0 decide seat.tx -i si --proof seat.drat --json
prints '"proof":{"state":"written","file":"seat.drat","clauses":'
grep -q '^p cnf ' seat.drat.cnf && tail -n 1 seat.drat | grep -qx 0; result=$?
[ $result -eq 0 ] && pass || fail 'a proof'
run 1 decide seat.tx -i cc --proof seat.drat
prints 'none: not everything holds'
run 2 decide seat.tx --levels --proof seat.drat
says '--levels does not go with --proof'
run 2 decide seat.tx --proof -
run 2 decide seat.tx --proof seat.tx
run 2 decide seat.tx --proof nowhere/proof

# All levels in one table.
run 1 decide seat.tx --levels
prints 'violated: 1 of 2 assertions fails under Causal Consistency (cc)'
prints 'assert "given once"       fails  fails  fails  fails  fails  fails  holds  holds  holds'
prints 'assert "somebody has it"  holds  holds  holds  holds  holds  holds  holds  holds  holds'
run 0 decide seat.tx --levels -i si --json
prints '"level":"prc","verdict":"violated","decided":true'
prints '"states":["fails","holds"]'
run 1 decide seat.tx --levels --html levels.html -q
grep -q 'What is known of each assertion.' levels.html; result=$?
[ $result -eq 0 ] && pass || fail 'a page of levels'
run 1 decide seat.tx --levels --tap
prints 'message: "given once: violated under cc"'
run 2 decide seat.tx --levels --svg picture.svg
says '--levels does not go with --svg'

# Robustness.
run 1 decide seat.tx -i cc --robust
prints 'violated: 2 of 3 assertions fail under Causal Consistency (cc)'
prints 'fails  robust: every history is serializable'
run 0 decide seat.tx -i si --robust --levels
prints 'robust: every history is serializable  fails  fails  fails  fails  fails  fails  holds  holds  holds'
grep -v assert seat.tx >bare.tx
run 1 decide bare.tx -i cc --robust
prints 'violated: not robust: a history is not serializable under Causal Consistency (cc)'
run 0 decide bare.tx -i si --robust

# What single sessions can do.
run 0 runs seat.tx -i si
prints 'holds: 3 sessions have 6 runs, and no others, under Snapshot Isolation (si)'
prints '  1 book      reads seats   0, 1'
prints '              writes seats  0'
prints '  at its end  1 run         ok = false'
prints 'ben           2 runs        those of ann'
run 0 runs seat.tx -i none --json
prints '"complete":true'
prints '{"does":"reads","key":"seats","values":[0,1]}'
prints '"outcomes":[{"words":"ok = false","locals":[{"name":"ok","value":false}]}'
prints '"runs":[{"outcome":0,"reads":[{"transaction":1,"key":"seats","value":0}]}'
run 0 runs seat.tx -i prc
prints 'holds: 3 sessions have 6 runs, and no others, under PostgreSQL'
run 2 runs seat.tx --robust
cat >gone.spec <<'EOF'
setup { CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1);
	CREATE TABLE u (id int PRIMARY KEY REFERENCES t); }
session a
step d { DELETE FROM t WHERE id = 1; }
session b
step i { INSERT INTO u VALUES (1); }
EOF
run 0 runs gone.spec -i prc
prints '  at its end  1 run        no value'
prints '              1 run        d = {error: "23503"}'
# Who reads 0 cannot commit beside another who wrote; and a branch of the others.
cat >late.tx <<'EOF'
global x = 0;
global y = 0;
session a { txn { x = 1; y = 1; } }
session b { let n = 0; let m = 0; txn { n = x; m = y; assume n == m; if (n > m) { x = 5; } } }
session c { let q = 0; txn { q = 1 / x; } }
EOF
run 0 runs late.tx -i ra
prints 'holds: 3 sessions have 5 runs, and no others, under Read Atomic (ra)'
prints 'n = 1, m = 1'
prints 'run-time error: division by zero'
prints 'late.tx:4:81: this condition is never true'
run 0 runs late.tx -i rc
prints 'holds: 3 sessions have 5 runs, and no others, under Read Committed (rc); left out: executions that make an assumption false'
echo 'global x = 0; session a { let n = 0; txn { n = x; } assume n == 1; }' >never.tx
run 4 runs never.tx
prints 'inconclusive: there is no history, under Causal Consistency (cc)'
run 4 runs "$top/programs/tpcc/client-4.tx" --timeout 0.01
prints ', and perhaps others: '

# What it does not cover.
cat >locks.tx <<'EOF'
global x = 0;
session a { txn { let n = locked x; x = n + 1; } }
session b { txn at si { let n = x; x = n + 1; } }
EOF
run 0 decide locks.tx -i cc
prints 'beside transactions with levels of their own'
sed 's/ at si/ at prc/' locks.tx >statements.tx
run 1 decide statements.tx -i si --robust
prints 'violated: not robust'
cat >mix.tx <<'EOF'
global x = 0;
txn add() at LEVEL { let n = x; x = n + 1; }
session a { add(); }
session b { add(); }
session c { txn { let m = x; } }
finally { let end = x; }
assert finally.end == 2;
EOF
sed 's/LEVEL/cc/' mix.tx >weak.tx
run 1 decide weak.tx -i ser
sed 's/LEVEL/si/' mix.tx >strong.tx
run 0 decide strong.tx -i ra
run 0 runs strong.tx -i ra
run 0 decide strong.tx -i ra --levels
prints 'assert finally.end == 2  fails  fails  holds  holds  holds  holds   open  holds  holds'
# A transaction that has one level or another.
cat >either.tx <<'EOF'
global x = 0;
txn one() at si { let n = x; x = 1; return n; }
txn two() at cc { x = 2; }
session a { let r = one(); if (r == 2) { one(); } else { two(); } }
session b { two(); }
EOF
run 4 runs either.tx -i cc
prints 'a session whose transactions have one level or another cannot be decided'
run 0 decide either.tx -i cc
prints 'the answer is that of exploring'
sed -i 's/ at si//' locks.tx
run 0 decide locks.tx -i psi
run 0 decide locks.tx -i ser
# One lock is not enough under cc, two are; and a lock taken by a read again.
cat >locked.tx <<'EOF'
global x = 0;
session a { txn { let n = x; x = n + 1; } }
session b { txn { let n = locked x; x = n + 1; } }
finally { let end = x; }
assert finally.end == 2;
EOF
run 1 decide locked.tx -i cc
sed -i 's/n = x;/n = locked x;/' locked.tx
run 0 decide locked.tx -i cc
sed -i 's/let n = locked x;/let m = x; let n = locked x;/' locked.tx
run 0 decide locked.tx -i cc
run 1 decide locked.tx -i rc
run 0 decide locked.tx -i pc
run 0 decide locked.tx -i prc
sed -i 's/n = locked x;/n = x;/' locked.tx
run 1 decide locked.tx -i prc
# Statements that wait, and read again what they waited for; locks given up.
run 0 decide "$top/programs/sql/queue.spec" -i prc
run 1 decide "$top/programs/sql/bookings.spec" -i prc
cat >once.spec <<'EOF'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { UPDATE t SET n = n + 1 WHERE id = 1 AND n < 2; }
session b
step b { UPDATE t SET n = n + 1 WHERE id = 1 AND n < 2; }
session c
step c { UPDATE t SET n = n + 1 WHERE id = 1 AND n < 2; }
assert "at most 2" { SELECT n <= 2 FROM t }
assert "not 1" { SELECT n > 1 FROM t }
EOF
run 0 decide once.spec -i prc
run 0 runs once.spec -i prc
prints 'reads t[1]   {id: 1, n: 0}, {id: 1, n: 1}, {id: 1, n: 2}'
run 1 decide "$top/programs/sql/on-call.spec" -i si
run 0 decide "$top/programs/sql/cart.spec" -i si
cat >levels.spec <<'EOF'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE t SET n = n + 1; COMMIT; }
session b
step b { BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE t SET n = n + 1; COMMIT; }
assert "both" { SELECT n = 2 FROM t }
EOF
run 0 decide levels.spec -i si
run 0 decide levels.spec -i ser
run 0 decide levels.spec --levels
prints 'Under psi decide does not cover transactions with levels of their own.'
(echo 'isolation ser'; cat levels.spec) >postgres.spec
run 2 decide postgres.spec
says 'decide does not cover transactions that are serializable as in PostgreSQL'
run 4 decide "$top/programs/sql/queue.spec" -i si --proof queue.drat
prints 'queue.spec:14:17: a read for a constraint cannot be decided'
run 0 decide "$top/programs/sql/queue.spec" -i si
prints 'the answer is that of exploring'
run 0 decide "$top/programs/sql/queue.spec" --levels --json
prints '"level":"si","verdict":"holds","decided":true,"missing":null,"engine":"explore"'
run 2 decide seat.tx --timeout never
run 3 decide nowhere.tx

# Errors, in sessions and in what is asserted; false assumptions.
cat >errors.tx <<'EOF'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let n = x; let m = 1 / n; assume n < 2; } }
assert "no number" : b.q + 1 > 0;
EOF
sed -i 's/let n = x; let m/q = x; let m/; s/ n; assume n/ q; assume q/; s/session b {/session b { let q = null;/' errors.tx
run 1 decide errors.tx
prints 'run-time error'
# Errors in what is asserted, each at its place, and in SQL.
cat >quotients.tx <<'EOF'
global x = 0;
session a { let p = 0; txn { x = 1; } txn { p = x; } }
session b { let q = 0; txn { q = x; x = 2; } }
session c { let r = 0; txn { r = x; } }
assert 1 / a.p > 5 || 1 / b.q > 5 ||
	1 / c.r > 5 || true;
EOF
run 1 decide quotients.tx
prints 'run-time errors happen at 2 places under'
# Each error has its own place, also where all happen in one history.
cat >apart.tx <<'EOF'
global x = 0;
txn t(p) { let v = x; x = p; if (p == 1) return 1 / v; return 1; }
txn u() { let v = x; return [1][v]; }
session a { let r = t(1); }
session b { let r = u(); }
session c { let r = t(2); }
session d { let p = 0; let r = 1 % p; }
EOF
run 1 decide apart.tx
prints 'run-time errors happen at 3 places under'
prints 'fails  run-time error  apart.tx:2:51'
prints 'fails  run-time error  apart.tx:3:33'
prints 'fails  run-time error  apart.tx:7:34'
cat >quotient.spec <<'EOF'
setup { CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); }
session a
step a { UPDATE t SET n = n + 1 WHERE id = 1; }
session b
step b { UPDATE t SET n = 5 WHERE id = 1; }
assert { SELECT 10 / (n - 5) > -100 FROM t }
EOF
run 1 decide quotient.spec -i ser
prints 'violated: a run-time error happens under'
cat >void.tx <<'EOF'
session a { txn { assume false; } }
assert "nothing" : 1 == 2;
EOF
run 4 decide void.tx
prints 'inconclusive: there is no history to judge by'
cat >left_out.tx <<'EOF'
global x = 0;
session a { txn { x = 1; } }
session b { let n = 0; txn { n = x; assume n > 0; } }
assert b.n == 1;
EOF
run 0 decide left_out.tx
prints 'holds: the assertion is true in every history under'
prints '(cc); left out: executions that make an assumption false'
cat >robust.tx <<'EOF'
global x = 0;
session a { txn { x += 1; } txn { x += 1; } }
session b { txn { let n = x; let m = 5 / (n - 3); x = n; } }
assert serializable;
EOF
run 0 decide robust.tx -i ser
prints 'holds: the assertion is true in every history under'
sed -i 's/n - 3/n - 2/' robust.tx
run 1 decide robust.tx -i ser
prints 'violated: a run-time error happens under'

# Beside exploring, where only a verdict is asked for: more histories than
# anybody enumerates, of which one violates.
numbers='1 2 3 4 5 6 7 8 9 10 11 12'
{
	echo 'global x = 0; txn add() { let n = x; x = n + 1; return n; }'
	for i in $numbers; do echo "session s$i { let n = add(); }"; done
	echo 'finally { let end = x; }'
} >many.tx
(cat many.tx; echo 'assert finally.end == 12;') >sum.tx
(cat many.tx; echo 'assert finally.end > 1;') >lost.tx
(cat many.tx; printf 'assert !(true'
for i in $numbers; do printf ' && s%d.n == %d' "$i" $((5 * i % 12)); done
echo ');') >needle.tx
run 0 explore --stop-on-violation sum.tx -i ser
prints 'holds: the assertion is true in every history under'
prints 'the answer is that of the solver'
run 1 explore --stop-on-violation needle.tx -i ser --json
prints '"engine":"decide"'
prints '"state":"fails"'
run 0 explore --stop-on-violation --levels lost.tx -i si
prints 'the answer is that of the solver'
prints 'fails  fails  fails  fails  fails  fails  holds  holds  holds'
run 4 explore --stop-on-violation sum.tx -i ser --max-histories 10
run 4 explore sum.tx -i ser --timeout 1
run 0 explore --stop-on-violation seat.tx -i ser --json
lacks '"engine":"decide"'
# The other way round, also where something is violated already.
{
	echo 'global x = 0; global z[*] = 0;'
	for i in 1 2 3 4 5 6 7; do
		echo "session s$i { txn { let v = x; x = v + 1; z[$i] = v; } }"
	done
	echo 'finally { let end = x; }'
	echo 'assert finally.end != 7; assert serializable;'
} >both.tx
run 1 decide both.tx -i si
prints '1 of 2 assertions fails under'
prints 'holds  assert serializable'
run 4 decide both.tx -i si --memory 1k

# The solver decides what a repair leaves, where that takes long.
(sed 's/isolation .*//' many.tx; echo 'assert finally.end == 12;') >repair.tx
run 1 explore --fix repair.tx -i rc --max-repairs 1 --max-edits 1 --json
prints '"engine":"decide"'
# Where transactions with levels of their own lock, each level's histories are
# gone through by the algorithm that comes to some.
cat >seats.tx <<'EOF'
global seats = 3;
global log = [];
txn take() at si { let n = locked seats; if (n <= 0) abort; seats = n - 1; return n; }
txn note(who) at prc { atomic log += [who]; }
txn peek() at ser { let n = seats; let l = log; return n + size(l); }
EOF
for name in a b c d e f; do
	echo "session $name { let r = take(); note(\"$name\"); let p = peek(); }" >>seats.tx
done
echo 'assert a.p != 9;' >>seats.tx
for level in none cc; do
	run 4 explore seats.tx -i $level --max-histories 1000
	prints 'with no violation in the 1,000 histories seen'
done
run 4 explore seats.tx --levels --max-histories 1000
prints '≥1,000'
prints 'inconclusive: the limit of histories was reached, so not everything was explored under'

# Each has one: whatever level the others would have is the same.
grep -v 'session [c-f] ' seats.tx >pair.tx
run 0 explore pair.tx --levels
prints 'histories            10     10     10     10     10     10      -     10     10'
run 0 decide pair.tx --levels
prints 'assert a.p != 9      holds  holds  holds  holds  holds  holds   open  holds  holds'

finish
