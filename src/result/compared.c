#include "result/compared.h"

#include <assert.h>
#include <math.h>

#include "predict/compare.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/predicted.h"

const char *compare_way_name(enum compare_way w)
{
	static const char *const names[] = {
		[BY_PREDICTION] = "prediction",
		[BY_RUNS] = "random runs",
		[BY_EXPLORATION] = "exploration",
	};
	return names[w];
}

const struct compare_reach *compare_reach_of(const struct comparison *c,
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

const char *compare_end_words(enum stop_reason end)
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
		if (compare_reach_of(c, w)->end == end) last = w;
	for (w = 0; w < COMPARE_WAYS; w++) {
		if (compare_reach_of(c, w)->end != end) continue;
		bool first = *before == ';';
		text_string(t, w == last && !first ? " and " : before);
		text_string(t, compare_way_name(w));
		before = ", ";
	}
	if (last < COMPARE_WAYS)
		text_format(t, " ended early: %s", compare_end_words(end));
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
	name_level_as(t, l, comparison_options(c)->predict.as);
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
	result_text(r, to, "encoding",
	            p->encoding == ENCODING_EXACT ? "exact" : "approx");
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
	a->state = any_violated(c, slot) ? ASSERTION_FAILS : ASSERTION_OPEN;
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++)
		result_flag(r, &a->members, names[w],
		            comparison_violated(c, w, slot));
}

struct result *result_of_comparison(const struct comparison *c)
{
	struct result *r = result_new(comparison_program(c),
	                              comparison_options(c)->predict.level);
	struct text words = { 0 };
	r->comparison = c;
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
	text_free(&words);
	return r;
}
