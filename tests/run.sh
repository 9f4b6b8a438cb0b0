#!/bin/sh
# isoscope run and isoscope record, from outside: every option, every error,
# what they print and write, and that the same seed gives the same run.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >lost.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let r = add(); }
session b { let r = add(); }
assert "only one can be first" : !(a.r == 0 && b.r == 0);
END
cat >three.tx <<'END'
global x = 0;
global y = 0;
session a { txn { let v = y; x = 1; } txn { y = 2; } }
session b { let s = txn { let v = x; y = v + 1; return v; };
	let u = txn { return y; }; }
session c { let w = txn { let v = x; let z = y; return v + 10 * z; }; }
assert "true" : c.w < 1000;
assert "sees both" : !(b.s == 1 && c.w == 20);
assert serializable;
END
cat >fine.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let v = x; assert v < 2; } }
END
cat >silent.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let v = x; } }
END
cat >error.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { let r = txn { let v = x; return 10 / v; }; }
END
cat >never.tx <<'END'
global x = 0;
session a { txn { let v = x; assume v == 7; } }
END
cat >often.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { let r = txn { let v = x; assume v == 1; return v; }; }
assert b.r == 1;
END
{
	echo 'global x = 0;'
	for s in a b c d e f g h i; do
		echo "session $s { txn { let v = x; x = v + 1; }"
		echo "	txn { x += 1; } }"
	done
} >huge.tx

# --- verdicts ---
run 1 run lost.tx
prints 'violated: the assertion fails in '
prints ' of 1,000 runs under Causal Consistency (cc)'
prints 'assert !(a.r == 0 && b.r == 0)'
prints '  at lost.tx:5:1: only one can be first'
prints 'fails with a.r = 0, b.r = 0'
prints 'lost update'
prints 'To repeat this run: isoscope run lost.tx -i cc --runs 1 --seed '
prints 'under cc, policy uniform, seeds 1 to 1000'
prints '  after runs   histories    outcomes'
says_nothing
repeat=$(sed -n 's/^  To repeat this run: isoscope //p' out)
sed -n '/^    a .*b$/,/^  It is not/p' out >shown
run 1 $repeat
prints 'violated: the assertion fails in the one run under'
prints 'fails in the one run:'
sed -n '/^    a .*b$/,/^  It is not/p' out >again
same 'the repeated run shows the same history' shown again
if [ -s shown ]; then pass; else fail 'a history is shown'; fi
run 0 run lost.tx -i ser
prints 'no violation: the assertion is true in all 1,000 runs under Seria'
prints 'Random runs may miss a violation'
lacks 'holds'
run 0 run lost.tx --isolation=psi --runs 10
run 0 run lost.tx -i si --runs 1 --seed 3
prints 'no violation: the assertion is true in the one run under'
prints 'under si, policy uniform, seed 3'
run 0 run fine.tx
run 0 run silent.tx
prints 'no violation: nothing is asserted, and no run-time error happens, in'
run 1 run error.tx
prints 'violated: a run-time error happens in '
prints 'run-time error'
prints 'error.tx:3:48'
prints 'division by zero'
run 1 run three.tx -i ra
prints 'violated: 2 of 3 assertions fail in '
prints '  passes  assert c.w < 1000'
prints '  fails   assert serializable'
run 1 run lost.tx --robust --runs 100
prints 'violated: 2 of 2 assertions fail in '
prints 'the history shown for: assert !(a.r == 0 && b.r == 0)'
prints '--robust'
run 1 run lost.tx --robust -i none --runs 10 --quiet
run 0 run fine.tx --robust --runs 10
sed 's/^assert.*//' lost.tx >bare.tx
run 1 run bare.tx --robust
prints 'violated: not robust: a history that is not serializable is met in '
prints 'robust: every history is serializable'
run 0 run bare.tx --robust -i ser
prints 'no violation: the history is serializable in all 1,000 runs under'
sed 's/^global/isolation ser; global/' lost.tx >serial.tx
run 0 run serial.tx
prints 'Serializability (ser)'
run 1 run serial.tx -i rc
run 1 run lost.tx -q
equal 'quiet prints one line' "$(wc -l <out)" 1

# --- assumptions ---
run 4 run never.tx --runs 20
prints 'inconclusive: no run counts, as each of 20 makes an assumption false'
run 4 run never.tx --runs 1
prints 'inconclusive: no run counts, as it makes an assumption false'
run 0 run often.tx --runs 200
prints 'of them made an assumption false, and do not count'
lacks 'all 200 runs'
run 4 record never.tx
says 'no run was recorded: the runs of all 1000 seeds from 1 on'
prints_nothing
moved=
for seed in 1 2 3 4 5 6 7 8 9 10; do
	run 0 record often.tx --seed $seed
	prints '["r","x",1,[0,0]]'
	if [ -s err ]; then
		moved=yes
		says "the run of seed $seed violates an assumption"
	fi
