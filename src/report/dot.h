/* A picture of a history, in the language of Graphviz. */
#ifndef ISO_REPORT_DOT_H
#define ISO_REPORT_DOT_H

#include "base/text.h"

struct history;

/* Sessions are lanes, so and wr are arrows, and the cycle that makes the
 * history unserializable, if any, is red. `title` may be NULL. */
void report_dot(struct text *t, const struct history *h, const char *title);

#endif
