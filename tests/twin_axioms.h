/* The axioms of the isolation levels, checked by definition.
 *
 * Slow, small and separate from src/axioms: the judge of the fast checks. A
 * history satisfies a level when some total order co that extends so U wr
 * meets the level's axioms; so all such orders are tried. Where the history
 * tells the order of some writers of a key, co has to agree, but for `none`.
 */
#ifndef TESTS_TWIN_AXIOMS_H
#define TESTS_TWIN_AXIOMS_H

#include <stdbool.h>

#include "axioms/level.h"
#include "history/history.h"

/* Histories of up to this many transactions (init included) and keys. */
enum { TWIN_TRANSACTIONS = 32, TWIN_KEYS = 64 };

/* A relation between transactions. */
typedef bool twin_matrix[TWIN_TRANSACTIONS][TWIN_TRANSACTIONS];
/* Makes it transitive, among the first n. */
void twin_closure(twin_matrix m, uint32_t n);

/* Of transactions with a level of their own, that one counts. */

/* Gives up an order at the first transaction whose reads break an axiom. */
bool twin_allows(enum level l, const struct history *h);
/* Whatever the levels of transactions. */
bool twin_serializable(const struct history *h);
/* Looks at complete orders only, with relations as matrices. For up to some 8
 * transactions; checks that giving up early is right. */
bool twin_allows_plain(enum level l, const struct history *h);
/* By this order of all its transactions as co. */
bool twin_allows_order(enum level l, const struct history *h,
                       const uint32_t *order);
/* Bit l is set when the history satisfies level l. */
unsigned twin_levels(const struct history *h);

/* Is transaction a before b in session order? init is before all. */
bool twin_session_order(const struct history *h, uint32_t a, uint32_t b);
/* Does b read something from a? */
bool twin_write_read(const struct history *h, uint32_t a, uint32_t b);
/* Does the transaction's visible result include the key? */
bool twin_writes(const struct history *h, uint32_t t, uint32_t key);

#endif
