/* The checks behind level_allows, one for each family of levels. */
#ifndef ISO_AXIOMS_KERNELS_H
#define ISO_AXIOMS_KERNELS_H

#include "axioms/scratch.h"

/* Every check is exact. The relation's own order is tried first, which is
 * linear and usually enough for histories that come from an execution. */
bool read_committed_allows(struct level_scratch *s, const struct relation *r);
bool read_atomic_allows(struct level_scratch *s, const struct relation *r);
bool causal_allows(struct level_scratch *s, const struct relation *r);
bool prefix_allows(struct level_scratch *s, const struct relation *r);
bool parallel_snapshot_allows(struct level_scratch *s,
                              const struct relation *r);
bool snapshot_allows(struct level_scratch *s, const struct relation *r);
bool serializable_allows(struct level_scratch *s, const struct relation *r);

#endif
