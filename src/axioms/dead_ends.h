/* What a search with a budget learnt to be hopeless: places (words that say
 * where it stood) with the largest budget that did not suffice there.
 */
#ifndef ISO_AXIOMS_DEAD_ENDS_H
#define ISO_AXIOMS_DEAD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/table.h"

struct dead_ends {
	struct table table; /* of the items */
	word *items;        /* of each the budget, and behind it the place */
	uint32_t count, capacity;
	unsigned stride; /* words of an item */
};

void dead_ends_free(struct dead_ends *f);
size_t dead_ends_bytes(const struct dead_ends *f);
/* Forgets all. Places have so many words until the next call. */
void dead_ends_begin(struct dead_ends *f, unsigned words);
/* Is it known that the budget does not suffice? */
bool dead_ends_has(const struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget);
/* Where memory is short this may be forgotten again. */
void dead_ends_add(struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget);

#endif
