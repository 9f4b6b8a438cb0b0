/* Deciding open choices along a topological order, some at a time: with all
 * that follows from them, most of the others are decided too.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "check/strong.h"

enum { FIRST_CHUNK = 32 };

struct guess {
	struct strong *s;
	uint32_t *sequence; /* transactions */
	uint32_t *rank;     /* of points, in the order followed */
	uint32_t chunk;     /* choices to decide at once */
	uint32_t chosen;
	struct edge other;  /* the opposite of the last one chosen */
};

static bool choose(void *data, const struct choice *c)
{
	struct guess *g = data;
	bool first = g->rank[c->first.from] < g->rank[c->first.to];
	struct edge e = first ? c->first : c->second;
	g->other = first ? c->second : c->first;
	e.rule = EDGE_CHOICE;
	e.third = NO_OPTION;
	g->other.rule = EDGE_CHOICE;
	g->other.third = NO_OPTION;
	reach_append(g->s, e);
	return ++g->chosen < g->chunk;
}

/* Takes the edges back; if it was a single choice, tries its opposite. */
static bool recover(struct guess *g, struct reach_mark mark)
{
	struct strong *s = g->s;
	reach_back(s, mark);
	if (g->chunk > 1) {
		g->chunk = (g->chunk + 3) / 4;
		return true;
	}
	reach_append(s, g->other);
	return reach_update(s) && saturate(s);
}

static bool decide(struct guess *g)
{
	struct strong *s = g->s;
	uint32_t at = 1;
	while (at < s->f->n) {
		reach_settle(s);
		struct reach_mark mark = reach_mark(s);
		uint32_t start = at;
		g->chosen = 0;
		while (at < s->f->n
		       && choices_of(s, g->sequence[at], choose, g))
			at++;
		if (!g->chosen) break;
		if (reach_update(s) && saturate(s)) {
			g->chunk *= 2;
			continue;
		}
		if (s->out_of_time) return false;
		at = start;
		if (!recover(g, mark)) return false;
	}
	return true;
}

enum strong_answer guess(struct strong *s)
{
	struct guess g = { .s = s, .chunk = FIRST_CHUNK };
	size_t edges = s->edge_count;
	g.sequence = mem_take(s->f->n * sizeof *g.sequence);
	g.rank = mem_take(s->points * sizeof *g.rank);
	reach_sort(s);
	strong_order(s, g.sequence);
	for (uint32_t p = 0; p < s->points; p++) g.rank[p] = s->topo_rank[p];
	bool done = decide(&g);
	free(g.sequence);
	free(g.rank);
	if (done) return ANSWER_YES;
	if (!s->out_of_time) reach_truncate(s, edges);
	return ANSWER_OPEN;
}
