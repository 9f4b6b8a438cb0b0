#include "formats/versions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define UNORDERED UINT32_MAX

struct sorting {
	const struct trace *r;
	struct versions *v;
	uint32_t *rank; /* by transaction: its place in the order */
	/* Of one key: */
	uint32_t *next;    /* by transaction: one that follows, or TRACE_NONE */
	uint32_t *follows; /* by transaction: how many follow directly */
	bool *preceded;
};

/* ---- writes by key ---- */

static bool is_version(const struct trace *r, uint32_t transaction, uint32_t op)
{
	assert(op - r->transactions[transaction].first_op <
	       r->transactions[transaction].op_count);
	return r->transactions[transaction].status == TRACE_COMMITTED &&
	       r->ops[op].kind == EVENT_WRITE;
}

/* Calls for each write of a committed transaction, in the order of their
 * numbers: counts it, or puts it in its place. */
static void each_version(struct versions *v, const struct trace *r, bool put)
{
	for (uint32_t t = 1; t < r->transaction_count; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		uint32_t end = w->first_op + w->op_count;
		for (uint32_t i = w->first_op; i < end; i++) {
			if (!is_version(r, t, i)) continue;
			uint32_t *n = &v->first[r->ops[i].key + !put];
			if (put) v->ops[*n] = i;
			++*n;
		}
	}
}

static void group_by_key(struct versions *v, const struct trace *r)
{
	v->first = mem_take0(r->key_count + (size_t)2, sizeof *v->first);
	v->ops = mem_take(r->op_count * sizeof *v->ops + 1);
	each_version(v, r, false);
	for (uint32_t k = 0; k < r->key_count; k++)
		v->first[k + 1] += v->first[k];
	each_version(v, r, true);
	/* Each first[k] has become first[k + 1]. */
	memmove(v->first + 1, v->first, r->key_count * sizeof *v->first);
	assert(v->first[r->key_count] <= r->op_count);
	v->first[0] = 0;
}

/* ---- what is known ---- */

static int compare_known(const void *a, const void *b)
{
	const struct history_known *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

static void clear_known(struct sorting *s, const struct history_known *known,
                        uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		s->next[known[i].from] = s->next[known[i].to] = TRACE_NONE;
		s->follows[known[i].from] = s->follows[known[i].to] = 0;
		s->preceded[known[i].from] = s->preceded[known[i].to] = false;
		s->rank[known[i].from] = s->rank[known[i].to] = UNORDERED;
	}
}

/* The edges of a key are a chain whose last transaction may precede several,
 * in no order. Ranks those of the chain; false if they are no chain. */
static bool rank_chain(struct sorting *s, const struct history_known *known,
                       uint32_t count)
{
	uint32_t head = TRACE_NONE, senders = 0, walked = 0;
	assert(count > 0);
	clear_known(s, known, count);
	for (uint32_t i = 0; i < count; i++) {
		senders += !s->follows[known[i].from]++;
		s->next[known[i].from] = known[i].to;
		s->preceded[known[i].to] = true;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!s->preceded[known[i].from]) head = known[i].from;
	if (head == TRACE_NONE) return false;
	while (walked < senders && s->follows[head] == 1) {
		s->rank[head] = walked++;
		head = s->next[head];
	}
	s->rank[head] = walked;
	/* What follows the last may not be of the chain itself. */
	for (uint32_t i = 0; i < count; i++)
		if (known[i].from == head && s->rank[known[i].to] != UNORDERED)
			return false;
	assert(walked <= senders);
	return walked + (s->follows[head] > 0) == senders;
}

/* A key without edges: all its writes are by one transaction, or nobody knows
 * which came first. */
