/* Which share of all histories an exploration has seen that ended early. */
#ifndef ISO_REPORT_SHARE_H
#define ISO_REPORT_SHARE_H

#include <stdint.h>

#include "base/text.h"

struct estimate;

/* A line among the counts (counts.h): "in all  about 1.31 million ...". Nothing
 * if nothing is known: `all` may be NULL. */
void report_share(struct text *t, uint64_t seen, const struct estimate *all);
/* The same as a member of an object, with its comma. */
void json_share(struct text *t, uint64_t seen, const struct estimate *all);

#endif
