#include "api/predict_inputs.h"

#include <assert.h>

#include "api/programs.h"
#include "axioms/schedule.h"
#include "base/seconds.h"
#include "check/minimal_violation.h"
#include "history/facts.h"
#include "history/history.h"
#include "run/runner.h"
#include "vm/program.h"

enum shows {
	SHOWS_NOTHING,
	SHOWS_REFUTED, /* a prediction, but running it does not show it */
	SHOWS_VIOLATED
};

struct predicting {
	const struct predict_request *request;
	struct inputs in;
	struct predict_options options; /* level: of the history at hand */
	const char *stated_by; /* who states the level; NULL: the request */
	struct runner *runner; /* of the program; NULL: none yet */
	struct trials trials;  /* on PostgreSQL, if that is asked for */
	struct region tried;   /* of the history at hand: what was sent there */
	struct predict_summary *summary;
	enum shows shown; /* the most that a history shows so far */
	bool stopped;     /* a callback said so */
};

/* ---- the level ---- */

bool predict_level_possible(enum level l, bool mixed, struct problem *p)
{
	if (!level_is_serial(l) || mixed) return true;
	return problem_set(p, PROBLEM_REQUEST,
	                   "predictions are never serializable: choose a level "
	                   "weaker than ser");
}

static bool choose_level(struct predicting *x, const struct trace *observed,
                         bool mixed)
{
	const struct predict_request *r = x->request;
	struct problem *problem = x->in.problem;
	enum level stated = LEVEL_COUNT;
	if (r->level_given)
		return !r->program ||
		       program_level(r->program, x->options.level,
		                     &x->options.level, problem);
	x->options.as = NULL;
	if (observed && observed->level)
		stated = level_from_word(observed->level);
	if (stated < LEVEL_COUNT && !level_is_serial(stated)) {
		x->options.level = stated;
		x->stated_by = "as the history says";
		return true;
	}
	x->options.level = LEVEL_DEFAULT;
	x->stated_by = "as nothing else is stated";
	if (!r->program || !program_isolation(r->program)) return true;
	if (!program_level(r->program, LEVEL_COUNT, &x->options.level, problem))
		return false;
	x->options.as = program_deployment(r->program, NULL);
	x->stated_by = "as the program states";
	if (!level_is_serial(x->options.level) || mixed) return true;
	return problem_set(problem, PROBLEM_REQUEST,
	                   "%s states ser, and predictions are never "
	                   "serializable: choose a weaker level with -i",
	                   r->program_path);
}

/* The level at hand; if some transactions have one of their own, that of the
 * others. */
static bool read_level(struct predicting *x, const struct trace *observed)
{
	const struct program *p = x->request->program;
	struct problem *problem = x->in.problem;
	bool mixed =
		observed ? trace_has_owns(observed) : p && program_mixes(p);
	return choose_level(x, observed, mixed) &&
	       predict_level_possible(x->options.level, mixed, problem) &&
	       (!observed ||
	        trace_takes_level(observed, x->options.level, problem));
}

/* The runner of the program under the level at hand. */
static struct runner *runner_of(struct predicting *x)
{
	const struct predict_request *r = x->request;
	if (x->runner && runner_level(x->runner) != x->options.level) {
		runner_free(x->runner);
		x->runner = NULL;
	}
	if (!x->runner) {
		x->runner =
			runner_new(r->program, x->options.level, r->interrupt);
		if (r->in.seconds > 0)
			runner_deadline(x->runner, x->in.begun + r->in.seconds);
		runner_memory(x->runner, r->in.memory);
	}
	return x->runner;
}

/* ---- one prediction ---- */

/* Why the predicted history is not serializable. */
static void explain(struct predicting *x, struct predict_case *c,
                    struct predicted *p, struct check_witness *out)
{
	struct check_clock *clock = x->in.clock;
	const struct trace *h = p->prediction->history;
	assert(!p->witness && !p->unexplained);
	struct check_result result = { 0 };
	double begun = seconds_now();
	struct facts *f = facts_of_trace(h), plain = facts_without_owns(f);
	check_level(&plain, LEVEL_SERIAL, clock, &result);
	if (result.verdict == VERDICT_VIOLATED &&
	    check_explain(h, &plain, LEVEL_SERIAL, &result, clock, out)) {
		if (f->owns)
			out->part->others = (own_level)(x->options.level + 1);
		p->witness = out;
	} else {
		p->unexplained = check_clock_reason(clock);
		if (!p->unexplained) p->unexplained = result.reason;
		if (!p->unexplained) p->unexplained = "the search ended";
	}
	check_result_free(&result);
	facts_free(f);
	c->explain_seconds += seconds_now() - begun;
}

static void validate(struct predicting *x, struct predict_case *c,
                     struct predicted *p, struct replay_result *out)
{
	struct replay_parts parts = { p->prediction->truncated,
		                      p->prediction->divergent };
	double begun = seconds_now();
	replay_history(runner_of(x), p->prediction->history,
	               p->prediction->order, parts, out);
	p->replay = out;
	c->replayed++;
	c->validated += predicted_validated(out);
	c->diverged += out->end == RUN_COMPLETE && out->diverged;
	c->validate_seconds += seconds_now() - begun;
}

