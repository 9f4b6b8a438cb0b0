/* Prediction against brute force, trace by trace; traces with known answers;
 * and what is true of all predictions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "check/check.h"
#include "generate/workload.h"
#include "history/trace_build.h"
#include "predict/predict.h"
#include "predict_support.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_predict.h"

enum {
	RUNS = 10,     /* test processes over which seeds are spread */
	TRACES = 3000, /* in all, unless ISOSCOPE_PROGRAMS says more */
	LARGE = 10,    /* so many fewer are larger */
	MOST = 20000   /* histories that brute force looks at */
};

enum { LEVELS_ALL = (1 << LEVEL_SER) - 1, ENCODINGS_ALL = 3 };

static uint64_t traces_per_run(void)
{
	uint64_t all = programs_or(TRACES);
	return all < 40 * RUNS ? 40 : all / RUNS;
}

/* ---- traces with known answers ---- */

static const struct row {
	const char *name;
	const char *notation;
	const char *answers; /* cc strict, cc relaxed, rc strict, rc relaxed */
} rows[] = {
	/* Figures of the paper. */
	{ "fig1_deposit_deposit", "T10: x<0 Wx | T20: x<T10 Wx", "-+-+" },
	{ "fig3_observed_lost_update", "T10: x<0 Wx | T20: x<0 Wx", "++++" },
	{ "fig6_self_justifying", "T10: Wx | T20: Wx | T30: x<T20", "----" },
	{ "fig7a_long_fork_half_observed",
	  "T10: Wx | T20: Wy | T30: x<T10 y<0 | T40: y<T20 x<T10", "++++" },
	{ "fig7c_causal_chain", "T10: Wx | T20: x<T10 Wy | T30: y<T20 x<T10",
	  "-+++" },
	{ "fig8_smallbank", "T10: Wx ; T11: y<T20 | T20: Wy ; T21: x<T10",
	  "++++" },
	{ "fig9_deposit_withdraw_deposit",
	  "T10: x<0 Wx ; T11: x<T20 Wx | T20: x<T10 Wx", "-+++" },
	{ "ring3_sb", "T10: Wx y<0 | T20: Wy z<0 | T30: Wz x<T10", "++++" },
	{ "readme_sb_one_txn", "T10: Wy x<0 | T20: Wx y<T10", "++++" },
	/* What separates the levels and the boundaries. */
	{ "deposit_same_session", "T10: x<0 Wx ; T11: x<T10 Wx", "--++" },
	{ "read_your_writes", "T10: Wx ; T11: x<T10", "--++" },
	{ "monotonic_read", "T10: Wx | T20: x<T10 ; T21: x<T10", "--++" },
	{ "voter_min",
	  "T10: v<0 v<0 Wv | T20: v<T10 v<T10 ; T21: v<T10 | T30: v<T10",
	  "--++" },
	{ "fractured_read", "T10: Wx Wy | T20: x<T10 y<T10", "---+" },
	{ "nonrepeatable_reader_after", "T10: Wx | T20: x<T10 x<T10", "---+" },
	{ "nonrepeatable_reader_before", "T10: Wx | T20: x<0 x<0", "--++" },
	{ "long_fork",
	  "T10: Wx | T20: Wy | T30: x<T10 y<T20 | T40: y<T20 x<T10", "++++" },
	{ "write_skew_reads_first", "T10: x<0 y<0 Wx | T20: x<T10 y<0 Wy",
	  "-+-+" },
	{ "dependent_on_divergent",
	  "T10: Wx ; T11: z<T30 | T20: x<T10 Wy | T30: y<T20 Wz", "-+-+" },
	{ "local_and_double_write", "T10: Wx x<self Wx y<0 | T20: x<T10 Wy",
	  "-+-+" },
	/* T20, cut behind its read, writes x, whether again or not. */
	{ "written_before_the_cut", "T10: Wz x<0 | T20: Wx z<T10", "++++" },
	{ "written_again_behind_the_cut", "T10: Wz x<0 | T20: Wx z<T10 Wx",
	  "++++" },
	{ "written_behind_the_cut", "T10: Wz x<0 | T20: z<T10 Wx", "-+-+" },
	{ "single_txn_rmw", "T10: x<0 Wx", "----" },
	{ "disjoint_keys", "T10: x<0 Wx | T20: y<0 Wy | T30: z<0 Wz", "----" },
};

enum { ROWS = sizeof rows / sizeof *rows };

static enum level row_level(unsigned column)
{
	return column < 2 ? LEVEL_CC : LEVEL_RC;
}

static enum predict_boundary row_boundary(unsigned column)
{
	return column % 2 ? BOUNDARY_RELAXED : BOUNDARY_STRICT;
}

