/* Sessions on a private PostgreSQL as it is by itself, with ordinary tables: a
 * statement is sent to one of them, and waits for a lock or comes to its end;
 * then another one is, so that nothing depends on time.
 */
#ifndef ISO_POSTGRES_STOCK_H
#define ISO_POSTGRES_STOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "postgres/cluster.h"
#include "postgres/connection.h"

struct stock_session {
	struct connection c;
	bool waits;    /* for a lock: what was sent last has not ended */
	uint64_t sent; /* when that was: the greater, the later */
};

struct stock {
	struct cluster *cluster;
	struct connection control;
	struct stock_session *sessions;
	uint32_t count;
	uint64_t clock;
	const atomic_bool *interrupt; /* NULL: none */
	struct text problem; /* what makes all that follows meaningless */
};

enum { STOCK_SESSIONS = 64 };

/* False, and why: there is none. Takes a third of a second. `interrupt` may be
 * NULL. */
bool stock_start(struct stock *s, const atomic_bool *interrupt,
                 struct text *why);
void stock_stop(struct stock *s); /* also of one that was never started */

/* Its database is as the SQL leaves an empty one, and so many new sessions
 * begin, at most STOCK_SESSIONS; `options` as PostgreSQL's command line has
 * them. False: `problem`. */
bool stock_begin(struct stock *s, const char *sql, uint32_t sessions,
                 const char *options);
/* Sends it to a session that does not wait, and watches until each session has
 * come to an end or waits. Of those that wait for each other in a circle, the
 * one that was sent something last is ended with 40P01, as PostgreSQL would do
 * with one of them a second later. False: `problem`. */
bool stock_send(struct stock *s, uint32_t session, const char *sql);
/* For whom it waits: bits. */
uint64_t stock_blockers(struct stock *s, uint32_t session);

#endif
