/* Assertions, assumptions, aborts, final sessions and expectations: what is
 * found, and what the functions behind them must not do. -DCASE=name chooses
 * the client. Unless it says otherwise: two sessions add 1 to a counter, and
 * note what they saw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <isoscope/client.h>

static void add(void *unused)
{
	(void)unused;
	iso_begin("add");
	int64_t n = iso_get_int("counter");
	iso_note_int("n", n);
	iso_put_int("counter", n + 1);
	iso_commit();
}

static void two_adds(void)
{
	iso_initial_int("counter", 0);
	iso_session("a", add, NULL);
	iso_session("b", add, NULL);
}

/* ---- expectations ---- */

static bool different(void *unused)
{
	(void)unused;
	return iso_noted_int("a", "n", -1) != iso_noted_int("b", "n", -1);
}

static void loses_an_update(void)
{
	two_adds();
	iso_expect("they see different numbers", different, NULL);
}

static bool small(void *limit)
{
	return iso_noted_int("a", "n", -1) <= *(int *)limit &&
	       iso_noted_int("b", "n", -1) <= *(int *)limit;
}

static void holds(void)
{
	static int limit = 1;
	two_adds();
	iso_expect("nobody counts too far", small, &limit);
}

static bool nothing_there(void *unused)
{
	(void)unused;
	return iso_noted("a", "m").kind == ISO_NULL &&
	       iso_noted("a", "").kind == ISO_NULL &&
	       iso_noted_int("a", "m", 5) == 5;
}

static void notes_that_are_none(void)
{
	two_adds();
	iso_expect("there is null where nothing was noted", nothing_there,
	           NULL);
}

static bool asks_nobody(void *unused)
{
	(void)unused;
	return iso_noted("nobody", "n").kind == ISO_NULL;
}

static void notes_of_nobody(void)
{
	two_adds();
	iso_expect("asks for a session that there is not", asks_nobody, NULL);
}

static bool crash(void *unused)
{
	(void)unused;
	return *(volatile int *)0;
}

static void expectation_crashes(void)
{
	two_adds();
	iso_expect("crashes", crash, NULL);
}

/* Only where an update was lost. */
static bool crash_sometimes(void *unused)
{
	return different(unused) || crash(unused);
}

static void expectation_crashes_once(void)
{
	two_adds();
	iso_expect("crashes where an update is lost", crash_sometimes, NULL);
}

static bool spin(void *unused)
{
	if (!different(unused))
		for (;;) __asm__ volatile("");
	return true;
}

static void expectation_loops(void)
{
	two_adds();
	iso_expect("loops where an update is lost", spin, NULL);
}

static bool noted_for_ever(void *unused)
{
	while (!different(unused)) continue;
	return true;
}

static void expectation_asks_for_ever(void)
{
	two_adds();
	iso_expect("asks for ever where an update is lost", noted_for_ever,
	           NULL);
}

static bool get_counter(void *unused)
{
	(void)unused;
	return iso_get_int("counter") == 2;
}

static void expectation_gets(void)
{
	two_adds();
	iso_expect("reads the database", get_counter, NULL);
}

static bool begins(void *unused)
{
	(void)unused;
	iso_begin("in an expectation");
	iso_commit();
	return true;
}

static void expectation_begins(void)
{
	two_adds();
	iso_expect("begins a transaction", begins, NULL);
}

static bool asserts(void *unused)
{
	(void)unused;
	iso_assert(false, "in an expectation");
	return true;
}

static void expectation_asserts(void)
{
	two_adds();
	iso_expect("asserts", asserts, NULL);
}

static bool leaves(void *unused)
{
	(void)unused;
	exit(0);
}

static void expectation_exits(void)
{
	two_adds();
	iso_expect("exits", leaves, NULL);
}

static bool odd_calls(void *unused)
{
	static int calls;
	(void)unused;
	return ++calls % 2;
}

static void expectation_counts_calls(void)
{
	two_adds();
	iso_expect("true every second time", odd_calls, NULL);
}

static bool null_names(void *unused)
{
	(void)unused;
	return iso_noted(NULL, NULL).kind == ISO_NULL;
}

static void expectation_with_null_names(void)
{
	two_adds();
	iso_expect("null pointers for names", null_names, NULL);
}

/* ---- a final session ---- */

static void look(void *unused)
{
	(void)unused;
	iso_begin("look");
	int64_t n = iso_get_int("counter");
	iso_note_int("sum", n);
	iso_assert(n == 2, "the sum is 2");
	iso_commit();
}

static void final_session(void)
{
	two_adds();
	iso_finally(look, NULL);
}

static bool sum_is_two(void *unused)
{
	(void)unused;
	return iso_noted_int("finally", "sum", -1) == 2;
}

