/* What all executions of a program in one thread share: its machine, its keys,
 * the memory that they grow in, the numbers of their transactions.
 */
#ifndef ISO_EXECUTION_CONTEXT_H
#define ISO_EXECUTION_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "execution/ledger.h"
#include "vm/session_run.h"

/* Where a session stands between two transactions. */
struct session_point {
	const struct machine_state *state; /* after the BEGIN request */
	uint32_t name;                     /* of the next transaction */
	bool ended;                        /* there is no next transaction */
	bool readless;                     /* which reads nothing of others;
	                                    * known if context.looks_ahead */
};

struct context {
	const struct program *program;
	struct machine machine;
	struct session_memo memo; /* of it */
	struct region region;     /* released in reverse order of taking */
	struct ledger_shared ledgers;
	uint32_t sessions;
	bool has_finally;
	bool uniform; /* levels that transactions have of their own do not count
	               */
	struct session_point *start;   /* by session, before everything */
	uint64_t steps;                /* begins, events and ends so far */
	bool looks_ahead;              /* at session_point.readless */
	struct footprints *footprints; /* if it looks ahead */
};

/* `reached` (see struct machine) is borrowed and may be NULL. */
void context_init(struct context *c, const struct program *p, uint64_t *reached,
                  const struct machine_limits *limits);
void context_free(struct context *c);
/* Do the bounds of its sessions let the program run more transactions than
 * there may be? */
bool context_too_many(const struct program *p);
/* Is it the session `finally`, which begins when all others have ended? */
static inline bool context_is_finally(const struct context *c, uint32_t session)
{
	return c->has_finally && session + 1 == c->sessions;
}
/* From now on it is known of the next transactions whether they read, and what
 * they may read. */
void context_look_ahead(struct context *c);
/* Looks ahead from the point, if the context does. */
void context_look(struct context *c, struct session_point *p);

#endif
