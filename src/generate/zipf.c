#include "generate/zipf.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct zipf {
	uint32_t count;
	uint64_t *sums; /* sums[i]: of the weights of items 0 to i */
};

/* Binary places of logarithms, of theta, and of a weight of 1. The sum of 10^8
 * weights fits 64 bits. */
enum { LOG_PLACES = 28, THETA_PLACES = 24, WEIGHT_PLACES = 36 };
#define ONE (UINT64_C(1) << 31) /* of mantissas and roots */

/* The logarithm to the base 2 of x > 0: the integral part is the place of the
 * highest bit, and each squaring of the mantissa gives one place more. */
static uint64_t logarithm(uint32_t x)
{
	unsigned whole = 31u - (unsigned)__builtin_clz(x);
	uint64_t mantissa = (uint64_t)x << (31u - whole), places = 0;
	for (int i = 0; i < LOG_PLACES; i++) {
		mantissa = (mantissa * mantissa) >> 31;
		places <<= 1;
		if (mantissa < 2 * ONE) continue;
		mantissa >>= 1;
		places |= 1;
	}
	return (uint64_t)whole << LOG_PLACES | places;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;
	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x) root |= bit;
	return root;
}

/* roots[i]: 2 to the power of -1 / 2^(i + 1). */
static void find_roots(uint64_t roots[LOG_PLACES])
{
	uint64_t x = ONE / 2;
	for (int i = 0; i < LOG_PLACES; i++) {
		x = square_root(x << 31);
		roots[i] = x;
	}
}

/* 2 to the power of -exponent, with WEIGHT_PLACES places. */
static uint64_t power(uint64_t exponent, const uint64_t roots[LOG_PLACES])
{
	uint64_t whole = exponent >> LOG_PLACES, x = ONE;
	for (int i = 0; i < LOG_PLACES; i++)
		if (exponent >> (LOG_PLACES - 1 - i) & 1)
			x = (x * roots[i]) >> 31;
	return whole < 64 ? x << (WEIGHT_PLACES - 31) >> whole : 0;
}

struct zipf *zipf_new(uint32_t count, double theta)
{
	assert(count > 0 && theta >= 0 && theta <= ZIPF_THETA_MOST);
	struct zipf *z = mem_take(sizeof *z);
	uint64_t roots[LOG_PLACES], sum = 0;
	uint64_t scale = (uint64_t)(theta * (1 << THETA_PLACES) + 0.5);
	find_roots(roots);
	z->count = count;
	z->sums = mem_take0(count, sizeof *z->sums);
	for (uint32_t i = 0; i < count; i++) {
		sum += power((logarithm(i + 1) * scale) >> THETA_PLACES, roots);
		z->sums[i] = sum;
	}
	return z;
}

void zipf_free(struct zipf *z)
{
	if (z) free(z->sums);
	free(z);
}

uint32_t zipf_pick(const struct zipf *z, struct rng *r)
{
	uint64_t at = rng_next(r) % z->sums[z->count - 1];
	uint32_t low = 0, high = z->count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (z->sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
