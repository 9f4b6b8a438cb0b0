/* The order of slots by positions, for levels whose transactions see a prefix
 * of the commit order. Each slot has a position in it, whether it commits or
 * not, and sees the state of the database that the positions before its
 * *snapshot* leave: before its own position where it happens at one point, any
 * that is not later if it begins with a snapshot. There are variables for
 *
 *	by(s, t)	slot s has a position up to t
 *	here(s, t)	it has position t
 *	from(s, t)	its snapshot is what t positions leave, or fewer
 *	sees(s, t)	it is what t positions leave
 *	holds(k, v, t)	key k has value v behind t positions
 *	wrote(k, t)	who has position t has written key k
 *	writes(s, k)	slot s has committed, and written key k
 *
 * Nothing says who reads from whom. So what counts (a sum, a number of seats)
 * goes up by steps along the positions, whoever makes them, and proofs that it
 * never comes to more are short; by pairs they go through all orders.
 *
 * Clauses say that slots do *not* write what they write in no run that is
 * known, so other runs need another encoding.
 */
#ifndef ISO_SOLVE_POSITIONS_H
#define ISO_SOLVE_POSITIONS_H

#include "solve/encoding.h"

bool positions_fit(enum level l);
__attribute__((const)) const struct order_form *order_by_positions(void);

#endif
