/* Estimates against what is there: over the programs that are shipped, whose
 * numbers of histories are known, and over small ones explored on the spot.
 */
#include "dpor/estimate.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "dpor/random_descents.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"
#include "file_support.h"
#include "report/forecast.h"
#include "result/numbers.h"
#include "suites.h"
#include "support.h"

static struct program *load(const char *path)
{
	struct diags d = { 0 };
	struct program *p = load_program(path, &d);
	if (!p) ck_abort_msg("%s: %s", path, diags_to_text(&d));
	diags_free(&d);
	return p;
}

/* programs/`name`.tx */
static struct program *shipped(const char *name)
{
	struct text path = { 0 };
	text_format(&path, "%s/programs/%s.tx", source_top(), name);
	struct program *p = load(text_get(&path));
	text_free(&path);
	return p;
}

static struct explore_options options_for(enum explorer_algorithm algorithm,
                                          enum level level)
{
	bool filtered = algorithm == EXPLORE_CE && !level_is_extensible(level);
	return (struct explore_options){ .algorithm = algorithm,
		                         .level = level,
		                         .base = filtered ? LEVEL_CC : level,
		                         .max_changes = UINT64_MAX };
}

static struct explore_stats explore(const struct program *p,
                                    const struct explore_options *o)
{
	struct explorer *e = explorer_new(p, o, NULL);
	explorer_run(e);
	struct explore_stats s = *explorer_stats(e);
	ck_assert_int_eq(s.stop, STOP_NONE);
	explorer_free(e);
	return s;
}

static struct estimate estimate(const struct program *p,
                                const struct explore_options *o, uint64_t seed,
                                uint64_t groups)
{
	struct estimator *e = estimator_new(p, o, seed);
	estimator_run(e, groups);
	struct estimate r = estimator_get(e);
	estimator_free(e);
	return r;
}

/* ---- intervals ---- */

/* How often the truth was in the interval; and that of those estimates alone
 * that are not exact. */
struct coverage {
	unsigned all, hit, rough, rough_hit;
};

static void cover(struct coverage *c, const struct estimate *e, double truth,
                  const char *path, enum level l)
{
	bool hit = e->low <= truth && truth <= e->high;
	c->all++;
	c->hit += hit;
	c->rough += !e->exact;
	c->rough_hit += !e->exact && hit;
	if (e->exact && e->histories != truth)
		ck_abort_msg("%s, %s: exactly %.0f, but there are %.0f", path,
		             level_word(l), e->histories, truth);
	ck_assert(e->low <= e->high && e->histories <= e->high);
}

enum { GROUPS = 4, SEEDS = 2 };

static void cover_level(struct coverage *c, const char *path,
                        const struct program *p, enum level l, double truth,
                        enum explorer_algorithm algorithm)
{
	struct explore_options o = options_for(algorithm, l);
	uint64_t seeds = is_quick() ? 1 : SEEDS;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct estimate e = estimate(p, &o, seed, GROUPS);
		cover(c, &e, truth, path, l);
		if (e.exact) return;
	}
}

/* Of the end states of the base too few may be left to draw conclusions. */
static bool is_drawn_from(enum level l, enum explorer_algorithm algorithm)
{
	return algorithm != EXPLORE_CE || !level_has_statements(l);
}

/* The lines of a side file. */
static void cover_program(struct coverage *c, const char *expect,
                          enum explorer_algorithm algorithm)
{
	char *path = mem_copy_string(expect), line[256], word[16];
	double truth;
	strcpy(strrchr(path, '.'), ".tx");
	struct program *p = load(path);
	FILE *f = fopen(expect, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%15[a-z] %lf", word, &truth) == 2 &&
		    is_drawn_from(level_from_word(word), algorithm))
			cover_level(c, path, p, level_from_word(word), truth,
			            algorithm);
	fclose(f);
	program_free(p);
	free(path);
}

static void find_expected(glob_t *found)
{
	static const char *const patterns[] = { "*/*.expect", "*/*/*.expect" };
	for (int i = 0; i < 2; i++) {
		struct text pattern = { 0 };
		text_format(&pattern, "%s/programs/%s", source_top(),
		            patterns[i]);
		ck_assert_int_eq(glob(text_get(&pattern), i ? GLOB_APPEND : 0,
		                      NULL, found),
		                 0);
		text_free(&pattern);
	}
	ck_assert_uint_gt(found->gl_pathc, 100);
}

