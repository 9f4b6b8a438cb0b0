/* Explorers against brute force, program by program.
 *
 * For a random program the brute force gives every history with the levels that
 * it satisfies. Each explorer must output exactly those of its level, each
 * once, with nothing blocked, and find the same violations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "dpor/explorer.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"
#include "twin_enumerate.h"

enum {
	RUNS = 20,            /* test processes over which seeds are spread */
	PROGRAMS = 20000,     /* in all, unless ISOSCOPE_PROGRAMS says more */
	PREFIXES = 3000,      /* brute force gives up beyond this many */
	BASELINE_LIMIT = 4000 /* histories, repetitions included */
};

static const enum level bases[] = { LEVEL_NONE, LEVEL_RC, LEVEL_RA, LEVEL_CC };
enum { BASES = sizeof bases / sizeof *bases };

/* ---- running an explorer ---- */

struct result {
	struct strings texts;
	struct explore_stats stats;
	uint64_t *violations; /* per slot */
};

static bool collect(void *payload, const struct explore_execution *e)
{
	struct result *r = payload;
	struct history *h = explore_history(e);
	struct text t = { 0 };
	history_print_canonical(&t, h);
	strings_add(&r->texts, text_get(&t));
	text_free(&t);
	history_free(h);
	return true;
}

/* Sorted, but repetitions are kept. */
static void run(const struct program *p, struct explore_options o, bool texts,
                struct result *r)
{
	struct explore_observer observer = { .payload = r,
		                             .history =
		                                     texts ? collect : NULL };
	memset(r, 0, sizeof *r);
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	r->stats = *explorer_stats(e);
	uint32_t slots = explorer_slot_count(e);
	r->violations = calloc(slots, sizeof *r->violations);
	for (uint32_t i = 0; i < slots; i++)
		r->violations[i] = explorer_violation(e, i)->histories;
	explorer_free(e);
	strings_sort(&r->texts);
}

static void result_free(struct result *r)
{
	strings_free(&r->texts);
	free(r->violations);
}

/* ---- one program ---- */

struct trial {
	uint64_t seed;
	struct text source;
	struct program *program;
	struct enumeration expected; /* of `level_from` and stronger */
	enum level level_from;
	struct explore_options options; /* of the exploration under way */
};

__attribute__((noreturn)) static void
complain(const struct trial *t, const char *what, const char *history)
{
	ck_abort_msg("seed %llu, %s %s, base %s: %s%s%s\n%s",
	             (unsigned long long)t->seed,
	             t->options.algorithm == EXPLORE_DFS ? "dfs" : "explore",
	             level_word(t->options.level), level_word(t->options.base),
	             what, history ? ":\n" : "", history ? history : "",
	             text_get(&t->source));
	abort();
}

static void expect_number(const struct trial *t, const char *what,
                          uint64_t found, uint64_t expected)
{
	char message[128];
	if (found == expected) return;
	snprintf(message, sizeof message, "%s is %llu, should be %llu", what,
	         (unsigned long long)found, (unsigned long long)expected);
	complain(t, message, NULL);
}

/* Both lists are sorted; of the expected ones, those of the level. */
static void expect_histories(const struct trial *t, const struct result *r,
                             bool all)
{
	size_t found = 0;
	for (size_t i = 0; i < t->expected.count; i++) {
		const struct twin_history *h = &t->expected.items[i];
		if (!(h->levels >> t->options.level & 1)) continue;
		int order = found < r->texts.count
		                    ? strcmp(r->texts.items[found], h->text)
		                    : 1;
		if (order < 0) break;
		if (order == 0) found++;
		if (order > 0 && all) complain(t, "missing", h->text);
	}
	if (found < r->texts.count) complain(t, "wrong", r->texts.items[found]);
}

