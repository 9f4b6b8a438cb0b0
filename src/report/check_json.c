#include "report/check_json.h"

#include <inttypes.h>
#include <string.h>

#include "history/history.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/names.h"

/* ,"name":"value" */
static void member_text(struct text *t, const char *name, const char *value)
{
	text_char(t, ',');
	json_name(t, name);
	json_text(t, value);
}

static void member_count(struct text *t, const char *name, uint64_t n)
{
	text_char(t, ',');
	json_count(t, name, n);
}

/* ,"name":true */
static void member_bool(struct text *t, const char *name, bool value)
{
	text_char(t, ',');
	json_name(t, name);
	text_string(t, value ? "true" : "false");
}

/* ,"line":3, or null when unknown */
static void member_line(struct text *t, uint32_t line)
{
	if (line)
		member_count(t, "line", line);
	else
		member_text(t, "line", NULL);
}

/* Sets the last member from a text, and empties that. */
static void member_taken(struct text *t, const char *name, struct text *value)
{
	member_text(t, name, text_get(value));
	text_clear(value);
}

static void level_list(struct text *t, const enum level *levels,
                       unsigned count)
{
	text_char(t, '[');
	for (unsigned i = 0; i < count; i++) {
		if (i) text_char(t, ',');
		json_text(t, level_word(levels[i]));
	}
	text_char(t, ']');
}

/* The place of this level's witness in the list of witnesses. */
static unsigned witness_place(const struct check_case *c, enum level l)
{
	unsigned place = 0;
	for (enum level o = 0; o < l; o++)
		place += check_has(c, o, CHECK_VIOLATED) &&
		         c->shown_by[o] == o;
	return place;
}

static void print_levels(struct text *t, const struct check_case *c)
{
	bool first = true;
	text_string(t, ",\"levels\":{");
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const struct check_result *r = &c->results[l];
		if (!(c->wanted >> l & 1)) continue;
		if (!first) text_char(t, ',');
		first = false;
		json_name(t, level_word(l));
		text_string(t, "{\"verdict\":");
		json_text(t, check_verdict_word(r->verdict));
		if (r->verdict == CHECK_UNDECIDED)
			member_text(t, "reason", r->reason);
		if (r->verdict == CHECK_VIOLATED) {
			member_text(t, "anomaly", check_anomaly_name(c, l));
			if (c->witnesses && c->shown_by[l] < LEVEL_COUNT)
				member_count(t, "witness",
				             witness_place(c, c->shown_by[l]));
		}
		text_char(t, '}');
	}
	text_char(t, '}');
}

static void print_anomaly(struct text *t, const struct trace *r,
                          const struct trace_anomaly *a)
{
	struct text words = { 0 };
	text_string(t, "{\"kind\":");
	json_text(t, trace_anomaly_word(a->kind));
	member_text(t, "name", trace_anomaly_name(a->kind));
	name_trace_transaction(&words, r, a->transaction);
	member_taken(t, "transaction", &words);
	name_trace_operation(&words, r, a->op);
	member_taken(t, "operation", &words);
	member_line(t, r->ops[a->op].line);
	if (a->writer < r->transaction_count) {
		name_trace_transaction(&words, r, a->writer);
		member_taken(t, "other_transaction", &words);
	}
	if (a->other != TRACE_NONE) {
		name_trace_operation(&words, r, a->other);
		member_taken(t, "other_operation", &words);
		if (r->ops[a->other].line)
			member_count(t, "other_line", r->ops[a->other].line);
	}
	name_trace_anomaly(&words, r, a);
	member_taken(t, "words", &words);
	text_char(t, '}');
	text_free(&words);
}

static void print_anomalies(struct text *t, const struct trace *r)
{
	uint64_t found = 0;
	text_string(t, ",\"anomalies\":[");
	for (uint32_t i = 0; i < r->anomaly_count; i++) {
		if (i) text_char(t, ',');
		print_anomaly(t, r, &r->anomalies[i]);
	}
	text_char(t, ']');
	for (int k = 0; k < ANOMALY_COUNT; k++) found += r->anomalies_found[k];
	member_count(t, "anomalies_found", found);
}

