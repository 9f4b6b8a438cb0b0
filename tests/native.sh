#!/bin/sh
# Native clients, as a user compiles and runs them: what crashes, mistakes and
# code that does not do the same each time look like, and that keys and values
# of every kind go through. tests/native holds the clients.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
. "$top/tests/native/shell.sh"
# What the allocator of a build with address sanitizer does when there is not
# enough: what others do.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export ASAN_OPTIONS

# --- sessions that end their process: each is a finding ---
# crash NAME TEXT...: in every history, with the history and its place.
crash() {
	try 1 crashes "$@"
	prints 'violated: a run-time error happens'
	prints 'happens in 2 of 2 histories'
	prints 'victim.1 last words'
	prints 'read x = 0'
	says_nothing
}
crash null_pointer 'SIGSEGV' 'address 0x0' 'null_pointer()' crashes.c:
crash wild_pointer 'SIGSEGV' 'wild_pointer()' crashes.c:
crash read_only 'SIGSEGV' 'read_only()' crashes.c:
crash null_function 'SIGSEGV' 'address 0x0'
crash division 'SIGFPE' 'division()' crashes.c:
crash illegal 'SIG' 'illegal()' crashes.c:
crash past_the_end_of_a_file 'SIGBUS' crashes.c:
crash aborts 'SIGABRT' 'aborts()' crashes.c:
crash asserts 'SIGABRT' 'asserts' "Assertion \`x == 77' failed"
crash last_line 'SIGABRT' 'cannot go on: [0]'
crash overflow 'the stack is full' 'overflow_at()' crashes.c:
crash giant_frames 'giant_at()' crashes.c:
crash giant_array 'giant_array()' crashes.c:
crash killed 'SIGKILL'
crash terminated 'SIGTERM'
crash alarmed 'SIGALRM'
crash broken_pipe 'SIGPIPE'
crash stopped 'SIGSTOP'
crash exits 'called exit(0)'
crash exits_with_3 'called exit(3)'
crash exits_at_once 'called exit(0), last seen in victim()' victim.h:
crash exits_slowly 'run-time error'
crash thread_exits victim.h:
crash becomes_another_program \
	'became another program by exec(): "true", which called exit(0)'
crash becomes_a_sleeper 'became another program by exec(): "sleep"'
crash closes_everything 'closed file descriptors that are not its own' \
	victim.h:
# What tells the place, and when it happened, is among what they spoil.
for name in spoils_with_ones spoils_with_zeros spoils_here_and_there; do
	compile crashes $name
	"$ISOSCOPE" explore $name.so --step-timeout $patience >out 2>err \
		</dev/null
	code=$? what="explore $name.so"
	case $code in
	1)
		prints 'violated: '
		prints 'wrote over memory that is not its own'
		prints 'victim.1 last words'
		says_nothing
		;;
	3) says 'error: the native code cannot be run: wrote over memory' ;;
	*) fail "$what: exit code $code" ;;
	esac
done
crash ignores_signals
crash handles_signals 'own handler'
crash takes_the_stack_of_handlers
crash runs_out_of_memory 'SIGSEGV' 'runs_out_of_memory()'
crash reads_in_a_thread 'thread'
crash crashes_in_a_thread 'SIGSEGV' 'thread_crashes()'
try 0 crashes forks holds
gone 'explore forks.so'
try 0 crashes jumps_inside
prints 'holds'
try 0 crashes computes_in_a_thread
prints 'holds: the assertion is true'

# Only one of the two histories.
try 1 crashes on_one_schedule 'happens in 1 of 2 histories' \
	'write x = 1' 'read x = 1  from setter.1' 'SIGSEGV' \
	'on_one_schedule()' crashes.c:
lacks 'read x = 0'

# Whatever these do, the tool comes to an end of its own and says something.
for name in frees_twice jumps_out writes_everywhere switches_context; do
	compile crashes $name
	"$ISOSCOPE" explore $name.so --step-timeout $patience >out 2>err \
		</dev/null
	code=$? what="explore $name.so"
	case $code in
	0 | 1) prints ':' ;;
	3) says 'error' ;;
	*) fail "$what: exit code $code" ;;
	esac
	gone "explore $name.so"
done

