#include "predict/compare.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "isoscope.h"
#include "lang/load.h"
#include "report/compare_report.h"
#include "report/progress.h"
#include "vm/program.h"

struct comparing {
	const struct command_line *line;
	struct compare_options options;
	struct progress progress;
	struct timespec begun;
};

/* ---- progress ---- */

static double seconds_since(struct timespec begun)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begun.tv_sec) +
	       1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
}

static bool on_tick(void *payload, const char *phase, uint64_t done,
                    uint64_t of)
{
	struct comparing *x = payload;
	double seconds = seconds_since(x->begun);
	if (!progress_due(&x->progress, seconds)) return true;
	struct text line = { 0 };
	text_format(&line, "%s: ", phase);
	style_count(&line, done);
	if (of) {
		text_string(&line, " of ");
		style_count(&line, of);
	}
	text_string(&line, ", ");
	style_seconds(&line, seconds);
	progress_say(&x->progress, seconds, text_get(&line));
	text_free(&line);
	return true;
}

/* ---- the command line ---- */

static bool settings(struct comparing *x)
{
	const struct command_line *c = x->line;
	struct compare_options *o = &x->options;
	const char *boundary = c->value[OPTION_BOUNDARY];
	const char *encoding = c->value[OPTION_ENCODING];
	if (c->operand_count != 1) {
		say(c->operand_count ? "compare takes one program, not %zu"
		                     : "compare needs a program: isoscope "
		                       "compare PROGRAM.tx",
		    c->operand_count);
		return false;
	}
	if (boundary && !strcmp(boundary, "relaxed"))
		o->predict.boundary = BOUNDARY_RELAXED;
	if (encoding && !strcmp(encoding, "approx"))
		o->predict.encoding = ENCODING_APPROX;
	o->seed = 1;
	return setting_count(c, OPTION_TRACES, &o->traces) &&
	       setting_count(c, OPTION_ALL, &o->predictions) &&
	       setting_count(c, OPTION_RUNS, &o->runs) &&
	       setting_seed(c, OPTION_RUN_SEED, &o->seed) &&
	       setting_count(c, OPTION_MAX_HISTORIES, &o->max_histories) &&
	       setting_memory(c, OPTION_MEMORY, &o->memory) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout);
}

/* A prediction is never serializable. */
static bool level_fits(struct comparing *x, const struct program *p)
{
	enum level *l = &x->options.predict.level;
	if (!setting_level(x->line, OPTION_PREDICT_LEVEL, p, l)) return false;
	if (*l != LEVEL_SER) return true;
	say("%s states ser, under which nothing is unserializable: name a "
	    "weaker level with -i", program_path(p));
	return false;
}

/* ---- comparing ---- */

static bool write_result(const struct comparing *x, const struct comparison *c)
{
	struct text t = { 0 };
	struct style s = output_style(x->line, stdout);
	if (x->line->value[OPTION_JSON])
		report_compare_json(&t, c, iso_version());
	else if (x->line->value[OPTION_QUIET])
		report_compare_verdict(&t, &s, c);
	else
		report_compare(&t, &s, c);
	bool fine = output_text(stdout, "-", &t);
	text_free(&t);
	return fine;
}

static int compare(struct comparing *x, const struct program *p)
{
	struct compare_observer observer = { x, on_tick };
	if (!level_fits(x, p)) return EXIT_USAGE;
	signals_catch();
	x->options.interrupt = signals_flag();
	clock_gettime(CLOCK_MONOTONIC, &x->begun);
	struct comparison *c = comparison_new(p, &x->options, &observer);
	comparison_run(c);
	progress_end(&x->progress);
	int code = exit_code_of_verdict((int)comparison_verdict(c));
	if (!write_result(x, c)) code = EXIT_INTERNAL;
	comparison_free(c);
	return code;
}

int compare_main(const struct command_line *c)
{
	struct comparing x = { .line = c };
	struct diags d = { 0 };
	if (!settings(&x)) return EXIT_USAGE;
	if (!c->value[OPTION_QUIET] && isatty(fileno(stderr)))
		x.progress.to = stderr;
	x.progress.width = output_style(c, stderr).width;
	struct program *p = load_program(c->operands[0], &d);
	say_diagnostics(c, &d);
	diags_free(&d);
	if (!p) return EXIT_INPUT;
	int code = compare(&x, p);
	program_free(p);
	return code;
}
