/* Calls of C functions without a program: values that the language cannot
 * write, what is kept and for how long, several threads, a worker that is gone.
 * The functions are those of the C library. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/region.h"
#include "base/rng.h"
#include "native/host/guest.h"
#include "native/host/library.h"
#include "suites.h"
#include "support.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

enum {
	ABSOLUTE,
	LENGTH,
	VARIABLE,
	RANDOM,
	QUIT,
	COPY,
	COMPARE,
	PAUSE,
	FUNCTIONS
};
enum { HUGE_STRING = 40 << 20 };

static const uint8_t strings[] = { FOREIGN_STRING, FOREIGN_STRING };
static const uint8_t integers[] = { FOREIGN_INT };

static const struct foreign_function functions[FUNCTIONS] = {
	[ABSOLUTE] = { "llabs", "libc.so.6", 1, integers, FOREIGN_INT },
	[LENGTH] = { "strlen", "libc.so.6", 1, strings, FOREIGN_INT },
	[VARIABLE] = { "getenv", "libc.so.6", 1, strings, FOREIGN_STRING },
	[RANDOM] = { "random", "libc.so.6", 0, integers, FOREIGN_INT },
	[QUIT] = { "_exit", "libc.so.6", 1, integers, FOREIGN_INT },
	[COPY] = { "strdup", "libc.so.6", 1, strings, FOREIGN_STRING },
	[COMPARE] = { "strcmp", "libc.so.6", 2, strings, FOREIGN_INT },
	[PAUSE] = { "pause", "libc.so.6", 0, integers, FOREIGN_INT },
};

static struct guest_library *library;
static struct guest *guest;
static struct region region;

static void set_up(void)
{
	struct library *l = library_new(NULL, STEP_TIMEOUT);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		ck_assert_uint_eq(library_add_function(l, &functions[i]), i);
	library = library_guest(l);
	guest = library->ops->take(library, &(struct machine_limits){ 0 });
	region_init(&region);
}

static void tear_down(void)
{
	library->ops->give_back(library, guest);
	library->ops->release(library);
	region_free(&region);
}

static bool call(struct guest *g, struct region *r, uint32_t function,
                 const struct value *arguments, struct value *out,
                 const char **error)
{
	return library->ops->call(g, function, arguments,
	                          functions[function].parameter_count, r, out,
	                          error);
}

static struct value gives(uint32_t function, struct value argument)
{
	struct value v;
	const char *error = NULL;
	ck_assert_msg(call(guest, &region, function, &argument, &v, &error),
	              "%s", error);
	return v;
}

static void fails(uint32_t function, const struct value *arguments,
                  const char *expected)
{
	struct value v;
	const char *error = "nothing was said";
	ck_assert(!call(guest, &region, function, arguments, &v, &error));
	ck_assert_msg(strstr(error, expected), "'%s', not '%s'", error,
	              expected);
}

static struct value string(const char *s)
{
	return value_string(&region, s, strlen(s));
}

/* ---- values ---- */