# --- mistakes in the use of the API ---
try 0 misuse correct holds
try 0 misuse string_of_null 'holds'
try 0 misuse assert_anywhere 'holds'
# mistake NAME TEXT...: told with its place.
mistake() {
	try 1 misuse "$@"
	prints 'a run-time error happens'
	prints misuse.c:
	says_nothing
}
mistake no_commit 'iso_commit' 'misuser.1 open' 'abort'
mistake begin_in_a_transaction 'iso_begin' 'misuser.1 outer'
for name in get_outside get_behind; do
	mistake $name 'iso_get' 'transaction'
done
mistake put_outside 'iso_put' 'transaction'
mistake commit_outside 'iso_commit' 'transaction'
mistake commit_twice 'iso_commit' 'misuser.1 once'
mistake abort_outside 'iso_abort' 'transaction'
mistake int_of_string 'iso_get_int' 'word' 'string' '"seven"'
mistake string_of_int 'iso_get_string' 'number' '7'
mistake int_of_null 'iso_get_int' 'nothing was written' 'null'
mistake get_of_null_pointer 'iso_get' 'null'
mistake put_of_null_pointer 'iso_put' 'null'
mistake get_of_null 'iso_get' 'null'
mistake kind_that_is_none 'iso_put' '77'
mistake key_of_no_kind 'iso_get' '77'
mistake bytes_from_nowhere 'null'
mistake session_in_a_session 'iso_session' 'iso_client()'
mistake initial_in_a_session 'iso_initial' 'iso_client()'
mistake finally_in_a_session 'iso_finally' 'iso_client()'
mistake expect_in_a_session 'iso_expect' 'iso_client()'
mistake isolation_in_a_session 'iso_isolation' 'iso_client()'
mistake noted_in_a_session 'iso_noted' 'iso_expect()'
mistake note_without_a_name 'iso_note' 'null'
try 1 misuse more_bytes_than_there_are 'a run-time error happens'
try 1 misuse assert_without_a_message 'fails in ' 'misuse.c:'

# --- declarations ---
for name in nothing only_initial only_finally; do
	refuse declare $name 'no session' 'iso_session'
done
try 0 declare idle_session 'holds'
refuse declare crashes 'SIGSEGV' 'iso_client()' 'declare.c:'
refuse declare exits 'exit' 'iso_client()'
refuse declare aborts 'SIGABRT' 'the configuration is missing'
refuse declare spins 'iso_client()' "$patience"
try 0 declare prints 'holds'
says_nothing
refuse declare begins 'iso_begin' 'iso_client()'
refuse declare gets 'iso_get' 'iso_client()'
refuse declare asserts 'iso_assert' 'iso_client()'
refuse declare notes 'iso_note' 'iso_client()'
refuse declare duplicate_names 'twin' 'two'
refuse declare no_name 'iso_session' 'name'
refuse declare empty_name 'iso_session' 'name'
refuse declare no_function 'iso_session' 'function' 'idle'
refuse declare two_finals 'iso_finally'
refuse declare final_without_function 'iso_finally' 'function'
refuse declare session_called_finally 'finally'
try 0 declare session_called_init holds
refuse declare expectation_without_function 'iso_expect' 'function'
try 0 declare expectation_without_text
refuse declare wrong_level 'iso_isolation' 'snapshot' 'rc'
refuse declare no_level 'iso_isolation'
refuse declare two_levels 'iso_isolation'
try 0 declare level 'Snapshot Isolation (si)'
run 0 explore level.so -i rc
prints 'Read Committed (rc)'
refuse declare initial_twice 'x'
refuse declare initial_of_null 'null'
try 0 declare borrowed_names 'holds'
run 0 explore borrowed_names.so --json
try 0 declare thousand_sessions 'holds' 'histories                 1  '
run 0 record thousand_sessions.so
equal 'sessions that are recorded' \
	"$(grep -o '"name":"s[0-9][0-9][0-9]"' out | wc -l)" 1000

try 0 declare many_initials 'holds'
refuse declare too_many_sessions 'sessions'
refuse declare too_many_initials

