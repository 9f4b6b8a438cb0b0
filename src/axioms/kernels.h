/* The checks behind level_allows, one for each family of levels. */
#ifndef ISO_AXIOMS_KERNELS_H
#define ISO_AXIOMS_KERNELS_H

#include "axioms/order.h"

/* Every check is exact. The relation's own order is tried first, which is
 * linear and usually enough for histories that come from an execution. */

/* none, rc, ra and cc: what reads see does not depend on the commit order. */
bool weak_allows(struct level_scratch *s, const struct relation *r,
                 enum sight sight);
/* psi. */
bool parallel_snapshot_allows(struct level_scratch *s,
                              const struct relation *r);
/* pc; with `exclusive` rivals, si. */
bool snapshot_allows(struct level_scratch *s, const struct relation *r,
                     bool exclusive);
/* prc. */
bool points_allows(struct level_scratch *s, const struct relation *r,
                   enum level level);
/* ser. */
bool serial_allows(struct level_scratch *s, const struct relation *r);
/* Each transaction at the level of its own (r->owns), or else at this one; and
 * reads that lock. */
bool mixed_allows(struct level_scratch *s, const struct relation *r,
                  enum level others);

#endif