START_TEST(integers_go_in_and_out)
{
	struct rng rng = { first_seed() };
	for (int i = 0; i < 3000; i++) {
		int64_t n = (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
		ck_assert_int_eq(gives(ABSOLUTE, value_int(n)).i,
		                 n < 0 ? -n : n);
	}
}
END_TEST

START_TEST(strings_go_in_and_out)
{
	struct value s = string("\xc5\xbc\xc3\xb3\xc5\x82w");
	ck_assert_int_eq(gives(LENGTH, s).i, 7);
	ck_assert(value_equal(gives(COPY, s), s));
	ck_assert_int_eq(gives(LENGTH, string("")).i, 0);
	ck_assert(value_equal(gives(COPY, string("")), string("")));
	ck_assert_int_eq(gives(VARIABLE, string("no such=")).tag, VALUE_NULL);
}
END_TEST

START_TEST(wrong_arguments)
{
	struct value zero = value_string(&region, "a\0b", 3);
	struct value mixed[] = { string("a"), value_int(1) };
	struct value late[] = { string("a"), zero };
	fails(LENGTH, &zero, "argument 1 of 'strlen' holds a zero byte");
	fails(ABSOLUTE, &zero,
	      "argument 1 of 'llabs' must be an integer, not string");
	fails(COMPARE, mixed,
	      "argument 2 of 'strcmp' must be a string, not integer");
	fails(COMPARE, late, "argument 2 of 'strcmp' holds a zero byte");
}
END_TEST

START_TEST(results_that_are_no_text)
{
	struct value s = value_string(&region, "caf\xe9", 4);
	fails(COPY, &s, "it gave a string that is not UTF-8");
}
END_TEST

START_TEST(huge_strings)
{
	char *bytes = mem_take(HUGE_STRING);
	memset(bytes, 'x', HUGE_STRING);
	struct value huge = value_string(&region, bytes, HUGE_STRING);
	struct value both[] = { huge, huge };
	free(bytes);
	ck_assert(value_equal(gives(COPY, huge), huge));
	ck_assert_int_eq(gives(LENGTH, huge).i, HUGE_STRING);
	fails(COMPARE, both, "its arguments are too long");
	/* The message shows only where they begin. */
	struct value v;
	const char *error;
	ck_assert(!call(guest, &region, COMPARE, both, &v, &error));
	ck_assert_uint_lt(strlen(error), 250);
	ck_assert_ptr_nonnull(strstr(error, "strcmp(\"xxx"));
}
END_TEST

/* ---- what is kept ---- */

static void call_many(int count)
{
	struct region r;
	region_init(&r);
	for (int i = 0; i < count; i++) {
		struct value v = value_int(-i), out;
		const char *error = NULL;
		ck_assert(call(guest, &r, ABSOLUTE, &v, &out, &error));
		ck_assert_int_eq(out.i, i);
	}
	region_free(&r);
}

START_TEST(results_are_kept)
{
	call_many(1);
	size_t empty = library->ops->bytes(guest);
	call_many(20000);
	size_t full = library->ops->bytes(guest);
	ck_assert_uint_gt(full, empty + 20000 * sizeof(struct value));
	call_many(20000);
	ck_assert_uint_eq(library->ops->bytes(guest), full);
}
END_TEST

/* Nothing more is kept, and all is right still. */
START_TEST(nothing_is_kept_beyond_the_budget)
{
	call_many(1);
	guest->budget = 0;
	size_t before = library->ops->bytes(guest);
	call_many(1000);
	call_many(1000);
	ck_assert_uint_eq(library->ops->bytes(guest), before);
	fails(RANDOM, NULL, "not a pure function: random() gave ");
}
END_TEST

/* The table is full once it holds more than its bytes; it says so to whoever
 * asks what is held. */
START_TEST(the_table_has_an_end)
{
	char *bytes = mem_take(HUGE_STRING);
	memset(bytes, 'y', HUGE_STRING);
	struct value huge = value_string(&region, bytes, HUGE_STRING);
	free(bytes);
	gives(COPY, huge);
	size_t full = library->ops->bytes(guest);
	ck_assert_uint_ge(full, 2 * (size_t)HUGE_STRING);
	call_many(1000);
	gives(COPY, string("more"));
	ck_assert_uint_eq(library->ops->bytes(guest), full);
}
END_TEST

/* ---- failures ---- */

START_TEST(functions_that_are_none)
{
	fails(RANDOM, NULL, "not a pure function: random() gave ");
	fails(RANDOM, NULL, "not a pure function: random() gave ");
	ck_assert_int_eq(gives(ABSOLUTE, value_int(-3)).i, 3);
}
END_TEST

START_TEST(the_worker_is_started_again)
{
	for (int i = 0; i < 20; i++) {
		struct value code = value_int(i);
		fails(QUIT, &code, "exit(");
		ck_assert_int_eq(gives(ABSOLUTE, value_int(-i)).i, i);
		process_end(guest->process);
		ck_assert_int_eq(gives(ABSOLUTE, value_int(i - 100)).i,
		                 100 - i);
	}
}
END_TEST

/* A failure is kept as well: each of these takes a new process, but once. */
START_TEST(failures_are_kept)
{
	struct value code = value_int(7);
	fails(QUIT, &code, "_exit(7): ");
	size_t before = library->ops->bytes(guest);
	process_is_new(guest->process);
	for (int i = 0; i < 10000; i++) fails(QUIT, &code, "_exit(7): ");
	ck_assert(!process_is_new(guest->process));
	ck_assert_uint_eq(library->ops->bytes(guest), before);
}
END_TEST

static void *interrupt_soon(void *data)
{
	usleep(100000);
	atomic_store((atomic_bool *)data, true);
	return NULL;
}

/* Neither a value nor an error, and nothing that is kept. */
START_TEST(a_call_is_interrupted)
{
	struct program p = { .library = library };
	atomic_bool flag = false;
	pthread_t thread;
	struct value v;
	const char *error = NULL;
	library_set_limits(&p, &flag, 0);
	library->ops->give_back(library, guest);
	guest = library->ops->take(library, &(struct machine_limits){ 0 });
	ck_assert(!pthread_create(&thread, NULL, interrupt_soon, &flag));
	ck_assert(!call(guest, &region, PAUSE, NULL, &v, &error));
	pthread_join(thread, NULL);
	ck_assert_ptr_null(error);
	atomic_store(&flag, false);
	ck_assert_int_eq(gives(ABSOLUTE, value_int(-1)).i, 1);
}
END_TEST

/* ---- several at once ---- */

struct summing {
	pthread_t thread;
	int64_t sum;
	char error[200]; /* the first one */
};

static void *call_in_thread(void *data)
{
	struct summing *s = data;
	struct region r;
	struct guest *g =
		library->ops->take(library, &(struct machine_limits){ 0 });
	region_init(&r);
	for (int i = 1; i <= 2000; i++) {
		struct value v = value_int(-i % 500), out;
		const char *error = NULL;
		if (call(g, &r, ABSOLUTE, &v, &out, &error))
			s->sum += out.i;
		else if (!*s->error)
			strncpy(s->error, error, sizeof s->error - 1);
	}
	region_free(&r);
	library->ops->give_back(library, g);
	return NULL;
}

START_TEST(threads_have_their_own_workers)
{
	struct summing s[4] = { 0 };
	if (!FORKS_AMONG_THREADS) return;
	for (int i = 0; i < 4; i++)
		ck_assert(!pthread_create(&s[i].thread, NULL, call_in_thread,
		                          &s[i]));
	for (int i = 0; i < 4; i++) {
		pthread_join(s[i].thread, NULL);
		ck_assert_str_eq(s[i].error, "");
		ck_assert_int_eq(s[i].sum, 4 * (499 * 500 / 2));
	}
}
END_TEST

START_TEST(what_cannot_be_loaded)
{
	struct foreign_function f = { "nix", "libc.so.6", 0, integers,
		                      FOREIGN_INT };
	struct library *l = library_new(NULL, STEP_TIMEOUT);
	struct text why = { 0 };
	library_add_function(l, &f);
	ck_assert(!library_try(l, &why));
	ck_assert_str_eq(text_get(&why),
	                 "the library 'libc.so.6' has no function 'nix'");
	text_free(&why);
	library_guest(l)->ops->release(library_guest(l));
}
END_TEST

void add_foreign_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, integers_go_in_and_out);
	tcase_add_test(tests, strings_go_in_and_out);
	tcase_add_test(tests, wrong_arguments);
	tcase_add_test(tests, results_that_are_no_text);
	tcase_add_test(tests, huge_strings);
	tcase_add_test(tests, results_are_kept);
	tcase_add_test(tests, nothing_is_kept_beyond_the_budget);
	tcase_add_test(tests, the_table_has_an_end);
	tcase_add_test(tests, functions_that_are_none);
	tcase_add_test(tests, the_worker_is_started_again);
	tcase_add_test(tests, failures_are_kept);
	tcase_add_test(tests, a_call_is_interrupted);
	tcase_add_test(tests, threads_have_their_own_workers);
	tcase_add_test(tests, what_cannot_be_loaded);
}