static void expect_answer(const char *who, const struct row *r, unsigned column,
                          unsigned encoding, bool found)
{
	if (found == (r->answers[column] == '+')) return;
	ck_abort_msg("%s: %s, %s %s %s: %s", who, r->name,
	             level_word(row_level(column)),
	             column % 2 ? "relaxed" : "strict",
	             encoding ? "approx" : "exact", found ? "found" : "none");
}

/* Brute force itself, in both forms. */
START_TEST(twins_know_the_rows)
{
	const struct row *r = &rows[_i];
	struct history *h = history_from_notation(r->notation);
	struct twin_trace t;
	ck_assert(twin_trace_init(&t, h));
	for (unsigned c = 0; c < 4; c++) {
		enum level l = row_level(c);
		struct twin_search s = { .boundary = row_boundary(c),
			                 .levels = 1u << l,
			                 .encodings = ENCODINGS_ALL,
			                 .most = MOST };
		struct twin_answers a;
		struct twin_predictions p;
		twin_literal(&t, s.boundary, s.levels, MOST, &a);
		twin_predict(&t, &s, &p);
		ck_assert(!a.gave_up && !p.gave_up);
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
			expect_answer("literal", r, c, e, a.found[l][e]);
			expect_answer("cuts", r, c, e, p.sets[l][e].count);
		}
		twin_predictions_free(&p);
	}
	twin_trace_free(&t);
	history_free(h);
}
END_TEST

/* ---- brute force against itself ---- */

static struct observed_shape small_shape(struct rng *r)
{
	return (struct observed_shape){ .sessions = 2 + rng_below(r, 3),
		                        .transactions = 3 + rng_below(r, 4),
		                        .events = 2 + rng_below(r, 4),
		                        .keys = 1 + rng_below(r, 3),
		                        .wild = rng_below(r, 4) ? 0 : 30,
		                        .aborted = rng_below(r, 3) ? 0 : 20,
		                        .last = true,
		                        .quiet = !rng_below(r, 4) };
}

static void compare_twins(struct predict_trial *t)
{
	struct twin_trace w;
	struct twin_answers a;
	struct twin_predictions p;
	struct twin_search s = { .boundary = t->o.boundary,
		                 .levels = LEVELS_ALL,
		                 .encodings = ENCODINGS_ALL,
		                 .most = MOST };
	ck_assert(twin_trace_init(&w, t->h));
	twin_literal(&w, s.boundary, LEVELS_ALL, MOST, &a);
	twin_predict(&w, &s, &p);
	for (enum level l = 0; l < LEVEL_SER; l++)
		if (!level_has_statements(l))
			for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
				bool found = p.sets[l][e].count;
				if (a.gave_up || p.gave_up) continue;
				t->o.level = l;
				t->o.encoding = (enum predict_encoding)e;
				if (a.found[l][e] != found)
					predict_complain(
						t, found ? "only cuts predict"
							 : "only boundaries "
							   "predict");
			}
	twin_predictions_free(&p);
	twin_trace_free(&w);
}

START_TEST(both_forms_agree)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run(); n > 0; n--, seed++) {
		struct rng r = { seed };
		char *notation = observed_random(&r, small_shape(&r));
		struct history *h = history_from_notation(notation);
		struct predict_trial t = { .seed = seed,
			                   .notation = notation,
			                   .h = h };
		t.o.boundary = BOUNDARY_STRICT;
		compare_twins(&t);
		t.o.boundary = BOUNDARY_RELAXED;
		compare_twins(&t);
		history_free(h);
		free(notation);
	}
}
END_TEST

/* ---- running what is tested ---- */

static struct check_clock *clock_without_limits(void)
{
	return check_clock_new(&(struct check_limits){ 0 });
}

struct run {
	struct predictor *predictor;
	struct check_clock *clock;
	struct diags diags;
};

static void run_begin(struct run *r, const struct predict_trial *t)
{
	memset(r, 0, sizeof *r);
	r->clock = clock_without_limits();
	r->predictor = predictor_new(t->trace, &t->o, r->clock, &r->diags);
	if (!r->predictor || r->diags.errors)
		predict_complain(t, "the trace is refused");
}

static void run_end(struct run *r)
{
	predictor_free(r->predictor);
	check_clock_free(r->clock);
	diags_free(&r->diags);
}

/* The next prediction, verified; false if there is none. */
static bool run_next(struct run *r, const struct predict_trial *t,
                     struct prediction *p)
{
	enum predict_answer a = predictor_next(r->predictor, p);
	if (a == PREDICT_UNKNOWN) predict_complain(t, "unknown");
	if (a == PREDICT_FOUND) expect_prediction(t, p);
	return a == PREDICT_FOUND;
}

