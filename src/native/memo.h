/* What sessions were seen to do: for each a tree of steps, branching where it
 * reads, by the values that it read.
 */
#ifndef ISO_NATIVE_MEMO_H
#define ISO_NATIVE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "vm/guest.h"

/* A step, and where it stands. */
struct memo_step {
	struct guest_step step;          /* first: guest_step * is memo_step * */
	const struct memo_step *before;  /* NULL for a root */
	struct value answer;             /* what `before` read, if it waits */
	uint32_t session;
	uint32_t reads;                  /* answers from the root to here */
	bool kept;                       /* in the memo, not in a machine's
	                                  * region */
	struct memo_step *next;          /* after a step that does not wait */
	struct memo_children *children;  /* after one that waits */
};

struct session_memo {
	struct memo_step root;
	const struct memo_step *live; /* where the worker's fibre waits: a step
	                               * whose continuation it can give at
	                               * once; NULL: nowhere */
};

/* The step that follows `from` by this answer, or NULL. */
struct memo_step *memo_find(const struct memo_step *from, struct value answer);
/* Notes that `to` follows `from`. Both are kept. Returns bytes allocated
 * outside of regions. */
size_t memo_add(struct memo_step *from, struct memo_step *to);
void memo_free_children(struct memo_step *root);

#endif
