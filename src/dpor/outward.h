/* Exploring outwards from an observed history (EXPLORE_OUTWARD): histories
 * that change few of its reads come first.
 *
 * Iterations for k from 0 on: each goes depth first through the serial orders
 * of transactions of which it is not known that they change more than k of the
 * observed reads, and outputs the complete histories that change exactly k. So
 * a history is output in one iteration only. The next k is the least number of
 * changes known of what was cut.
 *
 * And once in it, because of all orders of a history only the first is kept
 * (first_order.h).
 */
#ifndef ISO_DPOR_OUTWARD_H
#define ISO_DPOR_OUTWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"

struct engine;
struct history;

struct outward {
	uint64_t budget;    /* k */
	uint64_t next;      /* the fewest changes known to be needed by
	                     * something cut; UINT64_MAX: nothing was */
	uint32_t *spent;    /* by read of the closure: how many reads are
	                     * changed up to this one */
	uint32_t *reserved; /* by place in the closure's order: changed reads
	                     * that other sessions need at least, found when
	                     * the transaction there began */
	uint32_t spent_capacity, reserved_capacity;
	struct history *nearest; /* the first one output */
};

void outward_free(struct outward *o);
size_t outward_bytes(const struct outward *o);

/* Before the first iteration. */
void outward_start(struct outward *o);
/* How many reads are changed so far. It may be more than k: where only one
 * writer is left for a read, it is taken, to learn how many changes follow. */
uint64_t outward_changes(const struct engine *e);
/* Does the complete history belong to this iteration? */
bool outward_completes(struct engine *e);
/* May the session's transaction come next? Not if too many reads had to be
 * changed then: a session that was passed over, since a transaction of a later
 * one stands behind its last, has to read from there or later on; if its next
 * transaction did not in the observed history, it changes a read. */
bool outward_may_begin(struct engine *e, uint32_t session);
/* Of the writers that the pending transaction may read `key` from next, drops
 * those for which k changes are not enough, unless it is the only one. True
 * if k changes are not enough for some. */
bool outward_restrict(struct engine *e, uint32_t key, word *valid);
/* The pending transaction is about to read `key` from `source`. */
void outward_read(struct engine *e, uint32_t key, uint32_t source);
/* Goes on to the next k; false, with the reason for stopping noted, if there
 * is none. */
bool outward_deepen(struct engine *e);

#endif
