/* What transactions did, one after the other: a plain record beside a ledger,
 * of which the history can be made from scratch. */
#ifndef ISO_TESTS_PLAIN_RECORD_H
#define ISO_TESTS_PLAIN_RECORD_H

#include "history/history.h"

enum {
	PLAIN_TRANSACTIONS = 9, /* but init, at most */
	PLAIN_EVENTS = 8        /* of one */
};

struct plain_event {
	enum event_kind kind;
	struct db_access access;
	uint32_t from; /* place of the transaction, 0 is init; HISTORY_SELF */
	int64_t value;
};

struct plain_transaction {
	uint32_t session, index; /* its place in the session */
	own_level own;
	bool aborted, pending;
	uint32_t count;
	struct plain_event events[PLAIN_EVENTS];
};

struct plain {
	uint32_t count; /* transactions, init at place 0 among them */
	struct plain_transaction items[PLAIN_TRANSACTIONS + 1];
};

/* The next transaction of the session, pending. */
void plain_begin(struct plain *p, uint32_t session, own_level own);
struct plain_transaction *plain_last(struct plain *p);
/* Is there a version of the key by the transaction at this place? */
bool plain_writes(const struct plain *p, uint32_t place, uint32_t key);
/* The history of the first `count` transactions, without values. One that is
 * pending has written nothing yet, as if it had aborted. `after_all`: the last
 * session follows all others. */
struct history *plain_history(const struct plain *p, uint32_t count,
                              uint32_t sessions, uint32_t keys, bool after_all);

#endif
