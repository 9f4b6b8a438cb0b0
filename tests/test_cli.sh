#!/bin/sh
# The program from outside: exit codes, messages, files written, and input that
# is wrong.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# wrong TEXT EXPECTED: the program text is refused, with these words, and
# nothing is explored.
wrong() {
	printf '%s' "$1" >wrong.tx
	run 3 explore wrong.tx
	says "$2"
	prints_nothing
}

cat >lost.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let r = add(); }
session b { let r = add(); }
assert "only one can be first" : !(a.r == 0 && b.r == 0);
END
cat >fine.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let v = x; assert v < 2; } }
END
{
	echo 'global x = 0;'
	for s in a b c d e f g h i; do
		echo "session $s { txn { let v = x; x = v + 1; }"
		echo "	txn { x += 1; } }"
	done
} >huge.tx

# --- verdicts ---
run 1 explore lost.tx
prints 'only one can be first'
prints 'lost.tx:5:1'
prints 'lost update'
prints 'psi'
run 0 explore lost.tx -i si
run 0 explore lost.tx --isolation=ser
run 1 explore lost.tx -ipc --base rc
run 1 explore lost.tx --algorithm dfs
run 0 explore fine.tx
run 0 explore fine.tx --robust
run 1 explore lost.tx --robust
run 0 explore lost.tx -i ser --robust
run 1 explore lost.tx --levels
for level in none rc ra cc pc psi si ser; do
	prints "$level"
done
sed 's/^global/isolation ser; global/' lost.tx >serial.tx
run 0 explore serial.tx
run 1 explore serial.tx -i cc

# --- results as files ---
run 1 explore lost.tx --histories h.jsonl --json
if [ "$(sort -u h.jsonl | wc -l)" -eq 3 ] && [ "$(wc -l <h.jsonl)" -eq 3 ]
then pass; else fail "three different histories are written"; fi
if grep -q '"sessions":\[{"name":"a","transactions":\[{"name":"add"' h.jsonl
then pass; else fail "histories have sessions and transactions"; fi
if tr -d ' \n' <out | grep -q '"histories":3'
then pass; else fail "the JSON result counts three histories"; fi
run 1 explore lost.tx --dot g.dot
if grep -q digraph g.dot; then pass; else fail "a graph is written"; fi
run 2 explore lost.tx --histories no/such/folder/h.jsonl
says 'no/such/folder/h.jsonl'
cp lost.tx kept.tx
run 2 explore lost.tx --histories ./lost.tx
says 'would overwrite the program'
cmp -s lost.tx kept.tx && pass || fail 'the program was overwritten'
# Keys and values that are long are whole, on lines of 80 columns.
nine=aaaaaaaaa,bbbbbbbbb,ccccccccc,ddddddddd,eeeeeeeee,fffffffff,ggggggggg
cat >wide.tx <<END
global the_balance_of_a_customer_with_a_name_that_is_long = "";
global x = "";
txn add(s) {
	let a = the_balance_of_a_customer_with_a_name_that_is_long;
	let b = x;
	the_balance_of_a_customer_with_a_name_that_is_long = s;
	x = s;
	return a;
}
session a { let v = add("$nine,a"); }
session b { let v = add("$nine,b"); }
assert !(a.v == "" && b.v == "");
END
run 1 explore wide.tx --dot wide.dot
tr -d '\n' <wide.dot | sed 's/\\l    //g' >out
prints " write the_balance_of_a_customer_with_a_name_that_is_long = \\\"$nine,a\\\""
prints " write x = \\\"$nine,b\\\""
prints '"wr the_balance_of_a_customer_with_a_name_that_is_long,\nx"'
if command -v dot >/dev/null; then
	run 1 explore wide.tx --svg wide.svg
	equal 'failures of Graphviz' "$(grep -c triangulation err)" 0
fi
run 2 explore lost.tx --histories both --dot both
says 'cannot both be written'
run 2 explore lost.tx --timeout 0x10
run 1 explore lost.tx --check-duplicates

# --- limits ---
run 4 explore huge.tx --max-histories 10
run 4 explore huge.tx --timeout 0.2
run 4 explore huge.tx --timeout 0.2 --json
run 1 explore lost.tx --stop-on-violation
"$ISOSCOPE" explore huge.tx >out 2>err &
pid=$!
begins $pid
kill -INT $pid
wait $pid
code=$?
what="interrupted"
if [ $code -eq 4 ]; then pass; else fail "interrupted: exit code $code"; fi
prints 'nconclusive'
if [ -s err ]; then fail "progress is silent when piped"; else pass; fi

# --- usage ---
run 2
run 2 explroe lost.tx
says "explore"
run 2 explore
run 2 explore lost.tx --isolaton cc
says "did you mean '--isolation'"
run 2 explore lost.tx -i sre
says "did you mean 'ser'"
run 2 explore lost.tx -i
run 2 explore lost.tx -Z
says "-Z"
run 2 explore lost.tx --base ser -i ser
run 2 explore lost.tx --base cc -i rc
run 2 explore lost.tx --max-histories many
run 2 explore lost.tx --max-histories -1
run 2 explore lost.tx --timeout soon
run 2 explore lost.tx --robust=yes
run 2 explore lost.tx --sessions-order a,c
run 0 explore lost.tx -i si --sessions-order b,a
run 0 --help
for command in explore check convert fmt compile help version; do
	prints $command
done
run 0 explore --help
prints '--max-histories'
run 0 --version
run 0 help --man
prints '.TH'
run 0 help --completion bash
prints 'isoscope'
run 2 help --completion fish

# --- other commands ---
run 0 compile lost.tx
run 0 compile --dump lost.tx
prints 'add'
run 3 compile /dev/null
printf 'global   x=0;\nsession a{txn{x=1;}}\n' >ugly.tx
run 0 fmt ugly.tx
prints 'global x = 0;'
run 1 fmt --check ugly.tx
prints ugly.tx
run 0 fmt --write ugly.tx
run 0 fmt --check ugly.tx
run 3 fmt no-such.tx

# --- input that is wrong ---
run 3 explore no-such-file.tx
says 'no-such-file.tx'
prints_nothing
run 3 explore .
prints_nothing
wrong '' 'session'
wrong 'global x = 0;' 'session'
wrong 'global x = 0' "wrong.tx:1:13: error: expected ';'"
wrong 'global counter = 0;
session s { txn { conter = 1; } }' "did you mean 'counter'"
wrong 'global x = 0;
session s { txn { x = zzz; y = 1; } }' "wrong.tx:2:28: error: unknown name 'y'"
says "wrong.tx:2:23: error: unknown name 'zzz'"
says 'session s { txn { x = zzz; y = 1; } }'
wrong 'global x = 1 / 0;
session s { txn { x = 1; } }' 'wrong.tx:1:14: error: '
wrong 'global x = 0;
session s { for i in 0..x { txn { x = 1; } } }' 'outside a transaction'
wrong 'global x = 0;
session s { while (true) { txn { x = 1; } } }' 'wrong.tx:2:'
head -c 4000 "$ISOSCOPE" >binary.tx
run 3 explore binary.tx
says 'binary.tx'
prints_nothing
head -c 10485760 /dev/zero | tr '\0' 'a' >large.tx
run 3 explore large.tx
if [ "$(wc -c <err)" -lt 5000 ]
then pass; else fail "the message about a long line is short"; fi
head -c 10485760 /dev/zero >zeros.tx
run 3 explore zeros.tx
{
	printf 'global x = '
	head -c 100000 /dev/zero | tr '\0' '('
} >deep.tx
run 3 explore deep.tx
says 'nested deeper than'

