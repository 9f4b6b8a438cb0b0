/* What a check finds. */
#ifndef ISO_CHECK_CHECK_RESULT_H
#define ISO_CHECK_CHECK_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "base/verdict.h"

/* In a schedule a statement begins, or (number 0) the transaction ends. */
struct check_moment {
	uint32_t transaction, statement;
};

struct check_result {
	enum verdict verdict;
	/* HOLDS: the n transactions in a commit order, if one was made. */
	uint32_t *order;
	/* VIOLATED: transactions that already violate the level when all
	 * others are left out (with the reads from them), increasing, without
	 * init. NULL: an anomaly of the trace is the reason, or (count 0)
	 * nothing smaller than the history is known. */
	uint32_t *core;
	uint32_t core_count;
	const char *reason; /* UNDECIDED: why */
	/* HOLDS, a level with statements, if check_schedule was asked: what
	 * happens one after the other. */
	struct check_moment *schedule;
	size_t schedule_count;
};
void check_result_free(struct check_result *r);

#endif
