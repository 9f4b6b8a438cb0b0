#!/bin/sh
# explore -j N: whatever the number of threads, everything that is found is the
# same: counts, verdicts, examples, the set of histories, and with --sorted the
# very bytes. Limits, interruptions and errors of output with several threads.
# With ISOSCOPE_QUICK programs of many histories are left out, and the others run
# with 1 thread and with one other number, in turn. Arguments:
# programs, else all that have a side file.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
if [ -n "${ISOSCOPE_QUICK:-}" ]; then most=40; else most=600; fi

# bare: a result without what depends on time and on the number of threads.
bare() {
	sed 's/"jobs":[0-9]*,//; s/"memory_peak":[0-9]*,//
		s/"seconds":[0-9.]*,"cpu_seconds":[0-9.]*//'
}

# explored JOBS ARGUMENT...: the result in json, sorted histories in lines.
explored() {
	jobs=$1
	shift
	"$ISOSCOPE" explore "$@" -j "$jobs" --json --sorted \
		--histories lines >out 2>err
	code=$?
	bare <out >json
	echo "exit code $code" >>json
}

turn=${ISOSCOPE_SEED:-0}

# numbers: of threads, that a result with 1 is compared with.
numbers() {
	case ${ISOSCOPE_QUICK:+$((turn % 3))} in
	0) echo 2 ;;
	1) echo 3 ;;
	2) echo 8 ;;
	*) echo 2 3 8 ;;
	esac
}

# alike ARGUMENT...: the same with 1, 2, 3 and 8 threads.
alike() {
	turn=$((turn + 1))
	explored 1 "$@"
	mv json json.1
	mv lines lines.1
	for jobs in $(numbers); do
		explored $jobs "$@"
		same "$* -j $jobs: the result" json json.1
		same "$* -j $jobs --sorted" lines lines.1
	done
	sort lines.1 >set.1
	"$ISOSCOPE" explore "$@" -j 3 -q --histories lines >out 2>err
	sort lines >set.3
	same "$* -j 3: the set of histories" set.3 set.1
}

