/* What edits cost, as a file may say:
 *
 *     # what this team would rather not do
 *     atomic 1
 *     lock shared 5
 *     transaction ser never
 *
 * A line has a kind of edit (EDIT_TABLE), if wanted which of that kind (a
 * lock's word, a level), and the cost: a whole number, or `never`. Later lines
 * stand.
 */
#ifndef ISO_REPAIR_WEIGHTS_H
#define ISO_REPAIR_WEIGHTS_H

#include <stdbool.h>

#include "axioms/level.h"
#include "base/access.h"
#include "base/diag.h"

/*     identifier, word, cost unless weights say otherwise */
#define EDIT_TABLE(X)                                                         \
	/* a read locks its row to the end: shared, or to write where the     \
	 * transaction writes the key as well */                              \
	X(EDIT_LOCK, "lock", 1)                                               \
	/* a read, and the write of what is computed from it */               \
	X(EDIT_ATOMIC, "atomic", 2)                                           \
	/* of a transaction, which may then be aborted and has to be tried    \
	 * again; once more for a level without rivals that run side by side, \
	 * at which reads can be the reason */                                \
	X(EDIT_TRANSACTION, "transaction", 3)                                 \
	/* of the whole program, for each of its transactions */              \
	X(EDIT_PROGRAM, "program", 3)

enum edit_kind {
#define X(id, word, cost) id,
	EDIT_TABLE(X)
#undef X
		EDIT_KIND_COUNT
};

const char *edit_kind_word(enum edit_kind k);

enum { WEIGHT_NEVER = 0, WEIGHT_MOST = 1000000 };

struct edit_weights {
	unsigned lock[STRENGTH_COUNT];
	unsigned atomic;
	unsigned transaction[LEVEL_COUNT], program[LEVEL_COUNT];
};

void weights_usual(struct edit_weights *w);
/* What Oracle has not, costs never: FOR SHARE, and levels of ours but si. */
void weights_of_oracle(struct edit_weights *w);
/* What the file says, over what is there. False, with diagnostics, if it cannot
 * be read. */
bool weights_read(struct edit_weights *w, const char *path, struct diags *d);

#endif
