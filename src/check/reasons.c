/* The transactions that a contradiction rests on.
 *
 * A forced edge follows from a path of older edges (saturate.c), so a proof is
 * a set of paths. They are sought shortest first, steps along a chain for
 * free; of those the ends matter only, since session order is transitive.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"

struct reasons {
	struct strong *s;
	size_t root; /* edges whose reasons are not wanted */
	struct proof *proof;
	bool *used;        /* edges whose reason is known or waits */
	uint32_t *waiting; /* edges whose reason is to be found */
	size_t waiting_count, waiting_capacity;
	/* The search at hand: points it has met, and how they were reached. */
	bool *seen;
	uint32_t *parent, *by_edge;
	uint32_t *met_points, met_count;
	uint32_t *later; /* edges to follow when the nearer ones are done */
	size_t later_count, later_capacity;
};

static void mark(struct reasons *r, uint32_t t)
{
	r->proof->core[t] = true;
}

/* Those by which t comes after the one before it in its chain. */
static void mark_via(struct reasons *r, uint32_t t)
{
	const struct chains *c = r->s->chains;
	for (uint32_t i = c->via_first[t]; c->via[i]; i++) mark(r, c->via[i]);
}

static void use_edge(struct reasons *r, uint32_t i)
{
	struct proof *p = r->proof;
	if (r->used[i]) return;
	r->used[i] = true;
	if (i < r->root) {
		VEC_RESERVE(p->roots, p->root_count, p->root_capacity);
		p->roots[p->root_count++] = i;
	} else {
		VEC_RESERVE(r->waiting, r->waiting_count, r->waiting_capacity);
		r->waiting[r->waiting_count++] = i;
	}
}

static void use_choice(struct reasons *r, const struct edge *e)
{
	struct proof *p = r->proof;
	VEC_RESERVE(p->choices, p->choice_count, p->choice_capacity);
	p->choices[p->choice_count++] = *e;
}

static void meet(struct reasons *r, uint32_t p, uint32_t parent, uint32_t edge)
{
	r->seen[p] = true;
	r->parent[p] = parent;
	r->by_edge[p] = edge;
	r->met_points[r->met_count++] = p;
}

/* Can the point be on a path to b? */
static bool leads_to(const struct reasons *r, uint32_t p, uint32_t b,
                     size_t limit)
{
	const struct strong *s = r->s;
	if (!s->has_closure || limit > s->closed) return true;
	return p == b || point_before(s, p, b);
}

/* The points that follow in the chain are as near as p itself. */
static void meet_chain(struct reasons *r, uint32_t p, uint32_t b, size_t limit)
{
	for (uint32_t q = point_next(r->s, p);
	     q != UINT32_MAX && !r->seen[q] && leads_to(r, q, b, limit);
	     q = point_next(r->s, q)) {
		meet(r, q, p, NO_EDGE);
		p = q;
	}
}

/* Goes on along the edges of a point that was met: at once along those that
 * need no reason, later along others. */
static void go_on(struct reasons *r, uint32_t p, uint32_t b, size_t limit)
{
	const struct strong *s = r->s;
	for (uint32_t e = s->first_out[p]; e != NO_EDGE;
	     e = s->edges[e].next_out) {
		uint32_t q = s->edges[e].to;
		if (e >= limit || r->seen[q] || !leads_to(r, q, b, limit))
			continue;
		if (e < r->root) {
			meet(r, q, p, e);
			meet_chain(r, q, b, limit);
		} else {
			VEC_RESERVE(r->later, r->later_count,
			            r->later_capacity);
			r->later[r->later_count++] = e;
		}
	}
}

/* From a to b by edges before `limit`; there is such a path. Of all, it is one
 * with the fewest edges that need a reason. */
static void search(struct reasons *r, uint32_t a, uint32_t b, size_t limit)
{
	size_t next = 0;
	for (uint32_t i = 0; i < r->met_count; i++)
		r->seen[r->met_points[i]] = false;
	r->met_count = 0;
	r->later_count = 0;
	meet(r, a, a, NO_EDGE);
	meet_chain(r, a, b, limit);
	for (uint32_t i = 0; !r->seen[b]; i++) {
		while (i == r->met_count) {
			assert(next < r->later_count);
			uint32_t e = r->later[next++];
			uint32_t q = r->s->edges[e].to;
			if (r->seen[q]) continue;
			meet(r, q, r->s->edges[e].from, e);
			meet_chain(r, q, b, limit);
		}
		go_on(r, r->met_points[i], b, limit);
	}
}

