/* A ledger: an execution while it grows, under an isolation level. Sessions
 * begin transactions, which read, write and end, and are taken back. A ledger
 * knows what happened, not who wanted it: no program, no machine, no search.
 *
 * Transactions stand in an order < that extends so U wr; only the last one may
 * be pending, and only it reads and writes. The order is that of the closure
 * (axioms/closure.h), on whose rows the questions about levels are answered.
 *
 * A transaction has a number, which it is given when it is begun for the first
 * time (0 is init). Ledgers that share their numbers can pass transactions on
 * to each other: a number means the same session and place in it in all of
 * them.
 *
 * What a transaction did is a chain of immutable nodes in a region: ledgers
 * share them, and a prefix of a transaction is a pointer.
 *
 * Who searches wants exact answers, and rows of bits for all pairs of
 * transactions. Who serves live clients only goes forward, for a long time:
 * ledger_go_in_order().
 */
#ifndef ISO_EXECUTION_LEDGER_H
#define ISO_EXECUTION_LEDGER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "history/history.h"

struct level_scratch;
struct machine_state;
struct points_closure;
struct strong_closure;
struct session_point;

enum {
	EVENTS_MAX = 65535,      /* reads and writes in one transaction */
	TRANSACTIONS_MAX = 16384 /* of all sessions together, init included */
};

#define LEDGER_NONE UINT32_MAX /* no transaction has this number */

/* ---- What the ledgers of one exploration share ---- */

struct ledger_numbers {
	uint32_t count;  /* given so far, that of init included */
	uint32_t most;   /* how many there may be: TRANSACTIONS_MAX */
	uint32_t expect; /* how many to make room for at first */
	uint32_t newest; /* the session that was given one last */
	bool in_order;   /* all were given by session and place in it */
	uint32_t session_count;
	struct {
		uint32_t *items; /* by place in session order */
		uint32_t count, capacity;
	} * sessions;
};

struct ledger_shared {
	struct region *region; /* of events and transactions; borrowed */
	struct ledger_numbers numbers;
	struct level_scratch *scratch;
	/* What happened, for levels that ask for statements. */
	struct relation_read *reads;
	struct relation_write *writes;
	uint32_t read_capacity, write_capacity;
};

void ledger_shared_init(struct ledger_shared *s, struct region *region);
void ledger_shared_free(struct ledger_shared *s);
/* Numbers are given anew. No ledger that shares them may hold a transaction. */
void ledger_forget_numbers(struct ledger_shared *s);
/* Of transaction `index` of the session; LEDGER_NONE if it has none yet. */
static inline uint32_t ledger_number(const struct ledger_shared *s,
                                     uint32_t session, uint32_t index)
{
	const struct ledger_numbers *n = &s->numbers;
	return session < n->session_count && index < n->sessions[session].count
	               ? n->sessions[session].items[index]
	               : LEDGER_NONE;
}

/* ---- A ledger ---- */

/* One read or write. */
struct ledger_event {
	const struct ledger_event *before; /* in its transaction, or NULL */
	struct event event; /* from: transaction number, or HISTORY_SELF */
	/* External reads: who waits for the value; kept for the caller. */
	const struct machine_state *waiting;
};

/* A transaction that has ended: immutable. */
struct ledger_transaction {
	uint32_t session, index; /* place in session order */
	uint32_t name;           /* the caller's */
	own_level own;
	bool aborted;
	uint32_t event_count;
	const struct ledger_event *last; /* newest event */
	uint32_t written_count;          /* 0 when aborted */
	const uint32_t *written;         /* distinct keys */
	const struct value *values;      /* last value of each */
	/* Where its session goes on: kept for the caller, or NULL. */
	const struct session_point *after;
};

/* The transaction that runs. */
struct ledger_pending {
	bool active;
	uint32_t id;
	uint32_t session, index, name;
	own_level own;
	const struct ledger_event *last;
	uint32_t event_count;
};

