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
 * (canonical_order.h).
 */
#ifndef ISO_DPOR_OUTWARD_H
#define ISO_DPOR_OUTWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
