/* The insides of a session's state: for the files that run sessions. */
#ifndef ISO_VM_MACHINE_STATE_H
#define ISO_VM_MACHINE_STATE_H

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/value.h"

struct finding;
struct region;

struct machine_state {
	alignas(16) const struct finding *findings; /* newest */
	uint32_t pc : 30;                           /* next instruction */
	uint32_t statement : 2;                     /* enum statement */
	uint16_t base;         /* register 0 of the running frame */
	uint16_t session : 13; /* place in program->sessions */
	uint16_t in_transaction : 1;
	uint16_t pruned : 1;  /* met a false assumption */
	uint16_t stopped : 1; /* ended, or is about to */
	struct value registers[];
};

/* What the next read or write belongs to. */
enum statement {
	STATEMENT_OWN,   /* a statement of its own */
	STATEMENT_FIRST, /* one of several, and it is the first */
	STATEMENT_MORE   /* that of the access before it */
};

_Static_assert(offsetof(struct machine_state, registers) == 16,
               "the header is as small as one register");

/* A frame for code outside the sessions, at the end of the region. */
struct machine_state *machine_outside_state(struct region *region,
                                            uint32_t entry, uint32_t registers);

/* The link that a callee keeps in its register 0: the caller's next
 * instruction and frame. */
#define LINK_OUTSIDE UINT32_MAX /* returning ends program_evaluate() */

static inline struct value link_value(uint32_t pc, uint32_t base)
{
	return value_int((int64_t)((uint64_t)pc << 16 | base));
}

static inline uint32_t link_pc(struct value link)
{
	assert(link.tag == VALUE_INT);
	return (uint32_t)((uint64_t)link.i >> 16);
}

static inline uint32_t link_base(struct value link)
{
	return (uint32_t)link.i & 0xffff;
}

#endif
