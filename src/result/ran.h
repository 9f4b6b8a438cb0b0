/* The result of random runs of a program. */
#ifndef ISO_RESULT_RAN_H
#define ISO_RESULT_RAN_H

#include "result/result.h"

struct campaign;
struct coverage;

struct run_case {
	const struct campaign *campaign; /* over */
	const struct coverage *coverage; /* NULL: nothing was explored */
	bool coverage_wanted;
};

/* Random runs show that something fails, never that nothing does: without a
 * violation the verdict is VERDICT_NO_VIOLATION. It holds only if the program
 * was explored as well, to the end, and the runs have seen every history. It is
 * inconclusive if a limit came first, or no run counts. */
enum verdict run_verdict(const struct run_case *c);

struct result *result_of_runs(const struct run_case *c,
                              enum result_depth depth);

#endif
