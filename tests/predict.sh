#!/bin/sh
# isoscope predict from outside: verdicts of traces with known answers, what the
# outputs hold, programs recorded and run along predictions, wrong usage.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
data=$top/tests/predictions

# prints_lines N TEXT: exactly N lines of standard output hold the text.
prints_lines() {
	lines=$(grep -cF -e "$2" out)
	if [ "$lines" -eq "$1" ]; then
		pass
	else
		fail "$what: $lines lines with '$2', not $1"
	fi
}

# trace '1.0: Wx / 2.0: Rx<1.0': that trace as the published tool writes it.
trace() {
	printf '%s\n' "$1" | tr / '\n' | awk '{
		split($1, t, /[.:]/)
		id = t[1] ", " t[2]
		for (i = 2; i <= NF; i++) {
			key = substr($i, 2)
			if (substr($i, 1, 1) == "W") {
				printf "WRITE KEY[%s] Txn(%s)\n", key, id
				continue
			}
			split(key, r, "<")
			split(r[2], w, ".")
			printf "READ KEY[%s] Txn(%s) From(%s, %s)\n",
			       r[1], id, w[1], w[2]
		}
	}'
}

# --- known answers: cc strict, cc relaxed, rc strict, rc relaxed ---
expected() {
	name=$1
	trace "$2" >"$name.txt"
	shift 2
	for level in cc rc; do
		for boundary in strict relaxed; do
			case $1 in
			sat) run 1 predict -q "$name.txt" -i $level \
				--boundary $boundary
				prints 'violated: ' ;;
			unsat) run 0 predict -q "$name.txt" -i $level \
				--boundary $boundary
				prints 'no violation: nothing found near' ;;
			esac
			shift
		done
	done
}

expected deposits '1.0: Rx<0.0 Wx / 2.0: Rx<1.0 Wx' unsat sat unsat sat
expected lost-update '1.0: Rx<0.0 Wx / 2.0: Rx<0.0 Wx' sat sat sat sat
expected self-justifying '1.0: Wx / 2.0: Wx / 3.0: Rx<2.0' \
	unsat unsat unsat unsat
expected half-fork \
	'1.0: Wx / 3.0: Rx<1.0 Ry<0.0 / 2.0: Wy / 4.0: Ry<2.0 Rx<1.0' \
	sat sat sat sat
expected chain '1.0: Wx / 2.0: Rx<1.0 Wy / 3.0: Ry<2.0 Rx<1.0' \
	unsat sat sat sat
expected crossed '1.0: Wx / 2.0: Wy / 1.1: Ry<2.0 / 2.1: Rx<1.0' \
	sat sat sat sat
expected account '1.0: Rx<0.0 Wx / 2.0: Rx<1.0 Wx / 1.1: Rx<2.0 Wx' \
	unsat sat sat sat
expected ring '1.0: Wx Ry<0.0 / 2.0: Wy Rz<0.0 / 3.0: Wz Rx<1.0' \
	sat sat sat sat
expected one-each '1.0: Wy Rx<0.0 / 2.0: Wx Ry<1.0' sat sat sat sat
expected same-session '1.0: Rx<0.0 Wx / 1.1: Rx<1.0 Wx' unsat unsat sat sat
expected own-write '1.0: Wx / 1.1: Rx<1.0' unsat unsat sat sat
expected monotonic '1.0: Wx / 2.0: Rx<1.0 / 2.1: Rx<1.0' unsat unsat sat sat
expected voter '1.0: Rv<0.0 Rv<0.0 Wv / 2.0: Rv<1.0 Rv<1.0 / 3.0: Rv<1.0 /
	2.1: Rv<1.0' unsat unsat sat sat
expected fractured '1.0: Wx Wy / 2.0: Rx<1.0 Ry<1.0' unsat unsat unsat sat
expected twice-after '1.0: Wx / 2.0: Rx<1.0 Rx<1.0' unsat unsat unsat sat
expected twice-before '2.0: Rx<0.0 Rx<0.0 / 1.0: Wx' unsat unsat sat sat
expected fork '1.0: Wx / 2.0: Wy / 3.0: Rx<1.0 Ry<2.0 / 4.0: Ry<2.0 Rx<1.0' \
	sat sat sat sat
