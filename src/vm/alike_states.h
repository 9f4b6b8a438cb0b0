/* States of sessions that go on alike: at the same instruction, with the same
 * values in all registers that will still be looked at, by the session or by
 * final assertions.
 */
#ifndef ISO_VM_ALIKE_STATES_H
#define ISO_VM_ALIKE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/liveness.h"

struct machine_state;

struct alike_states {
	const struct program *program;
	struct code_piece {
		struct liveness live;
		bool called; /* a function or transaction; else a session */
	} * pieces;          /* by their first instruction */
	uint32_t count, capacity;
};

/* Is the code of a kind, and not too long, for this? */
bool alike_states_known(const struct program *p);
/* Of a program for which this is known, which is borrowed. `same`: by session,
 * a number; where assertions look at what one session of a number knows, those
 * of the others are alike only if they know the same there. */
void alike_states_init(struct alike_states *a, const struct program *p,
                       const uint32_t *same);
void alike_states_free(struct alike_states *a);
/* Of states that wait for a value. What they have met is alike if it is the
 * same assertions and errors, in the same order. */
uint64_t alike_states_hash(const struct alike_states *a,
                           const struct machine_state *s);
bool alike_states_equal(const struct alike_states *a,
                        const struct machine_state *s,
                        const struct machine_state *t);

#endif
