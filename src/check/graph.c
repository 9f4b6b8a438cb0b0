#include "check/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	STEPS_BETWEEN_LOOKS = 4096, /* some 10 microseconds */
	SURE_ENOUGH = 64            /* cycles to choose the shortest from */
};

/* So that the bits of pairs take no more than the facts do. */
enum { BITS_FOR_EACH_OPERATION = 64 };

void graph_init(struct graph *g, const struct facts *f,
                struct check_clock *clock)
{
	*g = (struct graph){ .f = f,
		             .clock = clock,
		             .known_first = GRAPH_NONE };
	g->head = mem_take(f->n * sizeof *g->head);
	memset(g->head, 0xff, f->n * sizeof *g->head);
	uint64_t n = f->n, bits = n * n;
	uint64_t operations = f->read_first[n] + (uint64_t)f->write_first[n];
	if (bits / BITS_FOR_EACH_OPERATION <= operations)
		g->pairs = mem_take0(BITS_WORDS(bits), sizeof *g->pairs);
}

void graph_free(struct graph *g)
{
	free(g->edges);
	free(g->head);
	free(g->pairs);
}

/* Leaves one edge of those from the same transaction to the same. */
static void compact(struct graph *g)
{
	uint32_t n = g->f->n, count = 0;
	uint32_t *last = mem_take0(n, sizeof *last); /* 1 + target */
	struct graph_edge *edges = mem_take(g->capacity * sizeof *edges);
	for (uint32_t to = 0; to < n; to++) {
		uint32_t i = g->head[to], head = GRAPH_NONE;
		for (; i != GRAPH_NONE; i = g->edges[i].next) {
			uint32_t from = g->edges[i].from;
			if (last[from] == to + 1) continue;
			last[from] = to + 1;
			edges[count] = (struct graph_edge){ from, head };
			head = count++;
		}
		g->head[to] = head;
	}
	free(last);
	free(g->edges);
	g->edges = edges;
	g->count = count;
}

/* The same edge may be forced many times. From this size on it pays to drop
 * copies before growing. */
enum { COMPACT_FROM = 1 << 20 };

static void make_room(struct graph *g)
{
	if (g->count < g->capacity) return;
	if (g->known_first == GRAPH_NONE && g->count >= COMPACT_FROM)
		compact(g);
	if (g->count <= g->capacity / 2 && g->capacity) return;
	g->capacity = g->capacity ? 2 * g->capacity : 1024;
	g->edges = mem_grow(g->edges, g->capacity, sizeof *g->edges);
}

static void append(struct graph *g, uint32_t from, uint32_t to)
{
	assert(from != to && from < g->f->n && to < g->f->n);
	make_room(g);
	g->edges[g->count] = (struct graph_edge){ from, g->head[to] };
	g->head[to] = g->count++;
	if (to == 0 || facts_so(g->f, to, from)) g->sure++;
	g->backward |= g->f->rank && g->f->rank[from] > g->f->rank[to];
}

/* Is there an edge already? If it says no, there may be all the same, unless
 * there are bits; then it says no once. */
static bool is_there(struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t last = g->head[to];
	if (last != GRAPH_NONE && g->edges[last].from == from) return true;
	if (!g->pairs) return false;
	uint64_t bit = (uint64_t)to * g->f->n + from;
	word *w = &g->pairs[bit / 64], mask = (word)1 << bit % 64;
	if (*w & mask) return true;
	*w |= mask;
	return false;
}

void graph_add(struct graph *g, uint32_t from, uint32_t to)
{
	if (is_there(g, from, to) || facts_so(g->f, from, to)) return;
	append(g, from, to);
}

void graph_add_known(struct graph *g)
{
	const struct facts *f = g->f;
	assert(g->known_first == GRAPH_NONE);
	g->known_first = g->count;
	for (uint32_t i = 0; i < f->known_count; i++)
		if (!facts_so(f, f->known[i].from, f->known[i].to))
			append(g, f->known[i].from, f->known[i].to);
}

bool graph_enough(struct graph *g, uint64_t steps)
{
	steps += g->steps;
	g->steps = (uint32_t)(steps % STEPS_BETWEEN_LOOKS);
	if (steps >= STEPS_BETWEEN_LOOKS && check_clock_over(g->clock)) {
		g->stopped = true;
		g->reason = check_clock_reason(g->clock);
	}
	return g->stopped || g->sure >= SURE_ENOUGH;
}

bool graph_too_large(struct graph *g, uint64_t bytes)
{
	assert(g->count <= g->capacity);
	bytes += (uint64_t)g->capacity * sizeof *g->edges;
	if (!check_clock_too_large(g->clock, bytes)) return false;
	g->stopped = true;
	g->reason = CHECK_MEMORY;
	return true;
}

/* ---- predecessors ---- */

static bool follows_all(const struct facts *f, uint32_t t)
{
	uint32_t s = f->session_of[t];
	return s == f->after_all && t == f->session_first[s];
}