done
equal 'some seed makes the assumption false' "$moved" yes

# --- the same seed, the same runs ---
for policy in uniform session-first latest oldest weak=0 weak=1 weak=7; do
	case $policy in
	latest | weak=0) code=0 ;;
	*) code=1 ;;
	esac
	run $code run lost.tx --policy $policy --runs 200 -q
	"$ISOSCOPE" run three.tx --policy $policy --runs 30 --seed 5 \
		--histories all.jsonl -q >out 2>err
	equal "a line for each run of $policy" "$(wc -l <all.jsonl)" 30
	for number in 1 9 30; do
		seed=$((4 + number))
		"$ISOSCOPE" run three.tx --policy $policy --runs 1 \
			--seed $seed --histories one.jsonl -q >out 2>err
		sed 's/"run":[0-9]*,//' one.jsonl >one
		sed -n "${number}s/\"run\":[0-9]*,//p" all.jsonl >expected
		same "run $number of $policy repeats from its seed" one expected
		grep -q "\"seed\":$seed," one || fail "no seed in the line"
	done
done
run 1 run lost.tx --policy oldest
prints 'policy oldest'
prints '--policy oldest'
run 1 run lost.tx --policy weak=1
prints '--policy weak=1'
for seed in 0 18446744073709551615; do
	run 1 run lost.tx --seed $seed --runs 50 --histories h.jsonl
	equal "seed $seed is one" "$(wc -l <h.jsonl)" 50
	cut -d, -f5- h.jsonl | sort -u >kinds
	[ "$(wc -l <kinds)" -gt 1 ] && pass || fail "seed $seed: one history"
done

# --- histories: they are readable, and satisfy their level ---
for level in none rc ra cc pc psi si ser; do
	"$ISOSCOPE" run three.tx -i $level --runs 300 --histories - 2>err |
		"$ISOSCOPE" check -i $level -q - >out 2>>checked
	equal "runs under $level satisfy it" $? 0
	grep -q '^holds: all 300 histories satisfy ' out && pass ||
		fail "what check says of runs under $level"
	grep -q ' of 300 runs under\|all 300 runs' err && pass ||
		fail "the result goes to the standard error"
done
run 1 run lost.tx --runs 40 --histories h.jsonl
prints 'violated'
grep -q '^{"history":1,"program":"lost.tx","level":"cc","run":7,"seed":7,' \
	h.jsonl && pass || fail 'a line begins with program, level, run, seed'
bad=$(grep -c '"verdict":{"cc":true,"ser":false},"violated":\["lost.tx:5:1: a' \
	h.jsonl)
prints "violating$(printf '%18s' "$bad")  "
good=$(grep -c '"verdict":{"cc":true,"ser":true},"violated":\[\]' h.jsonl)
equal 'every run satisfies its assertion, or violates it' $((good + bad)) 40

# --- coverage: the totals are those of explore ---
for level in rc cc si ser; do
	"$ISOSCOPE" explore three.tx -i $level --json >explored 2>err
	count=$(sed 's/.*"stats":{"histories":\([0-9]*\),.*/\1/' explored)
	case $level in
	ser) code=0 ;;
	*) code=1 ;;
	esac
	run $code run three.tx -i $level --coverage --runs 20
	prints " of $count histories"
	run $code run three.tx -i $level --coverage --runs 20 --json
	json '.[0].coverage.histories' "$count"
done
run 0 run fine.tx --coverage
prints 'holds: the assertion is true in every history, all 2 of which the runs '
prints 'The runs have seen 2 of 2 histories (100 %) and '
lacks 'may miss'
run 1 run lost.tx --coverage
prints '3 of 3 histories (100 %)'
prints '1 of them is not serializable'
run 0 run lost.tx -i si --coverage --runs 1
prints 'no violation'
prints 'The runs have seen 1 of 2 histories (50.0 %)'
run 0 run huge.tx --coverage --max-histories 10 --runs 10
prints 'The runs have seen 10 of at least '
prints 'Exploring ended early, after '
prints ' and 10 histories; 10 of them are not serializable'
run 2 run lost.tx --max-histories 10
says 'add --coverage'

# --- limits ---
run 4 run huge.tx --runs 100000000 --timeout 0.3
prints 'inconclusive: the time limit was reached, with no violation in '
run 4 run huge.tx --runs 100000000 --timeout 0.3 --json --coverage
json '.[0] | .verdict, .stop, .complete, .coverage' \
	"$(printf 'inconclusive\ntime\nfalse\nnull')"
