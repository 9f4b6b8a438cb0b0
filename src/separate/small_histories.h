/* All small histories, one of each class of those that differ only in what
 * sessions, transactions and keys are called.
 *
 * Left out is what makes no difference to any level: a second write of a key by
 * a transaction, a read of what it wrote itself, a key that one transaction
 * alone uses, an abort of a transaction that nobody reads from. Left out too
 * are those with a cycle of so and wr, which no level allows.
 */
#ifndef ISO_SEPARATE_SMALL_HISTORIES_H
#define ISO_SEPARATE_SMALL_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "history/relation.h"

enum { SMALL_TRANSACTIONS = 7, SMALL_EVENTS = 14 };

struct small_scope {
	/* Exactly so many; init is not counted. At least 1, and no more than
	 * above. */
	uint32_t transactions, events;
	uint32_t keys;   /* at most; 0: as many as there can be */
	bool locks;      /* reads may be shared or locked */
	bool statements; /* of several events */
	bool aborts;     /* transactions that are read from may abort */
};

struct small_event {
	bool write, joined;
	uint8_t key, source; /* of a read: 0 is init */
	uint8_t strength;    /* enum strength */
};

struct small_history {
	uint32_t session_count, transaction_count; /* with init */
	uint32_t event_count, key_count;
	/* Those of session s: session_first[s] to before the next one's; and
	 * likewise the events of transaction t. */
	uint32_t session_first[SMALL_TRANSACTIONS + 1];
	uint32_t first[SMALL_TRANSACTIONS + 2];
	bool aborted[SMALL_TRANSACTIONS + 1];
	bool dirty; /* somebody reads from one that aborted */
	struct small_event events[SMALL_EVENTS];
	struct relation relation; /* its rows have one word */
};

/* Calls `visit` for each, always in the same order, and `tick` now and then
 * (NULL: never). False if one of them returned false, which ends it. */
bool small_histories(const struct small_scope *scope,
                     bool (*visit)(void *data, const struct small_history *s),
                     bool (*tick)(void *data), void *data);
/* The same in the readable form, of transactions with these levels of their own
 * (NULL: none); the caller frees it. Sessions are a, b, c; keys x, y, z; each
 * write writes another value. */
struct history *small_history_readable(const struct small_history *s,
                                       const own_level *owns);

#endif