static void take_path(struct reasons *r, uint32_t a, uint32_t b, size_t limit)
{
	const struct strong *s = r->s;
	mark(r, point_owner(s, a));
	mark(r, point_owner(s, b));
	if (a == b) return;
	search(r, a, b, limit);
	for (uint32_t p = b; p != a; p = r->parent[p]) {
		uint32_t t = point_owner(s, p);
		uint32_t u = point_owner(s, r->parent[p]);
		if (facts_so(s->f, u, t) || t == u) continue;
		if (r->by_edge[p] != NO_EDGE)
			use_edge(r, r->by_edge[p]);
		else
			mark_via(r, t);
		mark(r, t);
		mark(r, u);
	}
}

/* Of an edge that is forced: what forces it (see saturate.c). */
static void take_reason(struct reasons *r, const struct edge *e)
{
	const struct strong *s = r->s;
	uint32_t from = point_owner(s, e->from), to = point_owner(s, e->to);
	mark(r, from);
	if (to) mark(r, to);
	switch (e->rule) {
	case EDGE_BASE: break;
	case EDGE_SOURCE:
		mark(r, e->third);
		take_path(r, point_commit(s, from), point_sight(s, e->third),
		          e->limit);
		break;
	case EDGE_READER:
		if (!e->third) break; /* init is before every writer */
		mark(r, e->third);
		take_path(r, point_commit(s, e->third), point_commit(s, to),
		          e->limit);
		break;
	case EDGE_RIVAL:
		take_path(r, point_rival(s, from), point_commit(s, to),
		          e->limit);
		break;
	case EDGE_LOCK: {
		const struct strong_lock *a = &s->locks->items[e->third];
		uint32_t last = lock_commit(s, e->to, a->key);
		mark(r, a->until);
		mark(r, last);
		take_path(r, a->until, last, e->limit);
		break;
	}
	case EDGE_CHOICE: use_choice(r, e); break;
	}
}

static void reasons_init(struct reasons *r, struct strong *s)
{
	r->s = s;
	r->used = mem_take0(s->edge_count + 1, sizeof *r->used);
	r->seen = mem_take0(s->points, sizeof *r->seen);
	r->parent = mem_take(s->points * sizeof *r->parent);
	r->by_edge = mem_take(s->points * sizeof *r->by_edge);
	r->met_points = mem_take(s->points * sizeof *r->met_points);
}

static void reasons_free(struct reasons *r)
{
	free(r->used);
	free(r->waiting);
	free(r->seen);
	free(r->parent);
	free(r->by_edge);
	free(r->met_points);
	free(r->later);
}

static void follow(struct reasons *r)
{
	while (r->waiting_count)
		take_reason(r, &r->s->edges[r->waiting[--r->waiting_count]]);
}

void reasons_of_conflict(struct strong *s, size_t root, struct proof *proof)
{
	struct reasons r = { .root = root, .proof = proof };
	assert(s->conflicting);
	reasons_init(&r, s);
	take_reason(&r, &s->conflict);
	if (point_owner(s, s->conflict.to))
		take_path(&r, s->conflict.to, s->conflict.from,
		          s->conflict_limit);
	follow(&r);
	reasons_free(&r);
}

void reasons_of_edges(struct strong *s, const uint32_t *edges, size_t count,
                      bool *core)
{
	struct proof proof = { .core = core };
	struct reasons r = { .proof = &proof };
	reasons_init(&r, s);
	for (size_t i = 0; i < count; i++) use_edge(&r, edges[i]);
	follow(&r);
	reasons_free(&r);
	assert(!proof.choice_count && !proof.root_count);
}

void proof_init(struct proof *p, const struct strong *s)
{
	*p = (struct proof){ .core = mem_take0(s->f->n, sizeof *p->core) };
}

void proof_free(struct proof *p)
{
	free(p->choices);
	free(p->roots);
	free(p->core);
}
