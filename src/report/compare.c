/* How much prediction, random runs and exploration have found, in words. */
#include <assert.h>
#include <inttypes.h>

#include "predict/compare.h"
#include "report/report.h"
#include "result/compared.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/predicted.h"

enum {
	LABEL_WIDTH = 13, /* of rows and counts */
	CELL_WIDTH = 18,
	COUNT_WIDTH = 8
};

/* ---- the table ---- */

/* At the right of its column. */
static void print_cell(struct text *t, const char *words)
{
	size_t columns = style_columns(words);
	if (columns < CELL_WIDTH) text_pad(t, ' ', CELL_WIDTH - columns);
	text_string(t, words);
}

static void print_count(struct text *t, uint64_t n)
{
	struct text words = { 0 };
	number_count(&words, n);
	print_cell(t, text_get(&words));
	text_free(&words);
}

/* "5 (71.4 %)" of all that there are; without a share where that is open. */
static void print_share(struct text *t, const struct comparison *c, uint64_t n,
                        uint64_t of)
{
	struct text words = { 0 };
	number_count(&words, n);
	if (of && comparison_stats(c)->exploration.end == STOP_NONE) {
		text_string(&words, " (");
		number_share(&words, n, of);
		text_char(&words, ')');
	}
	print_cell(t, text_get(&words));
	text_free(&words);
}

static void print_reach(struct text *t, const struct style *s,
                        const struct comparison *c, const char *label,
                        const struct compare_reach *r)
{
	struct text seconds = { 0 };
	text_format(t, "  %-*s", LABEL_WIDTH, label);
	print_count(t, r->executions);
	print_share(t, c, r->unserializable, comparison_unserializable(c));
	print_share(t, c, r->slots, comparison_violated_slots(c));
	number_seconds(&seconds, r->cpu_seconds);
	print_cell(t, text_get(&seconds));
	text_free(&seconds);
	if (r->end != STOP_NONE) {
		text_string(t, "  ");
		style_words(t, s, STYLE_YELLOW, compare_end_words(r->end));
	}
	text_char(t, '\n');
}

/* Each seed's part of the random runs. */
static void print_seeds(struct text *t, const struct style *s,
                        const struct comparison *c)
{
	uint64_t count;
	const struct compare_seed *seeds = comparison_seeds(c, &count);
	struct text label = { 0 };
	for (uint64_t i = 0; i < count; i++) {
		text_clear(&label);
		text_format(&label, "  seed %" PRIu64, seeds[i].seed);
		print_reach(t, s, c, text_get(&label), &seeds[i].reach);
	}
	text_free(&label);
}

static void print_table(struct text *t, const struct style *s,
                        const struct comparison *c)
{
	static const char *const heads[] = { "executions", "unserializable",
		                             "assertions", "CPU time" };
	text_char(t, '\n');
	style_begin(t, s, STYLE_DIM);
	text_format(t, "  %-*s", LABEL_WIDTH, "");
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		print_cell(t, heads[i]);
	style_end(t, s);
	text_char(t, '\n');
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		print_reach(t, s, c, compare_way_name(w),
		            compare_reach_of(c, w));
		if (w == BY_RUNS && comparison_options(c)->seeds > 1)
			print_seeds(t, s, c);
	}
}

/* ---- violated assertions, and who found them ---- */

static void print_finders(struct text *t, const struct comparison *c,
                          uint32_t slot)
{
	assert(slot < comparison_slot_count(c));
	const char *before = "    by ";
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		if (!comparison_violated(c, w, slot)) continue;
		text_string(t, before);
		text_string(t, compare_way_name(w));
		before = ", ";
	}
	text_char(t, '\n');
}

static void print_slot(struct text *t, const struct style *s,
                       const struct comparison *c,
                       const struct result_assertion *a)
{
	struct text place = { 0 };
	name_position(&place, a->at);
	size_t used = 4 + style_columns(text_get(&place));
	size_t room = s->width > used + 20 ? s->width - used : 20;
	text_string(t, "  ");
	style_fit(t, a->text, room);
	if (place.length) {
		text_string(t, "  ");
		style_words(t, s, STYLE_DIM, text_get(&place));
	}
	text_char(t, '\n');
	print_finders(t, c, a->slot);
	text_free(&place);
}

static void print_slots(struct text *t, const struct style *s,
                        const struct comparison *c, const struct result *r)
{
	if (!comparison_violated_slots(c)) return;
	text_string(t, "\nviolated\n");
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].state == ASSERTION_FAILS)
			print_slot(t, s, c, &r->assertions[i]);
}

/* ---- traces and predictions ---- */

static void begin_number(struct text *t, const char *label, uint64_t n)
{
	struct text words = { 0 };
	number_count(&words, n);
	text_format(t, "%-*s%*s  ", LABEL_WIDTH, label, COUNT_WIDTH,
	            text_get(&words));
	text_free(&words);
}

static void print_traces(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	begin_number(t, "traces", s->traces);
	if (s->all_traces) {
		text_string(t, "are all serial ones that there are\n");
	} else if (s->recorded) {
		text_string(t, "distinct serial ones, in ");
		number_plural(t, s->recorded, "recorded run", "recorded runs");
		text_char(t, '\n');
	} else {
		text_string(t, "distinct serial ones; there may be others\n");
	}
	begin_number(t, "predicted", s->predicted);
	text_string(t, "of them have a prediction\n");
	begin_number(t, "none", s->unpredicted);
	text_string(t, "of them have none, which is proved\n");
	if (!s->unknown) return;
	begin_number(t, "unknown", s->unknown);
	text_string(t, "were not decided: a limit came first\n");
}

static void print_predictions(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	begin_number(t, "predictions", s->predictions);
	text_string(t, "were run along the program\n");
	if (!s->predictions) return;
	begin_number(t, "validated", s->validated);
	text_string(t, "led to an unserializable execution");
	if (s->validated_diverged) {
		text_string(t, ", ");
		number_count(t, s->validated_diverged);
		text_string(t, " of them to another one than predicted");
	}
	text_char(t, '\n');
	begin_number(t, "diverged", s->diverged);
	text_string(t, "could not be followed to the end\n");
	begin_number(t, "false", s->false_predictions);
	text_string(t, "led to a serializable execution\n");
	if (!s->pruned) return;
	begin_number(t, "pruned", s->pruned);
	text_string(t, "met a false assumption\n");
}

static void print_options(struct text *t, const struct comparison *c)
{
	const struct predict_options *o = &comparison_options(c)->predict;
	text_format(t, "%-*s%s, %s\n", LABEL_WIDTH, "boundary",
	            predict_boundary_word(o->boundary),
	            o->encoding == ENCODING_EXACT ? "exact" : "approx");
}

static void print_time(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	text_format(t, "%-*s", LABEL_WIDTH, "CPU time");
	number_seconds(t, s->recording_seconds);
	text_string(t, " recording, ");
	number_seconds(t, s->predicting_seconds);
	text_string(t, " predicting, ");
	number_seconds(t, s->replaying_seconds);
	text_string(t, " replaying\n");
}

void report_compare(struct text *t, const struct style *s,
                    const struct result *r)
{
	const struct comparison *c = r->comparison;
	report_verdict(t, s, r);
	print_table(t, s, c);
	print_slots(t, s, c, r);
	text_char(t, '\n');
	print_traces(t, c);
	print_predictions(t, c);
	print_options(t, c);
	print_time(t, c);
}
