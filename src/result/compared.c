#include "result/compared.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "predict/compare.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/predicted.h"

static const char *way_name(enum compare_way w)
{
	static const char *const names[] = {
		[BY_PREDICTION] = "prediction",
		[BY_RUNS] = "random runs",
		[BY_EXPLORATION] = "exploration",
	};
	return names[w];
}

static const struct compare_reach *reach_of(const struct comparison *c,
                                            enum compare_way w)
{
	const struct compare_stats *s = comparison_stats(c);
	const struct compare_reach *const all[COMPARE_WAYS] = {
		[BY_PREDICTION] = &s->prediction,
		[BY_RUNS] = &s->random,
		[BY_EXPLORATION] = &s->exploration,
	};
	assert(w < COMPARE_WAYS);
	return all[w];
}

static const char *end_words(enum stop_reason end)
{
	return end == STOP_INTERRUPTED ? "it was interrupted" : stop_text(end);
}

static bool any_violated(const struct comparison *c, uint32_t slot)
{
	bool violated = false;
	assert(slot < comparison_slot_count(c));
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

/* "there are at least 40 unserializable histories and 3 violated assertions":
 * of the program. How much of that each way reaches is no matter of the
 * verdict. */
static void name_violated(struct text *t, const struct comparison *c)
{
	uint64_t histories = comparison_unserializable(c);
	uint64_t slots = comparison_violated_slots(c);
	bool least = comparison_stats(c)->exploration.end != STOP_NONE;
	bool one = (histories ? histories : slots) == 1;
	assert(histories || slots);
	text_string(t, one ? "there is " : "there are ");
	if (least) text_string(t, "at least ");
	if (histories)
		number_plural(t, histories, "unserializable history",
		              "unserializable histories");
	if (histories && slots) text_string(t, " and ");
	if (slots)
		number_plural(t, slots, "violated assertion",
		              "violated assertions");
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
		text_string(t, way_name(w));
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
	case VERDICT_VIOLATED: name_violated(t, c); break;
	case VERDICT_HOLDS:
		text_string(t, "there is no unserializable history and no "
		               "violated assertion");
		break;
	default:
		text_string(t, "no unserializable history and no violated "
		               "assertion was found");
	}
	text_string(t, " under ");
	name_program_level(t, comparison_program(c), l,
	                   comparison_options(c)->predict.as);
	name_ends(t, c);
}

/* ---- settings and findings ---- */

static void add_settings(struct result *r, const struct comparison *c)
{
	const struct compare_options *o = comparison_options(c);
	const struct predict_options *p = &o->predict;
	struct result_values *to = &r->settings;
	result_text(r, to, "program", program_path(r->program));
	result_level(r, p->level, p->as);
	result_text(r, to, "boundary", predict_boundary_word(p->boundary));
	result_text(r, to, "encoding", predict_encoding_word(p->encoding));
	result_count(r, to, "seed", o->seed);
}

/* Of all unserializable histories; NAN where that is open. */
static double share_of(const struct comparison *c,
                       const struct compare_reach *reach)
{
	uint64_t all = comparison_unserializable(c);
	if (!all || comparison_stats(c)->exploration.end != STOP_NONE)
		return NAN;
	return (double)reach->unserializable / (double)all;
}

static struct result_values *add_way(struct result *r, const char *name,
                                     const struct comparison *c,
                                     const struct compare_reach *reach)
{
	assert(reach->confirmed <= reach->unserializable);
	struct result_values *to = result_group(r, &r->findings, name);
	result_count(r, to, "executions", reach->executions);
	result_count(r, to, "unserializable", reach->unserializable);
	result_count(r, to, "confirmed", reach->confirmed);
	result_number(r, to, "share", share_of(c, reach));
	result_count(r, to, "violated", reach->slots);
	result_flag(r, to, "complete", reach->end == STOP_NONE);
	result_text(r, to, "stop", stop_word(reach->end));
	result_seconds(r, to, "cpu_seconds", reach->cpu_seconds);
	return to;
}

static void add_seeds(struct result *r, struct result_values *random,
                      const struct comparison *c)
{
	uint64_t count;
	const struct compare_seed *seeds = comparison_seeds(c, &count);
	struct result_values *all = result_list(r, random, "seeds");
	assert(count <= comparison_options(c)->seeds);
	for (uint64_t i = 0; i < count; i++) {
		const struct compare_reach *reach = &seeds[i].reach;
		struct result_values *to = result_group(r, all, NULL);
		result_count(r, to, "seed", seeds[i].seed);
		result_count(r, to, "executions", reach->executions);
		result_count(r, to, "unserializable", reach->unserializable);
		result_number(r, to, "share", share_of(c, reach));
		result_count(r, to, "violated", reach->slots);
	}
}

