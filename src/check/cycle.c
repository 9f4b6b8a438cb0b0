#include "check/cycle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/path.h"

enum {
	CYCLES_KEPT = 64,       /* of the same length */
	SEARCH_STEPS = 10000000 /* some 50 milliseconds; but once always */
};

struct numbers {
	uint32_t *items;
	size_t count, capacity;
};

static void put(struct numbers *v, uint32_t x)
{
	VEC_RESERVE(v->items, v->count, v->capacity);
	v->items[v->count++] = x;
}

struct cycle_search {
	struct graph *g;
	const struct facts *f;
	enum sight sight;           /* of the level */
	const uint32_t *components; /* may be NULL */
	struct path_search path;
	/* Edges of which every cycle has one, by where they come from. */
	uint32_t *out_first, *out;
	/* Reads from each transaction: their readers. */
	uint32_t *reader_first, *readers;
	/* The shortest cycles found: the transactions of one behind those of
	 * the other; an edge leads from each to the next, and back. */
	struct numbers cycles;
	uint32_t length; /* of each of them; 0: none yet */
	uint32_t *mark;  /* by transaction: for whom it is marked */
	struct numbers core;
};

static uint32_t cycle_count(const struct cycle_search *s)
{
	return s->length ? (uint32_t)s->cycles.count / s->length : 0;
}

static bool has_time(const struct cycle_search *s)
{
	return s->path.steps < SEARCH_STEPS && !check_clock_over(s->g->clock);
}

/* ---- edges that lead back ---- */

/* With an order of so U wr, every cycle has a forced edge that goes against it;
 * without, we look for one of so U wr, and that has a wr. */
static bool leads_back(const struct cycle_search *s, uint32_t from, uint32_t to)
{
	const struct facts *f = s->f;
	const uint32_t *component = s->components;
	if (from == 0) return false;
	if (to == 0 || facts_so(f, to, from)) return true;
	return component && component[to] && component[to] == component[from] &&
	       (!f->rank || f->rank[from] > f->rank[to]);
}

/* Counts them, or, once out_first tells where, lists them. */
static void put_out(struct cycle_search *s, uint32_t from, uint32_t to)
{
	if (!leads_back(s, from, to)) return;
	if (s->out)
		s->out[s->out_first[from]++] = to;
	else
		s->out_first[from + 1]++;
}

static void put_all_out(struct cycle_search *s)
{
	const struct graph *g = s->g;
	const struct facts *f = s->f;
	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t i = g->head[t]; i != GRAPH_NONE;
		     i = g->edges[i].next)
			put_out(s, g->edges[i].from, t);
		if (f->order) continue;
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			put_out(s, f->reads[i].from, t);
	}
}

static void find_out_edges(struct cycle_search *s)
{
	uint32_t n = s->f->n;
	s->out_first = mem_take0(n + (size_t)1, sizeof *s->out_first);
	put_all_out(s);
	for (uint32_t t = 0; t < n; t++) s->out_first[t + 1] += s->out_first[t];
	s->out = mem_take(s->out_first[n] * sizeof *s->out);
	put_all_out(s);
	memmove(s->out_first + 1, s->out_first, n * sizeof *s->out_first);
	s->out_first[0] = 0;
}

/* ---- short cycles ---- */

/* Cycles of two: where an edge leads back to a direct predecessor. */
static void find_pairs(struct cycle_search *s)
{
	const struct facts *f = s->f;
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t i = s->out_first[t], u;
		if (i == s->out_first[t + 1]) continue;
		struct graph_preds p = graph_preds(s->g, t);
		while ((u = graph_next_pred(s->g, t, &p)) != GRAPH_NONE)
			s->mark[u] = t;
		for (; i < s->out_first[t + 1]; i++) {
			uint32_t to = s->out[i];
			if (!facts_so(f, to, t) && s->mark[to] != t) continue;
			put(&s->cycles, t);
			put(&s->cycles, to);
			s->length = 2;
			if (cycle_count(s) == CYCLES_KEPT) return;
		}
	}
}

/* The cycle that a search has found, unless there is a shorter one. */
static void take_cycle(struct cycle_search *s)
{
	const struct path_search *p = &s->path;
	uint32_t length = 1;
	for (uint32_t t = p->found; p->next[t] != t; t = p->next[t]) length++;
	if (!s->length || length < s->length) {
		s->length = length;
		s->cycles.count = 0;
	}
	if (length > s->length || cycle_count(s) == CYCLES_KEPT) return;
	for (uint32_t t = p->found;; t = p->next[t]) {
		put(&s->cycles, t);
		if (p->next[t] == t) break;
	}
}

/* Paths that lead to a transaction from where its edges lead back to. */
static void find_longer(struct cycle_search *s)
{
	struct path_search *p = &s->path;
	if (!s->components) return;
	p->edges = true;
	p->components = s->components;
	for (uint32_t t = 1; t < s->f->n; t++) {
		uint32_t i = s->out_first[t], end = s->out_first[t + 1];
		if (i == end) continue;
		path_begin(p);
		for (; i < end; i++) path_goal(p, s->out[i]);
		path_start(p, t);
		uint32_t limit = s->length ? s->length - 1 : s->f->n;
		if (path_find(p, limit) != GRAPH_NONE) take_cycle(s);
		if (s->length && !has_time(s)) break;
	}
	p->edges = false;
	p->components = NULL;
}

/* ---- who forces an edge ---- */

