/* A hash index of things that the caller holds in an array: it finds the
 * numbers of those whose hash agrees in 32 bits, and the caller compares. Open
 * addressing, 8 bytes a slot, at most two of three slots used.
 *
 *     uint32_t tag = index_tag(hash), at = tag, i;
 *     while ((i = index_next(x, tag, &at)) != INDEX_NONE)
 *             if (the i-th is the one looked for) return i;
 *     index_put(x, tag, at, number of the new one);
 */
#ifndef ISO_HISTORY_TRACE_INDEX_H
#define ISO_HISTORY_TRACE_INDEX_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t tag;
	uint32_t item; /* number + 1; 0: empty */
};

struct trace_index {
	struct index_slot *slots;
	uint32_t mask; /* slots - 1, a power of two less one */
	uint32_t count;
};

/* Room for `expected` things before it has to grow. */
static inline void index_init(struct trace_index *x, uint32_t expected)
{
	uint64_t size = 16;
	while (size * 2 < (uint64_t)expected * 3 && size < (uint64_t)1 << 32)
		size *= 2;
	x->slots = mem_take0((size_t)size, sizeof *x->slots);
	x->mask = (uint32_t)(size - 1);
	x->count = 0;
}

static inline void index_free(struct trace_index *x)
{
	free(x->slots);
	x->slots = NULL;
}

static inline uint32_t index_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* The next number with this tag, or INDEX_NONE; then *at is a free place. */
static inline uint32_t index_next(const struct trace_index *x, uint32_t tag,
                                  uint32_t *at)
{
	for (;; ++*at) {
		struct index_slot s = x->slots[*at & x->mask];
		if (!s.item) return INDEX_NONE;
		if (s.tag != tag) continue;
		++*at;
		return s.item - 1;
	}
}

/* The slot of the number that index_next returned last. */
static inline struct index_slot *index_last(const struct trace_index *x,
                                            uint32_t at)
{
	return &x->slots[(at - 1) & x->mask];
}

static inline void index_grow(struct trace_index *x)
{
	struct trace_index old = *x;
	assert(old.mask < UINT32_MAX);
	uint64_t size = 2 * ((uint64_t)old.mask + 1);
	x->slots = mem_take0((size_t)size, sizeof *x->slots);
	x->mask = (uint32_t)(size - 1);
	for (uint64_t i = 0; i <= old.mask; i++) {
		struct index_slot s = old.slots[i];
		uint32_t at = s.tag;
		if (!s.item) continue;
		while (x->slots[at & x->mask].item) at++;
		x->slots[at & x->mask] = s;
	}
	free(old.slots);
}

static inline void index_put(struct trace_index *x, uint32_t tag, uint32_t at,
                             uint32_t number)
{
	assert(!x->slots[at & x->mask].item);
	x->slots[at & x->mask] = (struct index_slot){ tag, number + 1 };
	if ((uint64_t)++x->count * 3 > ((uint64_t)x->mask + 1) * 2)
		index_grow(x);
}

#endif