# --- run-time errors are findings ---
finding() {
	printf 'global x = 1;\nsession s { txn {\n%s } }\n' "$1" >finding.tx
	run 1 explore finding.tx
	prints 'finding.tx:3:'
	prints "$2"
}
finding 'x = x / (x - 1);' 'zero'
finding 'x = x + 9223372036854775807;' 'overflow'
finding 'x = x + true;' 'boolean'
finding 'let l = [1, 2]; x = l[x + 1];' 'index'

# Each place has its own count and example, in whatever way it was found.
cat >places.tx <<'END'
global x = 0;
session a { let r = 1; txn { let v = x; if (v == 1)
	x = 1 / (v - 1); } }
session b { txn { x = 1; } txn { let w = x; x = [w][w]; } }
assert "no" : a.r / (a.r - 1) == 3;
END
run 1 explore places.tx
prints 'violated: run-time errors happen at 3 places under'
equal 'errors' "$(grep -A 2 '^run-time error$' out | grep -E '  at|happens' |
	tr -d '\n')" '  at places.tx:3:8  happens in 1 of 2 histories:'\
'  at places.tx:4:53  happens in 2 of 2 histories, for example:'\
'  at places.tx:5:19  happens in 2 of 2 histories, for example:'
prints 'the history shown for: run-time error at places.tx:4:53'
places='places.tx:3 1
places.tx:4 2
places.tx:5 2'
errors() {
	equal "$1" "$(tr '{' '\n' <out | sed -n \
	's/.*"kind":"error".*"file":"\([^"]*\)","line":\([0-9]*\).*"violated":\([0-9]*\).*/\1:\2 \3/p')" \
		"$places"
}
for way in '' -j3 --algorithm=orderly '-i ser'; do
	run 1 explore places.tx --json $way
	errors "errors, $way"
done
run 0 split places.tx -n 2 -o places -q
for unit in places/unit*; do
	[ ! -e "$unit" ] || "$ISOSCOPE" explore --unit "$unit" -q >/dev/null
done
run 1 merge places --json
errors 'errors, merged'
run 1 explore places.tx --max-histories 1 --checkpoint places.c
run 1 explore --resume places.c --json
errors 'errors, with a checkpoint'
run 1 run places.tx --json
equal 'errors of runs' "$(grep -o '"kind":"error"' out | wc -l)" 3

# --- levels by the names that databases have for them ---
while read -r name level code; do
	run "$code" explore lost.tx -i "$name"
	prints "($level), as $name"
	run "$code" explore lost.tx -i "$name" --json
	prints "\"level\":\"$level\",\"deployment\":\"$name\""
	sed "1s/^/isolation \"$name\"; /" lost.tx >named.tx
	run "$code" explore named.tx
	prints "($level), as $name"
	run "$code" run named.tx --runs 200
	prints "($level), as $name"
done <<'END'
postgres-read-committed prc 1
postgres-repeatable-read si 0
postgres-repeatable-read-replicas psi 0
postgres-serializable ser 0
oracle-serializable si 0
sqlserver-snapshot si 0
sqlite ser 0
spanner ser 0
cockroachdb ser 0
END
run 1 explore named.tx -i postgres-read-committed
prints '(prc), as postgres-read-committed'
run 0 explore named.tx -i si
prints '(si)'
lacks ', as '
run 1 explore named.tx --levels -i postgres-read-committed
prints '(prc), as postgres-read-committed'
run 2 explore lost.tx -i postgres-repeatable-raed
says "did you mean 'postgres-repeatable-read'?"
for name in mysql-repeatable-read cassandra-lwt mongodb-causal \
	cosmosdb-session; do
	run 2 explore lost.tx -i "$name"
	says "-i: no isolation level is that of '$name': "
done
run 2 separate mysql-repeatable-read si
says "no isolation level is that of 'mysql-repeatable-read': its plain reads"
sed 's/^txn add()/& at "cassandra-lwt"/' lost.tx >own.tx
run 3 explore own.tx
says "own.tx:2:14: error: no isolation level is that of 'cassandra-lwt': a"
run 2 explore lost.tx -i ser --base postgres-read-committed
says '--base takes none, rc'
sed 's/^txn add()/& at "sqlserver-snapshot"/' lost.tx >own.tx
run 0 explore own.tx -i rc
sed 's/^txn add()/& at "postgres-repeatable-read-replicas"/' lost.tx >own.tx
run 3 explore own.tx
says "own.tx:2:14: error: psi is a level of all transactions together"
wrong 'isolation "postgres-serialisable";
global x = 0;
session a { txn { x = 1; } }' \
	"wrong.tx:1:11: error: unknown isolation level 'postgres-serialisable'; did you mean 'postgres-serializable'?"
run 0 fmt named.tx
prints 'isolation "cockroachdb";'
run 0 record lost.tx -o serial.jsonl
run 0 check serial.jsonl -i cockroachdb
prints 'satisfies Serializability (ser), as cockroachdb'
run 0 check serial.jsonl -i cockroachdb --json
prints '"deployment":"cockroachdb"'
run 0 predict serial.jsonl -i oracle-serializable
prints '(si), as oracle-serializable, allows is serializable'
run 2 predict serial.jsonl -i sqlite
run 0 compare lost.tx -i oracle-serializable
prints '(si), as oracle-serializable'
run 0 help explore
prints 'postgres-repeatable-read-replicas'

# --- transactions with levels of their own ---
sed 's/^txn add()/& at si/' lost.tx >mix.tx
own="mix.tx:2:5: transaction 'add' has level si of its own"
run 0 explore mix.tx -i rc
for how in explore run compare 'predict --program'; do
	# shellcheck disable=SC2086
	run 2 $how mix.tx -i psi
	prints_nothing
	says "$own, beside which the others cannot have psi: choose another level with -i"
done
# Why there is a column without a count.
run 0 explore mix.tx --levels --json
prints '"missing":"it cannot stand beside other levels"'
prints '"missing":null'
# Names of databases, of transactions without a name too; quotes are asked for.
cat >named.tx <<'END'
isolation "postgres-repeatable-read";
global x = 0;
session a { txn at "cockroachdb" { x = 1; } }
session b { txn at rc { let y = x; } }
END
run 0 explore -q named.tx
sed 's/"cockroachdb"/postgres-serializable/' named.tx >unquoted.tx
run 3 explore unquoted.tx
says "unquoted.tx:3:20: error: a name with '-' is in quotes: \"postgres-serializable\""
lacks 'expected'
# Whoever goes on has to mean the same by ser.
run 4 explore mix.tx --serializable=postgres --max-histories 1 --checkpoint was
run 3 explore mix.tx --resume was
says 'mix.tx was explored with --serializable=postgres, so it takes this option now'
run 0 explore mix.tx --serializable=postgres --resume was -q
# Levels that are not extensible are explored on the way, not filtered.
for level in prc si; do
	code=0
	[ $level = si ] || code=1
	run $code compare "$top/programs/oltp/checked/smallbank-payments.tx" -i $level --json --traces 1
	cp out compared
	run $code explore "$top/programs/oltp/checked/smallbank-payments.tx" -i $level --robust --json
	equal "what compare explores at $level" \
		"$(sed 's/.*"exploration":{"executions":\([0-9]*\).*/\1/' compared)" \
		"$(sed 's/.*"histories":\([0-9]*\).*/\1/' out)"
done
echo '{"history":1,"sessions":[{"transactions":[{"events":[["stmt",-1],["w","x",1]]}]}]}' >stmt.json
run 3 check stmt.json
says 'statements have numbers from 0'
sed "s/^txn add()/& at psi/" lost.tx >own.tx
run 3 explore own.tx
prints_nothing
says "own.tx:2:14: error: psi is "
for level in rc prc si; do
	run 0 explore mix.tx -i $level
	prints 'under the levels of its transactions'
	run 0 run mix.tx -i $level
done
run 0 compare mix.tx -i rc
run 0 predict --program mix.tx -i ser
run 0 record mix.tx -o mix.jsonl
run 0 check mix.jsonl -i rc
prints 'the history satisfies the levels of its transactions'
run 0 check mix.jsonl --strongest
prints own
run 0 predict mix.jsonl
prints 'every execution that the mix of its levels allows is serializable'
sed -n '/^level/p' out >line
equal 'the levels asked about' "$(cat line)" \
	'level     its levels; the strict and the relaxed boundary, exact encoding'
own="mix.jsonl:1: transaction 'add' has level si of its own"
for how in check predict; do
	run 2 $how mix.jsonl -i psi
	prints_nothing
	says "$own, beside which the others cannot have psi: choose another level with -i"
done
sed 's/"at":"si"/"at":"psi"/' mix.jsonl >psi.jsonl
run 3 check psi.jsonl
says 'psi.jsonl:1:'
says 'psi is a level of all transactions together'
sed 's/"at":"si"/"at":"sj"/' mix.jsonl >sj.jsonl
run 3 check sj.jsonl
says "unknown isolation level 'sj'; did you mean 'si'?"
sed 's/"at":"si"/"at":"prc"/' mix.jsonl >prc.jsonl
run 0 check prc.jsonl
run 1 predict prc.jsonl
prints 'that the mix of its levels allows is not serializable'
run 0 explore mix.tx --levels -i rc
sed -n '/^histories/s/  */ /gp' out >counted
equal 'levels beside which none has a meaning' \
	"$(cut -d ' ' -f 6,8 counted)" '2 -'
cat >skew.tx <<'END'
global x = 0;
global y = 0;
txn a() at si { let v = x; y = v + 1; }
txn b() { let v = y; x = v + 1; }
session s { a(); }
session t { b(); }
assert serializable;
END
run 1 explore skew.tx -i ser --histories skew.jsonl
prints 's.1 a at si'
prints 's.1 before t.1: s.1 a at si reads x as it was initially'
run 0 check skew.jsonl
prints 'all 3 histories satisfy their levels, with Serializability (ser) for those that have none'
run 1 predict skew.jsonl -i ser
prints 'though the mix of its levels, with Serializability (ser) for the others, allows it'
head -n 1 skew.jsonl >one.jsonl
"$ISOSCOPE" predict one.jsonl -i ser >out 2>err
prints 'level     its levels, with ser for the others; '
run 1 predict skew.jsonl -i rc --json --histories predicted.jsonl
prints '"level":"rc","own_levels":1'
grep -q '"at":"si".*"verdict":{"levels":true,"ser":false}' predicted.jsonl &&
	pass || fail 'a predicted history satisfies its levels'
run 0 check -q predicted.jsonl -i rc
# What reads lock, and their statements.
cat >locks.jsonl <<'END'
{"init":{"x":0,"y":0,"z":0},"sessions":[{"name":"a","transactions":[{"events":[["stmt",1],["r","z",0,"init"],["r","x",0,"init","S"],["stmt",2],["w","y",1,"N"]]}]},{"name":"b","transactions":[{"events":[["r","y",1,[0,0]],["w","x",1]]}]}]}
END
run 1 predict locks.jsonl -i prc --boundary relaxed --histories predicted.jsonl
prints 'read shared x = 0  from init'
grep -qF '["stmt",1],["r","z",0,"init"],["r","x",0,"init","S"],["stmt",2],["w","y",1,"N"]' \
	predicted.jsonl && pass || fail 'a predicted history keeps locks'
run 0 check -q predicted.jsonl -i prc
sed 's/"at":"si"/"at":"ser"/' skew.jsonl >skewed.jsonl
run 1 check skewed.jsonl --history 1
prints 'violated: not serializable; the strongest level of the others that holds is Snapshot Isolation (si)'
prints 'write skew (G2-item): violates its levels, with Serializability (ser) for the others'
prints '  Its levels would need an order with'
prints 's.1 a at ser reads x as it was initially, before t.1 b writes it'
run 1 check skewed.jsonl --history 1 -i ser --json --dot skewed.dot
prints '"own_levels":1'
prints '"at":"ser","words":"s.1 a at ser reads x'
grep -q 's.1 a at ser' skewed.dot && pass || fail 'a picture with levels'

# --- what is said of mistakes names them as they were made ---
run 2 explore lost.tx -i SI
levels='none, rc, ra, cc, prc, pc, psi, si, ser'
levels="$levels, postgres-read-committed, postgres-repeatable-read"
levels="$levels, postgres-repeatable-read-replicas, postgres-serializable"
levels="$levels, oracle-serializable, sqlserver-snapshot, sqlite, spanner"
says "-i takes $levels or cockroachdb, not 'SI'; did you mean 'si'?"
run 2 explore lost.tx --isolation=SER
says "--isolation takes $levels or cockroachdb, not 'SER'; did you mean 'ser'?"
echo 'global x = 0;
txn f() at si { x += 1; }
session a { f(); }
session b { f(); }' >own-level.tx
run 2 explore own-level.tx -i psi
says 'beside which the others cannot have psi'
run 2 split lost.tx -n 0 -o x
says "-n takes a positive number, not '0'"
run 2 explore lost.tx -qj0
says '-j takes a number of threads'
wrong 'global x = 0;
session a { txn { let v = x; assert v = 1; } }' \
	"wrong.tx:2:39: error: expected ';', found '='; '==' compares"
wrong 'global x = 0;
session a { txn { let v = x; if (v = 1) x = 2; } }' \
	"wrong.tx:2:36: error: expected ')', found '='; '==' compares"
# The part of the line that is meant, and the right number of places.
cat >long.tx <<'END'
global x = 0;
session a { txn { let v = x; let averylongname = v + 1; let another = averylongname + 2; if (another == 77) { x = 9; } } }
END
run 0 explore long.tx
prints 'is never true: …name + 2; if (another == 77) { x = 9; } } }'
{
	echo 'global x = 0;'
	echo 'session a { let r = txn { let v = x;'
	for i in 1 2 3 4 5 6 7 8 9; do echo "if (v == $i) x = $i;"; done
	echo '}; }'
} | sed 's/let r = txn/txn/; s/^}; }/} }/' >nine.tx
run 0 explore nine.tx
prints 'warning: 1 other place was never reached'
# What only executions do that the level forbids is neither reached nor left
# out, whichever way they are explored.
cat >older.tx <<'END'
global x = 0;
global y = 0;
session a { txn { x = 1; } }
session b {
	let first = 0;
	let second = 0;
	txn { first = x; }
	txn {
		second = x;
		if (first != second) y = 1;
		if (first > second) y = 2;
		assume first <= second;
	}
	if (first < second) { txn { y = 3; } }
}
assert b.first <= b.second;
END
for level in prc si ser; do
	for algorithm in ce orderly dfs; do
		run 0 explore older.tx -i $level --algorithm $algorithm
		lacks 'left out'
		equal "what $algorithm reaches under $level" \
			"$(grep -c 'never true: if (first > second)' out)" 1
	done
done
run 0 explore older.tx -i rc
prints 'left out: 1 execution that makes an assumption false'
lacks 'never true'
# What an aborted transaction leaves to its session, and what is read first.
cat >order.tx <<'END'
global x = 0;
global y = 1;
global k[*] = 0;
session a { let r = 1; txn { let v = y; r = v + 5; abort; } assert r == 6; }
session b { txn { k[x] = y; } assert false; }
END
run 1 explore order.tx
equal 'what is read first' "$(sed -n 's/.*│ *read \(.\) .*/\1/p' out | tr -d '\n')" xy
prints 'holds  assert r == 6'

# --- a history that is too wide has its sessions one below the other ---
cat >four.tx <<'END'
global rows["a key that is long"] = {name: "and a value", n: 0};
txn add(n) { rows["a key that is long"] = {name: rows["a key that is long"].name, n: n}; }
session a { add(1); }
session b { add(2); }
session c { add(3); }
session d { add(4); }
assert serializable;
END
uncut() {
	equal "events, $1 columns" "$(grep -c 'read rows\["a key that is long"\] = {n: [0-9], name: "and a value"}  .* init' out)" "$2"
	equal "writes, $1 columns" "$(grep -c 'write rows\["a key that is long"\] = {n: [0-9], name: "and a value"}' out)" "$3"
}
run 1 explore four.tx -i rc
uncut '' 4 4
lacks '│'
for columns in 40 100; do
	COLUMNS=$columns "$ISOSCOPE" explore four.tx -i rc >out
	uncut $columns 4 4
	lacks '│'
done
COLUMNS=400 "$ISOSCOPE" explore four.tx -i rc >out
uncut 400 4 4
prints '│'

# --- edges there and back have labels in two places ---
run 1 explore lost.tx --dot back.dot
equal 'ports' "$(grep -c 'port=n.*label="rw x"' back.dot) $(grep -c 'port=s.*label="rw x"' back.dot)" '1 1'
if command -v dot >/dev/null; then
	equal 'labels' "$(dot -Tplain back.dot |
		sed -n 's/^edge.*"rw x" \(.*\) dashed.*/\1/p' | sort -u | wc -l)" 2