expected skew '1.0: Rx<0.0 Ry<0.0 Wx / 2.0: Rx<1.0 Ry<0.0 Wy' \
	unsat sat unsat sat
expected dependent '1.0: Wx / 2.0: Rx<1.0 Wy / 3.0: Ry<2.0 Wz / 1.1: Rz<3.0' \
	unsat sat unsat sat
expected local '1.0: Wx Rx<1.0 Wx Ry<0.0 / 2.0: Rx<1.0 Wy' \
	unsat sat unsat sat
expected again '1.0: Wz Rx<0.0 / 2.0: Wx Rz<1.0 Wx' sat sat sat sat
expected alone '1.0: Rx<0.0 Wx' unsat unsat unsat unsat
expected disjoint '1.0: Rx<0.0 Wx / 2.0: Ry<0.0 Wy / 3.0: Rz<0.0 Wz' \
	unsat unsat unsat unsat

# --- every predicted history satisfies the level, and no serial order ---
for level in none rc ra cc pc psi si; do
	for boundary in strict relaxed; do
		run 1 predict -q ./*.txt -i $level --boundary $boundary \
			--all 4 --histories predicted.jsonl
		run 0 check -q predicted.jsonl -i $level
		run 1 check -q predicted.jsonl -i ser
		prints 'violated: all'
	done
done
if sort predicted.jsonl | uniq -d | grep -q .; then
	fail 'a prediction comes twice'
else
	pass
fi

# --- in full ---
cp "$data/named.jsonl" .
run 1 predict named.jsonl
sed -E '/^(search|time|memory) /d' out >found
same 'the report of a prediction' "$data/named.expected" found
prints 'search  '
run 1 predict named.jsonl -q
head -n 1 "$data/named.expected" >line
same 'the verdict alone' line out
"$ISOSCOPE" predict -q - <named.jsonl >out 2>err
same 'from the standard input' line out
run 1 predict named.jsonl --boundary relaxed
prints 'an execution within the relaxed boundary that'
prints 'of each session the prediction has, within the relaxed boundary'
prints 'bob.2 get with reads answered anew'
run 0 predict named.jsonl -i si
prints 'no violation: nothing found near this trace: within the strict and the'
prints 'relaxed boundary, every execution that Snapshot Isolation (si) allows is'
prints 'outwards from a trace (explore --from TRACE PROGRAM)'
run 0 predict named.jsonl -i si --boundary strict
prints 'within the strict boundary, every execution that Snapshot Isolation'
prints 'both boundaries (without --boundary)'
run 4 predict named.jsonl -i si --encoding approx
prints 'inconclusive: the sufficient condition shows no execution'
prints 'approx encoding'
run 1 predict named.jsonl --encoding approx

# --- the observed execution itself ---
run 1 predict lost-update.txt
prints 'the observed execution itself is not serializable'
prints 'lost update'
prints_lines 0 'changed read'
run 0 predict lost-update.txt -i si

# --- the level that the history states ---
sed 's/"ser"/"si"/' named.jsonl >stated.jsonl
run 0 predict stated.jsonl
prints 'si, as the history says'
run 1 predict stated.jsonl -i rc
prints 'level     rc; '
run 2 predict named.jsonl -i ser
says 'predictions are never serializable'
prints_nothing

# --- a key that is written again behind the cut ---
run 1 predict -q again.txt --boundary strict --histories again.jsonl
cp again.jsonl out
prints '"events":[["w","x",2],["r","z",null,"init"]]'
prints '"changed":[{"read":[1,0,1],"key":"z","observed":[0,0],'

# --- values that nobody observed are not shown ---
run 1 predict again.txt --boundary strict --dot again.dot
prints '2.1 t0 reads z │ from 1.1 t0 │ from init'
lacks ' = '
grep -F '<font' again.dot >out
lacks ' = '
run 1 predict again.txt --boundary strict --json
prints '"observed":{"from":"1.1 t0"},"predicted":{"from":"init"}'
prints '["w","z",null]'
run 1 check again.jsonl -i ser
lacks ' = '

# --- several predictions of a history ---
trace '1.0: Wx / 2.0: Wy / 1.1: Ry<2.0 / 1.2: Ry<2.0 / 2.1: Rx<1.0 /
	2.2: Rx<1.0' >several.txt
run 1 predict several.txt -i rc --all 100
prints '3 feasible executions that Read Committed (rc) allows are not'
prints 'serializable; the first with 1 read changed: 1.3'
prints_lines 3 'changed read '
prints 'prediction 3'
prints '3 predictions; every other one within the strict and the relaxed boundary'
run 1 predict several.txt -i rc --all 2
prints '2 predictions; there may be others'
run 1 predict several.txt -i rc --all 3 --histories all.jsonl -q
cp all.jsonl out
prints_lines 3 '"changed":'
prints '"number":3'

# --- several histories ---
run 1 predict --boundary strict deposits.txt crossed.txt ring.txt \
	lost-update.txt
prints 'deposits.txt: no violation'
prints 'crossed.txt: violated: 2 reads changed'
prints 'lost-update.txt: violated: the observed execution itself'
prints 'violated: from 3 of 4 histories'
prints 'The first prediction, from crossed.txt:'
prints_lines 1 'changed read '
run 1 predict -q --boundary strict deposits.txt crossed.txt
prints 'violated: from 1 of 2 histories'
prints_lines 1 ''
run 0 predict deposits.txt alone.txt --boundary strict
prints 'no violation: nothing found near all 2 histories: within the strict'
prints 'other traces (--program PROGRAM --runs N)'
cat named.jsonl stated.jsonl >two.jsonl
run 0 predict two.jsonl --history 2
run 3 predict two.jsonl --history 3
says 'holds 2 histories'
run 1 predict two.jsonl
prints 'two.jsonl:1: violated'
prints 'two.jsonl:2: no violation'

# --- both boundaries, strict first ---
run 1 predict deposits.txt
prints 'an execution within the relaxed boundary that Causal Consistency (cc)'
prints '; the strict and the relaxed boundary, exact encoding'
run 1 predict account.txt -i rc --all 100 --json
grep -oE '"boundary":"[a-z]+","nearest"' out | sort -u >boundaries
equal 'boundaries of predictions' "$(wc -l <boundaries)" 2
run 1 predict account.txt -i rc --all 100
prints 'within the relaxed boundary or the strict one'

# --- JSON ---
run 1 predict named.jsonl alone.txt --json
prints_lines 2 '"isoscope":'
prints '"verdict":"violated"'
prints '"verdict":"no violation"'
prints '"boundary":"both","encoding":"exact"'
prints '"observed":false,"boundary":"strict","nearest":true,"changed"'
prints '"changed":[{"transaction":"bob.2 get","session":"bob","index":1,'
prints '"operation":0,"line":1,"key":"x","observed":{"from":"alice.1 put",'
prints '"value":1},"predicted":{"from":"init","value":0}}],"sessions":'
prints '"kept":1,"divergent":"bob.2 get","operations":2,"operations_kept":1}'
prints '"anomaly":"store buffering"'
prints '"validation":null'
prints '"complete":true'
run 1 predict named.jsonl --json -q
prints '"witness":null'

# --- histories ---
run 1 predict named.jsonl --histories -
prints '"changed":[{"read":[1,1,0],"key":"x","observed":[0,0],'
prints '"predicted":"init"}]'
prints '"truncated":[[1,1]]'
prints '"verdict":{"cc":true,"ser":false}'
prints '"observed":{"file":"named.jsonl","history":1}'
says 'violated: '
run 2 predict named.jsonl --histories ./named.jsonl
says 'would overwrite the history'
run 2 predict named.jsonl --histories - --json
says 'standard output'
run 2 predict named.jsonl --histories no/such/folder

# --- pictures ---
run 1 predict named.jsonl --dot picture.dot -q
cp picture.dot out
prints 'digraph'
prints 'under Causal Consistency (cc): store buffering'
prints 't0 -> t4 [color="#ca6f1e"'
prints 't1 -> t4 [color="#95a5a6"'
prints '<font color="#ca6f1e"><b>'
prints '#c0392b'
if command -v dot >/dev/null; then
	run 1 predict named.jsonl --svg picture.svg -q
	cp picture.svg out
	prints '<svg'
fi
rm -f picture.dot
run 0 predict alone.txt --dot picture.dot
says 'nothing was drawn'
[ -e picture.dot ] && fail 'a picture of nothing' || pass

# --- limits ---
"$ISOSCOPE" generate --ops 20000 --sessions 10 --keys 50 -o large.jsonl
run 4 predict large.jsonl --timeout 0.001
prints 'inconclusive: '
prints 'the time limit was reached'
run 4 predict large.jsonl --memory 1k
prints 'the memory limit was reached'
run 4 predict large.jsonl crossed.txt --timeout 0.001
prints 'and the rest was not looked at'

# --- input that is wrong ---
sed 's/From(1/Form(1/' crossed.txt >typo.txt
run 3 predict typo.txt
says 'typo.txt:4:24: error: from here on, this line is not an operation'
prints_nothing
run 3 predict no-such-file
says 'no-such-file'
prints_nothing
echo '{"sessions":[{"transactions":[{"events":[["r","x",7]]}]}]}' >thin.jsonl
run 3 predict thin.jsonl
says 'thin.jsonl:1: error: '
prints_nothing
run 0 predict thin.jsonl --unknown-is-initial
run 3 predict crossed.txt --format isoscope
run 1 predict crossed.txt --format isopredict
run 2 predict
says 'predict needs an observed history'
run 2 predict named.jsonl -i cd
run 2 predict named.jsonl --boundary lax
says "strict or relaxed"
run 2 predict named.jsonl --encoding z3
run 2 predict named.jsonl --all 0
run 2 predict named.jsonl --all some
run 2 predict named.jsonl --runs 3
says '--runs needs --program'
run 2 predict named.jsonl --seed 3
run 2 predict named.jsonl --program p.tx
says 'records its own histories'
run 2 predict --program p.tx --validate p.tx
says '--program already validates with its program'
run 2 predict --program p.tx --history 1
run 2 predict --program p.tx --format isoscope
run 2 predict --program p.tx --unknown-is-initial
run 3 predict --program no-such.tx
says 'no-such.tx'
run 3 predict named.jsonl --validate no-such.tx
prints_nothing

# --- programs ---
cat >board.tx <<'END'
global says[*] = "nothing";
txn post(who) { says[who] = "hello"; }
txn look(who) { return says[who]; }
session alice { post("alice"); let heard = look("bob"); }
session bob { post("bob"); let heard = look("alice"); }
END
cat >spend.tx <<'END'
global money = 0;
txn pay_in() { let m = money; money = m + 50; }
txn spend() { let m = money; if (m < 30) abort; money = m - 30; }
session a { pay_in(); }
session b { spend(); }
END
cat >add.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; }
session a { add(); }
session b { add(); }
END
run 1 predict --program board.tx
prints 'violated: a validated execution that Causal Consistency (cc)'
prints 'validated: board.tx, run along this prediction, gives an execution'
prints 'it follows the prediction in everything'
prints 'recorded with seed 1'
run 1 predict --program board.tx --runs 6 --seed 4
prints_lines 6 ' changed, strict; validated'
prints 'board.tx, seed 4: '
prints 'board.tx, seed 9: '
prints 'violated: from all 6 traces a validated execution'
prints 'The first prediction, from board.tx, seed 4:'
cp out first
"$ISOSCOPE" predict --program board.tx --runs 6 --seed 4 |
	sed '/^time/,$d' >again
sed '/^time/,$d' first >before
same 'the same seeds give the same result' before again
run 0 predict --program board.tx -i si
run 1 predict --program add.tx --boundary relaxed
prints 'lost update'
run 0 predict --program add.tx --boundary strict
run 1 predict --program add.tx
prints 'lost update'
prints 'within the relaxed boundary'
run 0 predict --program add.tx --boundary relaxed -i psi
run 1 predict --program board.tx --json --runs 2
prints_lines 2 '"validation":{"end":"complete","validated":true,'
prints '"serializable":false,"diverged":false,"changed":0,"other_values":0}'
prints '"seed":2'
prints '"program":"board.tx"'
run 1 predict --program board.tx --histories board.jsonl -q
cp board.jsonl out
prints '"validated":true'
prints '"observed":{"file":"board.tx","history":1,"seed":1}'

# A prediction beyond the strict boundary may be wrong.
run 4 predict --program spend.tx --runs 8 --boundary relaxed
prints 'inconclusive: nothing is shown from any of 8 traces'
prints 'not validated, diverged'
prints 'not validated: a false prediction: spend.tx'
run 0 predict --program spend.tx --runs 8 --boundary strict
prints 'more traces (--runs N)'

# Recorded first, then predicted from, then run.
"$ISOSCOPE" record board.tx --seed 3 >trace.jsonl
for level in none rc ra cc psi; do
	"$ISOSCOPE" record board.tx --seed 3 |
		"$ISOSCOPE" predict - -i $level --validate board.tx >out 2>err
	what="record | predict -i $level"
	prints 'violated: a validated execution'
done
run 1 predict trace.jsonl -q
prints 'violated: a feasible execution'
run 1 predict trace.jsonl trace.jsonl --validate board.tx
prints '    validated                2'
run 1 predict board.jsonl --validate board.tx
prints 'the observed execution itself'
prints 'validated: '
sed 's/"hello"/"hi"/' board.tx >other.tx
run 1 predict trace.jsonl --validate other.tx
prints 'values are others than observed, as if the program were another one'
run 1 predict trace.jsonl --validate other.tx --json
lacks '"diverged":false'
lacks '"other_values":0'
# What was predicted before an error is told.
run 3 predict trace.jsonl no-such.jsonl
prints 'violated: '
# Formats that keep the names of keys are enough.
"$ISOSCOPE" record board.tx --seed 3 --format rw-edn >trace.edn
run 1 predict trace.edn -i cc --validate board.tx
prints 'violated: a validated execution'
"$ISOSCOPE" record board.tx --seed 3 --format plume >trace.txt
run 3 predict trace.txt -i cc --validate board.tx
says 'formats that keep the names of keys'
run 3 predict named.jsonl --validate add.tx
says "add.tx has no session 'alice'"
prints_nothing
run 2 predict trace.jsonl --validate board.tx --dot board.tx
says 'would overwrite'
run 2 predict --program board.tx --histories board.tx
says 'would overwrite'
run 2 predict --program board.tx --runs 0
run 2 predict --program board.tx --seed x
echo 'session {' >bad.tx
run 3 predict --program bad.tx
says 'bad.tx:1:'

# The level that a program states.
{ echo 'isolation si;'; cat board.tx; } >board-si.tx
run 0 predict --program board-si.tx
prints 'si, as the program states'
run 1 predict --program board-si.tx -i cc
{ echo 'isolation ser;'; cat board.tx; } >board-ser.tx
run 2 predict --program board-ser.tx
says 'board-ser.tx states ser'
run 1 predict --program board-ser.tx -i rc

# Runs that do not count.
cat >assumed.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let v = x; assume v == 1; } }
END
run 0 predict --program assumed.tx --runs 12
prints 'left out: the run meets a false assumption'
prints 'runs left out'
echo 'session a { txn { assume false; } }' >never.tx
run 4 predict --program never.tx
prints 'there is no history to predict from'

# ser beside si, as PostgreSQL has it: another order for who only looks.
cat >look.tx <<'END'
global x = 0;
global y = 0;
txn old() at ser { let v = x; y = 1; return v; }
txn new() at si { x = 1; }
txn look() at si { let v = x; let w = y; return v * 10 + w; }
session a { let seen = old(); }
session b { new(); }
session c { let seen = look(); }
assert a.seen == 1 || c.seen != 10;
END
run 0 predict --program look.tx --runs 6
run 1 predict --program look.tx --runs 6 --serializable=postgres
prints 'the mix of its levels, ser as in PostgreSQL, allows'
run 0 record look.tx -o observed
run 0 predict -q observed
run 1 predict --json --serializable=postgres --validate look.tx observed
prints '"serializable":"postgres"'
run 2 record --serializable=postgres look.tx
says "'record' has no option"
run 0 compare look.tx
run 1 compare --serializable=postgres look.tx
prints '1 unserializable history and 1 violated assertion'
prints 'ser as in PostgreSQL'

finish
