#include "cli/histories.h"

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "history/trace.h"

bool histories_settings(struct histories *h, const struct command_line *c)
{
	const char *format = c->value[OPTION_FORMAT];
	h->line = c;
	h->reader.format = format ? format_from_word(format) : FORMAT_COUNT;
	h->reader.option = "--format";
	h->reader.unknown_is_initial = c->value[OPTION_UNKNOWN];
	h->to = outputs_result_stream(c);
	h->progress = output_progress(c);
	return setting_count(c, OPTION_HISTORY, &h->only) &&
	       setting_seconds(c, OPTION_TIMEOUT, &h->limits.seconds) &&
	       setting_memory(c, OPTION_MEMORY, &h->limits.memory);
}

/* ---- limits and progress ---- */

static void show_progress(struct histories *h)
{
	double seconds = seconds_now() - h->begun;
	if (!progress_due(&h->progress, seconds)) return;
	struct text line = { 0 };
	text_format(&line, "%s %s: ", h->doing, h->path);
	if (*h->count) {
		style_plural(&line, *h->count, "history", "histories");
		text_string(&line, ", ");
	}
	style_seconds(&line, seconds);
	progress_say(&h->progress, seconds, text_get(&line));
	text_free(&line);
}

static bool on_tick(void *data)
{
	show_progress(data);
	return atomic_load(signals_flag());
}

void histories_begin(struct histories *h)
{
	signals_catch();
	h->begun = seconds_now();
	h->limits.stop = on_tick;
	h->limits.stop_data = h;
	h->clock = check_clock_new(&h->limits);
}

bool histories_go_on(struct histories *h, bool any)
{
	if (h->failed || h->stopped) return false;
	if (any && check_clock_over(h->clock))
		h->stopped = check_clock_reason(h->clock);
	return !h->stopped;
}

/* ---- inputs ---- */

static int look_at_all(struct histories *h, struct history_reader *r,
                       struct diags *d)
{
	struct observed o = { .format = FORMAT_COUNT };
	for (;;) {
		double begun = seconds_now();
		struct trace *t = history_reader_next(r, d);
		int code = EXIT_HOLDS;
		if (!t) break;
		bool chosen = ++o.number == h->only || !h->only;
		o.trace = t;
		o.format = history_reader_format(r);
		o.read_seconds = seconds_now() - begun;
		if (chosen) code = h->look(h->data, &o);
		trace_free(t);
		if (code != EXIT_HOLDS || h->failed || h->stopped) return code;
		if (o.number == h->only) return EXIT_HOLDS;
	}
	if (d->errors) return EXIT_INPUT;
	if (o.number && !h->only) return EXIT_HOLDS;
	say_no_history(h->path, o.number, h->only);
	return EXIT_INPUT;
}

static int look_at_file(struct histories *h, const char *path)
{
	struct diags d = { 0 };
	int code = EXIT_INPUT;
	h->path = path;
	if (is_client(path, "this command takes recorded histories"))
		return EXIT_INPUT;
	struct history_reader *r = history_reader_open(path, &h->reader, &d);
	if (r) code = look_at_all(h, r, &d);
	history_reader_close(r);
	progress_end(&h->progress);
	say_diagnostics(h->line, &d);
	diags_free(&d);
	return code;
}

int histories_look(struct histories *h)
{
	int code = EXIT_HOLDS;
	for (size_t i = 0; i < h->line->operand_count; i++) {
		code = look_at_file(h, h->line->operands[i]);
		if (code != EXIT_HOLDS || h->failed || h->stopped) break;
	}
	return code;
}

/* ---- results ---- */

void histories_put(struct histories *h, const struct text *t)
{
	progress_end(&h->progress);
	if (!output_text(h->to, "-", t)) h->failed = true;
}

void histories_end(struct histories *h)
{
	check_clock_free(h->clock);
}

int exit_code_of_check(enum check_verdict v)
{
	static const int codes[] = {
		[CHECK_HOLDS] = EXIT_HOLDS,
		[CHECK_VIOLATED] = EXIT_VIOLATED,
		[CHECK_UNDECIDED] = EXIT_INCONCLUSIVE,
	};
	return codes[v];
}
