#include "report/check_json.h"

#include "history/history.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/names.h"
#include "report/witness_json.h"

static void level_list(struct text *t, const enum level *levels, unsigned count)
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
		place += check_has(c, o, VERDICT_VIOLATED) &&
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
		json_text(t, verdict_word(r->verdict));
		if (r->verdict == VERDICT_UNDECIDED)
			json_member_text(t, "reason", r->reason);
		if (r->verdict == VERDICT_VIOLATED) {
			json_member_text(t, "anomaly",
			                 check_anomaly_name(c, l));
			if (c->witnesses && c->shown_by[l] < LEVEL_COUNT)
				json_member_count(
					t, "witness",
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
	json_member_text(t, "name", trace_anomaly_name(a->kind));
	name_trace_transaction(&words, r, a->transaction);
	json_member_taken(t, "transaction", &words);
	name_trace_operation(&words, r, a->op);
	json_member_taken(t, "operation", &words);
	json_member_line(t, r->ops[a->op].line);
	if (a->writer < r->transaction_count) {
		name_trace_transaction(&words, r, a->writer);
		json_member_taken(t, "other_transaction", &words);
	}
	if (a->other != TRACE_NONE) {
		name_trace_operation(&words, r, a->other);
		json_member_taken(t, "other_operation", &words);
		if (r->ops[a->other].line)
			json_member_count(t, "other_line",
			                  r->ops[a->other].line);
	}
	name_trace_anomaly(&words, r, a);
	json_member_taken(t, "words", &words);
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
	json_member_count(t, "anomalies_found", found);
}

static void print_witness(struct text *t, const struct check_case *c,
                          enum level l)
{
	const struct check_witness *w = &c->witnesses[l];
	enum level levels[LEVEL_COUNT];
	unsigned count = 0;
	for (enum level o = l; o < LEVEL_COUNT; o++)
		if (check_has(c, o, VERDICT_VIOLATED) && c->shown_by[o] == l)
			levels[count++] = o;
	text_char(t, '{');
	json_name(t, "levels");
	level_list(t, levels, count);
	json_member_text(t, "anomaly", w->anomaly);
	json_member_bool(t, "minimal", w->minimal);
	json_member_count(t, "operations_left_out", w->hidden_ops);
	text_char(t, ',');
	json_witness(t, c->trace, w);
	text_char(t, '}');
}

static void print_witnesses(struct text *t, const struct check_case *c)
{
	bool first = true;
	text_string(t, ",\"witnesses\":[");
	for (enum level l = 0; c->witnesses && l < LEVEL_COUNT; l++) {
		if (!check_has(c, l, VERDICT_VIOLATED) || c->shown_by[l] != l)
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
	json_member_text(t, "format", format_word(c->format));
	json_member_count(t, "sessions", r->session_count);
	json_member_count(t, "transactions", r->transaction_count - 1);
	json_member_count(t, "operations", r->op_count);
	json_member_count(t, "keys", r->key_count);
}

void report_check_json(struct text *t, const struct check_case *c, bool orders,
                       const char *version)
{
	enum level levels[LEVEL_COUNT];
	struct text reason = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	json_member_text(t, "file", c->trace->file);
	json_member_count(t, "history", c->number);
	json_member_line(t, c->trace->line);
	print_size(t, c);
	json_member_text(t, "verdict", verdict_word(check_overall(c)));
	name_check_reason(&reason, c);
	json_member_taken(t, "reason", &reason);
	text_string(t, ",\"strongest\":");
	level_list(t, levels, check_strongest(c, levels));
	print_levels(t, c);
	print_anomalies(t, c->trace);
	print_witnesses(t, c);
	json_member_text(t, "unexplained", c->unexplained);
	if (orders) print_orders(t, c);
	text_format(t,
	            ",\"seconds\":{\"read\":%.6f,\"check\":%.6f,"
	            "\"explain\":%.6f}}\n",
	            c->read_seconds, c->check_seconds, c->explain_seconds);
	text_free(&reason);
}
