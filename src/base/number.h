/* Order of 32-bit numbers, for qsort and bsearch. */
#ifndef ISO_BASE_NUMBER_H
#define ISO_BASE_NUMBER_H

#include <stdint.h>

static inline int number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

#endif
