/* What clauses a proof by the solver is of, and the proof, as files that an
 * independent program can check: DIMACS, and DRAT in text.
 *
 * The formula is asked for once more, of a solver that does nothing but search:
 * then all that it derives are clauses learned from conflicts, which it tells,
 * and each follows by unit propagation from those before it.
 */
#ifndef ISO_SOLVE_PROOF_H
#define ISO_SOLVE_PROOF_H

#include <stdio.h>

#include "solve/clauses.h"

struct proof_size {
	uint64_t clauses, lemmas; /* of the formula, of the proof */
};

/* Writes, of clauses that are kept, that the literal is false in all models,
 * what is open being closed; and how large both are. ANSWER_MODEL: it is not;
 * ANSWER_OPEN: that took so many conflicts (0: any number), or time is over;
 * then there is no proof behind what was written of it. */
enum answer proof_write(const struct clauses *c, int literal, int conflicts,
                        FILE *formula, FILE *steps, struct proof_size *size);

#endif
