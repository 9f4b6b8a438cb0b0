#include "result/explored.h"

#include <assert.h>
#include <stddef.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "analyse/symmetry.h"

bool explores_outward(const struct explorer *e)
{
	return explorer_options(e)->algorithm == EXPLORE_OUTWARD;
}

bool explores_classes(const struct explorer *e)
{
	const struct explore_options *o = explorer_options(e);
	return o->algorithm == EXPLORE_ORDERLY && o->symmetry &&
	       !o->symmetry->trivial;
}

/* Were only histories with few stale reads explored (--max-changes)? */
static bool explores_bounded(const struct explorer *e)
{
	const struct explore_options *o = explorer_options(e);
	return o->algorithm == EXPLORE_ORDERLY && o->max_changes < UINT64_MAX;
}

/* ---- the reason ---- */

static void violated_reason(struct text *t, const struct explorer *e)
{
	uint32_t checked = explorer_checked_count(e);
	uint32_t violated = explorer_violated_count(e);
	uint32_t places = explorer_slot_count(e) - explorer_slot_places(e);
	bool robust = explorer_options(e)->robust;
	assert(violated <= checked && (violated || places));
	if (violated && checked == 1)
		text_string(t, robust ? "not robust: some histories are not "
		                        "serializable"
		                      : "the assertion fails");
	else if (violated)
		name_failing(t, violated, checked);
	if (violated && places) text_string(t, ", and ");
	if (places) name_errors(t, places);
	text_string(t, " under ");
}

static void holds_reason(struct text *t, const struct explorer *e)
{
	name_nothing_fails(t, explorer_checked_count(e));
	text_string(t, explorer_stats(e)->histories == 1 ? "the one history"
	                                                 : "every history");
	text_string(t, " under ");
}

static void executions(struct text *t, uint64_t n)
{
	number_plural(t, n, "execution", "executions");
}

/* There is no history. */
static void vacuous_reason(struct text *t, const struct explore_stats *s)
{
	assert(!s->histories);
	text_string(t, "there is no history to judge by");
	if (s->pruned) {
		text_string(t, ": ");
		executions(t, s->pruned);
		text_string(t, s->pruned == 1 ? " makes" : " make");
		text_string(t, " an assumption false");
	}
	if (s->filtered) {
		text_string(t, s->pruned ? ", and the level forbids "
		                         : ": the level forbids ");
		executions(t, s->filtered);
	}
	text_string(t, ", under ");
}

static void inconclusive_reason(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	if (s->stop == STOP_NONE) {
		vacuous_reason(t, s);
		return;
	}
	if (s->stop == STOP_STALE) {
		text_string(t, "no violation in the ");
		number_plural(t, s->histories, "history", "histories");
		text_char(t, ' ');
		name_bound(t, explorer_options(e)->max_changes);
		text_string(t, ", and others were left out, under ");
		return;
	}
	name_stop(t, explorer_program(e), s->stop);
	text_string(t, ", with no violation in the ");
	number_plural(t, s->histories, "history seen under ",
	              "histories seen under ");
}

/* Who reads that something holds shall know what was assumed away. Code in C
 * that was cut short made no assumption false; and what sessions in SQL drop,
 * they do elsewhere. */
static void name_left_out(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct position at;
	if (!s->pruned || !s->histories ||
	    program_is_sql(explorer_program(e)) ||
	    program_bound_met(explorer_program(e), &at))
		return;
	text_string(t, "; left out: ");
	/* Each iteration meets them again. */
	if (explores_outward(e))
		text_string(t, "executions");
	else
		executions(t, s->pruned);
	text_string(t, s->pruned == 1 && !explores_outward(e)
	                       ? " that makes an assumption false"
	                       : " that make an assumption false");
}

static void name_reason(struct text *t, const struct explorer *e)
{
	if (explores_outward(e)) {
		changes_reason(t, e);
		name_left_out(t, e);
		return;
	}
	switch (explorer_verdict(e)) {
	case VERDICT_VIOLATED: violated_reason(t, e); break;
	case VERDICT_HOLDS: holds_reason(t, e); break;
	default: inconclusive_reason(t, e); break;
	}
	name_program_level(t, explorer_program(e), explorer_options(e)->level,
	                   explorer_options(e)->as);
	name_left_out(t, e);
}