/* Is there a prediction? */
static bool predicts(const struct predict_trial *t)
{
	struct run r;
	struct prediction p;
	run_begin(&r, t);
	bool found = run_next(&r, t, &p);
	if (found) prediction_free(&p);
	run_end(&r);
	return found;
}

static void trial_begin(struct predict_trial *t, const char *notation)
{
	t->notation = notation;
	t->h = history_from_notation(notation);
	t->trace = trace_of_history(t->h, "test");
}

static void trial_end(struct predict_trial *t)
{
	trace_free((struct trace *)t->trace);
	history_free((struct history *)t->h);
}

START_TEST(rows_have_their_answers)
{
	const struct row *r = &rows[_i];
	struct predict_trial t = { 0 };
	trial_begin(&t, r->notation);
	for (unsigned c = 0; c < 4; c++)
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
			t.o = (struct predict_options){
				.level = row_level(c),
				.boundary = row_boundary(c),
				.encoding = (enum predict_encoding)e
			};
			expect_answer("predictor", r, c, e, predicts(&t));
			t.o.enumerate = true;
			expect_answer("all", r, c, e, predicts(&t));
		}
	trial_end(&t);
}
END_TEST

/* The paper's first example: what is predicted is Figure 3a. */
START_TEST(lost_update_is_predicted)
{
	struct predict_trial t = { .o = { .level = LEVEL_CC,
		                          .boundary = BOUNDARY_RELAXED } };
	struct prediction p;
	struct run r;
	trial_begin(&t, "T10: x<0 Wx | T20: x<T10 Wx");
	run_begin(&r, &t);
	ck_assert(run_next(&r, &t, &p));
	struct history *h = trace_history(p.history, NULL, NULL);
	char *text = history_to_notation(h);
	ck_assert_str_eq(text, "T10: x<0 Wx | T20: x<0 Wx");
	ck_assert_uint_eq(p.changed_count, 1);
	ck_assert(!p.observed);
	free(text);
	history_free(h);
	prediction_free(&p);
	run_end(&r);
	trial_end(&t);
}
END_TEST

START_TEST(unserializable_is_observed)
{
	struct predict_trial t = { 0 };
	struct prediction p;
	struct run r;
	trial_begin(&t, "T10: x<0 Wx | T20: x<0 Wx");
	for (unsigned i = 0; i < 8; i++) {
		t.o = (struct predict_options){
			.level = i & 4 ? LEVEL_CC : LEVEL_RC,
			.boundary = row_boundary(i),
			.encoding = i & 2 ? ENCODING_APPROX : ENCODING_EXACT
		};
		run_begin(&r, &t);
		ck_assert(run_next(&r, &t, &p));
		ck_assert(p.observed);
		prediction_free(&p);
		ck_assert(!t.o.enumerate || !run_next(&r, &t, &p));
		run_end(&r);
	}
	trial_end(&t);
}
END_TEST

/* Not serializable although no single order of two writers is forced: any
 * choice of two closes a cycle, and pco makes no choice. */
static const char pco_gap[] =
	"T1: Wx Wa | T2: Wx Wb | T3: Wy Wc | T4: Wy Wd | T5: x<T1 c<T3 d<T4 | "
	"T6: x<T2 c<T3 d<T4 | T7: y<T3 a<T1 b<T2 | T8: y<T4 a<T1 b<T2";

START_TEST(approx_misses_the_gap)
{
	struct predict_trial t = { 0 };
	struct prediction p;
	trial_begin(&t, pco_gap);
	ck_assert(!twin_allows(LEVEL_SER, t.h) && !twin_pco_cyclic(t.h));
	for (unsigned i = 0; i < 8; i++) {
		struct run r;
		t.o = (struct predict_options){
			.level = i & 4 ? LEVEL_CC : LEVEL_RC,
			.boundary = row_boundary(i),
			.encoding = i & 2 ? ENCODING_APPROX : ENCODING_EXACT
		};
		run_begin(&r, &t);
		bool found = run_next(&r, &t, &p);
		if (t.o.encoding == ENCODING_EXACT)
			ck_assert(found && p.observed);
		ck_assert(!found ||
		          p.observed != (t.o.encoding == ENCODING_APPROX));
		if (found) prediction_free(&p);
		run_end(&r);
	}
	trial_end(&t);
}
END_TEST

/* ---- against brute force ---- */

static struct twin_set changed_set(const struct predict_trial *t,
                                   const struct twin_trace *w,
                                   const struct prediction *p)
{
	struct twin_set set = { { 0 } };
	for (uint32_t c = 0; c < p->changed_count; c++) {
		uint32_t n = p->changed[c].transaction;
		uint32_t first = t->trace->transactions[n].first_op;
		for (uint32_t i = w->first[n]; i < w->first[n + 1]; i++)
			if (first + w->events[i].place == p->changed[c].op)
				twin_set_put(&set, w, i, p->changed[c].writer,
				             true);
	}
	return set;
}