static void rank_alone(struct sorting *s, uint32_t key)
{
	const struct trace_op *ops = s->r->ops;
	uint32_t *of_key = s->v->ops + s->v->first[key];
	uint32_t n = s->v->first[key + 1] - s->v->first[key];
	bool one = true;
	assert(key < s->r->key_count);
	for (uint32_t i = 1; i < n; i++)
		one = one && ops[of_key[i]].from == ops[of_key[0]].from;
	for (uint32_t i = 0; i < n; i++)
		s->rank[ops[of_key[i]].from] = one ? 0 : UNORDERED;
}

/* ---- sorting the writes of a key ---- */

struct ranked {
	uint32_t rank, op;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static void sort_key(struct sorting *s, uint32_t key, struct ranked *scratch)
{
	struct versions *v = s->v;
	uint32_t *ops = v->ops + v->first[key];
	uint32_t n = v->first[key + 1] - v->first[key], ordered = 0;
	assert(key < s->r->key_count && v->first[key] <= v->first[key + 1]);
	if (!n) return;
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = (struct ranked){ s->rank[s->r->ops[ops[i]].from],
			                      ops[i] };
	qsort(scratch, n, sizeof *scratch, compare_ranked);
	for (uint32_t i = 0; i < n; i++) {
		ops[i] = scratch[i].op;
		if (scratch[i].rank == UNORDERED) continue;
		v->place[ops[i]] = i;
		ordered++;
	}
	v->ordered[key] = ordered;
}

static bool sort_by_known(struct sorting *s, struct ranked *scratch)
{
	const struct trace *r = s->r;
	struct history_known *known =
		mem_take((r->known_count + (size_t)1) * sizeof *known);
	bool good = true;
	if (r->known_count)
		memcpy(known, r->known, r->known_count * sizeof *known);
	qsort(known, r->known_count, sizeof *known, compare_known);
	for (uint32_t k = 0, i = 0; k < r->key_count && good; k++) {
		uint32_t start = i;
		while (i < r->known_count && known[i].key == k) i++;
		rank_alone(s, k);
		if (i > start) good = rank_chain(s, known + start, i - start);
		sort_key(s, k, scratch);
	}
	free(known);
	return good;
}

static void sort_by_order(struct sorting *s, const uint32_t *order,
                          struct ranked *scratch)
{
	const struct trace *r = s->r;
	uint32_t committed = 0;
	for (uint32_t t = 1; t < r->transaction_count; t++)
		committed += r->transactions[t].status == TRACE_COMMITTED;
	for (uint32_t i = 0; committed; i++) {
		assert(i < r->transaction_count);
		uint32_t t = order[i];
		s->rank[t] = i;
		if (t == TRACE_INIT) continue;
		committed -= r->transactions[t].status == TRACE_COMMITTED;
	}
	for (uint32_t k = 0; k < r->key_count; k++) sort_key(s, k, scratch);
}

bool versions_find(struct versions *v, const struct trace *r,
                   const uint32_t *order)
{
	size_t n = r->transaction_count;
	bool good = true;
	struct sorting s = {
		.r = r,
		.v = v,
		.rank = mem_take0(n, sizeof *s.rank),
		.next = mem_take0(n, sizeof *s.next),
		.follows = mem_take0(n, sizeof *s.follows),
		.preceded = mem_take0(n, sizeof *s.preceded),
	};
	struct ranked *scratch =
		mem_take((r->op_count + (size_t)1) * sizeof *scratch);
	assert(!v->ops && !v->place);
	v->ordered = mem_take0(r->key_count + (size_t)1, sizeof *v->ordered);
	v->place = mem_take((r->op_count + (size_t)1) * sizeof *v->place);
	memset(v->place, 0xff, r->op_count * sizeof *v->place);
	group_by_key(v, r);
	if (order)
		sort_by_order(&s, order, scratch);
	else
		good = sort_by_known(&s, scratch);
	free(s.rank);
	free(s.next);
	free(s.follows);
	free(s.preceded);
	free(scratch);
	return good;
}

void versions_free(struct versions *v)
{
	free(v->ops);
	free(v->first);
	free(v->ordered);
	free(v->place);
}
