/* A short proof that a history violates a weak level.
 */
#ifndef ISO_CHECK_CYCLE_H
#define ISO_CHECK_CYCLE_H

#include "check/graph.h"

/* Looks for a short cycle of so, wr and the edges of the graph, which has one.
 * `components` are those of graph_order, or NULL if only edges that session
 * order makes a cycle are to be looked at. Returns the transactions that prove
 * the violation by themselves, increasing, without init; the caller frees
 * them: those of the cycle, and for each edge that the level forces the reader
 * that forces it and what lies between. Linear for each of a limited number of
 * attempts. */
uint32_t *cycle_core(struct graph *g, enum level l, const uint32_t *components,
                     uint32_t *count);

#endif
