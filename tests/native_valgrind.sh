#!/bin/sh
# Code in C, run under valgrind: the suites of what runs it, and explorations of
# healthy clients. No wrong access, no use of what was never set, no leak, in
# isoscope and in its worker processes. Needs a build without jemalloc; takes
# about a minute, and is no part of `make check`.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
. "$top/tests/native/shell.sh"

ISOSCOPE_SOURCE=$top
export ISOSCOPE_SOURCE

# watched CODE PROGRAM ARGUMENT...: under valgrind; the exit code is CODE, and
# no process that it starts has an error.
watched() {
	code=$1
	shift
	what="valgrind $*"
	rm -f log.*
	CK_FORK=no ISOSCOPE_QUICK=1 valgrind -q --error-exitcode=99 \
		--leak-check=full --show-leak-kinds=definite,possible \
		--errors-for-leak-kinds=definite,possible --num-callers=20 \
		--log-file=log.%p "$@" >out 2>err </dev/null
	found=$?
	equal "$what: exit code" $found "$code"
	cat log.* >logs
	if [ -s logs ]; then
		cat logs >>err
		fail "$what: valgrind has something to say"
	else
		pass
	fi
}

for suite in fibre process native; do
	watched 0 "$(dirname "$real")/isoscope-tests" $suite
done
for each in misuse:correct:0 misuse:get_outside:1 misuse:no_commit:1 \
	checks:loses_an_update:1 checks:aborts:0 checks:assumes:0 \
	checks:final_session:1 heavy:many_transactions:0 values:bytes:0 \
	unsteady:counts_runs:3; do
	file=${each%%:*} rest=${each#*:}
	name=${rest%:*}
	compile "$file" "$name"
	watched "${rest#*:}" "$real" explore "$name.so"
done
run 0 record aborts.so -o aborts.jsonl
watched 0 "$real" explore aborts.so --from aborts.jsonl
watched 1 "$real" run loses_an_update.so --runs 20
watched 1 "$real" compare loses_an_update.so
finish
