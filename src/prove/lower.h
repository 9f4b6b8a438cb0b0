/* The transactions of a program in .tx, as summaries. */
#ifndef ISO_PROVE_LOWER_H
#define ISO_PROVE_LOWER_H

#include "lang/ast.h"
#include "prove/summary.h"

/* Of a tree that was checked. What cannot be said is added to a->uncovered, and
 * taken for something simpler. */
void lower(struct application *a, const struct syntax *tree,
           struct sources *all);

#endif
