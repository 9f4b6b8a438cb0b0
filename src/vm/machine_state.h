/* The insides of a session's state: for the files that run sessions. */
#ifndef ISO_VM_MACHINE_STATE_H
#define ISO_VM_MACHINE_STATE_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/value.h"

struct finding;

struct machine_state {
	alignas(16) const struct finding *findings; /* newest */
	uint32_t pc;                 /* next instruction */
	uint16_t base;               /* register 0 of the running frame */
	uint16_t session : 13;       /* place in program->sessions */
	uint16_t in_transaction : 1;
	uint16_t pruned : 1;         /* met a false assumption */
	uint16_t stopped : 1;        /* ended, or is about to */
	struct value registers[];
};

_Static_assert(offsetof(struct machine_state, registers) == 16,
               "the header is as small as one register");

#endif
