/* Orders of the transactions that matter, searched for one in which few of the
 * reads in doubt are stale.
 *
 * An order is built from its beginning. A place of the search is the set of
 * transactions put there so far and the set of reads still undecided; where a
 * budget did not suffice, a smaller one need not be tried. Places with the same
 * transactions differ only in the stale reads that the budget paid for, so for
 * a bounded number of sessions, and a bounded budget, there are polynomially
 * many.
 */
#ifndef ISO_AXIOMS_DOUBTS_SEARCH_H
#define ISO_AXIOMS_DOUBTS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/doubts.h"
#include "axioms/failures.h"

struct doubts_search {
	word *frames;    /* open choices, one behind the other */
	size_t capacity; /* in words */
	struct failures failures;
};

void doubts_search_free(struct doubts_search *s);
size_t doubts_search_bytes(const struct doubts_search *s);
/* Is there an order in which at most `budget` reads in doubt are stale? */
bool doubts_search(struct doubts_search *s, const struct doubts *d,
                   uint64_t budget);

#endif
