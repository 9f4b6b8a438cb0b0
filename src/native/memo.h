/* What sessions were seen to do: for each a tree of steps, branching where it
 * reads, by the values that it read.
 */
#ifndef ISO_NATIVE_MEMO_H
#define ISO_NATIVE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "vm/guest.h"

/* A step, and where it stands. */
struct memo_step {
	struct guest_step step;         /* first: its address is the other's */
	const struct memo_step *before; /* NULL for a root */
	struct value answer;            /* what `before` read, if it waits */
	uint64_t serial;                /* no other step has it */
	uint32_t session;
	bool open;              /* in the middle of a transaction */
	bool kept;              /* in the memo, not in a machine's
	                         * region, which is given back */
	bool twice;             /* GUEST_END: was run again, and did
	                         * the same; or took too long */
	struct memo_step *next; /* after a step that does not wait */
};

/* The steps that follow one that waits, by it and the answer. */
struct memo {
	struct table by_answer;
	struct memo_step **steps;
	uint32_t count, capacity;
};

/* Of one session, or expectation. */
struct session_memo {
	struct memo_step root;
	uint64_t live; /* serial of the step at which the worker's coroutine of
	                * the session stands; 0: it has none */
};

static inline bool memo_waits(const struct memo_step *s)
{
	return s->step.kind == GUEST_GET || s->step.kind == GUEST_NOTED;
}

/* The step that follows `from` by this answer, or NULL if none is known. */
struct memo_step *memo_find(const struct memo *m, const struct memo_step *from,
                            struct value answer);
/* Notes that `to` follows `from`; kept steps follow kept ones. */
void memo_add(struct memo *m, struct memo_step *from, struct memo_step *to);
size_t memo_bytes(const struct memo *m);
void memo_free(struct memo *m);

#endif
