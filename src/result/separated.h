/* The result of telling two levels apart. */
#ifndef ISO_RESULT_SEPARATED_H
#define ISO_RESULT_SEPARATED_H

#include "result/result.h"
#include "separate/separate.h"

/* Takes over the histories that were found. */
struct result *result_of_separation(struct separated *s);

#endif
