/* A list that was read tells in which order its elements were appended, and
 * what was appended and not read came later: the order of writers that
 * registers hide. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/trace_builder.h"

struct versions {
	struct trace_builder *b;
	size_t known_capacity;
	uint32_t *last;   /* by key: the last committed writer in the list, or
	                   * TRACE_NONE */
	uint32_t *listed; /* by transaction: the last key + 1 in whose list it
	                   * was found */
	bool repeated;    /* some pair may be there twice */
	/* The first element of a list that should not be there: */
	uint32_t *bad; /* by key: its place, or TRACE_NONE */
	bool any_bad;
};

static void add_known(struct versions *v, uint32_t from, uint32_t to,
                      uint32_t key)
{
	struct trace *t = v->b->trace;
	assert(from != to && from != TRACE_INIT && to != TRACE_INIT);
	VEC_RESERVE(t->known, t->known_count, v->known_capacity);
	assert(from && to && from < t->transaction_count &&
	       to < t->transaction_count && key < t->key_count);
	t->known[t->known_count++] = (struct history_known){ from, to, key };
}

static uint32_t find_element(const struct versions *v,
                             const struct trace_versions *list, uint32_t i)
{
	struct trace_value value = v->b->values[list->first + i];
	return trace_find_value(v->b, list->key, value.number, value.flags);
}

/* The list goes on with an element of this transaction. */
static void follow(struct versions *v, uint32_t key, uint32_t writer)
{
	uint32_t before = v->last[key];
	if (before == writer || writer == TRACE_INIT) return;
	v->repeated |= v->listed[writer] == key + 1;
	v->listed[writer] = key + 1;
	if (before != TRACE_NONE) add_known(v, before, writer, key);
	v->last[key] = writer;
}

static void take_list(struct versions *v, const struct trace_versions *list)
{
	struct trace *t = v->b->trace;
	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t op = find_element(v, list, i);
		uint32_t writer = op == TABLE_NONE ? 0 : t->ops[op].from;
		if (op == TABLE_NONE ||
		    t->transactions[writer].status == TRACE_ABORTED) {
			v->any_bad = true;
			if (v->bad[list->key] == TRACE_NONE)
				v->bad[list->key] = i;
			continue;
		}
		t->ops[op].flags |= OP_LISTED;
		follow(v, list->key, writer);
	}
}

/* What was appended and is in no list comes after what is. */
static void take_unread(struct versions *v)
{
	const struct trace *t = v->b->trace;
	uint32_t *done = mem_take0((size_t)t->key_count + 1, sizeof *done);
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *w = &t->transactions[i];
		if (w->status != TRACE_COMMITTED) continue;
		for (uint32_t k = 0; k < w->op_count; k++) {
			const struct trace_op *op = &t->ops[w->first_op + k];
			uint32_t last = v->last[op->key];
			if (op->kind != EVENT_WRITE || last == TRACE_NONE ||
			    last == i || op->flags & OP_LISTED ||
			    done[op->key] == i)
				continue;
			done[op->key] = i;
			add_known(v, last, i, op->key);
		}
	}
	free(done);
}

/* ---- elements that nobody wrote, or that an aborted transaction did ---- */

/* Place + 1 in its list, for each operation that is an element of one. */
static uint32_t *find_places(const struct versions *v)
{
	const struct trace_builder *b = v->b;
	uint32_t *place = mem_take0(b->trace->op_count, sizeof *place);
	for (size_t l = 0; l < b->version_count; l++)
		for (uint32_t i = 0; i < b->versions[l].count; i++) {
			uint32_t op = find_element(v, &b->versions[l], i);
			if (op != TABLE_NONE) place[op] = i + 1;
		}
	return place;
}

static const struct trace_versions **lists_by_key(const struct versions *v)
{
	const struct trace_builder *b = v->b;
	const struct trace_versions **lists =
		mem_take0(b->trace->key_count, sizeof *lists);
	for (size_t l = 0; l < b->version_count; l++)
		lists[b->versions[l].key] = &b->versions[l];
	return lists;
}

/* The read's last element is fine; is an earlier one that is not? */
static void check_read(struct versions *v, uint32_t transaction, uint32_t i,
                       const struct trace_versions *list, const uint32_t *place)
{
	const struct trace *t = v->b->trace;
	const struct trace_op *read = &t->ops[i];
	uint32_t op =
		trace_find_value(v->b, read->key, read->value, read->flags);
	uint32_t bad = v->bad[read->key];
	if (op == TABLE_NONE || place[op] <= bad + 1) return;
	uint32_t other = find_element(v, list, bad);
	if (other == TABLE_NONE)
		trace_note_anomaly(v->b, ANOMALY_THIN_AIR, transaction, i,
		                   TRACE_NOBODY, TRACE_NONE);
	else
		trace_note_anomaly(v->b, ANOMALY_ABORTED, transaction, i,
		                   t->ops[other].from, other);
}

/* Reads that count and whose list goes beyond a bad element. */
static void find_bad_reads(struct versions *v)
{
	const struct trace *t = v->b->trace;
	uint32_t *place = find_places(v);
	const struct trace_versions **lists = lists_by_key(v);
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *w = &t->transactions[i];
		for (uint32_t k = 0; k < w->op_count; k++) {
			uint32_t at = w->first_op + k;
			const struct trace_op *op = &t->ops[at];
			if (op->kind == EVENT_READ &&
			    op->from != TRACE_NOBODY &&
			    op->from != TRACE_INIT &&
			    v->bad[op->key] != TRACE_NONE)
				check_read(v, i, at, lists[op->key], place);
		}
	}
	free(lists);
	free(place);
}

/* ---- all together ---- */

static int compare_known(const void *a, const void *b)
{
	const struct history_known *x = a, *y = b;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	if (x->from != y->from) return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void remove_repeated(struct trace *t)
{
	uint32_t kept = 0;
	t->chain_count = t->tail_count = 0;
	if (!t->known_count) return;
	qsort(t->known, t->known_count, sizeof *t->known, compare_known);
	for (uint32_t i = 0; i < t->known_count; i++)
		if (!kept || compare_known(&t->known[kept - 1], &t->known[i]))
			t->known[kept++] = t->known[i];
	t->known_count = kept;
}

void trace_resolve_versions(struct trace_builder *b)
{
	struct trace *t = b->trace;
	if (!b->version_count) return;
	struct versions v = {
		.b = b,
		.last = mem_take((size_t)t->key_count * sizeof *v.last),
		.bad = mem_take((size_t)t->key_count * sizeof *v.bad),
		.listed = mem_take0(t->transaction_count, sizeof *v.listed)
	};
	for (uint32_t k = 0; k < t->key_count; k++)
		v.last[k] = v.bad[k] = TRACE_NONE;
	for (size_t l = 0; l < b->version_count; l++)
		take_list(&v, &b->versions[l]);
	t->chain_count = t->known_count;
	take_unread(&v);
	t->tail_count = t->known_count - t->chain_count;
	if (v.repeated) remove_repeated(t);
	if (v.any_bad) find_bad_reads(&v);
	free(v.last);
	free(v.bad);
	free(v.listed);
}
