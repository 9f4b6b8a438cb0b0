/* rc, ra and cc: the edges that their reads force, for histories of any size.
 * The premise of these levels does not speak of the commit order, so a history
 * satisfies one of them when so, wr, the known pairs and these edges have no
 * cycle.
 *
 * Not all the edges by the definition are added, but enough that the others
 * follow. Facts with an order only. All return early, with
 * g->stopped, when the clock tells them to, or when graph_enough.
 */
#ifndef ISO_CHECK_WEAK_EDGES_H
#define ISO_CHECK_WEAK_EDGES_H

#include "check/graph.h"

/* For n operations: time n^1.5 (times a logarithm where keys are looked up),
 * memory n (AWDIT, PLDI 2025). */
void read_committed_edges(struct graph *g);
void read_atomic_edges(struct graph *g);
/* Time n times the number of sessions, or of paths that cover so U wr if that
 * is smaller; memory n, and at most 64 clock entries for each transaction that
 * later ones still read from. */
void causal_edges(struct graph *g);

#endif
