/* Rows of numbers, one for each column: vector clocks of a block of paths. They
 * are shared, counted, and given back when nobody uses them any more.
 */
#ifndef ISO_CHECK_ROWS_H
#define ISO_CHECK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row 0 is all zero, and of any number of users. */
enum { ROW_ZERO };

enum { ROWS_LANES = 4, ROWS_IN_CHUNK = 256 };

struct rows {
	int32_t **chunks; /* so that rows stay where they are */
	size_t chunk_count, chunk_capacity;
	unsigned width;  /* columns, a multiple of ROWS_LANES */
	unsigned stride; /* a row's length; there is more behind the columns */
	uint32_t made;   /* so many rows have been taken ever */
	uint32_t free;   /* given back, linked by their first column; or 0 */
};

void rows_init(struct rows *r, uint32_t columns);
void rows_free(struct rows *r);
uint64_t rows_bytes(const struct rows *r);

static inline int32_t *row_at(const struct rows *r, uint32_t row)
{
	return r->chunks[row / ROWS_IN_CHUNK] +
	       (size_t)(row % ROWS_IN_CHUNK) * r->stride;
}

/* A place for a number that belongs to the row: 0 at first. */
static inline int32_t *row_floor(const struct rows *r, uint32_t row)
{
	return row_at(r, row) + r->width;
}

/* A new row with one user. */
uint32_t row_copy(struct rows *r, uint32_t from);
/* One user less. */
void row_drop(struct rows *r, uint32_t row);
/* Has it one user, who may change it then? */
bool row_is_own(const struct rows *r, uint32_t row);
/* The greater number of each column: adds another row to one that the caller
 * uses, and returns the one that the caller uses instead. Equal rows become
 * one. */
uint32_t row_join(struct rows *r, uint32_t row, uint32_t other);

#endif
