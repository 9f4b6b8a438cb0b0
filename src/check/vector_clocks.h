/* Rows of numbers, one for each column: vector clocks of a block of paths. They
 * are shared, counted, and given back when nobody uses them any more.
 */
#ifndef ISO_CHECK_VECTOR_CLOCKS_H
#define ISO_CHECK_VECTOR_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row 0 is all zero, and of any number of users. */
enum { CLOCK_ZERO };

enum { CLOCK_LANES = 4, CLOCK_IN_CHUNK = 256 };

struct vector_clocks {
	int32_t **chunks; /* so that rows stay where they are */
	size_t chunk_count, chunk_capacity;
	unsigned width;  /* columns, a multiple of CLOCK_LANES */
	unsigned stride; /* a row's length; there is more behind the columns */
	uint32_t made;   /* so many rows have been taken ever */
	uint32_t free;   /* given back, linked by their first column; or 0 */
};

void vector_clocks_init(struct vector_clocks *r, uint32_t columns);
void vector_clocks_free(struct vector_clocks *r);
uint64_t vector_clocks_bytes(const struct vector_clocks *r);

static inline int32_t *clock_at(const struct vector_clocks *r, uint32_t row)
{
	return r->chunks[row / CLOCK_IN_CHUNK] +
	       (size_t)(row % CLOCK_IN_CHUNK) * r->stride;
}

/* A place for a number that belongs to the row: 0 at first. */
static inline int32_t *clock_floor(const struct vector_clocks *r, uint32_t row)
{
	return clock_at(r, row) + r->width;
}

/* A new row with one user. */
uint32_t clock_copy(struct vector_clocks *r, uint32_t from);
/* One user less. */
void clock_drop(struct vector_clocks *r, uint32_t row);
/* Has it one user, who may change it then? */
bool clock_is_own(const struct vector_clocks *r, uint32_t row);
/* The greater number of each column: adds another row to one that the caller
 * uses, and returns the one that the caller uses instead. Equal rows become
 * one. */
uint32_t clock_join(struct vector_clocks *r, uint32_t row, uint32_t other);

#endif
