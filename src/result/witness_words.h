/* A witness in words: why a history is not allowed by a level. */
#ifndef ISO_RESULT_WITNESS_WORDS_H
#define ISO_RESULT_WITNESS_WORDS_H

#include <stdint.h>

#include "axioms/level.h"
#include "axioms/witness.h"
#include "base/text.h"
#include "history/history.h"

/* One edge as a clause: "alice.1 enroll reads x as init left it, before bob.1
 * enroll writes it". */
void explain_edge(struct text *t, const struct history *h,
                  const struct witness_edge *e);
/* The level by which the edge is there, or by which it is allowed (rw): that of
 * the reader. NULL where levels do not differ, or none is the reason. */
const char *edge_level(const struct history *h, const struct witness_edge *e);
/* "so", "wr seats", "rw seats", ... for the arrows of pictures. */
void explain_edge_label(struct text *t, const struct history *h,
                        const struct witness_edge *e);

#endif
