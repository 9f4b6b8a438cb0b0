#!/bin/sh
# Code in C, run under valgrind: the suite of what changes stacks, and
# explorations. No wrong access, no use of what was never set, no leak, in
# isoscope and in its worker processes. That it would be seen is tried with
# clients that do such things. Needs a build without jemalloc; takes about a
# minute, and is no part of `make check`.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
. "$top/tests/native/shell.sh"

ISOSCOPE_SOURCE=$top
export ISOSCOPE_SOURCE

# watched CODE NAME PROGRAM ARGUMENT...: under valgrind; the exit code is CODE.
# What valgrind has to say of the process itself is in NAME.own, and of all its
# children in NAME.workers.
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
	mv "$lane.log.$main" "$lane.own"
	cat "$lane".log.* >"$lane.workers" 2>/dev/null
}

# silent FILE...: valgrind had nothing to say.
silent() {
	cat "$@" >>err
	if [ -n "$(cat "$@")" ]; then
		fail "$what: valgrind has something to say"
	else
		pass
	fi
}

# told FILE TEXT...: it said this.
told() {
	file=$1
	shift
	for text; do
		if grep -qF -e "$text" "$file"; then
			pass
		else
			cat "$file" >>err
			fail "$what: valgrind does not say '$text'"
		fi
	done
}

# explored CODE FILE CASE: a healthy client; nobody does anything wrong.
explored() {
	compile "$2" "$3"
	watched "$1" "$3" "$real" explore "$3.so"
	silent "$3.own" "$3.workers"
}

# dying CODE FILE CASE: sessions that crash, and are found in the middle of it:
# of them nothing is asked.
dying() {
	compile "$2" "$3"
	watched "$1" "$3" "$real" explore "$3.so"
	silent "$3.own"
}

# What is wrong is seen, and is told of the worker, not of the explorer.
planted() {
	for name in loses_memory reads_behind; do
		compile memory $name
		watched 0 $name "$real" explore $name.so
		silent $name.own
	done
	told loses_memory.workers 'definitely lost' 'loses_memory (memory.c'
	told reads_behind.workers 'Invalid read of size 1' \
		'reads_behind (memory.c'
}

healthy() {
	explored 0 memory frees_all
	explored 0 misuse correct
	explored 1 checks loses_an_update
	explored 0 checks aborts
	explored 0 checks assumes
	explored 1 checks final_session
	explored 0 heavy many_transactions
	explored 0 values bytes
	run 0 record aborts.so -o aborts.jsonl
	watched 0 from "$real" explore aborts.so --from aborts.jsonl
	silent from.own from.workers
	watched 1 run "$real" run loses_an_update.so --runs 20
	silent run.own run.workers
	watched 1 compare "$real" compare loses_an_update.so
	silent compare.own compare.workers
}

calls() {
	cat >calls.c <<-'END'
	#include <stdint.h>
	int64_t twice(int64_t a) { return a * 2; }
	const char *same(const char *s) { return s; }
	END
	cat >calls.tx <<-'END'
	extern fn twice(a: int): int from "./calls.so";
	extern fn same(s: string): string from "./calls.so";
	global x = 1;
	global s = "";
	session a { txn { x = twice(x); s = same("a") + same(s); } }
	session b { txn { x = twice(x + 1); s = same("b"); } }
	END
	${CC:-cc} -g -shared -fPIC -o calls.so calls.c || fail 'calls.c'
	watched 0 calls "$real" explore calls.tx
	silent calls.own calls.workers
}

sick() {
	dying 1 misuse get_outside
	dying 1 misuse no_commit
	dying 1 crashes null_pointer
	dying 3 unsteady counts_runs
	dying 3 declare duplicate_names
}

# Beside the rest, in a folder of its own.
mkdir suite
(
	cd suite || exit 99
	watched 0 fibre "$(dirname "$real")/isoscope-tests" fibre
	silent fibre.own
	finish
) >fibre.said &
side=$!
planted
healthy
calls
sick
wait $side
sed '$d' fibre.said
# shellcheck disable=SC2046
set -- $(tail -n 1 fibre.said)
passed=$((passed + $1)) failed=$((failed + $3))
finish
