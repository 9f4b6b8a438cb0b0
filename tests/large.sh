#!/bin/sh
# The options of explore for large programs: which go together, and what a
# partial result says of itself. What they find is tested elsewhere: threads in
# jobs.sh, bounds in bounded.sh, symmetry in symmetry.sh, checkpoints in
# checkpoint.sh, estimates in estimate.sh.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
seat=$top/programs/examples/last-seat.tx
client=$top/programs/tpcc/client-2.tx
same=$top/programs/scale/symmetric/tpcc-orders-3.tx
large=$top/programs/tpcc/client-5.tx
six=$top/programs/scale/six/tpcc/sessions-4.tx
"$ISOSCOPE" explore -i ser --max-histories 1 -q --histories seen "$seat" \
	>out 2>err

# --- what does not go together: the message names both, and a way out ---
# refused OPTION OTHER...: each beside the first; arguments are made up.
refused() {
	option=$1
	shift
	for other; do
		run 2 explore "$seat" $option $other
		says "--$(bare "$option") cannot be used with --$(bare "$other")"
		grep -q ' cannot be used with --[a-z-]*.*: [a-z]' err && pass ||
			fail "$what: no way out"
		prints_nothing
	done
}
bare() {
	option_word=${1#--}
	option_word=${option_word%%=*}
	echo "${option_word%% *}"
}
refused --levels --histories=f --dot=f --svg=f --estimate --random=9 \
	--checkpoint=f --resume=f
refused --from=seen --base=cc --algorithm=dfs --levels --sessions-order=b,a \
	--symmetry --estimate --random=9 --checkpoint=f
refused --estimate --random=9 --histories=f --dot=f --svg=f \
	--max-histories=9 --stop-on-violation --check-duplicates \
	--checkpoint=f
refused --random=9 --max-histories=9 --check-duplicates --checkpoint=f \
	--resume=f --symmetry --max-changes=1 '--algorithm orderly' \
	'--algorithm dfs'
refused --symmetry --base=cc '--algorithm ce' '--algorithm dfs'
refused --max-changes=1 --base=cc '--algorithm ce' '--algorithm dfs'
refused --check-duplicates --checkpoint=f --resume=f
refused '--sorted --histories h' --checkpoint=f --resume=f
refused --unit=f --isolation=cc --base=cc --algorithm=ce --robust --symmetry \
	--max-changes=1 --sessions-order=b,a --levels --estimate --random=9 \
	--check-duplicates --checkpoint=f --resume=f --from=seen
refused --resume=f --isolation=cc --base=cc --algorithm=ce --robust \
	--symmetry --max-changes=1 --sessions-order=b,a
[ ! -e f ] && [ ! -e h ] && pass || fail 'a file of a refused run'

# --- what needs another option ---
run 2 explore "$seat" --sorted
says '--sorted needs --histories'
run 2 explore "$seat" --checkpoint-every 9
says '--checkpoint-every needs --checkpoint or --resume or --unit'
run 2 explore "$seat" --seed 9
says '--seed needs --random or --estimate'
run 2 explore "$seat" --output f
says '--output needs --unit'

# --- bad values ---
for option in --estimate=soon --estimate=0 --estimate=-1 --random=0 \
	--random=few --max-changes=-1 --max-changes=few '--random=9 --seed=-1' \
	'--estimate --seed=x' '--checkpoint=f --checkpoint-every=0' \
	'--checkpoint=f --checkpoint-every=x' --checkpoint=-; do
	# shellcheck disable=SC2086
	run 2 explore "$seat" $option
	prints_nothing
done
run 2 explore --estimate
says 'explore needs a program'
run 2 explore "$seat" --symmetry=yes
says '--symmetry takes no argument'

# --- what goes together ---
for level in rc si; do
	for way in '--algorithm orderly' --symmetry '--max-changes 99' \
		'--symmetry --max-changes 99' '--checkpoint f' \
		'-j 2 --robust'; do
		rm -f f
		# shellcheck disable=SC2086
		"$ISOSCOPE" explore "$seat" -i $level $way --json >out 2>err
		what="$way under $level"
		equal "$what: the count" \
			"$(grep -o '"histories":[0-9]*' out | head -n 1)" \
			"$("$ISOSCOPE" explore "$seat" -i $level --json |
				grep -o '"histories":[0-9]*' | head -n 1)"
		prints '"complete":true,"stop":null'
	done
done
"$ISOSCOPE" explore "$seat" --levels >expected 2>err
for way in '-j 3' '--algorithm orderly' --symmetry '--max-changes 99'; do
	# shellcheck disable=SC2086
	"$ISOSCOPE" explore "$seat" --levels $way >out 2>err
	same "--levels $way" out expected
done
run 4 explore "$seat" --levels --max-changes 0
prints ' ≥2 '
run 1 explore "$seat" --symmetry -i cc
says 'no two sessions are interchangeable, so --symmetry changes nothing'
prints 'explore calls            18  '
run 0 explore "$same" --symmetry --json
prints '"algorithm":"orderly"'

# --- the algorithm: by the level, unless an option needs another one ---
for way in '-i ser' '-i si' '-i pc -j 2' '-i cc --algorithm orderly'; do
	# shellcheck disable=SC2086
	"$ISOSCOPE" explore "$seat" --json $way >out 2>err
	prints '"algorithm":"orderly"'
done
for way in '-i cc' '-i ra' '-i ser --base cc' '-i ser --algorithm ce' \
	'-i si --random 9'; do
	# shellcheck disable=SC2086
	"$ISOSCOPE" explore "$seat" --json $way >out 2>err
	prints '"algorithm":"ce"'