static void expect_violations(const struct trial *t, const struct result *r)
{
	uint32_t assertions = program_assertion_count(t->program);
	for (uint32_t a = 0; a <= assertions; a++) {
		uint64_t expected = 0;
		for (size_t i = 0; i < t->expected.count; i++)
			expected += t->expected.items[i].violated[a] &&
			            t->expected.items[i].levels >>
			                            t->options.level &
			                    1;
		expect_number(t, "violating histories", r->violations[a],
		              expected);
	}
}

static void expect_statistics(const struct trial *t, const struct result *r)
{
	size_t of_level = enumeration_count(&t->expected, t->options.level);
	size_t of_base = enumeration_count(&t->expected, t->options.base);
	expect_number(t, "stop", r->stats.stop, STOP_NONE);
	expect_number(t, "histories", r->stats.histories, of_level);
	expect_number(t, "histories",
	              r->stats.end_states - r->stats.pruned - r->stats.filtered,
	              of_level);
	/* What makes an assumption false is filtered, too. */
	if (!strstr(text_get(&t->source), "assume"))
		expect_number(t, "filtered", r->stats.filtered,
		              of_base - of_level);
	expect_number(t, "blocked", r->stats.blocked, 0);
	expect_number(t, "duplicates", r->stats.duplicates, 0);
}

static void explore(struct trial *t, enum level level, enum level base)
{
	struct result r;
	t->options = (struct explore_options){ .level = level,
		                               .base = base,
		                               .check_duplicates = true };
	run(t->program, t->options, true, &r);
	expect_number(t, "texts", r.texts.count, r.stats.histories);
	if (strings_unique(&r.texts)) complain(t, "a history twice", NULL);
	expect_histories(t, &r, true);
	expect_statistics(t, &r);
	expect_violations(t, &r);
	result_free(&r);
}

static void baseline(struct trial *t, enum level level)
{
	struct result r;
	t->options =
		(struct explore_options){ .algorithm = EXPLORE_DFS,
		                          .level = level,
		                          .base = level,
		                          .max_histories = BASELINE_LIMIT };
	run(t->program, t->options, true, &r);
	bool all = r.stats.stop == STOP_NONE;
	strings_unique(&r.texts);
	expect_histories(t, &r, all);
	if (level_is_extensible(level) && all)
		expect_number(t, "blocked", r.stats.blocked, 0);
	result_free(&r);
}

/* The number of histories does not depend on the oracle order. */
static void permuted(struct trial *t, struct rng *rng, enum level level)
{
	uint32_t n = program_session_count(t->program), order[8];
	uint32_t movable = n - program_has_finally(t->program);
	struct result r;
	for (uint32_t i = 0; i < n; i++) order[i] = i;
	for (uint32_t i = movable; i > 1; i--) {
		uint32_t j = rng_below(rng, i), other = order[j];
		order[j] = order[i - 1];
		order[i - 1] = other;
	}
	struct program *p = program_reordered(t->program, order);
	t->options = (struct explore_options){ .level = level, .base = level };
	if (!level_is_extensible(level)) t->options.base = level_base(level);
	run(p, t->options, false, &r);
	expect_statistics(t, &r);
	result_free(&r);
	program_free(p);
}

/* Everything at the extensible levels; of the filters those over cc, and one
 * over another base. */
static void all_explorations(struct trial *t)
{
	struct rng rng = { t->seed };
	for (int b = 0; b < BASES; b++) {
		if (!level_implies(bases[b], t->level_from)) continue;
		explore(t, bases[b], bases[b]);
		permuted(t, &rng, bases[b]);
	}
	for (enum level l = LEVEL_PC; l < LEVEL_COUNT; l++)
		explore(t, l, LEVEL_CC);
	permuted(t, &rng, LEVEL_PC + rng_below(&rng, 4));
	if (level_implies(LEVEL_PRC, t->level_from)) {
		explore(t, LEVEL_PRC, LEVEL_RC);
		permuted(t, &rng, LEVEL_PRC);
	}
	baseline(t, t->level_from == LEVEL_NONE
	                    ? (enum level)rng_below(&rng, LEVEL_COUNT)
	                    : LEVEL_CC);
	if (t->level_from != LEVEL_NONE) return;
	enum level base = bases[rng_below(&rng, 3)];
	enum level level;
	do level = (enum level)rng_below(&rng, LEVEL_COUNT);
	while (level == base || !level_implies(level, base));
	explore(t, level, base);
}