/* ["r","x",1,"alice.1 enroll"], ["w","x",2] */
static void print_event(struct text *t, const struct history *h,
                        const struct event *e)
{
	struct text words = { 0 };
	text_string(t, e->kind == EVENT_READ ? "[\"r\"," : "[\"w\",");
	json_text(t, h->keys[e->key].name);
	text_char(t, ',');
	value_print_json(t, e->value);
	if (e->kind == EVENT_READ) {
		if (e->from == HISTORY_SELF)
			text_string(&words, "self");
		else
			name_transaction(&words, h, e->from);
		text_char(t, ',');
		json_text(t, text_get(&words));
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_transaction(struct text *t, const struct check_case *c,
                              const struct check_witness *w, uint32_t i)
{
	const struct history *h = w->part;
	const struct transaction *x = &h->transactions[i];
	struct text words = { 0 };
	name_transaction(&words, h, i);
	json_name(t, "transaction");
	json_text(t, text_get(&words));
	member_text(t, "session", h->sessions[x->session].name);
	member_count(t, "index", x->index);
	member_line(t, c->trace->transactions[w->numbers[i]].line);
	member_bool(t, "committed", !x->aborted);
	text_string(t, ",\"operations\":[");
	for (uint32_t e = 0; e < x->event_count; e++) {
		if (e) text_char(t, ',');
		print_event(t, h, &x->events[e]);
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_cycle(struct text *t, const struct history *h,
                        const struct witness *w)
{
	struct text words = { 0 };
	text_string(t, ",\"cycle\":[");
	for (uint32_t i = 0; i < w->count; i++) {
		text_string(t, i ? ",{" : "{");
		name_transaction(&words, h, w->edges[i].from);
		json_name(t, "from");
		json_text(t, text_get(&words));
		text_clear(&words);
		name_transaction(&words, h, w->edges[i].to);
		member_taken(t, "to", &words);
		explain_edge_label(&words, h, &w->edges[i]);
		member_taken(t, "reason", &words);
		explain_edge(&words, h, &w->edges[i]);
		member_taken(t, "words", &words);
		text_char(t, '}');
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_witness(struct text *t, const struct check_case *c,
                          enum level l)
{
	const struct check_witness *w = &c->witnesses[l];
	enum level levels[LEVEL_COUNT];
	unsigned count = 0;
	for (enum level o = l; o < LEVEL_COUNT; o++)
		if (check_has(c, o, CHECK_VIOLATED) && c->shown_by[o] == l)
			levels[count++] = o;
	text_char(t, '{');
	json_name(t, "levels");
	level_list(t, levels, count);
	member_text(t, "anomaly", w->anomaly);
	member_bool(t, "minimal", w->minimal);
	member_count(t, "operations_left_out", w->hidden_ops);
	text_string(t, ",\"transactions\":[");
	for (uint32_t i = 1; i < w->part->transaction_count; i++) {
		text_string(t, i > 1 ? ",{" : "{");
		print_transaction(t, c, w, i);
		text_char(t, '}');
	}
	text_char(t, ']');
	print_cycle(t, w->part, &w->cycle);
	text_char(t, '}');
}

static void print_witnesses(struct text *t, const struct check_case *c)
{
	bool first = true;
	text_string(t, ",\"witnesses\":[");
	for (enum level l = 0; c->witnesses && l < LEVEL_COUNT; l++) {
		if (!check_has(c, l, CHECK_VIOLATED) || c->shown_by[l] != l)
			continue;
		if (!first) text_char(t, ',');
		first = false;
		print_witness(t, c, l);
	}
	text_char(t, ']');
}

static void print_order(struct text *t, const struct check_case *c,
                        const uint32_t *order)
{
	struct text words = { 0 };
	bool first = true;
	text_char(t, '[');
	for (uint32_t i = 0; i < c->trace->transaction_count; i++) {
		if (order[i] == TRACE_INIT ||
		    c->trace->transactions[order[i]].status != TRACE_COMMITTED)
			continue;
		if (!first) text_char(t, ',');
		first = false;
		text_clear(&words);
		name_trace_transaction(&words, c->trace, order[i]);
		json_text(t, text_get(&words));
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_orders(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	bool first = true;
	text_string(t, ",\"commit_orders\":{");
	for (unsigned i = 0; i < count; i++) {
		const uint32_t *order = c->results[levels[i]].order;
		if (!order) continue;
		if (!first) text_char(t, ',');
		first = false;
		json_name(t, level_word(levels[i]));
		print_order(t, c, order);
	}
	text_char(t, '}');
}

static void print_size(struct text *t, const struct check_case *c)
{
	const struct trace *r = c->trace;
	member_text(t, "format", format_word(c->format));
	member_count(t, "sessions", r->session_count);
	member_count(t, "transactions", r->transaction_count - 1);
	member_count(t, "operations", r->op_count);
	member_count(t, "keys", r->key_count);
}

void report_check_json(struct text *t, const struct check_case *c, bool orders,
                       const char *version)
{
	enum level levels[LEVEL_COUNT];
	struct text reason = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	member_text(t, "file", c->trace->file);
	member_count(t, "history", c->number);
	member_line(t, c->trace->line);
	print_size(t, c);
	member_text(t, "verdict", check_verdict_word(check_overall(c)));
	name_check_reason(&reason, c);
	member_taken(t, "reason", &reason);
	text_string(t, ",\"strongest\":");
	level_list(t, levels, check_strongest(c, levels));
	print_levels(t, c);
	print_anomalies(t, c->trace);
	print_witnesses(t, c);
	member_text(t, "unexplained", c->unexplained);
	if (orders) print_orders(t, c);
	text_format(t, ",\"seconds\":{\"read\":%.6f,\"check\":%.6f,"
	               "\"explain\":%.6f}}\n", c->read_seconds,
	            c->check_seconds, c->explain_seconds);
	text_free(&reason);
}
