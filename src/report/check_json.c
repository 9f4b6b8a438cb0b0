#include "report/check_json.h"

#include "history/history.h"
#include "result/names.h"
#include "report/report.h"

static void level_list(struct json *j, const char *name,
                       const enum level *levels, unsigned count)
{
	json_open(j, name, '[');
	for (unsigned i = 0; i < count; i++) {
		json_text(j, NULL, level_word(levels[i]));
	}
	json_close(j);
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

static void print_levels(struct json *j, const struct check_case *c)
{
	json_open(j, "levels", '{');
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const struct check_result *r = &c->results[l];
		if (!(c->wanted >> l & 1)) continue;
		json_open(j, level_word(l), '{');
		json_text(j, "verdict", verdict_word(r->verdict));
		if (r->verdict == VERDICT_UNDECIDED)
			json_text(j, "reason", r->reason);
		if (r->verdict == VERDICT_VIOLATED) {
			json_text(j, "anomaly", check_anomaly_name(c, l));
			if (c->witnesses && c->shown_by[l] < LEVEL_COUNT)
				json_count(j, "witness",
				           witness_place(c, c->shown_by[l]));
		}
		json_close(j);
	}
	json_close(j);
}

static void print_anomaly(struct json *j, const struct trace *r,
                          const struct trace_anomaly *a)
{
	struct text words = { 0 };
	json_open(j, NULL, '{');
	json_text(j, "kind", trace_anomaly_word(a->kind));
	json_text(j, "name", trace_anomaly_name(a->kind));
	name_trace_transaction(&words, r, a->transaction);
	json_taken(j, "transaction", &words);
	name_trace_operation(&words, r, a->op);
	json_taken(j, "operation", &words);
	json_count_if(j, "line", r->ops[a->op].line, r->ops[a->op].line);
	if (a->writer < r->transaction_count) {
		name_trace_transaction(&words, r, a->writer);
		json_taken(j, "other_transaction", &words);
	}
	if (a->other != TRACE_NONE) {
		name_trace_operation(&words, r, a->other);
		json_taken(j, "other_operation", &words);
		if (r->ops[a->other].line)
			json_count(j, "other_line", r->ops[a->other].line);
	}
	name_trace_anomaly(&words, r, a);
	json_taken(j, "words", &words);
	json_close(j);
	text_free(&words);
}

static void print_anomalies(struct json *j, const struct trace *r)
{
	uint64_t found = 0;
	json_open(j, "anomalies", '[');
	for (uint32_t i = 0; i < r->anomaly_count; i++) {
		print_anomaly(j, r, &r->anomalies[i]);
	}
	json_close(j);
	for (int k = 0; k < ANOMALY_COUNT; k++) found += r->anomalies_found[k];
	json_count(j, "anomalies_found", found);
}

static void print_witness(struct json *j, const struct check_case *c,
                          enum level l)
{
	const struct check_witness *w = &c->witnesses[l];
	enum level levels[LEVEL_COUNT];
	unsigned count = 0;
	for (enum level o = l; o < LEVEL_COUNT; o++)
		if (check_has(c, o, VERDICT_VIOLATED) && c->shown_by[o] == l)
			levels[count++] = o;
	json_open(j, NULL, '{');
	level_list(j, "levels", levels, count);
	json_text(j, "anomaly", w->anomaly);
	json_bool(j, "minimal", w->minimal);
	json_count(j, "operations_left_out", w->hidden_ops);
	json_witness(j, c->trace, w);
	json_close(j);
}

static void print_witnesses(struct json *j, const struct check_case *c)
{
	json_open(j, "witnesses", '[');
	for (enum level l = 0; c->witnesses && l < LEVEL_COUNT; l++) {
		if (!check_has(c, l, VERDICT_VIOLATED) || c->shown_by[l] != l)
			continue;
		print_witness(j, c, l);
	}
	json_close(j);
}

static void print_order(struct json *j, const struct check_case *c,
                        const char *name, const uint32_t *order)
{
	struct text words = { 0 };
	json_open(j, name, '[');
	for (uint32_t i = 0; i < c->trace->transaction_count; i++) {
		if (order[i] == TRACE_INIT ||
		    c->trace->transactions[order[i]].status != TRACE_COMMITTED)
			continue;
		name_trace_transaction(&words, c->trace, order[i]);
		json_taken(j, NULL, &words);
	}
	json_close(j);
	text_free(&words);
}

static void print_orders(struct json *j, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	json_open(j, "commit_orders", '{');
	for (unsigned i = 0; i < count; i++) {
		const uint32_t *order = c->results[levels[i]].order;
		if (!order) continue;
		print_order(j, c, level_word(levels[i]), order);
	}
	json_close(j);
}

static void print_size(struct json *j, const struct check_case *c)
{
	const struct trace *r = c->trace;
	json_text(j, "format", format_word(c->format));
	json_count(j, "sessions", r->session_count);
	json_count(j, "transactions", r->transaction_count - 1);
	json_count(j, "operations", r->op_count);
	json_count(j, "keys", r->key_count);
}

void report_check_json(struct text *t, const struct check_case *c, bool orders,
                       const char *version)
{
	enum level levels[LEVEL_COUNT];
	struct text reason = { 0 };
	struct json writer = json_to(t), *j = &writer;
	report_json_begin(j, version);
	json_text(j, "file", c->trace->file);
	json_count(j, "history", c->number);
	json_count_if(j, "line", c->trace->line, c->trace->line);
	print_size(j, c);
	json_text(j, "verdict", verdict_word(check_overall(c)));
	name_check_reason(&reason, c);
	json_taken(j, "reason", &reason);
	level_list(j, "strongest", levels, check_strongest(c, levels));
	print_levels(j, c);
	print_anomalies(j, c->trace);
	print_witnesses(j, c);
	json_text(j, "unexplained", c->unexplained);
	if (orders) print_orders(j, c);
	json_open(j, "seconds", '{');
	json_seconds(j, "read", c->read_seconds);
	json_seconds(j, "check", c->check_seconds);
	json_seconds(j, "explain", c->explain_seconds);
	json_close(j);
	report_json_end(j);
	text_free(&reason);
}
