/* Writing the traces that IsoPredict reads (isopredict.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"

/* ---- the order of transactions ---- */

/* IsoPredict wants writers before their readers. Where sessions and reads go
 * round in circles, the order is that of sessions. */
struct walk {
	const struct trace *r;
	enum { NEW, OPEN, DONE } * state; /* by transaction */
	uint32_t *cursor; /* by transaction: operations looked at */
	uint32_t *stack, *out;
	uint32_t depth, count;
	bool circular;
};

/* Is it to be written before the one on top of the stack? */
static bool comes_first(struct walk *w, uint32_t transaction)
{
	if (transaction == TRACE_INIT || transaction >= TRACE_NOBODY ||
	    w->state[transaction] == DONE)
		return false;
	w->circular |= w->state[transaction] == OPEN;
	return w->state[transaction] == NEW;
}

static void enter(struct walk *w, uint32_t transaction)
{
	w->state[transaction] = OPEN;
	w->stack[w->depth++] = transaction;
}

/* Puts what has to precede the top on the stack; or takes the top off. */
static void step(struct walk *w)
{
	uint32_t top = w->stack[w->depth - 1];
	const struct trace_transaction *t = &w->r->transactions[top];
	uint32_t *i = &w->cursor[top];
	if (top > w->r->sessions[t->session].first && comes_first(w, top - 1)) {
		enter(w, top - 1);
		return;
	}
	while (*i < t->op_count) {
		const struct trace_op *op = &w->r->ops[t->first_op + (*i)++];
		if (op->kind == EVENT_READ && comes_first(w, op->from)) {
			enter(w, op->from);
			return;
		}
	}
	w->state[top] = DONE;
	w->out[w->count++] = top;
	w->depth--;
}

/* All transactions but init, as they are to be written; linear. */
static uint32_t *order_of(const struct trace *r, const uint32_t *wanted)
{
	size_t n = r->transaction_count;
	struct walk w = { .r = r };
	w.state = mem_take0(n, sizeof *w.state);
	w.cursor = mem_take0(n, sizeof *w.cursor);
	w.stack = mem_take(n * sizeof *w.stack);
	w.out = mem_take(n * sizeof *w.out);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t t = wanted ? wanted[i] : i;
		if (w.state[t] == NEW) enter(&w, t);
		while (w.depth) step(&w);
	}
	if (w.circular)
		for (uint32_t i = 1; i < n; i++) w.out[i - 1] = i;
	free(w.state);
	free(w.cursor);
	free(w.stack);
	return w.out;
}

/* ---- names ---- */

static bool is_number(const char *s)
{
	return s[strspn(s, "0123456789")] == '\0' && (*s != '0' || !s[1]);
}

/* As the parser sorts them. */
static bool session_before(const char *a, const char *b)
{
	bool first = is_number(a), second = is_number(b);
	if (first != second) return first;
	size_t m = strlen(a), n = strlen(b);
	return first && m != n ? m < n : strcmp(a, b) < 0;
}

/* Text without these and without control characters. */
static bool is_plain(const char *s, const char *without)
{
	if (!s || !*s) return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || strchr(without, *s))
			return false;
	return true;
}

/* Sessions keep their names where their order is that of their names: it is
 * the order in which they are read. */
static bool sessions_keep_names(const struct trace *r)
{
	const char *before = NULL;
	for (uint32_t s = 0; s < r->session_count; s++) {
		const char *name = r->sessions[s].name;
		if (r->sessions[s].after_all) continue;
		if (!is_plain(name, ",)") || !strcmp(name, "0") ||
		    (before && !session_before(before, name)))
			return false;
		before = name;
	}
	return true;
}

struct printed {
	const struct trace *r;
	const struct trace_transaction *transaction;
	bool sessions, keys; /* have their names */
	bool *numbers;       /* by session: its transactions have theirs */
	int64_t *places;     /* by transaction: among those that committed */
	int64_t *key_numbers;
};

