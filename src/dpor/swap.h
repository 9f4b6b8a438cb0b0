/* Reorderings of a read after a transaction that committed later. */
#ifndef ISO_DPOR_SWAP_H
#define ISO_DPOR_SWAP_H

#include <stdbool.h>
#include <stdint.h>

#include "dpor/state.h"

struct explore_stats;

struct swap_list {
	uint32_t count;
	const uint32_t *reads; /* read numbers, in the region */
};

/* ComputeReorderings and the readLatest part of Optimality (paper, sections
 * 5.2 and 5.3) for the transaction that `s` has just ended: the reads that may
 * be swapped with it, latest in < first. `scratch` is a state of the same
 * context whose contents are lost. */
struct swap_list swap_candidates(struct state *s, struct state *scratch,
                                 struct explore_stats *stats);

/* Swap(h, <, r, t): makes `to` the result. False, with `to` useless, when the
 * result violates the level (the consistency part of Optimality). */
bool swap_apply(struct state *to, const struct state *from, uint32_t read);

#endif
