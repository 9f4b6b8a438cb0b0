#include "report/json.h"

#include <inttypes.h>
#include <string.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "report/changes.h"
#include "report/explain.h"
#include "report/names.h"
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

/* ,"name":"value" */
static void member_text(struct text *t, const char *name, const char *value)
{
	text_char(t, ',');
	json_name(t, name);
	json_text(t, value);
}

/* Sets the last member from a text, and empties that. */
static void member_taken(struct text *t, const char *name, struct text *value)
{
	member_text(t, name, text_get(value));
	text_clear(value);
}

static void member_position(struct text *t, struct position at)
{
	member_text(t, "file", at.file);
	text_char(t, ',');
	json_count(t, "line", at.line);
	text_char(t, ',');
	json_count(t, "column", at.column);
}

static void print_witness(struct text *t, const struct history *h)
{
	struct witness w;
	text_string(t, ",\"cycle\":[");
	if (!level_witness(LEVEL_SER, h, &w)) {
		text_char(t, ']');
		return;
	}
	struct text words = { 0 };
	for (uint32_t i = 0; i < w.count; i++) {
		text_string(t, i ? ",{" : "{");
		name_transaction(&words, h, w.edges[i].from);
		json_name(t, "from");
		json_text(t, text_get(&words));
		text_clear(&words);
		name_transaction(&words, h, w.edges[i].to);
		member_taken(t, "to", &words);
		explain_edge_label(&words, h, &w.edges[i]);
		member_taken(t, "reason", &words);
		explain_edge(&words, h, &w.edges[i]);
		member_taken(t, "words", &words);
		text_char(t, '}');
	}
	text_char(t, ']');
	text_free(&words);
	witness_free(&w);
}

static void print_order(struct text *t, const struct history *h)
{
	struct text words = { 0 };
	text_string(t, ",\"order\":[");
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		if (i > 1) text_char(t, ',');
		name_transaction(&words, h, h->order ? h->order[i] : i);
		json_text(t, text_get(&words));
		text_clear(&words);
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_finding(struct text *t, const struct explorer *e,
                          const struct finding *f)
{
	text_string(t, ",\"failure\":{\"values\":{");
	for (uint32_t i = 0; i < f->value_count; i++) {
		if (i) text_char(t, ',');
		json_name(t, f->values[i].name);
		value_print_json(t, f->values[i].value);
	}
	text_char(t, '}');
	if (f->message) member_text(t, "message", f->message);
	member_position(t, program_position(explorer_program(e), f->point));
	text_char(t, '}');
}

static void print_example(struct text *t, const struct explorer *e,
                          uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	const struct history *h = v->example;
	if (!h) return;
	bool serializable = level_allows_history(LEVEL_SER, h);
	enum level by = LEVEL_COUNT;
	const char *name = serializable ? NULL : anomaly_name(h, &by);
	text_string(t, ",\"example\":{\"history\":1,");
	history_print_members(t, h);
	print_order(t, h);
	if (explores_outward(e)) json_changes(t, e, h);
	if (v->finding) print_finding(t, e, v->finding);
	member_text(t, "anomaly", name);
	member_text(t, "forbidden_by",
	            by < LEVEL_COUNT ? level_word(by) : NULL);
	print_witness(t, h);
	text_char(t, '}');
}

static const char *slot_kind(const struct explorer *e, uint32_t slot)
{
	if (slot == explorer_slot_error(e)) return "error";
	if (slot == explorer_slot_robust(e)) return "robust";
	switch (program_assertion(explorer_program(e), slot)->kind) {
	case ASSERTION_INLINE: return "inline";
	case ASSERTION_FINAL: return "final";
	case ASSERTION_SERIALIZABLE: break;
	}
	return "serializable";
}

static void print_slot(struct text *t, const struct explorer *e, uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	const struct program *p = explorer_program(e);
	struct text words = { 0 };
	name_slot(&words, e, slot);
	json_name(t, "text");
	json_text(t, text_get(&words));
	member_text(t, "kind", slot_kind(e, slot));
	if (slot < program_assertion_count(p))
		member_text(t, "message", program_assertion(p, slot)->message);
	member_position(t, name_slot_position(e, slot));
	text_char(t, ',');
	json_count(t, "violated", v ? v->histories : 0);
	if (v && v->histories) print_example(t, e, slot);
	text_free(&words);
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
		member_position(t, (struct position){ w->file, w->line,
		                                      w->column, NULL });
		text_char(t, '}');
	}
	text_char(t, ']');
	diags_free(&d);
}

static const char *stop_word(enum explore_stop stop)
{
	static const char *const words[] = {
		[STOP_NONE] = NULL,
		[STOP_VIOLATION] = "violation",
		[STOP_HISTORIES] = "histories",
		[STOP_TIME] = "time",
		[STOP_MEMORY] = "memory",
		[STOP_INTERRUPTED] = "interrupted",
		[STOP_TRANSACTIONS] = "transactions",
		[STOP_KEYS] = "keys",
		[STOP_EVENTS] = "events",
		[STOP_CHANGES] = "changes",
	};
	return words[stop];
}

static const char *algorithm_word(enum explorer_algorithm a)
{
	static const char *const words[] = {
		[EXPLORE_CE] = "ce",
		[EXPLORE_DFS] = "dfs",
		[EXPLORE_OUTWARD] = "outward",
	};
	return words[a];
}

static void print_stats(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	const struct { const char *name; uint64_t n; } counts[] = {
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
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		text_char(t, ',');
		json_count(t, counts[i].name, counts[i].n);
	}
	if (explores_outward(e)) {
		text_char(t, ',');
		json_count(t, "changes", s->changes);
	}
	if (explorer_serializability_known(e)) {
		text_char(t, ',');
		json_count(t, "unserializable", s->unserializable);
	}
	if (explorer_options(e)->check_duplicates) {
		text_char(t, ',');
		json_count(t, "duplicates", s->duplicates);
	}
	text_format(t, ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}", s->seconds,
	            s->cpu_seconds);
}

void report_json(struct text *t, const struct explorer *e,
                 const char *version)
{
	const struct explore_options *o = explorer_options(e);
	enum explore_stop stop = explorer_stats(e)->stop;
	struct text reason = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	member_text(t, "program", program_path(explorer_program(e)));
	member_text(t, "level", level_word(o->level));
	member_text(t, "base", level_word(o->base));
	member_text(t, "algorithm", algorithm_word(o->algorithm));
	if (explores_outward(e)) json_origin(t, e);
	member_text(t, "verdict", verdict_word(explorer_verdict(e)));
	if (explores_outward(e))
		name_outward_reason(&reason, e);
	else
		name_verdict_reason(&reason, e);
	member_taken(t, "reason", &reason);
	text_format(t, ",\"complete\":%s",
	            stop == STOP_NONE ? "true" : "false");
	member_text(t, "stop", stop_word(stop));
	print_slots(t, e);
	print_warnings(t, e);
	print_stats(t, e);
	text_string(t, "}\n");
	text_free(&reason);
}
