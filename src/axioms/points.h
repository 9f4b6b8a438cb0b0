/* Transactions as points on a line: which lines does a history leave?
 *
 * A transaction commits at a point c(t). What it reads, it reads at a point:
 * under prc each statement has one, p(1) < p(2) < .. < c(t); under pc and si
 * there is one for all, where the transaction begins, and for each read beside
 * the snapshot (strength_is_beside) another, in their order, behind that; under
 * ser it is c(t). A read from w, at p, of a key that s writes as well asks for
 *
 *     c(w) < p,  and  c(s) < c(w)  or  p < c(s).
 *
 * What locks a row, as writes do, locks it from a point l(a) on, which lies
 * between that of its statement and the next one's, until c(t). Of two
 * transactions whose locks exclude each other, s commits before t locks, or t
 * before s does. Nothing but the next statement asks for l(a) to be early: so
 * it need not be a point. Let u(a) be the point of the first read at a point of
 * its own in a later statement than a's, or c(t); put l(a) just before it, and
 * what is left is
 *
 *     c(s) < u(a)  or  c(t) < u(b)            (t holds a, s holds b).
 *
 * Of two writers of one key si asks the same with the beginnings as u. A read
 * that locks (shared, or to write) is one at l(a): for w it asks for c(w) <
 * u(a), and for another writer s of the key, whose lock it excludes, for c(s) <
 * c(w) or c(t) < u(b). Under the other levels it is one at c(t) besides; but a
 * read beside the snapshot locks nothing, unless it is an INSERT whose
 * transaction writes the key.
 *
 * Under pc and si u(a) is the point of the first read beside the snapshot in a
 * later statement, or c(t), where a and b are not both writes.
 *
 * A lock that is given up ends at a point r(a) of its own, behind a's statement
 * and before the next one: it stands for c(t) then. Where statements have no
 * points, such a lock is none.
 *
 * So every level but psi is edges between points and pairs of edges one of
 * which must be there: a history satisfies its levels if and only if there is
 * an order of the points with all the edges, and one of each pair. That is
 * what is kept here, closed transitively and under `the other edge closes a
 * cycle', while a history grows and is taken back; what that leaves open is
 * searched. Each transaction may have a level of its own.
 */
#ifndef ISO_AXIOMS_POINTS_H
#define ISO_AXIOMS_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/bits.h"
#include "history/history.h"

struct points;
struct relation;
struct witness;

#define POINTS_NONE UINT32_MAX

struct points_pending {
	uint32_t t; /* 0: none */
	enum level level;
	bool aborts;
	uint32_t begin, commit;
	uint32_t last;      /* its newest point of a read, or POINTS_NONE */
	uint32_t statement; /* of its newest read */
	bool merged;        /* whose reads so far are at the point before it */
	uint32_t resolved;  /* locks whose u is known */
	uint32_t first;     /* its first lock */
	bool locks;         /* it has locked something since its newest point */
};

struct points *points_new(void);
void points_free(struct points *p); /* NULL is fine */
size_t points_bytes(const struct points *p);

/* Only init is there; room for so many transactions and points, which is all
 * there will be. */
void points_clear(struct points *p, uint32_t transactions, uint32_t points);
/* Points that a transaction with so many external reads can have. */
static inline uint32_t points_of_transaction(uint32_t reads)
{
	return reads + 2;
}

/* Only lines that can be run are wanted: in which statements start with their
 * snapshots, ask for one lock after the other, and get each as soon as those
 * have ended who asked for it before. So each lock has a point of its own,
 * where it is taken. Not all such lines are found where a statement asks for
 * several: each is taken as if it were asked for when the statement starts.
 * Before points_clear, with room for two more points for each lock. */
void points_be_runnable(struct points *p);

