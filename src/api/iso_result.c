/* isoscope.h: results, and the calls that give them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/check_history.h"
#include "api/compare_ways.h"
#include "api/predict_inputs.h"
#include "api/programs.h"
#include "api/random_runs.h"
#include "api/record.h"
#include "api/results.h"
#include "api/sources.h"
#include "base/memory.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "history/trace.h"
#include "report/report.h"
#include "result/compared.h"
#include "result/explored.h"
#include "result/ran.h"
#include "run/replay.h"
#include "vm/program.h"

/* No colours, and lines of this many columns. */
static const struct style plain = { .width = 120 };

struct predicted_history {
	struct prediction prediction;
	iso_history *history;
	bool validated, diverged;
	const char *anomaly;
};

int iso_result_verdict(const iso_result *result)
{
	if (!result) return ISO_E_ARGUMENT;
	switch (result->verdict) {
	case VERDICT_HOLDS: return ISO_HOLDS;
	case VERDICT_VIOLATED: return ISO_VIOLATED;
	case VERDICT_NO_VIOLATION: return ISO_NO_VIOLATION;
	case VERDICT_UNDECIDED:
	case VERDICT_INCONCLUSIVE:
	case VERDICT_COUNT: break;
	}
	return ISO_INCONCLUSIVE;
}

const char *iso_result_text(const iso_result *result)
{
	return result ? text_get(&result->text) : NULL;
}

const char *iso_result_json(const iso_result *result)
{
	return result ? text_get(&result->json) : NULL;
}

void iso_result_free(iso_result *result)
{
	if (!result) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		iso_history_free(result->witnesses[l]);
	for (size_t i = 0; i < result->prediction_count; i++) {
		iso_history_free(result->predictions[i].history);
		prediction_free(&result->predictions[i].prediction);
	}
	free(result->predictions);
	if (result->checked) checked_free(result->checked);
	free(result->checked);
	if (result->clock) check_clock_free(result->clock);
	text_free(&result->text);
	text_free(&result->json);
	result_members_free(result);
	free(result);
}

iso_result *iso_result_of(struct result *found)
{
	iso_result *r = mem_take0(1, sizeof *r);
	r->verdict = found->verdict;
	result_read_sources(found);
	report_text(&r->text, &plain, found);
	report_json(&r->json, found, iso_version());
	result_free(found);
	return r;
}

iso_result *iso_result_of_exploration(const struct explorer *e,
                                      const struct explored_beside *beside)
{
	return iso_result_of(result_of_exploration(e, beside, RESULT_WHOLE));
}

/* Are the limits no nonsense? */
static bool limits_fit(const iso_limits *l)
{
	return l->timeout >= 0;
}

/* ---- checking a history ---- */

static struct check_limits internal_limits(const iso_limits *l)
{
	return (struct check_limits){ l->timeout, l->memory, l->stop,
		                      l->payload };
}

static unsigned internal_levels(unsigned levels)
{
	unsigned all = (1u << LEVEL_COUNT) - 1;
	return levels ? levels >> ISO_LEVEL_NONE & all : all;
}

static int try_history_check(iso_result **out, const iso_history *history,
                             const iso_history_check_options *options)
{
	iso_history_check_options given;
	if (!out || !history || !options_read(&given, sizeof given, options) ||
	    !limits_fit(&given.limits) || !internal_levels(given.levels))
		return ISO_E_ARGUMENT;
	struct problem problem = { 0 };
	*out = NULL;
	unsigned levels = internal_levels(given.levels);
	if (!check_levels_fit(history_as_trace(history), &levels, &problem)) {
		problem_free(&problem);
		return ISO_E_HISTORY;
	}
	struct check_limits limits = internal_limits(&given.limits);
	iso_result *r = *out = mem_take0(1, sizeof *r);
	struct checked *c = r->checked = mem_take0(1, sizeof *c);
	r->clock = check_clock_new(&limits);
	check_history(c, history_as_trace(history), levels, r->clock);
	c->found.format = history->format < FORMAT_COUNT ? history->format
	                                                 : FORMAT_ISOSCOPE;
	c->found.number = history->number;
	c->found.read_seconds = history->read_seconds;
	if (given.orders) checked_find_orders(c);
	if (check_overall(&c->found) == VERDICT_VIOLATED && !given.no_witness)
		checked_explain(c);
	r->verdict = check_overall(&c->found);
	struct result *found = result_of_check(&c->found, given.orders);
	report_text(&r->text, &plain, found);
	if (given.orders) report_commit_orders(&r->text, found);
	report_json(&r->json, found, iso_version());
	result_free(found);
	return ISO_OK;
}

