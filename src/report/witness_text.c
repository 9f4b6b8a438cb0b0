#include "report/witness_text.h"

#include <assert.h>

#include "axioms/witness.h"
#include "history/history.h"
#include "report/counterexample.h"
#include "result/witness_words.h"
#include "result/names.h"
#include "result/result.h"

enum {
	COLUMN_WIDTH = 25, /* a table's column should have so many */
	INDENT = 4
};

/* "alice.1 before bob.1" */
static void edge_words(struct text *t, const struct history *h,
                       const struct witness_edge *e)
{
	name_transaction_short(t, h, e->from);
	text_string(t, " before ");
	name_transaction_short(t, h, e->to);
}

void report_cycle(struct text *t, const struct history *h,
                  const struct witness *w, unsigned indent)
{
	struct text words = { 0 };
	size_t column = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		text_clear(&words);
		edge_words(&words, h, &w->edges[i]);
		size_t n = style_columns(text_get(&words));
		if (n > column) column = n;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		text_clear(&words);
		edge_words(&words, h, &w->edges[i]);
		text_pad(t, ' ', indent);
		text_string(t, text_get(&words));
		text_string(t, ": ");
		text_pad(t, ' ', column - style_columns(text_get(&words)));
		explain_edge(t, h, &w->edges[i]);
		text_char(t, '\n');
	}
	text_free(&words);
}

static void print_event(struct text *t, const struct history *h,
                        const struct event *e, bool marked)
{
	assert(e->key < h->key_count);
	text_pad(t, ' ', INDENT);
	text_string(t, marked ? "* " : "  ");
	name_event(t, h, e);
	if (e->kind == EVENT_READ && !event_gives_up(e)) {
		text_string(t, "  from ");
		if (e->from == HISTORY_SELF)
			text_string(t, "itself");
		else
			name_transaction(t, h, e->from);
	}
	text_char(t, '\n');
}

/* For more sessions than columns fit. */
static void print_list(struct text *t, const struct style *s,
                       const struct history *h,
                       const struct result_changes *marks)
{
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		text_pad(t, ' ', INDENT);
		style_begin(t, s, STYLE_BOLD);
		name_transaction_at(t, h, i);
		style_end(t, s);
		text_char(t, '\n');
		for (uint32_t e = 0; e < x->event_count; e++)
			print_event(t, h, &x->events[e],
			            event_is_marked(marks, i, e));
	}
}

void report_witness_part(struct text *t, const struct style *s,
                         const struct history *h,
                         const struct result_changes *marks)
{
	unsigned columns = 0;
	for (uint32_t i = 0; i < h->session_count; i++)
		columns += h->sessions[i].count > 0;
	if (columns * COLUMN_WIDTH + INDENT > s->width)
		print_list(t, s, h, marks);
	else
		report_marked(t, s, h, marks, INDENT);
}