static void add_ways(struct result *r, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	struct result_values *to = add_way(r, "prediction", c, &s->prediction);
	result_seconds(r, to, "recording_seconds", s->recording_seconds);
	result_seconds(r, to, "predicting_seconds", s->predicting_seconds);
	result_seconds(r, to, "replaying_seconds", s->replaying_seconds);
	to = add_way(r, "random", c, &s->random);
	if (comparison_options(c)->seeds > 1) add_seeds(r, to, c);
	to = add_way(r, "exploration", c, &s->exploration);
	result_count(r, to, "histories", s->histories);
}

static void add_traces(struct result *r, const struct compare_stats *s)
{
	assert(s->predicted + s->unpredicted + s->unknown <= s->traces);
	assert(s->validated <= s->predictions);
	struct result_values *to = result_group(r, &r->findings, "traces");
	result_count(r, to, "distinct", s->traces);
	result_flag(r, to, "all", s->all_traces);
	result_count(r, to, "recorded", s->recorded);
	result_count(r, to, "predicted", s->predicted);
	result_count(r, to, "none", s->unpredicted);
	result_count(r, to, "unknown", s->unknown);
	to = result_group(r, &r->findings, "predictions");
	result_count(r, to, "replayed", s->predictions);
	result_count(r, to, "validated", s->validated);
	result_count(r, to, "diverged", s->diverged);
	result_count(r, to, "validated_diverged", s->validated_diverged);
	result_count(r, to, "false", s->false_predictions);
	result_count(r, to, "pruned", s->pruned);
}

static void add_slot(struct result *r, const struct comparison *c,
                     uint32_t slot)
{
	static const char *const names[COMPARE_WAYS] = {
		[BY_PREDICTION] = "by_prediction",
		[BY_RUNS] = "by_random",
		[BY_EXPLORATION] = "by_exploration",
	};
	if (!is_listed(c, slot)) return;
	struct result_assertion *a = result_assertion(r, slot, NULL);
	a->state = ASSERTION_UNKNOWN; /* those found are listed apart */
	struct text finders = { 0 };
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		bool found = comparison_violated(c, w, slot);
		result_flag(r, &a->members, names[w], found);
		if (!found) continue;
		if (finders.length) text_string(&finders, ", ");
		text_string(&finders, way_name(w));
	}
	if (finders.length) a->found_by = result_words(r, &finders);
	text_free(&finders);
}

/* ---- for people ---- */

enum {
	LABEL_WIDTH = 13, /* of lines; of rows two more, in front */
	CELL_WIDTH = 18,
	COUNT_WIDTH = 8
};

/* "5 (71.4 %)" of all that there are; without a share where that is open. */
static const char *count_words(struct result *r, const struct comparison *c,
                               uint64_t n, uint64_t of)
{
	struct text words = { 0 };
	number_count(&words, n);
	if (of && comparison_stats(c)->exploration.end == STOP_NONE) {
		text_string(&words, " (");
		number_share(&words, n, of);
		text_char(&words, ')');
	}
	const char *kept = result_words(r, &words);
	text_free(&words);
	return kept;
}

static void add_reach(struct result *r, const struct comparison *c,
                      const char *label, const struct compare_reach *reach)
{
	struct text words = { 0 };
	struct result_row *row = result_row(r, label);
	struct result_cell *cell = row->cells;
	cell++->words = count_words(r, c, reach->executions, 0);
	cell++->words = count_words(r, c, reach->unserializable,
	                            comparison_unserializable(c));
	cell++->words =
		count_words(r, c, reach->slots, comparison_violated_slots(c));
	number_seconds(&words, reach->cpu_seconds);
	cell++->words = result_words(r, &words);
	assert(cell == row->cells + r->table->columns);
	if (reach->end != STOP_NONE) row->note = end_words(reach->end);
	text_free(&words);
}