/* False when there are too many histories for brute force. */
static bool enumerate(struct trial *t)
{
	static const enum level from[] = { LEVEL_NONE, LEVEL_CC };
	for (int i = 0; i < 2; i++) {
		struct twin_options o = { .level = from[i], .limit = PREFIXES };
		t->level_from = from[i];
		if (twin_enumerate(t->program, o, &t->expected)) return true;
		enumeration_free(&t->expected);
	}
	return false;
}

/* Returns the level from which on the program was tried; LEVEL_COUNT if it is
 * too large. */
static enum level try_program(uint64_t seed)
{
	struct trial t = { .seed = seed };
	enum level tried = LEVEL_COUNT;
	random_program(&t.source, seed);
	t.program = program_from_text(text_get(&t.source));
	if (enumerate(&t)) {
		all_explorations(&t);
		enumeration_free(&t.expected);
		tried = t.level_from;
	}
	program_free(t.program);
	text_free(&t.source);
	return tried;
}

/* Seeds are taken until enough programs were tried at every level. */
START_TEST(random_programs)
{
	uint64_t share = programs_or(PROGRAMS);
	uint64_t first = first_seed();
	uint64_t seed = first + (uint64_t)_i * 1000000;
	if (share < RUNS) {
		/* Few: exactly these seeds, in the first process. */
		for (uint64_t i = 0; _i == 0 && i < share; i++)
			ck_assert_msg(try_program(first + i) != LEVEL_COUNT,
			              "seed %llu is too large",
			              (unsigned long long)(first + i));
		return;
	}
	for (uint64_t tried = 0; tried < (share + RUNS - 1) / RUNS; seed++)
		tried += try_program(seed) == LEVEL_NONE;
}
END_TEST

/* The brute force does not lose anything by leaving out prefixes that it has
 * met, or that violate the level. */
START_TEST(brute_force_twice)
{
	uint64_t first = first_seed() + 500000;
	for (uint64_t seed = first, tried = 0; tried < 60; seed++) {
		struct text source = { 0 };
		struct enumeration a, b, c;
		struct twin_options o = { .limit = 150 };
		random_program(&source, seed);
		struct program *p = program_from_text(text_get(&source));
		bool small = twin_enumerate(p, o, &a);
		if (small) {
			o = (struct twin_options){ .revisit = true };
			ck_assert(twin_enumerate(p, o, &b));
			o = (struct twin_options){ .level = LEVEL_SI };
			ck_assert(twin_enumerate(p, o, &c));
			ck_assert_uint_eq(a.count, b.count);
			for (size_t i = 0; i < a.count; i++)
				ck_assert_str_eq(a.items[i].text,
				                 b.items[i].text);
			ck_assert_uint_eq(enumeration_count(&a, LEVEL_SI),
			                  c.count);
			enumeration_free(&b);
			enumeration_free(&c);
			tried++;
		}
		enumeration_free(&a);
		program_free(p);
		text_free(&source);
	}
}
END_TEST

/* ---- programs with known counts ---- */

struct counted {
	const char *name;
	int counts[LEVEL_COUNT]; /* -1: not known */
	const char *source;
};

