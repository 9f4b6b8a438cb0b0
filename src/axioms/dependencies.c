#include "axioms/dependencies.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define NEVER UINT32_MAX

static word *successors(const struct dependencies *d, uint32_t point)
{
	return d->rows + (size_t)point * d->width;
}

static uint32_t transaction_of(const struct dependencies *d, uint32_t point)
{
	return d->points == 2 && point >= d->half ? point - d->half : point;
}

static uint32_t commit_of(const struct dependencies *d, uint32_t transaction)
{
	return d->points == 2 ? d->half + transaction : transaction;
}

void dependencies_init(struct dependencies *d, const struct relation *r,
                       unsigned points)
{
	size_t nodes = (size_t)points * 64 * r->words;
	*d = (struct dependencies){ .r = r,
		                    .points = points,
		                    .half = 64 * r->words,
		                    .width = points * r->words };
	d->rows = mem_take0(nodes * d->width, sizeof(word));
	d->met = mem_take0(d->width, sizeof(word));
	d->parent = mem_take0(nodes, sizeof(uint32_t));
	d->depth = mem_take0(nodes, sizeof(uint32_t));
	d->queue = mem_take0(nodes, sizeof(uint32_t));
	for (uint32_t t = 0; t < r->n; t++) {
		const word *direct = r->direct + (size_t)t * r->words;
		BITS_EACH(u, direct, r->words)
			bits_add(successors(d, commit_of(d, u)), t);
	}
}

void dependencies_free(struct dependencies *d)
{
	free(d->rows);
	free(d->added);
	free(d->met);
	free(d->parent);
	free(d->depth);
	free(d->queue);
}

bool dependencies_add(struct dependencies *d, struct dependency e)
{
	word *row = successors(d, e.from);
	if (bits_has(row, e.to)) return false;
	bits_add(row, e.to);
	VEC_RESERVE(d->added, d->count, d->capacity);
	d->added[d->count++] = e;
	return true;
}

void dependencies_cut(struct dependencies *d, size_t count)
{
	assert(count <= d->count);
	while (d->count > count) {
		struct dependency e = d->added[--d->count];
		bits_drop(successors(d, e.from), e.to);
	}
}

/* Breadth first. Who has reached a begin can leave from the commit too. */
void dependencies_search(struct dependencies *d, uint32_t from, uint32_t limit)
{
	uint32_t first = 0, last = 0;
	bits_zero(d->met, d->width);
	bits_add(d->met, from);
	d->depth[from] = 0;
	d->queue[last++] = from;
	while (first < last && d->depth[d->queue[first]] + 1 < limit) {
		uint32_t p = d->queue[first++];
		const word *row = successors(d, p);
		bool begins = d->points == 2 && p < d->half;
		const word *also = begins ? successors(d, p + d->half) : row;
		for (unsigned w = 0; w < d->width; w++) {
			word fresh = (row[w] | also[w]) & ~d->met[w];
			d->met[w] |= fresh;
			for (; fresh; fresh &= fresh - 1) {
				uint32_t q = 64 * w +
				             (unsigned)__builtin_ctzll(fresh);
				d->parent[q] = p;
				d->depth[q] = d->depth[p] + 1;
				d->queue[last++] = q;
			}
		}
	}
}

/* Where the last search reached the point, or the begin of its transaction
 * when it is a commit; NEVER if it did not. */
static uint32_t reached(const struct dependencies *d, uint32_t point)
{
	uint32_t best = bits_has(d->met, point) ? point : NEVER;
	uint32_t begin = transaction_of(d, point);
	if (begin == point || !bits_has(d->met, begin)) return best;
	return best == NEVER || d->depth[begin] < d->depth[best] ? begin : best;
}

static struct dependency base_edge(const struct dependencies *d, uint32_t from,
                                   uint32_t to)
{
	struct dependency e = { from, to, REASON_SO, 0, to };
	const struct relation *r = d->r;
	if (bits_has(r->so + (size_t)to * r->words, from)) return e;
	e.reason = REASON_WR;
	for (uint32_t i = 0; i < r->read_count; i++) {
		if (r->reads[i].reader != to || r->reads[i].source != from)
			continue;
		e.key = r->reads[i].key;
		break;
	}
	return e;
}

/* The reason why point `to` follows the point `from`, or its commit. */
static struct dependency edge_between(const struct dependencies *d,
                                      uint32_t from, uint32_t to)
{
	const struct relation *r = d->r;
	uint32_t a = transaction_of(d, from), b = transaction_of(d, to);
	bool begins = d->points == 1 || to < d->half;
	if (begins && bits_has(r->direct + (size_t)b * r->words, a))
		return base_edge(d, a, b);
	for (size_t i = 0; i < d->count; i++) {
		struct dependency e = d->added[i];
		if (transaction_of(d, e.from) == a && e.to == to &&
		    (e.from == from || from == a))
			return e;
	}
	assert(!"a path takes edges of the graph");
	return (struct dependency){ from, to, REASON_SO, 0, b };
}

static struct witness_edge in_transactions(const struct dependencies *d,
                                           struct dependency e)
{
	return (struct witness_edge){ .from = transaction_of(d, e.from),
		                      .to = transaction_of(d, e.to),
		                      .reason = e.reason,
		                      .key = e.key,
		                      .reader = e.reader };
}

void dependencies_close(struct dependencies *d, struct dependency e,
                        struct witness *best)
{
	uint32_t at = reached(d, e.from);
	if (at == NEVER) return;
	uint32_t length = d->depth[at] + 1;
	if (best->count && best->count <= length) return;
	free(best->edges);
	best->count = length;
	best->edges = mem_take(length * sizeof *best->edges);
	best->edges[0] = in_transactions(d, e);
	for (uint32_t i = length; i-- > 1; at = d->parent[at])
		best->edges[i] =
			in_transactions(d, edge_between(d, d->parent[at], at));
	assert(at == e.to);
}

void dependencies_base_cycle(struct dependencies *d, struct witness *best)
{
	assert(d->points == 1);
	for (uint32_t t = 0; t < d->r->n && best->count != 2; t++) {
		const word *direct = d->r->direct + (size_t)t * d->r->words;
		dependencies_search(d, t, best->count ? best->count : NEVER);
		BITS_EACH(u, direct, d->r->words)
			dependencies_close(d, base_edge(d, u, t), best);
	}
}