run 1 run lost.tx --runs 100000000 --timeout 0.3 -q
run 4 run huge.tx --runs 100000000 --memory 100k
prints 'the memory limit was reached'
run 1 run lost.tx --stop-on-violation
prints '; the first violation was enough'
prints 'fails in '
"$ISOSCOPE" run huge.tx --runs 1000000000 >out 2>err &
pid=$!
begins $pid
kill -INT $pid
wait $pid
equal 'interrupted' $? 4
what=interrupted
prints 'inconclusive: interrupted, with no violation in '
says_nothing
"$ISOSCOPE" run lost.tx --runs 1000000000 -q >out 2>err &
pid=$!
begins $pid
kill -INT $pid
wait $pid
equal 'interrupted after a violation' $? 1

# --- JSON and pictures ---
run 1 run lost.tx --json --coverage --runs 100
says_nothing
equal 'the JSON is one line' "$(wc -l <out)" 1
json '.[0].verdict' violated
json '.[0] | .program, .level, .policy, .seed, .runs' \
	"$(printf '%s\n' lost.tx cc uniform 1 100)"
json '.[0].assertions | length' 1
json '.[0].assertions[0].kind' final
json '.[0].assertions[0].first_run == .[0].assertions[0].first_seed' true
json '.[0].assertions[0].example.anomaly' 'lost update'
json '.[0].assertions[0].example.cycle | length' 2
json '.[0] | .assertions[0].violated == .stats.violating' true
json '.[0].curve | map(.runs) | join(" ")' '1 2 5 10 20 50 100'
json '.[0].curve[-1].histories == .[0].stats.histories' true
json '.[0].coverage | .complete, .histories, .outcomes' \
	"$(printf 'true\n3\n3')"
json '.[0] | .coverage.seen_histories == .stats.histories' true
run 1 run lost.tx --json -q
run 0 run fine.tx --json
json '.[0].verdict' 'no violation'
json '.[0] | has("coverage")' false
run 1 run lost.tx --dot g.dot
grep -q digraph g.dot && pass || fail 'a graph is written'
run 0 run fine.tx --dot none.dot
says 'nothing was drawn'
[ -e none.dot ] && fail 'a graph of nothing is written' || pass
run 1 run lost.tx --dot -
prints digraph
says 'violated'
if command -v dot >/dev/null; then
	run 1 run lost.tx --svg g.svg
	grep -q '<svg' g.svg && pass || fail 'a picture is drawn'
fi

# --- what is wrong with the command line ---
run 2 run
says 'run needs a program'
run 2 run lost.tx fine.tx
says 'run takes one program, not 2'
run 3 run no-such-file.tx
says 'no-such-file.tx'
prints_nothing
echo 'global x = ' >wrong.tx
run 3 run wrong.tx
says 'wrong.tx:2:1'
run 2 run lost.tx -i sre
says "did you mean 'ser'"
run 2 run lost.tx --runs 0
says '--runs takes a positive number'
run 2 run lost.tx --runs -3
run 2 run lost.tx --runs many
for seed in -1 1x 18446744073709551616 '' 0x10; do
	run 2 run lost.tx --seed "$seed"
	says '--seed takes a whole number from 0 to 18446744073709551615'
	run 2 record lost.tx --seed "$seed"
done
run 2 run lost.tx --policy weak
says "did you mean 'weak='"
run 2 run lost.tx --policy weak3
for policy in weak= weak=x weak=-1 weak=99999999999 weak=1x; do
	run 2 run lost.tx --policy $policy
	says '--policy weak=K takes a number'
done
run 2 run lost.tx --policy unifrom
says "did you mean 'uniform'"
says 'uniform, session-first, latest, oldest or weak='
run 2 run lost.tx --policy ''
run 2 run lost.tx --timeout never
run 2 run lost.tx --memory 0
run 2 run lost.tx --histories no/such/folder/h.jsonl
says 'no/such/folder/h.jsonl'
run 2 run lost.tx --histories ./lost.tx
says 'would overwrite the program'
run 2 run lost.tx --histories - --json
says 'cannot both be written'
run 2 run lost.tx --dot no/such/folder/g.dot
run 2 run lost.tx --levels
says "'run' has no option '--levels'"
mkdir -p "it's a folder"
cp lost.tx "it's a folder/lost.tx"
run 1 run "it's a folder/lost.tx" --runs 50
repeat=$(sed -n 's/^  To repeat this run: isoscope //p' out)
eval "run 1 $repeat"
cp lost.tx ./-lost.tx
run 1 run --runs 50 -- -lost.tx
repeat=$(sed -n 's/^  To repeat this run: isoscope //p' out)
run 1 $repeat
if [ -e /dev/full ]; then
	"$ISOSCOPE" run lost.tx >/dev/full 2>err
	equal 'a full standard output is an error' $? 70
	"$ISOSCOPE" run lost.tx --histories /dev/full >out 2>err
	equal 'a full file of histories is an error' $? 70
fi

