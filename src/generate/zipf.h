/* Zipf's distribution: of n items, item i is drawn with a probability
 * proportional to 1 / (i + 1)^theta. All arithmetic is on integers, so that
 * every machine draws the same. */
#ifndef ISO_GENERATE_ZIPF_H
#define ISO_GENERATE_ZIPF_H

#include <stdint.h>

#include "base/rng.h"

enum { ZIPF_THETA_MOST = 10 };

struct zipf;

/* count from 1 to 10^8, theta from 0 to ZIPF_THETA_MOST. Takes 8 bytes an
 * item. */
struct zipf *zipf_new(uint32_t count, double theta);
void zipf_free(struct zipf *z); /* NULL is fine */
/* From 0 to count - 1, by binary search. */
uint32_t zipf_pick(const struct zipf *z, struct rng *r);

#endif
