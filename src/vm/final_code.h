/* A final assertion while it is evaluated with values that are not known yet:
 * each local is asked for where it is looked at, and two evaluations that stand
 * at the same instruction, and agree in the registers that will still be looked
 * at, go on alike.
 */
#ifndef ISO_VM_FINAL_CODE_H
#define ISO_VM_FINAL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/liveness.h"

struct machine;
struct machine_state;
struct program;

struct final_code {
	struct program *view;  /* the program, with the code below */
	uint32_t first, count; /* instructions */
	uint32_t registers;
	struct liveness live;
};

/* Of an assertion in bytecode. The program is borrowed. */
void final_code_init(struct final_code *f, const struct program *p,
                     uint32_t assertion);
void final_code_free(struct final_code *f);
/* A state in the region of the machine, which is one of the view; go on with
 * machine_final_step(). */
struct machine_state *final_code_begin(const struct final_code *f,
                                       struct machine *m);
/* Of such states, at a local: the bytes that they have, and are they alike? */
size_t final_code_size(const struct final_code *f);
uint64_t final_code_hash(const struct final_code *f,
                         const struct machine_state *s);
bool final_code_equal(const struct final_code *f, const struct machine_state *a,
                      const struct machine_state *b);

#endif