struct graph_preds graph_preds(const struct graph *g, uint32_t t)
{
	const struct facts *f = g->f;
	assert(t != 0 && t < f->n);
	struct graph_preds p = { .read = f->read_first[t], .edge = g->head[t] };
	if (t != f->session_first[f->session_of[t]])
		p.so = 1;
	else if (follows_all(f, t))
		p.so = f->session_count;
	return p;
}

/* The last transaction of a session that precedes the one after all; GRAPH_NONE
 * if it has none. */
static uint32_t last_of_session(const struct facts *f, uint32_t s)
{
	bool none = s == f->after_all ||
	            f->session_first[s] == f->session_first[s + 1];
	return none ? GRAPH_NONE : f->session_first[s + 1] - 1;
}

static uint32_t next_in_session_order(const struct facts *f, uint32_t t,
                                      struct graph_preds *p)
{
	if (!follows_all(f, t)) {
		p->so = 0;
		return t - 1;
	}
	while (p->so) {
		uint32_t last = last_of_session(f, --p->so);
		if (last != GRAPH_NONE) return last;
	}
	return GRAPH_NONE;
}

uint32_t graph_next_pred(const struct graph *g, uint32_t t,
                         struct graph_preds *p)
{
	const struct facts *f = g->f;
	if (p->so) {
		uint32_t u = next_in_session_order(f, t, p);
		if (u != GRAPH_NONE) return u;
	}
	while (p->read < f->read_first[t + 1]) {
		uint32_t from = f->reads[p->read++].from;
		if (from) return from;
	}
	if (p->edge == GRAPH_NONE) return GRAPH_NONE;
	uint32_t from = g->edges[p->edge].from;
	p->edge = g->edges[p->edge].next;
	return from;
}

/* ---- strongly connected components ---- */

struct frame {
	uint32_t t, low; /* low: smallest index that it reaches, so far */
	struct graph_preds rest;
};

struct tarjan {
	struct graph *g;
	uint32_t *index;      /* by transaction, from 1; 0: not visited */
	uint32_t *components; /* 0 while on the stack */
	uint32_t *stack, *order;
	uint32_t visited, stacked, ordered;
	uint32_t component_count; /* of more than one transaction */
	struct frame *frames;
	size_t depth, capacity;
};

/* Until the end, those by themselves have this number. */
enum { ALONE = UINT32_MAX };

static void enter(struct tarjan *a, uint32_t t)
{
	VEC_RESERVE(a->frames, a->depth, a->capacity);
	a->index[t] = ++a->visited;
	a->stack[a->stacked++] = t;
	a->frames[a->depth++] =
		(struct frame){ t, a->index[t], graph_preds(a->g, t) };
}

/* The component is what lies above t on the stack. All that precede it have
 * been put in order before. */
static void close_component(struct tarjan *a, uint32_t t)
{
	uint32_t number = ALONE, u;
	if (a->stack[a->stacked - 1] != t) number = ++a->component_count;
	do {
		u = a->stack[--a->stacked];
		a->components[u] = number;
		a->order[a->ordered++] = u;
	} while (u != t);
}

static void leave(struct tarjan *a)
{
	struct frame done = a->frames[--a->depth];
	if (done.low == a->index[done.t]) close_component(a, done.t);
	if (!a->depth) return;
	struct frame *up = &a->frames[a->depth - 1];
	if (done.low < up->low) up->low = done.low;
}

/* False if the clock stopped it. */
static bool visit_from(struct tarjan *a, uint32_t root)
{
	enter(a, root);
	while (a->depth) {
		struct frame *top = &a->frames[a->depth - 1];
		uint32_t u = graph_next_pred(a->g, top->t, &top->rest);
		if (u == GRAPH_NONE) {
			leave(a);
			graph_enough(a->g, 1);
			if (a->g->stopped) return false;
		} else if (!a->index[u]) {
			enter(a, u);
		} else if (!a->components[u] && a->index[u] < top->low) {
			top->low = a->index[u];
		}
	}
	return true;
}

static bool visit_all(struct tarjan *a)
{
	const struct facts *f = a->g->f;
	a->order[a->ordered++] = 0;
	for (uint32_t i = 1; i < f->n; i++) {
		uint32_t t = f->order ? f->order[i] : i;
		if (!a->index[t] && !visit_from(a, t)) return false;
	}
	for (uint32_t t = 0; t < f->n; t++)
		if (a->components[t] == ALONE) a->components[t] = 0;
	return true;
}

uint32_t *graph_order(struct graph *g, uint32_t *components)
{
	uint32_t n = g->f->n;
	struct tarjan a = { .g = g, .components = components };
	memset(components, 0, n * sizeof *components);
	a.index = mem_take0(n, sizeof *a.index);
	a.stack = mem_take(n * sizeof *a.stack);
	a.order = mem_take(n * sizeof *a.order);
	bool acyclic = visit_all(&a) && !a.component_count;
	free(a.index);
	free(a.stack);
	free(a.frames);
	if (acyclic) return a.order;
	free(a.order);
	return NULL;
}
