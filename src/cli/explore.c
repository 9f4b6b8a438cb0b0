#include "cli/explore.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "analyse/symmetry.h"
#include "api/explorations.h"
#include "api/second_engine.h"
#include "base/seconds.h"
#include "cli/confirming.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/watch.h"
#include "distribute/task.h"
#include "dpor/known_rows.h"
#include "dpor/verdict.h"
#include "history/trace.h"
#include "result/decided.h"
#include "vm/program.h"

/* ---- rows that were not known (dpor/known_rows.h) ---- */

/* Can what was found be found again? Files that others go on with rest on the
 * rows that were known when they were begun. */
static bool begins_anew(const struct exploration *x)
{
	const char *const *value = x->line->value;
	const char *histories = value[OPTION_HISTORIES];
	const struct explore_options *o = &x->plan.options;
	if (x->plan.kept.unit || value[OPTION_RESUME] ||
	    value[OPTION_CHECKPOINT] || (histories && !strcmp(histories, "-")))
		return false;
	if (o->interrupt && atomic_load(o->interrupt)) return false;
	return x->plan.program && explorer_can_learn(x->plan.program);
}

bool explore_failed(const struct exploration *x)
{
	return begins_anew(x) || program_failed(x->line, x->plan.program);
}

/* The time that is left, of what was given to all. */
static void count_time(struct exploration *x)
{
	static const double LEAST = 0.001;
	double *timeout = &x->plan.options.timeout;
	if (*timeout > 0) *timeout = fmax(x->deadline - seconds_now(), LEAST);
}

/* ---- one exploration ---- */

/* The result, which is freed. */
static int explore_answer(const struct exploration *x, struct result *r)
{
	int code = confirm_as_asked(x->line, r);
	if (!code)
		code = outputs_result(x->line, r,
		                      "there is no counterexample, so nothing "
		                      "was drawn")
		               ? exit_code_of(r->verdict)
		               : EXIT_INTERNAL;
	result_free(r);
	return code;
}

int explore_deliver(const struct exploration *x, const struct explorer *e,
                    const struct explored_beside *beside)
{
	assert(beside);
	if (explore_failed(x)) return EXIT_INPUT;
	return explore_answer(
		x, result_of_exploration(e, beside, outputs_depth(x->line)));
}

static int deliver(const struct exploration *x, const struct explorer *e)
{
	struct estimate all = { 0 };
	if (!x->quiet || x->json) all = explored_share(e);
	return explore_deliver(x, e,
	                       &(struct explored_beside){ .share = &all });
}

static struct explorer *explorer_watched(const struct exploration *x,
                                         struct watch *w)
{
	struct explore_options o = x->plan.options;
	struct explore_observer observer = watch_observer(w);
	o.snapshot_every = watch_every(w);
	return explorer_new(x->plan.program, &o, &observer);
}

struct second_engine *explore_beside(const struct exploration *x, bool levels)
{
	const char *const *value = x->line->value;
	if (!value[OPTION_STOP] || value[OPTION_HISTORIES] ||
	    value[OPTION_CHECKPOINT] || value[OPTION_RESUME] ||
	    value[OPTION_UNIT] || value[OPTION_ALGORITHM] || value[OPTION_BASE])
		return NULL;
	return second_engine_begin(x->plan.program, &x->plan.options, levels);
}

/* Exploring came to no end of its own, and the second engine did. */
static bool is_decided(const struct exploration *x, const struct explorer *e)
{
	enum stop_reason stop = explorer_stats(e)->stop;
	bool ended = stop == STOP_NONE || stop == STOP_VIOLATION;
	return !ended && second_engine_end(x->second);
}

static int deliver_decision(const struct exploration *x,
                            const struct explorer *e)
{
	if (explore_failed(x)) return EXIT_INPUT;
	struct result *r = result_of_decision(second_engine_decision(x->second),
	                                      outputs_depth(x->line));
	result_engine(r, false, explorer_stats(e)->histories);
	return explore_answer(x, r);
}

static int explore_one(struct exploration *x)
{
	x->second = explore_beside(x, false);
	struct watch *w = watch_new(x, NULL);
	if (!w) {
		second_engine_free(x->second);
		return EXIT_USAGE;
	}
	struct explorer *e = explorer_watched(x, w);
	bool known = explore_goes_on(x, e);
	if (known) explorer_run(e);
	bool fine = watch_end(w, known ? e : NULL);
	int code = EXIT_INPUT;
	if (known)
		code = is_decided(x, e) ? deliver_decision(x, e)
		                        : deliver(x, e);
	second_engine_free(x->second);
	explorer_free(e);
	return fine ? code : EXIT_INTERNAL;
}

