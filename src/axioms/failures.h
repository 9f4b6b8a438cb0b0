/* What a search with a budget learnt to be hopeless: places (words that say
 * where it stood) with the largest budget that did not suffice there.
 */
#ifndef ISO_AXIOMS_FAILURES_H
#define ISO_AXIOMS_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"

/* Open addressing. A slot holds the time of the search that filled it (others
 * are empty), the budget, and the place. */
struct failures {
	word *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t used;
	unsigned stride; /* words of a slot */
	uint64_t time;
};

void failures_free(struct failures *f);
size_t failures_bytes(const struct failures *f);
/* Forgets all. Places have so many words until the next call. */
void failures_begin(struct failures *f, unsigned words);
/* Is it known that the budget does not suffice? */
bool failures_has(const struct failures *f, const word *place, unsigned words,
                  uint64_t budget);
/* Where memory is short this may be forgotten again. */
void failures_add(struct failures *f, const word *place, unsigned words,
                  uint64_t budget);

#endif
