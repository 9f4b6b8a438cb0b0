/* Is a cycle of reasons what it claims to be? Judged by the events alone. */
#ifndef TESTS_TWIN_WITNESS_H
#define TESTS_TWIN_WITNESS_H

#include "axioms/level.h"
#include "axioms/witness.h"
#include "history/history.h"

/* Stops the test unless these are at least two edges, each of them really
 * there, that lead back to where they begin. */
void twin_check_witness(enum level l, const struct history *h,
                        const struct witness *w);

#endif