static void list_readers(struct cycle_search *s)
{
	const struct facts *f = s->f;
	s->reader_first = mem_take0(f->n + (size_t)2, sizeof *s->reader_first);
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		s->reader_first[f->reads[i].from + 2]++;
	for (uint32_t t = 0; t < f->n; t++)
		s->reader_first[t + 2] += s->reader_first[t + 1];
	s->readers = mem_take(f->read_first[f->n] * sizeof *s->readers);
	for (uint32_t t = 1; t < f->n; t++)
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			s->readers[s->reader_first[f->reads[i].from + 1]++] = t;
}

/* Does the reader take from t1 a key that t2 wrote as well? And does it see t2,
 * at once, as rc (before that read) or ra demand? */
static void look_at(struct cycle_search *s, uint32_t reader, uint32_t t2,
                    uint32_t t1, bool *takes, bool *sees)
{
	const struct facts *f = s->f;
	bool ordered = s->sight == SIGHT_SOURCES;
	uint32_t end = f->read_first[reader + 1];
	*takes = false;
	*sees = !ordered && facts_so(f, t2, reader);
	for (uint32_t i = f->read_first[reader]; i < end; i++) {
		struct facts_read read = f->reads[i];
		if (read.from == t2) *sees = true;
		if (read.from == t1 && (*sees || !ordered))
			*takes |= facts_writes(f, t2, read.key);
		s->path.steps++;
	}
}

/* A reader that forces t2 -> t1 because it sees t2 directly; GRAPH_NONE if
 * there is none. Makes those that only take from t1 starts of a search. */
static uint32_t find_reader(struct cycle_search *s, uint32_t t2, uint32_t t1)
{
	uint32_t last = GRAPH_NONE, found = GRAPH_NONE;
	for (uint32_t i = s->reader_first[t1]; i < s->reader_first[t1 + 1];
	     i++) {
		uint32_t reader = s->readers[i];
		bool takes, sees;
		if (reader == last || reader == t2) continue;
		last = reader;
		look_at(s, reader, t2, t1, &takes, &sees);
		if (takes) path_start(&s->path, reader);
		if (!takes || !sees) continue;
		if (found == GRAPH_NONE) found = reader;
		if (s->mark[reader]) return reader;
		if (!has_time(s)) break;
	}
	return found;
}

static void put_forced(struct cycle_search *s, uint32_t t2, uint32_t t1)
{
	struct path_search *p = &s->path;
	path_begin(p);
	path_goal(p, t2);
	uint32_t reader = find_reader(s, t2, t1);
	if (reader != GRAPH_NONE) {
		put(&s->core, reader);
		return;
	}
	assert(s->sight == SIGHT_PAST);
	uint32_t t = path_find(p, s->f->n);
	assert(t == t2);
	while (p->next[t] != t) {
		t = p->next[t];
		put(&s->core, t);
	}
}

static bool reads_from(const struct facts *f, uint32_t t, uint32_t from)
{
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->reads[i].from == from) return true;
	return false;
}

static bool is_known(const struct graph *g, uint32_t from, uint32_t to)
{
	for (uint32_t i = g->head[to]; i != GRAPH_NONE; i = g->edges[i].next)
		if (g->edges[i].from == from && i >= g->known_first)
			return true;
	return false;
}

static void put_edge(struct cycle_search *s, uint32_t from, uint32_t to)
{
	if (facts_so(s->f, from, to) || reads_from(s->f, to, from) ||
	    is_known(s->g, from, to))
		return;
	put_forced(s, from, to);
}

/* ---- the core ---- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void sort(struct numbers *v)
{
	size_t count = 0;
	qsort(v->items, v->count, sizeof *v->items, compare);
	for (size_t i = 0; i < v->count; i++)
		if (v->items[i] && (!i || v->items[i - 1] != v->items[i]))
			v->items[count++] = v->items[i];
	v->count = count;
}

static void find_core(struct cycle_search *s, const uint32_t *cycle)
{
	s->core.count = 0;
	for (uint32_t i = 0; i < s->length; i++) s->mark[cycle[i]] = 1;
	for (uint32_t i = 0; i < s->length; i++) {
		put(&s->core, cycle[i]);
		put_edge(s, cycle[i], cycle[(i + 1) % s->length]);
	}
	for (uint32_t i = 0; i < s->length; i++) s->mark[cycle[i]] = 0;
	sort(&s->core);
}

enum { CORE_SMALLEST = 2 }; /* one transaction violates nothing */

/* The smallest of the cycles' cores. */
static struct numbers choose_core(struct cycle_search *s)
{
	struct numbers best = { 0 };
	uint32_t count = cycle_count(s);
	assert(count);
	memset(s->mark, 0, s->f->n * sizeof *s->mark);
	for (uint32_t i = 0; i < count; i++) {
		find_core(s, s->cycles.items + (size_t)i * s->length);
		if (!best.items || s->core.count < best.count) {
			struct numbers other = best;
			best = s->core;
			s->core = other;
		}
		if (best.count == CORE_SMALLEST || !has_time(s)) break;
	}
	return best;
}

uint32_t *cycle_core(struct graph *g, enum level l, const uint32_t *components,
                     uint32_t *count)
{
	struct cycle_search s = { .g = g,
		                  .f = g->f,
		                  .sight = level_sight(l),
		                  .components = components };
	s.mark = mem_take0(g->f->n, sizeof *s.mark);
	path_init(&s.path, g);
	find_out_edges(&s);
	find_pairs(&s);
	if (!s.length) find_longer(&s);
	s.path.steps = 0;
	list_readers(&s);
	struct numbers core = choose_core(&s);
	*count = (uint32_t)core.count;
	path_free(&s.path);
	free(s.out_first);
	free(s.out);
	free(s.reader_first);
	free(s.readers);
	free(s.cycles.items);
	free(s.mark);
	free(s.core.items);
	return core.items;
}