done
# Under pc they race: what is chosen is the same each time, and so are counts.
raced=$top/programs/twitter/client-3.tx
for way in '' '-j 2' '--timeout 99 --stop-on-violation'; do
	# shellcheck disable=SC2086
	run 0 explore "$raced" -i pc --json $way
	prints '"algorithm":"ce"'
	prints '"histories":1072,'
done
run 4 explore "$raced" -i pc --json --max-histories 2
prints '"algorithm":"ce"'
for way in '-i pc --algorithm orderly' '-i si' '-i pc --max-changes 99'; do
	# shellcheck disable=SC2086
	run 0 explore "$raced" --json $way
	prints '"algorithm":"orderly"'
done
run 0 explore "$top/programs/twitter/client-2.tx" -i pc --json
prints '"algorithm":"orderly"'
rm -rf halves
run 0 split "$raced" -q -i pc -n 2 -o halves
grep -q '"algorithm": *"ce"' halves/*.json && pass ||
	fail "a unit that is not explored as the race said"
for unit in halves/unit*.json; do
	run 0 explore --unit "$unit" -q
done
run 0 merge halves
prints 'histories             1,072  under pc'
rm -rf halves
run 0 split "$seat" -q -i ser -n 2 -o halves
grep -q '"algorithm": *"orderly"' halves/*.json && pass ||
	fail "a unit that does not tell how it is explored"
says_nothing

# --- a part: what it is, and of how much ---
run 4 explore "$client" --max-changes 1
prints 'inconclusive: no violation in the 196 histories with at most 1 stale'
prints 'histories               196  under cc; any histories with more stale'
prints 'in all '
prints ' % of them seen'
prints 'stale reads               1  at most, in some serial order; '
run 4 explore "$client" --max-changes 1 --estimate
prints 'inconclusive: 196 histories with at most 1 stale read under Causal'
prints '196  with at most 1 stale read; 100 % of them seen'
run 4 explore "$client" --max-changes 0
prints 'no violation in the 99 histories without stale reads, and others were'
run 4 explore "$client" --max-changes 1 -q
lacks 'in all'
run 4 explore "$client" --max-changes 1 --json
json '.[0] | [.max_changes, .complete, .stop, .stats.cut > 0]' \
	'[
  1,
  false,
  "stale-reads",
  true
]'
json '.[0].estimate | .low <= .histories and .histories <= .high and
	.share > 0.1 and .share < 0.5' true
run 0 explore "$client" --max-changes 99
prints 'holds: '
lacks 'in all'
run 4 explore "$client" --max-histories 100
prints 'histories               100  under cc; the limit of histories was'
prints 'in all '
run 0 explore "$client" --max-histories 1000
lacks 'in all'
run 4 explore "$large" -i none --timeout 0.2 --json
json '.[0].estimate | .histories > 1e9 and .share < 0.001' true
run 1 explore "$seat" --stop-on-violation
lacks 'in all'

# --- how it looks on a terminal ---
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1
then
	script -qec "'$ISOSCOPE' explore '$large' -i none --timeout 3 -q \
		--color never" /dev/null </dev/null >out 2>&1
	lacks ' of about '
	# A slow machine takes longer for the first estimate.
	for seconds in 3 8 20; do
		rm -f f
		script -qec "'$ISOSCOPE' explore '$six' -i ra \
			--timeout $seconds --checkpoint f \
			--checkpoint-every 0.2" /dev/null </dev/null \
			>out 2>&1
		if grep -qF ' of about ' out; then break; fi
	done
	what='a terminal'
	prints ' of about '
	prints ' left'
	[ -s f ] && pass || fail 'no checkpoint beside the progress line'
	script -qec "'$ISOSCOPE' split '$six' -i ra -n 8 -o parts" /dev/null \
		</dev/null >out 2>&1
	prints ' are enough), '
	prints 'parts: 8 units with '
fi

# --- help, manual page, completions ---
run 0 help explore
for option in '-j, --jobs N' '--estimate[=SECONDS]' '--random N' '--sorted' \
	'--checkpoint FILE' '--checkpoint-every SECONDS' '--resume FILE' \
	'--unit FILE' '--symmetry' '--max-changes K'; do
	prints "$option"
	grep -qF -e "${option#-j, }" "$top/docs/manual.md" && pass ||
		fail "docs/manual.md does not tell $option"
done
run 0 help --man
prints '\fB\-\-estimate\fR\fI[=SECONDS]\fR'
run 0 help --completion bash
prints '--estimate'
lacks '--estimate)'
prints '|--jobs) '
if command -v bash >/dev/null; then
	cp out completion
	mkdir completed
	: >completed/a.spec >completed/a.sql >completed/a.tx >completed/a.txt
	for line in 'explore:a.spec a.sql a.tx' \
		'predict:a.spec a.sql a.tx a.txt'; do
		found=$(cd completed && bash -c '. ../completion
			COMP_WORDS=(isoscope "$1" a) COMP_CWORD=2
			_isoscope
			printf "%s\n" "${COMPREPLY[@]}"' - "${line%%:*}" |
			sort | paste -sd ' ' -)
		[ "$found" = "${line#*:}" ] && pass ||
			fail "bash completes ${line%%:*} a to: $found"
	done
fi
run 0 help --completion zsh
prints "'--estimate=-["
prints '::\[=SECONDS\]:'
finish
