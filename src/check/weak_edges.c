#include "check/weak_edges.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/cycle.h"

static void add_edges(struct graph *g, enum level l)
{
	switch (level_sight(l)) {
	case SIGHT_NOTHING: return;
	case SIGHT_SOURCES: read_committed_edges(g); break;
	case SIGHT_DIRECT: read_atomic_edges(g); break;
	case SIGHT_PAST: causal_edges(g); break;
	case SIGHT_STATEMENT:
	case SIGHT_PREFIX: break;
	}
	graph_add_known(g);
}

static uint32_t *copy_order(const struct facts *f)
{
	uint32_t *order = mem_take(f->n * sizeof *order);
	memcpy(order, f->order, f->n * sizeof *order);
	return order;
}

/* Edges that session order makes a cycle are enough for a violation, even when
 * there was no time for all the others. */
static void search_cycle(struct graph *g, enum level l,
                         struct check_result *out)
{
	uint32_t *components = mem_take0(g->f->n, sizeof *components);
	uint32_t *order = g->stopped ? NULL : graph_order(g, components);
	if (g->sure || (!order && !g->stopped)) {
		out->verdict = VERDICT_VIOLATED;
		out->core = cycle_core(g, l, g->stopped ? NULL : components,
		                       &out->core_count);
		free(order);
	} else if (order) {
		out->verdict = VERDICT_HOLDS;
		out->order = order;
	} else {
		out->verdict = VERDICT_UNDECIDED;
		out->reason = g->reason;
	}
	free(components);
}

void check_weak(const struct facts *f, enum level l, struct check_clock *c,
                struct check_result *out)
{
	struct graph g;
	assert(!f->order || !level_needs_order(l));
	*out = (struct check_result){ 0 };
	graph_init(&g, f, c);
	if (f->order) add_edges(&g, l);
	if (f->order && !g.backward && !g.stopped) {
		out->verdict = VERDICT_HOLDS;
		out->order = copy_order(f);
	} else {
		search_cycle(&g, l, out);
	}
	graph_free(&g);
}