# --- sessions that do not do the same again: nothing is counted ---
# unsteady NAME TEXT...: an error with both of what was done.
unsteady() {
	name=$1
	shift
	compile unsteady "$name"
	rm -f was-here
	run 3 explore "$name.so" --step-timeout $patience
	prints_nothing
	for text in "$name.so" "unsteady" "$@"; do says "$text"; done
	for command in run record compare; do
		rm -f was-here
		run 3 $command "$name.so" --step-timeout $patience
		says "unsteady"
	done
	rm -f was-here
	run 3 explore "$name.so" --step-timeout $patience --json
	prints '"error":'
}
unsteady reads_the_clock 'put y =' 'unsteady.c:' \
	'warning: it uses clock_gettime'
unsteady draws 'put y =' 'warning: it uses ' 'rand: what'
unsteady counts_runs 'put y = 1' 'put y = 2'
unsteady chooses_keys 'get key 0' 'get key 1'
unsteady uses_an_address 'put y ='
unsteady has_more_to_do 'begin one more'
unsteady has_less_to_do 'begin only once'
unsteady crashes_the_second_time 'SIGSEGV' 'get x'
unsteady crashes_the_first_time 'SIGSEGV' 'get x'
unsteady fails_the_second_time 'only the first time'
unsteady assumes_the_second_time 'assume (false)'
unsteady renames_itself 'begin run 0' 'begin run 1'
unsteady aborts_the_second_time 'commit' 'abort'
unsteady caches 'get x'
unsteady uses_its_process 'put y ='
# What one path leaves in memory, another finds: one run alone does not show it.
compile unsteady whispers
for command in explore run compare; do
	run 3 $command whispers.so
	says 'put y = 0'
	says 'put y = 1'
done
for name in starts_afresh draws_from_a_seed; do
	try 0 unsteady $name holds
done
# Notes are for reports and expectations, which have to be the same as well.
unsteady notes_something_else 'run'
unsteady loops_the_second_time 'get x'
# It may find the same there each time.
compile unsteady uses_the_stack
"$ISOSCOPE" explore uses_the_stack.so >out 2>err
code=$?
[ $code -eq 0 ] || [ $code -eq 3 ] && pass ||
	fail "uses_the_stack: exit code $code"

# --- assertions, assumptions, expectations ---
try 1 checks loses_an_update 'they see different numbers' \
	'fails in 1 of 3 histories' 'lost update' 'a.n = 0, b.n = 0'
run 0 explore loses_an_update.so -i ser
try 0 checks holds 'holds: the assertion is true'
try 0 checks notes_that_are_none 'holds'
try 1 checks notes_of_nobody 'iso_noted("nobody"' 'no session of this name'
try 1 checks expectation_crashes 'run-time error' 'SIGSEGV' 'crash()' \
	'happens in 3 of 3 histories' 'checks.c:'
try 1 checks expectation_crashes_once 'SIGSEGV' 'happens in 1 of 3 histories'
try 1 checks expectation_gets 'iso_get' 'iso_noted'
try 1 checks expectation_begins 'iso_begin' 'iso_noted'
try 1 checks expectation_asserts 'iso_assert' 'iso_noted'
try 1 checks expectation_exits 'exit'
try 1 checks expectation_loops 'happens in 1 of 3 histories' 'spin()'
try 1 checks expectation_asks_for_ever 'happens in 1 of 3 histories'
compile checks expectation_counts_calls
run 3 explore expectation_counts_calls.so
says 'true every second time'
try 0 checks expectation_with_null_names 'holds'
try 1 checks final_session 'the sum is 2' 'fails in 2 of 4 histories' \
	'finally' 'read counter = 1'
try 1 checks expectation_of_the_final_session \
	'the final session sees 2' 'the sum is 2' '2 of 2 assertions fail'
try 1 checks final_session_crashes 'happens in 2 of 4 histories' \
	'finally' 'read counter = 1' 'SIGSEGV' 'crash_after_look()'
try 0 checks assumes '2 pruned'
for name in assumes_what_is_false assumes_behind_a_failure; do
	try 4 checks $name 'there is no history to judge by' \
		'1 execution makes an assumption false'
done
try 0 checks aborts \
	'holds: both assertions are true in the one history'
try 1 checks goes_on 'first' 'second' 'behind the transaction' \
	'3 of 3 assertions fail'
try 1 checks fails_in_a_loop 'fails in 1 of 2 histories' "a loop's assertion" \
	'i = '
