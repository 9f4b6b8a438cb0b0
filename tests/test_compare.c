/* Comparing prediction, random runs and exploration: what is known of small
 * programs, and what has to agree for all. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "dpor/explorer.h"
#include "history/history.h"
#include "predict/compare.h"
#include "random_program.h"
#include "run/replay.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "vm/program.h"

enum {
	RUNS = 8,            /* test processes over which seeds are spread */
	PROGRAMS = 1600,     /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES_MOST = 300 /* larger programs are left out */
};

static struct comparison *compare(const struct program *p,
                                  struct compare_options o)
{
	if (!o.seed) o.seed = 1;
	struct comparison *c = comparison_new(p, &o, NULL);
	comparison_run(c);
	return c;
}

/* ---- programs with known results ---- */

static const char increments[] =
	"global x = 0;\n"
	"txn add() { let v = x; x = v + 1; return v; }\n"
	"session a { let v = add(); }\n"
	"session b { let v = add(); }\n"
	"assert \"none is lost\" : !(a.v == 0 && b.v == 0);\n";

static const char skew[] =
	"global x = 1; global y = 1;\n"
	"txn clear_x() { let a = x; let b = y; if (a + b == 2) x = 0; }\n"
	"txn clear_y() { let a = x; let b = y; if (a + b == 2) y = 0; }\n"
	"session a { clear_x(); }\n"
	"session b { clear_y(); }\n"
	"finally { assert x + y > 0; }\n";

static const char reads[] =
	"global x = 0;\n"
	"session a { txn { let v = x; assert v == 0; } }\n"
	"session b { txn { let v = x; } txn { let v = x; } }\n"
	"assert serializable;\n";

/* Both clients write first. */
static const char buffers[] = "global x = 0; global y = 0;\n"
			      "session a { txn { x = 1; let v = y; } }\n"
			      "session b { txn { y = 1; let v = x; } }\n"
			      "assert serializable;\n";

static const struct {
	const char *name, *source;
	struct predict_options options;
	struct compare_stats stats; /* those that are compared */
	enum verdict verdict;
	uint64_t unserializable, violated;
} known[] = {
	/* Strict: the write behind the changed read is cut off. */
	{ "increments, strict",
	  increments,
	  { .level = LEVEL_CC },
	  { .traces = 2,
	    .unpredicted = 2,
	    .histories = 3,
	    .prediction = { .executions = 2 } },
	  VERDICT_VIOLATED,
	  1,
	  1 },
	{ "increments, relaxed",
	  increments,
	  { .level = LEVEL_CC, .boundary = BOUNDARY_RELAXED },
	  { .traces = 2,
	    .predicted = 2,
	    .predictions = 2,
	    .validated = 2,
	    .histories = 3,
	    .prediction = { .executions = 4,
	                    .unserializable = 1,
	                    .slots = 1 } },
	  VERDICT_VIOLATED,
	  1,
	  1 },
	{ "increments under si",
	  increments,
	  { .level = LEVEL_SI, .boundary = BOUNDARY_RELAXED },
	  { .traces = 2,
	    .unpredicted = 2,
	    .histories = 2,
	    .prediction = { .executions = 2 } },
	  VERDICT_HOLDS,
	  0,
	  0 },
	{ "only reads",
	  reads,
	  { .level = LEVEL_NONE, .boundary = BOUNDARY_RELAXED },
	  { .traces = 1,
	    .unpredicted = 1,
	    .histories = 1,
	    .prediction = { .executions = 1 } },
	  VERDICT_HOLDS,
	  0,
	  0 },
	{ "buffers, strict",
	  buffers,
	  { .level = LEVEL_SI },
	  { .traces = 2,
	    .predicted = 2,
	    .predictions = 2,
	    .validated = 2,
	    .histories = 3,
	    .prediction = { .executions = 4,
	                    .unserializable = 1,
	                    .slots = 1 } },
	  VERDICT_VIOLATED,
	  1,
	  1 },
	/* Who comes second does not write: nothing can be changed that would
	 * make it. */
	{ "skew, relaxed",
	  skew,
	  { .level = LEVEL_SI, .boundary = BOUNDARY_RELAXED },
	  { .traces = 2,
	    .unpredicted = 2,
	    .histories = 3,
	    .prediction = { .executions = 2 } },
	  VERDICT_VIOLATED,
	  1,
	  1 },
};

enum { KNOWN = sizeof known / sizeof *known };