/* On PostgreSQL, what the program did along the prediction. */
static bool try_history(struct predicting *x, struct predict_case *c,
                        const struct history *h, struct confirmation *out)
{
	enum level l = x->options.level;
	struct text title = { 0 };
	struct schedule schedule = { 0 };
	if (h->others || level_has_moments(l))
		schedule_of_history(l, h->others, h, &schedule);
	text_string(&title, "not serializable, predicted from ");
	name_predict_place(&title, c);
	bool fine = trials_try(&x->trials, h, l, &schedule, text_get(&title),
	                       &x->tried, out, x->in.problem);
	c->tried += fine;
	c->confirmed += fine && out->answer == CONFIRM_YES;
	schedule_free(&schedule);
	text_free(&title);
	return fine;
}

/* Tells of the prediction, once it was tried as far as it is to be. */
static bool tell(struct predicting *x, struct predict_case *c,
                 struct predicted *p, bool shown)
{
	const struct predict_request *r = x->request;
	struct confirmation found;
	struct tried_history tried = { x->trials.confirmer, &found, NULL,
		                       x->options.level };
	bool fine = true;
	if (r->confirm && predicted_validated(p->replay)) {
		struct history *h = runner_history(x->runner);
		tried.history = h;
		p->tried = &tried;
		fine = try_history(x, c, h, &found);
		if (fine && r->predicted)
			fine = r->predicted(r->data, c, p, shown);
		history_free(h);
	} else if (r->predicted) {
		fine = r->predicted(r->data, c, p, shown);
	}
	return fine;
}

/* `first` keeps the words about the first prediction. */
static void take(struct predicting *x, struct predict_case *c,
                 const struct prediction *prediction, struct text *first)
{
	const struct predict_request *r = x->request;
	struct check_witness witness = { 0 };
	struct replay_result replay = { 0 };
	bool shown = x->shown < SHOWS_VIOLATED;
	struct predicted p = { .number = ++c->found, .prediction = prediction };
	c->feasible += prediction->boundary == BOUNDARY_STRICT;
	if (p.number == 1) {
		c->first_boundary = prediction->boundary;
		c->nearest = prediction->nearest;
		c->changed = prediction->changed_count;
		c->itself = prediction->observed;
		name_predicted_changes(first, c->observed, prediction);
		c->first = text_get(first);
	}
	if (r->explain == EXPLAIN_ALL ||
	    (r->explain == EXPLAIN_SHOWN && shown) ||
	    (r->explain_first && p.number == 1 &&
	     !x->summary->answers[PREDICT_FOUND]))
		explain(x, c, &p, &witness);
	if (r->program) validate(x, c, &p, &replay);
	if (!tell(x, c, &p, shown)) x->stopped = true;
	if (p.witness) check_witness_free(&witness);
}

/* ---- one history ---- */

/* Is it enough, with so many found within the boundary? Where the program shows
 * none of them, the next boundary has its turn. */
static bool is_enough(const struct predict_case *c, struct predictor *predictor,
                      uint64_t *within)
{
	uint64_t wanted = c->wanted ? c->wanted : 1;
	bool shown = !c->program || c->validated || c->itself;
	if (c->found >= wanted && shown) return true;
	if (*within < wanted) return false;
	*within = 0;
	return !predictor_widen(predictor);
}

static void search(struct predicting *x, struct predict_case *c,
                   struct predictor *predictor, struct text *first)
{
	enum predict_boundary boundary = BOUNDARY_BOTH;
	uint64_t within = 0;
	while (!is_enough(c, predictor, &within) && !x->stopped) {
		struct prediction p = { 0 };
		c->answer = predictor_next(predictor, &p);
		if (c->answer != PREDICT_FOUND) break;
		within = p.boundary == boundary ? within + 1 : 1;
		boundary = p.boundary;
		take(x, c, &p, first);
		if (x->request->keep) x->request->keep(x->request->data, &p);
		prediction_free(&p);
	}
	c->stats = *predictor_stats(predictor);
	if (c->answer == PREDICT_UNKNOWN)
		c->reason = predictor_reason(predictor);
}

static void conclude(struct predicting *x, const struct predict_case *c)
{
	const struct predict_request *r = x->request;
	enum shows shows = c->found ? SHOWS_REFUTED : SHOWS_NOTHING;
	assert(c->validated <= c->replayed && c->replayed <= c->found);
	if (predict_verdict(c) == VERDICT_VIOLATED) shows = SHOWS_VIOLATED;
	bool shown = !x->summary->histories || shows > x->shown;
	if (r->searched && !r->searched(r->data, c, shown)) x->stopped = true;
	if (shows > x->shown) x->shown = shows;
	predict_summary_add(x->summary, c);
	x->in.done = x->summary->histories;
}

