#!/bin/sh
# Code in C, run under valgrind: the suites of what runs it, and explorations of
# healthy clients. No wrong access, no use of what was never set, no leak, in
# isoscope and in its worker processes. Needs a build without jemalloc; takes
# about a minute, and is no part of `make check`.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
. "$top/tests/native/shell.sh"

ISOSCOPE_SOURCE=$top
export ISOSCOPE_SOURCE

# watched CODE NAME PROGRAM ARGUMENT...: under valgrind; the exit code is CODE.
# The process itself has no error and no leak. The workers of explorations have
# no error (those of suites crash on purpose); their memory is not looked at,
# since they end with what they inherited, and with coroutines in the middle.
watched() {
	code=$1
	lane=$2
	shift 2
	what="valgrind $*"
	rm -f "$lane".log.*
	CK_FORK=no ISOSCOPE_QUICK=1 valgrind -q --error-exitcode=99 \
		--leak-check=full --show-leak-kinds=definite \
		--errors-for-leak-kinds=definite --num-callers=20 \
		--log-file="$lane".log.%p "$@" >out 2>err </dev/null &
	main=$!
	wait $main
	equal "$what: exit code" $? "$code"
	touch "$lane.log.$main"
	mv "$lane.log.$main" "$lane.main"
	[ "$2" = explore ] && cat "$lane".log.* 2>/dev/null |
		grep -A 12 'Invalid\|uninitialised\|Mismatched\|overlap' \
			>>"$lane.main"
	if [ -s "$lane.main" ]; then
		cat "$lane.main" >>err
		fail "$what: valgrind has something to say"
	else
		pass
	fi
}

# suites SUITE...: in a lane of their own, a folder; the last line is counted.
tests=$(dirname "$real")/isoscope-tests
suites() {
	mkdir "$1" && cd "$1" || exit 99
	for suite; do watched 0 "$suite" "$tests" "$suite"; done
	finish
}
(suites process) >process.said &
side=$!
(suites fibre native) >native.said
for each in misuse:correct:0 misuse:get_outside:1 misuse:no_commit:1 \
	checks:loses_an_update:1 checks:aborts:0 checks:assumes:0 \
	checks:final_session:1 heavy:many_transactions:0 values:bytes:0 \
	unsteady:counts_runs:3; do
	file=${each%%:*} rest=${each#*:}
	name=${rest%:*}
	compile "$file" "$name"
	watched "${rest#*:}" "$name" "$real" explore "$name.so"
done
run 0 record aborts.so -o aborts.jsonl
watched 0 from "$real" explore aborts.so --from aborts.jsonl
watched 1 run "$real" run loses_an_update.so --runs 20
watched 1 compare "$real" compare loses_an_update.so
wait $side
cat process.said native.said
for said in process.said native.said; do
	set -- $(tail -n 1 $said)
	passed=$((passed + $1)) failed=$((failed + $3))
done
finish