static int explore_as_asked(struct exploration *x)
{
	const struct command_line *c = x->line;
	if (c->value[OPTION_LEVELS]) return explore_levels(x);
	if (c->value[OPTION_FIX]) return explore_repair(x);
	if (c->value[OPTION_ESTIMATE]) return explore_estimate(x);
	if (c->value[OPTION_RANDOM]) return explore_random(x);
	return explore_one(x);
}

bool explore_goes_on(struct exploration *x, struct explorer *e)
{
	struct problem problem = { 0 };
	bool fine = kept_begin(&x->plan.kept, e, &problem);
	say_problem(x->line, NULL, &problem);
	problem_free(&problem);
	return fine;
}

/* ---- the program ---- */

/* --unit, --resume, --checkpoint, --histories: those that are there are read,
 * and with them the options that they decide. */
static bool read_files(struct exploration *x, struct problem *p)
{
	const struct command_line *c = x->line;
	const char *const *value = c->value;
	struct kept_files files = {
		.resume = value[OPTION_RESUME],
		.unit = value[OPTION_UNIT],
		.checkpoint = value[value[OPTION_UNIT] ? OPTION_RESULT
		                                       : OPTION_CHECKPOINT],
		.histories = value[OPTION_HISTORIES],
	};
	if (!setting_seconds(c, OPTION_CHECKPOINT_EVERY, &files.every))
		return problem_diagnosed(p, PROBLEM_REQUEST);
	return kept_read(&x->plan.kept, &files, p);
}

static bool make_plan(struct exploration *x, const struct program *p,
                      struct problem *problem)
{
	const char *from = x->line->value[OPTION_EXPLORE_FROM];
	struct explore_plan *plan = &x->plan;
	struct explore_wish w = explore_wish_read(x->line);
	struct trace *observed = from ? explore_from(from, problem) : NULL;
	w.from = observed;
	w.task = kept_task(&plan->kept);
	w.otherwise = "what was found so far is void, so start again";
	bool fine = !problem->kind && explore_plan_make(plan, p, &w, problem) &&
	            kept_accept(&plan->kept, plan->program, &plan->options,
	                        plan->order, problem);
	trace_free(observed);
	return fine;
}

static int explore_program(struct exploration *x, const struct program *p)
{
	struct problem problem = { 0 };
	const struct explore_plan *plan = &x->plan;
	if (!pictures_possible(x->line) || !confirming_fits(x->line))
		return EXIT_USAGE;
	bool fine = make_plan(x, p, &problem);
	int code = say_problem(x->line, NULL, &problem);
	problem_free(&problem);
	if (!fine) return code;
	if (plan->symmetry && plan->symmetry->trivial && !x->quiet)
		say("%s: no two sessions are interchangeable, so --symmetry "
		    "changes nothing%s%s",
		    program_path(p), plan->symmetry->why ? ": " : "",
		    plan->symmetry->why ? plan->symmetry->why : "");
	signals_catch();
	x->plan.options.interrupt = signals_flag();
	count_time(x);
	return explore_as_asked(x);
}

/* Learns what was not known, and forgets the rest. */
static bool plan_anew(struct exploration *x, struct program *p)
{
	struct problem problem = { 0 };
	struct explore_options *o = &x->plan.options;
	if (!x->quiet)
		say("%s: rows turned up that conditions can find and that were "
		    "not known, so it is explored anew",
		    program_path(p));
	count_time(x);
	o->timeout /= 2;
	explorer_learn_rows(p, o);
	explore_plan_free(&x->plan);
	x->plan = (struct explore_plan){ 0 };
	bool fine = settings_read(x) && read_files(x, &problem);
	problem_free(&problem);
	return fine;
}

/* The program, instead of an operand: that of the file that is gone on with. */
static int explore_path(struct exploration *x)
{
	const struct task *task = kept_task(&x->plan.kept);
	struct program *p = read_program(x->line, x->line->operand_count
	                                                  ? x->line->operands[0]
	                                                  : task_path(task));
	explore_read(x->line);
	if (!p) return EXIT_INPUT;
	x->style = output_style(x->line, outputs_result_stream(x->line));
	int code = explore_program(x, p);
	while (begins_anew(x) && plan_anew(x, p)) code = explore_program(x, p);
	explore_plan_free(&x->plan);
	x->plan = (struct explore_plan){ 0 };
	program_free(p);
	return code;
}

int explore_main(const struct command_line *c)
{
	return c->value[OPTION_WATCH] ? explore_watch(c) : explore_once(c);
}

int explore_once(const struct command_line *c)
{
	struct exploration x = { .line = c };
	struct problem problem = { 0 };
	double begin = seconds_now();
	if (!settings_read(&x)) return EXIT_USAGE;
	x.deadline = begin + x.plan.options.timeout;
	bool fine = read_files(&x, &problem);
	int code = say_problem(c, NULL, &problem);
	problem_free(&problem);
	if (fine) code = explore_path(&x);
	explore_plan_free(&x.plan);
	return code;
}
