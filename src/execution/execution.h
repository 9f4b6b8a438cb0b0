/* The run of a program on a ledger: what the machines of its sessions ask for
 * is begun, written and read in the ledger, and can be taken back there.
 */
#ifndef ISO_EXECUTION_EXECUTION_H
#define ISO_EXECUTION_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/context.h"
#include "execution/ledger.h"
#include "vm/session_run.h"

struct execution {
	struct context *context; /* borrowed */
	struct ledger ledger;
	struct session_point *points; /* by session */
	struct session_run live;      /* of the pending transaction */
};

/* How it went on. */
enum advance {
	ADVANCE_READ,  /* an external read waits for its writer */
	ADVANCE_ENDED, /* the pending transaction has just ended */
	ADVANCE_FULL   /* too many events or keys, or machine.stop */
};

void execution_init(struct execution *x, struct context *c, enum level level);
void execution_free(struct execution *x);
size_t execution_bytes(const struct execution *x);

/* The first session from this one on that has a transaction left, in the order
 * of their declaration, or UINT32_MAX. */
uint32_t execution_next_session(const struct execution *x, uint32_t from);
/* Begins the next transaction of the session; false if there are too many. */
bool execution_begin(struct execution *x, uint32_t session);
/* Runs the pending transaction to its next external read, or to its end. */
enum advance execution_run(struct execution *x, struct request *waiting);
/* The waiting read takes its value from `source`. `waiting` is noted with it:
 * the session's state now, or NULL. */
void execution_read(struct execution *x, const struct request *r,
                    uint32_t source, const struct machine_state *waiting);

/* Back to the first `count` transactions, all ended. */
void execution_keep(struct execution *x, uint32_t count);
/* Back to the mark; where a transaction is pending there, the caller sets
 * `live`, when what was taken from the region since has been given back. */
void execution_rewind(struct execution *x, const struct ledger_mark *m);
/* The sessions stand where the transactions of the ledger, which were copied
 * there, leave them. */
void execution_place_sessions(struct execution *x);

#endif
