/* Reusable memory of level_allows, so that it does not allocate. */
#ifndef ISO_AXIOMS_SCRATCH_H
#define ISO_AXIOMS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

struct level_scratch;
struct level_scratch *level_scratch_new(void);
void level_scratch_free(struct level_scratch *s);
/* Asked now and then while level_allows searches; once that is true, what it
 * says means nothing. */
void level_scratch_stop_when(struct level_scratch *s, bool (*stop)(void *data),
                             void *data);
size_t level_scratch_bytes(const struct level_scratch *s); /* held */

#endif
