#include "trace_shape.h"

#include <stdlib.h>

#include "base/memory.h"
#include "formats/renumber.h"

struct shape {
	struct text *t;
	const struct trace *r;
	unsigned without;
	uint32_t *key; /* number + 1 in the order of appearance; 0: none */
	uint32_t keys;
	uint32_t *session; /* by transaction: its place in what is kept */
	uint32_t *place;
	bool *counts; /* by operation */
};

unsigned shape_of_format(enum format f)
{
	switch (f) {
	case FORMAT_PLUME: return SHAPE_NO_EMPTY | SHAPE_MERGED | SHAPE_NO_LAST;
	case FORMAT_AWDIT:
	case FORMAT_ISOPREDICT:
		return SHAPE_NO_EMPTY | SHAPE_NO_ABORTED | SHAPE_NO_LAST;
	case FORMAT_COBRA: return SHAPE_NO_ABORTED | SHAPE_NO_LAST;
	case FORMAT_ISOSCOPE: return 0;
	case FORMAT_REGISTER_EDN:
	case FORMAT_REGISTER_JSON:
	case FORMAT_LIST_EDN:
	case FORMAT_LIST_JSON: return SHAPE_NO_VOID | SHAPE_NO_LAST;
	default: return SHAPE_NO_LAST;
	}
}

static bool keeps(const struct shape *s, const struct trace_transaction *w)
{
	if (w->status != TRACE_COMMITTED && s->without & SHAPE_NO_ABORTED)
		return false;
	if (s->without & SHAPE_NO_LAST && s->r->sessions[w->session].after_all)
		return false;
	for (uint32_t i = 0; i < w->op_count; i++)
		if (s->counts[w->first_op + i]) return true;
	return !(s->without & SHAPE_NO_EMPTY);
}

/* Gives the transactions that are kept their places. */
static void find_places(struct shape *s)
{
	const struct trace *r = s->r;
	uint32_t sessions = 0;
	for (uint32_t i = 0; i < r->session_count; i++) {
		bool open = false, any = false;
		uint32_t place = 0;
		for (uint32_t j = 0; j < r->sessions[i].count; j++) {
			uint32_t t = r->sessions[i].first + j;
			const struct trace_transaction *w = &r->transactions[t];
			if (!keeps(s, w)) continue;
			bool merge = w->status != TRACE_COMMITTED &&
			             s->without & SHAPE_MERGED;
			place += !(merge && open);
			open = merge;
			any = true;
			s->session[t] = sessions;
			s->place[t] = place;
		}
		bool after =
			s->without & SHAPE_NO_LAST && r->sessions[i].after_all;
		bool dropped = s->without & (SHAPE_NO_EMPTY | SHAPE_NO_VOID);
		sessions += any || (!dropped && !after);
	}
}

static void print_place(const struct shape *s, uint32_t t)
{
	if (t == TRACE_INIT)
		text_string(s->t, "init");
	else if (t == TRACE_SELF)
		text_string(s->t, "self");
	else if (t == TRACE_NOBODY)
		text_string(s->t, "nobody");
	else
		text_format(s->t, "%u.%u", s->session[t], s->place[t]);
}

static void print_op(struct shape *s, const struct trace_op *op)
{
	if (!s->key[op->key]) s->key[op->key] = ++s->keys;
	text_format(s->t, " %c%u", op->kind == EVENT_READ ? 'r' : 'w',
	            s->key[op->key]);
	if (op->kind == EVENT_WRITE) return;
	text_char(s->t, '<');
	print_place(s, op->from);
}

/* On the line of `last`, the transaction before it, if it is one with it. */
static void print_transaction(struct shape *s, uint32_t t, uint32_t last)
{
	const struct trace_transaction *w = &s->r->transactions[t];
	if (!last || s->session[t] != s->session[last] ||
	    s->place[t] != s->place[last]) {
		if (last) text_char(s->t, '\n');
		print_place(s, t);
		text_string(s->t, w->status == TRACE_COMMITTED ? ":" : "!:");
	}
	for (uint32_t i = 0; i < w->op_count; i++)
		if (s->counts[w->first_op + i])
			print_op(s, &s->r->ops[w->first_op + i]);
}

static void print_anomaly(const struct shape *s, const struct trace_anomaly *a)
{
	const struct trace_transaction *w = &s->r->transactions[a->transaction];
	if (!keeps(s, w)) return;
	text_format(s->t, "%s ", trace_anomaly_word(a->kind));
	print_place(s, a->transaction);
	text_format(s->t, " %u ", a->op - w->first_op);
	print_place(s, a->writer);
	text_char(s->t, '\n');
}

void trace_shape(struct text *t, const struct trace *r, unsigned without)
{
	struct shape s = { .t = t, .r = r, .without = without };
	s.key = mem_take0(r->key_count + 1, sizeof *s.key);
	s.session = mem_take0(r->transaction_count + 1, sizeof *s.session);
	s.place = mem_take0(r->transaction_count + 1, sizeof *s.place);
	s.counts = ops_that_count(r);
	find_places(&s);
	for (uint32_t i = 1, last = 0; i < r->transaction_count; i++)
		if (keeps(&s, &r->transactions[i])) {
			print_transaction(&s, i, last);
			last = i;
		}
	text_char(t, '\n');
	for (uint32_t i = 0; i < r->anomaly_count; i++)
		print_anomaly(&s, &r->anomalies[i]);
	free(s.key);
	free(s.session);
	free(s.place);
	free(s.counts);
}
