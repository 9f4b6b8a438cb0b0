/* One state of an exploration: an execution, which is a history h with at most
 * one pending transaction, the order < of its transactions, and the local
 * states of the sessions (Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 5);
 * and what the search notes of it.
 *
 * Because Next always finishes the pending transaction first, and Swap moves a
 * whole transaction to the end, < is an order of transactions.
 */
#ifndef ISO_DPOR_STATE_H
#define ISO_DPOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/execution.h"

/* How a read relates to readLatest (paper, section 5.3). L is the set of
 * transactions after the read's source in < that write its key, precede the
 * reader causally, and were valid when the read was appended. */
enum latest {
	LATEST_YES,  /* the source precedes the reader causally; L is empty */
	LATEST_NO,   /* the source does not precede the reader causally */
	LATEST_MAYBE /* L is not empty: events after the read decide */
};

struct read_note {
	const struct ledger_event *node;
	enum latest latest;
	bool lonely; /* no writer at all in L, valid or not: YES for good */
};

struct state {
	struct execution execution;
	struct read_note *notes; /* parallel to closure.reads */
	uint32_t note_capacity;
	/* Of the filter (filter.c): the longest prefix of < that is known to
	 * satisfy the level, and the shortest known not to; counts of
	 * transactions, init included; good 1 and bad UINT32_MAX: unknown. */
	uint32_t good_prefix, bad_prefix;
};

void state_init(struct state *s, struct context *c, enum level level);
void state_free(struct state *s);
size_t state_bytes(const struct state *s);

/* execution_keep() and execution_rewind(). */
void state_keep(struct state *s, uint32_t count);
void state_rewind(struct state *s, const struct ledger_mark *m);
/* Only the first `count` transactions are as they were. */
void state_forget_verdicts(struct state *s, uint32_t count);

static inline struct ledger *state_ledger(struct state *s)
{
	return &s->execution.ledger;
}
static inline const struct closure *state_closure(const struct state *s)
{
	return &s->execution.ledger.closure;
}

#endif
