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

struct result *result_of_runs(const struct run_case *c,
                              enum result_depth depth);

#endif
