/* splitmix64: a small generator whose every state is a valid seed, so that a
 * single number reproduces a run. */
#ifndef ISO_BASE_RNG_H
#define ISO_BASE_RNG_H

#include <assert.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}
/* A number from 0 to n - 1; n > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	assert(n > 0);
	return (uint32_t)(rng_next(r) % n);
}

#endif
