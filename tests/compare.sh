#!/bin/sh
# isoscope compare from outside: verdicts, the table and the JSON, that its
# numbers are those of isoscope explore, limits, wrong usage.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
programs=$top/programs

# line N TEXT: the Nth line of what is printed, blanks squeezed.
line() {
	found=$(sed -n "$1p" out | tr -s ' ' | sed 's/^ //')
	if [ "$found" = "$2" ]; then
		pass
	else
		fail "$what: line $1 is '$found', not '$2'"
	fi
}
# member FILE WAY NAME: a number in the JSON, behind the first `WAY`.
member() {
	sed "s/^.*\"$2\":{//; s/^.*\"$3\":\([0-9]*\).*/\1/" "$1"
}

is_one='violated: there is'
are_many='violated: there are'
cc='under Causal Consistency (cc)'
si='under Snapshot Isolation (si)'
one='unserializable history'
several='unserializable histories'
fail='violated assertion'
nothing="no $one and no $fail"

cat >counter.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let v = add(); }
session b { let v = add(); }
assert "none is lost" : !(a.v == 0 && b.v == 0);
END

# --- what is printed ---
run 1 compare counter.tx
line 1 "$is_one 1 $one and 1 $fail $cc"
prints 'boundary     both, exact'
run 1 compare counter.tx --boundary strict
line 1 "$is_one 1 $one and 1 $fail $cc"
line 3 'executions unserializable assertions CPU time'
prints 'assert !(a.v == 0 && b.v == 0)  counter.tx:5'
prints '    by random runs, exploration'
prints 'are all serial ones that there are'
prints 'have none, which is proved'
prints 'boundary     strict, exact'
run 1 compare counter.tx -i cc --boundary relaxed --encoding approx
line 1 "$is_one 1 $one and 1 $fail $cc"
prints 'by prediction, random runs, exploration'
prints 'led to an unserializable execution'
prints 'boundary     relaxed, approx'
run 0 compare counter.tx -i si
line 1 "holds: there is $nothing $si"
run 1 compare counter.tx -q
equal 'lines of --quiet' "$(wc -l <out)" 1
run 1 compare counter.tx --traces 1 --runs 50 --seed 7
prints 'distinct serial ones, in 1 recorded run'
line 5 "random runs 50 1 (100 %) 1 (100 %) $(sed -n 5p out | tr -s ' ' | cut -d' ' -f11-)"
# Together as many runs with one seed; each as that seed alone.
row() { sed -n "$1p" out | tr -s ' ' | cut -d' ' -f"$2"; }
payments=$programs/oltp/checked/smallbank-payments.tx
run 1 compare "$payments" -i cc --runs 4 --seed 7 --seeds 3
together=$(row 5 4-9)
line 6 "seed 7 4 $(row 6 5-)"
line 8 "seed 15 4 $(row 8 5-)"
second=$(row 7 5-9)
run 1 compare "$payments" -i cc --runs 12 --seed 7
equal 'three seeds' "$together" "$(row 5 4-9)"
run 1 compare "$payments" -i cc --runs 4 --seed 11
equal 'the second seed' "$second" "$(row 5 5-9)"
run 1 compare counter.tx --runs 50 --seeds 2 --json
prints '"seeds":[{"seed":1,"executions":50,"unserializable":1,"share":1'
prints '{"seed":51,'
run 2 compare counter.tx --seeds 0
run 1 compare counter.tx --color always
prints '[1;31mviolated'

# --- JSON ---
run 1 compare counter.tx --boundary relaxed --json
equal 'lines of --json' "$(wc -l <out)" 1
prints '"level":"cc","boundary":"relaxed","encoding":"exact","seed":1'
prints '"verdict":"violated"'
prints '"complete":true,"unserializable":1,"violated":1'
prints '"prediction":{"executions":4,"unserializable":1,"confirmed":1'
prints '"traces":{"distinct":2,"all":true,"recorded":0,"predicted":2'
prints '"predictions":{"replayed":2,"validated":2,"diverged":0'
prints '"kind":"final","message":"none is lost","file":"counter.tx"'
prints '"by_prediction":true,"by_random":true,"by_exploration":true'
sed 's/_seconds":[0-9.]*//g' out >first
run 1 compare counter.tx --boundary relaxed --json
sed 's/_seconds":[0-9.]*//g' out >second
equal 'the same again' "$(cat first)" "$(cat second)"

# --- the numbers are those of explore ---
for name in litmus/write-skew litmus/long-fork courseware/client-1 \
	courseware/client-4 tpcc/client-1 twitter/client-1; do
	program=$programs/$name.tx
	"$ISOSCOPE" explore -i ser --json "$program" >serial 2>err
	for level in rc cc pc psi; do
		"$ISOSCOPE" explore -i $level --robust --json "$program" \
			>explored 2>err
		"$ISOSCOPE" compare -i $level --json "$program" --all 3 \
			--boundary relaxed >out 2>err
		for number in histories unserializable; do
			equal "$number of $name under $level" \
				"$(member out exploration $number)" \
				"$(member explored stats $number)"
		done
		equal "traces of $name" "$(member out traces distinct)" \
			"$(member serial stats histories)"
		for way in prediction random; do
			equal "confirmed by $way of $name under $level" \
				"$(member out $way confirmed)" \
				"$(member out $way unserializable)"
		done
	done
done

# The example of the manual.
run 1 compare "$programs"/oltp/checked/smallbank-payments.tx -i cc \
	--boundary relaxed \
	--all 50
line 1 "$are_many 7 $several and 1 $fail $cc"
line 4 "prediction 9 5 (71.4 %) 1 (100 %) $(sed -n 4p out | tr -s ' ' | cut -d' ' -f10-)"
prints 'predictions         5  were run along the program'

# --- limits ---
run 4 compare counter.tx -i si --max-histories 1
early='prediction and exploration ended early'
limit='the limit of histories was reached'
line 1 "inconclusive: $nothing was found $si; $early: $limit"
run 4 compare counter.tx --timeout 0.000000001
prints 'prediction, random runs and exploration ended early: the time limit'
run 4 compare counter.tx --timeout 0.000000001 --json
prints '"complete":false'
prints '"stop":"time"'
"$ISOSCOPE" compare counter.tx >&- 2>err
equal 'exit code with a closed standard output' $? 70

# --- wrong usage ---
run 2 compare
says 'compare needs a program: isoscope compare PROGRAM'
prints_nothing
run 2 compare counter.tx counter.tx
says 'compare takes one program, not 2'
run 2 compare counter.tx -i ser
says "ser"
run 2 compare counter.tx --boundary loose
run 2 compare counter.tx --traces 0
says '--traces takes a positive number'
run 2 compare counter.tx --runs many
run 2 compare counter.tx --seed -1
run 2 compare counter.tx --stop-on-violation
says "'compare' has no option"
(echo 'isolation ser;' && cat counter.tx) >stated.tx
run 2 compare stated.tx
says 'stated.tx states ser, under which every history is serializable'
run 1 compare stated.tx -i pc --boundary relaxed
run 3 compare missing.tx
prints_nothing
echo 'session a {' >broken.tx
run 3 compare broken.tx
says 'broken.tx:2'

finish
