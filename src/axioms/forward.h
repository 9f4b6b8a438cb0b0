/* A growing history for those who go forward: transactions are appended, and
 * only the last one is taken back. The questions and answers of closure.h in
 * memory that is proportional to the transactions; closure.c turns to it when
 * there are many of them.
 *
 * Sessions are chains, and a transaction is known by its chain and its position
 * there, from 1. Of each transaction a clock tells how many transactions of
 * each chain precede it, so `precedes` is one comparison:
 * - under rc, ra and cc in the closure of so U wr and of the forced edges of
 *   the commit order; an edge that is added is carried on to all that follows
 *   and did not have it yet;
 * - under cc another one in (so U wr)+: what the transaction sees.
 * 4 bytes for each chain, so 8 (cc) or 4 (rc, ra) for each chain and
 * transaction.
 *
 * Lemma. Let u be the last writer of x in a chain that t sees up to some place,
 * and t read x from s != u. Of all edges that this chain's writers of x force
 * into s, only (u, s) need be added: the others precede u in so. So a read
 * costs chains and not writers; and s is a valid writer only if it does not
 * precede any such u, which leaves the last few of each chain to be looked at.
 *
 * Under prc, pc, psi, si and ser the order of appending is the commit order. A
 * transaction sees a beginning of it, how long being left open as far as
 * its reads and writes allow: all that follows its predecessor in its session
 * (pc); and the last writers of the keys it writes (psi, si); all before it
 * (ser); under prc a longer one with each read, chosen as short as its writer
 * allows. What is answered is legal, and each read has a writer; but other
 * histories, which need another commit order, or under psi more than one, are
 * not made.
 */
#ifndef ISO_AXIOMS_FORWARD_H
#define ISO_AXIOMS_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"

struct forward;

struct forward *forward_new(enum level level);
void forward_free(struct forward *f); /* NULL is fine */
size_t forward_bytes(const struct forward *f);

/* As in closure.h, transactions having any numbers, best small ones. */
void forward_begin(struct forward *f, uint32_t t, uint32_t previous,
                   bool after_all);
bool forward_may_read(struct forward *f, uint32_t key, uint32_t source);
/* In order. */
bool forward_is_newest(const struct forward *f, uint32_t key, uint32_t t);
void forward_read(struct forward *f, uint32_t key, uint32_t source);
/* The pending transaction writes: under prc, all that it reads later is as new
 * as the version that it replaces. */
void forward_write(struct forward *f, uint32_t key);
bool forward_writes(const struct forward *f, uint32_t key, uint32_t t);
/* The valid writers of the key, for the caller until the next call: init
 * first, then chain by chain, of each only the newest `most`. */
const uint32_t *forward_writers(struct forward *f, uint32_t key, uint32_t most,
                                uint32_t *count);
/* May the pending transaction end having written these keys? True but under
 * psi, si; an aborted transaction always may. */
bool forward_may_end(struct forward *f, const uint32_t *written,
                     uint32_t count);
void forward_end(struct forward *f, const uint32_t *written, uint32_t count);

/* The transaction that was begun last, whether it has ended or not: the one
 * that can be taken back. 0 if there is none. */
uint32_t forward_last(const struct forward *f);
/* Takes the end of the last transaction back, the keys it wrote as given. */
void forward_reopen(struct forward *f, const uint32_t *written, uint32_t count);
/* The pending transaction goes back to its first `reads` reads. */
void forward_unread(struct forward *f, uint32_t reads);
/* Takes the pending transaction away. */
void forward_drop(struct forward *f);
/* Takes all away. */
void forward_clear(struct forward *f);

#endif
