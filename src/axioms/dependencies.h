/* Dependencies between transactions, each with its reason, and shortest cycles
 * of them. The graph's nodes are points as in order.h: one or two for each
 * transaction.
 */
#ifndef ISO_AXIOMS_DEPENDENCIES_H
#define ISO_AXIOMS_DEPENDENCIES_H

#include <stdbool.h>
#include <stddef.h>

#include "axioms/level.h"
#include "axioms/reason.h"
#include "base/bits.h"
#include "history/relation.h"

struct dependency {
	uint32_t from, to; /* points */
	enum reason_kind reason;
	uint32_t key, reader;
};

struct dependencies {
	const struct relation *r; /* borrowed */
	unsigned points;          /* of each transaction */
	unsigned half, width;     /* first commit point; words of a row */
	word *rows;               /* successors of each point */
	struct dependency *added; /* beside so and wr */
	size_t count, capacity;
	/* The last search for shortest paths. */
	word *met;
	uint32_t *parent, *depth, *queue;
};

/* Begins with so and wr. */
void dependencies_init(struct dependencies *d, const struct relation *r,
                       unsigned points);
void dependencies_free(struct dependencies *d);
/* False if the two points are connected already. */
bool dependencies_add(struct dependencies *d, struct dependency e);
/* Takes back all added dependencies but the first `count`. */
void dependencies_cut(struct dependencies *d, size_t count);

/* Finds shortest paths of fewer than `limit` edges from a point to all. */
void dependencies_search(struct dependencies *d, uint32_t from, uint32_t limit);
/* The cycle of this dependency (in the graph or not), and a path back found by
 * the last search: replaces `best` if that is empty or longer. */
void dependencies_close(struct dependencies *d, struct dependency e,
                        struct witness *best);
/* A shortest cycle of so and wr alone, if they have one. */
void dependencies_base_cycle(struct dependencies *d, struct witness *best);

#endif
