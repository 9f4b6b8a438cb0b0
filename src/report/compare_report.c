#include "report/compare_report.h"

#include "predict/compare.h"
#include "report/example.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/names.h"
#include "vm/program.h"

enum {
	LABEL_WIDTH = 13, /* of rows and counts */
	CELL_WIDTH = 16,
	COUNT_WIDTH = 8
};

static const char *const way_names[COMPARE_WAYS] = {
	[BY_PREDICTION] = "prediction",
	[BY_RUNS] = "random runs",
	[BY_EXPLORATION] = "exploration",
};

static const struct compare_reach *reach_of(const struct comparison *c,
                                            enum compare_way w)
{
	const struct compare_stats *s = comparison_stats(c);
	const struct compare_reach *const all[COMPARE_WAYS] = {
		[BY_PREDICTION] = &s->prediction,
		[BY_RUNS] = &s->random,
		[BY_EXPLORATION] = &s->exploration,
	};
	return all[w];
}

static const char *end_words(enum stop_reason end)
{
	return end == STOP_INTERRUPTED ? "it was interrupted" : stop_text(end);
}

static bool any_violated(const struct comparison *c, uint32_t slot)
{
	bool violated = false;
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++)
		violated |= comparison_violated(c, w, slot);
	return violated;
}

/* Assertions are listed; run-time errors only when they happen. */
static bool is_listed(const struct comparison *c, uint32_t slot)
{
	const struct program *p = comparison_program(c);
	return slot < program_assertion_count(p)
	               ? program_assertion_met(p, slot)
	               : any_violated(c, slot);
}

/* ---- the verdict ---- */

/* "12 of at least 40 unserializable histories" */
static void share(struct text *t, uint64_t n, uint64_t of, bool least,
                  const char *one, const char *many)
{
	style_count(t, n);
	text_string(t, least ? " of at least " : " of ");
	style_plural(t, of, one, many);
}

/* "prediction reached 12 of 40 unserializable histories and 2 of 3 violated
 * assertions" */
static void name_reached(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	uint64_t histories = comparison_unserializable(c);
	uint64_t slots = comparison_violated_slots(c);
	bool least = s->exploration.end != STOP_NONE;
	text_string(t, "prediction reached ");
	if (histories)
		share(t, s->prediction.unserializable, histories, least,
		      "unserializable history", "unserializable histories");
	if (histories && slots) text_string(t, " and ");
	if (slots)
		share(t, s->prediction.slots, slots, least,
		      "violated assertion", "violated assertions");
}

/* "; prediction and exploration ended early: the time limit was reached" */
static void name_ends_with(struct text *t, const struct comparison *c,
                           enum stop_reason end)
{
	enum compare_way last = COMPARE_WAYS, w;
	const char *before = "; ";
	for (w = 0; w < COMPARE_WAYS; w++)
		if (reach_of(c, w)->end == end) last = w;
	for (w = 0; w < COMPARE_WAYS; w++) {
		if (reach_of(c, w)->end != end) continue;
		bool first = *before == ';';
		text_string(t, w == last && !first ? " and " : before);
		text_string(t, way_names[w]);
		before = ", ";
	}
	if (last < COMPARE_WAYS)
		text_format(t, " ended early: %s", end_words(end));
}

static void name_ends(struct text *t, const struct comparison *c)
{
	static const enum stop_reason order[] = { STOP_TIME, STOP_MEMORY,
		                                  STOP_HISTORIES,
		                                  STOP_INTERRUPTED,
		                                  STOP_TOO_LARGE };
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		name_ends_with(t, c, order[i]);
}

/* What stands behind the verdict's word and colon. */
static void name_reason(struct text *t, const struct comparison *c)
{
	enum level l = comparison_options(c)->predict.level;
	switch (comparison_verdict(c)) {
	case VERDICT_VIOLATED: name_reached(t, c); break;
	case VERDICT_HOLDS:
		text_string(t, "there is no unserializable history and no "
		               "violated assertion");
		break;
	default:
		text_string(t, "no unserializable history and no violated "
		               "assertion was found");
	}
	text_string(t, " under ");
	name_level(t, l);
	name_ends(t, c);
}

