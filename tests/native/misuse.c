/* Mistakes in the use of the functions that sessions call. -DCASE=name chooses
 * the session.
 */
#include <isoscope/client.h>

/* As anyone would write it, with nothing wrong. */
static void correct(void *unused)
{
	(void)unused;
	iso_begin(NULL);
	iso_get_int("number");
	iso_put_string("word", "other");
	iso_commit();
	iso_begin("gives up");
	iso_put_int("number", 8);
	iso_abort();
}

static void no_commit(void *unused)
{
	(void)unused;
	iso_begin("open");
	iso_put_int("number", 8);
}

static void begin_in_a_transaction(void *unused)
{
	(void)unused;
	iso_begin("outer");
	iso_begin("inner");
	iso_commit();
	iso_commit();
}

static void unknown_level(void *unused)
{
	(void)unused;
	iso_begin_at("strange", "sj");
	iso_commit();
}

static void empty_level(void *unused)
{
	(void)unused;
	iso_begin_at("strange", "");
	iso_commit();
}

static void level_of_all(void *unused)
{
	(void)unused;
	iso_begin_at("strange", "psi");
	iso_commit();
}

static void get_outside(void *unused)
{
	(void)unused;
	iso_get_int("number");
}

static void get_behind(void *unused)
{
	(void)unused;
	iso_begin("first");
	iso_commit();
	iso_get(iso_string("number"));
}

static void put_outside(void *unused)
{
	(void)unused;
	iso_put_int("number", 8);
}

static void commit_outside(void *unused)
{
	(void)unused;
	iso_commit();
}

static void commit_twice(void *unused)
{
	(void)unused;
	iso_begin("once");
	iso_commit();
	iso_commit();
}

static void abort_outside(void *unused)
{
	(void)unused;
	iso_abort();
}

static void int_of_string(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_get_int("word");
	iso_commit();
}

static void string_of_int(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_get_string("number");
	iso_commit();
}

static void int_of_null(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_get_int("never written");
	iso_commit();
}

/* This is the way to ask for what may be null. */
static void string_of_null(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_assert(!iso_get_string("never written"), "a null pointer");
	iso_assert(iso_get(iso_string("never written")).kind == ISO_NULL,
	           "null");
	iso_commit();
}

static void get_of_null_pointer(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_get_int(NULL);
	iso_commit();
}

static void put_of_null_pointer(void *unused)
{
	(void)unused;
	iso_begin("writes");
	iso_put_int(NULL, 1);
	iso_commit();
}

static void get_of_null(void *unused)
{
	(void)unused;
	iso_begin("reads");
	iso_get(iso_null());
	iso_commit();
}

static void kind_that_is_none(void *unused)
{
	struct iso_value odd = { .kind = (enum iso_kind)77 };
	(void)unused;
	iso_begin("writes");
	iso_put(iso_string("number"), odd);
	iso_commit();
}

static void key_of_no_kind(void *unused)
{
	struct iso_value odd = { .kind = (enum iso_kind)77 };
	(void)unused;
	iso_begin("reads");
	iso_get(odd);
	iso_commit();
}

static void bytes_from_nowhere(void *unused)
{
	(void)unused;
	iso_begin("writes");
	iso_put(iso_string("number"), iso_bytes(NULL, 5));
	iso_commit();
}

static void more_bytes_than_there_are(void *unused)
{
	(void)unused;
	iso_begin("writes");
	iso_put(iso_string("number"), iso_bytes("few", (size_t)1 << 40));
	iso_commit();
}

static void session_in_a_session(void *unused)
{
	(void)unused;
	iso_session("late", correct, NULL);
}

static void initial_in_a_session(void *unused)
{
	(void)unused;
	iso_initial_int("late", 1);
}

static void finally_in_a_session(void *unused)
{
	(void)unused;
	iso_finally(correct, NULL);
}

static bool anything(void *unused)
{
	(void)unused;
	return true;
}

static void expect_in_a_session(void *unused)
{
	(void)unused;
	iso_expect("late", anything, NULL);
}

static void isolation_in_a_session(void *unused)
{
	(void)unused;
	iso_isolation("ser");
}

static void noted_in_a_session(void *unused)
{
	(void)unused;
	iso_note_int("n", 1);
	iso_noted("misuser", "n");
}

static void note_without_a_name(void *unused)
{
	(void)unused;
	iso_note_int(NULL, 1);
}

/* Outside of transactions, and without a message: both are fine. */
static void assert_anywhere(void *unused)
{
	(void)unused;
	iso_assert(true, NULL);
	iso_assume(true);
	iso_note_int("n", 1);
}

static void assert_without_a_message(void *unused)
{
	(void)unused;
	iso_assert(false, NULL);
}

static void bystander(void *unused)
{
	(void)unused;
	iso_begin("bystander");
	iso_put_int("beside", 1);
	iso_commit();
}

void iso_client(void)
{
	iso_initial_int("number", 7);
	iso_initial_string("word", "seven");
	iso_session("misuser", CASE, NULL);
	iso_session("bystander", bystander, NULL);
}
