/* The points of a history, the edges between them, their closure by chains, and
 * orders of the points that the edges allow. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"
#include "history/history.h"

/* ---- Rows ---- */

static inline lanes larger(lanes a, lanes b)
{
	lanes m = a > b;
	return (a & m) | (b & ~m);
}

static inline lanes smaller(lanes a, lanes b)
{
	lanes m = a < b;
	return (a & m) | (b & ~m);
}

static void raise_row(lanes *to, const lanes *from, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++) to[i] = larger(to[i], from[i]);
}

static void lower_row(lanes *to, const lanes *from, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++) to[i] = smaller(to[i], from[i]);
}

static lanes *row_of(const struct strong *s, lanes *rows, uint32_t p)
{
	return rows + (size_t)p * s->blocks;
}

/* What comes before a point because q does. */
static void take_before(const struct strong *s, lanes *row, uint32_t q)
{
	int32_t *entry = (int32_t *)row + point_chain(s, q);
	int32_t place = point_place(s, q);
	if (*entry > place) return;
	raise_row(row, row_of(s, s->pre, q), s->blocks);
	*entry = place + 1;
}

/* What comes after a point because q does. */
static void take_after(const struct strong *s, lanes *row, uint32_t q)
{
	int32_t *entry = (int32_t *)row + point_chain(s, q);
	int32_t place = point_place(s, q);
	if (*entry <= place) return;
	lower_row(row, row_of(s, s->suc, q), s->blocks);
	*entry = place;
}

uint32_t point_next(const struct strong *s, uint32_t p)
{
	if (s->two && !(p & 1)) return p + 1;
	uint32_t t = point_owner(s, p), c = s->chains->chain_of[t];
	uint32_t at = s->chains->first[c] + s->chains->place_of[t] + 1;
	if (at == s->chains->first[c + 1]) return UINT32_MAX;
	return point_begin(s, s->chains->members[at]);
}

uint32_t point_previous(const struct strong *s, uint32_t p)
{
	if (s->two && p & 1) return p - 1;
	uint32_t t = point_owner(s, p), c = s->chains->chain_of[t];
	if (!s->chains->place_of[t]) return UINT32_MAX;
	uint32_t at = s->chains->first[c] + s->chains->place_of[t] - 1;
	return point_commit(s, s->chains->members[at]);
}

/* ---- Changes ---- */

/* Keeps a row as it was at the last mark; called before it changes. */
static void keep_row(struct strong *s, uint32_t p, unsigned which)
{
	assert(p < s->points && which <= 1);
	size_t row = 2 * (size_t)p + which;
	if (!s->mark || s->kept_at[row] == s->mark) return;
	s->kept_at[row] = s->mark;
	if (s->kept_count == s->kept_capacity) {
		s->kept_capacity = 2 * s->kept_capacity + 64;
		s->kept = mem_grow(s->kept, s->kept_capacity, sizeof *s->kept);
		s->kept_rows = mem_grow(s->kept_rows, s->kept_capacity,
		                        s->blocks * sizeof(lanes));
	}
	memcpy(s->kept_rows + s->kept_count * s->blocks,
	       row_of(s, which ? s->suc : s->pre, p),
	       s->blocks * sizeof(lanes));
	s->kept[s->kept_count++] = row;
}

static void note_change(struct strong *s, uint32_t p, uint8_t what)
{
	if (!s->has_changed[p]) {
		assert(s->changed_count < s->points);
		size_t at = (size_t)s->changed_first + s->changed_count++;
		s->changed[at % s->points] = p;
	}
	s->has_changed[p] |= what;
}

static void forget_changes(struct strong *s)
{
	while (s->changed_count) {
		size_t at = (size_t)s->changed_first + --s->changed_count;
		s->has_changed[s->changed[at % s->points]] = 0;
	}
}

void saturate_again(struct strong *s)
{
	uint32_t first = 1u << s->two;
	for (uint32_t i = 0; i < s->points - first; i++)
		note_change(s, s->topo[i], CHANGED_PRE | CHANGED_SUC);
}

/* ---- The closure from scratch ---- */

static void store_row(struct strong *s, unsigned which, uint32_t p,
                      const lanes *row)
{
	lanes *old = row_of(s, which ? s->suc : s->pre, p);
	if (!memcmp(old, row, s->blocks * sizeof *row)) return;
	keep_row(s, p, which);
	memcpy(old, row, s->blocks * sizeof *row);
	note_change(s, p, which ? CHANGED_SUC : CHANGED_PRE);
}

