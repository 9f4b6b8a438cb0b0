/* The result of telling two levels apart. */
#ifndef ISO_RESULT_SEPARATED_H
#define ISO_RESULT_SEPARATED_H

#include "result/result.h"
#include "separate/separate.h"

/* The histories that were found are borrowed. */
struct result *result_of_separation(const struct separated *s);

#endif
