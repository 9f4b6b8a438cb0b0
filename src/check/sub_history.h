/* Parts of facts: some of the transactions, with some of their operations, as
 * facts of their own with numbers of their own.
 */
#ifndef ISO_CHECK_SUB_HISTORY_H
#define ISO_CHECK_SUB_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "history/facts.h"

/* A known pair, with the two writes as indices of facts.writes. */
struct sub_history_pair {
	struct history_known known;
	uint32_t from, to;
};

struct sub_histories {
	const struct facts *whole; /* borrowed */
	/* Which operations count, by index of whole->reads and whole->writes.
	 * A read of a write that does not count does not count either. */
	bool *reads, *writes;
	uint32_t *next; /* by index of a read: it, or the first behind it that
	                 * is not idle; NULL: none is */
	/* Pairs of the whole that may concern the parts, in its order. */
	struct sub_history_pair *pairs;
	uint32_t pair_count;
	/* By index of whole->writes, for one that does not count: the last
	 * writer before it that does. NULL if there are no pairs. */
	uint32_t *before;
	/* Numbers in the part being made, UINT32_MAX outside of it. */
	uint32_t *number, *key;
};

/* All operations count. Linear in the facts, as is the memory held. */
void sub_history_init(struct sub_histories *p, const struct facts *whole);
void sub_history_free(struct sub_histories *p);
/* From now on all parts consist of some of these transactions. */
void sub_history_narrow(struct sub_histories *p, const uint32_t *transactions,
                        uint32_t count);

/* Reads of keys that nobody but init wrote do not count from now on: they never
 * matter. */
void sub_history_forget_idle(struct sub_histories *p);

/* The facts of these transactions (different ones, in any order, without init)
 * and init: increasing ones become 1, 2, .. To be freed by facts_free. Keys
 * that none of them uses are left out, as are reads from others. Where writers
 * of a key are left out, the order of those before and after them stays known
 * (of a key's known pairs, the one that leads to a writer has to come before
 * those that lead from it). Costs the size of the transactions and of the
 * pairs that may concern them; more only if so U wr has a cycle in the whole.
 */
struct facts *sub_history_take(struct sub_histories *p,
                               const uint32_t *transactions, uint32_t count);

/* The known pairs of such a part in the numbers of the whole; *out has room for
 * p->pair_count. Returns how many. */
uint32_t sub_history_known(struct sub_histories *p,
                           const uint32_t *transactions, uint32_t count,
                           struct history_known *out);

#endif