/* Nine of ten of all, and four of five of those that nothing makes exact: of
 * all programs these are 88 in 100. */
static void check_coverage(const struct coverage *c)
{
	printf("estimates: %u of %u intervals hold the truth; %u of %u that "
	       "are not exact\n",
	       c->hit, c->all, c->rough_hit, c->rough);
	ck_assert_int_gt((int)c->rough, fewer(50));
	ck_assert_uint_ge(10 * c->hit, 9 * c->all);
	ck_assert_uint_ge(5 * c->rough_hit, 4 * c->rough);
}

START_TEST(intervals_hold_the_truth)
{
	glob_t found = { 0 };
	struct coverage c = { 0 };
	find_expected(&found);
	for (size_t i = 0; i < found.gl_pathc; i += is_quick() ? 10 : 1)
		cover_program(&c, found.gl_pathv[i], EXPLORE_CE);
	check_coverage(&c);
	globfree(&found);
}
END_TEST

/* Fewer programs: this algorithm takes longer. */
START_TEST(intervals_hold_the_truth_orderly)
{
	glob_t found = { 0 };
	struct coverage c = { 0 };
	find_expected(&found);
	for (size_t i = 0; i < found.gl_pathc; i += is_quick() ? 30 : 3)
		cover_program(&c, found.gl_pathv[i], EXPLORE_ORDERLY);
	check_coverage(&c);
	globfree(&found);
}
END_TEST

/* ---- bias ---- */

/* The mean of estimates with many seeds is near the truth, in terms of its own
 * standard error. */
struct bias_case {
	const char *program;
	enum level level;
	enum explorer_algorithm algorithm;
};

static const struct bias_case bias_cases[] = {
	{ "tpcc/client-2", LEVEL_CC, EXPLORE_CE },
	{ "tpcc/client-2", LEVEL_PC, EXPLORE_CE },
	{ "twitter/client-1", LEVEL_RC, EXPLORE_CE },
	{ "shopping_cart/client-1", LEVEL_RA, EXPLORE_CE },
	{ "courseware/client-4", LEVEL_RC, EXPLORE_CE },
	{ "litmus/courseware-small-2", LEVEL_NONE, EXPLORE_CE },
	{ "litmus/read-skew-chain", LEVEL_CC, EXPLORE_DFS },
	{ "litmus/long-fork", LEVEL_RA, EXPLORE_DFS },
	{ "tpcc/client-2", LEVEL_CC, EXPLORE_ORDERLY },
	{ "courseware/client-4", LEVEL_SI, EXPLORE_ORDERLY },
};
enum { BIAS_CASES = sizeof bias_cases / sizeof *bias_cases, BIAS_SEEDS = 200 };

struct mean {
	double sum, squares;
	unsigned count;
};

static void mean_add(struct mean *m, double x)
{
	m->sum += x;
	m->squares += x * x;
	m->count++;
}

static void check_mean(const struct mean *m, double truth, const char *what)
{
	double mean = m->sum / m->count;
	double variance = m->squares / m->count - mean * mean;
	double error = sqrt(fmax(variance, 0) / (m->count - 1));
	if (fabs(mean - truth) > 4 * error + 1e-9 * truth)
		ck_abort_msg("%s: mean %g, truth %g, standard error %g", what,
		             mean, truth, error);
}

START_TEST(estimates_have_no_bias)
{
	const struct bias_case *c = &bias_cases[_i];
	struct program *p = shipped(c->program);
	struct explore_options o = options_for(c->algorithm, c->level);
	struct explore_stats truth = explore(p, &o);
	struct mean histories = { 0 }, ends = { 0 };
	uint64_t seeds = is_quick() ? BIAS_SEEDS / 10 : BIAS_SEEDS;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct estimate e = estimate(p, &o, seed, 2);
		mean_add(&histories, e.histories);
		mean_add(&ends, e.work);
	}
	check_mean(&histories, (double)truth.histories, c->program);
	check_mean(&ends, work_done(&o, &truth), c->program);
	program_free(p);
}
END_TEST

