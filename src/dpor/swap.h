/* Swap and readLatest (paper, sections 5.2 and 5.3): a read takes its value
 * from a transaction that committed later.
 */
#ifndef ISO_DPOR_SWAP_H
#define ISO_DPOR_SWAP_H

#include <stdbool.h>
#include <stdint.h>

#include "dpor/state.h"

/* The waiting read takes its value from `source`, and it is noted how it
 * relates to readLatest. `waiting` is the session's state now, `valid` the row
 * of valid writers, or NULL to compute what is needed. */
void swap_read(struct state *s, const struct request *r,
               const struct machine_state *waiting, uint32_t source,
               const word *valid);
/* readLatest(h, <, r', t), for t the last transaction of `s`, which has ended,
 * and r' outside of its causal past. `scratch` is a state of the same context
 * whose contents are lost. */
bool swap_reads_latest_after_all(struct state *s, struct state *scratch,
                                 uint32_t read);
static inline bool swap_reads_latest(struct state *s, struct state *scratch,
                                     uint32_t read)
{
	enum latest latest = s->notes[read].latest;
	return latest == LATEST_MAYBE
	               ? swap_reads_latest_after_all(s, scratch, read)
	               : latest == LATEST_YES;
}
/* Swap(h, <, r, t), for the same t: makes `to` the result. False, with `to`
 * useless, when the result violates the level of the states. */
bool swap_apply(struct state *to, const struct state *from, uint32_t read);

#endif