static const struct counted counted[] = {
	{ "swapped, small",
	  { 12, 12, 12, 9, -1, -1, -1, -1, -1 },
	  "global x = 0; global y = 0;\n"
	  "session s1 { txn { let a = x; let b = y; } }\n"
	  "session s2 { txn { let a = y; x = 1; } txn { y = 2; } }\n"
	  "session s3 { txn { y = 3; } }\n" },
	{ "swapped, large",
	  { 180, 144, 108, 60, 86, 56, 30, 30, 30 },
	  "global k[*] = 0;\n"
	  "session s0 { txn { let a = k[1]; k[1] = 2; let b = k[0]; } }\n"
	  "session s1 { txn { k[0] = 4; k[0] = 5; k[1] = 6; }\n"
	  "             txn { k[0] = 7; k[1] = 8; k[1] = 9; } }\n"
	  "session s2 { txn { let a = k[0]; k[0] = a + 11; }\n"
	  "             txn { let b = k[1]; k[1] = 13; } }\n" },
	{ "SimpleTest",
	  { 104, 68, 8, 7, -1, -1, -1, 7, 6 },
	  "global x = 0; global y = 0; global z = 0;\n"
	  "session s1 { txn { x = 1; y = 1; }\n"
	  "             txn { let a = y; if (a == 0) y = -1; } }\n"
	  "session s2 { txn { let a = x; let b = y; z = 1; } }\n"
	  "session s3 { txn { let a = x; let b = y; let c = z; } }\n" },
	{ "nothing to read",
	  { 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	  "global x = 0;\n"
	  "session s1 { txn { x = 1; } txn { x = 2; } }\n"
	  "session s2 { txn { x = 3; } }\n" },
};
enum { COUNTED = sizeof counted / sizeof *counted };

START_TEST(known_counts)
{
	const struct counted *c = &counted[_i];
	struct program *p = program_from_text(c->source);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		for (int b = 0; b < BASES; b++) {
			struct explore_options o = { .level = l,
				                     .base = bases[b],
				                     .check_duplicates = true };
			struct result r;
			if (c->counts[l] < 0 || !level_implies(l, bases[b]))
				continue;
			run(p, o, false, &r);
			ck_assert_msg(
				r.stats.histories == (uint64_t)c->counts[l],
				"%s, %s, base %s: %llu histories, not %d",
				c->name, level_word(l), level_word(bases[b]),
				(unsigned long long)r.stats.histories,
				c->counts[l]);
			ck_assert_uint_eq(r.stats.blocked, 0);
			ck_assert_uint_eq(r.stats.duplicates, 0);
			result_free(&r);
		}
	program_free(p);
}
END_TEST

/* ---- single properties ---- */

static uint64_t violating(const char *source, enum level l, uint32_t slot)
{
	struct program *p = program_from_text(source);
	struct explore_options o = { .level = l, .base = l, .robust = true };
	struct result r;
	if (!level_is_extensible(l)) o.base = level_base(l);
	run(p, o, false, &r);
	uint64_t n = r.violations[slot];
	result_free(&r);
	program_free(p);
	return n;
}

/* G1a: what an aborted transaction wrote is read by nobody. */
START_TEST(aborted_writes_are_invisible)
{
	ck_assert_uint_eq(violating("global x = 10;\n"
	                            "session a { txn { x = 101; abort; } }\n"
	                            "session b { txn { let v = x; let w = x;\n"
	                            "    assert v == 10 && w == 10; } }\n",
	                            LEVEL_NONE, 0),
	                  0);
}
END_TEST

/* G1b: of several writes to a key only the last is visible. */
START_TEST(only_last_writes_are_visible)
{
	static const char *const source =
		"global x = 10;\n"
		"session a { txn { x = 101; x = 11; } }\n"
		"session b { txn { let v = x; assert v != 101;\n"
		"                  assert v != 11; } }\n";
	ck_assert_uint_eq(violating(source, LEVEL_NONE, 0), 0);
	ck_assert_uint_eq(violating(source, LEVEL_NONE, 1), 1);
}
END_TEST

/* G1c: no history in which each of two reads from the other. */
START_TEST(reads_are_not_circular)
{
	static const char *const source =
		"global x = 0; global y = 0;\n"
		"session a { let r = t(1); }\n"
		"session b { let r = u(1); }\n"
		"txn t(n) { x = n; let v = y; return v; }\n"
		"txn u(n) { y = n; let v = x; return v; }\n"
		"assert !(a.r == 1 && b.r == 1);\n"
		"assert a.r == 0 && b.r == 0;\n";
	ck_assert_uint_eq(violating(source, LEVEL_NONE, 0), 0);
	ck_assert_uint_eq(violating(source, LEVEL_NONE, 1), 2);
}
END_TEST

static const char lost_update[] =
	"global x = 0;\n"
	"session a { txn { let v = x; x = v + 1; } }\n"
	"session b { txn { let v = x; x = v + 1; } }\n"
	"finally { let v = x; assert v == 2; }\n";

START_TEST(lost_update_by_level)
{
	static const int expected[] = { -1, -1, 1, 1, 1, 1, 0, 0, 0 };
	for (enum level l = LEVEL_RA; l < LEVEL_COUNT; l++)
		ck_assert_msg((violating(lost_update, l, 0) > 0) ==
		                      (expected[l] > 0),
		              "under %s", level_word(l));
}
END_TEST

START_TEST(robustness)
{
	struct program *p = program_from_text(lost_update);
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .robust = true };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	const struct explore_violation *v =
		explorer_violation(e, explorer_slot_robust(e));
	ck_assert_uint_eq(s->histories, 4);
	ck_assert_uint_eq(s->unserializable, 2);
	ck_assert_uint_eq(v->histories, 2);
	ck_assert_ptr_nonnull(v->example);
	ck_assert(!level_allows_history(LEVEL_SER, v->example));
	explorer_free(e);
	program_free(p);
}
END_TEST

