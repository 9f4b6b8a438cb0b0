/* The result of proving what is asserted of final states. */
#ifndef ISO_RESULT_INVARIANCE_H
#define ISO_RESULT_INVARIANCE_H

#include "prove/invariant.h"
#include "result/result.h"

/* The history that was found is borrowed. */
struct result *result_of_invariance(const struct invariance *p);

#endif