struct ledger {
	struct closure closure;
	enum level level; /* of transactions that have none of their own */
	bool in_order;    /* ledger_go_in_order */
	bool locks;       /* some read has locked its row */
	bool key_shares;  /* and not against all that write it */
	bool beside;      /* some has been beside its transaction's snapshot */
	bool gives_up;    /* ledger_may_give_up */
	bool mixes;       /* ledger_may_mix */
	bool ssi;         /* ledger_be_ssi */
	bool uniform;     /* levels that transactions have of their own are
	                   * noted, but do not count */
	struct ledger_shared *shared;
	/* Of ledger_go_anywhere, or NULL: the other where transactions have
	 * statements, locks or levels of their own. */
	struct strong_closure *strong;
	struct points_closure *points;
	/* By number; NULL: not here, or it has not ended. */
	const struct ledger_transaction **transactions;
	uint32_t capacity;
	uint32_t *done; /* by session: how many transactions ended */
	uint32_t session_count;
	struct ledger_pending pending;
	/* Newest write of the pending transaction by key; NULL elsewhere. */
	const struct ledger_event **own;
	uint32_t own_capacity;
	uint32_t *own_keys; /* keys with an entry in own */
	uint32_t own_count, own_keys_capacity;
};

void ledger_init(struct ledger *l, enum level level, uint32_t sessions,
                 struct ledger_shared *shared);
void ledger_free(struct ledger *l);
/* Before the first transaction: the order of the ledger becomes the commit
 * order. Then there may be any number of transactions, in memory that is
 * proportional to them; only the last one can be taken back. What is allowed
 * satisfies the level, but not all that does is allowed; there is
 * ledger_list_writers() in place of ledger_writers(), and no question about the
 * history as a whole. A read that locks finds the newest version or none: not
 * for rc, ra and cc, whose commit order is another. */
void ledger_go_in_order(struct ledger *l);
/* For who searches, and so asks again and again, going back in between, through
 * ledger_keep and ledger_rewind alone: questions about a level that is not
 * extensible cost what has changed since the last one. `alone`: the level's own
 * answers are wanted, and ledger_writers() need not tell what its base allows.
 * Call it before the first ledger_begin. */
void ledger_go_anywhere(struct ledger *l, bool alone);
/* From now on transactions may have levels of their own. Call it before the
 * first ledger_begin; not for ledger_go_in_order. */
void ledger_may_mix(struct ledger *l);
/* Transactions at a serial level, beside others, are as in relation.h. Before
 * ledger_go_anywhere. */
void ledger_be_ssi(struct ledger *l);
/* Reads will lock: it is as if one had. Best before ledger_go_anywhere. */
void ledger_may_lock(struct ledger *l);
/* And they may give their locks up. Before ledger_go_anywhere. */
void ledger_may_give_up(struct ledger *l);
/* Do locks forbid anything? Under ser each read sees as much as one that locks;
 * under none they are nothing. */
static inline bool ledger_heeds_locks(const struct ledger *l)
{
	return l->locks &&
	       (l->mixes || !(level_is_serial(l->level) ||
	                      level_sight(l->level) == SIGHT_NOTHING));
}
/* Does the level decide each read when it is made? If not, what follows may
 * make it wrong: ask ledger_allows(). Where reads lock, no level does: when T1
 * and T2 have both locked x and seen the same version, neither is wrong as long
 * as the other does not write x. */
static inline bool ledger_is_extensible(const struct ledger *l)
{
	return level_is_extensible(l->level) && !l->closure.strong_owns &&
	       !ledger_heeds_locks(l);
}
/* Bytes held, without what is in the region. */
size_t ledger_bytes(const struct ledger *l);

/* Begins the next transaction of the session, at this level (0: that of the
 * ledger); after_all: it follows all others in session order. False if there
 * are too many transactions. */
bool ledger_begin(struct ledger *l, uint32_t session, uint32_t name,
                  own_level own, bool after_all);
/* The pending transaction's newest write of the key; NULL: there is none, and
 * a read of it is external. */
static inline const struct ledger_event *
ledger_own_write(const struct ledger *l, uint32_t key)
{
	return key < l->own_capacity ? l->own[key] : NULL;
}
void ledger_write(struct ledger *l, struct db_access a, struct value value);
/* Reads what it wrote itself. */
struct value ledger_read_own(struct ledger *l, struct db_access a);
/* The newest lock of the key that the pending transaction has by a read ends.
 */
void ledger_give_up(struct ledger *l, struct db_access a);
/* Reads from `source`, which must be allowed, a value that is
 * ledger_value() or, of init, the caller's. Exact only if
 * ledger_is_extensible(): else it is enough that ledger_writers() has the
 * source; then ledger_allows() tells. */
