/* Which registers of a piece of code will be looked at, from each of its
 * instructions on. Too many of them do no harm.
 */
#ifndef ISO_VM_LIVENESS_H
#define ISO_VM_LIVENESS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "vm/bytecode.h"

struct liveness {
	const struct program *program;
	uint32_t first, count; /* instructions */
	uint32_t registers;    /* of the frame */
	unsigned words;        /* of a row */
	word *live;            /* a row for each instruction */
};

/* The program is borrowed. */
void liveness_begin(struct liveness *l, const struct program *p,
                    uint32_t registers);
/* Of instructions that end at the last of them, and jump among each other only.
 * `always`: what is looked at whenever the code stops; or NULL. */
void liveness_find(struct liveness *l, uint32_t first, uint32_t count,
                   const word *always);
void liveness_free(struct liveness *l);
/* Takes the row from behind the instruction to before it. */
void liveness_step_back(const struct liveness *l, struct instruction i,
                        word *row);

static inline const word *liveness_at(const struct liveness *l, uint32_t pc)
{
	assert(pc >= l->first && pc - l->first < l->count);
	return l->live + (size_t)(pc - l->first) * l->words;
}

/* Has it a target? Is it the end of a session, function or assertion? */
bool code_jumps(struct instruction i);
bool code_ends(struct instruction i);

#endif
