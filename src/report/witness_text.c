#include "report/witness_text.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "report/counterexample.h"
#include "result/witness_words.h"
#include "result/names.h"
#include "result/numbers.h"

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

void report_witness_extent(struct text *t, const struct check_witness *w,
                           uint32_t all)
{
	assert(w->part);
	uint32_t count = w->part->transaction_count - 1;
	if (count == all) {
		text_string(t, "  all its transactions are needed");
	} else {
		text_string(t, "  these ");
		number_count(t, count);
		text_string(t, " of ");
		number_count(t, all);
		text_string(t, " transactions are enough, whatever the "
		               "others do");
	}
	if (!w->minimal) text_string(t, " (fewer may do)");
	if (w->hidden_ops) {
		text_string(t, "; ");
		number_plural(t, w->hidden_ops, "other operation of theirs is",
		              "other operations of theirs are");
		text_string(t, " left out");
	}
}

static void print_event(struct text *t, const struct history *h,
                        const struct event *e, bool marked)
{
	assert(e->key < h->key_count);
	text_pad(t, ' ', INDENT);
	text_string(t, marked ? "* " : "  ");
	name_event(t, h, e);
	if (e->kind == EVENT_READ) {
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
                       const struct history *h, const struct event_marks *marks)
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
                         const struct event_marks *marks)
{
	unsigned columns = 0;
	for (uint32_t i = 0; i < h->session_count; i++)
		columns += h->sessions[i].count > 0;
	if (columns * COLUMN_WIDTH + INDENT > s->width)
		print_list(t, s, h, marks);
	else
		report_marked(t, s, h, marks, INDENT);
}

/* Marks the transactions that report_cycle speaks of. */
static void mark_named(bool *named, const struct history *h,
                       const struct witness *w)
{
	named[HISTORY_INIT] = true;
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		const struct transaction *x = &h->transactions[e->from];
		named[e->from] = true;
		if (e->reason == REASON_FORCED || e->reason == REASON_WW)
			named[e->reader] = true;
		if (e->reason != REASON_RW) continue;
		for (uint32_t k = 0; k < x->event_count; k++)
			if (x->events[k].kind == EVENT_READ &&
			    x->events[k].key == e->key &&
			    x->events[k].from != HISTORY_SELF)
				named[x->events[k].from] = true;
	}
}

/* Those that are not on the cycle, and without which there were none. */
static void print_others(struct text *t, const struct check_witness *w)
{
	const struct history *h = w->part;
	bool *named = mem_take0(h->transaction_count, sizeof *named);
	uint32_t count = 0, left;
	mark_named(named, h, &w->cycle);
	for (uint32_t i = 0; i < h->transaction_count; i++) count += !named[i];
	left = count;
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		if (named[i]) continue;
		text_string(t, left == count ? "  "
		               : left > 1    ? ", "
		                             : " and ");
		name_transaction(t, h, i);
		left--;
	}
	free(named);
	if (count)
		text_format(t,
		            " %s needed too: without %s the writes could "
		            "have another order\n",
		            count == 1 ? "is" : "are",
		            count == 1 ? "it" : "them");
}

void report_witness_cycle(struct text *t, const struct check_witness *w,
                          const char *who)
{
	if (!w->cycle.count) return;
	text_format(t, "  %s would need an order with\n", who);
	report_cycle(t, w->part, &w->cycle, INDENT);
	text_string(t, "  which leads back to where it began\n");
	if (w->minimal) print_others(t, w);
}