START_TEST(programs_with_known_results)
{
	struct program *p = program_from_text(known[_i].source);
	struct compare_options o = { .predict = known[_i].options };
	struct comparison *c = compare(p, o);
	const struct compare_stats *s = comparison_stats(c),
				   *k = &known[_i].stats;
	ck_assert_uint_eq(s->traces, k->traces);
	ck_assert_uint_eq(s->histories, k->histories);
	ck_assert(s->all_traces && comparison_complete(c));
	ck_assert_int_eq(comparison_verdict(c), known[_i].verdict);
	ck_assert_uint_eq(comparison_unserializable(c),
	                  known[_i].unserializable);
	ck_assert_uint_eq(comparison_violated_slots(c), known[_i].violated);
	ck_assert_uint_eq(s->predicted, k->predicted);
	ck_assert_uint_eq(s->unpredicted, k->unpredicted);
	ck_assert_uint_eq(s->predictions, k->predictions);
	ck_assert_uint_eq(s->validated, k->validated);
	ck_assert_uint_eq(s->prediction.executions, k->prediction.executions);
	ck_assert_uint_eq(s->prediction.unserializable,
	                  k->prediction.unserializable);
	ck_assert_uint_eq(s->prediction.slots, k->prediction.slots);
	comparison_free(c);
	program_free(p);
}
END_TEST

/* ---- what has to agree ---- */

struct counts {
	bool complete;
	uint64_t histories, unserializable, slots;
};

static struct counts explore(const struct program *p, enum level l)
{
	struct explore_options o = {
		.level = l,
		.base = level_base(l),
		.robust = true,
		.max_histories = HISTORIES_MOST,
	};
	struct explore_observer nobody = { 0 };
	struct explorer *e = explorer_new(p, &o, &nobody);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	struct counts n = { s->stop == STOP_NONE, s->histories,
		            s->unserializable, 0 };
	for (uint32_t i = 0; i <= explorer_slot_error(e); i++)
		n.slots += explorer_violation(e, i)->histories > 0;
	explorer_free(e);
	return n;
}

/* What holds whatever is asked for. */
static void check_sums(const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	const struct compare_options *o = comparison_options(c);
	ck_assert_uint_eq(s->predicted + s->unpredicted + s->unknown,
	                  s->traces);
	ck_assert_uint_eq(s->validated + s->false_predictions + s->pruned,
	                  s->predictions);
	ck_assert_uint_le(s->predictions,
	                  s->traces * (o->predictions ? o->predictions : 1));
	ck_assert_uint_ge(s->predictions, s->predicted);
	ck_assert_uint_eq(s->prediction.executions, s->traces + s->predictions);
	ck_assert_uint_le(s->prediction.unserializable, s->validated);
	ck_assert_uint_eq(s->random.executions,
	                  o->runs ? o->runs : s->prediction.executions);
	ck_assert_uint_le(s->random.unserializable, s->random.executions);
	ck_assert_uint_le(s->validated_diverged, s->validated);
	ck_assert_uint_le(s->validated_diverged, s->diverged);
}

/* Nothing is found that is not there. */
static void check_reach(const struct comparison *c, enum compare_way w,
                        const struct compare_reach *r)
{
	const struct compare_stats *s = comparison_stats(c);
	uint64_t slots = 0;
	ck_assert_int_eq(r->end, STOP_NONE);
	ck_assert_uint_eq(r->confirmed, r->unserializable);
	ck_assert_uint_le(r->unserializable, s->exploration.unserializable);
	for (uint32_t i = 0; i < comparison_slot_count(c); i++) {
		bool violated = comparison_violated(c, w, i);
		slots += violated;
		ck_assert(!violated ||
		          comparison_violated(c, BY_EXPLORATION, i));
	}
	ck_assert_uint_eq(slots, r->slots);
}

static void check_against(const struct comparison *c,
                          const struct counts *serial, const struct counts *all)
{
	const struct compare_stats *s = comparison_stats(c);
	check_sums(c);
	ck_assert_uint_eq(s->unknown, 0);
	check_reach(c, BY_PREDICTION, &s->prediction);
	check_reach(c, BY_RUNS, &s->random);
	check_reach(c, BY_EXPLORATION, &s->exploration);
	ck_assert_uint_eq(s->exploration.unserializable, all->unserializable);
	ck_assert_uint_eq(s->exploration.slots, all->slots);
	ck_assert_uint_eq(s->histories, all->histories);
	ck_assert_uint_eq(comparison_unserializable(c), all->unserializable);
	ck_assert_uint_eq(comparison_violated_slots(c), all->slots);
	if (s->all_traces)
		ck_assert_uint_eq(s->traces, serial->histories);
	else
		ck_assert_uint_le(s->traces, serial->histories);
	ck_assert(comparison_complete(c));
	ck_assert_int_eq(comparison_verdict(c),
	                 all->unserializable || all->slots ? VERDICT_VIOLATED
	                                                   : VERDICT_HOLDS);
}