/* ---- settings ---- */

static bool begins_class(const struct symmetry *s, uint32_t session)
{
	return s->class_of[session] == session &&
	       symmetry_class_size(s, session) > 1;
}

/* A list of lists of names. */
static void add_interchangeable(struct result *r, const struct symmetry *s)
{
	assert(!s->trivial);
	struct result_values *all =
		result_list(r, &r->settings, "interchangeable");
	for (uint32_t i = 0; i < s->session_count; i++) {
		if (!begins_class(s, i)) continue;
		struct result_values *class = result_list(r, all, NULL);
		for (uint32_t j = i; j < s->session_count; j++)
			if (s->class_of[j] == i)
				result_text(
					r, class, NULL,
					program_session_name(r->program, j));
	}
}

static void add_settings(struct result *r, const struct explorer *e)
{
	const struct explore_options *o = explorer_options(e);
	struct result_values *to = &r->settings;
	result_text(r, to, "program", program_path(r->program));
	result_level(r, o->level, o->as);
	result_text(r, to, "base", level_word(o->base));
	result_text(r, to, "algorithm", explorer_algorithm_word(o->algorithm));
	result_count(r, to, "jobs", o->jobs ? o->jobs : 1);
	if (explores_bounded(e))
		result_count(r, to, "max_changes", o->max_changes);
	if (explores_classes(e)) add_interchangeable(r, o->symmetry);
	if (explores_outward(e)) changes_settings(r, e);
}

/* ---- assertions ---- */

/* May there be other histories of those that were asked for, or are there none
 * to judge by? */
static bool is_open(const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	bool all = s->stop == STOP_NONE || s->stop == STOP_CHANGES;
	return !all || !s->histories;
}

/* "fails in 3 of 12 histories seen so far, for example:" */
static const char *fails_in(struct result *r, const struct explorer *e,
                            uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	bool error = slot >= explorer_slot_places(e);
	struct text t = { 0 };
	assert(v->histories && v->histories <= explorer_stats(e)->histories);
	text_string(&t, error ? "happens in " : "fails in ");
	number_of(&t, v->histories, explorer_stats(e)->histories, "history",
	          "histories");
	if (is_open(e)) text_string(&t, " seen so far");
	if (v->example)
		text_string(&t, v->histories == 1 ? ":" : ", for example:");
	const char *words = result_words(r, &t);
	text_free(&t);
	return words;
}

static void add_assertion(struct result *r, const struct explorer *e,
                          uint32_t slot, enum result_depth depth)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	bool violated = explorer_slot_violated(e, slot);
	bool error = slot >= explorer_slot_places(e);
	struct result_assertion *a = result_assertion(
		r, error ? explorer_slot_error(e) : slot, v->finding);
	assert(violated || !v->example);
	if (error && !v->finding) a->at = explorer_error_place(e, slot);
	a->state = violated     ? ASSERTION_FAILS
	           : is_open(e) ? ASSERTION_OPEN
	                        : ASSERTION_HOLDS;
	a->counted = true;
	a->violations = v->histories;
	/* What is not serializable is counted even where nobody asked. */
	if (violated &&
	    (slot != explorer_slot_robust(e) || explorer_slot_checked(e, slot)))
		a->where = fails_in(r, e, slot);
	if (depth == RESULT_VERDICT || !v->example) return;
	result_example(r, a, v->example, v->finding);
	if (explores_outward(e)) changes_of_example(r, &a->example, e);
}

static void add_assertions(struct result *r, const struct explorer *e,
                           enum result_depth depth)
{
	r->has_assertions = true;
	uint32_t robust = explorer_slot_robust(e);
	r->state_width = sizeof "fails  " - 1;
	for (uint32_t i = 0; i < explorer_slot_error(e); i++)
		if (explorer_slot_checked(e, i) || explorer_slot_violated(e, i))
			add_assertion(r, e, i, depth);
	for (uint32_t i = explorer_slot_places(e); i < explorer_slot_count(e);
	     i++)
		add_assertion(r, e, i, depth);
	if (explorer_slot_checked(e, robust) ||
	    explorer_slot_violated(e, robust))
		add_assertion(r, e, robust, depth);
}

