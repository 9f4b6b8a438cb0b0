/* The small part of a recorded history that violates a level. */
#include <assert.h>
#include <stdlib.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "check/minimal_violation.h"
#include "history/history.h"
#include "history/trace.h"
#include "result/witness_words.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "result/result.h"

/* ["r","x",1,"alice.1 enroll"], ["w","x",2]; null for a value that was not
 * observed */
static void add_event(struct result *r, struct result_values *to,
                      const struct history *h, const struct event *e)
{
	struct text words = { 0 };
	if (event_gives_up(e)) {
		result_text(r, to, NULL, "u");
		result_text(r, to, NULL, h->keys[e->key].name);
		return;
	}
	result_text(r, to, NULL, e->kind == EVENT_READ ? "r" : "w");
	result_text(r, to, NULL, h->keys[e->key].name);
	value_print_json(&words, h->valueless ? value_null() : e->value);
	result_json(r, to, NULL, &words);
	if (e->kind == EVENT_READ) {
		if (e->from == HISTORY_SELF)
			text_string(&words, "self");
		else
			name_transaction(&words, h, e->from);
		result_taken(r, to, NULL, &words);
		if (e->strength != STRENGTH_PLAIN)
			result_text(r, to, NULL, strength_letter(e->strength));
	}
	text_free(&words);
}

/* Where levels differ. */
static void add_level(struct result *r, struct result_values *to,
                      const char *word)
{
	if (word) result_text(r, to, "at", word);
}

static void add_transaction(struct result *r, struct result_values *to,
                            const struct trace *t,
                            const struct check_witness *w, uint32_t i)
{
	assert(i && i < w->part->transaction_count);
	const struct history *h = w->part;
	const struct transaction *x = &h->transactions[i];
	uint32_t line = t->transactions[w->numbers[i]].line;
	struct text words = { 0 };
	name_transaction(&words, h, i);
	result_taken(r, to, "transaction", &words);
	result_text(r, to, "session", h->sessions[x->session].name);
	result_count(r, to, "index", x->index);
	add_level(r, to, transaction_level(h, i));
	result_count_if(r, to, "line", line, line);
	result_flag(r, to, "committed", !x->aborted);
	struct result_values *operations = result_list(r, to, "operations");
	for (uint32_t e = 0; e < x->event_count; e++)
		add_event(r, result_list(r, operations, NULL), h,
		          &x->events[e]);
	text_free(&words);
}

struct witness result_cycle_of(struct result *r, enum level others,
                               const struct history *h)
{
	struct witness found = { 0 }, cycle;
	assert(h);
	level_witness_mix(others, h, &found);
	cycle.count = found.count;
	cycle.edges =
		region_take(&r->region, found.count * sizeof *cycle.edges);
	for (uint32_t i = 0; i < found.count; i++)
		cycle.edges[i] = found.edges[i];
	witness_free(&found);
	return cycle;
}

void result_cycle(struct result *r, struct result_values *to,
                  const struct history *h, const struct witness *w)
{
	struct text words = { 0 };
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		struct result_values *edge = result_group(r, to, NULL);
		name_transaction(&words, h, e->from);
		result_taken(r, edge, "from", &words);
		name_transaction(&words, h, e->to);
		result_taken(r, edge, "to", &words);
		explain_edge_label(&words, h, e);
		result_taken(r, edge, "reason", &words);
		add_level(r, edge, edge_level(h, e));
		explain_edge(&words, h, e);
		result_taken(r, edge, "words", &words);
	}
	text_free(&words);
}

void result_witness(struct result *r, struct result_values *to,
                    const struct trace *t, const struct check_witness *w)
{
	result_text(r, to, "anomaly", w->anomaly);
	result_flag(r, to, "minimal", w->minimal);
	result_count(r, to, "operations_left_out", w->hidden_ops);
	struct result_values *list = result_list(r, to, "transactions");
	for (uint32_t i = 1; i < w->part->transaction_count; i++)
		add_transaction(r, result_group(r, list, NULL), t, w, i);
	result_cycle(r, result_list(r, to, "cycle"), w->part, &w->cycle);
	result_steps(r, to, w->part, NULL, NULL);
}

/* ---- in words ---- */

/* "these 2 of 1,000 transactions are enough, whatever the others do" */
static void name_extent(struct text *t, const struct check_witness *w,
                        uint32_t all)
{
	assert(w->part && w->part->transaction_count <= all + 1);
	uint32_t count = w->part->transaction_count - 1;
	if (count == all) {
		text_string(t, "all its transactions are needed");
	} else {
		text_string(t, "these ");
		number_of(t, count, all, "transaction", "transactions");
		text_string(t, " are enough, whatever the others do");
	}
	if (!w->minimal) text_string(t, " (fewer may do)");
	if (w->hidden_ops) {
		text_string(t, "; ");
		number_plural(t, w->hidden_ops, "other operation of theirs is",
		              "other operations of theirs are");
		text_string(t, " left out");
	}
}

/* Marks the transactions that the words of the cycle speak of. */
static void mark_named(bool *named, const struct history *h,
                       const struct witness *w)
{
	named[HISTORY_INIT] = true;
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		const struct transaction *x = &h->transactions[e->from];
		named[e->from] = true;
		if (e->reason == REASON_FORCED || e->reason == REASON_WW ||
		    e->reason == REASON_SSI)
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
static void name_others(struct text *t, const struct check_witness *w)
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

void result_witness_part(struct result *r, struct result_part *to,
                         const struct check_witness *w, uint32_t all,
                         const char *who, const struct text *closing)
{
	struct text words = { 0 };
	to->anomaly = w->anomaly;
	to->anomaly_leads = true;
	to->history = w->part;
	to->cycle = w->cycle;
	name_extent(&words, w, all);
	to->extent = result_words(r, &words);
	to->cycle_leads = result_format(r, "%s would need an order with", who);
	if (w->cycle.count && w->minimal) name_others(&words, w);
	if (closing) text_string(&words, text_get(closing));
	if (words.length) to->closing = result_words(r, &words);
	text_free(&words);
}
