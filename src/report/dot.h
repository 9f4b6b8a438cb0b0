/* A picture of a history, in the language of Graphviz. */
#ifndef ISO_REPORT_DOT_H
#define ISO_REPORT_DOT_H

#include "base/text.h"

struct history;
struct witness;

/* Sessions are lanes, so and wr are arrows, and the cycle is red: the one
 * given, or if that is NULL one that makes the history unserializable, if any.
 * `title` may be NULL. */
void report_dot(struct text *t, const struct history *h, const char *title,
                const struct witness *cycle);

#endif
