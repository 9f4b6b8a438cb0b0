/* Deciding open choices along an order, some at a time: with all that follows
 * from them, most of the others are decided too.
 *
 * A contradiction rests on some of the decisions. The last of these is taken
 * back, with all that came after it, and its opposite follows from the others
 * (dependency-directed backtracking).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"

enum {
	FIRST_CHUNK = 32,
	/* Of rows kept for going back; without them it costs a whole closure.
	 */
	KEPT_BYTES = 1 << 25,
	PATIENCE = 20000
};

struct decision {
	struct edge edge, other;
	size_t position; /* of the edge in s->edges */
	uint32_t at;     /* place in the sequence of who decided it */
	bool follows;    /* from the decisions in `from` */
	uint32_t *from;
	uint32_t from_count;
};

/* A place to come back to: the decisions before it, and their edges. */
struct stage {
	struct reach_mark mark;
	uint32_t decisions;
};

struct guess {
	struct strong *s;
	const struct guide *guide;
	uint32_t *sequence; /* transactions */
	uint32_t at;        /* all before this place is decided */
	uint32_t chunk;     /* choices to decide at once */
	uint32_t chosen;
	size_t root; /* edges that rest on no decision */
	struct decision *decisions;
	size_t count, capacity;
	struct stage *stages;
	size_t stage_count, stage_capacity;
	/* The decisions that the contradiction rests on. */
	bool *blamed;
	size_t blamed_capacity;
	struct proof proof;
	unsigned contradictions;
};

static void decide_on(struct guess *g, struct edge e, struct edge other)
{
	VEC_RESERVE(g->decisions, g->count, g->capacity);
	e.rule = EDGE_CHOICE;
	e.third = (uint32_t)g->count;
	e.limit = 0;
	g->decisions[g->count++] =
		(struct decision){ .edge = e,
		                   .other = other,
		                   .at = g->at,
		                   .position = g->s->edge_count };
	reach_append(g->s, e);
}

static bool choose(void *data, const struct open_choice *c)
{
	struct guess *g = data;
	bool first = g->guide->takes_first(g->guide->data, c);
	decide_on(g, first ? c->first : c->second,
	          first ? c->second : c->first);
	return ++g->chosen < g->chunk;
}

/* ---- Contradictions ---- */

static void find_culprits(struct guess *g)
{
	struct proof *p = &g->proof;
	assert(g->s->conflicting);
	if (g->blamed_capacity < g->count) {
		g->blamed_capacity = 2 * g->count;
		g->blamed = mem_grow(g->blamed, g->blamed_capacity,
		                     sizeof *g->blamed);
	}
	memset(g->blamed, 0, g->count * sizeof *g->blamed);
	memset(p->core, 0, g->s->f->n * sizeof *p->core);
	p->choice_count = p->root_count = 0;
	reasons_of_conflict(g->s, g->root, p);
	for (size_t i = 0; i < p->choice_count; i++)
		g->blamed[p->choices[i].third] = true;
	g->guide->contradicted(g->guide->data, p);
}

/* The last decision to blame that does not follow from others, or UINT32_MAX:
 * those that follow hand the blame on. */
static uint32_t last_culprit(struct guess *g)
{
	for (uint32_t i = (uint32_t)g->count; i-- > 0;) {
		const struct decision *d = &g->decisions[i];
		if (!g->blamed[i]) continue;
		if (!d->follows) return i;
		g->blamed[i] = false;
		for (uint32_t k = 0; k < d->from_count; k++)
			g->blamed[d->from[k]] = true;
	}
	return UINT32_MAX;
}

static void forget_decisions(struct guess *g, size_t count)
{
	assert(count <= g->count);
	while (g->count > count) free(g->decisions[--g->count].from);
}

/* Back to before decision i. Decisions of the same stage that came earlier are
 * appended anew. */