# --- every program ---
if [ $# -gt 0 ]; then
	printf '%s\n' "$@" >programs
else
	find "$top/programs" -name '*.expect' | sed 's/expect$/tx/' |
		LC_ALL=C sort >programs
fi
while read -r program; do
	sed 's/#.*//' "${program%.tx}.expect" |
		awk -v most=$most '/^(rc|cc|si) / && $2 <= most' >levels
	while read -r level count rest; do
		alike "$program" -i "$level"
		equal "histories of $program under $level" \
			"$(wc -l <lines.1 | tr -d ' ')" "$count"
	done <levels
done <programs
if [ $# -gt 0 ]; then
	finish
	exit
fi

# --- other ways of exploring ---
skew=$top/programs/litmus/write-skew.tx
client=$top/programs/tpcc/client-1.tx
seat=$top/programs/examples/last-seat.tx
for way in '--algorithm dfs' '--base none' --robust --check-duplicates; do
	# shellcheck disable=SC2086
	alike "$seat" -i cc $way
	# shellcheck disable=SC2086
	[ "$way" = --check-duplicates ] || alike "$skew" -i ra $way
done
for way in '--algorithm orderly' --symmetry '--max-changes 1'; do
	for jobs in 1 2 3 8; do
		# shellcheck disable=SC2086
		explored $jobs "$client" -i cc $way
		mv lines lines.$jobs
		grep -o '"histories":[0-9]*' json | head -n 1 >count.$jobs
	done
	for jobs in 2 3 8; do
		same "$way -j $jobs --sorted" lines.$jobs lines.1
		same "$way -j $jobs: the count" count.$jobs count.1
	done
done
for jobs in 1 2 3 8; do
	"$ISOSCOPE" explore "$seat" --levels -j $jobs >levels.$jobs 2>err
	same "--levels -j $jobs" levels.$jobs levels.1
	"$ISOSCOPE" run "$client" --runs 50 --coverage --json -j $jobs \
		>out 2>err
	sed 's/"seconds":[0-9.]*//; s/"[a-z]*_seconds":[0-9.]*//g' <out |
		grep -o '"coverage":{[^}]*}' >coverage.$jobs
	same "run --coverage -j $jobs" coverage.$jobs coverage.1
	"$ISOSCOPE" compare "$seat" --json -j $jobs >out 2>err
	sed 's/"[a-z_]*seconds":[0-9.e-]*//g' <out >compared.$jobs
	same "compare -j $jobs" compared.$jobs compared.1
done
[ -s coverage.1 ] && pass || fail 'no coverage'

# --- in words: only the time says how many threads there were ---
for jobs in 1 2; do
	"$ISOSCOPE" explore "$seat" -j $jobs >out 2>err
	grep -v '^time \|^memory ' out >words.$jobs
	grep -c 'of CPU in 2 threads' out >threads.$jobs
done
same 'the result in words' words.2 words.1
equal 'threads are told' "$(cat threads.1 threads.2 | tr '\n' ' ')" '0 1 '
run 1 explore "$seat" -j 2 --json
json '.[0].jobs' 2

# --- the first violation is enough: which one is met is up to the threads ---
for program in "$seat" "$skew" "$top/programs/examples/shopping-cart.tx"; do
	for level in rc cc ser; do
		"$ISOSCOPE" explore "$program" -i $level -q >out 2>err
		whole=$?
		for jobs in 1 2 4; do
			run $whole explore "$program" -i $level -q -j $jobs \
				--stop-on-violation
		done
	done
done

# --- a limit of histories is kept exactly ---
large=$top/programs/tpcc/client-3.tx
for limit in 1 2 7 100 163; do
	run 4 explore "$large" -i cc -j 4 --max-histories $limit --json \
		--histories lines
	equal "$what" "$(wc -l <lines | tr -d ' ')" $limit
	equal "$what: different ones" "$(sort -u lines | wc -l | tr -d ' ')" \
		$limit
	prints "\"stats\":{\"histories\":$limit,"
	prints '"stop":"histories"'
done
# Without -j one thread explores, so that they are the same each time.
run 4 explore "$large" --max-histories 50 --histories first --json
prints '"jobs":1,'
run 4 explore "$large" --max-histories 50 --histories second -q
same 'the first 50' first second
run 4 explore "$large" --max-histories 50 -j 3 --sorted --histories few -q
sort few >few.sorted
equal 'lines of --sorted behind a limit' \
	"$(sort -u few | wc -l | tr -d ' ')" 50
run 4 explore "$large" -i none -j 3 --timeout 0.05
prints 'inconclusive: the time limit was reached'

# --- interrupted: a partial result, soon ---
for signal in INT TERM; do
	"$ISOSCOPE" explore "$top/programs/tpcc/client-5.tx" -i none -j 4 \
		--histories lines >out 2>err &
	pid=$!
	begins $pid
	begun=$(date +%s)
	kill -$signal $pid
	wait $pid
	equal "SIG$signal" $? 4
	[ $(($(date +%s) - begun)) -le 60 ] && pass || fail "SIG$signal: late"
	what="SIG$signal"
	prints 'inconclusive: interrupted, with no violation in the '
	prints 'in all'
	prints ' of them seen'
	equal "SIG$signal: whole lines" "$(tail -n 1 lines | tail -c 2)" '}'
done

# --- output that fails ---
if [ -w /dev/full ]; then
	run 70 explore "$large" -i cc -j 3 --histories /dev/full --timeout 20
	says 'cannot write /dev/full'
	run 70 explore "$large" -i cc -j 3 --histories /dev/full --sorted \
		--max-histories 300
	says 'cannot write /dev/full'
fi
TMPDIR=$work/nowhere
export TMPDIR
run 70 explore "$seat" -j 2 --histories lines --sorted
says "a temporary file in $work/nowhere: No such file or directory (set TMPDIR"
mkdir full
TMPDIR=$work/full
(
	trap '' XFSZ
	ulimit -f 8
	"$ISOSCOPE" explore "$large" -j 3 --histories - --sorted \
		--timeout 20 2>err | cat >lines
	cat err >said
)
equal 'a temporary file that is too large' \
	"$(grep -c 'cannot keep histories in a temporary file' said)" 1
equal 'temporary files that are left' "$(ls full)" ''
unset TMPDIR

# --- clients in C, but not with address sanitizer (src/cli/cores.h) ---
if nm "$ISOSCOPE" 2>/dev/null | grep -q __asan_init; then
	echo 'address sanitizer: no threads for clients in C'
elif command -v make >/dev/null && command -v "${CC:-cc}" >/dev/null; then
	mkdir programs.c
	cp -R "$top/programs/native" programs.c
	cp -R "$top/include" .
	chmod -R u+w programs.c include
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C programs.c/native \
		CC="${CC:-cc} -I$work/include" >out 2>err ||
		fail 'clients in C do not compile'
	for name in last_seat courseware/client-1 shopping_cart; do
		found=programs.c/native/$name.so
		[ -f "$found" ] || continue
		for level in rc cc si; do
			alike "$found" -i $level
		done
	done
	[ -f programs.c/native/last_seat.so ] && pass || fail 'no client in C'
fi

# --- usage ---
for jobs in 0 -1 many 1.5 4097 '' 18446744073709551616; do
	run 2 explore "$seat" --jobs="$jobs"
	says '--jobs takes a number of threads from 1 to 4096'
	prints_nothing
	run 2 compare "$seat" --jobs="$jobs"
	run 2 run "$seat" --coverage --jobs="$jobs"
done
run 2 run "$seat" -j 2
says 'add --coverage'
run 2 explore "$seat" --sorted
says '--sorted needs --histories'
run 2 explore "$seat" --histories lines --sorted --checkpoint file
says '--sorted cannot be used with --checkpoint: '
run 2 predict "$seat" -j 2
says "'predict' has no option '-j'"
finish
