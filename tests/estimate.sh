#!/bin/sh
# explore --estimate and --random from outside: what they print, what their exit
# codes are, and that what they say is true; and the progress line with its bar.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
seat=$top/programs/examples/last-seat.tx
skew=$top/programs/litmus/write-skew.tx
large=$top/programs/wikipedia/client-5.tx  # cc: 334,399 histories
huge=$top/programs/scale/wikipedia/sessions-5.tx
truth=8526389                              # of it, under ra

# number NAME: of the JSON that was printed, the member's first occurrence
# behind "estimate".
number() {
	sed 's/.*"estimate"//' out | tr ',{}' '\n\n\n' |
		sed -n "s/^\"$1\"://p" | head -n 1
}

# holds TRUTH: it is in the interval that was printed, or not far from it: one
# interval in some twenty is allowed to be wrong (the suite `estimate` counts),
# and a slow machine makes few descents in the time.
holds() {
	if awk -v low="$(number low)" -v high="$(number high)" -v n="$1" '
		BEGIN { exit !(low != "" && low / 20 <= n && n <= high * 20) }'
	then
		pass
	else
		fail "$what: $1 is far from the interval"
	fi
}

# --- all of a small program is seen: the result is that of an exploration ---
run 0 explore "$skew" -i ser --estimate
prints 'holds: '
prints 'histories under Serializability (ser)'
lacks 'about'
run 1 explore "$skew" -i si --estimate
prints 'violated: '
prints 'fails in'
run 1 explore "$skew" -i si --estimate -q
equal "$what: lines" "$(wc -l <out | tr -d ' ')" 2
run 1 explore "$skew" -i si --estimate --json
json '.[0].estimate.exact' true
json '.[0].complete' true
json '.[0].outlook.seconds' 0
run 0 explore "$seat" -i ser --estimate --symmetry --json
json '.[0].estimate.exact' true

# --- a large one ---
run 4 explore "$huge" -i ra --estimate=0.5
prints 'inconclusive: about '
prints 'histories under Read Atomic (ra) (95 %: '
prints 'of them seen'
says_nothing
run 4 explore "$huge" -i ra --estimate=0.5 -q -j 2
equal "$what: lines" "$(wc -l <out | tr -d ' ')" 1
prints ' with 2 threads'
for way in '' '--base none' '--algorithm orderly' --symmetry '--seed 7' \
	'--sessions-order s5,s4,s3,s2,s1'; do
	case ${ISOSCOPE_QUICK:+$way} in --base* | --se*) continue ;; esac
	# A slow or busy machine may find nothing in that time.
	for seconds in 1 4 16 64; do
		# shellcheck disable=SC2086
		run 4 explore "$huge" -i ra --estimate=$seconds --json $way
		grep -qF '"seconds_low":null' out || break
	done
	json '.[0].verdict' inconclusive
	json '.[0].estimate.exact' false
	json '.[0].outlook.seconds > 0' true
	json '.[0].outlook | .seconds_low < .seconds' true
	json '.[0].outlook | .seconds < .seconds_high' true
	holds $truth
done
run 4 explore "$huge" -i ra --estimate --json
json '.[0].stats.seconds < .[0].outlook.seconds' true

# --- what is wrong ---
run 2 explore "$large" --estimate=0
run 2 explore "$large" --estimate=soon
says 'estimate'
run 2 explore "$large" --random 0
run 2 explore "$large" --random few
run 2 explore "$large" --estimate --random 5
run 2 explore "$large" --estimate --from "$large"
run 2 explore "$large" --seed 3

# --- the rest of an exploration that was begun ---
run 4 explore "$huge" -i ra --timeout 0.3 --checkpoint begun -q
cp begun copy
run 4 explore --resume begun --estimate --json "$huge"
holds $truth
json '.[0].stats.histories > 0' true
same "$what: the checkpoint" begun copy

