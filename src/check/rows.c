#include "check/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef int32_t lanes __attribute__((vector_size(4 * ROWS_LANES), may_alias));

/* Behind the floor. */
static int32_t *users(const struct rows *r, uint32_t row)
{
	return row_floor(r, row) + 1;
}

uint64_t rows_bytes(const struct rows *r)
{
	return (uint64_t)r->chunk_count * r->stride * ROWS_IN_CHUNK *
	       sizeof(int32_t);
}

static void add_chunk(struct rows *r)
{
	VEC_RESERVE(r->chunks, r->chunk_count, r->chunk_capacity);
	r->chunks[r->chunk_count++] =
		mem_take(sizeof(int32_t) * ROWS_IN_CHUNK * r->stride);
}

uint32_t row_copy(struct rows *r, uint32_t from)
{
	uint32_t row = r->free;
	if (row) {
		r->free = (uint32_t)row_at(r, row)[0];
	} else {
		row = r->made++;
		if (row / ROWS_IN_CHUNK == r->chunk_count) add_chunk(r);
	}
	int32_t *to = row_at(r, row);
	memcpy(to, row_at(r, from), r->width * sizeof *to);
	*users(r, row) = 1;
	*row_floor(r, row) = 0;
	return row;
}

static uint32_t row_share(struct rows *r, uint32_t row)
{
	if (row != ROW_ZERO) ++*users(r, row);
	return row;
}

void row_drop(struct rows *r, uint32_t row)
{
	if (row == ROW_ZERO) return;
	if (--*users(r, row)) return;
	row_at(r, row)[0] = (int32_t)r->free;
	r->free = row;
}

void rows_init(struct rows *r, uint32_t columns)
{
	*r = (struct rows){ .made = 1 };
	r->width = (columns + ROWS_LANES - 1) / ROWS_LANES * ROWS_LANES;
	r->stride = r->width + ROWS_LANES;
	add_chunk(r);
	memset(row_at(r, ROW_ZERO), 0, r->stride * sizeof(int32_t));
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->chunk_count; i++) free(r->chunks[i]);
	free(r->chunks);
}

/* Is some column of a greater than that of b? */
static bool row_exceeds(const struct rows *r, uint32_t a, uint32_t b)
{
	const lanes *x = (const lanes *)row_at(r, a);
	const lanes *y = (const lanes *)row_at(r, b);
	lanes any = { 0 };
	for (unsigned i = 0; i < r->width / ROWS_LANES; i++) any |= x[i] > y[i];
	int32_t found = 0;
	for (unsigned i = 0; i < ROWS_LANES; i++) found |= any[i];
	return found;
}

static void row_raise(const struct rows *r, uint32_t row, uint32_t by)
{
	lanes *to = (lanes *)row_at(r, row);
	const lanes *from = (const lanes *)row_at(r, by);
	for (unsigned i = 0; i < r->width / ROWS_LANES; i++) {
		lanes more = from[i] > to[i];
		to[i] = (from[i] & more) | (to[i] & ~more);
	}
}

bool row_is_own(const struct rows *r, uint32_t row)
{
	return *users(r, row) == 1;
}

/* Most joins add nothing to one of the two; that is then shared. Behind the
 * transactions of a block, few different rows are left. */
uint32_t row_join(struct rows *r, uint32_t row, uint32_t other)
{
	if (other == ROW_ZERO || other == row) return row;
	if (row != ROW_ZERO && row_is_own(r, row)) {
		row_raise(r, row, other);
		return row;
	}
	if (!row_exceeds(r, other, row)) return row;
	if (row == ROW_ZERO || !row_exceeds(r, row, other)) {
		row_drop(r, row);
		return row_share(r, other);
	}
	uint32_t own = row_copy(r, row);
	row_drop(r, row);
	row_raise(r, own, other);
	return own;
}
