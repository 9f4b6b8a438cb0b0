/* isoscope decide and runs: what a solver says of a program. */
#include <math.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/given_program.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "dpor/explorer.h"
#include "dpor/known_rows.h"
#include "report/progress.h"
#include "result/decided.h"
#include "result/numbers.h"
#include "solve/decide_beside.h"
#include "vm/program.h"

static void on_tick(void *payload, const struct decide_progress *p)
{
	struct progress *to = payload;
	struct text words = { 0 };
	if (!progress_due(to, p->seconds)) return;
	number_plural(&words, p->runs, "run", "runs");
	text_string(&words, " of single sessions");
	if (p->complete) text_string(&words, ", all there are");
	text_string(&words, ", ");
	number_plural(&words, p->questions, "question", "questions");
	text_string(&words, ", ");
	number_seconds(&words, p->seconds);
	progress_say(to, p->seconds, text_get(&words));
	text_free(&words);
}

/* A table has no picture, and no proof. */
static bool levels_fit(const struct command_line *c)
{
	static const enum option_id others[] = { OPTION_DOT, OPTION_SVG,
		                                 OPTION_PROOF };
	if (!c->value[OPTION_DECIDE_LEVELS]) return true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!c->value[others[i]]) continue;
		say("--levels does not go with --%s: it prints one table; name "
		    "one level with --isolation",
		    option_table[others[i]].word);
		return false;
	}
	return true;
}

/* The proof, and the formula beside it. */
static bool proof_possible(const struct command_line *c)
{
	const char *path = c->value[OPTION_PROOF];
	struct text formula = { 0 };
	if (!path) return true;
	if (is_standard(path)) {
		say("--proof writes two files: name one of them, the other is "
		    "called the same with .cnf behind it");
		return false;
	}
	text_string(&formula, path);
	text_string(&formula, ".cnf");
	bool possible =
		output_possible(path) && output_possible(text_get(&formula));
	text_free(&formula);
	return possible;
}

static bool settings(const struct command_line *c, struct decide_options *o)
{
	return one_program(c) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout) &&
	       setting_memory(c, OPTION_MEMORY, &o->memory) &&
	       outputs_fit(c, "program");
}

/* Says what stands in the way, if something does: under the level, or, of
 * `all`, under each of them. */
static bool can_decide(const struct command_line *c, const struct program *p,
                       enum level l, bool all)
{
	const char *obstacle = decide_obstacle(p, l);
	if (all ? decide_covers_some(p) : !obstacle) return true;
	say("%s: %s does not cover %s; explore does", program_path(p),
	    c->command == COMMAND_RUNS ? "runs" : "decide", obstacle);
	return false;
}

/* ---- rows that were not known (dpor/known_rows.h) ---- */

static bool begins_anew(const struct program *p, const struct decide_options *o)
{
	return !atomic_load(o->interrupt) && explorer_can_learn(p);
}

/* Learns them, and leaves the time that is left of what was given to all. */
static void learn_rows(const struct command_line *c, struct program *p,
                       struct decide_options *o, double deadline)
{
	static const double LEAST = 0.001, MOST = 10;
	struct explore_options e = { .level = o->level,
		                     .base = o->level,
		                     .algorithm = EXPLORE_ORDERLY,
		                     .timeout = MOST,
		                     .interrupt = o->interrupt };
	if (o->timeout > 0)
		e.timeout =
			fmax(fmin((deadline - seconds_now()) / 2, MOST), LEAST);
	if (!c->value[OPTION_QUIET])
		say("%s: rows turned up that conditions can find and that were "
		    "not known, so it is decided anew",
		    program_path(p));
	explorer_learn_rows(p, &e);
	if (o->timeout > 0) o->timeout = fmax(deadline - seconds_now(), LEAST);
}

/* ---- answers ---- */

static int decide_all_levels(const struct command_line *c,
                             const struct program *p,
                             const struct decide_options *o)
{
	struct level_decisions d;
	decide_levels(&d, p, o, decide_beside);
	progress_end(o->payload);
	int code = EXIT_INPUT;
	if (!begins_anew(p, o) && !program_failed(c, p)) {
		struct result *r = result_of_level_decisions(&d);
		code = outputs_result(c, r, NULL) ? exit_code_of(r->verdict)
		                                  : EXIT_INTERNAL;
		result_free(r);
	}
	level_decisions_free(&d);
	return code;
}

static int decide_it(const struct command_line *c, const struct program *p,
                     const struct decide_options *o)
{
	struct decision d;
	decide_beside(&d, p, o);
	progress_end(o->payload);
	int code = EXIT_INPUT;
	if (!begins_anew(p, o) && !program_failed(c, p)) {
		struct result *r = result_of_decision(&d, outputs_depth(c));
		bool fine = outputs_result(c, r,
		                           "there is no counterexample, so "
		                           "nothing was drawn");
		code = fine ? exit_code_of(r->verdict) : EXIT_INTERNAL;
		result_free(r);
	}
	decision_free(&d);
	return code;
}

static int list_runs(const struct command_line *c, const struct program *p,
                     const struct decide_options *o)
{
	struct local_runs l;
	local_runs_find(&l, p, o);
	progress_end(o->payload);
	int code = EXIT_INPUT;
	if (!begins_anew(p, o) && !program_failed(c, p)) {
		struct result *r = result_of_local_runs(&l);
		code = outputs_result(c, r, NULL) ? exit_code_of(r->verdict)
		                                  : EXIT_INTERNAL;
		result_free(r);
	}
	local_runs_free(&l);
	return code;
}

typedef int work(const struct command_line *c, const struct program *p,
                 const struct decide_options *o);

static int work_on_program(const struct command_line *c,
                           struct decide_options *o, work *does)
{
	struct progress progress = output_progress(c);
	int code = EXIT_USAGE;
	o->tick = on_tick;
	o->payload = &progress;
	struct program *p = read_program(c, c->operands[0]);
	if (!p) return EXIT_INPUT;
	if (setting_level(c, OPTION_ISOLATION, p, &o->level) &&
	    can_decide(c, p, o->level, does == decide_all_levels)) {
		o->as = program_deployment(p, c->value[OPTION_ISOLATION]);
		signals_catch();
		o->interrupt = signals_flag();
		double deadline = seconds_now() + o->timeout;
		while (code = does(c, p, o), begins_anew(p, o))
			learn_rows(c, p, o, deadline);
	}
	program_free(p);
	return code;
}

int decide_main(const struct command_line *c)
{
	struct decide_options o = { .robust = c->value[OPTION_ROBUST],
		                    .proof = c->value[OPTION_PROOF] };
	if (!settings(c, &o) || !pictures_possible(c) || !levels_fit(c) ||
	    !proof_possible(c))
		return EXIT_USAGE;
	return work_on_program(
		c, &o,
		c->value[OPTION_DECIDE_LEVELS] ? decide_all_levels : decide_it);
}

int runs_main(const struct command_line *c)
{
	struct decide_options o = { 0 };
	if (!settings(c, &o)) return EXIT_USAGE;
	return work_on_program(c, &o, list_runs);
}
