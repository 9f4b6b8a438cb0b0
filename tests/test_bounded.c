/* Bounded search (EXPLORE_ORDERLY with max_changes), against explore-ce: of the
 * histories of a random program just those that the twin says need so few stale
 * reads, each once. */
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "dpor/explorer.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_staleness.h"

enum {
	RUNS = 8,
	PROGRAMS = 800,       /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES_MOST = 300, /* larger programs are left out */
	BOUNDS = 6            /* 0 to 4, and none at all */
};

static uint64_t bound_of(unsigned k)
{
	return k + 1 < BOUNDS ? k : UINT64_MAX;
}

/* Histories by what they need, and who violates what. */
struct result {
	struct strings texts;
	uint64_t *staleness; /* parallel to texts before they are sorted */
	size_t capacity;
	struct explore_stats stats;
	uint64_t *violations; /* by slot */
};

static bool collect(void *payload, const struct explore_execution *e)
{
	struct result *r = payload;
	struct history *h = explore_history(e);
	struct text t = { 0 };
	VEC_RESERVE(r->staleness, r->texts.count, r->capacity);
	r->staleness[r->texts.count] = twin_staleness(h);
	history_print_canonical(&t, h);
	text_format(&t, "violates");
	for (uint64_t i = 0; i < e->violated_count; i++)
		text_format(&t, " %u", e->violated[i]);
	strings_add(&r->texts, text_get(&t));
	text_free(&t);
	history_free(h);
	return true;
}

static void run(const struct program *p, const struct explore_options *o,
                struct result *r)
{
	struct explore_observer observer = { .payload = r, .history = collect };
	memset(r, 0, sizeof *r);
	struct explorer *e = explorer_new(p, o, &observer);
	explorer_run(e);
	r->stats = *explorer_stats(e);
	explorer_free(e);
}

static void result_free(struct result *r)
{
	strings_free(&r->texts);
	free(r->staleness);
}

struct trial {
	uint64_t seed;
	const char *source;
	enum level level;
	uint64_t bound;
};

static void expect(const struct trial *t, bool fine, const char *what,
                   const char *history)
{
	if (fine) return;
	ck_abort_msg("seed %llu, %s, at most %llu stale reads: %s\n%.1500s\n%s",
	             (unsigned long long)t->seed, level_word(t->level),
	             (unsigned long long)t->bound, what, history, t->source);
}

/* Both are sorted. */
static void expect_same(const struct trial *t, const struct strings *found,
                        const struct strings *expected)
{
	for (size_t i = 0; i < found->count || i < expected->count; i++) {
		int order = i == found->count      ? 1
		            : i == expected->count ? -1
		                                   : strcmp(found->items[i],
		                                            expected->items[i]);
		if (order < 0)
			expect(t, false, "wrong, or twice", found->items[i]);
		if (order > 0) expect(t, false, "missing", expected->items[i]);
	}
}

static void try_bound(const struct trial *t, const struct program *p,
                      const struct result *all)
{
	struct explore_options o = { .algorithm = EXPLORE_ORDERLY,
		                     .level = t->level,
		                     .base = t->level,
		                     .robust = true,
		                     .max_changes = t->bound };
	struct strings expected = { 0 };
	struct result found;
	run(p, &o, &found);
	for (size_t i = 0; i < all->texts.count; i++)
		if (all->staleness[i] <= t->bound)
			strings_add(&expected, all->texts.items[i]);
	bool complete = expected.count == all->texts.count;
	strings_sort(&expected);
	strings_sort(&found.texts);
	expect_same(t, &found.texts, &expected);
	const struct explore_stats *s = &found.stats;
	expect(t, s->histories == expected.count, "count", "");
	expect(t, t->bound || !s->unserializable, "not serializable", "");
	expect(t, s->stop == (s->cut ? STOP_STALE : STOP_NONE), "stop", "");
	expect(t, complete || s->cut, "cut without a word", "");
	expect(t, t->bound < UINT64_MAX || !s->cut, "cut without bound", "");
	strings_free(&expected);
	result_free(&found);
}

/* Which answers there were: so that dull programs are noticed. */
struct variety {
	uint64_t programs, cut, between;
};

static void try_program(uint64_t seed, enum level level, struct variety *v)
{
	struct text source = { 0 };
	random_program(&source, seed);
	struct program *p = program_from_text(text_get(&source));
	struct explore_options o = {
		.level = level,
		.base = level_base(level),
		.robust = true,
		.max_histories = HISTORIES_MOST,
	};
	struct result all;
	run(p, &o, &all);
	if (all.stats.stop == STOP_NONE) {
		uint64_t serializable = 0, near = 0;
		for (size_t i = 0; i < all.texts.count; i++) {
			serializable += all.staleness[i] == 0;
			near += all.staleness[i] == 1;
		}
		for (unsigned k = 0; k < BOUNDS; k++)
			try_bound(&(struct trial){ seed, text_get(&source),
			                           level, bound_of(k) },
			          p, &all);
		v->programs++;
		v->cut += serializable < all.texts.count;
		v->between += near && serializable + near < all.texts.count;
	}
	result_free(&all);
	program_free(p);
	text_free(&source);
}

START_TEST(random_programs)
{
	uint64_t first = first_seed() * 1000000;
	uint64_t count = programs_or(PROGRAMS) / RUNS;
	struct variety v = { 0 };
	for (uint64_t i = 0; i < count; i++)
		try_program(first + (uint64_t)_i * count + i,
		            (enum level)(i % LEVEL_COUNT), &v);
	ck_assert_uint_ge(v.programs, count / 2);
	/* A dozen programs may all be serializable. */
	ck_assert_uint_ge(v.cut + 5, count / 10);
	ck_assert_uint_ge(v.between + 5, count / 40);
}
END_TEST

void add_bounded_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
}
