#include "cli/predict.h"

#include <inttypes.h>

#include "cli/exit_codes.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/signals.h"
#include "history/history.h"
#include "lang/load.h"
#include "vm/program.h"

/* ---- progress ---- */

static void show_progress(struct predicting *x)
{
	double seconds = predict_now() - x->begun;
	if (!progress_due(&x->progress, seconds)) return;
	struct text line = { 0 };
	text_format(&line, "predicting from %s: ", x->path);
	if (x->summary.histories) {
		style_plural(&line, x->summary.histories, "history",
		             "histories");
		text_string(&line, ", ");
	}
	style_seconds(&line, seconds);
	progress_say(&x->progress, seconds, text_get(&line));
	text_free(&line);
}

static bool on_tick(void *data)
{
	show_progress(data);
	return atomic_load(signals_flag());
}

/* Is there any use in looking at one more history? */
static bool goes_on(struct predicting *x)
{
	if (x->failed) return false;
	if ((x->summary.histories || x->summary.left_out) &&
	    check_clock_over(x->clock)) {
		x->summary.stopped = check_clock_reason(x->clock);
		return false;
	}
	return true;
}

/* ---- from files ---- */

static int predict_trace(struct predicting *x, struct trace *t,
                         enum format format, uint64_t number,
                         double read_seconds)
{
	struct predict_case c = { .observed = t, .format = format,
		                  .history = number,
		                  .read_seconds = read_seconds };
	return predict_level(x, t) ? predict_from(x, &c) : EXIT_USAGE;
}

static int predict_histories(struct predicting *x, struct history_reader *r,
                             struct diags *d)
{
	uint64_t number = 0;
	for (;;) {
		double begun = predict_now();
		struct trace *t = history_reader_next(r, d);
		int code = EXIT_HOLDS;
		if (!t) break;
		bool chosen = ++number == x->only || !x->only;
		chosen = chosen && goes_on(x);
		if (chosen)
			code = predict_trace(x, t, history_reader_format(r),
			                     number, predict_now() - begun);
		trace_free(t);
		if (code != EXIT_HOLDS) return code;
		if (x->only ? number == x->only : !chosen) return EXIT_HOLDS;
	}
	if (d->errors) return EXIT_INPUT;
	if (number && !x->only) return EXIT_HOLDS;
	say_no_history(x->path, number, x->only);
	return EXIT_INPUT;
}

static int predict_input(struct predicting *x, const char *path)
{
	struct diags d = { 0 };
	int code = EXIT_INPUT;
	x->path = path;
	struct history_reader *r = history_reader_open(path, &x->reader, &d);
	if (r) code = predict_histories(x, r, &d);
	history_reader_close(r);
	progress_end(&x->progress);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	return code;
}

static int predict_inputs(struct predicting *x)
{
	int code = EXIT_HOLDS;
	for (size_t i = 0; i < x->line->operand_count; i++) {
		code = predict_input(x, x->line->operands[i]);
		if (code != EXIT_HOLDS || x->failed || x->summary.stopped)
			break;
	}
	return code;
}

/* ---- from runs of a program ---- */

/* A run that met a false assumption is no history. */
static void leave_out(struct predicting *x, uint64_t seed)
{
	struct text line = { 0 };
	if (!x->quiet && !x->json) {
		text_string(&line, text_get(&x->first_line));
		text_clear(&x->first_line);
		text_format(&line, "%s, seed %" PRIu64 ": left out: the run "
		                   "meets a false assumption\n",
		            x->program_path, seed);
		predict_put(x, &line);
	}
	x->summary.left_out++;
	text_free(&line);
}

static int predict_recorded(struct predicting *x, uint64_t number,
                            double begun)
{
	struct predict_case c = { .format = FORMAT_COUNT, .history = number,
		                  .seed = x->seed + number - 1 };
	struct history *h = runner_history(predict_runner(x));
	struct trace *t = trace_of_history(h, x->program_path);
	t->program = x->program_path;
	c.observed = t;
	c.read_seconds = predict_now() - begun;
	int code = predict_from(x, &c);
	trace_free(t);
	history_free(h);
	return code;
}

