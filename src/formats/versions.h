/* The order in which the committed transactions of a trace wrote each key. */
#ifndef ISO_FORMATS_VERSIONS_H
#define ISO_FORMATS_VERSIONS_H

#include <stdbool.h>

#include "history/trace.h"

struct versions {
	/* Writes of key k, in their order: ops[first[k]], ..., ordered[k] of
	 * them. Behind them, in no order, those of which none is known. */
	uint32_t *ops, *first; /* first has key_count + 1 entries */
	uint32_t *ordered;
	uint32_t *place; /* by operation: of a write, from 0 among those of its
	                  * key, or TRACE_NONE */
};

/* As a commit order tells, which lists all transactions that committed (others
 * in it do not matter), or NULL: as trace.known tells. False if that is not an
 * order. O(n log n). */
bool versions_find(struct versions *v, const struct trace *r,
                   const uint32_t *order);
void versions_free(struct versions *v);

#endif
