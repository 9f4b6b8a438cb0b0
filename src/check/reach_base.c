/* The points of a history, and the edges that it tells itself. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"
#include "history/history.h"

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