void ledger_read(struct ledger *l, struct db_access a, uint32_t source,
                 struct value value, const struct machine_state *waiting);
/* What the transaction, which is not init, wrote last to the key. */
static inline struct value ledger_value(const struct ledger *l, uint32_t key,
                                        uint32_t source)
{
	const struct ledger_transaction *t = l->transactions[source];
	uint32_t i = 0;
	while (t->written[i] != key) {
		i++;
		assert(i < t->written_count);
	}
	return t->values[i];
}
/* Ends the pending transaction, whether the level allows that or not. */
void ledger_end(struct ledger *l, bool aborted,
                const struct session_point *after);
/* The same for who cannot take a read back: if the level forbids the writes,
 * the transaction stays pending, to be aborted; false then. That is always
 * allowed if ledger_may_read() allowed each of its reads. */
bool ledger_commit(struct ledger *l, const struct session_point *after);

/* Writers from which the pending transaction may read the key next, as a row of
 * closure.words words: those that the level allows, if it is extensible and the
 * read does not lock; else there may be more, which ledger_restrict() sorts
 * out. */
void ledger_writers(struct ledger *l, struct db_access a, word *out);
/* The same, listed in their order, until the next call: of each session only
 * those among its newest `most` writers, or more. With a small number there may
 * be none. */
const uint32_t *ledger_list_writers(struct ledger *l, struct db_access a,
                                    uint32_t most, uint32_t *count);
/* Is init all that a read of the key, which is known, can take its value from,
 * and that allowed? So it is at every level where only init has written it and
 * no read locks: what the read says of the commit order, and of points, holds
 * of any. */
bool ledger_is_free(const struct ledger *l, uint32_t key);
/* Of this row, of some of the writers, drops those that the level forbids.
 * Exact for every level. */
void ledger_restrict(struct ledger *l, struct db_access a, word *row);
/* Of the same for one writer of the key. Exact for every level. */
bool ledger_may_read(struct ledger *l, struct db_access a, uint32_t source);
/* Does the history so far satisfy its levels? Exact for every level. */
bool ledger_allows(struct ledger *l);
/* The same with this one for those transactions that have none of their own. */
bool ledger_allows_at(const struct ledger *l, enum level level);
/* Would it satisfy this level, if all transactions had it? */
bool ledger_satisfies(const struct ledger *l, enum level level);
/* The history so far, or its first `count` transactions without the writes of
 * the others in `writers`, for this level: valid until the next question. */
void ledger_relation(const struct ledger *l, enum level level, uint32_t count,
                     struct relation *out);
/* The members of the row, ended transactions and init, sorted by session and
 * place in it, init first. */
void ledger_list(const struct ledger *l, const word *row, uint32_t *out);

/* Number of the last transaction that ended in the session; init if none. */
static inline uint32_t ledger_last(const struct ledger *l, uint32_t session)
{
	uint32_t done = l->done[session];
	return done ? ledger_number(l->shared, session, done - 1)
	            : HISTORY_INIT;
}

/* ---- Taking back ---- */

/* A time in the life of a ledger. */
struct ledger_mark {
	uint32_t count, reads; /* of the closure */
	struct ledger_pending pending;
};
struct ledger_mark ledger_mark(const struct ledger *l);
/* Back to that time, which is one of the present past: whatever was there then
 * is still the beginning of what is here. What was taken from the region since
 * can then be released. */
void ledger_rewind(struct ledger *l, const struct ledger_mark *m);
/* Back to the first `count` transactions, init among them, all ended. */
void ledger_keep(struct ledger *l, uint32_t count);

/* ---- From ledger to ledger; they share their numbers ---- */

/* `to` becomes the first `count` transactions of `from`, all ended. */
void ledger_copy(struct ledger *to, const struct ledger *from, uint32_t count);
/* Begins the transaction at place `at` of `from`, ended there. The caller adds
 * its external reads to the closure; then it ends as in `from`, or becomes
 * pending with the events up to `last`. */
void ledger_copy_begin(struct ledger *to, const struct ledger *from,
                       uint32_t at);
void ledger_copy_end(struct ledger *to, const struct ledger *from);
void ledger_copy_pending(struct ledger *to, const struct ledger_event *last);

#endif
