/* The canonical order of a history: of all its orders, the first one.
 *
 * The orders of a history are the topological ones of so U wr, compared by the
 * numbers of the sessions: in the first one each place is taken by the first
 * session that can take it. An order is the first one just if between a
 * transaction and the last of its predecessors there are only transactions of
 * earlier sessions: if some later session stood there, the transaction could
 * have taken its place; and where an order is not the first, at the first place
 * where it differs it holds a transaction of a later session than that of one
 * which could have stood there, and which comes after it. So the order of a
 * prefix decides whether it can be kept.
 *
 * Under EXPLORE_ORDERLY, unless sessions can be exchanged, it is not the number
 * that tells who comes before whom at a place, but what their next transactions
 * may read and write. All the above holds as well: where each place has an
 * order of the sessions that what stands before it tells, each history has one
 * order in which each place is taken by the first session that can take it. But
 * fewer beginnings lead nowhere.
 *
 * A session is passed over where a transaction of a later one stands behind its
 * last. Its next transaction then has to read from there or later on. If its
 * code reads nothing that was written there, it cannot come next; and where it
 * may read that for the last time, it has to do so. Until it can come, it waits
 * for a session that writes what it may read. If that waits, too, and so on in
 * a circle, or there is none, no order of a complete history begins like this:
 * most of the beginnings that lead nowhere are refused so, before they are run.
 */
#ifndef ISO_DPOR_CANONICAL_ORDER_H
#define ISO_DPOR_CANONICAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

struct canonical_order;
struct engine;

/* The last place behind the session's last transaction that one of a later
 * session takes; 0 if there is none. */
uint32_t canonical_order_passed(const struct engine *e, uint32_t session);
/* Is the order of the transactions, of which the last has just ended, the
 * first one of its history? */
bool canonical_order_keeps(struct engine *e);
/* Can it be, and canonical_order_can_end(), if the session's transaction comes
 * next? `again`: it did, and does once more. To be asked in either case, since
 * whom it passes over is noted. */
bool canonical_order_may_begin(struct engine *e, uint32_t session, bool again);
/* Sorts sessions that are in the order of their numbers: as they come. */
void canonical_order_sort(struct engine *e, uint32_t *sessions, uint32_t count);
void canonical_order_free(struct canonical_order *o);
/* Can it go on as the first order of a complete history? As far as code tells:
 * is there nobody who waits in vain? */
bool canonical_order_can_end(struct engine *e);
/* Drops the writers that the pending transaction, which waits for a read,
 * cannot read from in a first order; true if there were any. */
bool canonical_order_restrict(const struct engine *e, word *valid);

#endif