static void return_to(struct guess *g, uint32_t i)
{
	struct strong *s = g->s;
	while (g->stage_count && g->stages[g->stage_count - 1].decisions > i)
		g->stage_count--;
	if (g->stage_count) {
		struct stage *stage = &g->stages[g->stage_count - 1];
		assert(stage->decisions <= i);
		reach_back(s, stage->mark);
		for (uint32_t k = stage->decisions; k < i; k++) {
			g->decisions[k].position = s->edge_count;
			reach_append(s, g->decisions[k].edge);
		}
	} else {
		reach_truncate(s, g->decisions[i].position);
	}
}

static void turn(struct guess *g, uint32_t i)
{
	assert(i < g->count);
	struct decision d = g->decisions[i];
	uint32_t *from = mem_take((i + 1) * sizeof *from), count = 0;
	for (uint32_t k = 0; k < i; k++)
		if (g->blamed[k]) from[count++] = k;
	return_to(g, i);
	forget_decisions(g, i);
	g->at = d.at;
	decide_on(g, d.other, d.edge);
	struct decision *turned = &g->decisions[i];
	turned->follows = true;
	turned->from = mem_grow(from, count + 1, sizeof *from);
	turned->from_count = count;
	assert(g->count == (size_t)i + 1);
}

/* False when nothing is left to take back, or patience is at its end. */
static bool propagate(struct guess *g)
{
	struct strong *s = g->s;
	while (!reach_update(s) || !saturate(s)) {
		if (s->out_of_time) return false;
		find_culprits(g);
		uint32_t i = last_culprit(g);
		if (i == UINT32_MAX) return false;
		if (++g->contradictions > g->guide->patience) return false;
		turn(g, i);
		g->chunk = g->chunk / 2 + 1;
	}
	return true;
}

/* ---- The order of decisions ---- */

static void begin_stage(struct guess *g)
{
	struct strong *s = g->s;
	if (s->kept_count * s->blocks * sizeof(lanes) > KEPT_BYTES) {
		reach_settle(s);
		g->stage_count = 0;
	}
	VEC_RESERVE(g->stages, g->stage_count, g->stage_capacity);
	g->stages[g->stage_count++] =
		(struct stage){ reach_mark(s), (uint32_t)g->count };
}

static bool decide(struct guess *g)
{
	while (g->at < g->s->f->n) {
		begin_stage(g);
		g->chosen = 0;
		while (g->at < g->s->f->n &&
		       choices_of(g->s, g->sequence[g->at], choose, g))
			g->at++;
		if (!propagate(g)) return false;
		g->chunk += g->chunk / 2;
	}
	return true;
}

enum strong_answer guess_guided(struct strong *s, const struct guide *guide)
{
	struct guess g = { .s = s,
		           .guide = guide,
		           .at = 1,
		           .chunk = FIRST_CHUNK,
		           .root = s->edge_count };
	g.sequence = mem_take(s->f->n * sizeof *g.sequence);
	proof_init(&g.proof, s);
	likely_order(s);
	strong_order(s, g.sequence);
	assert(g.sequence[0] == 0);
	bool done = decide(&g);
	reach_settle(s);
	forget_decisions(&g, 0);
	free(g.sequence);
	free(g.decisions);
	free(g.stages);
	free(g.blamed);
	proof_free(&g.proof);
	if (done) return ANSWER_YES;
	if (!s->out_of_time) reach_truncate(s, g.root);
	return ANSWER_OPEN;
}

/* ---- Without advice ---- */

static bool is_along(void *data, const struct open_choice *c)
{
	const uint32_t *rank = data;
	return rank[c->first.from] < rank[c->first.to];
}

static void ignore(void *data, const struct proof *proof)
{
	(void)data;
	(void)proof;
}

enum strong_answer guess(struct strong *s)
{
	uint32_t *rank = mem_take(s->points * sizeof *rank);
	struct guide guide = { is_along, ignore, rank, PATIENCE };
	likely_order(s);
	memcpy(rank, s->topo_rank, s->points * sizeof *rank);
	enum strong_answer answer = guess_guided(s, &guide);
	free(rank);
	return answer;
}