fi

# --- what assumptions leave out is told, and nothing holds without a history ---
cat >assumed.tx <<'END'
global x = 0;
session a { txn { let v = x; assume v == 0; x = 2; } }
session b { txn { let w = x; assert w < 5; } }
session c { txn { x = 3; } }
END
run 0 explore assumed.tx -q
prints '(cc); left out: 2 executions that make an assumption false'
run 0 explore assumed.tx -i ser -q
prints '(ser); left out: '
sed 's/v == 0/v == 7/' assumed.tx >vacuous.tx
for way in '' '-i ser' --algorithm=dfs --algorithm=orderly -j2; do
	run 4 explore vacuous.tx $way
	prints 'inconclusive: there is no history to judge by: '
	prints 'an assumption false, under'
	prints '  open   assert w < 5'
done
run 0 explore assumed.tx --levels
prints '(cc); left out: 2 executions that make an assumption false'
run 0 explore assumed.tx --levels -i si
prints '(si); left out: 2 executions under cc that make an assumption false'
run 4 explore vacuous.tx --levels
prints 'inconclusive: there is no history to judge by under'

# --levels: by place, and assertions by what the user says of them.
run 1 explore places.tx --levels
prints 'violated: run-time errors happen at 3 places under'
prints 'run-time error places.tx:3:8       2      2      1      1      1 '
prints 'run-time error places.tx:4:53      2 '
prints 'assert "no"                        0 '
run 1 explore places.tx --levels --json
equal 'kinds' "$(grep -o '"kind":"error"' out | wc -l)" 3
prints '"violated":[0,1,2,2]'
# Each level is explored until it has a violation, or to its end.
run 0 explore lost.tx --levels --stop-on-violation -i ser
equal 'cells' "$(grep '^assert' out | tr -s ' ' | sed 's/.*"//')" \
	' ≥1 ≥1 ≥1 1 ≥1 1 0 0 0'

