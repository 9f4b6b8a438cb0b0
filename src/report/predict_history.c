#include "report/history_json.h"

#include <assert.h>

#include "report/report.h"
#include "result/predicted.h"

/* "init", or [session, transaction] as the observed history has it */
static void print_place(struct json *j, const char *name, const struct trace *r,
                        uint32_t transaction)
{
	assert(transaction < r->transaction_count);
	uint32_t session = r->transactions[transaction].session;
	if (transaction == TRACE_INIT) {
		json_text(j, name, "init");
		return;
	}
	json_open(j, name, '[');
	json_count(j, NULL, session);
	json_count(j, NULL, transaction - r->sessions[session].first);
	json_close(j);
}

/* Place of the operation among the events that are written. */
static uint32_t event_of(const struct trace *r, uint32_t transaction,
                         uint32_t op)
{
	uint32_t event = 0;
	for (uint32_t i = r->transactions[transaction].first_op; i < op; i++)
		event += r->ops[i].kind == EVENT_WRITE ||
		         r->ops[i].from != TRACE_NOBODY;
	return event;
}

static void print_changed(struct json *j, const struct trace *r,
                          const struct prediction *p)
{
	struct text key = { 0 };
	json_open(j, "changed", '[');
	for (uint32_t i = 0; i < p->changed_count; i++) {
		const struct changed_read *c = &p->changed[i];
		uint32_t s = r->transactions[c->transaction].session;
		json_open(j, NULL, '{');
		json_open(j, "read", '[');
		json_count(j, NULL, s);
		json_count(j, NULL, c->transaction - r->sessions[s].first);
		json_count(j, NULL, event_of(r, c->transaction, c->op));
		json_close(j);
		trace_print_key(&key, r, r->ops[c->op].key);
		json_taken(j, "key", &key);
		print_place(j, "observed", r, c->observed);
		print_place(j, "predicted", r, c->writer);
		json_close(j);
	}
	json_close(j);
	text_free(&key);
}

/* Transactions of which only a first part is there. */
static void print_truncated(struct json *j, const struct predict_case *c,
                            const struct prediction *p)
{
	json_open(j, "truncated", '[');
	for (uint32_t i = 1; i < p->history->transaction_count; i++) {
		if (!p->truncated[i]) continue;
		print_place(j, NULL, c->observed, p->numbers[i]);
	}
	json_close(j);
}

static void print_observed(struct json *j, const struct predict_case *c)
{
	json_open(j, "observed", '{');
	json_text(j, "file", c->observed->file);
	json_count(j, "history", c->history);
	if (c->format == FORMAT_COUNT) json_count(j, "seed", c->seed);
	json_close(j);
}

void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p)
{
	struct trace copy = *p->prediction->history;
	struct diags d = { 0 };
	copy.program = c->observed->program;
	copy.level = level_word(c->options->level);
	struct json writer = json_to(t), *j = &writer;
	bool printed = format_open_isoscope(j, &copy, &d);
	diags_free(&d);
	if (!printed) return;
	json_open(j, "verdict", '{');
	json_bool(j, trace_has_owns(&copy) ? "levels" : copy.level, true);
	json_bool(j, "ser", false);
	json_close(j);
	print_observed(j, c);
	json_count(j, "number", p->number);
	print_changed(j, c->observed, p->prediction);
	print_truncated(j, c, p->prediction);
	if (p->replay)
		json_bool(j, "validated", predicted_validated(p->replay));
	if (p->tried)
		json_bool(j, "confirmed",
		          p->tried->what->answer == CONFIRM_YES);
	report_json_end(j);
}
