/* The small part of a recorded history that violates a level, in JSON. */
#include "check/minimal_violation.h"
#include "history/history.h"
#include "history/trace.h"
#include "report/report.h"
#include "result/names.h"

/* ["r","x",1,"alice.1 enroll"], ["w","x",2] */
static void print_event(struct json *j, const struct history *h,
                        const struct event *e)
{
	struct text words = { 0 };
	json_open(j, NULL, '[');
	json_text(j, NULL, e->kind == EVENT_READ ? "r" : "w");
	json_text(j, NULL, h->keys[e->key].name);
	value_print_json(json_value(j, NULL), e->value);
	if (e->kind == EVENT_READ) {
		if (e->from == HISTORY_SELF)
			text_string(&words, "self");
		else
			name_transaction(&words, h, e->from);
		json_taken(j, NULL, &words);
	}
	json_close(j);
	text_free(&words);
}

static void print_transaction(struct json *j, const struct trace *r,
                              const struct check_witness *w, uint32_t i)
{
	const struct history *h = w->part;
	const struct transaction *x = &h->transactions[i];
	struct text words = { 0 };
	json_open(j, NULL, '{');
	name_transaction(&words, h, i);
	json_taken(j, "transaction", &words);
	json_text(j, "session", h->sessions[x->session].name);
	json_count(j, "index", x->index);
	json_count_if(j, "line", r->transactions[w->numbers[i]].line,
	              r->transactions[w->numbers[i]].line);
	json_bool(j, "committed", !x->aborted);
	json_open(j, "operations", '[');
	for (uint32_t e = 0; e < x->event_count; e++)
		print_event(j, h, &x->events[e]);
	json_close(j);
	json_close(j);
	text_free(&words);
}

void json_witness(struct json *j, const struct trace *r,
                  const struct check_witness *w)
{
	json_open(j, "transactions", '[');
	for (uint32_t i = 1; i < w->part->transaction_count; i++)
		print_transaction(j, r, w, i);
	json_close(j);
	json_cycle(j, w->part, &w->cycle);
}
