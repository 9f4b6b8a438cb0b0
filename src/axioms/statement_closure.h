/* A growing history under prc: which writers may a read take, and may the last
 * transaction end as it did. Exact, as level_allows is, at the cost of what has
 * changed since the last question.
 *
 * Two things are kept beside the rows of closure.h:
 *
 * - A commit order of the ended transactions, in which each of them has points
 *   for its statements. What is appended has its commit at the end; then all
 *   that its statements ask of the others is that they come late enough: after
 *   what they read from, after the transactions that held what was locked
 *   before, and before the next version of what they read. So the earliest
 *   points will do, and one number for each transaction is all there is.
 *   Without its last transactions the order is one of what is left. Where the
 *   last transaction has no such points, it may commit where it did when the
 *   order was found, in the middle, if those behind have points beside what
 *   it has written.
 * - The points of points.h, brought up to date when the order does not fit.
 *   They decide, and make another order.
 *
 * Lemma. Where no read locks, no read is without a valid writer, and who took
 * only such can commit: while the pending transaction fits into the order it
 * may read the newest version, and commit last.
 */
#ifndef ISO_AXIOMS_STATEMENT_CLOSURE_H
#define ISO_AXIOMS_STATEMENT_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "axioms/level.h"
#include "history/history.h"

struct statement_closure;

/* Of one closure, which is given with each question. */
struct statement_closure *statement_closure_new(enum level level);
void statement_closure_free(struct statement_closure *s); /* NULL is fine */
size_t statement_closure_bytes(const struct statement_closure *s);

/* What happens, in its order. Transaction t begins; */
void statement_closure_begin(struct statement_closure *s, uint32_t t);
/* the pending one reads or writes; */
void statement_closure_event(struct statement_closure *s,
                             const struct event *e);
void statement_closure_end(struct statement_closure *s, bool aborted);

/* Of these committed writers of a key, drops those from which the pending
 * transaction may not read it as `read` says, whose `from` is not looked at.
 * What is there already satisfies the level. */
void statement_closure_restrict(struct statement_closure *s,
                                const struct closure *c,
                                const struct event *read, word *valid);
/* Does the history satisfy the level, as it did before the last transaction
 * ended, or went on? */
bool statement_closure_allows(struct statement_closure *s,
                              const struct closure *c);
/* Back to the first `count` transactions, init among them; if `pending`, the
 * last of them has had so many events and goes on. */
void statement_closure_rewind(struct statement_closure *s, uint32_t count,
                              uint32_t events, bool pending);

#endif