# --- recorded histories ---
# is TEXT: the result is this, and nothing else.
is() {
	if [ "$(cat out)" = "$1" ]; then pass; else fail "$what: not '$1'"; fi
}

cat >lost.txt <<'END'
w(1,100,1,1)
r(1,100,2,2)
w(1,110,2,2)
r(1,100,3,3)
w(1,120,3,3)
r(2,0,3,3)
w(3,7,1,4)
END
cat >skew.txt <<'END'
r(1,0,1,1)
r(2,0,1,1)
w(1,5,1,1)
r(1,0,2,2)
r(2,0,2,2)
w(2,6,2,2)
END
cat >serial.txt <<'END'
w(1,1,1,1)
r(1,1,2,2)
w(1,2,2,2)
r(1,2,1,3)
END
cat >fork.txt <<'END'
w(1,1,1,1)
w(4,1,1,1)
r(2,0,2,2)
w(1,2,2,2)
w(2,1,3,3)
w(3,1,3,3)
r(4,0,4,4)
w(3,2,4,4)
r(1,1,5,5)
r(1,2,5,6)
r(3,1,6,7)
r(3,2,6,8)
END
cat >causal.txt <<'END'
w(1,1,1,1)
r(1,1,2,2)
w(2,1,2,2)
r(2,1,3,3)
r(1,0,3,4)
END
cat >thin.txt <<'END'
w(1,1,1,1)
r(1,9,2,2)
END
cat >dirty.txt <<'END'
w(1,1,1,-1)
r(1,1,2,2)
END
cat >append.edn <<'END'
{:type :ok, :process 0, :f :txn, :value [[:append :x 1]]}
{:type :ok, :process 0, :f :txn, :value [[:append :x 2]]}
{:type :ok, :process 2, :f :txn, :value [[:r :x [2 1]]]}
{:type :fail, :process 2, :f :txn, :value [[:append :x 9]]}
END

