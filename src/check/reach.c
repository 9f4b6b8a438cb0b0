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

/* so where chains do not tell it, wr, and what the last session of all
 * follows. */
static void append_bases(struct strong *s)
{
	const struct facts *f = s->f;
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t last = HISTORY_INIT;
		if (t > f->session_first[f->session_of[t]])
			append_base(s, t - 1, t, true);
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++) {
			uint32_t from = f->reads[i].from;
			if (from && from != last) append_base(s, from, t, true);
			last = from;
		}
	}
	if (f->after_all == UINT32_MAX) return;
	uint32_t last = f->session_first[f->after_all];
	if (last == f->session_first[f->after_all + 1]) return;
	for (uint32_t k = 0; k < f->session_count; k++)
		if (k != f->after_all &&
		    f->session_first[k] < f->session_first[k + 1])
			append_base(s, f->session_first[k + 1] - 1, last, true);
}

static void append_known(struct strong *s)
{
	const struct facts *f = s->f;
	for (uint32_t i = 0; i < f->known_count; i++)
		append_base(s, f->known[i].from, f->known[i].to,
		            excludes_rivals(s, f->known[i].to));
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

/* Twice the rows, for those that are kept to go back. */
static uint64_t memory_of(const struct strong *s)
{
	return (uint64_t)s->points * (4 * 16 * (uint64_t)s->blocks + 64) +
	       (uint64_t)s->f->read_first[s->f->n] * 40;
}

/* Gives each chain its bits in a word; returns the number of words. */
static uint32_t place_bits(struct strong *s)
{
	const struct chains *c = s->chains;
	uint32_t bit = 0;
	s->chain_bit = mem_take((c->count + (size_t)1) * sizeof *s->chain_bit);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t points = (uint32_t)chain_points(s, i);
		assert(points > 0 && points < 64);
		if (bit % 64 + points > 64) bit += 64 - bit % 64;
		s->chain_bit[i] = bit;
		bit += points;
	}
	return (bit + 63) / 64;
}

static void list_bit_points(struct strong *s, uint32_t words)
{
	uint32_t first = 1u << s->two;
	s->bit_point = mem_take0((size_t)words * 64, sizeof *s->bit_point);
	for (uint32_t p = first; p < s->points; p++)
		s->bit_point[point_bit(s, p)] = p;
}

/* The smaller rows: numbers for each chain, or bits for each point. */
static void choose_rows(struct strong *s)
{
	uint32_t bytes;
	bool across = !s->locks; /* who locks, does it on its session's chain */
	s->chains = chains_new(s->f, (INT16_MAX - 1u) >> s->two, across);
	bytes = 2 * s->chains->count;
	if (bytes > s->points / 8) {
		struct chains *short_ones =
			chains_new(s->f, 63u >> s->two, across);
		struct chains *long_ones = s->chains;
		s->chains = short_ones;
		uint32_t words = place_bits(s);
		bool bits = 8 * words < bytes;
		s->chains = bits ? short_ones : long_ones;
		chains_free(bits ? long_ones : short_ones);
		if (bits) {
			bytes = 8 * words;
			list_bit_points(s, words);
		} else {
			free(s->chain_bit);
			s->chain_bit = NULL;
		}
	}
	s->blocks = bytes / sizeof(lanes) + 1;
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
	s->degree = mem_take0(n, sizeof *s->degree);
	s->kept_at = mem_take0(2 * n, sizeof *s->kept_at);
}

static void take_mix(struct strong *s, enum level others)
{
	const struct facts *f = s->f;
	s->asks = mem_take0(f->n, sizeof *s->asks);
	s->two = 1;
	s->prefix = true;
	for (uint32_t t = 1; t < f->n; t++) {
		enum level l = facts_level(f, others, t);
		assert(level_mixes(l) && !level_has_statements(l));
		if (level_sight(l) == SIGHT_PREFIX) s->asks[t] |= ASKS_PREFIX;
		if (level_is_serial(l)) s->asks[t] |= ASKS_SERIAL;
		if (level_orders_rivals(l)) s->asks[t] |= ASKS_EXCLUSION;
		s->exclusive |= level_orders_rivals(l);
	}
}

/* The edges that are there before any rule is applied. */
static bool begin_closure(struct strong *s, enum level others)
{
	append_bases(s);
	if (s->asks) {
		if (!reach_rebuild(s)) return false;
		append_forced(s, others);
		if (s->conflicting) return false;
	}
	append_known(s);
	return reach_rebuild(s);
}

static bool init(struct strong *s, const struct facts *f,
                 const struct strong_locks *locks, enum level l,
                 struct check_clock *c)
{
	enum level all = facts_level_of_all(f, l);
	*s = (struct strong){ .f = f, .clock = c, .locks = locks };
	if (all == LEVEL_COUNT) {
		take_mix(s, l);
	} else {
		assert(level_needs_order(all));
		s->two = level_has_snapshots(all);
		s->prefix = locks || level_sight(all) == SIGHT_PREFIX;
		s->exclusive = level_excludes_rivals(all);
		s->by_writers = level_orders_rivals(all);
	}
	assert(!locks || level_has_statements(all));
	if (f->n > UINT32_MAX >> 2) return false;
	s->points = f->n << s->two;
	choose_rows(s);
	if (check_clock_too_large(c, memory_of(s))) return false;
	take_arrays(s);
	list_readers(s);
	if (locks) locks_list(s);
	if (begin_closure(s, l)) saturate_again(s);
	return true;
}

bool strong_init(struct strong *s, const struct facts *f, enum level l,
                 struct check_clock *c)
{
	return init(s, f, NULL, l, c);
}

bool strong_init_locks(struct strong *s, const struct facts *f,
                       const struct strong_locks *locks, enum level l,
                       struct check_clock *c)
{
	return init(s, f, locks, l, c);
}

void strong_free(struct strong *s)
{
	locks_free(s);
	chains_free(s->chains);
	free(s->asks);
	free(s->chain_bit);
	free(s->bit_point);
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
	free(s->degree);
	free(s->kept_at);
	free(s->kept);
	free(s->kept_rows);
}
