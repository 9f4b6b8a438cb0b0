/* A history: sessions of transactions, their events, and who read from whom.
 *
 * This is the whole, readable form: what observers get, what files hold, what
 * tests reason on. Exploration works on compact rows instead (relation.h).
 */
#ifndef ISO_HISTORY_HISTORY_H
#define ISO_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "base/level_words.h"
#include "base/region.h"
#include "base/text.h"
#include "vm/value.h"

struct json;

/* Transactions are numbered 0 .. transaction_count - 1 over all sessions:
 * number 0 is `init`; the others come session by session, in session order. */
#define HISTORY_INIT 0u
#define HISTORY_SELF UINT32_MAX /* a read of the transaction's own write */

enum event_kind { EVENT_READ, EVENT_WRITE };

struct event {
	enum event_kind kind : 8;
	/* A plain write locks as STRENGTH_UPDATE does. */
	enum strength strength : 8;
	bool joined;    /* it belongs to the statement of the event before it in
	                 * its transaction; else it begins one */
	uint32_t key;   /* index into history.keys */
	uint32_t from;  /* READ: writer's transaction number, or HISTORY_SELF */
	uint32_t point; /* place in the program's source, 0 when none */
	struct value value;
};

/* That of the lock it takes; STRENGTH_PLAIN: it takes none. */
static inline enum strength event_strength(const struct event *e)
{
	return e->kind == EVENT_WRITE && e->strength == STRENGTH_PLAIN
	               ? STRENGTH_UPDATE
	               : e->strength;
}

/* It reads nothing: a lock ends. */
static inline bool event_gives_up(const struct event *e)
{
	return e->strength == STRENGTH_GIVEN_UP;
}

struct transaction {
	const char *name;
	uint32_t session; /* UINT32_MAX for init */
	uint32_t index;   /* in its session, from 0 */
	bool aborted;
	const char *failure; /* the error that has aborted it, if it is known */
	own_level own;
	uint32_t event_count;
	struct event *events; /* program order */
};

struct history_session {
	const char *name;
	bool after_all; /* `finally`: follows all other sessions */
	uint32_t first; /* number of its first transaction */
	uint32_t count;
};

struct history_key {
	const char *name; /* seats["db"] */
	struct value initial;
};

/* Two writers of a key whose order is known from elsewhere: lists that were
 * read tell the order of their elements. Every commit order agrees with it.
 * In traces and facts too. */
struct history_known {
	uint32_t from, to; /* transactions, not init; `from` is earlier */
	uint32_t key;
};

struct history {
	struct region region; /* owns all below */
	uint32_t session_count, transaction_count, key_count;
	struct history_session *sessions;
	struct transaction *transactions;
	struct history_key *keys; /* in increasing order of name */
	/* An order in which the transactions may run, each after all that it
	 * reads from and that precede it in so: transaction numbers, init
	 * first. NULL if so U wr has a cycle. */
	uint32_t *order;
	own_level others;     /* that of transactions without a level of their
	                       * own, beside those that have one; 0: not known,
	                       * or none has one */
	bool ssi;             /* as in relation.h */
	bool valueless;       /* as in trace.h */
	uint32_t known_count; /* 0 for what isoscope explores */
	struct history_known *known;
};

/* Has some transaction a level of its own? */
bool history_has_owns(const struct history *h);
void history_free(struct history *h); /* frees h itself too; NULL is fine */

/* Canonical JSON text, one line without line end: equal for equal histories
 * (history-format: no spaces, no program, level or verdict). */
void history_print_canonical(struct text *t, const struct history *h);
/* The members "init" and "sessions" only, for writers of fuller lines:
 * "init":{..},"sessions":[..] */
void history_print_members(struct json *j, const struct history *h);

/* For writers of the same format: the strength of an access,
 * or nothing where it is the usual one; a lock that ends: ["u","x"]; and the
 * beginning of a statement, which a transaction that has one of several events
 * says of each: ["stmt",2]. */
void event_print_strength(struct json *j, enum event_kind kind,
                          enum strength strength);
void given_up_print(struct json *j, const char *key);
void statement_print(struct json *j, uint32_t number);

#endif
