/* The edges between points, their closure by chains, and orders of the points
 * that the edges allow. */
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

static void unite_rows(lanes *to, const lanes *from, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++) to[i] |= from[i];
}

static void raise_row(const struct strong *s, lanes *to, const lanes *from)
{
	if (s->chain_bit)
		unite_rows(to, from, s->blocks);
	else
		for (uint32_t i = 0; i < s->blocks; i++)
			to[i] = larger(to[i], from[i]);
}

static void lower_row(const struct strong *s, lanes *to, const lanes *from)
{
	if (s->chain_bit)
		unite_rows(to, from, s->blocks);
	else
		for (uint32_t i = 0; i < s->blocks; i++)
			to[i] = smaller(to[i], from[i]);
}

/* Is p in a row of pre? */
static bool has_before(const struct strong *s, const lanes *row, uint32_t p)
{
	if (s->chain_bit) return row_has(row, point_bit(s, p));
	return ((const int16_t *)row)[point_chain(s, p)] > point_place(s, p);
}

/* In a row of suc? */
static bool has_after(const struct strong *s, const lanes *row, uint32_t p)
{
	if (s->chain_bit) return row_has(row, point_bit(s, p));
	return ((const int16_t *)row)[point_chain(s, p)] <= point_place(s, p);
}

static void put_bit(lanes *row, uint32_t bit)
{
	((row_bits *)row)[bit / 64] |= (row_bits)1 << bit % 64;
}

/* p and its chain's points before it are in the row, p being the last. */
static void put_before(const struct strong *s, lanes *row, uint32_t p)
{
	int16_t *entry = (int16_t *)row + point_chain(s, p);
	int16_t place = (int16_t)point_place(s, p);
	if (s->chain_bit)
		put_bit(row, point_bit(s, p));
	else if (*entry <= place)
		*entry = (int16_t)(place + 1);
}

static void put_after(const struct strong *s, lanes *row, uint32_t p)
{
	int16_t *entry = (int16_t *)row + point_chain(s, p);
	int16_t place = (int16_t)point_place(s, p);
	if (s->chain_bit)
		put_bit(row, point_bit(s, p));
	else if (*entry > place)
		*entry = place;
}

static lanes *row_of(const struct strong *s, lanes *rows, uint32_t p)
{
	return rows + (size_t)p * s->blocks;
}

/* What comes before a point because q does. */
static void take_before(const struct strong *s, lanes *row, uint32_t q)
{
	if (has_before(s, row, q)) return;
	raise_row(s, row, row_of(s, s->pre, q));
	put_before(s, row, q);
}

/* What comes after a point because q does. */
static void take_after(const struct strong *s, lanes *row, uint32_t q)
{
	if (has_after(s, row, q)) return;
	lower_row(s, row, row_of(s, s->suc, q));
	put_after(s, row, q);
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
		put_before(s, row, previous);
	}
	for (uint32_t e = s->first_in[p]; e != NO_EDGE; e = s->edges[e].next_in)
		take_before(s, row, s->edges[e].from);
	store_row(s, 0, p, row);
}

static void fill_suc(struct strong *s, uint32_t p, lanes *row)
{
	uint32_t next = point_next(s, p);
	if (next == UINT32_MAX) {
		int16_t none = s->chain_bit ? 0 : INT16_MAX;
		for (uint32_t i = 0; i < s->blocks; i++)
			row[i] = (lanes){ 0 } + none;
	} else {
		memcpy(row, row_of(s, s->suc, next), s->blocks * sizeof *row);
		put_after(s, row, next);
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

/* The point with this place in its chain. */
static uint32_t point_at(const struct strong *s, uint32_t chain, int32_t place)
{
	const struct chains *c = s->chains;
	uint32_t at = c->first[chain] + ((uint32_t)place >> s->two);
	return point_begin(s, c->members[at]) + ((uint32_t)place & s->two);
}

static uint32_t list_bits(struct strong *s, const lanes *row,
                          const lanes *without, uint32_t count)
{
	const row_bits *a = (const row_bits *)row;
	const row_bits *b = (const row_bits *)without;
	size_t words = s->blocks * sizeof(lanes) / sizeof(row_bits);
	for (size_t i = 0; i < words; i++)
		for (row_bits m = a[i] & ~b[i]; m; m &= m - 1) {
			size_t bit = 64 * i + (unsigned)__builtin_ctzll(m);
			s->queue[count++] = s->bit_point[bit];
		}
	return count;
}

/* Adds to s->queue the points that are in one row of pre and not in another. */
static uint32_t list_before(struct strong *s, const lanes *row,
                            const lanes *without, uint32_t count)
{
	if (s->chain_bit) return list_bits(s, row, without, count);
	for (uint32_t c = 0; c < s->chains->count; c++) {
		int32_t end = row_pre(s, row, c);
		for (int32_t i = row_pre(s, without, c); i < end; i++)
			s->queue[count++] = point_at(s, c, i);
	}
	return count;
}

/* The same with rows of suc. */
static uint32_t list_after(struct strong *s, const lanes *row,
                           const lanes *without, uint32_t count)
{
	if (s->chain_bit) return list_bits(s, row, without, count);
	for (uint32_t c = 0; c < s->chains->count; c++) {
		int32_t end = row_suc(s, without, c), most = chain_points(s, c);
		if (end > most) end = most;
		for (int32_t i = row_suc(s, row, c); i < end; i++)
			s->queue[count++] = point_at(s, c, i);
	}
	return count;
}

/* Who is before its beginning comes before all that is after its end: rows of
 * these only change. Returns how many do. */
static size_t close_edge(struct strong *s, const struct edge *e)
{
	const lanes *before = row_of(s, s->pre, e->from);
	const lanes *after = row_of(s, s->suc, e->to);
	s->queue[0] = e->from;
	uint32_t middle = list_before(s, before, row_of(s, s->pre, e->to), 1);
	s->queue[middle] = e->to;
	uint32_t end =
		list_after(s, after, row_of(s, s->suc, e->from), middle + 1);
	assert(end <= s->points);
	for (uint32_t i = 0; i < middle; i++) {
		uint32_t p = s->queue[i];
		keep_row(s, p, 1);
		lower_row(s, row_of(s, s->suc, p), after);
		put_after(s, row_of(s, s->suc, p), e->to);
		note_change(s, p, CHANGED_SUC);
	}
	for (uint32_t i = middle; i < end; i++) {
		uint32_t p = s->queue[i];
		keep_row(s, p, 0);
		raise_row(s, row_of(s, s->pre, p), before);
		put_before(s, row_of(s, s->pre, p), e->from);
		note_change(s, p, CHANGED_PRE);
	}
	return end;
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
	if (!point_before(s, e->from, e->to)) *steps += close_edge(s, e);
	s->closed = s->linked;
	return true;
}

bool reach_update(struct strong *s)
{
	size_t steps = 0;
	while (s->linked < s->edge_count) {
		s->out_of_time = check_clock_over(s->clock);
		if (s->out_of_time) return false;
		if (steps > s->edge_count + s->points) return reach_rebuild(s);
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
	assert(s->mark);
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

void reach_count_degrees(struct strong *s)
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
	reach_count_degrees(s);
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
