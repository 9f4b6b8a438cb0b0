/* Versions in the order in which they were committed, and which of them a
 * transaction may read.
 *
 * For who serves clients: transactions run side by side, one of each session,
 * what was answered cannot be taken back, and whatever a client asks next must
 * have an answer, or a refusal. So the order in which transactions commit is
 * the commit order of the history, and its axioms (design: a level for each
 * transaction, Bouajjani, Enea, Roman-Calvo, CAV 2025) become conditions on
 * places in one line:
 * - rc, ra, cc: a version is not overwritten by a transaction in sight;
 * - pc, psi, si: one moment of the line shows all that the transaction reads;
 *   psi is as si here: what needs several orders is not made;
 * - prc: the same for each statement, and these moments follow each other, and
 *   the ends of those whose locks a statement has met;
 * - ser: the newest.
 * Reads that lock get the newest version, so that nothing stands between it and
 * the lock; under psi and si a write needs that it was in sight.
 *
 * All that is allowed satisfies the levels, if a transaction whose level is
 * serial runs alone, and if who reads with a lock has it (row_locks.h) until
 * its transaction ends. And each history of the levels is made, if its
 * transactions run in its commit order.
 */
#ifndef ISO_SERVE_COMMITS_H
#define ISO_SERVE_COMMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/access.h"

struct commits;

/* One version of a key. */
struct committed {
	uint32_t position;      /* in the line, of its writer; 0: init */
	uint32_t number;        /* the caller's; 0: there is no row */
	enum strength strength; /* of the write */
};

struct commits_rules {
	/* Some transaction has a level like cc, which asks what others have
	 * seen: memory for each transaction and session. */
	bool sees_past;
	/* All have levels whose transactions, or statements, read from one
	 * moment (level_reads_moments()): what a session has seen, it sees
	 * from then on. */
	bool moments;
	/* How many commits behind its beginning a transaction may read; 0: as
	 * many as its level allows. */
	uint32_t within;
	/* A transaction sees all that had committed when it began. */
	bool sees_all;
};

struct commits *commits_new(struct commits_rules rules);
/* Do transactions of the level, or their statements, read from a moment of the
 * line? */
bool level_reads_moments(enum level l);
void commits_free(struct commits *c); /* NULL is fine */

/* Keys have numbers from 0, each one more than the last; with the version that
 * init has written, or 0. */
uint32_t commits_add_key(struct commits *c, uint32_t number);
/* A session that begins now: nothing older than now is for it. */
uint32_t commits_add_session(struct commits *c);
/* It has no more transactions; none is open. */
void commits_end_session(struct commits *c, uint32_t session);
/* The session sees, from now on, all up to this position. */
void commits_see(struct commits *c, uint32_t session, uint32_t position);
/* How many transactions have committed. */
uint32_t commits_count(const struct commits *c);

/* The transaction of the session that is open; one at a time. */
void commits_begin(struct commits *c, uint32_t session, enum level level);
enum level commits_level(const struct commits *c, uint32_t session);
/* Where each statement has a moment: that of the next one that begins is not
 * behind this position. */
void commits_look_back(struct commits *c, uint32_t session, uint32_t position);
/* The versions that it may read next, oldest first, until the next call; `a`
 * has a key, a strength, and whether it is of the statement of the access
 * before. None: the level forbids them all. */
const struct committed *commits_readable(struct commits *c, uint32_t session,
                                         struct db_access a, uint32_t *count);
/* The versions of the key will soon be asked for. */
void commits_fetch(const struct commits *c, uint32_t key);
/* The newest, whether it may be read or not. */
struct committed commits_newest(const struct commits *c, uint32_t key);
/* It reads a version of those. */
void commits_read(struct commits *c, uint32_t session, struct db_access a,
                  struct committed version);
/* The lock of its newest read of the key that has this strength, and was not
 * given up, ends before the transaction does. */
void commits_give_up(struct commits *c, uint32_t session, struct db_access a);
/* What it writes last to the key. */
void commits_write(struct commits *c, uint32_t session, struct db_access a,
                   uint32_t number);
/* False: the level forbids that it commits, since this key was written by
 * another one that it does not see; it is still open. */
bool commits_commit(struct commits *c, uint32_t session, uint32_t *key);
void commits_abort(struct commits *c, uint32_t session);

/* How many versions are kept behind which there is a newer one. */
uint32_t commits_overwritten(const struct commits *c);
/* Forgets the versions that nobody can be answered with any more, neither who
 * is open nor who is to come: they are overwritten, and each session sees what
 * has overwritten them. `over` is told each, as its number, of keys that had
 * one; 0: that the key had no row. Then a key that is left with nothing but
 * that it has no row is told so, once: `nothing`. Costs as much as there is to
 * forget, and to keep, and the sessions that have not ended. */
struct commits_forgotten {
	void (*over)(void *payload, uint32_t key, uint32_t number);
	void (*nothing)(void *payload, uint32_t key);
	void *payload;
};
void commits_forget(struct commits *c, const struct commits_forgotten *to);

#endif
