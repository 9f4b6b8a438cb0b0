/* The result of comparing prediction, random runs and exploration. */
#ifndef ISO_RESULT_COMPARED_H
#define ISO_RESULT_COMPARED_H

#include "predict/compare.h"
#include "result/result.h"

/* After comparison_run. */
struct result *result_of_comparison(const struct comparison *c);

#endif