sed 's/process 0, :f :txn, :value \[\[:append :x 2/process 1, :f :txn, \
:value [[:append :x 2/' append.edn >lists.edn

run 1 check lost.txt
prints 'violated: not serializable; the strongest level that holds is '
prints 'the strongest level that holds is Prefix Consistency (pc)'
prints 'psi   Parallel Snapshot Isolation  violated   lost update'
prints 'pc    Prefix Consistency           holds'
prints 'violates Parallel Snapshot Isolation (psi), and so si and ser'
prints '3 of 4 transactions are enough'
prints '1 other operation of theirs is left out'
prints '2.1 t2 reads key 1 as 1.1 t1 left it, before 3.1 t3 writes it'
prints 'in lost.txt: 1.1 in line 1, 2.1 in line 2, 3.1 in line 4'
run 0 check lost.txt -i pc
prints 'holds: the history satisfies Prefix Consistency (pc)'
lacks 'psi'
run 1 check lost.txt -i psi
prints 'violated: the history violates Parallel Snapshot Isolation (psi)'
prints 'lost update'
run 1 check -q lost.txt
prints 'violated: not serializable; the strongest level that holds is '
lacks psi
run 0 check serial.txt
prints 'holds: the history satisfies Serializability (ser)'
run 1 check skew.txt
prints 'write skew'
run 0 check skew.txt -i si
run 1 check causal.txt
prints 'the strongest level that holds is Read Atomic (ra)'
prints 'causality violation'
run 1 check append.edn
prints 'the strongest level that holds is No isolation (none)'
prints 'format list-edn'
prints 'not committed'
run 3 check -i rc - --format plume
says 'holds no history'
"$ISOSCOPE" check - <lost.txt >out 2>err
[ $? -eq 1 ] && pass || fail 'check reads the standard input'

# What is wrong in any order is named with its place.
run 1 check thin.txt
prints 'no level allows this history'
prints '2.1 t2 reads key 1 = 9 (thin.txt:2), a value that nobody wrote'
run 0 check thin.txt --unknown-is-initial
run 1 check dirty.txt
prints 'aborted read (G1a)'
prints '(dirty.txt:1)'
prints 'the strongest level that holds is No isolation (none)'

{
	echo '{:type :ok, :process 0, :f :txn, :value [[:r 1 [1 2]]]}'
	echo '{:type :ok, :process 1, :f :txn, :value [[:append 1 2]]}'
} >element.edn
run 1 check element.edn
prints '0.1 reads key 1 as a list that ends with 2 (element.edn:1) and has an '\
'element that nobody wrote'
{
	cat element.edn
	echo '{:type :fail, :process 2, :f :txn, :value [[:append 1 1]]}'
} >aborted.edn
run 1 check aborted.edn
prints '(aborted.edn:1) and has an element, 1, that 2.1 wrote (aborted.edn:3) '\
'and then aborted'

# No update is lost where psi holds.
printf '%s' '{"sessions":[{"name":"A","transactions":[{"events":[["w","x",1],' \
	'["r","y",null]]}]},{"name":"B","transactions":[{"events":[' \
	'["w","y",2]]},{"events":[["r","x",null]]}]},{"name":"C",' \
	'"transactions":[{"events":[["r","x",null],["w","x",3]]}]}]}' \
	>snapshots.jsonl
run 1 check snapshots.jsonl
prints 'long fork: violates Snapshot Isolation (si)'
prints 'psi   Parallel Snapshot Isolation  holds'
lacks 'lost update'

# --- the strongest levels, commit orders ---
run 1 check --strongest lost.txt
is pc
run 1 check --strongest fork.txt
is "$(printf 'pc\npsi')"
run 1 check --strongest thin.txt
is 'no level'
run 0 check --strongest serial.txt
is ser
run 1 check --strongest lost.txt serial.txt
is "$(printf 'lost.txt: pc\nserial.txt: ser')"
run 0 check --commit-order -q serial.txt
is "$(printf '%s\n' 'holds: the history satisfies Serializability (ser)'\
', and so every level' '' 'commit order under ser:' '  1.1 t1' '  2.1 t2' \
	'  1.2 t3')"
run 1 check --commit-order lost.txt
prints 'commit order under pc:'
# Schedules: no statement is held where none has to be; of a mix each
# transaction has its own moments.
cat >held.jsonl <<'END'
{"sessions":[{"name":"a","transactions":[{"events":[["stmt",1],["r","x",0,"init"],["w","y",1]]}]},{"name":"b","transactions":[{"events":[["w","x",2],["w","y",2]]}]},{"name":"c","transactions":[{"at":"si","events":[["r","y",2,[1,0]],["w","z",1]]}]},{"name":"d","transactions":[{"at":"ser","events":[["r","y",1,[0,0]]]}]}]}
END
run 0 check --commit-order -i prc held.jsonl
prints 'b.1 starts statement 2'
prints 'c.1 starts'
prints 'd.1 runs'
run 0 check --commit-order -i prc held.jsonl --json
json '.[0].schedules | keys | length' 1
json '[.[0].schedules[][] | select(.[0] == "c.1") | .[1]] | join(" ")' \
	'starts commits'
run 2 check --strongest -i cc lost.txt
says 'cannot be used together'
run 2 check --strongest --json lost.txt
run 2 check --commit-order lost.txt serial.txt
says '--history N'

# --- several histories ---
run 1 explore lost.tx -i cc --histories three.jsonl
run 1 check three.jsonl
prints 'violated: 1 of 3 histories is not serializable'
prints 'psi   Parallel Snapshot Isolation             2           1'
prints 'The first violating one, history'
prints 'lost update'
run 0 check three.jsonl -i cc
prints 'holds: all 3 histories satisfy Causal Consistency (cc)'
run 1 check three.jsonl -q serial.txt
is 'violated: 1 of 4 histories is not serializable'
run 1 check three.jsonl -i ser -q
is 'violated: 1 of 3 histories violates Serializability (ser)'
run 3 check three.jsonl --history 4
says 'there is no number 4'
run 2 check three.jsonl --history 0
for level in rc cc pc psi si ser; do
	"$ISOSCOPE" explore lost.tx -i $level --histories - 2>err |
		"$ISOSCOPE" check -i $level - >out 2>err
	[ $? -eq 0 ] && pass ||
		fail "what is explored under $level satisfies $level"
