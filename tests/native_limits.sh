#!/bin/sh
# What native clients can do to the tool that runs them: loops, memory, output,
# files that are no clients, interruptions, processes that stay behind; and all
# the commands that take a client. With ISOSCOPE_QUICK without the largest limits,
# which take long to come to.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
. "$top/tests/native/shell.sh"

# begin NAME ARGUMENT...: runs the program beside the test; its files are
# NAME.out, NAME.err and NAME.code.
begin() {
	started=$1
	shift
	(
		"$ISOSCOPE" "$@" >"$started.out" 2>"$started.err" </dev/null
		echo $? >"$started.code"
	) &
}
# ended CODE NAME TEXT...: waits for it.
ended() {
	code=$1
	what="isoscope of $2"
	ending=$2
	shift 2
	while [ ! -s "$ending.code" ]; do sleep 0.05; done
	cp "$ending.out" out
	cp "$ending.err" err
	equal "$what: exit code" "$(cat "$ending.code")" "$code"
	for text; do prints "$text"; done
}

# --- loops: a finding, in the history where it happens ---
waiting='spins spins_deaf spins_ignoring sleeps pauses prints_for_ever
	waits_for_a_lock'
mkfifo never
sleep 100 >never &
writer=$!
for name in $waiting reads_input; do compile loops $name; done
for name in $waiting; do
	begin $name explore $name.so --step-timeout 1
done
# Clients do not read what was meant for the tool.
"$ISOSCOPE" explore reads_input.so --step-timeout 1 <never >out 2>err
equal 'reading the standard input' $? 1
what='reading the standard input'
prints 'read x = 1'
kill $writer
for name in $waiting; do
	ended 1 $name 'a run-time error happens' 'happens in 1 of 2 histories' \
		'read x = 1' 'an endless loop?'
	gone "explore $name.so"
done
# What it does not get of the processor is not its fault.
ended 1 sleeps 'no access for 10 s, and hardly at work: '
ended 1 spins 'no access for 1 s: '
ended 1 spins 'spins()' 'loops.c:'
ended 1 sleeps 'sleeps()' 'loops.c:'
ended 1 waits_for_a_lock 'waits_for_a_lock()' 'loops.c:'
try 0 loops takes_its_time holds
try 0 loops leaves_a_thread holds
gone 'explore leaves_a_thread.so'
try 0 loops leaves_a_process holds
gone 'explore leaves_a_process.so'
compile loops spins
run 1 run spins.so --step-timeout 0.2 --seed 1 --runs 30
prints 'an endless loop?'
run 0 record spins.so --step-timeout 0.2 --seed 1
run 2 explore spins.so --step-timeout -1
says '--step-timeout'
run 2 explore spins.so --step-timeout soon

# --- steps without an end: a limit comes, in time and in memory ---
# endless CODE TEXT NAME...: this is what is told of it.
endless() {
	code=$1
	text=$2
	shift 2
	for name; do
		compile loops "$name"
		run "$code" explore "$name.so" --step-timeout 1 --timeout 90 \
			$bounds
		cat err >>out
		prints "$text"
		lacks 'time limit'
		gone "explore $name.so"
	done
}
bounds='--max-transactions 1000 --max-accesses 10000'
more='more than 10000 reads and writes in a transaction, here at '
endless 4 "session 'victim' makes $more" reads reads_new_keys writes
more='more than 1000 transactions, here at '
endless 4 "session 'victim' makes $more" \
	begins_and_commits begins_and_aborts writes_again_and_again
bounds=
# Those without the options end a loop, too.
compile loops reads
run 4 explore reads.so -q
prints "inconclusive: session 'victim' makes more than 60000 reads and writes "
prints ' in a transaction, at '
prints ' and is cut short there, with no violation in the 1 history seen'
run 4 decide reads.so --max-accesses 100
prints ' and is cut short there, with no violation found under '
# What is within the bounds is explored.
compile loops begins_and_commits
# A run that is cut short has not made an assumption false.
run 4 run begins_and_commits.so --max-transactions 30
prints "inconclusive: session 'victim' makes more than 30 transactions, at "
prints 'cut short'
lacks assumption
run 4 run begins_and_commits.so --max-transactions 30 --json
prints '"stop":"bound"'
run 4 record begins_and_commits.so --max-transactions 30 --seed 2
says "no run was recorded: session 'victim' makes more than 30 transactions"
run 4 predict --program begins_and_commits.so --max-transactions 30 --seed 2
prints "session 'victim' makes more than 30 transactions"
lacks assumption
run 4 explore begins_and_commits.so --max-transactions 30 --checkpoint cut.json
run 4 explore --resume cut.json -q
prints 'a session was cut short'
run 2 explore --resume cut.json --max-transactions 40
says 'the checkpoint says what is explored'
run 0 split begins_and_commits.so -n 2 -o cut --max-transactions 30
for unit in cut/unit-*; do
	[ ! -e "$unit" ] ||
		"$ISOSCOPE" explore --unit "$unit" -q >out
