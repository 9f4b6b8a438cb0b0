/* Counterexamples of programs in SQL, tried on an unmodified PostgreSQL with
 * ordinary tables.
 *
 * The points of a history (axioms/points.h) are a schedule: a statement is sent
 * at its point, a COMMIT at that of its transaction, and what locks rows waits
 * by itself. At si a transaction sends its first statement where it takes its
 * snapshot, and all others where it commits, since nothing asks for its locks
 * to be early, but for those up to its last ROLLBACK TO, which gives up locks;
 * at ser it runs as a whole. What each step returns, and the rows that are
 * left, are compared with what the history says.
 *
 * A schedule by which a function has to wait between its own statements, or a
 * statement between its snapshot and its locks, cannot be forced upon a server
 * as it is. It is tried without that, and if something else comes of it other
 * orders of the statements are (orders.c); then it is told, and whether those
 * were all.
 */
#ifndef ISO_CONFIRM_CONFIRM_H
#define ISO_CONFIRM_CONFIRM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/schedule.h"
#include "base/region.h"
#include "base/text.h"

struct confirmer;
struct history;
struct program;
struct stock;

enum confirm_answer {
	CONFIRM_YES,
	CONFIRM_DIFFERS,  /* it went another way */
	CONFIRM_BLOCKED,  /* a statement waits for a lock when it is not to */
	CONFIRM_REFUSED,  /* PostgreSQL ended a transaction: 40001, 40P01 */
	CONFIRM_NO_LINE,  /* none of PostgreSQL's levels allows the history */
	CONFIRM_NOT_TRIED /* it was interrupted, or is too large */
};

/* A statement that was sent; or, `again`, one that waited and has ended. */
struct confirm_line {
	uint32_t session, step; /* of its session; SCRIPT_SETUP: its setup, or
	                         * what is sent besides */
	const char *sql;
	const char *waits_for; /* sessions: "ann, ben"; NULL: it does not */
	uint32_t blocker;      /* one of them */
	const char *result;    /* "1 row: (3, NULL)", "UPDATE 1", "ERROR:
	                        * 40001: .."; NULL: it waits */
	bool again;
};

struct confirmation {
	enum confirm_answer answer;
	const char *why;   /* in words; NULL: it is confirmed */
	const char *level; /* "READ COMMITTED", the default of its sessions;
	                    * NULL: it was not tried */
	/* That setting, as PostgreSQL has it: "read committed". */
	const char *setting;
	struct confirm_line *lines;
	uint32_t count;
};

/* On a server that is started before it is used, and outlives it. NULL, and
 * why: the program is not in SQL, or has too many sessions. */
struct confirmer *confirmer_new(const struct program *p, struct stock *stock,
                                struct text *why);
void confirmer_free(struct confirmer *c); /* NULL is fine */
const char *confirmer_session(const struct confirmer *c, uint32_t session);

/* A history of the program under the level, with its schedule there: empty if
 * the level tells of none, and then one of PostgreSQL's levels is looked for.
 * The confirmation is of the region. */
void confirm_history(struct confirmer *c, const struct history *h,
                     enum level level, const struct schedule *schedule,
                     struct region *to, struct confirmation *out);

/* Writes what was confirmed as a specification of PostgreSQL's isolationtester,
 * with one permutation; or as a shell script that runs psql for each session.
 * False, and why. */
bool confirm_print_spec(struct text *t, const struct confirmer *c,
                        const struct confirmation *x, const char *title,
                        struct text *why);
bool confirm_print_script(struct text *t, const struct confirmer *c,
                          const struct confirmation *x, const char *title,
                          struct text *why);

#endif