/* ---- parts ---- */

static bool stop_early(void *payload, const struct explore_execution *e)
{
	return e->number < *(uint64_t *)payload;
}

/* The first histories are explored; the rest is estimated. */
START_TEST(what_is_left_is_estimated)
{
	struct program *p = shipped("tpcc/client-2");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_RA);
	struct explore_stats truth = explore(p, &o);
	uint64_t most = truth.histories / 2;
	struct explore_observer observer = { .payload = &most,
		                             .history = stop_early };
	struct explorer *x = explorer_new(p, &o, &observer);
	explorer_run(x);
	const struct explore_stats *s = explorer_stats(x);
	ck_assert_uint_eq(s->histories, most);
	struct mean histories = { 0 };
	uint64_t seeds = is_quick() ? 15 : 50;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct estimator *e = estimator_new(p, &o, seed);
		estimator_advance(e, explorer_open(x), s->histories,
		                  s->end_states);
		estimator_run(e, 3);
		struct estimate r = estimator_get(e);
		ck_assert(r.low >= (double)most);
		mean_add(&histories, r.histories);
		estimator_free(e);
	}
	check_mean(&histories, (double)truth.histories, "the rest");
	explorer_free(x);
	program_free(p);
}
END_TEST

/* Sizes of the parts of an exploration add up to that of the whole. */
START_TEST(sizes_add_up)
{
	struct program *p = shipped("twitter/client-1");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_RC);
	struct explore_stats truth = explore(p, &o);
	uint64_t most = 1;
	struct explore_observer observer = { .payload = &most,
		                             .history = stop_early };
	struct explorer *x = explorer_new(p, &o, &observer);
	explorer_run(x);
	const struct branch_list *open = explorer_open(x);
	ck_assert_uint_gt(open->count, 5);
	struct mean all = { 0 };
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct estimator *e = estimator_new(p, &o, seed);
		double sum = (double)explorer_stats(x)->end_states;
		for (size_t i = 0; i < open->count; i++)
			sum += estimator_size(e, open->items[i]);
		mean_add(&all, sum);
		estimator_free(e);
	}
	check_mean(&all, (double)truth.end_states, "sizes");
	explorer_free(x);
	program_free(p);
}
END_TEST

START_TEST(a_seed_is_reproducible)
{
	struct program *p = shipped("twitter/client-1");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_RC);
	struct estimate a = estimate(p, &o, 7, 3), b = estimate(p, &o, 7, 3);
	struct estimate c = estimate(p, &o, 8, 3);
	ck_assert(a.histories == b.histories && a.low == b.low);
	ck_assert(a.histories != c.histories);
	ck_assert(!a.exact && a.groups == 3);
	program_free(p);
}
END_TEST

START_TEST(what_cannot_be_estimated)
{
	atomic_bool interrupt = true;
	struct program *p = shipped("twitter/client-1");
	struct explore_options o = options_for(EXPLORE_OUTWARD, LEVEL_RC);
	ck_assert_ptr_null(estimator_new(p, &o, 1));
	o = options_for(EXPLORE_CE, LEVEL_RC);
	o.interrupt = &interrupt;
	struct estimate e = estimate(p, &o, 1, 3);
	ck_assert_uint_eq(e.groups, 0);
	program_free(p);
}
END_TEST

/* What takes too long is given up, and is had when there is more time. */
START_TEST(groups_are_given_up)
{
	struct program *p = shipped("twitter/client-1");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_RC);
	struct estimator *e = estimator_new(p, &o, 7);
	estimator_hurry(e, 1e-9);
	estimator_run(e, 3);
	ck_assert_uint_eq(estimator_get(e).groups, 0);
	estimator_hurry(e, 3600);
	estimator_run(e, 3);
	ck_assert_uint_eq(estimator_get(e).groups, 3);
	estimator_free(e);
	program_free(p);
}
END_TEST

/* Groups that are given up for want of memory are the large ones: those that
 * are left would say that there is little. */
START_TEST(little_memory_does_no_harm)
{
	struct program *p = shipped("wikipedia/client-5");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_NONE);
	struct estimate all = estimate(p, &o, 1, 6);
	o.memory = 200 << 10;
	struct estimate little = estimate(p, &o, 1, 6);
	ck_assert_uint_eq(little.groups, 6);
	ck_assert(little.histories == all.histories);
	ck_assert(little.low == all.low && little.high == all.high);
	ck_assert(little.high > 1e9);
	program_free(p);
}
END_TEST