static void expect_all(struct predict_trial *t, const struct twin_trace *w,
                       const struct twin_sets *expected)
{
	struct run r;
	struct prediction p;
	uint32_t before = 0;
	size_t found = 0;
	bool *seen = mem_take0(expected->count + 1, sizeof *seen);
	t->o.enumerate = true;
	run_begin(&r, t);
	for (; run_next(&r, t, &p); prediction_free(&p), found++) {
		struct twin_set set = changed_set(t, w, &p);
		size_t i = 0;
		while (i < expected->count &&
		       memcmp(&expected->items[i], &set, sizeof set))
			i++;
		if (i == expected->count)
			predict_complain(t, "a prediction that is not minimal");
		if (seen[i]) predict_complain(t, "a prediction twice");
		if (p.changed_count < before)
			predict_complain(t, "more changed reads come first");
		before = p.changed_count;
		seen[i] = true;
	}
	if (found < expected->count) predict_complain(t, "one is missing");
	if (run_next(&r, t, &p)) predict_complain(t, "one after the end");
	run_end(&r);
	t->o.enumerate = false;
	free(seen);
}

static void expect_statistics(const struct predict_trial *t,
                              const struct twin_trace *w)
{
	struct run r;
	struct prediction p;
	run_begin(&r, t);
	if (run_next(&r, t, &p)) prediction_free(&p);
	const struct predict_stats *s = predictor_stats(r.predictor);
	if (s->reads != w->reads) predict_complain(t, "stats.reads");
	if (s->contended != w->contended)
		predict_complain(t, "stats.contended");
	run_end(&r);
}

static void compare_levels(struct predict_trial *t, const struct twin_trace *w,
                           const struct twin_predictions *p, unsigned levels)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		for (unsigned e = 0; levels >> l & 1 && e < TWIN_ENCODINGS;
		     e++) {
			const struct twin_sets *sets = &p->sets[l][e];
			t->o.level = l;
			t->o.encoding = (enum predict_encoding)e;
			bool found = predicts(t);
			if (found && !sets->count)
				predict_complain(t, "found, should be none");
			if (!found && sets->count)
				predict_complain(t, "none, should be found");
			expect_all(t, w, sets);
		}
	expect_statistics(t, w);
}

static uint32_t fewest(const struct twin_sets *s)
{
	uint32_t least = UINT32_MAX;
	for (size_t i = 0; i < s->count; i++) {
		uint32_t bits = 0;
		for (uint32_t w = 0; w < TWIN_WORDS; w++)
			bits += (uint32_t)__builtin_popcountll(
				s->items[i].words[w]);
		if (bits < least) least = bits;
	}
	return least;
}

/* Without more ado: the nearest one within the strict boundary, if there is
 * one, then the nearest within the relaxed one. */
static void compare_both(struct predict_trial *t,
                         const struct twin_predictions *p, enum level l)
{
	struct run r;
	struct prediction found;
	t->o = (struct predict_options){ .level = l,
		                         .boundary = BOUNDARY_BOTH };
	run_begin(&r, t);
	for (unsigned b = 0; b < 2; b++) {
		const struct twin_sets *s = &p[b].sets[l][ENCODING_EXACT];
		if (!s->count) continue;
		t->o.boundary = row_boundary(b);
		if (!run_next(&r, t, &found))
			predict_complain(t, "of both: none");
		if (found.boundary != row_boundary(b))
			predict_complain(t, "of both: the other boundary");
		/* Now and then it is found without being known for it. */
		if (found.nearest && found.changed_count != fewest(s))
			predict_complain(t, "of both: not the nearest");
		bool itself = found.observed;
		prediction_free(&found);
		if (itself) break;
	}
	run_end(&r);
}

static void compare_with_twin(struct predict_trial *t, unsigned levels)
{
	struct twin_predictions both[2];
	struct twin_trace w;
	ck_assert(twin_trace_init(&w, t->h));
	for (unsigned b = 0; b < 2; b++) {
		struct twin_search s = { .boundary = row_boundary(b),
			                 .levels = levels,
			                 .encodings = ENCODINGS_ALL,
			                 .most = MOST };
		t->o = (struct predict_options){ .boundary = s.boundary };
		twin_predict(&w, &s, &both[b]);
		if (!both[b].gave_up) compare_levels(t, &w, &both[b], levels);
	}
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (levels >> l & 1 && !both[0].gave_up && !both[1].gave_up)
			compare_both(t, both, l);
	for (unsigned b = 0; b < 2; b++) twin_predictions_free(&both[b]);
	twin_trace_free(&w);
}