static void fill_pre(struct strong *s, uint32_t p, lanes *row)
{
	uint32_t previous = point_previous(s, p);
	if (previous == UINT32_MAX) {
		memset(row, 0, s->blocks * sizeof *row);
	} else {
		memcpy(row, row_of(s, s->pre, previous),
		       s->blocks * sizeof *row);
		((int32_t *)row)[point_chain(s, p)] = point_place(s, p);
	}
	for (uint32_t e = s->first_in[p]; e != NO_EDGE; e = s->edges[e].next_in)
		take_before(s, row, s->edges[e].from);
	store_row(s, 0, p, row);
}

static void fill_suc(struct strong *s, uint32_t p, lanes *row)
{
	uint32_t next = point_next(s, p);
	if (next == UINT32_MAX) {
		for (uint32_t i = 0; i < 4 * s->blocks; i++)
			((int32_t *)row)[i] = INT32_MAX;
	} else {
		memcpy(row, row_of(s, s->suc, next), s->blocks * sizeof *row);
		((int32_t *)row)[point_chain(s, p)] = point_place(s, p) + 1;
	}
	for (uint32_t e = s->first_out[p]; e != NO_EDGE;
	     e = s->edges[e].next_out)
		take_after(s, row, s->edges[e].to);
	store_row(s, 1, p, row);
}

static void link_edge(struct strong *s, uint32_t i)
{
	struct edge *e = &s->edges[i];
	e->next_out = s->first_out[e->from];
	e->next_in = s->first_in[e->to];
	s->first_out[e->from] = s->first_in[e->to] = i;
}

bool reach_rebuild(struct strong *s)
{
	for (; s->linked < s->edge_count; s->linked++)
		link_edge(s, (uint32_t)s->linked);
	if (!reach_sort_points(s)) {
		reach_find_cycle(s);
		return false;
	}
	uint32_t count = s->points - (1u << s->two);
	lanes *row = mem_take(s->blocks * sizeof *row);
	for (uint32_t i = 0; i < count && !check_clock_over(s->clock); i++)
		fill_pre(s, s->topo[i], row);
	for (uint32_t i = count; i > 0 && !check_clock_over(s->clock); i--)
		fill_suc(s, s->topo[i - 1], row);
	free(row);
	s->out_of_time = check_clock_over(s->clock);
	s->closed = s->edge_count;
	s->has_closure = true;
	return !s->out_of_time;
}

/* ---- One edge ---- */

static void push(struct strong *s, uint32_t p, uint32_t *end)
{
	if (s->queued[p]) return;
	s->queued[p] = true;
	s->queue[*end] = p;
	*end = (*end + 1) % s->points;
}

static bool any(lanes m)
{
	return m[0] | m[1] | m[2] | m[3];
}

/* Does the first row have less than the second? */
static bool is_lower(const lanes *row, const lanes *other, uint32_t blocks)
{
	lanes m = { 0 };
	for (uint32_t i = 0; i < blocks; i++) m |= row[i] < other[i];
	return any(m);
}

/* Row p takes over what comes before q; true if that changes it. */
static bool raise_by(struct strong *s, uint32_t p, uint32_t q)
{
	lanes *row = row_of(s, s->pre, p);
	const lanes *other = row_of(s, s->pre, q);
	int32_t *entry = (int32_t *)row + point_chain(s, q);
	int32_t place = point_place(s, q);
	if (*entry > place && !is_lower(row, other, s->blocks)) return false;
	keep_row(s, p, 0);
	raise_row(row, other, s->blocks);
	if (*entry <= place) *entry = place + 1;
	note_change(s, p, CHANGED_PRE);
	return true;
}

/* Row p takes over what comes after q; true if that changes it. */
static bool lower_by(struct strong *s, uint32_t p, uint32_t q)
{
	lanes *row = row_of(s, s->suc, p);
	const lanes *other = row_of(s, s->suc, q);
	int32_t *entry = (int32_t *)row + point_chain(s, q);
	int32_t place = point_place(s, q);
	if (*entry <= place && !is_lower(other, row, s->blocks)) return false;
	keep_row(s, p, 1);
	lower_row(row, other, s->blocks);
	if (*entry > place) *entry = place;
	note_change(s, p, CHANGED_SUC);
	return true;
}

