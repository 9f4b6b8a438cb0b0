#include "cli/predict.h"

#include <inttypes.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "history/history.h"
#include "vm/program.h"

static bool goes_on(struct predicting *x)
{
	return histories_go_on(&x->in,
	                       x->summary.histories || x->summary.left_out);
}

/* A history of a file. */
static int look(void *data, const struct observed *o)
{
	struct predicting *x = data;
	struct predict_case c = { .observed = o->trace,
		                  .format = o->format,
		                  .history = o->number,
		                  .read_seconds = o->read_seconds };
	if (!goes_on(x)) return EXIT_HOLDS;
	return predict_level(x, o->trace) ? predict_from(x, &c) : EXIT_USAGE;
}

/* ---- from runs of a program ---- */

/* A run that met a false assumption is no history. */
static void leave_out(struct predicting *x, uint64_t seed)
{
	struct text line = { 0 };
	if (!x->quiet && !x->json) {
		text_string(&line, text_get(&x->first_line));
		text_clear(&x->first_line);
		text_format(&line,
		            "%s, seed %" PRIu64 ": left out: the run "
		            "meets a false assumption\n",
		            x->program_path, seed);
		histories_put(&x->in, &line);
	}
	x->summary.left_out++;
	text_free(&line);
}

static int predict_recorded(struct predicting *x, uint64_t number, double begun)
{
	struct predict_case c = { .format = FORMAT_COUNT,
		                  .history = number,
		                  .seed = x->seed + number - 1 };
	struct history *h = runner_history(predict_runner(x));
	struct trace *t = trace_of_history(h, x->program_path);
	t->program = x->program_path;
	c.observed = t;
	c.read_seconds = seconds_now() - begun;
	int code = predict_from(x, &c);
	trace_free(t);
	history_free(h);
	return code;
}

/* Run number i, from 1, as `isoscope record` would have it. */
static int predict_run(struct predicting *x, uint64_t i)
{
	double begun = seconds_now();
	uint64_t seed = x->seed + i - 1;
	struct runner *r = predict_runner(x);
	enum run_end end = record_serial(r, seed);
	if (program_fault(x->program)) return EXIT_INPUT;
	switch (end) {
	case RUN_COMPLETE: return predict_recorded(x, i, begun);
	case RUN_PRUNED: leave_out(x, seed); return EXIT_HOLDS;
	case RUN_INTERRUPTED:
		x->in.stopped = check_clock_reason(x->in.clock);
		if (!x->in.stopped) x->in.stopped = "a limit was reached";
		return EXIT_HOLDS;
	case RUN_MEMORY:
		x->in.stopped = "the memory limit was reached";
		return EXIT_HOLDS;
	case RUN_TOO_LARGE: break;
	}
	say("%s: %s", x->program_path, runner_problem(r));
	return EXIT_INCONCLUSIVE;
}

static int predict_program(struct predicting *x)
{
	static const struct trace nothing;
	x->in.path = x->program_path;
	if (!predict_level(x, &nothing)) return EXIT_USAGE;
	for (uint64_t i = 1; i <= x->runs && goes_on(x); i++) {
		int code = predict_run(x, i);
		if (code != EXIT_HOLDS) return code;
		if (x->in.stopped) break;
	}
	return EXIT_HOLDS;
}

/* ---- the result ---- */

static void write_several(struct predicting *x, struct text *t)
{
	if (x->quiet) {
		report_predict_summary_verdict(t, &x->style, &x->summary);
		return;
	}
	if (x->first_line.length) text_string(t, text_get(&x->first_line));
	text_char(t, '\n');
	report_predict_summary(t, &x->style, &x->summary);
	if (x->shown == SHOWN_NOTHING) return;
	text_format(t, "\nThe first prediction, from %s:\n",
	            text_get(&x->which));
	text_string(t, text_get(&x->report));
}

static void write_result(struct predicting *x)
{
	struct predict_summary *m = &x->summary;
	struct text t = { 0 };
	m->stopped = x->in.stopped;
	if (x->json) return;
	m->seconds = seconds_now() - x->in.begun;
	if (m->histories != 1 || m->stopped || m->left_out) {
		write_several(x, &t);
	} else {
		text_string(&t, text_get(&x->report));
		text_string(&t, text_get(&x->costs));
	}
	histories_put(&x->in, &t);
	text_free(&t);
}

static int finish(struct predicting *x)
{
	write_result(x);
	if (!pictures_write(x->line, &x->picture,
	                    "nothing is predicted, so nothing was drawn") ||
	    x->in.failed)
		return EXIT_INTERNAL;
	return exit_code_of_check(predict_summary_verdict(&x->summary));
}

static void free_all(struct predicting *x)
{
	runner_free(x->runner);
	histories_end(&x->in);
	text_free(&x->which);
	text_free(&x->report);
	text_free(&x->costs);
	text_free(&x->first_line);
	text_free(&x->picture);
	program_free(x->program);
}

static int predict_all(struct predicting *x)
{
	const char *path = x->line->value[OPTION_HISTORIES];
	histories_begin(&x->in);
	if (path && !(x->histories = output_open(path))) return EXIT_USAGE;
	int code = x->recording ? predict_program(x) : histories_look(&x->in);
	if (x->program && program_failed(x->line, x->program))
		code = EXIT_INPUT;
	else if (code == EXIT_HOLDS)
		code = finish(x);
	else if (x->summary.histories || x->summary.left_out)
		write_result(x);
	if (!output_close(x->histories, path)) code = EXIT_INTERNAL;
	return code;
}

int predict_main(const struct command_line *c)
{
	struct predicting x = { .line = c };
	int code = EXIT_INPUT;
	x.in = (struct histories){ .doing = "predicting from",
		                   .count = &x.summary.histories,
		                   .look = look,
		                   .data = &x };
	if (!predict_settings(&x)) return EXIT_USAGE;
	if (x.program_path) x.program = read_program(c, x.program_path);
	if (x.program || !x.program_path) code = predict_all(&x);
	free_all(&x);
	return code;
}
