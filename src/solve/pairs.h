/* The order of slots by pairs, for every level without statements: each read
 * has a writer. A *place* is where a slot reads a key. There are variables for
 *
 *	before(a, b)	slot a commits before b: a total order, of all slots
 *	sees(a, b)	a is in sight of b, as the level has it
 *	reads(p, w)	at place p, slot w is read from
 *	writes(w, k)	slot w has committed, and written key k,
 *	writes(w, k, v)	with v as its last value
 *
 * Orders and sights do not depend on the number of runs; these are tied to them
 * by what is read.
 */
#ifndef ISO_SOLVE_PAIRS_H
#define ISO_SOLVE_PAIRS_H

#include "solve/encoding.h"

__attribute__((const)) const struct order_form *order_by_pairs(void);
/* Adds the negation of what the model of an encoding by pairs says of who reads
 * from whom, in growable array as VEC_RESERVE has it, and 0. */
void pairs_choices(const struct encoding *e, int **literals, size_t *count,
                   size_t *capacity);

#endif