/* Transactions at a serial level are as PostgreSQL has SERIALIZABLE beside
 * weaker levels: they run at si, and of three of them, or two (t1 = t3), it is
 * not the case that t1 reads what t2 then writes, and t2 what t3 then writes,
 * none seeing that write, while t3 commits first (reads beside the snapshot are
 * not watched):
 *
 *     c(t3) < p(t2),  or  c(t2) < c(t3),  or  c(t1) < c(t3),  or
 *     c(t2) < p(t1)            (t1 -rw-> t2 -rw-> t3).
 *
 * These alone are serializable then, and not beside others: Fekete, Liarokapis,
 * O'Neil, O'Neil, Shasha, TODS 2005; that t3 commits first: Ports, Grittner,
 * VLDB 2012. Before points_clear. */
void points_be_ssi(struct points *p);

/* Nothing is taken back (points_back), which costs less. Before points_clear.
 */
void points_only_grow(struct points *p);
/* Locks may be given up (points_give_up): so the pending transaction's are
 * compared with those of others when it ends. For each that is there is to be
 * room for a point. Before points_clear. */
void points_may_give_up(struct points *p);

/* Those that there are, but for init's. */
uint32_t points_count(const struct points *p);

/* Transaction t begins, pending; these precede it in session order. */
void points_begin(struct points *p, uint32_t t, enum level level, bool aborts,
                  const word *before, unsigned words);
/* What the pending transaction does next, in the order of its statements, which
 * have increasing numbers. It reads from a transaction that has ended, or from
 * init. */
void points_read(struct points *p, uint32_t key, uint32_t source,
                 enum strength strength, uint32_t statement);
/* Under levels without statements, of which what is written counts only if it
 * is there in the end: it has written something, which points_write() will tell
 * at its end. */
void points_will_write(struct points *p);
/* A key may be written several times. */
void points_write(struct points *p, uint32_t key, enum strength strength,
                  uint32_t statement);
/* It reads what it wrote itself, and locks it so. */
void points_lock(struct points *p, uint32_t key, enum strength strength,
                 uint32_t statement);
/* It gives up the newest lock of the key that it has by a read; if it has
 * none, nothing happens. */
void points_give_up(struct points *p, uint32_t key, uint32_t statement);
/* It gives up all that it has by reads. */
void points_give_up_all(struct points *p, uint32_t statement);
/* The pending transaction will abort, if it did not begin so. Under levels
 * without statements it has written nothing. */
void points_abort(struct points *p);
void points_end(struct points *p);
/* Two that have ended, and whose order is given. */
void points_know(struct points *p, struct history_known k);

/* Is there such an order? Exact. */
bool points_allow(struct points *p);
/* Have the edges so far closed a cycle? Then there is none. */
bool points_have_failed(const struct points *p);
/* Adds the edges that are forced; false if they close a cycle. */
bool points_saturate(struct points *p);
/* Of some of the writers of a key, drops those that another one is certain to
 * hide from the pending transaction's next statement, or such a lock. That is
 * also behind these sources of reads that it has made by then. */
void points_refuse(struct points *p, const word *writers, enum strength lock,
                   const word *sources, word *valid, unsigned words);
/* Asked now and then while it searches; if that is true, so is points_allow,
 * and it gave up. */
void points_stop_when(struct points *p, bool (*stop)(void *data), void *data);
bool points_gave_up(const struct points *p);
/* After points_allow was true: its transactions by their commits, init first.
 */
void points_commits(const struct points *p, uint32_t *out);
/* Likewise: calls `visit` for the points in their order, but those of init. A
 * point is that of the statements up to this one; where the transaction takes
 * its snapshot (POINTS_NONE); or (0) where it ends. */
typedef void point_visitor(void *data, uint32_t t, uint32_t statement);
void points_each(const struct points *p, point_visitor *visit, void *data);

/* A time in their life, and back to it. */
struct points_mark {
	size_t changes, choices, saturated;
	uint32_t points, locks, reads, given_up;
	bool failed;
	struct points_pending pending;
};
struct points_mark points_mark(const struct points *p);
void points_back(struct points *p, const struct points_mark *m);

/* Of a history that the level forbids: a cycle of transactions, from a shortest
 * one of points; of the pairs of edges left open, those that were tried. */
void points_witness(const struct relation *r, enum level level,
                    struct witness *out);

/* The whole of a history; at this level are those without one of their own. */
void points_of_relation(struct points *p, const struct relation *r,
                        enum level level);

#endif
