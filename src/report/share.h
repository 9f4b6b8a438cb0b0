/* Which share of all histories an exploration has seen that ended early. */
#ifndef ISO_REPORT_SHARE_H
#define ISO_REPORT_SHARE_H

#include <stdint.h>

#include "base/text.h"

struct estimate;

/* The part of all that was seen, up to 1; NAN where nothing is known to be
 * there. */
double share_of(uint64_t seen, const struct estimate *all);
/* ,"share":0.27 or null. */
void json_share_member(struct text *t, uint64_t seen,
                       const struct estimate *all);

/* A line among the counts (counts.h): "in all  about 1.31 million ...". Nothing
 * if nothing is known: `all` may be NULL. */
void report_share(struct text *t, uint64_t seen, const struct estimate *all);
/* The same as a member of an object, with its comma. */
void json_share(struct text *t, uint64_t seen, const struct estimate *all);

#endif
