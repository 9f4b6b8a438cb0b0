#include "api/compare_ways.h"

#include <assert.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "report/progress.h"
#include "vm/program.h"
#include "result/compared.h"
#include "result/numbers.h"

struct comparing {
	const struct command_line *line;
	struct compare_options options;
	struct progress progress;
	double begun; /* as seconds_now counts */
};

/* ---- progress ---- */

static bool on_tick(void *payload, const char *phase, uint64_t done,
                    uint64_t of)
{
	struct comparing *x = payload;
	double seconds = seconds_now() - x->begun;
	assert(phase && (!of || done <= of));
	if (!progress_due(&x->progress, seconds)) return true;
	struct text line = { 0 };
	text_format(&line, "%s: ", phase);
	number_count(&line, done);
	if (of) {
		text_string(&line, " of ");
		number_count(&line, of);
	}
	text_string(&line, ", ");
	number_seconds(&line, seconds);
	progress_say(&x->progress, seconds, text_get(&line));
	text_free(&line);
	return true;
}

/* ---- the command line ---- */

static bool settings(struct comparing *x)
{
	const struct command_line *c = x->line;
	struct compare_options *o = &x->options;
	if (!one_program(c)) return false;
	setting_encoding(c, &o->predict);
	o->seed = 1;
	return setting_count(c, OPTION_TRACES, &o->traces) &&
	       setting_count(c, OPTION_ALL, &o->predictions) &&
	       setting_count(c, OPTION_RUNS, &o->runs) &&
	       setting_seed(c, OPTION_RUN_SEED, &o->seed) &&
	       setting_count(c, OPTION_SEEDS, &o->seeds) &&
	       setting_count(c, OPTION_MAX_HISTORIES, &o->max_histories) &&
	       setting_jobs(c, &o->jobs) &&
	       setting_memory(c, OPTION_MEMORY, &o->memory) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout);
}

/* ---- comparing ---- */

static int deliver(const struct comparing *x, const struct comparison *c)
{
	struct result *r = result_of_comparison(c);
	int code = outputs_result(x->line, r, NULL) ? exit_code_of(r->verdict)
	                                            : EXIT_INTERNAL;
	result_free(r);
	return code;
}

static int compare(struct comparing *x, const struct program *p)
{
	struct compare_observer observer = { x, on_tick };
	struct problem problem = { 0 };
	const char *level = x->line->value[OPTION_PREDICT_LEVEL];
	if (level) x->options.predict.level = level_from_word(level);
	x->options.predict.as = level_deployment(level);
	signals_catch();
	x->options.interrupt = signals_flag();
	x->begun = seconds_now();
	struct comparison *c =
		compare_ways(p, &x->options, level, &observer, &problem);
	progress_end(&x->progress);
	int code = say_problem(x->line, p, &problem);
	if (c) code = deliver(x, c);
	comparison_free(c);
	problem_free(&problem);
	return code;
}

int compare_main(const struct command_line *c)
{
	struct comparing x = { .line = c };
	if (!settings(&x)) return EXIT_USAGE;
	x.progress = output_progress(c);
	struct program *p = read_program(c, c->operands[0]);
	if (!p) return EXIT_INPUT;
	int code = compare(&x, p);
	program_free(p);
	return code;
}
