/* What a check finds. */
#ifndef ISO_CHECK_CHECK_RESULT_H
#define ISO_CHECK_CHECK_RESULT_H

#include <stdint.h>

#include "axioms/schedule.h"
#include "base/verdict.h"

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
	/* HOLDS, if check_schedule was asked; none: count is 0. */
	struct schedule schedule;
};
void check_result_free(struct check_result *r);

#endif