static void expectation_of_the_final_session(void)
{
	two_adds();
	iso_finally(look, NULL);
	iso_expect("the final session sees 2", sum_is_two, NULL);
}

static void crash_after_look(void *unused)
{
	(void)unused;
	iso_begin("look");
	if (iso_get_int("counter") == 1) *(volatile int *)0 = 1;
	iso_commit();
}

static void final_session_crashes(void)
{
	two_adds();
	iso_finally(crash_after_look, NULL);
}

/* ---- assumptions ---- */

static void add_to_zero(void *unused)
{
	(void)unused;
	iso_begin("add");
	int64_t n = iso_get_int("counter");
	iso_assume(n == 0);
	iso_put_int("counter", n + 1);
	iso_commit();
}

/* Of three histories one has no session that sees 1. */
static void assumes(void)
{
	iso_initial_int("counter", 0);
	iso_session("a", add_to_zero, NULL);
	iso_session("b", add_to_zero, NULL);
}

static void assume_nothing(void *unused)
{
	(void)unused;
	iso_assume(false);
	*(volatile int *)0 = 1;
}

/* What stands behind a false assumption does not happen. */
static void assumes_what_is_false(void)
{
	iso_session("a", assume_nothing, NULL);
}

static void assert_then_assume(void *unused)
{
	(void)unused;
	iso_assert(false, "in an execution of no interest");
	iso_assume(false);
}

static void assumes_behind_a_failure(void)
{
	iso_session("a", assert_then_assume, NULL);
}

/* ---- aborts ---- */

static void give_up(void *unused)
{
	(void)unused;
	iso_begin("in vain");
	iso_put_int("counter", 77);
	iso_assert(iso_get_int("counter") == 77, "own writes are read");
	iso_abort();
	iso_begin("afterwards");
	iso_assert(iso_get_int("counter") == 0, "nothing was written");
	iso_commit();
}

static void aborts(void)
{
	iso_initial_int("counter", 0);
	iso_session("a", give_up, NULL);
	iso_session("b", give_up, NULL);
}

/* ---- assertions ---- */

static void fail_and_go_on(void *unused)
{
	(void)unused;
	iso_begin("fails");
	iso_assert(false, "first");
	iso_put_int("counter", 1);
	iso_assert(false, "second");
	iso_commit();
	iso_assert(false, "behind the transaction");
}

static void goes_on(void)
{
	iso_session("a", fail_and_go_on, NULL);
}

static void same_place(void *unused)
{
	(void)unused;
	iso_begin("loop");
	for (int i = 0; i < 5; i++) {
		int64_t n = iso_get_int("counter");
		iso_note_int("i", i);
		iso_assert(n < 1 || i < 3, "a loop's assertion");
	}
	iso_commit();
}

static void fails_in_a_loop(void)
{
	iso_initial_int("counter", 0);
	iso_session("a", add, NULL);
	iso_session("loop", same_place, NULL);
}

/* From one place, with messages made up while running: values do not belong
 * into messages, but may get there. */
static void make_up_messages(void *unused)
{
	char message[64];
	(void)unused;
	iso_begin("talks");
	snprintf(message, sizeof message, "the number is %d",
	         (int)iso_get_int("counter"));
	iso_assert(false, message);
	snprintf(message, sizeof message, "overwritten");
	iso_commit();
}

static void messages_of_values(void)
{
	iso_initial_int("counter", 0);
	iso_session("a", add, NULL);
	iso_session("talker", make_up_messages, NULL);
}

static void long_message(void *unused)
{
	char *message = malloc(100001);
	(void)unused;
	for (int i = 0; i < 100000; i++)
		message[i] = (char)('a' + i % 26);
	message[100000] = 0;
	iso_assert(false, message);
	free(message);
}

static void talks_too_much(void)
{
	iso_session("a", long_message, NULL);
}

static void strange_message(void *unused)
{
	(void)unused;
	iso_note_string("na\"me\x1b[31m", "a\x1b[31mred\x07\ntwo lines");
	iso_assert(false, "\x1b[31mred\x07\ntwo \"lines\", \xff, \xc3\xa9");
}

static void talks_strangely(void)
{
	iso_session("a", strange_message, NULL);
}

static void note_much(void *unused)
{
	char name[16];
	(void)unused;
	iso_begin("notes");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "n%d", i);
		iso_note_int(name, i * i);
		iso_note_int("last", i);
	}
	iso_put_int("counter", 1);
	iso_commit();
	iso_assert(false, "after many notes");
}

static void notes_much(void)
{
	iso_session("a", note_much, NULL);
}

void iso_client(void)
{
	CASE();
}
