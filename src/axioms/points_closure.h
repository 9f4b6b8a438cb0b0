/* A growing history that points decide (points.h), under prc, with levels of
 * its transactions' own, or with reads that lock: which writers may a read
 * take, and may the last transaction end as it did. Exact, as level_allows is,
 * at the cost of what has changed since the last question.
 *
 * Two things are kept beside the rows of closure.h:
 *
 * - A commit order of the ended transactions, in which each of them has points
 *   for its statements (points_fit.h). What is appended has its commit at the
 *   end, and one number for each transaction is all there is. Without its last
 * transactions the order is one of what is left. Where the last transaction has
 * no such points, it may commit where it did when the order was found, in the
 * middle, if those behind have points beside what it has written.
 * - The points of points.h, brought up to date when the order does not fit.
 *   They decide, and make another order.
 *
 * Lemma. Under prc, where no read locks, no read is without a valid writer: its
 * statement can be just before the end. While the pending transaction fits into
 * the order behind all others, it may read the newest version, and commit
 * there. One that fits only in the middle may have no way to commit, as those
 * behind it have read its keys from before it: here the last one, which comes
 * before the first, can only abort.
 *
 *	W x  W y  R z<-init
 *	W z
 *	R z<-2nd  R x<-init
 *	W x  R y<-init
 */
#ifndef ISO_AXIOMS_STATEMENT_CLOSURE_H
#define ISO_AXIOMS_STATEMENT_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "axioms/level.h"
#include "history/history.h"

struct points_closure;

/* Of one closure, which is given with each question. */
struct points_closure *points_closure_new(enum level level);
void points_closure_free(struct points_closure *s); /* NULL is fine */
/* Locks may be given up. Before the first transaction. */
void points_closure_may_give_up(struct points_closure *s);
size_t points_closure_bytes(const struct points_closure *s);

/* What happens, in its order. Transaction t begins, at the level of the closure
 * or one of its own (0: none); */
void points_closure_begin(struct points_closure *s, uint32_t t, own_level own);
/* the pending one reads or writes; */
void points_closure_event(struct points_closure *s, const struct event *e);
void points_closure_end(struct points_closure *s, bool aborted);

/* Of these committed writers of a key, drops those from which the pending
 * transaction may not read it as `read` says, whose `from` is not looked at.
 * What is there already satisfies the level. */
void points_closure_restrict(struct points_closure *s, const struct closure *c,
                             const struct event *read, word *valid);
/* Does the history satisfy the level, as it did before the last transaction
 * ended, or went on? */
bool points_closure_allows(struct points_closure *s, const struct closure *c);
/* Back to the first `count` transactions, init among them; if `pending`, the
 * last of them has had so many events and goes on. */
void points_closure_rewind(struct points_closure *s, uint32_t count,
                           uint32_t events, bool pending);

#endif