START_TEST(levels_of_each_history)
{
	struct program *p = program_from_text(counted[1].source);
	struct explore_options o = { .level = LEVEL_NONE,
		                     .base = LEVEL_NONE,
		                     .classify = true };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		ck_assert_int_eq(explorer_stats(e)->per_level[l],
		                 counted[1].counts[l]);
	explorer_free(e);
	program_free(p);
}
END_TEST

/* ---- limits ---- */

static struct explore_stats run_limited(struct explore_options o)
{
	struct program *p = program_from_text(counted[1].source);
	struct result r;
	o.level = o.base = LEVEL_CC;
	run(p, o, false, &r);
	struct explore_stats stats = r.stats;
	result_free(&r);
	program_free(p);
	return stats;
}

START_TEST(stops_at_the_limit_of_histories)
{
	struct explore_stats s =
		run_limited((struct explore_options){ .max_histories = 7 });
	ck_assert_uint_eq(s.histories, 7);
	ck_assert_int_eq(s.stop, STOP_HISTORIES);
}
END_TEST

START_TEST(stops_when_interrupted)
{
	atomic_bool interrupt = true;
	struct explore_stats s = run_limited(
		(struct explore_options){ .interrupt = &interrupt });
	ck_assert_int_eq(s.stop, STOP_INTERRUPTED);
	ck_assert_uint_lt(s.histories, 60);
}
END_TEST

static bool refuse(void *payload, const struct explore_execution *e)
{
	ck_assert_uint_eq(e->number, ++*(uint64_t *)payload);
	return e->number < 3;
}

START_TEST(stops_when_told_to)
{
	uint64_t seen = 0;
	struct program *p = program_from_text(counted[1].source);
	struct explore_options o = { .level = LEVEL_CC, .base = LEVEL_CC };
	struct explore_observer observer = { .payload = &seen,
		                             .history = refuse };
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	ck_assert_uint_eq(seen, 3);
	ck_assert_int_eq(explorer_stats(e)->stop, STOP_INTERRUPTED);
	explorer_free(e);
	program_free(p);
}
END_TEST

START_TEST(stops_at_a_violation)
{
	struct program *p = program_from_text(lost_update);
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .stop_on_violation = true };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	ck_assert_int_eq(explorer_stats(e)->stop, STOP_VIOLATION);
	ck_assert_uint_eq(explorer_violation(e, 0)->histories, 1);
	explorer_free(e);
	program_free(p);
}
END_TEST

