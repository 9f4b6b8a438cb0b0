#!/bin/sh
# isoscope explore --max-changes K: of the histories that the exploration
# without a bound outputs exactly those that need at most K stale reads, as
# tests/stale_reads counts them by trying all orders; and what is said of the
# others. With ISOSCOPE_QUICK programs of many histories are left out.
# Arguments: programs, else a choice.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
stale_reads=$(dirname "$ISOSCOPE")/tests/stale_reads
if [ -n "${ISOSCOPE_QUICK:-}" ]; then most=50; else most=400; fi

# judge LEVEL: writes the program's histories to the file all, and how many
# stale reads each needs to needed. False: there are too many.
judge() {
	level=$1
	run_any explore "$program" -i "$level" -q --histories any \
		--max-histories $((most + 1))
	sort any >all
	[ "$(wc -l <all)" -le $most ] || return 1
	if "$stale_reads" all >needed 2>err; then pass; else
		fail "$program -i $level: no judgement"
	fi
}

# run_any ARGUMENT...: whatever the verdict is.
run_any() {
	what="isoscope $*"
	"$ISOSCOPE" "$@" >out 2>err </dev/null
	code=$?
	case $code in
	0 | 1 | 4) ;;
	*) fail "$what: exit code $code" ;;
	esac
}

# stopped_by MEMBER: in the JSON that was printed.
stopped_by() {
	if grep -q "\"stop\":$1" out; then pass; else
		fail "$what: does not stop by $1"
	fi
}

# bound K: the exploration with this bound.
bound() {
	paste needed all | awk -F '\t' -v k="$1" '$1 + 0 <= k + 0' |
		cut -f 2- >expected
	run_any explore "$program" -i "$level" --json -q --histories any \
		--max-changes "$1"
	sort any >found
	same "$what" found expected
	if [ "$(wc -l <expected)" -lt "$(wc -l <all)" ]; then
		stopped_by '"stale-reads"'
		[ $code -eq 1 ] || equal "$what: exit code" $code 4
		if grep -q '"violated":\["' expected; then
			equal "$what: exit code" $code 1
		fi
	fi
}

try_level() {
	judge "$1" || return
	kinds=$(sort -nu needed | tr '\n' ' ')
	[ "$kinds" = '0 ' ] || varied=$((varied + 1))
	for k in 0 $kinds; do bound "$k"; done
	bound 1000
	stopped_by null
	if grep -q '"ser":' all; then
		run_any explore "$program" -i "$level" -q --histories any \
			--max-changes 0
		sort any >found
		grep '"ser":true' all >expected
		same "$what: the serializable ones" found expected
	fi
}

if [ $# -eq 0 ]; then
	cd "$top" || exit 99
	set -- programs/examples/*.tx programs/litmus/*.tx \
		programs/oltp/checked/*.tx programs/courseware/client-1.tx \
		programs/shopping_cart/client-1.tx
	cd "$work" || exit 99
fi
varied=0
for program in "$@"; do
	program=$top/$program
	for level in rc cc si; do try_level $level; done
done
[ $varied -ge 20 ] && pass || fail "only $varied explorations need stale reads"
finish