done
run 4 merge cut -q
prints 'a session was cut short'
lacks 'more than 3000'
run 4 compare begins_and_commits.so --max-transactions 30 --json
prints '"stop":"bound"'
run 4 explore begins_and_commits.so --max-transactions 3 --json
prints '"stop":"bound"'
prints '"pruned":1'
if [ -z "${ISOSCOPE_QUICK:-}" ]; then # 10 s
	run 4 explore begins_and_commits.so --max-transactions 20000
	prints 'the program runs more than 16,383 transactions'
fi
compile heavy many_transactions
run 4 explore many_transactions.so --max-transactions 199
prints 'more than 199 transactions, here at '
run 0 explore many_transactions.so --max-transactions 200
compile loops reads
run 4 run reads.so --runs 10
says 'reads and writes in a transaction, here, and was cut short'
run 4 explore reads.so --max-accesses 100000
prints 'a transaction makes more than 65,535 reads and writes'
run 2 explore reads.so --max-accesses 0
says '--max-accesses takes a positive number'
endless 1 'more than 16,384 notes of one session' notes notes_new_names
# What is true is no progress.
endless 1 'an endless loop?' asserts_truth assumes_truth
# The same of places is in the section on many places.
[ -n "${ISOSCOPE_QUICK:-}" ] || # 13 s
	endless 3 'the most that isoscope tells apart' asserts_new_messages

# --- stack and memory ---
try 0 heavy recurses holds
try 0 heavy deep_locals holds
compile heavy allocates -DSESSIONS=4
run 0 explore allocates.so
prints holds
compile heavy opens_files -DSESSIONS=4
run 0 explore opens_files.so
try 0 heavy locks_in_between holds
try 0 heavy many_transactions holds
compile heavy locks
"$ISOSCOPE" explore locks.so --step-timeout 1 >out 2>err
code=$? what='explore locks.so'
case $code in
0) prints 'holds' ;;
1) prints 'an endless loop?' && prints 'locks()' ;;
3) says 'locks' ;;
*) fail "a lock that is held across accesses: exit code $code" ;;
esac

# --- what clients print ---
try 0 heavy prints_much holds
says_nothing
lacks 'output of a client'
run 0 explore prints_much.so --json
json '.[0].verdict' holds
says_nothing
run 0 explore prints_much.so --json --client-output
json '.[0].verdict' holds
says 'errors of a client, line 1999'
says 'output of a client, line 1999'
run 0 explore prints_much.so --client-output --histories -
lacks 'of a client'
run 0 record prints_much.so --client-output
lacks 'of a client'
run 0 run prints_much.so --client-output --json
json '.[0].verdict' 'no violation'

# --- many places, many notes ---
# The tool tells a number of assertions apart; one too many is told.
# many_assertions N: many.so.
many_assertions() {
	echo '#include <isoscope/client.h>'
	echo 'static void many(void *unused) { iso_begin("many");'
	n=0
	while [ $n -lt "$1" ]; do
		echo "iso_assert(iso_get_int(\"x\") < $n + 2, \"number $n\");"
		n=$((n + 1))
	done
	echo 'iso_commit(); (void)unused; }'
	echo 'void iso_client(void) { iso_initial_int("x", 0);'
	echo 'iso_session("many", many, "x"); }'
}
many_assertions 256 >many.c
cc -g -shared -fPIC -I"$top/include" -o many.so many.c
run 0 explore many.so
prints 'holds: all 256 assertions'
many_assertions 257 >many.c
cc -g -shared -fPIC -I"$top/include" -o many.so many.c
run 3 explore many.so
says 'iso_assert() is called at more than'
says 'the most that isoscope tells apart'