/* Each is rare among random ones. */
static const char *const hard[] = {
	/* psi, si, strict: a1 or a2 ends behind a read that is unchanged. */
	"a1: Wr ; a2: p<0 Wp | b1: Wp r<a1",
	"a1: p<0 Wp q<0 Wq | b1: Wq Wq p<a1",
	"a1: Wp q<b2 Wq | b1: q<0 ; b2: Wq p<0 Wp",
	/* The same behind a read of a key that nobody writes. */
	"a1: p<0 Wq z<0 Wp | b1: Wp q<a1",
	"a1: s<0 Wp q<0 r<0 Wr | b1: Wp ; b2: s<0 q<0 Wq p<b1 p<b1 ; "
	"b3: p<b1 p<b1 Wq s<0 r<a1 Wr",
	/* Copies that are whole and change nothing. */
	"a1: p<0 Wp p<self ; a2: p<0 p<0 Wp | b1: p<a1 Wp",
	" | b1: p<c1 Wp | c1: p<0 Wp ; c2: p<0 p<d2 | d1: p<c1 ; d2: Wp ; "
	"d3: Wp Wp",
	/* A read of a write that is left out. */
	"a1: q<0 ; a2: p<0 Wq Wq Wq ; a3: Wp p<self q<a2 Wp",
	/* Copies that write what they read. */
	"a1: q<0 q<0 p<b1 Wq | b1: Wp Wp q<0",
	"a1: p<0 p<0 Wq | b1: q<a1 p<0 p<0 Wp",
	"a1: p<0 q<0 p<0 p<0 ; a2: p<0 p<0 Wp q<b1 p<self ; a3: p<a2 Wp | "
	"b1: Wq p<0",
	"a1: q<b2 p<0 p<0 Wp ; a2!: r<0 p<a1 Wp | b1!: p<0 q<0 Wq ; "
	"b2: q<0 Wq r<0 Wr ; b3!: Wq Wq p<a1 ; b4!: p<a1 Wp",
	/* A session that waits for the other. */
	"a1: Wp ; a2: p<a1 | * b1: Wp ; b2: p<b1",
};

enum { HARD = sizeof hard / sizeof *hard };

START_TEST(hard_traces_agree_with_brute_force)
{
	struct predict_trial t = { 0 };
	trial_begin(&t, hard[_i]);
	compare_with_twin(&t, LEVELS_ALL);
	trial_end(&t);
}
END_TEST

START_TEST(predictor_agrees_with_brute_force)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run(); n > 0; n--, seed++) {
		struct rng r = { seed };
		char *notation = observed_random(&r, small_shape(&r));
		struct predict_trial t = { .seed = seed };
		trial_begin(&t, notation);
		compare_with_twin(&t, LEVELS_ALL);
		trial_end(&t);
		free(notation);
	}
}
END_TEST

/* The level of those that have none of their own, and another one. */
static unsigned levels_beside(struct rng *r, const struct history *h)
{
	bool mixed = history_has_owns(h);
	unsigned levels = 0;
	for (int i = 0; i < 2; i++) {
		enum level l;
		do l = (enum level)rng_below(r, LEVEL_COUNT);
		while (mixed ? !level_mixes(l) : l == LEVEL_SER);
		levels |= 1u << l;
	}
	return levels;
}

/* Levels of transactions, locks, statements: of one in three, both. */
START_TEST(mixes_and_locks_agree_with_brute_force)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run(); n > 0; n--, seed++) {
		struct rng r = { ~seed };
		char *plain = observed_random(&r, small_shape(&r));
		struct history *h = history_from_notation(plain);
		if (n % 3) history_give_levels(&r, h);
		if (n % 3 != 1) history_give_locks(&r, h);
		char *notation = history_to_notation(h);
		struct predict_trial t = { .seed = seed };
		trial_begin(&t, notation);
		compare_with_twin(&t, levels_beside(&r, h));
		trial_end(&t);
		history_free(h);
		free(notation);
		free(plain);
	}
}
END_TEST

/* ---- larger traces ---- */

/* By hand, or by a store. */
static void random_large(struct predict_trial *t, struct rng *r,
                         uint32_t transactions)
{
	struct observed_shape shape = { .sessions = 3,
		                        .transactions = transactions,
		                        .events = 2 + rng_below(r, 3),
		                        .keys = 3 + rng_below(r, 5),
		                        .aborted = rng_below(r, 3) ? 0 : 10,
		                        .last = true };
	if (rng_below(r, 2)) {
		trial_begin(t, observed_random(r, shape));
		return;
	}
	struct workload w = workload_default();
	struct diags d = { 0 };
	w.transactions = transactions - rng_below(r, transactions / 2);
	w.sessions = 3;
	w.length = 2 + rng_below(r, 3);
	w.keys = 3 + rng_below(r, 10);
	w.seed = rng_next(r);
	t->trace = workload_run(&w, &d);
	ck_assert_ptr_nonnull(t->trace);
	t->h = trace_history(t->trace, NULL, NULL);
	diags_free(&d);
}

