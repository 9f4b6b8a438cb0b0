/* No state is shared: explorations in threads of their own find what they find
 * alone. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dpor/explorer.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"

enum { THREADS = 2, PROGRAMS = 150 };

struct work {
	uint64_t seed;
	enum level level, base;
	const struct program *shared; /* or NULL: a program of its own */
	/* Results: a digest of all histories in order, and their number. */
	uint64_t histories;
	uint64_t digest;
};

static bool digest(void *payload, const struct explore_execution *e)
{
	struct work *w = payload;
	w->digest = w->digest * 31 + explore_hash(e);
	w->histories++;
	return w->histories < 2000;
}

static void explore(const struct program *p, struct work *w)
{
	struct explore_options o = { .level = w->level, .base = w->base };
	struct explore_observer observer = { .payload = w,
		                             .history = digest };
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	explorer_free(e);
}

static void *work(void *argument)
{
	struct work *w = argument;
	struct text source = { 0 };
	if (w->shared) {
		explore(w->shared, w);
		return NULL;
	}
	random_program(&source, w->seed);
	struct program *p = program_from_text(text_get(&source));
	explore(p, w);
	program_free(p);
	text_free(&source);
	return NULL;
}

static void compare(struct work *jobs)
{
	pthread_t threads[THREADS];
	struct work alone[THREADS];
	for (int t = 0; t < THREADS; t++) {
		alone[t] = jobs[t];
		work(&alone[t]);
	}
	for (int t = 0; t < THREADS; t++)
		ck_assert_int_eq(
		    pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
	for (int t = 0; t < THREADS; t++) {
		pthread_join(threads[t], NULL);
		ck_assert_uint_eq(jobs[t].histories, alone[t].histories);
		ck_assert_uint_eq(jobs[t].digest, alone[t].digest);
	}
}

START_TEST(two_programs_in_two_threads)
{
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct work jobs[THREADS] = {
			{ .seed = i, .level = LEVEL_CC, .base = LEVEL_CC },
			{ .seed = i + 1000, .level = LEVEL_SI,
			  .base = LEVEL_RC },
		};
		compare(jobs);
	}
}
END_TEST

START_TEST(one_program_in_two_threads)
{
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct text source = { 0 };
		random_program(&source, i);
		struct program *p = program_from_text(text_get(&source));
		struct work jobs[THREADS] = {
			{ .shared = p, .level = LEVEL_RA, .base = LEVEL_RA },
			{ .shared = p, .level = LEVEL_SER,
			  .base = LEVEL_CC },
		};
		compare(jobs);
		program_free(p);
		text_free(&source);
	}
}
END_TEST

void add_api_tests(TCase *tests)
{
	tcase_add_test(tests, two_programs_in_two_threads);
	tcase_add_test(tests, one_program_in_two_threads);
}