# --- files that are no clients ---
# no_client FILE TEXT...
no_client() {
	run 3 explore "$@"
}
compile declare idle_session
cp idle_session.so good.so
# wrong FILE TEXT...: refused by each command that takes a program.
wrong() {
	file=$1
	shift
	for command in explore run record compare compile; do
		run 3 $command "$file"
		prints_nothing
		for text in "$file" error "$@"; do says "$text"; done
	done
}
wrong no-such-file.so 'No such file'
: >empty.so
wrong empty.so
mkdir folder.so
wrong folder.so
echo 'global x = 0; session a { txn { x = 1; } }' >text.so
wrong text.so 'not a shared object'
echo 'not a program' >words.so
wrong words.so 'not a shared object' 'cc -g -shared -fPIC'
head -c 1000 good.so >short.so
wrong short.so
head -c 17 good.so >shorter.so
wrong shorter.so
head -c 4 good.so >magic.so
wrong magic.so
# The machine that it is for: byte 18 of the head.
cp good.so other.so
printf '\363\000' | dd of=other.so bs=1 seek=18 conv=notrunc 2>/dev/null
wrong other.so
echo 'int no_client;' >none.c
cc -g -shared -fPIC -o none.so none.c
wrong none.so 'iso_client'
echo 'int iso_client = 5;' >variable.c
cc -g -shared -fPIC -o variable.so variable.c
run 3 explore variable.so
says variable.so
cat >undefined.c <<'END'
#include <isoscope/client.h>
void missing(void *data);
void iso_client(void) { iso_session("a", missing, 0); }
END
cc -g -shared -fPIC -I"$top/include" -o undefined.so undefined.c
wrong undefined.so missing
cat >main.c <<'END'
int main(void) { return 0; }
END
cc -g -o executable.so main.c
wrong executable.so
cc -g -c -o object.so main.c
wrong object.so
cat >constructor.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void early(void) { abort(); }
void iso_client(void) { }
END
cc -g -shared -fPIC -o constructor.so constructor.c
wrong constructor.so SIGABRT 'early()' constructor.c:2
cat >needs.c <<'END'
int elsewhere(void);
void iso_client(void) { elsewhere(); }
END
echo 'int elsewhere(void) { return 0; }' >libelsewhere.c
cc -shared -fPIC -o libelsewhere.so libelsewhere.c
cc -g -shared -fPIC -o needs.so needs.c -L. -lelsewhere
rm libelsewhere.so
wrong needs.so libelsewhere.so
# Any name and any way to it.
for path in ./good.so "$PWD/good.so" folder.so/../good.so; do
	run 0 explore "$path"
done
cp good.so 'a client'
run 0 explore 'a client'
cp good.so ./-good.so
run 0 explore -- -good.so
# Lines take more of a stack than there is here: places go without.
(ulimit -s 128 && "$ISOSCOPE" explore good.so >out 2>err)
equal 'explore good.so on a small stack' $? 0
prints holds
chmod -x good.so
run 0 explore good.so
run 2 explore good.so good.so
run 3 fmt good.so
says 'good.so'
cmp -s good.so idle_session.so && pass || fail 'fmt changed the file'
run 3 fmt --write good.so
cmp -s good.so idle_session.so && pass || fail 'fmt --write changed the file'
run 3 check good.so
says 'good.so'
run 3 convert --to plume good.so
run 0 compile good.so
run 2 explore good.so --histories ./good.so
says 'would overwrite the program'
mkdir clients && cp good.so clients/import.so
echo 'import "clients/import.so";' >imports.tx
run 3 explore imports.tx
says 'import.so'

# However it was compiled. A call at the end of a function may become a jump:
# then its place is lost, but not that of others. Without -g there are no
# lines, but functions.
for option in -O2 -Os -g3 -fno-omit-frame-pointer -fvisibility=hidden; do
	compile checks loses_an_update $option
	run 1 explore loses_an_update.so
	prints 'fails in 1 of 3 histories'
	lacks src/native
	compile checks goes_on $option
	run 1 explore goes_on.so
	prints 'checks.c:'
	prints 'iso_assert(false, "second")'
	lacks src/native
done
compile checks final_session -g0
run 1 explore final_session.so
prints 'final_session.so (in look)'
compile misuse get_outside -g0
run 1 explore get_outside.so
prints 'get_outside.so'