static void end_large(struct predict_trial *t)
{
	free((char *)t->notation);
	trial_end(t);
}

typedef bool answers[LEVEL_COUNT][2][TWIN_ENCODINGS];

/* A divergent transaction that is whole has writes that one cut short lacks;
 * only psi and si can forbid it for these; and prc for its locks, and what it
 * reads later. */
static void expect_monotone(struct predict_trial *t, enum level l,
                            const answers found)
{
	t->o = (struct predict_options){ .level = l };
	for (unsigned b = 0; b < 2; b++)
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++)
			for (enum level w = 0; w < LEVEL_SER; w++)
				if (found[l][b][e] && level_implies(l, w) &&
				    !found[w][b][e])
					predict_complain(t,
					                 "a weaker level has "
					                 "none");
	for (unsigned b = 0; b < 2; b++)
		if (found[l][b][ENCODING_APPROX] &&
		    !found[l][b][ENCODING_EXACT])
			predict_complain(t, "approx finds, exact does not");
	for (unsigned e = 0; e < TWIN_ENCODINGS; e++)
		if (l != LEVEL_PSI && l != LEVEL_SI &&
		    !level_has_statements(l) && found[l][0][e] &&
		    !found[l][1][e])
			predict_complain(t, "strict finds, relaxed does not");
}

static void expect_laws(struct predict_trial *t)
{
	answers found = { { { false } } };
	for (enum level l = 0; l < LEVEL_SER; l++)
		for (unsigned b = 0; b < 2; b++)
			for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
				t->o = (struct predict_options){
					.level = l,
					.boundary = row_boundary(b),
					.encoding = (enum predict_encoding)e
				};
				found[l][b][e] = predicts(t);
			}
	for (enum level l = 0; l < LEVEL_SER; l++) expect_monotone(t, l, found);
}

/* Are all changed reads of a also changed so in b? */
static bool is_included(const struct prediction *a, const struct prediction *b)
{
	for (uint32_t i = 0; i < a->changed_count; i++) {
		bool found = false;
		for (uint32_t j = 0; j < b->changed_count; j++)
			found |= a->changed[i].op == b->changed[j].op &&
			         a->changed[i].writer == b->changed[j].writer;
		if (!found) return false;
	}
	return true;
}

/* The first predictions: few changed reads first, and none is part of another.
 */
static void expect_first(struct predict_trial *t)
{
	enum { FIRST = 8 };
	struct prediction p[FIRST];
	uint32_t count = 0;
	struct run r;
	t->o.enumerate = true;
	run_begin(&r, t);
	while (count < FIRST && run_next(&r, t, &p[count])) count++;
	run_end(&r);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i; j++) {
			if (p[j].changed_count > p[i].changed_count)
				predict_complain(t, "more changes come first");
			if (is_included(&p[j], &p[i]))
				predict_complain(t, "a part of it came before");
		}
	while (count > 0) prediction_free(&p[--count]);
	t->o.enumerate = false;
}

START_TEST(laws_hold_on_larger_traces)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run() / LARGE; n > 0; n--, seed++) {
		struct rng r = { seed };
		struct predict_trial t = { .seed = seed };
		random_large(&t, &r, 8 + rng_below(&r, 17));
		expect_laws(&t);
		t.o.level = (enum level)rng_below(&r, LEVEL_SER);
		t.o.boundary = row_boundary(rng_below(&r, 2));
		expect_first(&t);
		end_large(&t);
	}
}
END_TEST

/* For one level at a time: what is found for another prunes nothing. */
static void compare_large(struct predict_trial *t, const struct twin_trace *w)
{
	struct twin_predictions p;
	struct twin_search s = { .boundary = t->o.boundary,
		                 .levels = 1u << t->o.level,
		                 .encodings = 1u << t->o.encoding,
		                 .most = MOST };
	twin_predict(w, &s, &p);
	bool found = predicts(t);
	bool expected = p.sets[t->o.level][t->o.encoding].count;
	if (!found && expected) predict_complain(t, "none, should be found");
	if (found && !expected && !p.gave_up)
		predict_complain(t, "found, should be none");
	if (!p.gave_up) expect_all(t, w, &p.sets[t->o.level][t->o.encoding]);
	twin_predictions_free(&p);
}