/* Each seed has a part of the random runs. */
static void add_table(struct result *r, const struct comparison *c)
{
	static const char *const heads[] = { "executions", "unserializable",
		                             "assertions", "CPU time" };
	enum { COLUMNS = sizeof heads / sizeof *heads };
	struct text label = { 0 };
	uint64_t count;
	const struct compare_seed *seeds = comparison_seeds(c, &count);
	result_table(r, COLUMNS, CELL_WIDTH, 2 + LABEL_WIDTH);
	r->table_leads = true;
	struct result_row *head = result_row(r, "");
	for (int i = 0; i < COLUMNS; i++)
		head->cells[i] = (struct result_cell){ heads[i], MARK_DIM };
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		text_clear(&label);
		text_format(&label, "  %s", way_name(w));
		add_reach(r, c, text_get(&label), reach_of(c, w));
		if (w != BY_RUNS || comparison_options(c)->seeds <= 1) continue;
		for (uint64_t i = 0; i < count; i++) {
			text_clear(&label);
			text_format(&label, "    seed %" PRIu64, seeds[i].seed);
			add_reach(r, c, text_get(&label), &seeds[i].reach);
		}
	}
	text_free(&label);
}

static void line(struct result *r, const char *label, uint64_t n,
                 const char *words)
{
	struct text t = { 0 };
	text_string(&t, words);
	result_line(r, label, n, &t);
	text_free(&t);
}

static void add_trace_lines(struct result *r, const struct compare_stats *s)
{
	struct text words = { 0 };
	if (s->all_traces) {
		text_string(&words, "are all serial ones that there are");
	} else if (s->recorded) {
		text_string(&words, "distinct serial ones, in ");
		number_plural(&words, s->recorded, "recorded run",
		              "recorded runs");
	} else {
		text_string(&words,
		            "distinct serial ones; there may be others");
	}
	result_line(r, "traces", s->traces, &words);
	line(r, "predicted", s->predicted, "of them have a prediction");
	line(r, "none", s->unpredicted, "of them have none, which is proved");
	if (s->unknown)
		line(r, "unknown", s->unknown,
		     "were not decided: a limit came first");
	text_free(&words);
}

static void add_prediction_lines(struct result *r,
                                 const struct compare_stats *s)
{
	struct text words = { 0 };
	line(r, "predictions", s->predictions, "were run along the program");
	if (!s->predictions) return;
	text_string(&words, "led to an unserializable execution");
	if (s->validated_diverged) {
		text_string(&words, ", ");
		number_count(&words, s->validated_diverged);
		text_string(&words, " of them to another one than predicted");
	}
	result_line(r, "validated", s->validated, &words);
	line(r, "diverged", s->diverged, "could not be followed to the end");
	line(r, "false", s->false_predictions,
	     "led to a serializable execution");
	if (s->pruned) line(r, "pruned", s->pruned, "met a false assumption");
	text_free(&words);
}

static void add_lines(struct result *r, const struct comparison *c)
{
	const struct compare_stats *s = comparison_stats(c);
	const struct predict_options *o = &comparison_options(c)->predict;
	struct text words = { 0 };
	r->label_width = LABEL_WIDTH;
	r->number_width = COUNT_WIDTH;
	add_trace_lines(r, s);
	add_prediction_lines(r, s);
	text_format(&words, "%s, %s", predict_boundary_word(o->boundary),
	            predict_encoding_word(o->encoding));
	result_line_words(r, "boundary", &words);
	number_seconds(&words, s->recording_seconds);
	text_string(&words, " recording, ");
	number_seconds(&words, s->predicting_seconds);
	text_string(&words, " predicting, ");
	number_seconds(&words, s->replaying_seconds);
	text_string(&words, " replaying");
	result_line_words(r, "CPU time", &words);
	text_free(&words);
}

/* ---- the result ---- */

struct result *result_of_comparison(const struct comparison *c)
{
	struct result *r = result_new(comparison_program(c),
	                              comparison_options(c)->predict.level);
	struct text words = { 0 };
	r->verdict = comparison_verdict(c);
	name_reason(&words, c);
	r->reason = result_words(r, &words);
	add_settings(r, c);
	result_flag(r, &r->findings, "complete", comparison_complete(c));
	result_count(r, &r->findings, "unserializable",
	             comparison_unserializable(c));
	result_count(r, &r->findings, "violated", comparison_violated_slots(c));
	add_ways(r, c);
	add_traces(r, comparison_stats(c));
	r->has_assertions = true;
	for (uint32_t i = 0; i < comparison_slot_count(c); i++)
		add_slot(r, c, i);
	add_table(r, c);
	add_lines(r, c);
	text_free(&words);
	return r;
}
