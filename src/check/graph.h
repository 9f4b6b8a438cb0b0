/* What the commit order has to contain: so U wr, which the facts hold, and
 * edges that a level forces. A graph over the transactions, by predecessors.
 */
#ifndef ISO_CHECK_GRAPH_H
#define ISO_CHECK_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "check/check.h"

enum { GRAPH_NONE = UINT32_MAX };

struct graph_edge {
	uint32_t from;
	uint32_t next; /* edge into the same transaction, or GRAPH_NONE */
};

struct graph {
	const struct facts *f;
	struct check_clock *clock;
	struct graph_edge *edges;
	uint32_t count, capacity;
	uint32_t *head;       /* n: the edge into it that was added last */
	word *pairs;          /* n x n bits, which edges there are; NULL if
	                       * transactions are many for their operations */
	uint32_t known_first; /* edges from this one on are known pairs */
	uint32_t sure;        /* edges that session order makes a cycle */
	bool backward;        /* some edge goes against f->order */
	uint32_t steps;       /* since the clock was asked */
	bool stopped;         /* a limit was reached */
	const char *reason;   /* which, if stopped */
};

/* No edges. Facts and clock are borrowed; f->order may be NULL. */
void graph_init(struct graph *g, const struct facts *f,
                struct check_clock *clock);
void graph_free(struct graph *g);

/* Adds an edge that a level forces, unless session order has it anyway or it
 * is known to be there. An edge into init is a cycle. */
void graph_add(struct graph *g, uint32_t from, uint32_t to);
/* Adds the known pairs of writers; no graph_add after it. */
void graph_add_known(struct graph *g);

/* To be called every now and then with the steps done since. True if there is
 * no point in going on: a limit was reached, or there are cycles enough. */
bool graph_enough(struct graph *g, uint64_t steps);

/* With so many bytes besides the edges, is the memory limit exceeded? Then it
 * is stopped. */
bool graph_too_large(struct graph *g, uint64_t bytes);

/* The predecessors of a transaction in so (only the next ones), wr and the
 * edges; init is left out. */
struct graph_preds {
	uint32_t so, read, edge; /* what comes next */
};
struct graph_preds graph_preds(const struct graph *g, uint32_t t);
/* GRAPH_NONE at the end. */
uint32_t graph_next_pred(const struct graph *g, uint32_t t,
                         struct graph_preds *p);

/* A topological order (n transactions, init first, near f->order), which the
 * caller frees. If there is a cycle, NULL, and `components`, n entries, gets
 * the number of the strongly connected component that a transaction is in, 0
 * for one by itself. NULL too if the clock stopped it. Edges into init are not
 * looked at. Linear, not recursive (Tarjan 1972). */
uint32_t *graph_order(struct graph *g, uint32_t *components);

#endif