static size_t spread_forward(struct strong *s, const struct edge *e)
{
	uint32_t begin = 0, end = 0;
	size_t steps = 0;
	if (raise_by(s, e->to, e->from)) push(s, e->to, &end);
	for (; begin != end; begin = (begin + 1) % s->points, steps++) {
		uint32_t p = s->queue[begin], next = point_next(s, p);
		s->queued[p] = false;
		if (next != UINT32_MAX && raise_by(s, next, p))
			push(s, next, &end);
		for (uint32_t i = s->first_out[p]; i != NO_EDGE;
		     i = s->edges[i].next_out)
			if (raise_by(s, s->edges[i].to, p))
				push(s, s->edges[i].to, &end);
	}
	return steps;
}

static size_t spread_backward(struct strong *s, const struct edge *e)
{
	uint32_t begin = 0, end = 0;
	size_t steps = 0;
	if (lower_by(s, e->from, e->to)) push(s, e->from, &end);
	for (; begin != end; begin = (begin + 1) % s->points, steps++) {
		uint32_t p = s->queue[begin], previous = point_previous(s, p);
		s->queued[p] = false;
		if (previous != UINT32_MAX && lower_by(s, previous, p))
			push(s, previous, &end);
		for (uint32_t i = s->first_in[p]; i != NO_EDGE;
		     i = s->edges[i].next_in)
			if (lower_by(s, s->edges[i].from, p))
				push(s, s->edges[i].from, &end);
	}
	return steps;
}

/* ---- Adding and taking back ---- */

void reach_append(struct strong *s, struct edge e)
{
	VEC_RESERVE(s->edges, s->edge_count, s->edge_capacity);
	s->edges[s->edge_count++] = e;
}

/* Takes the next edge of the list into the closure, and counts the steps. */
static bool take_edge(struct strong *s, size_t *steps)
{
	uint32_t i = (uint32_t)s->linked;
	const struct edge *e = &s->edges[i];
	if (e->from == e->to || point_before(s, e->to, e->from)) {
		s->conflict = *e;
		s->conflict_limit = i;
		s->conflicting = true;
		return false;
	}
	link_edge(s, i);
	s->linked++;
	if (!point_before(s, e->from, e->to)) {
		*steps += spread_forward(s, e);
		*steps += spread_backward(s, e);
	}
	s->closed = s->linked;
	return true;
}

bool reach_update(struct strong *s)
{
	size_t steps = 0;
	if (s->edge_count - s->linked > s->points / 4) return reach_rebuild(s);
	while (s->linked < s->edge_count) {
		if (steps > s->edge_count) return reach_rebuild(s);
		if (!take_edge(s, &steps)) return false;
	}
	return true;
}

static void cut_edges(struct strong *s, size_t count)
{
	for (; s->linked > count; s->linked--) {
		const struct edge *e = &s->edges[s->linked - 1];
		s->first_out[e->from] = e->next_out;
		s->first_in[e->to] = e->next_in;
	}
	s->edge_count = s->closed = count;
	s->conflicting = false;
	forget_changes(s);
}

struct reach_mark reach_mark(struct strong *s)
{
	struct reach_mark m = { s->edge_count, s->kept_count };
	assert(s->linked == s->edge_count && !s->changed_count);
	s->mark = ++s->marks;
	return m;
}

void reach_back(struct strong *s, struct reach_mark m)
{
	while (s->kept_count > m.kept) {
		size_t row = s->kept[--s->kept_count];
		lanes *to = row_of(s, row % 2 ? s->suc : s->pre,
		                   (uint32_t)(row / 2));
		memcpy(to, s->kept_rows + s->kept_count * s->blocks,
		       s->blocks * sizeof(lanes));
	}
	cut_edges(s, m.edges);
	s->mark = ++s->marks;
}

void reach_settle(struct strong *s)
{
	s->kept_count = 0;
	s->mark = 0;
}

void reach_truncate(struct strong *s, size_t count)
{
	reach_settle(s);
	cut_edges(s, count);
	bool rebuilt = reach_rebuild(s);
	assert(rebuilt || s->out_of_time);
	(void)rebuilt;
	forget_changes(s);
}

/* ---- Orders of the points, and cycles of edges ---- */

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

/* ---- What a history tells itself ---- */

static void append_base(struct strong *s, uint32_t t, uint32_t u, bool whole)
{
	uint32_t from = point_commit(s, t);
	uint32_t to = whole ? point_begin(s, u) : point_commit(s, u);
	if (point_chain(s, from) == point_chain(s, to) &&
	    point_place(s, from) < point_place(s, to))
		return;
	reach_append(
		s, (struct edge){ .from = from, .to = to, .rule = EDGE_BASE });
}