/* ---- statistics ---- */

static void add_stats(struct result *r, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct result_values *to = result_group(r, &r->measures, "stats");
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{ "histories", s->histories },
		{ "end_states", s->end_states },
		{ "filtered", s->filtered },
		{ "pruned", s->pruned },
		{ "blocked", s->blocked },
		{ "explore_calls", s->explore_calls },
		{ "swaps_considered", s->swaps_considered },
		{ "swaps_taken", s->swaps_taken },
		{ "swaps_inconsistent", s->swaps_inconsistent },
		{ "swaps_not_latest", s->swaps_not_latest },
		{ "depth_max", s->depth_max },
		{ "memory_peak", s->memory_peak },
	};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		result_count(r, to, counts[i].name, counts[i].n);
	if (explores_classes(e)) result_count(r, to, "classes", s->classes);
	if (explores_outward(e)) result_count(r, to, "changes", s->changes);
	if (explores_bounded(e)) result_count(r, to, "cut", s->cut);
	if (explorer_serializability_known(e))
		result_count(r, to, "unserializable", s->unserializable);
	if (explorer_options(e)->check_duplicates)
		result_count(r, to, "duplicates", s->duplicates);
	result_seconds(r, to, "seconds", s->seconds);
	result_seconds(r, to, "cpu_seconds", s->cpu_seconds);
}

/* ---- lines ---- */

static void add_count(struct text *t, const char *before, uint64_t n,
                      const char *what)
{
	text_string(t, before);
	number_count(t, n);
	text_string(t, what);
}

static void line_of_histories(struct result *r, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	const struct explore_options *o = explorer_options(e);
	struct text t = { 0 };
	text_format(&t, "under %s", level_word(o->level));
	if (o->algorithm == EXPLORE_DFS)
		text_string(&t, ", repeated ones counted again");
	if (explorer_serializability_known(e))
		add_count(&t, ", ", s->unserializable, " not serializable");
	if (o->check_duplicates)
		add_count(&t, ", ", s->duplicates, " seen before");
	if (s->stop != STOP_NONE) text_format(&t, "; %s", stop_text(s->stop));
	result_line(r, "histories", s->histories, &t);
	text_free(&t);
}

/* "alice, bob and carol", as far as there is room for a line of them. */
static void name_class(struct text *t, const struct explorer *e, uint32_t first)
{
	enum { NAMED = 5 };
	const struct symmetry *s = explorer_options(e)->symmetry;
	uint32_t size = symmetry_class_size(s, first), named = 0;
	assert(size > 1);
	uint32_t most = size > NAMED ? NAMED - 1 : size;
	for (uint32_t i = first; named < most; i++) {
		if (s->class_of[i] != first) continue;
		if (named) text_string(t, named + 1 == size ? " and " : ", ");
		text_string(t, program_session_name(explorer_program(e), i));
		named++;
	}
	if (named == size) return;
	text_string(t, " and ");
	number_count(t, size - named);
	text_string(t, " others");
}

static void lines_of_classes(struct result *r, const struct explorer *e)
{
	const struct symmetry *s = explorer_options(e)->symmetry;
	struct text t = { 0 }, no_number = { 0 };
	assert(explorer_stats(e)->classes <= explorer_stats(e)->histories);
	text_string(&t, "that stand for them: each was explored once");
	result_line(r, "classes", explorer_stats(e)->classes, &t);
	if (explorer_stats(e)->histories == UINT64_MAX) {
		text_string(&t, "there are more histories than 64 bits can "
		                "count");
		result_line_text(r, "", &no_number, &t);
	}
	for (uint32_t i = 0; i < s->session_count; i++) {
		if (!begins_class(s, i)) continue;
		name_class(&t, e, i);
		text_string(&t, " are interchangeable");
		result_line_text(r, "", &no_number, &t);
	}
	text_free(&t);
}

