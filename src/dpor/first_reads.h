/* What a session's next transaction may read first of what is new to it.
 *
 * Where a transaction has to read something that was written at some place of
 * the order or behind (canonical_order.h), all that it reads until then was
 * written before that place, so it can be run ahead with these values: its
 * keys are known as no look at the code tells them.
 */
#ifndef ISO_DPOR_FIRST_READS_H
#define ISO_DPOR_FIRST_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpor/algorithm_state.h"

struct engine;

void first_reads_free(struct first_reads *f, uint32_t sessions);
size_t first_reads_bytes(const struct first_reads *f, uint32_t sessions);
/* The last transaction has just ended. */
void first_reads_note_end(struct engine *e);
/* Keys that the session's next transaction may read as the first ones from
 * `place` on: those of one way that it can go, or all of them; NULL if there
 * are too many ways. Answers are kept until what stands before the place
 * changes.
 */
const struct key_list *first_reads(struct engine *e, uint32_t session,
                                   uint32_t place, bool all);

#endif
