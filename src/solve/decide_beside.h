/* Exploring beside deciding: where histories are few, enumerating them is
 * quicker than the solver. So a second thread enumerates for twenty seconds,
 * and whoever ends first gives the answer.
 */
#ifndef ISO_SOLVE_DECIDE_BESIDE_H
#define ISO_SOLVE_DECIDE_BESIDE_H

#include "solve/decision.h"

/* As decide(); `explored` tells whose the answer is. In SQL, exploring may come
 * upon rows that were not known (dpor/known_rows.h); then it is void, as it is
 * if the solver does. */
void decide_beside(struct decision *out, const struct program *p,
                   const struct decide_options *o);

#endif
