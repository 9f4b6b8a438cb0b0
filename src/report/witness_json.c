#include "report/witness_json.h"

#include "history/history.h"
#include "history/trace.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/names.h"

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

static void print_transaction(struct text *t, const struct trace *r,
                              const struct check_witness *w, uint32_t i)
{
	const struct history *h = w->part;
	const struct transaction *x = &h->transactions[i];
	struct text words = { 0 };
	name_transaction(&words, h, i);
	json_name(t, "transaction");
	json_text(t, text_get(&words));
	json_member_text(t, "session", h->sessions[x->session].name);
	json_member_count(t, "index", x->index);
	json_member_line(t, r->transactions[w->numbers[i]].line);
	json_member_bool(t, "committed", !x->aborted);
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
	text_string(t, "\"cycle\":[");
	for (uint32_t i = 0; i < w->count; i++) {
		text_string(t, i ? ",{" : "{");
		name_transaction(&words, h, w->edges[i].from);
		json_name(t, "from");
		json_text(t, text_get(&words));
		text_clear(&words);
		name_transaction(&words, h, w->edges[i].to);
		json_member_taken(t, "to", &words);
		explain_edge_label(&words, h, &w->edges[i]);
		json_member_taken(t, "reason", &words);
		explain_edge(&words, h, &w->edges[i]);
		json_member_taken(t, "words", &words);
		text_char(t, '}');
	}
	text_char(t, ']');
	text_free(&words);
}

void json_witness(struct text *t, const struct trace *r,
                  const struct check_witness *w)
{
	json_name(t, "transactions");
	text_char(t, '[');
	for (uint32_t i = 1; i < w->part->transaction_count; i++) {
		text_string(t, i > 1 ? ",{" : "{");
		print_transaction(t, r, w, i);
		text_char(t, '}');
	}
	text_string(t, "],");
	print_cycle(t, w->part, &w->cycle);
}
