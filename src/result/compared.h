/* The result of comparing prediction, random runs and exploration. */
#ifndef ISO_RESULT_COMPARED_H
#define ISO_RESULT_COMPARED_H

#include "predict/compare.h"
#include "result/result.h"

/* After comparison_run. */
struct result *result_of_comparison(const struct comparison *c);

const char *compare_way_name(enum compare_way w); /* "random runs" */
const struct compare_reach *compare_reach_of(const struct comparison *c,
                                             enum compare_way w);
/* "the time limit was reached" */
const char *compare_end_words(enum stop_reason end);

#endif
