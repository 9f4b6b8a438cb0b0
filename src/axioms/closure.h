/* A growing history as bit rows, with the incremental test of the levels whose
 * axioms don't mention the commit order (none, rc, ra, cc).
 *
 * Transactions are appended in an order that extends so U wr; the last one may
 * be pending, and only it gains reads. The rows hold the closure of so U wr and
 * of the commit-order edges that the reads force, so the question "may this
 * read take its value from that transaction" is answered without inserting
 * anything: all new edges would lead into the sources of the pending
 * transaction's own reads.
 *
 * For pc, psi, si and ser the rows are those of cc. A transaction may have a
 * level of its own: then its reads force what that level says.
 *
 * Six rows of a bit for each pair of transactions are the quickest there is for
 * those who search, and too much for very long histories: who only goes forward
 * can have an index (forward.h) instead, whose answers are the same.
 */
#ifndef ISO_AXIOMS_CLOSURE_H
#define ISO_AXIOMS_CLOSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/bits.h"
#include "base/region.h"
#include "history/relation.h"

/* What is remembered of an appended transaction, for rewinding. */
struct closure_block {
	uint32_t first_read; /* index of its first external read */
	uint32_t previous;   /* the one before it in its session, or 0 */
	bool after_all;      /* so-after every transaction before it */
	own_level own;
	uint32_t written_count;
	const uint32_t *written; /* keys it wrote, borrowed; NULL if pending */
	const struct closure_snapshot *snapshot; /* before it, or NULL */
};

/* reach and into at one time; made for n numbers, whatever n is now. */
struct closure_snapshot {
	uint32_t n;
	word rows[];
};

struct forward;

struct closure {
	enum level level;  /* NONE, RC, RA or CC */
	enum level reader; /* the pending one's: its own, or `level` */
	bool levelless;    /* no reader is asked about: no closure is kept */
	/* By number, once some transaction has had a level of its own; else
	 * NULL. And has one had a level that is not extensible? */
	own_level *owns;
	bool strong_owns, statement_owns;
	uint32_t n, words; /* room: numbers 1 .. n - 1; 0 is init */
	/* Rows, n each. */
	word *reach;  /* after it in the closure with forced edges, strict */
	word *into;   /* before it, likewise */
	word *past;   /* before it in (so U wr)+ */
	word *direct; /* before it in so U wr, one step */
	word *so;     /* before it in session order */
	word *seen;   /* one row: sources of the pending one's reads */
	word *sight;  /* one row: what its plain reads see under cc, if some
	               * read was beside the snapshot (reads_beside); else
	               * that is its past */
	bool reads_beside;
	word *scratch;     /* n + 8 rows */
	uint32_t *targets; /* n entries of scratch */
	/* Committed writers of each key, init included. */
	word *writers;
	uint32_t key_count, key_capacity;
	struct relation_read *reads;
	uint32_t read_count, read_capacity;
	uint32_t *order;    /* transactions in the order of appending */
	uint32_t *position; /* the inverse */
	struct closure_block *blocks; /* parallel to order */
	uint32_t count;               /* of order, init included */
	uint32_t begun; /* place in order of whom `seen` and `reader` tell */
	uint32_t snapshot_every; /* 1 when rows are small; 0: no snapshots */
	struct region *region;   /* holds the snapshots */
	/* If one_snapshot: the newest, overwritten by the next; and where in
	 * blocks it was taken. */
	bool takes_snapshots, one_snapshot;
	struct closure_snapshot *newest;
	size_t newest_size;
	uint32_t newest_at;
	/* NULL, or in place of rows, keys and snapshots (words is 0 then); and
	 * from which number on. */
	struct forward *forward;
	uint32_t forward_from;
	uint32_t *found; /* by closure_list_writers */
	uint32_t found_capacity;
};

/* `room` numbers (init's included) to begin with, 0 for a few; more is made as
 * transactions come. The region must be released only to marks older than what
 * closure_rewind leaves. */
void closure_init(struct closure *c, enum level level, uint32_t room,
                  struct region *region);
void closure_free(struct closure *c);
/* For those who go back to the beginning, or (if `pending`) to the beginning of
 * the last transaction, and hardly ever elsewhere: takes less memory and time.
 * Call it before the first closure_begin. */
