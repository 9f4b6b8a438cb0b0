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

/* Histories that brute force looks at. */
enum { MOST = 20000 };

enum { LEVELS_ALL = (1 << LEVEL_SER) - 1, ENCODINGS_ALL = 3 };

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
		struct twin_search s = { .boundary = boundary_of(c),
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

START_TEST(rows_have_their_answers)
{
	const struct row *r = &rows[_i];
	struct predict_trial t = { 0 };
	trial_begin(&t, r->notation);
	for (unsigned c = 0; c < 4; c++)
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++) {
			t.o = (struct predict_options){
				.level = row_level(c),
				.boundary = boundary_of(c),
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
	struct predict_run r;
	trial_begin(&t, "T10: x<0 Wx | T20: x<T10 Wx");
	predict_run_begin(&r, &t);
	ck_assert(predict_run_next(&r, &t, &p));
	struct history *h = trace_history(p.history, NULL, NULL);
	char *text = history_to_notation(h);
	ck_assert_str_eq(text, "T10: x<0 Wx | T20: x<0 Wx");
	ck_assert_uint_eq(p.changed_count, 1);
	ck_assert(!p.observed);
	free(text);
	history_free(h);
	prediction_free(&p);
	predict_run_end(&r);
	trial_end(&t);
}
END_TEST

START_TEST(unserializable_is_observed)
{
	struct predict_trial t = { 0 };
	struct prediction p;
	struct predict_run r;
	trial_begin(&t, "T10: x<0 Wx | T20: x<0 Wx");
	for (unsigned i = 0; i < 8; i++) {
		t.o = (struct predict_options){
			.level = i & 4 ? LEVEL_CC : LEVEL_RC,
			.boundary = boundary_of(i),
			.encoding = i & 2 ? ENCODING_APPROX : ENCODING_EXACT
		};
		predict_run_begin(&r, &t);
		ck_assert(predict_run_next(&r, &t, &p));
		ck_assert(p.observed);
		prediction_free(&p);
		ck_assert(!t.o.enumerate || !predict_run_next(&r, &t, &p));
		predict_run_end(&r);
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
		struct predict_run r;
		t.o = (struct predict_options){
			.level = i & 4 ? LEVEL_CC : LEVEL_RC,
			.boundary = boundary_of(i),
			.encoding = i & 2 ? ENCODING_APPROX : ENCODING_EXACT
		};
		predict_run_begin(&r, &t);
		bool found = predict_run_next(&r, &t, &p);
		if (t.o.encoding == ENCODING_EXACT)
			ck_assert(found && p.observed);
		ck_assert(!found ||
		          p.observed != (t.o.encoding == ENCODING_APPROX));
		if (found) prediction_free(&p);
		predict_run_end(&r);
	}
	trial_end(&t);
}
END_TEST

/* ---- against brute force ---- */

static void expect_statistics(const struct predict_trial *t,
                              const struct twin_trace *w)
{
	struct predict_run r;
	struct prediction p;
	predict_run_begin(&r, t);
	if (predict_run_next(&r, t, &p)) prediction_free(&p);
	const struct predict_stats *s = predictor_stats(r.predictor);
	if (s->reads != w->reads) predict_complain(t, "stats.reads");
	if (s->contended != w->contended)
		predict_complain(t, "stats.contended");
	predict_run_end(&r);
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
	struct predict_run r;
	struct prediction found;
	t->o = (struct predict_options){ .level = l,
		                         .boundary = BOUNDARY_BOTH };
	predict_run_begin(&r, t);
	for (unsigned b = 0; b < 2; b++) {
		const struct twin_sets *s = &p[b].sets[l][ENCODING_EXACT];
		if (!s->count) continue;
		t->o.boundary = boundary_of(b);
		if (!predict_run_next(&r, t, &found))
			predict_complain(t, "of both: none");
		if (found.boundary != boundary_of(b))
			predict_complain(t, "of both: the other boundary");
		/* Now and then it is found without being known for it. */
		if (found.nearest && found.changed_count != fewest(s))
			predict_complain(t, "of both: not the nearest");
		bool itself = found.observed;
		prediction_free(&found);
		if (itself) break;
	}
	predict_run_end(&r);
}

static void compare_with_twin(struct predict_trial *t, unsigned levels)
{
	struct twin_predictions both[2];
	struct twin_trace w;
	ck_assert(twin_trace_init(&w, t->h));
	for (unsigned b = 0; b < 2; b++) {
		struct twin_search s = { .boundary = boundary_of(b),
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

/* psi and si, copies that are whole: who may diverge at all is known
 * beforehand. Few traces show that it is: so these are many, and small. */
static void compare_exclusive(struct predict_trial *t)
{
	enum { LEVELS = 1u << LEVEL_PSI | 1u << LEVEL_SI };
	struct twin_search s = { .boundary = BOUNDARY_RELAXED,
		                 .levels = LEVELS,
		                 .encodings = 1u << ENCODING_EXACT,
		                 .most = MOST };
	struct twin_predictions p;
	struct twin_trace w;
	ck_assert(twin_trace_init(&w, t->h));
	twin_predict(&w, &s, &p);
	for (enum level l = 0; l < LEVEL_COUNT && !p.gave_up; l++) {
		if (!(LEVELS >> l & 1)) continue;
		t->o = (struct predict_options){ .level = l,
			                         .boundary = s.boundary };
		if (predicts(t) != !!p.sets[l][ENCODING_EXACT].count)
			predict_complain(t, "not as brute force");
		expect_all(t, &w, &p.sets[l][ENCODING_EXACT]);
	}
	twin_predictions_free(&p);
	twin_trace_free(&w);
}

START_TEST(exclusion_agrees_with_brute_force)
{
	enum { TIMES = 6 };
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t n = TIMES * traces_per_run(); n > 0; n--, seed++) {
		struct rng r = { seed };
		struct observed_shape shape = { .wild = n % 8 ? 0 : 30,
			                        .last = n % 8 == 1 };
		shape.sessions = 3 + rng_below(&r, 2);
		shape.transactions = 4 + rng_below(&r, 4);
		shape.events = 2 + rng_below(&r, 3);
		shape.keys = 2 + rng_below(&r, 3);
		char *notation = observed_random(&r, shape);
		struct predict_trial t = { .seed = seed };
		trial_begin(&t, notation);
		compare_exclusive(&t);
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
		if (n % 6 == 1) history_be_ssi(&r, h);
		if (n % 3 != 1) history_give_locks(&r, h);
		char *notation = history_to_notation(h);
		struct predict_trial t = { .seed = seed, .ssi = h->ssi };
		trial_begin(&t, notation);
		compare_with_twin(&t, levels_beside(&r, h));
		trial_end(&t);
		history_free(h);
		free(notation);
		free(plain);
	}
}
END_TEST

void add_predict_tests(TCase *tests)
{
	tcase_add_loop_test(tests, twins_know_the_rows, 0, ROWS);
	tcase_add_loop_test(tests, both_forms_agree, 0, PREDICT_PROCESSES);
	tcase_add_loop_test(tests, rows_have_their_answers, 0, ROWS);
	tcase_add_test(tests, lost_update_is_predicted);
	tcase_add_test(tests, unserializable_is_observed);
	tcase_add_test(tests, approx_misses_the_gap);
	tcase_add_loop_test(tests, hard_traces_agree_with_brute_force, 0, HARD);
	tcase_add_loop_test(tests, predictor_agrees_with_brute_force, 0,
	                    PREDICT_PROCESSES);
	tcase_add_loop_test(tests, exclusion_agrees_with_brute_force, 0,
	                    PREDICT_PROCESSES);
	tcase_add_loop_test(tests, mixes_and_locks_agree_with_brute_force, 0,
	                    PREDICT_PROCESSES);
}