done
total=0
for n in 1 2 3; do
	"$ISOSCOPE" check three.jsonl -q --history $n >out 2>err
	total=$((total + $?))
done
[ $total -eq 1 ] && pass || fail 'one history of three is violating'

# --- JSON and pictures ---
run 1 check lost.txt --json
prints '"verdict":"violated"'
json '.[0].strongest | join(" ")' pc
json '.[0].levels.psi.anomaly' 'lost update'
json '.[0].levels.cc.verdict' holds
json '.[0].witnesses[0].levels | join(" ")' 'psi si ser'
json '.[0].witnesses[.[0].levels.ser.witness].transactions | length' 3
json '.[0].witnesses[0].transactions[1].line' 2
json '[.[0].witnesses[0].cycle[] | .from] | length' 2
run 1 check lost.txt fork.txt serial.txt three.jsonl --json --commit-order
json length 6
json '.[2].commit_orders.ser | join(",")' '1.1 t1,2.1 t2,1.2 t3'
json '.[1].commit_orders | keys | join(" ")' 'pc psi'
run 1 check thin.txt --json
json '.[0].anomalies[0].kind' thin-air
json '.[0].anomalies[0].line' 2
json '.[0].strongest | length' 0
json '.[0].witnesses | length' 0
run 1 check lost.txt --dot g2.dot
if grep -q digraph g2.dot && grep -q c0392b g2.dot
then pass; else fail "a picture with a cycle is written"; fi
run 0 check serial.txt --json
json '.[0].witnesses | length' 0
run 1 check lost.txt --json -q
json '.[0].witnesses | length' 0
json '.[0].levels.psi | .verdict, .anomaly' "$(printf 'violated\nnull')"
run 0 check serial.txt --dot g3.dot
says 'nothing was drawn'
echo old >g4.dot
run 0 check lost.txt -i pc --dot g4.dot
says 'nothing was drawn'
[ "$(cat g4.dot)" = old ] && pass || fail 'a picture of nothing is written'
if command -v dot >/dev/null; then
	run 1 check lost.txt --svg g.svg -i si
	grep -q '<svg' g.svg && pass || fail 'a picture is drawn'
fi
run 1 check lost.txt --dot -
says 'lost update'
prints 'digraph'
run 2 check lost.txt --json --dot -
run 2 check lost.txt --dot lost.txt
says 'would overwrite the history'
run 2 check lost.txt --dot no/such/folder/g.dot
grep -q '^w(1,100,1,1)$' lost.txt && pass || fail 'a history was overwritten'

# --- limits ---
run 1 check lost.txt --timeout 100 --memory 1G
run 2 check lost.txt --timeout never
run 2 check lost.txt --memory 0
awk 'BEGIN {
	for (t = 1; t <= 4000; t++) {
		s = t % 40
		for (i = 0; i < 4; i++) {
			k = (t * 7 + i * 13) % 50
			if (last[k]) printf "r(%d,%d,%d,%d)\n", k, last[k], s, t
			last[k] = 4 * t + i
			printf "w(%d,%d,%d,%d)\n", k, last[k], s, t
		}
	}
}' >long.txt
run 0 check long.txt
run 0 check long.txt -i ser --commit-order
if [ "$(grep -c '^  [0-9]' out)" -eq 4000 ]
then pass; else fail 'all transactions are in the commit order'; fi
run 4 check long.txt -i si --timeout 0.000001
prints 'undecided: Snapshot Isolation (si) could not be decided: the time limit'
run 4 check long.txt --timeout 0.000001 --strongest
says 'ser could not be decided: the time limit'
run 4 check long.txt long.txt --timeout 0.000001 -q
prints 'could not be decided'
"$ISOSCOPE" check long.txt >&- 2>err
[ $? -eq 70 ] && pass || fail 'a closed standard output is an error'

# --- conversion: every format to every other one keeps the verdicts ---
formats='isoscope plume awdit dbcop-bincode dbcop-json dbcop-text cobra
	rw-edn rw-json list-edn list-json isopredict'
for history in lost skew serial causal; do
	strongest=$("$ISOSCOPE" check --strongest $history.txt)
	for format in $formats; do
		run 0 convert $history.txt --to $format -o $history.$format
		"$ISOSCOPE" check --strongest $history.$format >out 2>err
		is "$strongest"
	done
done
strongest=$("$ISOSCOPE" check --strongest skew.txt)
for from in $formats; do
	for to in $formats; do
		rm -rf again
		run 0 convert skew.$from --to $to -o again
		"$ISOSCOPE" check --strongest again >out 2>err
		is "$strongest"
	done
done
run 0 convert skew.txt --to plume
cmp -s out skew.txt && pass || fail 'a history is written as it was read'
run 0 convert three.jsonl --to isoscope -o copy.jsonl
run 0 convert copy.jsonl --to isoscope
cmp -s out copy.jsonl && pass || fail 'three histories are written'
if [ "$(wc -l <copy.jsonl)" -eq 3 ]; then pass; else fail 'not three'; fi
run 3 convert three.jsonl --to plume
says 'choose one with --history N'
prints_nothing
run 0 convert three.jsonl --to rw-edn --history 2
prints ':ok'
run 3 convert fork.txt --to list-edn
says 'pc and psi'
run 0 convert fork.txt --to rw-edn
run 3 convert thin.txt --to list-json
run 3 convert append.edn --to rw-edn
says 'cannot tell the order in which the elements of lists were written'
run 3 convert dirty.txt --to cobra -o dirty.cobra
says 'cobra'
[ -e dirty.cobra ] && fail 'a folder is left' || pass
for format in $formats; do
	rm -rf again
	run 0 convert lists.edn --to $format -o again
	run 0 check --strongest again
	is ser
done
run 0 convert append.edn --to isoscope -o again
run 3 convert again --to list-edn
run 2 convert lost.txt
says '--to FORMAT'
run 2 convert lost.txt --to plum
says "did you mean 'plume'"
run 2 convert lost.txt serial.txt --to plume
run 2 convert lost.txt --to cobra
says '--output FOLDER'
run 2 convert lost.txt --to cobra -o lost.cobra
says 'lost.cobra'
run 2 convert lost.txt --to rw-edn -o lost.txt
says 'would overwrite the history'
run 2 convert lost.txt --to rw-edn -o no/such/folder/x
run 3 convert lost.txt --from cobra --to plume

# in_order PART WHOLE: are the lines of the one, in this order, in the other?
in_order() {
	awk 'NR == FNR { part[++n] = $0; next }
	at < n && $0 == part[at + 1] { at++ }
	END { exit at < n }' "$1" "$2"
}

