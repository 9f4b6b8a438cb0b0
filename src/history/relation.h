/* so, wr and the writers of each key, as rows of bits: what the axioms of
 * isolation levels are checked on.
 *
 * Points are numbers 0 .. n - 1; 0 is init. Only those that `order` lists are
 * transactions; the rows of the others are not read, and no set holds them.
 * Rows have `words` words.
 */
#ifndef ISO_HISTORY_RELATION_H
#define ISO_HISTORY_RELATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/level_words.h"
#include "history/history.h"

struct relation_read {
	uint32_t reader; /* transaction */
	uint32_t key;
	uint32_t source; /* transaction read from */
	uint32_t statement : 27;
	enum strength strength : 4;
	bool given_up : 1; /* its lock ends before the transaction does */
};

/* The lock of a read, as far as the order of commits knows of it: where a
 * transaction has but one moment, a lock that ends before it does is none. */
static inline enum strength relation_lock(struct relation_read r)
{
	return r.given_up ? STRENGTH_PLAIN : r.strength;
}

/* A write, of a transaction that may have aborted: its lock counts. Or a read
 * of the own write, which may lock more; or the end of a lock. */
struct relation_write {
	uint32_t writer;
	uint32_t key;
	uint32_t statement;
	enum strength strength;
	bool reads_own;
};

struct relation {
	uint32_t n, words;
	uint32_t key_count, read_count;
	uint32_t order_count; /* transactions, init included; at most n */
	/* Transactions in an order that extends so U wr, init first. */
	const uint32_t *order;
	word *so;      /* n rows: strict predecessors in so, init too */
	word *direct;  /* n rows: predecessors in so U wr, one step */
	word *past;    /* n rows: predecessors in (so U wr)+ */
	word *writers; /* key_count rows: committed writers, always init */
	/* External reads; those of one transaction together, in its order. */
	struct relation_read *reads;
	/* All writes, likewise; what has no statements leaves them out. The
	 * numbers of a transaction's statements increase. */
	bool locks_reads;  /* some have a strength */
	bool reads_beside; /* and some one that strength_is_beside() */
	uint32_t write_count;
	struct relation_write *writes;
	uint32_t given_up; /* how many of these end a lock */
	/* Pairs of writers of a key (neither is init) whose order is given:
	 * in co, `from` precedes `to`. All levels but none heed them. */
	uint32_t known_count;
	const struct history_known *known;
	/* By transaction: levels that they have of their own. NULL: they have
	 * none, or these are not to count. */
	const own_level *owns;
	/* Those at a serial level are so among each other only: serializable
	 * snapshot isolation (axioms/points.h). */
	bool ssi;
};

/* Builds the relation of a history; freed by relation_free. If so U wr has a
 * cycle (h->order is NULL), order is NULL and past is empty. */
struct relation *relation_of_history(const struct history *h);
/* The levels that the transactions of this history have of their own count. */
void relation_take_owns(struct relation *r, const struct history *h);
/* The history has other levels and locks than when the relation was made: so
 * has the relation, and the levels count. */
void relation_renew(struct relation *r, const struct history *h);
void relation_free(struct relation *r);

/* For who fills a relation itself, with all arrays taken and zero, and `so` and
 * `order` there: the accesses of each transaction in program order, then the
 * rest. `visible`: of a transaction that committed. */
void relation_add_read(struct relation *r, struct relation_read read);
void relation_add_write(struct relation *r, struct relation_write write,
                        bool visible);
/* Of the reads, that of the transaction whose lock ends in this statement. */
void relation_give_up(struct relation *r, uint32_t t, uint32_t key,
                      uint32_t statement);
/* From the reads and so: `direct` and `past`. */
void relation_close(struct relation *r);

#endif