/* ---- time ---- */

START_TEST(time_has_an_interval)
{
	struct pace p = { 0 };
	ck_assert(isnan(pace_duration(&p, 10, 5, 20).seconds));
	pace_add(&p, 100, 1);
	pace_add(&p, 0, 1);
	struct duration one = pace_duration(&p, 1000, 500, 3000);
	ck_assert(one.seconds == 10 && one.low < 5 && one.high > 30);
	for (int i = 0; i < 20; i++) pace_add(&p, 100, 1);
	struct duration many = pace_duration(&p, 1000, 500, 3000);
	ck_assert(fabs(many.seconds - 10) < 1e-9);
	ck_assert(many.low > one.low && many.high < one.high);
	ck_assert(many.low < 5 && many.high > 30);
}
END_TEST

/* ---- the bar ---- */

/* An exploration of unknown size, with estimates that are often wrong. */
static void move_randomly(uint64_t seed)
{
	struct rng r = { seed };
	struct bar b = { 0 };
	double total = 1 + rng_below(&r, 100000), done = 0;
	while (done < total) {
		double shown = b.shown;
		double factor = exp((rng_below(&r, 2001) - 1000.0) / 300);
		double step = 1 + rng_below(&r, 1 + (uint32_t)(total / 50));
		done = fmin(done + step, total);
		double left = rng_below(&r, 4) ? (total - done) * factor : 0;
		bar_move(&b, done, left);
		ck_assert(b.shown >= shown && b.shown < 1);
		ck_assert(b.shown > shown || shown >= 0.998);
		shown = b.shown;
		bar_move(&b, done, 2 * left);
		ck_assert(b.shown == shown);
	}
}

START_TEST(bars_never_go_back)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) move_randomly(seed);
}
END_TEST

/* When the estimate is right from some moment on, so is the bar in the end. */
START_TEST(bars_come_to_the_end)
{
	static const double wrong[] = { 0.02, 0.5, 1, 3, 50 };
	struct bar b = { 0 };
	for (int done = 1; done <= 1000; done++) {
		double left = 1000 - done;
		bar_move(&b, done, done < 500 ? left * wrong[_i] : left);
	}
	ck_assert(b.shown > 0.95);
}
END_TEST

struct line_watch {
	struct forecast *forecast;
	double shown;
	unsigned ticks, known;
};

static bool watch_tick(void *payload, const struct explore_stats *s,
                       uint32_t depth)
{
	struct line_watch *w = payload;
	struct text t = { 0 };
	(void)depth;
	w->ticks++;
	if (forecast_words(w->forecast, &t, s)) {
		double shown;
		const char *percent = strchr(text_get(&t), ']');
		ck_assert_ptr_nonnull(percent);
		ck_assert_int_eq(sscanf(percent, "] %lf %%", &shown), 1);
		ck_assert(shown >= w->shown && shown < 100);
		w->shown = shown;
		w->known++;
	}
	text_free(&t);
	return true;
}

static bool says_something(struct forecast *f, const struct explore_stats *s)
{
	struct text t = { 0 };
	bool known = forecast_words(f, &t, s);
	text_free(&t);
	return known;
}

/* The first time it waits until enough of the time may go into estimates,
 * however slow or busy the machine is. */
static bool watch_snapshot(void *payload, const struct tally *so_far,
                           const struct branch_list *open)
{
	struct line_watch *w = payload;
	do forecast_snapshot(w->forecast, so_far, open);
	while (!says_something(w->forecast, &so_far->stats));
	return true;
}

