#include "check/vector_clocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef int32_t lanes __attribute__((vector_size(4 * CLOCK_LANES), may_alias));

/* Behind the floor. */
static int32_t *users(const struct vector_clocks *r, uint32_t row)
{
	return clock_floor(r, row) + 1;
}

uint64_t vector_clocks_bytes(const struct vector_clocks *r)
{
	return (uint64_t)r->chunk_count * r->stride * CLOCK_IN_CHUNK *
	       sizeof(int32_t);
}

static void add_chunk(struct vector_clocks *r)
{
	VEC_RESERVE(r->chunks, r->chunk_count, r->chunk_capacity);
	r->chunks[r->chunk_count++] =
		mem_take(sizeof(int32_t) * CLOCK_IN_CHUNK * r->stride);
}

uint32_t clock_copy(struct vector_clocks *r, uint32_t from)
{
	uint32_t row = r->free;
	if (row) {
		r->free = (uint32_t)clock_at(r, row)[0];
	} else {
		row = r->made++;
		if (row / CLOCK_IN_CHUNK == r->chunk_count) add_chunk(r);
	}
	assert(row != CLOCK_ZERO && row < r->made);
	int32_t *to = clock_at(r, row);
	memcpy(to, clock_at(r, from), r->width * sizeof *to);
	*users(r, row) = 1;
	*clock_floor(r, row) = 0;
	return row;
}

static uint32_t clock_share(struct vector_clocks *r, uint32_t row)
{
	if (row != CLOCK_ZERO) ++*users(r, row);
	return row;
}

void clock_drop(struct vector_clocks *r, uint32_t row)
{
	if (row == CLOCK_ZERO) return;
	assert(row<r->made && * users(r, row)> 0);
	if (--*users(r, row)) return;
	clock_at(r, row)[0] = (int32_t)r->free;
	r->free = row;
}

void vector_clocks_init(struct vector_clocks *r, uint32_t columns)
{
	*r = (struct vector_clocks){ .made = 1 };
	r->width = (columns + CLOCK_LANES - 1) / CLOCK_LANES * CLOCK_LANES;
	r->stride = r->width + CLOCK_LANES;
	add_chunk(r);
	memset(clock_at(r, CLOCK_ZERO), 0, r->stride * sizeof(int32_t));
}

void vector_clocks_free(struct vector_clocks *r)
{
	for (size_t i = 0; i < r->chunk_count; i++) free(r->chunks[i]);
	free(r->chunks);
}

/* Is some column of a greater than that of b? */
static bool clock_exceeds(const struct vector_clocks *r, uint32_t a, uint32_t b)
{
	const lanes *x = (const lanes *)clock_at(r, a);
	const lanes *y = (const lanes *)clock_at(r, b);
	lanes any = { 0 };
	for (unsigned i = 0; i < r->width / CLOCK_LANES; i++)
		any |= x[i] > y[i];
	int32_t found = 0;
	for (unsigned i = 0; i < CLOCK_LANES; i++) found |= any[i];
	return found;
}

static void clock_raise(const struct vector_clocks *r, uint32_t row,
                        uint32_t by)
{
	lanes *to = (lanes *)clock_at(r, row);
	const lanes *from = (const lanes *)clock_at(r, by);
	for (unsigned i = 0; i < r->width / CLOCK_LANES; i++) {
		lanes more = from[i] > to[i];
		to[i] = (from[i] & more) | (to[i] & ~more);
	}
}

bool clock_is_own(const struct vector_clocks *r, uint32_t row)
{
	return *users(r, row) == 1;
}

/* Most joins add nothing to one of the two; that is then shared. Behind the
 * transactions of a block, few different rows are left. */
uint32_t clock_join(struct vector_clocks *r, uint32_t row, uint32_t other)
{
	assert(row < r->made && other < r->made);
	if (other == CLOCK_ZERO || other == row) return row;
	if (row != CLOCK_ZERO && clock_is_own(r, row)) {
		clock_raise(r, row, other);
		return row;
	}
	if (!clock_exceeds(r, other, row)) return row;
	if (row == CLOCK_ZERO || !clock_exceeds(r, row, other)) {
		clock_drop(r, row);
		return clock_share(r, other);
	}
	uint32_t own = clock_copy(r, row);
	clock_drop(r, row);
	clock_raise(r, own, other);
	return own;
}