START_TEST(cuts_agree_on_larger_traces)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run() / LARGE; n > 0; n--, seed++) {
		struct rng r = { ~seed };
		struct predict_trial t = { .seed = seed };
		struct twin_trace w;
		random_large(&t, &r, 8 + rng_below(&r, 9));
		t.o.level = (enum level)rng_below(&r, LEVEL_SER);
		t.o.boundary = row_boundary(rng_below(&r, 2));
		t.o.encoding =
			rng_below(&r, 4) ? ENCODING_EXACT : ENCODING_APPROX;
		if (twin_trace_init(&w, t.h)) compare_large(&t, &w);
		twin_trace_free(&w);
		end_large(&t);
	}
}
END_TEST

/* ---- few writers ---- */

static void expect_none(struct predict_trial *t, enum level from)
{
	for (enum level l = from; l < LEVEL_SER; l++)
		for (unsigned b = level_implies(l, from) ? 0 : 2; b < 2; b++)
			for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
				t->o = (struct predict_options){
					.level = l,
					.boundary = row_boundary(b),
					.encoding = (enum predict_encoding)e
				};
				if (predicts(t))
					predict_complain(t, "found, though too "
					                    "few write");
			}
}

/* Nobody writes: no level has a prediction. One transaction writes: no level
 * from cc on has. */
START_TEST(few_writers_predict_nothing)
{
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = traces_per_run() / LARGE; n > 0; n--, seed++) {
		struct rng r = { seed };
		bool one = rng_below(&r, 2);
		struct observed_shape shape = { .sessions = 4,
			                        .transactions = 12,
			                        .events = 5,
			                        .keys = 3,
			                        .aborted = 10,
			                        .last = true,
			                        .writers = one ? WRITERS_ONE
			                                       : WRITERS_NONE };
		struct predict_trial t = { .seed = seed };
		trial_begin(&t, observed_random(&r, shape));
		expect_none(&t, one ? LEVEL_CC : LEVEL_NONE);
		end_large(&t);
	}
}
END_TEST

/* The first of n votes from one phone is counted, the others see it; in turns
 * in three sessions. */