void report_compare_verdict(struct text *t, const struct style *s,
                            const struct comparison *c)
{
	style_verdict(t, s, comparison_verdict(c));
	text_string(t, ": ");
	name_reason(t, c);
	text_char(t, '\n');
}

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
	style_count(&words, n);
	print_cell(t, text_get(&words));
	text_free(&words);
}

static void print_way(struct text *t, const struct style *s,
                      const struct comparison *c, enum compare_way w)
{
	const struct compare_reach *r = reach_of(c, w);
	struct text seconds = { 0 };
	text_format(t, "  %-*s", LABEL_WIDTH, way_names[w]);
	print_count(t, r->executions);
	print_count(t, r->unserializable);
	print_count(t, r->slots);
	style_seconds(&seconds, r->cpu_seconds);
	print_cell(t, text_get(&seconds));
	text_free(&seconds);
	if (r->end != STOP_NONE) {
		text_string(t, "  ");
		style_words(t, s, STYLE_YELLOW, end_words(r->end));
	}
	text_char(t, '\n');
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
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++)
		print_way(t, s, c, w);
}

/* ---- violated assertions, and who found them ---- */

static void print_finders(struct text *t, const struct comparison *c,
                          uint32_t slot)
{
	const char *before = "    by ";
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		if (!comparison_violated(c, w, slot)) continue;
		text_string(t, before);
		text_string(t, way_names[w]);
		before = ", ";
	}
	text_char(t, '\n');
}

static void print_slot(struct text *t, const struct style *s,
                       const struct comparison *c, uint32_t slot)
{
	const struct program *p = comparison_program(c);
	struct text words = { 0 }, place = { 0 };
	name_program_slot(&words, p, slot);
	name_position(&place, name_program_slot_position(p, slot, NULL));
	size_t used = 4 + style_columns(text_get(&place));
	size_t room = s->width > used + 20 ? s->width - used : 20;
	text_string(t, "  ");
	style_fit(t, text_get(&words), room);
	if (place.length) {
		text_string(t, "  ");
		style_words(t, s, STYLE_DIM, text_get(&place));
	}
	text_char(t, '\n');
	print_finders(t, c, slot);
	text_free(&words);
	text_free(&place);
}

static void print_slots(struct text *t, const struct style *s,
                        const struct comparison *c)
{
	if (!comparison_violated_slots(c)) return;
	text_string(t, "\nviolated\n");
	for (uint32_t i = 0; i < comparison_slot_count(c); i++)
		if (any_violated(c, i)) print_slot(t, s, c, i);
}

/* ---- traces and predictions ---- */

static void begin_number(struct text *t, const char *label, uint64_t n)
{
	struct text words = { 0 };
	style_count(&words, n);
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
		style_plural(t, s->recorded, "recorded run", "recorded runs");
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
		style_count(t, s->validated_diverged);
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
	            o->boundary == BOUNDARY_STRICT ? "strict" : "relaxed",
	            o->encoding == ENCODING_EXACT ? "exact" : "approx");
}

static void print_time(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	text_format(t, "%-*s", LABEL_WIDTH, "CPU time");
	style_seconds(t, s->recording_seconds);
	text_string(t, " recording, ");
	style_seconds(t, s->predicting_seconds);
	text_string(t, " predicting, ");
	style_seconds(t, s->replaying_seconds);
	text_string(t, " replaying\n");
}

void report_compare(struct text *t, const struct style *s,
                    const struct comparison *c)
{
	report_compare_verdict(t, s, c);
	print_table(t, s, c);
	print_slots(t, s, c);
	text_char(t, '\n');
	print_traces(t, c);
	print_predictions(t, c);
	print_options(t, c);
	print_time(t, c);
}

/* ---- JSON ---- */

static void member_seconds(struct text *t, const char *name, double seconds)
{
	text_char(t, ',');
	json_name(t, name);
	text_format(t, "%.6f", seconds);
}

