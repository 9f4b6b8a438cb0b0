/* Does a proof in DRAT show that a formula in DIMACS has no model? Plain: each
 * clause of the proof has to follow from those before it by unit propagation,
 * or to be a resolution asymmetric tautology on its first literal (Wetzler,
 * Heule, Hunt, SAT 2014). What it deletes is kept, which accepts nothing that
 * is wrong: the more clauses there are, the more a step has to keep true.
 */
#ifndef TESTS_PROOF_CHECKER_H
#define TESTS_PROOF_CHECKER_H

#include <stdbool.h>

/* Both are texts. False, with *why in words, if it does not. */
bool proof_is_fine(const char *formula, const char *proof, const char **why);

#endif