/* Run number i, from 1, as `isoscope record` would have it. */
static int predict_run(struct predicting *x, uint64_t i)
{
	double begun = predict_now();
	uint64_t seed = x->seed + i - 1;
	struct runner *r = predict_runner(x);
	switch (record_serial(r, seed)) {
	case RUN_COMPLETE: return predict_recorded(x, i, begun);
	case RUN_PRUNED: leave_out(x, seed); return EXIT_HOLDS;
	case RUN_INTERRUPTED:
		x->summary.stopped = check_clock_reason(x->clock);
		if (!x->summary.stopped)
			x->summary.stopped = "a limit was reached";
		return EXIT_HOLDS;
	case RUN_TOO_LARGE: break;
	}
	say("%s: a run has %s", x->program_path, runner_problem(r));
	return EXIT_INCONCLUSIVE;
}

static int predict_program(struct predicting *x)
{
	static const struct trace nothing;
	x->path = x->program_path;
	if (!predict_level(x, &nothing)) return EXIT_USAGE;
	for (uint64_t i = 1; i <= x->runs && goes_on(x); i++) {
		int code = predict_run(x, i);
		if (code != EXIT_HOLDS) return code;
		if (x->summary.stopped) break;
	}
	return EXIT_HOLDS;
}

/* ---- the result ---- */

static bool write_picture(const struct predicting *x)
{
	if (!pictures_wanted(x->line)) return true;
	if (x->picture.length) return pictures_write(x->line, &x->picture);
	say("nothing is predicted, so nothing was drawn");
	return true;
}

static void write_several(struct predicting *x, struct text *t)
{
	if (x->quiet) {
		report_predict_summary_verdict(t, &x->style, &x->summary);
		return;
	}
	if (x->first_line.length)
		text_string(t, text_get(&x->first_line));
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
	if (x->json) return;
	m->seconds = predict_now() - x->begun;
	if (m->histories != 1 || m->stopped || m->left_out) {
		write_several(x, &t);
	} else {
		text_string(&t, text_get(&x->report));
		text_string(&t, text_get(&x->costs));
	}
	predict_put(x, &t);
	text_free(&t);
}

static int finish(struct predicting *x)
{
	static const int codes[] = {
		[CHECK_HOLDS] = EXIT_HOLDS,
		[CHECK_VIOLATED] = EXIT_VIOLATED,
		[CHECK_UNDECIDED] = EXIT_INCONCLUSIVE,
	};
	write_result(x);
	if (!write_picture(x) || x->failed) return EXIT_INTERNAL;
	return codes[predict_summary_verdict(&x->summary)];
}

static void free_all(struct predicting *x)
{
	runner_free(x->runner);
	check_clock_free(x->clock);
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
	signals_catch();
	x->begun = predict_now();
	x->limits.stop = on_tick;
	x->limits.stop_data = x;
	x->clock = check_clock_new(&x->limits);
	if (path && !(x->histories = output_open(path))) return EXIT_USAGE;
	int code = x->recording ? predict_program(x) : predict_inputs(x);
	if (code == EXIT_HOLDS) code = finish(x);
	if (!output_close(x->histories, path)) code = EXIT_INTERNAL;
	return code;
}

static bool read_program(struct predicting *x)
{
	struct diags d = { 0 };
	if (!x->program_path) return true;
	x->program = load_program(x->program_path, &d);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	return x->program;
}

int predict_main(const struct command_line *c)
{
	struct predicting x = { .line = c };
	if (!predict_settings(&x)) return EXIT_USAGE;
	int code = read_program(&x) ? predict_all(&x) : EXIT_INPUT;
	free_all(&x);
	return code;
}