static void check_all_traces(const struct program *p, struct compare_options o,
                             const struct counts *serial,
                             const struct counts *all)
{
	struct comparison *c = compare(p, o);
	ck_assert(comparison_stats(c)->all_traces);
	check_against(c, serial, all);
	comparison_free(c);
}

static void check_some_traces(const struct program *p, struct compare_options o,
                              uint64_t seed, const struct counts *serial,
                              const struct counts *all)
{
	o.traces = 1 + seed % 3;
	o.runs = 1 + seed % 5;
	o.seed = seed;
	struct comparison *c = compare(p, o);
	const struct compare_stats *s = comparison_stats(c);
	ck_assert(!s->all_traces);
	ck_assert_uint_le(s->traces, o.traces);
	ck_assert_uint_ge(s->traces, serial->histories ? 1 : 0);
	ck_assert_uint_ge(s->recorded, s->traces);
	check_against(c, serial, all);
	/* The same again. */
	struct comparison *again = compare(p, o);
	const struct compare_stats *t = comparison_stats(again);
	ck_assert_uint_eq(s->predictions, t->predictions);
	ck_assert_uint_eq(s->validated, t->validated);
	ck_assert_uint_eq(s->diverged, t->diverged);
	ck_assert_uint_eq(s->random.unserializable, t->random.unserializable);
	comparison_free(c);
	comparison_free(again);
}

/* ---- validated predictions, one by one ---- */

struct checking {
	const struct program *program;
	struct predict_options options;
	struct runner *runner;
	struct check_clock *clock;
	struct strings all; /* canonical texts of what the level allows */
	int validated;
};

static bool collect(void *payload, const struct explore_execution *e)
{
	struct strings *all = payload;
	struct text t = { 0 };
	struct history *h = explore_history(e);
	history_print_canonical(&t, h);
	strings_add(all, text_get(&t));
	history_free(h);
	text_free(&t);
	return true;
}

static void check_replayed(struct checking *x)
{
	struct text t = { 0 };
	struct history *h = runner_history(x->runner);
	bool found = false;
	history_print_canonical(&t, h);
	for (size_t i = 0; i < x->all.count && !found; i++)
		found = !strcmp(text_get(&t), x->all.items[i]);
	ck_assert_msg(found, "not explored: %s", text_get(&t));
	ck_assert(!twin_allows(LEVEL_SER, h));
	ck_assert(twin_allows(x->options.level, h));
	x->validated++;
	history_free(h);
	text_free(&t);
}

static bool predict_from(void *payload, const struct explore_execution *e)
{
	struct checking *x = payload;
	struct diags d = { 0 };
	struct history *h = explore_history(e);
	struct trace *t = trace_of_history(h, "test");
	struct predictor *p = predictor_new(t, &x->options, x->clock, &d);
	struct prediction found;
	ck_assert_ptr_nonnull(p);
	for (int i = 0; i < 4; i++) {
		struct replay_result r;
		if (predictor_next(p, &found) != PREDICT_FOUND) break;
		replay_history(x->runner, found.history, found.order,
		               (struct replay_parts){ found.truncated,
		                                      found.divergent },
		               &r);
		if (r.end == RUN_COMPLETE && !r.serializable) check_replayed(x);
		prediction_free(&found);
	}
	predictor_free(p);
	trace_free(t);
	history_free(h);
	diags_free(&d);
	return true;
}

static int check_predictions(const struct program *p,
                             const struct predict_options *predict)
{
	struct check_limits limits = { 0 };
	struct checking x = { .program = p, .options = *predict };
	enum level l = predict->level;
	struct explore_options o = {
		.level = l,
		.base = level_base(l),
	};
	x.options.enumerate = true;
	x.runner = runner_new(p, l, NULL);
	x.clock = check_clock_new(&limits);
	struct explore_observer all = { .payload = &x.all, .history = collect };
	struct explorer *e = explorer_new(p, &o, &all);
	explorer_run(e);
	explorer_free(e);
	struct explore_observer serial = { .payload = &x,
		                           .history = predict_from };
	o.level = LEVEL_SER;
	o.base = LEVEL_CC;
	e = explorer_new(p, &o, &serial);
	explorer_run(e);
	explorer_free(e);
	strings_free(&x.all);
	check_clock_free(x.clock);
	runner_free(x.runner);
	return x.validated;
}

