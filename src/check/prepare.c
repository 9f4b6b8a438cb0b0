/* The points of a history, rows for them, and the edges that are there before
 * any rule is applied. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"
#include "history/history.h"

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