START_TEST(forecasts_of_a_run)
{
	struct program *p = shipped("twitter/client-4");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_RA);
	struct line_watch w = { .forecast = forecast_new(p, &o) };
	struct explore_observer observer = { .payload = &w,
		                             .tick = watch_tick,
		                             .snapshot = watch_snapshot };
	o.jobs = 1 + (unsigned)_i;
	o.snapshot_every = 0.01;
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	ck_assert_uint_gt(w.known, 0);
	watch_tick(&w, explorer_stats(e), 0);
	ck_assert_msg(w.shown > 2, "%g", w.shown);
	forecast_free(w.forecast);
	w.forecast = forecast_new(p, &o);
	w.shown = 0;
	forecast_snapshot(w.forecast, explorer_tally(e), explorer_open(e));
	watch_tick(&w, explorer_stats(e), 0);
	ck_assert_msg(w.shown > 90, "%g", w.shown);
	explorer_free(e);
	forecast_free(w.forecast);
	program_free(p);
}
END_TEST

/* ---- random descents ---- */

struct drawn {
	struct explore_stats stats;
	uint64_t made, repeated, told, hash, violations;
};

static bool note_history(void *payload, const struct explore_execution *e)
{
	struct drawn *d = payload;
	d->told++;
	d->hash ^= explore_hash(e);
	return true;
}

static struct drawn draw(const struct program *p,
                         const struct explore_options *o, uint64_t count,
                         uint64_t seed)
{
	struct drawn r = { 0 };
	struct explore_observer observer = { .payload = &r,
		                             .history = note_history };
	struct explorer *e = explorer_new(p, o, NULL);
	struct descents *d = descents_new(e, &observer, seed);
	descents_run(d, count);
	r.stats = *explorer_stats(e);
	r.made = descents_made(d);
	r.repeated = descents_repeated(d);
	for (uint32_t i = 0; i < explorer_slot_count(e); i++) {
		const struct explore_violation *v = explorer_violation(e, i);
		r.violations += v->histories;
		ck_assert(!v->histories == !v->example);
	}
	descents_free(d);
	explorer_free(e);
	return r;
}

static uint64_t count_violations(const struct program *p,
                                 const struct explore_options *o)
{
	uint64_t sum = 0;
	struct explorer *e = explorer_new(p, o, NULL);
	explorer_run(e);
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		sum += explorer_violation(e, i)->histories;
	explorer_free(e);
	return sum;
}

/* So many of them that all of a small program is met, each history once. */
START_TEST(descents_meet_each_history_once)
{
	static const enum explorer_algorithm algorithms[] = { EXPLORE_CE,
		                                              EXPLORE_DFS,
		                                              EXPLORE_ORDERLY };
	static const char *const names[] = { "litmus/lost-update",
		                             "litmus/write-skew",
		                             "litmus/long-fork",
		                             "examples/last-seat" };
	struct program *p = shipped(names[_i]);
	for (int a = 0; a < 3; a++)
		for (int l = 0; l < LEVEL_COUNT; l++) {
			struct explore_options o =
				options_for(EXPLORE_CE, (enum level)l);
			uint64_t all = explore(p, &o).histories;
			uint64_t failing = count_violations(p, &o);
			o = options_for(algorithms[a], (enum level)l);
			struct drawn d = draw(p, &o, 5000, 1);
			ck_assert_uint_eq(d.stats.histories, all);
			ck_assert_uint_eq(d.told, all);
			ck_assert_uint_eq(d.violations, failing);
			ck_assert_uint_eq(d.made, 5000);
			ck_assert_int_eq(d.stats.stop, STOP_DESCENTS);
		}
	program_free(p);
}
END_TEST

START_TEST(descents_are_reproducible)
{
	struct program *p = shipped("tpcc/client-5");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_CC);
	struct drawn a = draw(p, &o, 200, 3), b = draw(p, &o, 200, 3);
	struct drawn c = draw(p, &o, 200, 4);
	ck_assert_uint_eq(a.hash, b.hash);
	ck_assert_uint_eq(a.violations, b.violations);
	ck_assert_uint_ne(a.hash, c.hash);
	ck_assert_uint_eq(a.stats.histories + a.repeated, 200);
	ck_assert_uint_gt(a.stats.histories, 50);
	program_free(p);
}
END_TEST

/* The chance of a history is that of its choices: over many seeds, each of the
 * end states below a choice of two comes up as often as the other. */
