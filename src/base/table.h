/* A hash table of things that the caller holds in an array: it finds the
 * numbers of those whose hash agrees in 32 bits, and the caller compares. Open
 * addressing, 8 bytes a slot, at most two of three slots used.
 *
 *     struct table_probe p = table_probe(hash);
 *     while ((i = table_next(t, &p)) != TABLE_NONE)
 *             if (the i-th is the one looked for) return i;
 *     table_put(t, p, number of the new one);
 *
 * Nothing is taken out but all at once.
 */
#ifndef ISO_BASE_TABLE_H
#define ISO_BASE_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TABLE_NONE UINT32_MAX

struct table_slot {
	uint32_t tag;
	uint32_t item; /* number + 1; 0: empty */
};

struct table {
	struct table_slot *slots;
	uint32_t mask; /* slots - 1, a power of two less one */
	uint32_t count;
};

/* Where a search stands: it goes from slot to slot, beginning with that of the
 * tag, up to an empty one. */
struct table_probe {
	uint32_t tag;
	uint32_t at; /* the slot to look at next, if masked */
};

/* Room for `expected` things before it has to grow. */
static inline void table_init(struct table *t, uint32_t expected)
{
	uint64_t size = 16;
	while (size * 2 < (uint64_t)expected * 3 && size < (uint64_t)1 << 32)
		size *= 2;
	t->slots = mem_take0((size_t)size, sizeof *t->slots);
	t->mask = (uint32_t)(size - 1);
	assert((t->mask & (t->mask + 1)) == 0);
	t->count = 0;
}

/* Also of one that was zeroed and never made. */
static inline void table_free(struct table *t)
{
	free(t->slots);
	*t = (struct table){ 0 };
}

static inline void table_clear(struct table *t)
{
	assert(t->slots && t->count <= t->mask);
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
	t->count = 0;
}

/* What it holds, besides the struct. */
static inline size_t table_bytes(const struct table *t)
{
	return t->slots ? ((size_t)t->mask + 1) * sizeof *t->slots : 0;
}

static inline struct table_probe table_probe(uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);
	return (struct table_probe){ tag, tag };
}

/* The next number with this tag, or TABLE_NONE: then the probe is at the slot
 * that a new one would get. */
static inline uint32_t table_next(const struct table *t, struct table_probe *p)
{
	for (;; ++p->at) {
		struct table_slot s = t->slots[p->at & t->mask];
		if (!s.item) return TABLE_NONE;
		if (s.tag != p->tag) continue;
		++p->at;
		return s.item - 1;
	}
}

/* Puts another number, with the same hash, in the place of the one that
 * table_next() returned last. */
static inline void table_replace(struct table *t, struct table_probe p,
                                 uint32_t number)
{
	struct table_slot *s = &t->slots[(p.at - 1) & t->mask];
	assert(s->item && s->tag == p.tag && number < TABLE_NONE);
	s->item = number + 1;
}

static inline void table_grow(struct table *t)
{
	struct table old = *t;
	assert(t->count <= t->mask);
	assert(old.mask < UINT32_MAX);
	uint64_t size = 2 * ((uint64_t)old.mask + 1);
	t->slots = mem_take0((size_t)size, sizeof *t->slots);
	t->mask = (uint32_t)(size - 1);
	for (uint64_t i = 0; i <= old.mask; i++) {
		struct table_slot s = old.slots[i];
		uint32_t at = s.tag;
		if (!s.item) continue;
		while (t->slots[at & t->mask].item) at++;
		t->slots[at & t->mask] = s;
	}
	free(old.slots);
}

/* Will it grow when one more is put in? */
static inline bool table_is_full(const struct table *t)
{
	return ((uint64_t)t->count + 1) * 3 > ((uint64_t)t->mask + 1) * 2;
}

/* The probe is at an empty slot, and the table as it was then. */
static inline void table_put(struct table *t, struct table_probe p,
                             uint32_t number)
{
	assert(!t->slots[p.at & t->mask].item && number < TABLE_NONE);
	bool full = table_is_full(t);
	t->slots[p.at & t->mask] = (struct table_slot){ p.tag, number + 1 };
	t->count++;
	if (full) table_grow(t);
}

#endif