try 1 checks messages_of_values 'the number is 0'
lacks 'overwritten'
try 1 checks talks_too_much 'abcdefghijklmnop'
[ "$(wc -c <out)" -lt 300000 ] && pass || fail 'a message without an end'
try 1 checks talks_strangely 'two'
if grep -q "$(printf '[\033\007]')" out; then
	fail 'a message reaches the terminal as it is'
else
	pass
fi
run 1 explore talks_strangely.so --json
json '.[0].assertions | length' 1
try 1 checks notes_much 'after many notes' 'fails with n'

# --- keys and values of every kind ---
for name in integers integer_keys nulls bytes keys megabytes long_keys \
	many_keys answers_stay arguments_are_copied; do
	try 0 values $name 'holds: '
	run 0 record $name.so --seed 1 -o $name.jsonl
	run 0 check -q $name.jsonl
	run 0 explore $name.so --from $name.jsonl
done
for name in integer_keys nulls bytes keys; do
	run 0 explore $name.so --json
	json '.[0].verdict' holds
	run 0 explore $name.so --levels
	run 0 explore $name.so --histories h.jsonl --dot g.dot
	run 0 check -q -i cc h.jsonl
	run 0 check -q --format isoscope h.jsonl
	run 0 convert --to dbcop-json $name.jsonl -o converted
done
run 0 check --strongest keys.jsonl
prints ser
try 1 values shown 'shown' "$(printf '\303\251')" '€' '-7 = -8'
unprintable="$(printf '[\001-\010\013-\037\177]')"
if grep -q "$unprintable" out; then
	fail 'control characters reach the terminal'
else
	pass
fi
run 1 explore shown.so --json
json '.[0].assertions[0].text' 'assert "shown"'
run 1 explore shown.so --dot g.dot --histories h.jsonl
run 0 check -q -i cc h.jsonl
if command -v dot >/dev/null; then
	run 1 explore shown.so --svg g.svg
	grep -q '<svg' g.svg && pass || fail 'a picture is drawn'
fi
for name in giant too_much reads_much; do
	compile values $name
	"$ISOSCOPE" explore $name.so >out 2>err
	code=$? what="explore $name.so"
	case $code in
	0) prints holds ;;
	1) prints 'a run-time error' && prints 'bytes' ;;
	3) says 'MiB, the most' ;;
	*) fail "$what: exit code $code" ;;
	esac
done

# --- C++ ---
if ${CXX:-c++} --version >/dev/null 2>&1; then
	for name in transfers catches throws; do
		${CXX:-c++} -g -shared -fPIC -I"$top/include" -DCASE=$name \
			-o $name.so "$clients/plusplus.cc" 2>err ||
			fail "plusplus.cc does not compile with $name"
	done
	run 0 explore transfers.so
	prints 'holds'
	run 0 explore catches.so
	run 1 explore throws.so
	prints 'SIGABRT'
	prints 'nobody catches this'
	for version in 98 11 20; do
		echo '#include <isoscope/client.h>' >header.cc
		${CXX:-c++} -std=c++$version -pedantic -Wall -Wextra -Werror \
			-fsyntax-only -I"$top/include" header.cc >out 2>err &&
			pass || fail "the header as C++$version"
	done
fi
for version in 99 11 17; do
	echo '#include <isoscope/client.h>' >header.c
	${CC:-cc} -std=c$version -pedantic -Wall -Wextra -Werror -fsyntax-only \
		-I"$top/include" header.c >out 2>err &&
		pass || fail "the header as C$version"
done
# --- levels beside which another one has no meaning ---
cat >mixed.c <<'END'
#include <isoscope/client.h>
static void add(void *level)
{
	iso_begin_at("add", level);
	iso_put_int("x", iso_get_int("x") + 1);
	iso_commit();
}
void iso_client(void)
{
	iso_initial_int("x", 0);
	iso_session("a", add, "si");
	iso_session("b", add, "sqlserver-snapshot");
}
END
${CC:-cc} -g -shared -fPIC -I"$top/include" -o mixed.so mixed.c
run 0 explore mixed.so --levels
equal 'a C client at levels of its own' \
	"$(sed -n '/^histories/s/  */ /gp' out)" 'histories 2 2 2 2 2 2 - 2 2'
run 1 explore mixed.so -i psi
prints 'iso_begin_at(): the others have a level that has no meaning'

finish
