#include "report/json.h"

#include <inttypes.h>
#include <string.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "report/changes.h"
#include "report/example.h"
#include "report/json_members.h"
#include "report/names.h"
#include "report/share.h"
#include "report/symmetry.h"
#include "report/warnings.h"

void json_name(struct text *t, const char *name)
{
	text_json_string(t, name, strlen(name));
	text_char(t, ':');
}

void json_text(struct text *t, const char *value)
{
	if (value)
		text_json_string(t, value, strlen(value));
	else
		text_string(t, "null");
}

void json_count(struct text *t, const char *name, uint64_t n)
{
	json_name(t, name);
	text_format(t, "%" PRIu64, n);
}

static void print_example(struct text *t, const struct explorer *e,
                          const struct example *x)
{
	struct text changes = { 0 };
	if (explores_outward(e)) json_changes(&changes, e, x->history);
	text_string(t, ",\"example\":");
	report_example_json(t, x, text_get(&changes));
	text_free(&changes);
}

static void print_slot(struct text *t, const struct explorer *e, uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	struct example x = explored_example(e, slot);
	report_slot_json(t, &x);
	json_member_count(t, "violated", v->histories);
	if (x.history) print_example(t, e, &x);
}

static void print_slots(struct text *t, const struct explorer *e)
{
	text_string(t, ",\"assertions\":[");
	bool first = true;
	for (uint32_t i = 0; i < explorer_slot_count(e); i++) {
		if (!explorer_slot_checked(e, i) &&
		    !explorer_slot_violated(e, i))
			continue;
		text_string(t, first ? "{" : ",{");
		print_slot(t, e, i);
		text_char(t, '}');
		first = false;
	}
	text_char(t, ']');
}

static void print_warnings(struct text *t, const struct explorer *e)
{
	struct diags d = { 0 };
	report_warnings(&d, e);
	text_string(t, ",\"warnings\":[");
	for (size_t i = 0; i < d.count; i++) {
		const struct diag *w = &d.items[i];
		text_string(t, i ? ",{" : "{");
		json_name(t, "message");
		json_text(t, w->message);
		json_member_position(t, (struct position){ w->file, w->line,
		                                           w->column, NULL });
		text_char(t, '}');
	}
	text_char(t, ']');
	diags_free(&d);
}

static const char *algorithm_word(enum explorer_algorithm a)
{
	static const char *const words[] = {
		[EXPLORE_CE] = "ce",
		[EXPLORE_DFS] = "dfs",
		[EXPLORE_OUTWARD] = "outward",
		[EXPLORE_ORDERLY] = "orderly",
	};
	return words[a];
}

static void print_stats(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
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
	text_string(t, ",\"stats\":{");
	json_count(t, "histories", s->histories);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		json_member_count(t, counts[i].name, counts[i].n);
	if (explores_classes(e)) json_member_count(t, "classes", s->classes);
	if (explores_outward(e)) json_member_count(t, "changes", s->changes);
	if (explores_bounded(e)) json_member_count(t, "cut", s->cut);
	if (explorer_serializability_known(e))
		json_member_count(t, "unserializable", s->unserializable);
	if (explorer_options(e)->check_duplicates)
		json_member_count(t, "duplicates", s->duplicates);
	text_format(t, ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}", s->seconds,
	            s->cpu_seconds);
}

void report_partial_json(struct text *t, const struct explorer *e,
                         const char *version, const struct estimate *all)
{
	const struct explore_options *o = explorer_options(e);
	enum stop_reason stop = explorer_stats(e)->stop;
	struct text reason = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	json_member_text(t, "program", program_path(explorer_program(e)));
	json_member_text(t, "level", level_word(o->level));
	json_member_text(t, "base", level_word(o->base));
	json_member_text(t, "algorithm", algorithm_word(o->algorithm));
	json_member_count(t, "jobs", o->jobs ? o->jobs : 1);
	if (explores_bounded(e))
		json_member_count(t, "max_changes", o->max_changes);
	if (explores_classes(e)) json_interchangeable(t, e);
	if (explores_outward(e)) json_origin(t, e);
	json_member_text(t, "verdict", verdict_word(explorer_verdict(e)));
	if (explores_outward(e))
		name_outward_reason(&reason, e);
	else
		name_verdict_reason(&reason, e);
	json_member_taken(t, "reason", &reason);
	json_member_bool(t, "complete", stop == STOP_NONE);
	json_member_text(t, "stop", stop_word(stop));
	print_slots(t, e);
	print_warnings(t, e);
	print_stats(t, e);
	json_share(t, explorer_stats(e)->histories, all);
	text_string(t, "}\n");
	text_free(&reason);
}

void report_json(struct text *t, const struct explorer *e, const char *version)
{
	report_partial_json(t, e, version, NULL);
}

void report_fault_json(struct text *t, const char *program, const char *fault,
                       const char *version)
{
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	json_member_text(t, "program", program);
	json_member_text(t, "error", fault);
	text_string(t, "}\n");
}