/* Predicts from the history of the case, which has all that is known before.
 * False if that is impossible. */
static bool predict_from(struct predicting *x, struct predict_case *c)
{
	const struct predict_request *r = x->request;
	struct diags *d = &x->in.problem->diags;
	struct text first = { 0 };
	assert(x->options.level < LEVEL_COUNT && c->observed);
	struct predictor *p = NULL;
	c->options = &x->options;
	c->stated_by = x->stated_by;
	c->program = r->program ? r->program_path : NULL;
	c->wanted = r->wanted;
	c->confirms = r->confirm;
	if (!r->program || replay_fits(r->program, c->observed, d))
		p = predictor_new(c->observed, &x->options, x->in.clock, d);
	if (!p) return problem_diagnosed(x->in.problem, PROBLEM_INPUT);
	region_init(&x->tried);
	search(x, c, p, &first);
	bool fine = !r->program || !program_fault(r->program);
	if (fine && !x->in.problem->kind) conclude(x, c);
	region_free(&x->tried);
	predictor_free(p);
	text_free(&first);
	if (!fine) problem_diagnosed(x->in.problem, PROBLEM_FAULT);
	return fine && !x->in.problem->kind;
}

static bool goes_on(struct predicting *x)
{
	const struct predict_summary *m = x->summary;
	return !x->stopped && inputs_go_on(&x->in, m->histories || m->left_out);
}

static bool look(void *data, const struct input *i)
{
	struct predicting *x = data;
	struct predict_case c = { .observed = i->trace,
		                  .format = i->format,
		                  .history = i->number,
		                  .read_seconds = i->read_seconds };
	return goes_on(x) && read_level(x, i->trace) && predict_from(x, &c) &&
	       !x->stopped;
}

/* ---- from runs of a program ---- */

static bool predict_recorded(struct predicting *x, uint64_t number,
                             double begun)
{
	const struct predict_request *r = x->request;
	struct predict_case c = { .format = FORMAT_COUNT,
		                  .history = number,
		                  .seed = r->seed + number - 1 };
	struct history *h = runner_history(runner_of(x));
	struct trace *t = trace_of_history(h, r->program_path);
	t->program = r->program_path;
	c.observed = t;
	c.read_seconds = seconds_now() - begun;
	bool fine = predict_from(x, &c);
	trace_free(t);
	history_free(h);
	return fine;
}

/* Run number i, from 1, as `isoscope record` would have it. */
static bool predict_run(struct predicting *x, uint64_t i)
{
	const struct predict_request *r = x->request;
	struct problem *problem = x->in.problem;
	double begun = seconds_now();
	uint64_t seed = r->seed + i - 1;
	assert(i >= 1 && i <= r->runs);
	struct runner *runner = runner_of(x);
	enum run_end end = record_serial(runner, seed);
	struct position at;
	if (program_fault(r->program))
		return problem_diagnosed(problem, PROBLEM_FAULT);
	switch (end) {
	case RUN_COMPLETE: return predict_recorded(x, i, begun);
	case RUN_PRUNED:
		if (r->left_out && !r->left_out(r->data, seed))
			x->stopped = true;
		x->summary->left_out++;
		return true;
	case RUN_BOUND:
		x->in.stopped = program_bound_met(r->program, &at);
		return true;
	case RUN_INTERRUPTED:
		x->in.stopped = check_clock_reason(x->in.clock);
		if (!x->in.stopped) x->in.stopped = "a limit was reached";
		return true;
	case RUN_MEMORY:
		x->in.stopped = "the memory limit was reached";
		return true;
	case RUN_TOO_LARGE: break;
	}
	return problem_set(problem, PROBLEM_LIMIT, "%s: %s", r->program_path,
	                   runner_problem(runner));
}

static bool predict_program(struct predicting *x)
{
	x->in.path = x->request->program_path;
	if (!read_level(x, NULL)) return false;
	for (uint64_t i = 1; i <= x->request->runs && goes_on(x); i++)
		if (!predict_run(x, i)) return false;
	return true;
}

bool predict_inputs(const struct predict_request *r, struct predict_summary *m,
                    struct problem *p)
{
	struct predicting x = { .request = r,
		                .options = r->options,
		                .summary = m };
	assert(!m->histories && (!r->runs || (r->program && !r->in.count)));
	inputs_begin(&x.in, &r->in, p);
	if (r->runs) m->recorded = r->program_path;
	x.trials = (struct trials){ .interrupt = r->interrupt,
		                    .as = r->as,
		                    .reproduced = r->reproduced };
	bool fine =
		(!r->confirm || trials_begin(&x.trials, r->program, p)) &&
		(r->runs ? predict_program(&x) : inputs_look(&x.in, look, &x));
	m->stopped = x.in.stopped;
	m->seconds = seconds_now() - x.in.begun;
	if (r->program && !program_sound(r->program, p)) fine = false;
	trials_end(&x.trials);
	runner_free(x.runner);
	inputs_end(&x.in);
	return fine;
}
