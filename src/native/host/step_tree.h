/* What sessions were seen to do: for each a tree of steps, branching where it
 * reads, by the values that it read.
 */
#ifndef ISO_NATIVE_HOST_STEP_TREE_H
#define ISO_NATIVE_HOST_STEP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "vm/guest.h"

/* A step, and where it stands. */
struct tree_step {
	struct guest_step step;         /* first: its address is the other's */
	const struct tree_step *before; /* NULL for a root */
	struct value answer;            /* what `before` read, if it waits */
	uint64_t serial;                /* no other step has it */
	uint32_t session;
	uint64_t transactions;  /* begun by the session */
	uint64_t accesses;      /* since the last of them began */
	bool open;              /* in the middle of a transaction */
	bool groups;            /* it has begun statements by itself */
	bool kept;              /* in the tree, not in a machine's
	                         * region, which is given back */
	bool twice;             /* GUEST_END: was run again, and did
	                         * the same; or took too long */
	struct tree_step *next; /* after a step that does not wait */
};

/* The steps that follow one that waits, by it and the answer. */
struct step_tree {
	struct table by_answer;
	struct tree_step **steps;
	uint32_t count, capacity;
};

/* Of one session, or expectation. */
struct session_tree {
	struct tree_step root;
	uint64_t live; /* serial of the step at which the worker's coroutine of
	                * the session stands; 0: it has none */
};

static inline bool step_waits(const struct tree_step *s)
{
	return s->step.kind == GUEST_GET || s->step.kind == GUEST_NOTED;
}

/* The step that follows `from` by this answer, or NULL if none is known. */
struct tree_step *step_tree_find(const struct step_tree *m,
                                 const struct tree_step *from,
                                 struct value answer);
/* Notes that `to` follows `from`; kept steps follow kept ones. */
void step_tree_add(struct step_tree *m, struct tree_step *from,
                   struct tree_step *to);
size_t step_tree_bytes(const struct step_tree *m);
void step_tree_free(struct step_tree *m);

#endif