# --- all commands ---
compile checks loses_an_update
compile checks goes_on
lost=loses_an_update.so
for level in none rc ra cc pc; do run 1 explore $lost -i $level; done
for level in psi si ser; do run 0 explore $lost -i $level; done
for option in --base=rc --algorithm=dfs --check-duplicates \
	--sessions-order=b,a; do
	run 1 explore $lost $option
	prints 'they see different numbers'
done
run 1 explore $lost --levels
prints 'they see different numbers'
run 1 explore $lost --robust
prints '2 of 2 assertions fail'
run 1 explore $lost --json
json '.[0].assertions[0].text' 'assert "they see different numbers"'
json '.[0].assertions[0].example.failure.values | tojson' '{"a.n":0,"b.n":0}'
json '.[0].stats.histories' 3
run 1 explore $lost --dot g.dot
grep -q digraph g.dot && pass || fail 'no picture'
run 1 explore $lost --stop-on-violation --quiet
run 1 explore $lost --max-histories 1
run 1 run $lost --runs 50 --coverage
prints 'of 3 histories'
repeat=$(sed -n 's/^  To repeat this run: isoscope //p' out)
# shellcheck disable=SC2086
run 1 $repeat
run 1 compare $lost
prints 'they see different numbers'
run 0 record $lost --seed 3 -o lost.jsonl
run 0 check -q -i ser lost.jsonl
run 1 explore $lost --from lost.jsonl
prints 'they see different numbers'
run 1 predict lost.jsonl --validate $lost --boundary relaxed
run 1 predict --program $lost --boundary relaxed
run 1 explore goes_on.so --json
json '.[0].assertions | map(.message) | join(";")' \
	'first;second;behind the transaction'
json '.[0].assertions | map(.line > 100) | all' true
run 3 compile $lost --dump
says 'not bytecode'

# --- interruptions, and workers that nobody owns ---
# Long enough to be still there when a busy machine has found the worker.
compile heavy slow -DSESSIONS=8 -DPAUSE=1000000
compile loops sleeps
# child NAME: the worker of the exploration of NAME.
child() {
	for each in /proc/[0-9]*; do
		tr '\0' ' ' <"$each/cmdline" |
			grep -q "^$real explore $1" || continue
		[ "$(readlink "$each/cwd")" = "$(pwd -P)" ] || continue
		parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "$each/stat")
		tr '\0' ' ' <"/proc/$parent/cmdline" 2>/dev/null |
			grep -q "^$real explore $1" && echo "${each#/proc/}"
	done 2>/dev/null
}
has_worker() {
	[ -n "$(child "$1")" ]
}
for signal in INT TERM KILL; do
	for name in slow sleeps; do
		"$real" explore $name.so --step-timeout 60 -q >out 2>err &
		pid=$!
		what="explore $name.so, killed by $signal"
		begins $pid
		soon has_worker $name.so
		kill -$signal $pid
		wait $pid 2>/dev/null
		code=$?
		if [ $signal = KILL ]; then
			equal "$what" $code 137
		else
			equal "$what" $code 4
			prints 'interrupted'
		fi
		gone "explore $name.so"
	done
done
# As a terminal does it: everything that runs gets the signal.
if command -v setsid >/dev/null; then
	setsid "$real" explore slow.so -q >out 2>err &
	pid=$!
	what='explore slow.so, interrupted with its worker'
	begins $pid
	soon has_worker slow.so
	kill -INT -- "-$pid" 2>/dev/null || kill -INT $pid
	wait $pid
	equal "$what" $? 4
	prints 'interrupted'
	gone 'explore slow.so'
fi
# A worker that somebody kills, again and again.
compile heavy slow -DSESSIONS=3
"$real" explore slow.so >out 2>err &
pid=$!
killed=0
while kill -0 $pid 2>/dev/null && [ $killed -lt 3 ]; do
	worker=$(child slow.so)
	[ -z "$worker" ] || { kill -KILL "$worker" && killed=$((killed + 1)); }
	sleep 0.1
done 2>/dev/null
wait $pid
code=$? what='explore slow.so, its worker killed'
case $code in
0) prints holds ;;
1) prints SIGKILL ;;
3) says SIGKILL ;;
*) fail "$what: exit code $code" ;;
esac
gone 'explore slow.so'
finish