/* By the clock, and by what the processor did for it. */
START_TEST(stops_in_time)
{
	struct text source = { 0 };
	text_string(&source, "global k[*] = 0;\n");
	for (int i = 0; i < 9; i++)
		text_format(&source,
		            "session s%d { txn { let a = k[0]; k[0] = a + %d;"
		            " } txn { k[0] += 1; } }\n",
		            i, i);
	struct program *p = program_from_text(text_get(&source));
	struct explore_options o = { .level = LEVEL_CC, .base = LEVEL_CC };
	*(_i ? &o.max_cpu : &o.timeout) = 0.2;
	struct result r;
	run(p, o, false, &r);
	ck_assert_int_eq(r.stats.stop, STOP_TIME);
	ck_assert(_i ? r.stats.cpu_seconds < 5 : r.stats.seconds < 5);
	ck_assert(_i ? r.stats.cpu_seconds > 0.2 : r.stats.seconds > 0.2);
	result_free(&r);
	program_free(p);
	text_free(&source);
}
END_TEST

/* Flat in the number of histories: a longer run holds as much. */
START_TEST(memory_is_flat)
{
	struct text source = { 0 };
	text_string(&source, "global x = 0;\n");
	for (int i = 0; i < 8; i++)
		text_format(&source,
		            "session s%d { txn { let a = x; x = a + 1; } }\n",
		            i);
	struct program *p = program_from_text(text_get(&source));
	uint64_t held[2];
	for (int i = 0; i < 2; i++) {
		struct explore_options o = { .level = LEVEL_CC,
			                     .base = LEVEL_CC,
			                     .max_histories =
			                             i ? 100000 : 1000 };
		struct result r;
		run(p, o, false, &r);
		ck_assert_int_eq(r.stats.stop, STOP_HISTORIES);
		held[i] = r.stats.memory_peak;
		result_free(&r);
	}
	ck_assert_uint_gt(held[0], 0);
	ck_assert_uint_le(held[1], 2 * held[0]);
	program_free(p);
	text_free(&source);
}
END_TEST

/* More than 64 transactions: rows of several words. Every session reads its
 * own key only, but for the last two. */
START_TEST(many_sessions)
{
	struct text source = { 0 };
	text_string(&source, "global k[*] = 0; global x = 0;\n");
	for (int i = 0; i < 100; i++)
		text_format(&source,
		            "session s%d { txn { let a = k[%d]; k[%d] = 1; } "
		            "txn { let a = k[%d]; } }\n",
		            i, i, i, i);
	text_string(&source, "session a { txn { let v = x; x = v + 1; } }\n"
	                     "session b { txn { let v = x; x = v + 1; } }\n");
	struct program *p = program_from_text(text_get(&source));
	for (int b = LEVEL_RA; b <= LEVEL_CC; b++) {
		struct explore_options o = { .level = (enum level)b,
			                     .base = (enum level)b };
		struct result r;
		run(p, o, false, &r);
		ck_assert_uint_eq(r.stats.histories, 3);
		result_free(&r);
	}
	struct explore_options o = { .level = LEVEL_SER, .base = LEVEL_CC };
	struct result r;
	run(p, o, false, &r);
	ck_assert_uint_eq(r.stats.histories, 2);
	ck_assert_uint_eq(r.stats.filtered, 1);
	result_free(&r);
	program_free(p);
	text_free(&source);
}
END_TEST

/* A transaction that reads more than is looked at before it runs, one that
 * reads more often, and a long one: the same histories either way. */
