/* Where run-time errors happened: each place is a finding of its own, numbered
 * in the order in which they were met. */
#ifndef ISO_EXECUTION_ERROR_PLACES_H
#define ISO_EXECUTION_ERROR_PLACES_H

#include <stdint.h>

#include "vm/program.h"

struct error_places {
	struct position *items; /* the names of files are copies; there are no
	                         * source lines */
	uint32_t count, capacity;
};

/* The number of the place, which is added if it is new. */
uint32_t error_places_number(struct error_places *e, struct position at);
/* By file, line and column, as qsort() wants it; those without a file come
 * first. */
int position_compare(struct position a, struct position b);
void error_places_free(struct error_places *e);

#endif