# The histories of the manual, and what it shows of them.
if [ -d "$top/tests/histories/manual" ]; then
	mkdir -p tests/histories/manual docs
	cp "$top"/tests/histories/manual/* tests/histories/manual
	cp "$top/docs/manual.md" docs
	cp "$top/README.md" .
	run 1 check --strongest tests/histories/manual/oncall.jsonl
	is si
	run 1 check --strongest tests/histories/manual/feeds.edn
	is psi
	run 1 check tests/histories/manual/counter.txt
	sed '/^history   /,$d' out >shown
	awk '/^\$ isoscope check .*counter/ { on = 1; next }
	/^```$/ || /^history   / { if (on) exit }
	on' docs/manual.md >quoted
	same 'the manual: what check prints' quoted shown
	# README.md leaves lines out, at an ellipsis.
	awk '/^\$ isoscope check .*counter/ { on = 1; next }
	/^```$/ { if (on) exit }
	on && $0 != "..."' README.md >quoted
	[ -s quoted ] && in_order quoted shown &&
		pass || fail 'README.md quotes what check prints'
	ln -s "$top/programs" programs
	for command in 'explore --levels' 'explore --fix'; do
		# shellcheck disable=SC2086
		run 1 $command programs/examples/last-seat.tx
		awk -v line="\$ isoscope $command programs/examples/last-seat.tx" '
		$0 == line { on = 1; next }
		/^```$/ { if (on) exit }
		on && $0 != "..."' README.md >quoted
		[ -s quoted ] && in_order quoted out &&
			pass || fail "README.md quotes what $command prints"
	done
fi
printf '%s\n' '{"sessions":[{"name":"a\u001b[31m","transactions":[{"events":[
["r","k",0]]}]}]}' | tr -d '\n' >control.jsonl
run 1 check control.jsonl
prints 'a?[31m.1 reads k = 0'

# --- generated histories ---
run 0 generate --seed 7
cp out seven.jsonl
run 0 generate --seed 7
cmp -s out seven.jsonl && pass || fail 'equal seeds give equal histories'
run 0 generate --seed 8
cmp -s out seven.jsonl && fail 'other seeds give others' || pass
for level in rc ra cc pc psi si ser; do
	run 0 generate --level $level --transactions 200 -o made
	run 0 check made -i $level -q
done
# planted ANOMALY LEVEL [WEAKER]: the level forbids it, and the weaker one does
# not.
planted() {
	for format in isoscope plume rw-edn; do
		run 0 generate --anomaly "$1" --format $format -o made
		run 1 check made -i "$2"
		if [ $# -gt 2 ]; then run 0 check made -i "$3"; fi
	done
}
planted thin-air none
planted G1a rc none
planted G1b rc none
planted internal none
planted G1c none
planted fractured-read ra rc
planted causality cc ra
planted long-fork pc psi
planted lost-update psi pc
planted write-skew ser si
run 2 generate --level sserr
run 2 generate --anomaly dirty
run 2 generate --reads 2
run 2 generate --format cobra
for format in list-edn list-json; do
	for anomaly in thin-air G1a internal; do
		run 2 generate --anomaly $anomaly --format $format
		says "--format $format cannot be used with --anomaly $anomaly"
		prints_nothing
	done
done
if [ -e /dev/full ]; then
	"$ISOSCOPE" generate >/dev/full 2>err
	[ $? -eq 70 ] && pass || fail 'a full standard output is an error'
	[ "$(wc -l <err)" -eq 1 ] && pass || fail 'one error for one cause'
fi

# --- histories that are wrong ---
run 2 check
run 2 check --strongets lost.txt
says "did you mean '--strongest'"
run 2 check lost.txt --format edn
run 2 check lost.txt -i snapshot
run 3 check no-such-history.txt
says 'no-such-history.txt'
prints_nothing
run 3 check /dev/null
prints_nothing
run 3 check binary.tx
says 'binary.tx'
run 3 check lost.tx
says 'none of the formats'
says 'choose one with --format to be told'
run 3 convert lost.tx --to plume
says 'choose one with --from to be told'
run 3 explore lost.tx --from lost.tx
says 'choose one with isoscope check --format to be told'
mkdir -p empty
run 3 check empty
says 'empty'
run 3 check zeros.tx
printf 'w(1,5,1,1)\nw(1,5,2,2)\nr(1,5,3,3)\n' >twice.txt
run 3 check twice.txt
says 'twice.txt:2'
says 't1'
says 't2'
run 3 check lost.txt twice.txt
says 'twice.txt:2'
prints_nothing
printf 'w(1,5,1,1)\nr(1,5,2)\n' >short.txt
run 3 check short.txt
says 'short.txt:2:'
printf '{"sessions":[{"transactions":[{"events":[["r","x"]]}]}]}\n' >bad.jsonl
run 3 check bad.jsonl
says 'bad.jsonl:1:'
{
	cat three.jsonl
	echo '{"sessions":'
} >half.jsonl
run 3 check half.jsonl
says 'half.jsonl:4:'
run 3 convert half.jsonl --to isoscope
says 'half.jsonl:4:'

{
	cat three.jsonl
	echo '{"sessions":[]}'
} >none.jsonl
run 3 check none.jsonl
says 'none.jsonl:4: error: the history has no session'
{
	cat three.jsonl
	echo '{"sessions":[{"after":"all"},{"after":"all"}]}'
} >after.jsonl
run 3 check after.jsonl
says 'after.jsonl:4: error: 2 sessions follow all others'

# --- options of code in C ---
for seconds in -1 soon 0x10 '' nan inf; do
	run 2 explore lost.tx --step-timeout "$seconds"
	says '--step-timeout takes'
	prints_nothing
done
for command in run record compare; do
	run 2 $command lost.tx --step-timeout -1
done
run 2 predict --program lost.tx --step-timeout -1
for seconds in 0 0.5 2s 1e300; do
	run 1 explore lost.tx --step-timeout $seconds --client-output
	says_nothing
done
run 2 explore lost.tx --client-output=no
run 2 check lost.txt --step-timeout 1
for command in explore run record predict compare; do
	run 0 help $command
	prints '--step-timeout SECONDS'
	prints '--client-output'
	prints '(client.so)'
done
run 0 help check
lacks '--client-output'

# --- code in C: each command says what it is not for ---
# client NAME: NAME.so from the standard input.
client() {
	cat >"$1.c"
	# shellcheck disable=SC2086
	${CC:-cc} -g -shared -fPIC -I"$top/include" -o "$1.so" "$1.c" \
		2>err || { : >out; fail "$1.c does not compile"; }
}
client both <<'END'
#include <isoscope/client.h>
static void buy(void *name)
{
	iso_begin("buy");
	struct iso_value owner = iso_get(iso_string("seat"));
	iso_put_string("seat", name);
	iso_commit();
	iso_note_int("first", owner.kind == ISO_NULL);
	if (owner.kind != ISO_NULL)
		iso_assert(owner.length == 9, "somebody else");
	iso_assert(true, "all is well");
}
static bool one(void *unused)
{
	(void)unused;
	return iso_noted_int("a", "first", 0) !=
	       iso_noted_int("b", "first", 0);
}
static void look(void *unused)
{
	(void)unused;
}
void iso_client(void)
{
	iso_initial_int("other", 1);
	iso_session("a", buy, "ada");
	iso_session("b", buy, "bob");
	iso_finally(look, 0);
	iso_expect("one of them is first", one, 0);
}
END
run 0 compile both.so
prints 'both.so: a shared object that declares 2 sessions and finally, '
prints ', 1 expectation, 1 initial value'
run 3 compile --dump both.so
says 'not bytecode'
prints_nothing
for command in 'fmt' 'fmt --check' 'fmt --write' 'check' 'convert --to plume' \
	'predict' 'explore both.so --from'; do
	# shellcheck disable=SC2086
	run 3 $command both.so
	says 'isoscope: both.so is a shared object'
	says 'isoscope explore both.so'
	prints_nothing
done
run 3 explore both.c
says 'compile it first: cc -g -shared -fPIC -o both.so both.c'
run 3 explore lost.tx.cc
says 'compile it first: c++ -g -shared -fPIC -o lost.tx.so lost.tx.cc'
cp "$ISOSCOPE" program.so
run 3 explore program.so
says 'program.so: error: '
prints_nothing

# --- code in C: assertions are those that were met ---
run 1 explore both.so -i cc
prints 'violated: 2 of 3 assertions fail under'
prints 'fails  assert "one of them is first"  both.c:29:2'
prints 'fails  assert "somebody else"  both.c:10:3'
prints 'holds  assert "all is well"  both.c:11:2'
prints 'fails with a.first = 1, b.first = 1'
prints '      iso_assert(owner.length == 9, "somebody else");'
equal "assertions" "$(grep -c '^assert ' out)" 2
run 1 explore both.so --json
json '.[0].assertions | map(.message) | sort | join(",")' \
	'all is well,one of them is first,somebody else'
json '.[0].assertions | map(.line) | sort | join(",")' '10,11,29'
json '.[0].assertions | map(.kind) | sort | join(",")' 'final,inline,inline'
run 1 explore --levels both.so
prints 'violated: 2 of 3 assertions fail under Causal'
equal "rows" "$(grep -c '^assert ' out)" 3
run 1 explore --levels both.so --json
json '.[0].assertions | length' 3
json '.[0].levels[0].violated | length' 3
run 1 run both.so --policy latest
prints 'violated: 1 of 3 assertions fails in'
run 1 compare both.so --json
json '.[0].assertions | map(.text) | sort | .[0,1,2]' \
	'assert "all is well"
assert "one of them is first"
assert "somebody else"'
run 0 record both.so
says 'both.c:10:3: warning: in this serial run the assertion fails'
client nothing <<'END'
#include <isoscope/client.h>
static void idle(void *key) { iso_begin(0); iso_put_int(key, 1); iso_commit(); }
void iso_client(void) { iso_session("s", idle, "k"); }
END
run 0 explore nothing.so
prints 'holds: nothing is asserted, and no run-time error happens, in the one '
run 0 explore --levels nothing.so
prints 'holds: nothing is asserted under'
run 0 run nothing.so --runs 3
prints 'no violation: nothing is asserted'

# --- code in C: run-time errors, and what is printed ---
client loud <<'END'
#include <isoscope/client.h>
#include <stdio.h>
static void divide(void *key)
{
	iso_begin("divide");
	int64_t by = iso_get_int("by");
	printf("%d divisor\n", (int)by);
	iso_note_int("by", by);
	iso_put_int(key, 100 / by);
	iso_commit();
}
static void change(void *key)
{
	iso_begin("change");
	iso_put_int(key, 0);
	iso_commit();
}
void iso_client(void)
{
	iso_initial_int("by", 2);
	iso_session("divider", divide, "result");
	iso_session("changer", change, "by");
}
END
run 1 explore loud.so
prints 'violated: a run-time error happens under'
prints '  at loud.c:9:'
prints '  happens in 1 of 2 histories:'
prints 'SIGFPE'
prints '"0 divisor", where by = 0'
prints '      iso_put_int(key, 100 / by);'
says_nothing
run 1 explore loud.so --json
json '.[0].assertions[0].example.failure.values.by' 0
json '.[0].assertions[0].line' 9
run 1 explore loud.so -q --client-output
is 'violated: a run-time error happens under Causal Consistency (cc)'
says '0 divisor'
says '2 divisor'

# --- code in C that does not do the same each time: no result at all ---
client counts <<'END'
#include <isoscope/client.h>
static void s(void *key)
{
	static int runs;
	iso_begin("s");
	iso_get(iso_string(key));
	iso_put_int(key, ++runs);
	iso_commit();
}
void iso_client(void)
{
	iso_session("a", s, "x");
	iso_session("b", s, "x");
}
END
for s in a b; do echo "session $s { txn { let v = x; x = 1; } }"; done |
	sed '1i global x = null;' >counted.tx
run 0 record counted.tx -o counted.jsonl
for command in 'explore' 'explore --levels' 'explore --robust' 'run' \
	'run --coverage' 'record' 'compare' 'predict --program' \
	'predict counted.jsonl --boundary relaxed --validate' \
	'explore --from counted.jsonl'; do
	# shellcheck disable=SC2086
	run 3 $command counts.so
	says 'counts.so: error: '
	says 'put x = 1'
	says 'put x = 2'
	says 'counts.c:7'
	prints_nothing
done
for command in 'explore' 'explore --levels' 'run' 'compare' \
	'predict --program'; do
	# shellcheck disable=SC2086
	run 3 $command counts.so --json
	says 'counts.so: error: '
	json '.[0] | keys | join(",")' 'error,errors,isoscope,program,version'
	json '.[0].program' counts.so
done
run 3 explore counts.so --svg counts.svg --histories counts.jsonl
if [ -e counts.svg ]; then fail "$what: draws a picture"; else pass; fi
run 0 compile counts.so

# --- the example in C of the manual ---
# shown FILE LINE: what the file shows behind the line, up to the end of the
# block or to an ellipsis.
shown() {
	awk -v line="$2" '
		/^(```|\.\.\.)$/ { inside = 0 }
		inside { print }
		$0 == line && !found { inside = found = 1 }' "$1"
}
{
	echo '#include <isoscope/client.h>'
	shown "$top/docs/manual.md" '#include <isoscope/client.h>'
} >example.c
client seat <example.c
run 1 explore seat.so
shown "$top/docs/manual.md" "$ isoscope explore seat.so" >expected
head -n "$(wc -l <expected)" out >begin
same 'the manual: the example' begin expected
[ "$(wc -l <expected)" -gt 10 ] && pass || fail 'the manual: no example'

finish