/* wr, and what the last session of all follows. */
static void append_bases(struct strong *s)
{
	const struct facts *f = s->f;
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t last = HISTORY_INIT;
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++) {
			uint32_t from = f->reads[i].from;
			if (from && from != last) append_base(s, from, t, true);
			last = from;
		}
	}
	for (uint32_t i = 0; i < f->known_count; i++)
		append_base(s, f->known[i].from, f->known[i].to, s->exclusive);
	if (f->after_all == UINT32_MAX) return;
	uint32_t last = f->session_first[f->after_all];
	if (last == f->session_first[f->after_all + 1]) return;
	for (uint32_t k = 0; k < f->session_count; k++)
		if (k != f->after_all &&
		    f->session_first[k] < f->session_first[k + 1])
			append_base(s, f->session_first[k + 1] - 1, last, true);
}

static void list_readers(struct strong *s)
{
	const struct facts *f = s->f;
	size_t reads = f->read_first[f->n];
	s->reader_first = mem_take0((size_t)f->n + 2, sizeof(uint32_t));
	s->readers = mem_take((reads + 1) * sizeof *s->readers);
	for (size_t i = 0; i < reads; i++)
		s->reader_first[f->reads[i].from + 2]++;
	for (uint32_t t = 0; t < f->n; t++)
		s->reader_first[t + 2] += s->reader_first[t + 1];
	for (uint32_t t = 1; t < f->n; t++)
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++) {
			uint32_t at = s->reader_first[f->reads[i].from + 1]++;
			s->readers[at].reader = t;
			s->readers[at].key = f->reads[i].key;
		}
}

static uint64_t memory_of(const struct strong *s)
{
	return (uint64_t)s->points * (4 * 16 * (uint64_t)s->blocks + 64) +
	       (uint64_t)s->f->read_first[s->f->n] * 40;
}

static void take_arrays(struct strong *s)
{
	size_t n = s->points;
	s->pre = mem_take0(n * s->blocks, sizeof *s->pre);
	s->suc = mem_take0(n * s->blocks, sizeof *s->suc);
	s->first_out = mem_take(n * sizeof *s->first_out);
	s->first_in = mem_take(n * sizeof *s->first_in);
	memset(s->first_out, 0xff, n * sizeof *s->first_out);
	memset(s->first_in, 0xff, n * sizeof *s->first_in);
	s->topo = mem_take0(n, sizeof *s->topo);
	s->topo_rank = mem_take0(n, sizeof *s->topo_rank);
	s->changed = mem_take(n * sizeof *s->changed);
	s->has_changed = mem_take0(n, sizeof *s->has_changed);
	s->queue = mem_take(n * sizeof *s->queue);
	s->queued = mem_take0(n, sizeof *s->queued);
	s->degree = mem_take0(n, sizeof *s->degree);
	s->kept_at = mem_take0(2 * n, sizeof *s->kept_at);
}

bool strong_init(struct strong *s, const struct facts *f, enum level l,
                 struct check_clock *c)
{
	assert(level_needs_order(l));
	*s = (struct strong){ .f = f,
		              .clock = c,
		              .two = level_has_snapshots(l),
		              .prefix = level_sight(l) == SIGHT_PREFIX,
		              .exclusive = level_excludes_rivals(l),
		              .by_writers = level_orders_rivals(l) };
	if (f->n > UINT32_MAX >> 2) return false;
	s->points = f->n << s->two;
	s->chains = chains_new(f);
	s->blocks = (s->chains->count + 3) / 4;
	if (!s->blocks) s->blocks = 1;
	if (check_clock_too_large(c, memory_of(s))) return false;
	take_arrays(s);
	list_readers(s);
	append_bases(s);
	bool acyclic = reach_rebuild(s);
	if (!acyclic) return true;
	saturate_again(s);
	return true;
}

void strong_free(struct strong *s)
{
	chains_free(s->chains);
	free(s->pre);
	free(s->suc);
	free(s->first_out);
	free(s->first_in);
	free(s->edges);
	free(s->topo);
	free(s->topo_rank);
	free(s->reader_first);
	free(s->readers);
	free(s->changed);
	free(s->has_changed);
	free(s->queue);
	free(s->queued);
	free(s->degree);
	free(s->kept_at);
	free(s->kept);
	free(s->kept_rows);
}