START_TEST(long_transactions_in_order)
{
	static const char source[] =
		"global k[*] = 0; global n = 0;\n"
		"session a { txn { for i in 0..300 { let v = k[i]; } n = 1; } "
		"}\n"
		"session b { txn { let v = n; for i in 0..500 { let w = k[9]; }"
		" k[7] = v + 1; } }\n"
		"session c { txn { let v = k[299]; k[9] = v + n; }"
		" txn { for i in 0..100 { k[i] = i; } let v = k[299]; } }\n"
		"session d { txn { k[299] = 5; let v = k[7]; } }\n";
	struct program *p = program_from_text(source);
	for (enum level l = LEVEL_PC; l <= LEVEL_SER; l++) {
		struct explore_options o = { .level = l,
			                     .base = level_base(l),
			                     .max_changes = UINT64_MAX };
		struct result ce, orderly;
		run(p, o, true, &ce);
		o.algorithm = EXPLORE_ORDERLY;
		run(p, o, true, &orderly);
		ck_assert_uint_gt(ce.stats.histories, 10);
		ck_assert_uint_eq(orderly.stats.histories, ce.stats.histories);
		for (size_t i = 0; i < ce.texts.count; i++)
			ck_assert_str_eq(ce.texts.items[i],
			                 orderly.texts.items[i]);
		result_free(&ce);
		result_free(&orderly);
	}
	program_free(p);
}
END_TEST

/* Two lost updates exclude each other. Whoever is the first to read x reads
 * what the four writers of his have written or not; who is then late and does
 * the same is refused at his end: so of 2 * 2^4 histories with prefixes of 2^4,
 * each has 2^4 refused ends. Under pc none is. */
START_TEST(refused_ends_by_histories)
{
	enum { WRITERS = 4, WAYS = 1 << WRITERS };
	struct text t = { 0 };
	text_string(&t, "global x = 0; global k[*] = 0; global n[*] = 0;\n");
	for (int i = 0; i < WRITERS; i++)
		text_format(&t,
		            "session k%d { txn { k[%d] = 1; } } "
		            "session n%d { txn { n[%d] = 1; } }\n",
		            i, i, i, i);
	for (int i = 0; i < 2; i++)
		text_format(
			&t,
			"session u%d { txn { let v = x; let sum = 0;\n"
			"  if (v == 0) { for i in 0..%d { sum += %c[i]; } }\n"
			"  x = sum + 1; } }\n",
			i, WRITERS, "kn"[i]);
	struct program *p = program_from_text(text_get(&t));
	for (enum level l = LEVEL_PC; l <= LEVEL_SER; l++) {
		struct explore_options o = { .algorithm = EXPLORE_ORDERLY,
			                     .level = l,
			                     .base = l,
			                     .max_changes = UINT64_MAX };
		struct result r;
		run(p, o, false, &r);
		bool lost = l == LEVEL_PC;
		ck_assert_uint_eq(r.stats.histories,
		                  2 * WAYS + (lost ? WAYS * WAYS : 0));
		ck_assert_uint_eq(r.stats.blocked, lost ? 0 : WAYS * WAYS);
		result_free(&r);
	}
	program_free(p);
	text_free(&t);
}
END_TEST

void add_explore_tests(TCase *tests)
{
	tcase_add_loop_test(tests, known_counts, 0, COUNTED);
	tcase_add_test(tests, aborted_writes_are_invisible);
	tcase_add_test(tests, only_last_writes_are_visible);
	tcase_add_test(tests, reads_are_not_circular);
	tcase_add_test(tests, lost_update_by_level);
	tcase_add_test(tests, robustness);
	tcase_add_test(tests, levels_of_each_history);
	tcase_add_test(tests, stops_at_the_limit_of_histories);
	tcase_add_test(tests, stops_when_interrupted);
	tcase_add_test(tests, stops_when_told_to);
	tcase_add_test(tests, stops_at_a_violation);
	tcase_add_loop_test(tests, stops_in_time, 0, 2);
	tcase_add_test(tests, memory_is_flat);
	tcase_add_test(tests, many_sessions);
	tcase_add_test(tests, long_transactions_in_order);
	tcase_add_test(tests, refused_ends_by_histories);
	tcase_add_test(tests, brute_force_twice);
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
}
