#include "api/random_runs.h"

#include <assert.h>

#include "cli/confirming.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "history/history.h"
#include "isoscope.h"
#include "report/history_json.h"
#include "report/progress.h"
#include "result/numbers.h"
#include "result/ran.h"
#include "vm/program.h"

enum { RUNS_USUAL = 1000, SEED_USUAL = 1 };

/* What was asked for, and what the callbacks work on. */
struct running {
	const struct command_line *line;
	struct run_request request;
	const struct program *program;
	struct style style; /* of the result in words */
	FILE *histories;    /* NULL: not asked for */
	struct text row;    /* of a history */
	struct progress progress;
};

/* ---- while it runs ---- */

static bool on_run(void *payload, const struct campaign_run *r)
{
	struct running *x = payload;
	struct history *h = runner_history(r->runner);
	assert(x->histories && r->number);
	uint32_t error = program_assertion_count(x->program);
	struct history_line l = {
		.program = x->program,
		.history = h,
		.level = x->request.options.level,
		.serializable = r->serializable,
		.violated = r->violated,
		.violated_count = r->violated_count,
		.error = runner_finding(r->runner, error),
		.random = true,
		.run = r->number,
		.seed = r->seed,
	};
	text_clear(&x->row);
	report_history_line(&x->row, &l);
	history_free(h);
	fwrite(x->row.data, 1, x->row.length, x->histories);
	return !ferror(x->histories);
}

static bool on_tick(void *payload, const struct campaign_stats *s)
{
	struct running *x = payload;
	if (!progress_due(&x->progress, s->seconds)) return true;
	assert(s->runs <= x->request.options.runs);
	struct text words = { 0 };
	number_count(&words, s->runs);
	text_string(&words, " of ");
	number_plural(&words, x->request.options.runs, "run", "runs");
	text_string(&words, ", ");
	number_count(&words, (uint64_t)((double)s->runs / s->seconds));
	text_string(&words, " per second, ");
	number_plural(&words, s->histories, "history", "histories");
	text_string(&words, ", ");
	number_count(&words, s->violating);
	text_string(&words, " violating, ");
	number_seconds(&words, s->seconds);
	progress_say(&x->progress, s->seconds, text_get(&words));
	text_free(&words);
	return true;
}

static void on_exploring(void *payload, double seconds)
{
	struct running *x = payload;
	if (x->progress.to)
		progress_say(&x->progress, seconds,
		             "exploring the program for the coverage");
}

/* ---- the result ---- */

static int deliver(const struct running *x, const struct run_case *c)
{
	struct result *r = result_of_runs(c, outputs_depth(x->line));
	int code = confirm_as_asked(x->line, r);
	if (!code)
		code = outputs_result(x->line, r,
		                      "there is no violation, so nothing was "
		                      "drawn")
		               ? exit_code_of(r->verdict)
		               : EXIT_INTERNAL;
	result_free(r);
	return code;
}

static int run_program(struct running *x)
{
	const char *path = x->line->value[OPTION_HISTORIES];
	struct random_runs runs;
	struct problem problem = { 0 };
	if (path && !(x->histories = output_open(path))) return EXIT_USAGE;
	x->request.observer =
		(struct campaign_observer){ x, path ? on_run : NULL, on_tick };
	bool sound = random_runs(&runs, x->program, &x->request, &problem);
	progress_end(&x->progress);
	bool fine = output_close(x->histories, path);
	int code = say_problem(x->line, x->program, &problem);
	if (sound) code = deliver(x, &runs.found);
	random_runs_free(&runs);
	problem_free(&problem);
	text_free(&x->row);
	return fine ? code : EXIT_INTERNAL;
}

/* ---- the command line ---- */

/* The option table knows the words; what stands behind weak= is read here. */
static bool read_policy(struct running *x)
{
	const char *word = x->line->value[OPTION_POLICY];
	if (!word || policy_from_word(word, &x->request.options.policy))
		return true;
	say("--policy weak=K takes a number: at most K reads get a "
	    "writer other than the latest one allowed, as in weak=3; not '%s'",
	    word);
	return false;
}

static bool exploration_fits(const struct command_line *c)
{
	if (c->value[OPTION_COVERAGE]) return true;
	if (c->value[OPTION_MAX_HISTORIES])
		say("--max-histories is a limit of the exploration that "
		    "--coverage asks for: add --coverage, or use --runs");
	else if (c->value[OPTION_JOBS])
		say("--jobs is for the exploration that --coverage asks for: "
		    "add --coverage; runs are made one after the other");
	else
		return true;
	return false;
}

static bool settings(struct running *x)
{
	const struct command_line *c = x->line;
	struct campaign_options *o = &x->request.options;
	if (!one_program(c)) return false;
	o->runs = RUNS_USUAL;
	o->seed = SEED_USUAL;
	x->request.coverage = c->value[OPTION_COVERAGE];
	x->request.exploring = on_exploring;
	o->robust = c->value[OPTION_ROBUST];
	o->stop_on_violation = c->value[OPTION_STOP];
	x->progress = output_progress(c);
	x->style = output_style(c, outputs_result_stream(c));
	return setting_count(c, OPTION_RUNS, &o->runs) &&
	       setting_seed(c, OPTION_RUN_SEED, &o->seed) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout) &&
	       setting_memory(c, OPTION_MEMORY, &o->memory) &&
	       setting_count(c, OPTION_MAX_HISTORIES,
	                     &x->request.max_histories) &&
	       setting_jobs(c, &x->request.jobs) && read_policy(x) &&
	       exploration_fits(c) && outputs_fit(c, "program") &&
	       confirming_fits(c);
}

int run_main(const struct command_line *c)
{
	struct running x = { .line = c };
	int code = EXIT_USAGE;
	if (!settings(&x)) return EXIT_USAGE;
	struct program *p = read_program(c, c->operands[0]);
	if (!p) return EXIT_INPUT;
	x.program = p;
	if (setting_level(c, OPTION_ISOLATION, p, &x.request.options.level) &&
	    pictures_possible(c)) {
		x.request.options.as =
			program_deployment(p, c->value[OPTION_ISOLATION]);
		signals_catch();
		x.request.options.interrupt = signals_flag();
		code = run_program(&x);
	}
	program_free(p);
	return code;
}
