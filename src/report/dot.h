/* A picture of a history, in the language of Graphviz. */
#ifndef ISO_REPORT_DOT_H
#define ISO_REPORT_DOT_H

#include <stdint.h>

#include "base/text.h"

struct history;
struct witness;

/* A read that was observed otherwise. */
struct dot_change {
	uint32_t reader, event; /* transaction, and event of it */
	uint32_t observed;      /* writer then; UINT32_MAX: it is not in the
	                         * history */
};

/* Sessions are lanes, so and wr are arrows, and the cycle is red: the one
 * given, or if that is NULL one that makes the history unserializable, if any.
 * `title` may be NULL. */
void report_dot(struct text *t, const struct history *h, const char *title,
                const struct witness *cycle);

/* The same of a predicted history: reads that were observed otherwise are
 * orange, and where they were observed to read from is dashed and grey. */
void report_dot_predicted(struct text *t, const struct history *h,
                          const char *title, const struct witness *cycle,
                          const struct dot_change *changes, uint32_t count);

#endif
