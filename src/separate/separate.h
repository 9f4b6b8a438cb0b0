/* What tells two isolation levels apart: a smallest history that one allows and
 * the other forbids, each way.
 *
 * A side is a level, or a mix: then each transaction has one of its levels, and
 * each of its levels is some transaction's. Smaller are fewer transactions, and
 * of as many, fewer events.
 */
#ifndef ISO_SEPARATE_SEPARATE_H
#define ISO_SEPARATE_SEPARATE_H

#include <stdint.h>

#include "axioms/level.h"
#include "base/budget.h"
#include "base/text.h"

enum { SEPARATE_TRANSACTIONS = 4, SEPARATE_EVENTS = 6 }; /* by default */

struct separate_options {
	unsigned sides[2]; /* bit l for level l; one of them is one level */
	uint32_t max_transactions, max_events; /* of small_histories.h */
	bool locks, statements;
	WITH_BUDGET; /* timeout and interrupt */
};

/* What one side allows and the other forbids. */
struct separation {
	/* As a theorem: whatever the size, there is none. */
	bool implied;
	/* In what the limits leave: NULL if there is none. A mix that allows or
	 * forbids it is written down, as levels of transactions of their own;
	 * the others have the first of its levels. */
	struct history *history;
	uint32_t transactions, events;
};

struct separated {
	struct separate_options options;
	struct separation ways[2]; /* side 0 allows, side 1 forbids; the other
	                            * way round */
	uint64_t histories;        /* that were looked at */
	double seconds;
	enum stop_reason stop;
};

/* Do the options go together? If not, why. */
bool separate_possible(const struct separate_options *o, struct text *why);
/* The level of those transactions that have none of their own. */
enum level separate_others(unsigned levels);
/* To be freed with separated_free. */
void separate(struct separated *out, const struct separate_options *o);
void separated_free(struct separated *s);

#endif
