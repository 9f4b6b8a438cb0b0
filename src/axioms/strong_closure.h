/* A growing history under pc, psi, si or ser: which writers may a read take,
 * and may the last transaction end as it did. Exact, as level_allows is, at
 * the cost of what has changed since the last question.
 *
 * Two things are kept beside the rows of closure.h:
 *
 * - A witness: a commit order of the ended transactions. Without its last
 *   transactions it is a witness of what is left, so going back costs nothing.
 *   Where what was added fits into it, that is the answer.
 * - The closure of what every commit order must have: so, wr, and the edges
 *   that the reads force, to the fixed point, with an undo log. Its rows refuse
 *   many writers at once. It is brought up to date only when it is asked.
 *
 * What neither decides is tried: the edges of the read are added to the
 * closure; if they close no cycle, an order near the witness is made of it;
 * if that is none of the level, a search decides between pairs of edges, as
 * order_search does.
 *
 * Lemma. No read is without a valid writer: where the witness lets the pending
 * transaction begin, the last writer of the key before there (under psi, the
 * last one that it sees) is one, since the witness remains one. And under pc no
 * end is refused: the transaction may commit last, when all others have begun.
 * So under pc nothing that a search appends is blocked; under psi, si and ser
 * only ends are, whose writes spoil what was read (lost updates and the like).
 */
#ifndef ISO_AXIOMS_STRONG_CLOSURE_H
#define ISO_AXIOMS_STRONG_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "axioms/level.h"

struct strong_closure;

/* Of one closure, which is given with each question. */
struct strong_closure *strong_closure_new(enum level level);
void strong_closure_free(struct strong_closure *s); /* NULL is fine */
size_t strong_closure_bytes(const struct strong_closure *s);

/* Of these committed writers of the key, drops those from which the pending
 * transaction may not read it. What is there already satisfies the level. */
void strong_closure_restrict(struct strong_closure *s, const struct closure *c,
                             uint32_t key, word *valid);
/* The last transaction has ended: does the history satisfy the level, as it did
 * before? */
bool strong_closure_allows(struct strong_closure *s, const struct closure *c);
/* The closure goes back, as closure_rewind says. */
void strong_closure_rewind(struct strong_closure *s, uint32_t count,
                           uint32_t reads, bool pending);

#endif