int iso_history_check(iso_result **out, const iso_history *history,
                      const iso_history_check_options *options)
{
	int status;
	CALL_IN(NULL, status, try_history_check(out, history, options));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

/* Was the level checked? */
static bool has_level(const iso_result *r, iso_level l)
{
	return r && r->checked && is_level(l) &&
	       r->checked->found.wanted >> internal_level(l) & 1;
}

int iso_result_level(const iso_result *result, iso_level level)
{
	if (!result || !is_level(level)) return ISO_E_ARGUMENT;
	if (!has_level(result, level)) return ISO_E_RANGE;
	switch (result->checked->results[internal_level(level)].verdict) {
	case VERDICT_HOLDS: return ISO_HOLDS;
	case VERDICT_VIOLATED: return ISO_VIOLATED;
	default: return ISO_INCONCLUSIVE;
	}
}

const char *iso_result_anomaly(const iso_result *result, iso_level level)
{
	if (!has_level(result, level)) return NULL;
	enum level l = internal_level(level);
	const struct check_case *c = &result->checked->found;
	return check_has(c, l, VERDICT_VIOLATED) ? check_anomaly_name(c, l)
	                                         : NULL;
}

struct witness_wanted {
	iso_result *result;
	enum level by;
};

static void make_witness(void *data)
{
	const struct witness_wanted *w = data;
	struct history *part = w->result->checked->witnesses[w->by].part;
	assert(part);
	w->result->witnesses[w->by] = history_of_exploration(part, true);
}

const iso_history *iso_result_witness(const iso_result *result, iso_level level)
{
	if (!has_level(result, level)) return NULL;
	iso_result *r = (iso_result *)result;
	enum level by = r->checked->found.shown_by[internal_level(level)];
	if (by == LEVEL_COUNT) return NULL;
	struct witness_wanted wanted = { r, by };
	if (!r->witnesses[by] && !mem_run(NULL, make_witness, &wanted))
		return NULL;
	return r->witnesses[by];
}

const uint32_t *iso_result_order(const iso_result *result, iso_level level)
{
	if (!has_level(result, level)) return NULL;
	return result->checked->results[internal_level(level)].order;
}

/* ---- predicting ---- */

struct taking {
	iso_result *result;
	struct text words; /* about the predictions */
	struct result *found;
};

static bool on_predicted(void *data, const struct predict_case *c,
                         const struct predicted *p, bool shown)
{
	struct taking *x = data;
	iso_result *r = x->result;
	(void)shown;
	VEC_RESERVE(r->predictions, r->prediction_count,
	            r->prediction_capacity);
	r->predictions[r->prediction_count++] = (struct predicted_history){
		.validated = p->replay && predicted_validated(p->replay),
		.diverged = p->replay && p->replay->end == RUN_COMPLETE &&
		            p->replay->diverged,
		.anomaly = p->witness ? p->witness->anomaly : NULL,
	};
	result_prediction(x->found, c, p, false);
	report_prediction(&x->words, &plain, x->found->prediction);
	return true;
}

static void on_kept(void *data, struct prediction *p)
{
	struct taking *x = data;
	iso_result *r = x->result;
	assert(r->prediction_count);
	r->predictions[r->prediction_count - 1].prediction = *p;
	*p = (struct prediction){ 0 };
}

static bool on_searched(void *data, const struct predict_case *c, bool shown)
{
	struct taking *x = data;
	iso_result *r = x->result;
	assert(shown && c->found == r->prediction_count);
	(void)shown;
	r->verdict = predict_verdict(c);
	result_predicted(x->found, c);
	report_predicted(&r->text, &plain, x->found, text_get(&x->words));
	report_json(&r->json, x->found, iso_version());
	return true;
}

static bool on_tick(void *data, const char *path, uint64_t done)
{
	const iso_limits *limits = data;
	(void)path, (void)done;
	return limits->stop && limits->stop(limits->payload);
}

static enum predict_boundary boundary_of(bool strict, bool relaxed)
{
	if (strict == relaxed) return BOUNDARY_BOTH;
	return strict ? BOUNDARY_STRICT : BOUNDARY_RELAXED;
}

static int try_history_predict(iso_result **out, const iso_history *history,
                               const iso_predict_options *options,
                               iso_diags **diags)
{
	iso_predict_options given;
	struct problem problem = { 0 };
	struct predict_summary summary = { 0 };
	if (diags) *diags = NULL;
	if (!out || !history || !options_read(&given, sizeof given, options) ||
	    !limits_fit(&given.limits) ||
	    (given.level && !is_level(given.level)))
		return ISO_E_ARGUMENT;
	*out = NULL;
	iso_result *r = mem_take0(1, sizeof *r);
	struct taking x = { .result = r, .found = result_of_predictions() };
	const struct program *p =
		given.program ? given.program->compiled : NULL;
	struct input one = { history_as_trace(history),
		             history->format < FORMAT_COUNT ? history->format
		                                            : FORMAT_ISOSCOPE,
		             history->number, history->read_seconds };
	struct predict_request request = {
		.in = { .given = &one,
		        .seconds = given.limits.timeout,
		        .memory = given.limits.memory,
		        .tick = on_tick,
		        .tick_data = &given.limits },
		.options = { .boundary =
		                     boundary_of(given.strict, given.relaxed),
		             .encoding = given.approximate ? ENCODING_APPROX
		                                           : ENCODING_EXACT,
		             .enumerate = given.wanted > 0 },
		.level_given = given.level,
		.wanted = given.wanted,
		.program = p,
		.program_path = p ? program_path(p) : NULL,
		.explain = given.no_witness ? EXPLAIN_NONE : EXPLAIN_ALL,
		.data = &x,
		.predicted = on_predicted,
		.keep = on_kept,
		.searched = on_searched,
	};
	if (given.level) request.options.level = internal_level(given.level);
	if (predict_inputs(&request, &summary, &problem)) {
		*out = r;
	} else {
		iso_result_free(r);
	}
	text_free(&x.words);
	result_free(x.found);
	return problem_give(&problem, diags);
}

int iso_history_predict(iso_result **out, const iso_history *history,
                        const iso_predict_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_history_predict(out, history, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

size_t iso_result_prediction_count(const iso_result *result)
{
	return result ? result->prediction_count : 0;
}

static int try_result_prediction(const iso_result *result, size_t i,
                                 iso_prediction *out)
{
	if (!result || !out) return ISO_E_ARGUMENT;
	if (i >= result->prediction_count) return ISO_E_RANGE;
	struct predicted_history *p = &result->predictions[i];
	assert(p->prediction.history);
	if (!p->history)
		p->history = history_of_trace(p->prediction.history, true);
	iso_prediction public = {
		.size = sizeof public,
		.history = p->history,
		.observed = p->prediction.observed,
		.changed = p->prediction.changed_count,
		.validated = p->validated,
		.diverged = p->diverged,
		.anomaly = p->anomaly,
	};
	return structure_write(out, &public, sizeof public) ? ISO_OK
	                                                    : ISO_E_ARGUMENT;
}

int iso_result_prediction(const iso_result *result, size_t i,
                          iso_prediction *out)
{
	int status;
	CALL_IN(NULL, status, try_result_prediction(result, i, out));
	return status;
}

/* ---- recording and replaying ---- */

static int try_program_record(iso_history **out, const iso_program *program,
                              uint64_t *seed, iso_diags **diags)
{
	struct problem problem = { 0 };
	struct recorded recorded;
	if (diags) *diags = NULL;
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	if (record_run(&recorded, program->compiled, seed ? *seed : 1, NULL,
	               &problem)) {
		size_t bytes = recorded.order_count * sizeof *recorded.order;
		iso_history *h = history_of_trace(recorded.trace, false);
		h->order = mem_take(bytes);
		memcpy(h->order, recorded.order, bytes);
		recorded.trace = NULL;
		*out = h;
		if (seed) *seed = recorded.seed;
	}
	recorded_free(&recorded);
	return problem_give(&problem, diags);
}

int iso_program_record(iso_history **out, const iso_program *program,
                       uint64_t *seed, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_program_record(out, program, seed, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

/* The transactions of the trace in an order in which the history can be
 * followed, malloc'ed; or NULL. */
static uint32_t *replay_order(const struct trace *t, struct problem *p)
{
	uint32_t *numbers, *order = NULL;
	struct history *h =
		trace_history(t, &(struct trace_part){ 0 }, &numbers);
	if (h->order) {
		order = mem_take(h->transaction_count * sizeof *order);
		for (uint32_t i = 0; i < h->transaction_count; i++)
			order[i] = numbers[h->order[i]];
		assert(order[0] == TRACE_INIT);
	} else {
		problem_set(p, PROBLEM_INPUT,
		            "transactions of the history read from each other "
		            "in a circle, so they cannot be run one after the "
		            "other");
	}
	history_free(h);
	free(numbers);
	return order;
}

static bool replay(const struct program *p, const struct trace *t,
                   enum level level, struct replay_result *out,
                   struct problem *problem)
{
	if (!replay_fits(p, t, &problem->diags))
		return problem_diagnosed(problem, PROBLEM_INPUT);
	uint32_t *order = replay_order(t, problem);
	if (!order) return false;
	struct runner *runner = runner_new(p, level, NULL);
	replay_history(runner, t, order, (struct replay_parts){ 0 }, out);
	const char *why = runner_problem(runner);
	if (out->end != RUN_COMPLETE)
		problem_set(problem, PROBLEM_LIMIT, "%s",
		            why ? why : "the run met a false assumption");
	runner_free(runner);
	free(order);
	return program_sound(p, problem) && !problem->kind;
}

static int try_program_replay(const iso_program *program,
                              const iso_history *history, iso_level level,
                              iso_replay *out, iso_diags **diags)
{
	struct problem problem = { 0 };
	struct replay_result found = { 0 };
	enum level l;
	if (diags) *diags = NULL;
	if (!program || !history || !out || (level && !is_level(level)))
		return ISO_E_ARGUMENT;
	bool fine = program_level(program->compiled,
	                          level ? internal_level(level) : LEVEL_COUNT,
	                          &l, &problem);
	if (fine && replay(program->compiled, history_as_trace(history), l,
	                   &found, &problem)) {
		iso_replay public = { .size = sizeof public,
			              .diverged = found.diverged,
			              .changed = found.changed,
			              .values = found.values,
			              .serializable = found.serializable };
		if (!structure_write(out, &public, sizeof public))
			problem.kind = PROBLEM_REQUEST;
	}
	return problem_give(&problem, diags);
}

int iso_program_replay(const iso_program *program, const iso_history *history,
                       iso_level level, iso_replay *out, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_replay(program, history, level, out, diags));
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

/* ---- random runs ---- */

static bool on_run(void *payload, const struct campaign_run *run)
{
	const iso_run_options *o = payload;
	assert(run->number);
	iso_history *h =
		history_of_exploration(runner_history(run->runner), false);
	iso_run told = { .number = run->number,
		         .seed = run->seed,
		         .serializable = run->serializable,
		         .violated = run->violated_count,
		         .history = h };
	bool go_on = o->run(o->payload, &told);
	iso_history_free(h);
	return go_on;
}

static bool on_run_tick(void *payload, const struct campaign_stats *s)
{
	const iso_run_options *o = payload;
	(void)s;
	return !o->limits.stop || !o->limits.stop(o->limits.payload);
}

static bool read_run(struct run_request *r, iso_run_options *o,
                     const struct program *p, struct problem *problem)
{
	struct campaign_options *c = &r->options;
	assert(!c->runs);
	c->runs = o->runs ? o->runs : 1000;
	c->seed = o->seed ? o->seed : 1;
	c->robust = o->robust;
	c->stop_on_violation = o->stop_on_violation;
	c->timeout = o->limits.timeout;
	c->memory = o->limits.memory;
	r->coverage = o->coverage;
	r->max_histories = o->max_histories;
	r->jobs = o->threads;
	r->observer = (struct campaign_observer){ o, o->run ? on_run : NULL,
		                                  on_run_tick };
	if (o->policy && !policy_from_word(o->policy, &c->policy))
		return problem_set(problem, PROBLEM_REQUEST,
		                   "there is no policy '%s'", o->policy);
	if (!o->level) c->as = program_deployment(p, NULL);
	return program_level(p,
	                     o->level ? internal_level(o->level) : LEVEL_COUNT,
	                     &c->level, problem);
}

static int try_program_run(iso_result **out, const iso_program *program,
                           const iso_run_options *options)
{
	iso_run_options given;
	struct run_request request = { 0 };
	struct random_runs runs;
	struct problem problem = { 0 };
	if (!out || !program || !options_read(&given, sizeof given, options) ||
	    !limits_fit(&given.limits) ||
	    (given.level && !is_level(given.level)))
		return ISO_E_ARGUMENT;
	*out = NULL;
	if (!read_run(&request, &given, program->compiled, &problem))
		return problem_give(&problem, NULL);
	if (random_runs(&runs, program->compiled, &request, &problem))
		*out = iso_result_of(result_of_runs(&runs.found, RESULT_WHOLE));
	random_runs_free(&runs);
	return problem_give(&problem, NULL);
}

int iso_program_run(iso_result **out, const iso_program *program,
                    const iso_run_options *options)
{
	int status;
	CALL_IN(NULL, status, try_program_run(out, program, options));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

/* ---- comparing ---- */

static bool on_compare_tick(void *payload, const char *phase, uint64_t done,
                            uint64_t of)
{
	const iso_limits *limits = payload;
	(void)phase, (void)done, (void)of;
	return !limits->stop || !limits->stop(limits->payload);
}

static int try_program_compare(iso_result **out, const iso_program *program,
                               const iso_compare_options *options,
                               iso_diags **diags)
{
	iso_compare_options given;
	struct problem problem = { 0 };
	if (diags) *diags = NULL;
	if (!out || !program || !options_read(&given, sizeof given, options) ||
	    !limits_fit(&given.limits) ||
	    (given.level && !is_level(given.level)))
		return ISO_E_ARGUMENT;
	*out = NULL;
	struct compare_options o = {
		.predict = { .boundary =
		                     boundary_of(given.strict, given.relaxed),
		             .encoding = given.approximate ? ENCODING_APPROX
		                                           : ENCODING_EXACT },
		.traces = given.traces,
		.predictions = given.predictions,
		.runs = given.runs,
		.seed = given.seed ? given.seed : 1,
		.timeout = given.limits.timeout,
		.memory = given.limits.memory,
		.max_histories = given.max_histories,
		.jobs = given.threads,
		.seeds = given.seeds,
	};
	if (given.level) o.predict.level = internal_level(given.level);
	struct compare_observer observer = { &given.limits, on_compare_tick };
	struct comparison *c = compare_ways(program->compiled, &o, given.level,
	                                    &observer, &problem);
	if (c) {
		*out = iso_result_of(result_of_comparison(c));
		comparison_free(c);
	}
	return problem_give(&problem, diags);
}

int iso_program_compare(iso_result **out, const iso_program *program,
                        const iso_compare_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_compare(out, program, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