static bool keys_keep_names(const struct trace *r)
{
	for (uint32_t k = 0; k < r->key_count; k++)
		if (!is_plain(r->keys[k].name, "]")) return false;
	return true;
}

/* Numbers that increase are kept. */
static void find_numbers(struct printed *p)
{
	const struct trace *r = p->r;
	for (uint32_t s = 0; s < r->session_count; s++) {
		uint32_t first = r->sessions[s].first;
		int64_t place = 0, last = -1;
		p->numbers[s] = true;
		for (uint32_t i = 0; i < r->sessions[s].count; i++) {
			const struct trace_transaction *t =
				&r->transactions[first + i];
			if (t->status != TRACE_COMMITTED) continue;
			p->places[first + i] = place++;
			p->numbers[s] &= t->has_number && t->number > last;
			last = t->number;
		}
	}
}

/* ---- printing ---- */

static void print_id(struct text *t, const struct printed *p,
                     uint32_t transaction)
{
	const struct trace_transaction *x = &p->r->transactions[transaction];
	if (transaction == TRACE_INIT) {
		text_string(t, "0, 0");
		return;
	}
	if (p->sessions)
		text_string(t, p->r->sessions[x->session].name);
	else
		text_int(t, (int64_t)x->session + 1);
	text_string(t, ", ");
	text_int(t,
	         p->numbers[x->session] ? x->number : p->places[transaction]);
}

static void print_key(struct text *t, const struct printed *p, uint32_t key)
{
	if (p->keys)
		text_string(t, p->r->keys[key].name);
	else
		text_int(t, p->key_numbers[key]);
}

static void print_op(struct text *t, const struct printed *p,
                     uint32_t transaction, const struct trace_op *op)
{
	bool read = op->kind == EVENT_READ;
	text_string(t, read ? "READ KEY[" : "WRITE KEY[");
	print_key(t, p, op->key);
	text_string(t, "] Txn(");
	print_id(t, p, transaction);
	if (read) {
		text_string(t, ") From(");
		print_id(t, p, op->from == TRACE_SELF ? transaction : op->from);
	}
	text_string(t, ")\n");
}

static void print_transactions(struct text *t, const struct printed *p,
                               const uint32_t *order)
{
	const struct trace *r = p->r;
	for (uint32_t i = 0; i + 1 < r->transaction_count; i++) {
		const struct trace_transaction *x = &r->transactions[order[i]];
		uint32_t end = x->first_op + x->op_count;
		if (x->status != TRACE_COMMITTED) continue;
		for (uint32_t j = x->first_op; j < end; j++)
			print_op(t, p, order[i], &r->ops[j]);
	}
}

/* A read has the last write of another transaction, or none is to be named. */
static bool can_write(const struct trace *r, struct diags *d)
{
	if (!format_can_write(r, FORMAT_ISOPREDICT, 0, d)) return false;
	if (!r->anomaly_count) return true;
	const struct trace_anomaly *a = &r->anomalies[0];
	diags_add(d, DIAG_ERROR, r->file, r->ops[a->op].line, 0, NULL,
	          "the format %s has no values, and so no way to write what "
	          "only values show: %s; write the history as isoscope",
	          format_word(FORMAT_ISOPREDICT), trace_anomaly_name(a->kind));
	return false;
}

bool isopredict_print(struct text *t, const struct trace *r,
                      const uint32_t *order, struct diags *d)
{
	static const struct renumber rules = { .least = INT64_MIN };
	if (!can_write(r, d)) return false;
	struct printed p = {
		.r = r,
		.sessions = sessions_keep_names(r),
		.keys = keys_keep_names(r),
		.numbers = mem_take0(r->session_count + (size_t)1, 1),
		.places = mem_take0(r->transaction_count, sizeof *p.places),
		.key_numbers = renumber_keys(r, &rules),
	};
	uint32_t *sorted = order_of(r, order);
	find_numbers(&p);
	print_transactions(t, &p, sorted);
	free(sorted);
	free(p.numbers);
	free(p.places);
	free(p.key_numbers);
	return true;
}