# --- random descents ---
run 4 explore "$large" -i cc --random 300 --histories drawn --json
count=$(wc -l <drawn | tr -d ' ')
json '.[0].sample.descents' 300
json '.[0].sample.distinct' "$count"
json '.[0].stats.histories' "$count"
json '.[0].stop' descents
json '.[0].estimate.share > 0' true
holds 334399
equal "$what: each once" "$(sort -u drawn | wc -l | tr -d ' ')" "$count"
run 4 explore "$large" -i cc --random 300 --histories again -q -j 2
same "$what: the same seed" again drawn
prints "$count distinct histories of about "
prints ' in 300 random descents: about 0'
run 4 explore "$large" -i cc --random 300 --histories other -q --seed 2
if cmp -s drawn other; then fail "$what: the same histories"; else pass; fi

# They are histories of the program.
medium=$top/programs/tpcc/client-2.tx      # cc: 747 histories
run 0 explore "$medium" -i cc --histories all -q
run 4 explore "$medium" -i cc --random 400 --histories some -q
sort all >all.sorted
sort some >some.sorted
equal "$what: all known" "$(comm -13 all.sorted some.sorted | wc -l |
	tr -d ' ')" 0
run 4 explore "$medium" -i cc --random 1 --histories one -q
equal "$what" "$(wc -l <one | tr -d ' ')" 1
prints '1 distinct history of '
prints ' in 1 random descent'

# What is open in groups of descents is cubic in the length: that is given up.
cat >long.tx <<'END'
global x = 0;
global f[*] = 0;
txn step(i, j) {
	let a = f[(i, j)];
	f[(i, j)] = a + 1;
	let b = x;
	if (b == i) x = b + 1;
}
session a { for i in 0..300 { step(i, 0); } }
session b { for i in 0..300 { step(i, 1); } }
session c { for i in 0..300 { step(i, 2); } }
END
run 4 explore long.tx --random 3 -q
prints 'inconclusive: 3 distinct histories in 3 random descents'

# Violations are found and drawn; when nothing fails, nobody knows.
run 1 explore "$skew" -i si --random 100 --dot picture
prints 'violated: '
prints ' in 100 random descents: 100 %'
prints 'fails in'
grep -q digraph picture && pass || fail "$what: no picture"
run 1 explore "$skew" -i si --random 100000000 --stop-on-violation -q
run 4 explore "$skew" -i ser --random 100 -q
prints 'inconclusive: '

# Limits and signals end them early.
run 4 explore "$large" -i cc --random 1000000000 --timeout 0.3 --json
json '.[0].stop' time
json '.[0].sample.descents > 0' true
"$ISOSCOPE" explore "$large" -i cc --random 1000000000 --json >out 2>err &
pid=$!
begins $pid
sleep 1
kill -INT $pid
wait $pid
equal 'an interrupt: exit code' $? 4
what='an interrupt'
json '.[0].stop' interrupted

# --- the progress line ---
# A terminal: script(1) is one, where there are any.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	# A busy machine takes longer until there is enough to tell of.
	for seconds in ${ISOSCOPE_QUICK:+8} 12 60; do
		script -qec "'$ISOSCOPE' explore '$huge' -i ra \
			--timeout $seconds" terminal >/dev/null </dev/null
		tr '\r' '\n' <terminal |
			sed -n 's/.*\] \([0-9.]*\) %.*/\1/p' >shown
		[ "$(wc -l <shown)" -lt 5 ] || break
	done
	what='the bar'
	cp shown out
	if [ "$(wc -l <shown)" -ge 5 ]; then pass; else fail 'no bar'; fi
	awk '$1 < last || $1 >= 100 { exit 1 } { last = $1 }' shown &&
		pass || fail 'the bar goes back, or to 100 %'
	awk '{ last = $1 } END { exit last <= 0 }' shown && pass ||
		fail 'the bar does not move'
	tr '\r' '\n' <terminal | grep -q ' histories, .* left' && pass ||
		fail 'nothing is said about the time left'
fi
run 4 explore "$huge" -i ra --timeout 2 -q
says_nothing
finish