/* False if the program is too large, or has no history. */
static bool try_program(uint64_t seed, int *validated)
{
	struct text source = { 0 };
	struct compare_options o = {
		.predict = { .level = (enum level)(seed % LEVEL_SER),
		             .boundary = seed / LEVEL_SER % 2 ? BOUNDARY_RELAXED
		                                              : BOUNDARY_STRICT,
		             .encoding = seed % 5 ? ENCODING_EXACT
		                                  : ENCODING_APPROX },
		.predictions = seed % 4,
	};
	random_program(&source, seed);
	struct program *p = program_from_text(text_get(&source));
	struct counts serial = explore(p, LEVEL_SER);
	struct counts all = explore(p, o.predict.level);
	bool tried = serial.complete && all.complete && all.histories;
	if (tried) {
		check_all_traces(p, o, &serial, &all);
		check_some_traces(p, o, seed, &serial, &all);
		*validated += check_predictions(p, &o.predict);
	}
	program_free(p);
	text_free(&source);
	return tried;
}

START_TEST(random_programs)
{
	uint64_t share = programs_or(PROGRAMS);
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	int validated = 0;
	for (uint64_t tried = 0; tried < (share + RUNS - 1) / RUNS; seed++)
		tried += try_program(seed, &validated);
	if (share >= PROGRAMS) ck_assert_int_gt(validated, 20);
}
END_TEST

/* ---- limits ---- */

static const char many[] = "global x = 0; global y = 0;\n"
			   "txn a() { let v = x; y = v + 1; }\n"
			   "txn b() { let v = y; x = v + 1; }\n"
			   "session a { a(); b(); a(); }\n"
			   "session b { b(); a(); b(); }\n"
			   "session c { a(); a(); b(); }\n";

START_TEST(histories_are_limited)
{
	struct program *p = program_from_text(many);
	struct compare_options o = { .predict = { .level = LEVEL_CC },
		                     .max_histories = 3 };
	struct comparison *c = compare(p, o);
	const struct compare_stats *s = comparison_stats(c);
	check_sums(c);
	ck_assert_int_eq(s->prediction.end, STOP_HISTORIES);
	ck_assert_int_eq(s->exploration.end, STOP_HISTORIES);
	ck_assert_uint_eq(s->traces, 3);
	ck_assert_uint_eq(s->histories, 3);
	ck_assert(!s->all_traces && !comparison_complete(c));
	ck_assert_uint_ge(comparison_unserializable(c),
	                  s->prediction.unserializable);
	comparison_free(c);
	program_free(p);
}
END_TEST

static void check_nothing(const struct comparison *c, enum stop_reason end)
{
	const struct compare_stats *s = comparison_stats(c);
	ck_assert_int_eq(s->prediction.end, end);
	ck_assert_int_eq(s->random.end, end);
	ck_assert_int_eq(s->exploration.end, end);
	ck_assert_uint_eq(s->traces, 0);
	ck_assert_uint_eq(s->histories, 0);
	ck_assert_int_eq(comparison_verdict(c), VERDICT_INCONCLUSIVE);
}

START_TEST(what_comes_too_late_does_not_begin)
{
	static const atomic_bool yes = true;
	struct program *p = program_from_text(many);
	struct compare_options o = { .predict = { .level = LEVEL_CC },
		                     .timeout = 1e-9 };
	struct comparison *c = compare(p, o);
	check_nothing(c, STOP_TIME);
	comparison_free(c);
	o.timeout = 0;
	o.interrupt = &yes;
	c = compare(p, o);
	check_nothing(c, STOP_INTERRUPTED);
	comparison_free(c);
	program_free(p);
}
END_TEST

/* Stops in the phase that it is told. */
struct stopper {
	const char *phase;
	uint64_t asked;
};

static bool stop_tick(void *payload, const char *phase, uint64_t done,
                      uint64_t of)
{
	struct stopper *s = payload;
	(void)done;
	(void)of;
	return strcmp(phase, s->phase) != 0 || s->asked++ < 2;
}

START_TEST(the_observer_stops_it)
{
	struct program *p = program_from_text(many);
	struct stopper s = { .phase = "predicting" };
	struct compare_observer observer = { &s, stop_tick };
	struct compare_options o = { .predict = { .level = LEVEL_CC },
		                     .traces = 100,
		                     .seed = 1 };
	struct comparison *c = comparison_new(p, &o, &observer);
	comparison_run(c);
	const struct compare_stats *n = comparison_stats(c);
	ck_assert_int_eq(n->prediction.end, STOP_INTERRUPTED);
	ck_assert_int_eq(n->exploration.end, STOP_INTERRUPTED);
	ck_assert_uint_lt(n->traces, 10);
	ck_assert_uint_eq(n->histories, 0);
	ck_assert(!comparison_complete(c));
	comparison_free(c);
	program_free(p);
}
END_TEST

void add_compare_tests(TCase *tests)
{
	tcase_add_loop_test(tests, programs_with_known_results, 0, KNOWN);
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, histories_are_limited);
	tcase_add_test(tests, what_comes_too_late_does_not_begin);
	tcase_add_test(tests, the_observer_stops_it);
}