static char *votes(uint32_t n)
{
	struct text t = { 0 };
	for (uint32_t s = 0; s < 3; s++) {
		text_format(&t, "%s", s ? " | " : "");
		for (uint32_t i = s; i < n; i += 3)
			text_format(&t, "%sT%u: %s", i > s ? " ; " : "", i + 1,
			            i ? "v<T1 v<T1" : "v<0 v<0 Wv");
	}
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

/* The benchmark Voter: none at cc, always one at rc. */
START_TEST(voter_is_predictable_at_rc_only)
{
	for (uint32_t n = 4; n <= 28; n += 4) {
		struct predict_trial t = { .seed = n };
		trial_begin(&t, votes(n));
		expect_none(&t, LEVEL_CC);
		for (unsigned i = 0; i < 4; i++) {
			t.o = (struct predict_options){
				.level = LEVEL_RC,
				.boundary = row_boundary(i),
				.encoding =
					i & 2 ? ENCODING_APPROX : ENCODING_EXACT
			};
			if (!predicts(&t)) predict_complain(&t, "none");
		}
		end_large(&t);
	}
}
END_TEST

/* ---- limits and refusals ---- */

static bool stop_now(void *data)
{
	(void)data;
	return true;
}

START_TEST(no_time_is_unknown)
{
	struct predict_trial t = { .o = { .level = LEVEL_CC } };
	struct check_limits limits = { .stop = stop_now };
	struct check_clock *c = check_clock_new(&limits);
	struct diags d = { 0 };
	struct prediction p;
	ck_assert(check_clock_over(c));
	trial_begin(&t, "T10: Wx | T20: Wy | T30: x<T10 y<T20 | "
	                "T40: y<T20 x<T10");
	struct predictor *r = predictor_new(t.trace, &t.o, c, &d);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(predictor_next(r, &p), PREDICT_UNKNOWN);
	predictor_free(r);
	diags_free(&d);
	check_clock_free(c);
	trial_end(&t);
}
END_TEST

struct stopping {
	uint64_t asked, after; /* 0: never stops */
};

static bool stop_after(void *data)
{
	struct stopping *s = data;
	return ++s->asked == s->after;
}

/* The first of all predictions, the search being stopped when it has asked so
 * often. Those that are found are right. */
static enum predict_answer stopped_first(const struct predict_trial *t,
                                         struct stopping *s,
                                         struct prediction *p)
{
	struct check_limits limits = { .stop = stop_after, .stop_data = s };
	struct check_clock *c = check_clock_new(&limits);
	struct diags d = { 0 };
	struct predictor *r = predictor_new(t->trace, &t->o, c, &d);
	ck_assert_ptr_nonnull(r);
	enum predict_answer answer = predictor_next(r, p);
	if (answer == PREDICT_FOUND) expect_prediction(t, p);
	predictor_free(r);
	diags_free(&d);
	check_clock_free(c);
	return answer;
}

/* A search that is stopped while it looks for a prediction with fewer changes
 * gives the one that it has, and does not call it the nearest unless it is. */
START_TEST(what_was_found_is_given_at_a_stop)
{
	uint64_t seed = first_seed(), farther = 0;
	for (int n = 0; n < 400 && farther < 3; n++, seed++) {
		struct rng r = { seed };
		struct predict_trial t = { .seed = seed,
			                   .o = { .level = LEVEL_CC,
			                          .boundary = BOUNDARY_RELAXED,
			                          .enumerate = true } };
		struct stopping s = { 0 };
		struct prediction best, p;
		random_large(&t, &r, 24);
		if (stopped_first(&t, &s, &best) == PREDICT_FOUND) {
			uint64_t all = s.asked;
			for (s.after = all; s.after > 0; s.after--) {
				s.asked = 0;
				if (stopped_first(&t, &s, &p) != PREDICT_FOUND)
					continue;
				ck_assert_uint_ge(p.changed_count,
				                  best.changed_count);
				if (p.nearest)
					ck_assert_uint_eq(p.changed_count,
					                  best.changed_count);
				farther += !p.nearest;
				prediction_free(&p);
			}
			prediction_free(&best);
		}
		end_large(&t);
	}
	ck_assert_uint_gt(farther, 0);
}
END_TEST

/* One write of x, and one read of what may be another value. */
static struct trace *trace_by_hand(int64_t read, bool lists)
{
	struct trace_rules rules = { .initial = trace_value_number(0),
		                     .lists = lists };
	struct trace_builder *b = trace_builder_new("by hand", &rules);
	struct diags d = { 0 };
	uint32_t x = trace_key_named(b, "x", 1);
	for (int i = 0; i < 2; i++) {
		uint32_t t = trace_transaction_new(
			b, trace_session_number(b, i), TRACE_COMMITTED, 0);
		trace_op_add(b, t, i ? EVENT_READ : EVENT_WRITE, x,
		             trace_value_number(i ? read : 1), 0);
		if (lists) trace_op_list(b);
	}
	if (lists) {
		struct trace_value v = trace_value_number(1);
		trace_key_versions(b, x, &v, 1);
	}
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_msg(t && !d.errors, "not built");
	diags_free(&d);
	return t;
}

static void expect_refused(struct trace *t)
{
	struct predict_options o = { .level = LEVEL_CC };
	struct check_clock *c = clock_without_limits();
	struct diags d = { 0 };
	ck_assert_ptr_null(predictor_new(t, &o, c, &d));
	ck_assert_uint_gt(d.errors, 0);
	diags_free(&d);
	check_clock_free(c);
	trace_free(t);
}

START_TEST(what_prediction_does_not_apply_to_is_refused)
{
	struct predict_options o = { .level = LEVEL_CC };
	struct check_clock *c = clock_without_limits();
	struct diags d = { 0 };
	struct trace *fine = trace_by_hand(1, false);
	struct predictor *p = predictor_new(fine, &o, c, &d);
	ck_assert_ptr_nonnull(p);
	predictor_free(p);
	trace_free(fine);
	check_clock_free(c);
	expect_refused(trace_by_hand(7, false));
	expect_refused(trace_by_hand(1, true));
}
END_TEST

void add_predict_tests(TCase *tests)
{
	tcase_add_loop_test(tests, twins_know_the_rows, 0, ROWS);
	tcase_add_loop_test(tests, both_forms_agree, 0, RUNS);
	tcase_add_loop_test(tests, rows_have_their_answers, 0, ROWS);
	tcase_add_test(tests, lost_update_is_predicted);
	tcase_add_test(tests, unserializable_is_observed);
	tcase_add_test(tests, approx_misses_the_gap);
	tcase_add_loop_test(tests, hard_traces_agree_with_brute_force, 0, HARD);
	tcase_add_loop_test(tests, predictor_agrees_with_brute_force, 0, RUNS);
	tcase_add_loop_test(tests, mixes_and_locks_agree_with_brute_force, 0,
	                    RUNS);
	tcase_add_loop_test(tests, laws_hold_on_larger_traces, 0, RUNS);
	tcase_add_loop_test(tests, cuts_agree_on_larger_traces, 0, RUNS);
	tcase_add_loop_test(tests, few_writers_predict_nothing, 0, RUNS);
	tcase_add_test(tests, voter_is_predictable_at_rc_only);
	tcase_add_test(tests, no_time_is_unknown);
	tcase_add_test(tests, what_was_found_is_given_at_a_stop);
	tcase_add_test(tests, what_prediction_does_not_apply_to_is_refused);
}
