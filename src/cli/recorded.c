#include "cli/recorded.h"

#include <assert.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reports.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "isoscope.h"
#include "report/report.h"
#include "result/numbers.h"
#include "result/result.h"

bool histories_settings(struct histories *h, struct inputs_options *in,
                        const struct command_line *c)
{
	const char *format = c->value[OPTION_FORMAT];
	in->paths = c->operands;
	in->count = c->operand_count;
	in->reader.format = format ? format_from_word(format) : FORMAT_COUNT;
	in->reader.option = "--format";
	in->reader.unknown_is_initial = c->value[OPTION_UNKNOWN];
	h->line = c;
	h->to = outputs_result_stream(c);
	h->progress = output_progress(c);
	return setting_count(c, OPTION_HISTORY, &in->only) &&
	       setting_seconds(c, OPTION_TIMEOUT, &in->seconds) &&
	       setting_memory(c, OPTION_MEMORY, &in->memory);
}

static void show_progress(struct histories *h, const char *path, uint64_t done)
{
	double seconds = seconds_now() - h->begun;
	assert(seconds >= 0 && path);
	if (!progress_due(&h->progress, seconds)) return;
	struct text line = { 0 };
	text_format(&line, "%s %s: ", h->doing, path);
	if (done) {
		number_plural(&line, done, "history", "histories");
		text_string(&line, ", ");
	}
	number_seconds(&line, seconds);
	progress_say(&h->progress, seconds, text_get(&line));
	text_free(&line);
}

static bool on_tick(void *data, const char *path, uint64_t done)
{
	show_progress(data, path, done);
	return atomic_load(signals_flag());
}

void histories_begin(struct histories *h, struct inputs_options *in)
{
	assert(h->to && h->doing && !in->tick);
	signals_catch();
	h->begun = seconds_now();
	in->tick = on_tick;
	in->tick_data = h;
}

void histories_put(struct histories *h, const struct text *t)
{
	assert(h->to);
	progress_end(&h->progress);
	if (!output_text(h->to, "-", t)) h->failed = true;
}

void histories_put_json(struct histories *h, const struct result *r)
{
	struct text line = { 0 };
	report_json(&line, r, iso_version());
	histories_put(h, &line);
	text_free(&line);
}

void histories_keep(struct histories *h, struct result *r)
{
	reports_complete(h->line, r);
	if (!reports_wanted(h->line)) return;
	if (!h->count++ || r->verdict != VERDICT_HOLDS)
		reports_keep(&h->kept, r);
}

/* The one about all of them comes first. */
bool histories_report(struct histories *h, struct result *all)
{
	struct kept_results results = { .left_out = h->kept.left_out };
	bool wanted = reports_wanted(h->line);
	if (wanted && all) {
		reports_complete(h->line, all);
		reports_keep(&results, all);
	}
	text_string(&results.json, text_get(&h->kept.json));
	text_free(&h->kept.json);
	bool some = results.json.length > 0;
	if (wanted && some) return reports_write(h->line, &results);
	text_free(&results.json);
	return true;
}
