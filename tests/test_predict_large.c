/* Prediction from larger traces, with few writers, under limits, and of what it
does not apply to. */
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
	LARGE = 10,  /* so many fewer traces are larger */
	MOST = 20000 /* histories that brute force looks at */
};

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
					.boundary = boundary_of(b),
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
	struct predict_run r;
	t->o.enumerate = true;
	predict_run_begin(&r, t);
	while (count < FIRST && predict_run_next(&r, t, &p[count])) count++;
	predict_run_end(&r);
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
		t.o.boundary = boundary_of(rng_below(&r, 2));
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
		t.o.boundary = boundary_of(rng_below(&r, 2));
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
					.boundary = boundary_of(b),
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
				.boundary = boundary_of(i),
				.encoding =
					i & 2 ? ENCODING_APPROX : ENCODING_EXACT
			};
			if (!predicts(&t)) predict_complain(&t, "none");
		}
		end_large(&t);
	}
}
END_TEST

/* ---- what si allows anyway ---- */

enum { BANK_SESSIONS = 4, BANK_KEYS = 4 };

/* Transactions one after the other, in turns in four sessions: each reads two
 * keys, and writes all that it read, or nothing; with `skew`, now and then one
 * of both. The first one does so anyway, and all others need it, but for the
 * first ones of their sessions, which write both keys as well. */
static char *bank(struct rng *r, uint32_t n, bool skew)
{
	struct text t[BANK_SESSIONS] = { 0 };
	uint32_t last[BANK_KEYS] = { 0 };
	for (uint32_t i = 1; i <= n; i++) {
		struct text *session = &t[i % BANK_SESSIONS];
		bool first = i <= BANK_SESSIONS;
		uint32_t kind = first ? 2 : rng_below(r, 3);
		uint32_t x = first ? 0 : rng_below(r, BANK_KEYS);
		uint32_t y = first ? 1 : rng_below(r, BANK_KEYS - 1);
		y += !first && y >= x;
		text_format(session, "%sT%u:", session->length ? " ; " : "", i);
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t key = k ? y : x;
			text_format(session, last[key] ? " %c<T%u" : " %c<0",
			            'a' + key, last[key]);
		}
		if (kind == 0) continue;
		text_format(session, " W%c", 'a' + x);
		last[x] = i;
		if (i == 1 || (kind == 1 && skew)) continue;
		text_format(session, " W%c", 'a' + y);
		last[y] = i;
	}
	for (uint32_t s = 1; s < BANK_SESSIONS; s++) {
		text_format(&t[0], " | %s", text_get(&t[s]));
		text_free(&t[s]);
	}
	char *copy = mem_copy_string(text_get(&t[0]));
	text_free(&t[0]);
	return copy;
}

/* Nobody runs beside a transaction, and overwrites what it reads: no proposal
 * has to be made. */
START_TEST(robust_traces_predict_nothing_under_si)
{
	struct rng r = { first_seed() + (uint64_t)_i };
	struct predict_trial t = { .seed = first_seed() + (uint64_t)_i,
		                   .o = { .level = LEVEL_SI,
		                          .boundary = BOUNDARY_RELAXED } };
	struct predict_run run;
	struct prediction p;
	trial_begin(&t, bank(&r, 300, false));
	predict_run_begin(&run, &t);
	if (predict_run_next(&run, &t, &p))
		predict_complain(&t, "found, though robust");
	ck_assert_uint_eq(predictor_stats(run.predictor)->rounds, 0);
	predict_run_end(&run);
	end_large(&t);
	trial_begin(&t, bank(&r, 300, true));
	if (!predicts(&t)) predict_complain(&t, "no write skew");
	end_large(&t);
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

void add_predict_large_tests(TCase *tests)
{
	tcase_add_loop_test(tests, laws_hold_on_larger_traces, 0,
	                    PREDICT_PROCESSES);
	tcase_add_loop_test(tests, cuts_agree_on_larger_traces, 0,
	                    PREDICT_PROCESSES);
	tcase_add_loop_test(tests, few_writers_predict_nothing, 0,
	                    PREDICT_PROCESSES);
	tcase_add_test(tests, voter_is_predictable_at_rc_only);
	tcase_add_loop_test(tests, robust_traces_predict_nothing_under_si, 0,
	                    3);
	tcase_add_test(tests, no_time_is_unknown);
	tcase_add_test(tests, what_was_found_is_given_at_a_stop);
	tcase_add_test(tests, what_prediction_does_not_apply_to_is_refused);
}
