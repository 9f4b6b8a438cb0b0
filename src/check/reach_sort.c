/* Orders of the points that the edges allow, and cycles of edges. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/strong.h"

static void count_degrees(struct strong *s)
{
	for (uint32_t p = 1u << s->two; p < s->points; p++)
		s->degree[p] = point_previous(s, p) != UINT32_MAX;
	for (size_t i = 0; i < s->edge_count; i++) s->degree[s->edges[i].to]++;
}

static void release(struct strong *s, uint32_t p, uint32_t *end)
{
	if (!--s->degree[p]) {
		s->topo_rank[p] = *end;
		s->topo[(*end)++] = p;
	}
}

bool reach_sort_points(struct strong *s)
{
	uint32_t end = 0, first = 1u << s->two;
	count_degrees(s);
	for (uint32_t p = first; p < s->points; p++)
		if (!s->degree[p]) {
			s->topo_rank[p] = end;
			s->topo[end++] = p;
		}
	for (uint32_t i = 0; i < end; i++) {
		uint32_t p = s->topo[i], next = point_next(s, p);
		if (next != UINT32_MAX) release(s, next, &end);
		for (uint32_t e = s->first_out[p]; e != NO_EDGE;
		     e = s->edges[e].next_out)
			release(s, s->edges[e].to, &end);
	}
	return end == s->points - first;
}

void reach_sort(struct strong *s)
{
	bool acyclic = reach_sort_points(s);
	assert(acyclic);
	(void)acyclic;
}

/* ---- An order close to that of time ---- */

/* When a transaction ran, from 0 to 1, if its session ran all the time. */
static double hour_of(const struct facts *f, uint32_t t)
{
	uint32_t session = f->session_of[t];
	uint32_t first = f->session_first[session];
	uint32_t count = f->session_first[session + 1] - first;
	return (t - first + 0.5) / count;
}

struct heap {
	uint32_t *items; /* points */
	uint32_t count;
	const double *hours; /* by transaction */
	unsigned two;
};

static bool is_earlier(const struct heap *h, uint32_t p, uint32_t q)
{
	double a = h->hours[p >> h->two], b = h->hours[q >> h->two];
	return a < b || (a == b && p < q);
}

static void heap_push(struct heap *h, uint32_t p)
{
	uint32_t i = h->count++;
	for (; i && is_earlier(h, p, h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = p;
}

static uint32_t heap_pop(struct heap *h)
{
	uint32_t top = h->items[0], last = h->items[--h->count], i = 0;
	for (uint32_t child; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count &&
		    is_earlier(h, h->items[child + 1], h->items[child]))
			child++;
		if (!is_earlier(h, h->items[child], last)) break;
		h->items[i] = h->items[child];
	}
	h->items[i] = last;
	return top;
}

void reach_sort_by_time(struct strong *s)
{
	uint32_t end = 0;
	double *hours = mem_take(s->f->n * sizeof *hours);
	struct heap h = { .items = s->queue, .hours = hours, .two = s->two };
	for (uint32_t t = 1; t < s->f->n; t++) hours[t] = hour_of(s->f, t);
	count_degrees(s);
	for (uint32_t p = 1u << s->two; p < s->points; p++)
		if (!s->degree[p]) heap_push(&h, p);
	while (h.count) {
		uint32_t p = heap_pop(&h), next = point_next(s, p);
		s->topo_rank[p] = end;
		s->topo[end++] = p;
		if (next != UINT32_MAX && !--s->degree[next])
			heap_push(&h, next);
		for (uint32_t e = s->first_out[p]; e != NO_EDGE;
		     e = s->edges[e].next_out)
			if (!--s->degree[s->edges[e].to])
				heap_push(&h, s->edges[e].to);
	}
	assert(end == s->points - (1u << s->two));
	free(hours);
}

void strong_order(const struct strong *s, uint32_t *order)
{
	uint32_t count = s->points - (1u << s->two), end = 0;
	order[end++] = HISTORY_INIT;
	for (uint32_t i = 0; i < count; i++)
		if ((s->topo[i] & s->two) == s->two)
			order[end++] = point_owner(s, s->topo[i]);
}

/* ---- Cycles ---- */

/* A point before p that was not sorted either; by which edge, or NO_EDGE for a
 * step along the chain. */
static uint32_t step_back(const struct strong *s, uint32_t p, uint32_t *edge)
{
	uint32_t previous = point_previous(s, p);
	*edge = NO_EDGE;
	if (previous != UINT32_MAX && s->degree[previous]) return previous;
	*edge = s->first_in[p];
	while (!s->degree[s->edges[*edge].from])
		*edge = s->edges[*edge].next_in;
	return s->edges[*edge].from;
}

void reach_find_cycle(struct strong *s)
{
	uint32_t p = 1u << s->two, e, newest = NO_EDGE;
	while (!s->degree[p]) p++;
	for (uint32_t i = 0; i < s->points; i++) p = step_back(s, p, &e);
	uint32_t meet = p;
	do {
		p = step_back(s, p, &e);
		if (e != NO_EDGE && (newest == NO_EDGE || e > newest))
			newest = e;
	} while (p != meet);
	assert(newest != NO_EDGE);
	s->conflict = s->edges[newest];
	s->conflict_limit = newest;
	s->conflicting = true;
}