# --- record ---
run 0 record lost.tx
says_nothing
equal 'one trace is written' "$(wc -l <out)" 1
prints '{"history":1,"program":"lost.tx","level":"ser","init":{"x":0},'
cp out one
run 0 record lost.tx --seed 1 -o two
prints_nothing
same 'seed 1 is the usual one' one two
for seed in 0 2 3 4 5 6 7 8; do
	run 0 record three.tx --seed $seed
	cat out >>traces.jsonl
done
run 0 check traces.jsonl -q
prints 'holds: all 8 histories satisfy Serializability (ser)'
[ "$(sort -u traces.jsonl | wc -l)" -gt 1 ] && pass ||
	fail 'other seeds give other traces'
for format in isoscope plume awdit dbcop-bincode dbcop-json dbcop-text cobra \
	rw-edn rw-json list-edn list-json isopredict; do
	rm -rf recorded
	run 0 record three.tx --format $format -o recorded
	run 0 check --strongest recorded
	prints ser
done
run 2 record three.tx --format cobra
says 'name it with --output'
run 2 record three.tx --format plum
says "did you mean 'plume'"
for seed in 1 2 3 4; do
	run 0 record error.tx --seed $seed
	cat err >>warned
done
mv warned err
says 'error.tx:3:48: warning: in this serial run division by zero'
cat >errors.tx <<'END'
global x = 0;
session a { txn { let v = x / 0; } txn { let w = x % 0; } }
session b { for i in 0..3 { txn { if (x) { skip; } } } }
END
run 0 record errors.tx
[ "$(grep -c 'warning: in this serial run' err)" -eq 2 ] ||
	fail 'each error is told once'
says 'errors.tx:2:'
says 'errors.tx:3:39: warning: in this serial run a condition must be'
run 2 record
says 'record needs a program'
run 2 record lost.tx fine.tx
run 3 record no-such-file.tx
run 3 record wrong.tx
run 2 record lost.tx -o lost.tx
says 'would overwrite the program'
run 2 record lost.tx -o no/such/folder/t
run 2 record lost.tx -i cc
says "'record' has no option '-i'"

# --- what the manual quotes is what is printed ---
# quoted LINE: the part of the manual in ``` behind this line.
quoted() {
	awk -v line="$1" '$0 == line { on = 1; next }
	on && /^```$/ { if (inside) exit; inside = 1; next }
	inside' "$top/docs/manual.md" | sed 's/^time .*//; s/took .*;/took;/'
}
if [ -f "$top/docs/manual.md" ]; then
	ln -s "$top/programs" programs
	options='programs/examples/last-seat.tx --runs 100 --coverage'
	run 1 run $options
	sed 's/^time .*//; s/took .*;/took;/' out >found
	quoted "This is \`isoscope run $options\`:" >expected
	same 'the manual quotes another report of run' found expected
	run 0 record programs/litmus/lost-update.tx --seed 2 --format plume
	sed 's/^/    /' out >found
	grep -A 4 'lost-update.tx --seed 2 --format plume' \
		"$top/docs/manual.md" | sed 1d >expected
	same 'the manual quotes another trace' found expected
fi

# --- all of it, of one small program ---
run 1 run lost.tx --runs 50 --seed 7 --coverage
sed 's/^time .*/time/; s/took .*;/took;/' out |
	awk '{ sub(/ The weakest|, before |; the first is/, "\n&") } 1' >found
cat >expected <<'END'
violated: the assertion fails in 21 of 50 runs under Causal Consistency (cc)

assert !(a.r == 0 && b.r == 0)
  at lost.tx:5:1: only one can be first
  fails in 21 of 50 runs (42.0 %), after 2.3 runs on average
; the first is run 1:

    a                       │ b
    ────────────────────────┼────────────────────────
                            │ b.1 add
                            │   read x = 0  from init
                            │   write x = 1
    a.1 add                 │
      read x = 0  from init │
      write x = 1           │

    fails with a.r = 0, b.r = 0

  This is a lost update.
 The weakest level that forbids it is Parallel Snapshot Isolation (psi).
  It is not serializable: a serial order would need
    b.1 before a.1: b.1 add reads x as it was initially
, before a.1 add writes it
    a.1 before b.1: a.1 add reads x as it was initially
, before b.1 add writes it

  To repeat this run: isoscope run lost.tx -i cc --runs 1 --seed 7

runs                     50  under cc, policy uniform, seeds 7 to 56
violating                21  42.0 % of the runs
unserializable           21  42.0 % of the runs
reads                   100  0 choices of writers taken back
time

  after runs   histories    outcomes
           1           1           1
           2           2           2
           5           3           3
          10           3           3
          20           3           3
          50           3           3

The runs have seen 3 of 3 histories (100 %) and 3 of 3 outcomes (100 %).
Exploring them took; 1 of them is not serializable.
END
same 'the report has changed' found expected

finish