void closure_go_forward(struct closure *c, bool pending);
/* For those who go back to the beginning, or into the last transaction, and
 * hardly ever elsewhere, which takes long: when a number of `from` or more
 * comes, the rows give way to an index in memory that is proportional to the
 * transactions. Then there is no row to be asked for: closure_list_writers is
 * there for closure_valid_writers, and there is no closure_relation, no
 * closure_copy_prefix. */
void closure_go_sparse(struct closure *c, uint32_t from);
/* The same at once, for any level; pc, psi, si and ser with the order of
 * appending as the commit order (forward.h): what is allowed here satisfies
 * the level itself, but not all that does is allowed. Call it before the
 * first closure_begin. */
void closure_go_in_order(struct closure *c, enum level level);
/* For those who ask about the level elsewhere: every writer is valid. Call it
 * before the first closure_begin. */
void closure_go_without_level(struct closure *c);
/* Bytes held, without what is in the region. */
size_t closure_bytes(const struct closure *c);

/* Appends transaction t, pending: any number that is not taken, best a small
 * one. `previous` precedes it in its session (0 if it is the first); after_all
 * says that all present ones do. Where t has no room yet, n at least doubles:
 * rows move, and are longer when n passes a multiple of 64. */
void closure_begin(struct closure *c, uint32_t t, uint32_t previous,
                   bool after_all);
/* From now on transactions may have levels of their own. Before the first
 * closure_begin; not for closure_go_sparse. */
void closure_may_mix(struct closure *c);
/* The transaction that was just begun has a level of its own. Its reads are
 * answered as that level, or the strongest extensible one below it, says: which
 * is exact for a mix of extensible levels (closure.c). */
void closure_give_level(struct closure *c, own_level own);
/* Committed transactions from which the pending one may read `key` next: all
 * t' with x in writes(t') such that the level still holds. `out` has c->words
 * words. ValidWrites of the paper, section 5.1. What the read locks is not
 * asked for; but one beside the snapshot (strength_is_beside) is not bound by
 * what the transaction's plain reads see (closure.c). */
void closure_valid_writers(struct closure *c, uint32_t key,
                           enum strength strength, word *out);
/* The same, listed in the order of appending, until the next call; of each
 * session at least the newest `most` and perhaps no more. */
const uint32_t *closure_list_writers(struct closure *c, uint32_t key,
                                     enum strength strength, uint32_t most,
                                     uint32_t *count);
/* The same question for one writer. */
bool closure_may_read(struct closure *c, uint32_t key, enum strength strength,
                      uint32_t source);
/* In order (closure_go_in_order): is that the last writer of the key, which is
 * one? */
bool closure_is_newest(const struct closure *c, uint32_t key, uint32_t source);
/* The pending transaction reads `key` from `source`, which must be valid. */
void closure_read(struct closure *c, uint32_t key, uint32_t source);
/* The same of a read with a strength. That it locks is only noted. */
void closure_read_locking(struct closure *c, uint32_t key, uint32_t source,
                          enum strength strength);
/* The pending transaction writes, which who goes in order has to know. */
void closure_write(struct closure *c, uint32_t key);
/* May the pending transaction end having written these keys? True but in order
 * (closure_go_in_order) under psi and si. */
bool closure_may_end(struct closure *c, const uint32_t *written,
                     uint32_t count);
/* The pending transaction ends having written these keys (none if aborted).
 * `written` is borrowed until the transaction is removed. */
void closure_end(struct closure *c, const uint32_t *written, uint32_t count);

/* Goes back to the state with the first `count` transactions (init included)
 * and `reads` reads. If `pending`, the last of them becomes pending again. */
void closure_rewind(struct closure *c, uint32_t count, uint32_t reads,
                    bool pending);
/* `to` becomes the first `count` transactions of `from`, all ended. */
void closure_copy_prefix(struct closure *to, const struct closure *from,
                         uint32_t count);
/* Makes sure that the key has a row of writers. */
void closure_know_key(struct closure *c, uint32_t key);

static inline word *closure_row(const struct closure *c, word *rows, uint32_t i)
{
	return rows + (size_t)i * c->words;
}
__attribute__((cold)) bool closure_writes_sparse(const struct closure *c,
                                                 uint32_t key, uint32_t t);
static inline bool closure_writes(const struct closure *c, uint32_t key,
                                  uint32_t t)
{
	return key < c->key_count
	               ? bits_has(c->writers + (size_t)key * c->words, t)
	               : closure_writes_sparse(c, key, t);
}
/* The history so far, as a relation that borrows these rows. */
void closure_relation(const struct closure *c, struct relation *out);

#endif