static void way_json(struct text *t, const char *name,
                     const struct compare_reach *r)
{
	text_char(t, ',');
	json_name(t, name);
	text_char(t, '{');
	json_count(t, "executions", r->executions);
	json_member_count(t, "unserializable", r->unserializable);
	json_member_count(t, "confirmed", r->confirmed);
	json_member_count(t, "violated", r->slots);
	json_member_bool(t, "complete", r->end == STOP_NONE);
	json_member_text(t, "stop", stop_word(r->end));
	member_seconds(t, "cpu_seconds", r->cpu_seconds);
}

static void ways_json(struct text *t, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	way_json(t, "prediction", &s->prediction);
	member_seconds(t, "recording_seconds", s->recording_seconds);
	member_seconds(t, "predicting_seconds", s->predicting_seconds);
	member_seconds(t, "replaying_seconds", s->replaying_seconds);
	text_char(t, '}');
	way_json(t, "random", &s->random);
	text_char(t, '}');
	way_json(t, "exploration", &s->exploration);
	json_member_count(t, "histories", s->histories);
	text_char(t, '}');
}

static void traces_json(struct text *t, const struct compare_stats *s)
{
	text_string(t, ",\"traces\":{");
	json_count(t, "distinct", s->traces);
	json_member_bool(t, "all", s->all_traces);
	json_member_count(t, "recorded", s->recorded);
	json_member_count(t, "predicted", s->predicted);
	json_member_count(t, "none", s->unpredicted);
	json_member_count(t, "unknown", s->unknown);
	text_string(t, "},\"predictions\":{");
	json_count(t, "replayed", s->predictions);
	json_member_count(t, "validated", s->validated);
	json_member_count(t, "diverged", s->diverged);
	json_member_count(t, "validated_diverged", s->validated_diverged);
	json_member_count(t, "false", s->false_predictions);
	json_member_count(t, "pruned", s->pruned);
	text_char(t, '}');
}

static void slots_json(struct text *t, const struct comparison *c)
{
	static const char *const names[COMPARE_WAYS] = {
		[BY_PREDICTION] = "by_prediction",
		[BY_RUNS] = "by_random",
		[BY_EXPLORATION] = "by_exploration",
	};
	const char *begin = "{";
	text_string(t, ",\"assertions\":[");
	for (uint32_t i = 0; i < comparison_slot_count(c); i++) {
		struct example x = { .program = comparison_program(c),
			             .slot = i };
		if (!is_listed(c, i)) continue;
		text_string(t, begin);
		begin = ",{";
		report_slot_json(t, &x);
		for (enum compare_way w = 0; w < COMPARE_WAYS; w++)
			json_member_bool(t, names[w],
			                 comparison_violated(c, w, i));
		text_char(t, '}');
	}
	text_char(t, ']');
}

void report_compare_json(struct text *t, const struct comparison *c,
                         const char *version)
{
	const struct compare_options *o = comparison_options(c);
	const struct predict_options *p = &o->predict;
	struct text words = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	json_member_text(t, "program", program_path(comparison_program(c)));
	json_member_text(t, "level", level_word(p->level));
	json_member_text(t, "boundary",
	                 p->boundary == BOUNDARY_STRICT ? "strict" : "relaxed");
	json_member_text(t, "encoding",
	                 p->encoding == ENCODING_EXACT ? "exact" : "approx");
	json_member_count(t, "seed", o->seed);
	json_member_text(t, "verdict", verdict_word(comparison_verdict(c)));
	name_reason(&words, c);
	json_member_taken(t, "reason", &words);
	json_member_bool(t, "complete", comparison_complete(c));
	json_member_count(t, "unserializable", comparison_unserializable(c));
	json_member_count(t, "violated", comparison_violated_slots(c));
	ways_json(t, c);
	traces_json(t, comparison_stats(c));
	slots_json(t, c);
	text_string(t, "}\n");
	text_free(&words);
}