START_TEST(descents_are_fair)
{
	struct program *p =
		program_from_text("global x = 0;\n"
	                          "txn write_x() { x = 1; }\n"
	                          "txn read_x() { return x; }\n"
	                          "session a { write_x(); }\n"
	                          "session b { let seen = read_x(); }\n"
	                          "assert \"it is there\" : b.seen == 1;\n");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_CC);
	unsigned violated = 0;
	ck_assert_uint_eq(explore(p, &o).histories, 2);
	for (uint64_t seed = 1; seed <= 1000; seed++)
		violated += draw(p, &o, 1, seed).violations > 0;
	ck_assert_uint_gt(violated, 430);
	ck_assert_uint_lt(violated, 570);
	program_free(p);
}
END_TEST

START_TEST(descents_stop_when_asked)
{
	atomic_bool interrupt = true;
	struct program *p = shipped("tpcc/client-5");
	struct explore_options o = options_for(EXPLORE_CE, LEVEL_CC);
	o.interrupt = &interrupt;
	ck_assert_int_eq(draw(p, &o, 100000, 1).stats.stop, STOP_INTERRUPTED);
	o.interrupt = NULL;
	o.timeout = 0.2;
	struct drawn d = draw(p, &o, UINT64_MAX, 1);
	ck_assert_int_eq(d.stats.stop, STOP_TIME);
	ck_assert_uint_gt(d.stats.histories, 0);
	ck_assert(d.stats.seconds < 30);
	program_free(p);
}
END_TEST

/* ---- words ---- */

static void check_words(struct text *t, const char *expected)
{
	ck_assert_str_eq(text_get(t), expected);
	text_free(t);
}

START_TEST(rough_numbers)
{
	static const struct {
		double n;
		const char *words;
	} counts[] = { { 0, "0" },
		       { 7, "7" },
		       { 999.4, "999" },
		       { 1234, "1,230" },
		       { 99960, "100,000" },
		       { 1312345, "1.31 million" },
		       { 999999, "1 million" },
		       { 5.2e9, "5.2 billion" },
		       { 123.4e12, "123 trillion" },
		       { 1.72e15, "1.7e+15" } };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct text t = { 0 };
		number_about(&t, counts[i].n);
		check_words(&t, counts[i].words);
	}
	struct text t = { 0 };
	number_range(&t, 1.1e6, 1.62e6);
	check_words(&t, "1.1 to 1.62 million");
	number_range(&t, 7, 12345);
	check_words(&t, "7 to 12,300");
	number_range(&t, 900000, 1.2e6);
	check_words(&t, "900,000 to 1.2 million");
}
END_TEST

START_TEST(rough_times)
{
	static const struct {
		double seconds;
		const char *words;
	} times[] = { { 0.01, "less than 0.1 s" },
		      { 0.52, "0.52 s" },
		      { 2.44, "2.4 s" },
		      { 63.2, "63 s" },
		      { 150, "2.5 min" },
		      { 7200, "2 hours" },
		      { 86400 * 3.0, "3 days" },
		      { 86400 * 3652.5, "10 years" },
		      { 1e20, "more than a million years" } };
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct text t = { 0 };
		number_duration(&t, times[i].seconds);
		check_words(&t, times[i].words);
	}
}
END_TEST

void add_estimate_tests(TCase *t)
{
	tcase_add_test(t, intervals_hold_the_truth);
	tcase_add_test(t, intervals_hold_the_truth_orderly);
	tcase_add_loop_test(t, estimates_have_no_bias, 0, BIAS_CASES);
	tcase_add_test(t, what_is_left_is_estimated);
	tcase_add_test(t, sizes_add_up);
	tcase_add_test(t, a_seed_is_reproducible);
	tcase_add_test(t, what_cannot_be_estimated);
	tcase_add_test(t, groups_are_given_up);
	tcase_add_test(t, little_memory_does_no_harm);
	tcase_add_test(t, time_has_an_interval);
	tcase_add_test(t, bars_never_go_back);
	tcase_add_loop_test(t, bars_come_to_the_end, 0, 5);
	tcase_add_loop_test(t, forecasts_of_a_run, 0, 2);
	tcase_add_loop_test(t, descents_meet_each_history_once, 0, 4);
	tcase_add_test(t, descents_are_reproducible);
	tcase_add_test(t, descents_are_fair);
	tcase_add_test(t, descents_stop_when_asked);
	tcase_add_test(t, rough_numbers);
	tcase_add_test(t, rough_times);
}
