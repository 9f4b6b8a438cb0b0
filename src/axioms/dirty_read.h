/* Reads that no level but `none` allows: of a value that its writer never
 * committed. */
#ifndef ISO_AXIOMS_DIRTY_READ_H
#define ISO_AXIOMS_DIRTY_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"

struct history;

struct dirty_read {
	uint32_t reader, writer, key;
	bool aborted; /* the writer aborted; else it wrote the key again */
};

/* The first such read that the level forbids, if any; `mixed`: the reader's own
 * level, if it has one. */
bool dirty_read_find(const struct history *h, enum level l, bool mixed,
                     struct dirty_read *out);

#endif
