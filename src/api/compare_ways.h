/* How much of what there is prediction, random runs and exploration find.
 */
#ifndef ISO_API_COMPARE_WAYS_H
#define ISO_API_COMPARE_WAYS_H

#include "api/problem.h"
#include "predict/compare.h"

/* The comparison, which the caller frees; `level_given`: in the options, else
 * it is the program's, or cc. NULL if there was a problem. */
struct comparison *compare_ways(const struct program *p,
                                const struct compare_options *o,
                                bool level_given,
                                const struct compare_observer *observer,
                                struct problem *problem);

#endif