/* How far from serial orders, or from the observed history, it came. */
static void lines_of_bounds(struct result *r, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct text t = { 0 };
	if (explores_bounded(e)) {
		text_string(&t, "at most, in some serial order");
		add_count(&t, "; ", s->cut, " beginnings left out");
		result_line(r, "stale reads", explorer_options(e)->max_changes,
		            &t);
	}
	if (explores_outward(e)) {
		text_string(&t, "at most");
		if (is_open(e) && s->stop != STOP_CHANGES && s->changes)
			text_string(&t, "; all histories with fewer were "
			                "explored");
		result_line(r, "changed reads", s->changes, &t);
	}
	text_free(&t);
}

static void lines_of_search(struct result *r, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct text t = { 0 };
	text_format(&t, "under %s", level_word(explorer_options(e)->base));
	add_count(&t, ", ", s->filtered, " filtered");
	add_count(&t, ", ", s->pruned, " pruned");
	add_count(&t, ", ", s->blocked, " blocked");
	result_line(r, "end states", s->end_states, &t);
	add_count(&t, "at most ", s->depth_max, " deep");
	result_line(r, "explore calls", s->explore_calls, &t);
	if (explorer_options(e)->algorithm == EXPLORE_CE) {
		add_count(&t, "of ", s->swaps_considered, " considered; ");
		add_count(&t, "", s->swaps_inconsistent, " inconsistent, ");
		add_count(&t, "", s->swaps_not_latest, " not from the latest");
		result_line(r, "swaps", s->swaps_taken, &t);
	}
	text_free(&t);
}

static void lines_of_costs(struct result *r, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct text held = { 0 }, resident = { 0 };
	result_line_time(r, s->seconds, s->cpu_seconds,
	                 explorer_options(e)->jobs, s->histories, "history",
	                 "histories");
	number_memory(&held, s->memory_peak);
	number_resident(&resident);
	result_line_text(r, "memory", &held, &resident);
	text_free(&held);
	text_free(&resident);
}

static const struct estimate *whole_of(const struct explored_beside *b)
{
	assert(!b->outlook || !b->sample);
	if (b->outlook) return &b->outlook->whole;
	return b->sample ? &b->sample->whole : b->share;
}

static void add_lines(struct result *r, const struct explorer *e,
                      const struct explored_beside *beside)
{
	line_of_histories(r, e);
	if (explores_classes(e)) lines_of_classes(r, e);
	if (whole_of(beside))
		estimate_line(r, explorer_stats(e)->histories,
		              whole_of(beside));
	lines_of_bounds(r, e);
	lines_of_search(r, e);
	lines_of_costs(r, e);
}

/* ---- all ---- */

static void add_words(struct result *r, const struct explorer *e,
                      const struct explored_beside *beside)
{
	struct text t = { 0 };
	name_reason(&t, e);
	r->reason = result_words(r, &t);
	if (explores_outward(e)) {
		changes_note(&t, e);
		r->note = result_words(r, &t);
	}
	if (beside->outlook) outlook_words(&t, e, beside->outlook);
	if (beside->sample) sample_words(&t, beside->sample);
	if (t.length) r->outlook = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_exploration(const struct explorer *e,
                                     const struct explored_beside *beside,
                                     enum result_depth depth)
{
	const struct explored_beside nothing = { 0 };
	const struct explore_options *o = explorer_options(e);
	enum stop_reason stop = explorer_stats(e)->stop;
	struct result *r = result_new(explorer_program(e), o->level);
	if (!beside) beside = &nothing;
	assert(stop < STOP_TOO_LARGE);
	r->verdict = explorer_verdict(e);
	add_words(r, e, beside);
	add_settings(r, e);
	result_flag(r, &r->findings, "complete", stop == STOP_NONE);
	result_text(r, &r->findings, "stop", stop_word(stop));
	add_assertions(r, e, depth);
	if (depth == RESULT_VERDICT) return r;
	r->has_warnings = true;
	explored_warnings(&r->warnings, e);
	add_stats(r, e);
	estimate_measures(r, e, beside);
	add_lines(r, e, beside);
	return r;
}
