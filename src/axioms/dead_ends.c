#include "axioms/dead_ends.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
	FEW = 64,            /* that a search finds room for */
	BYTES_MAX = 64 << 20 /* then all are forgotten */
};

void dead_ends_free(struct dead_ends *f)
{
	table_free(&f->table);
	free(f->items);
}

size_t dead_ends_bytes(const struct dead_ends *f)
{
	return table_bytes(&f->table) +
	       (size_t)f->capacity * f->stride * sizeof *f->items;
}

/* In time that does not grow with what an earlier search learnt. */
static void forget(struct dead_ends *f)
{
	f->count = 0;
	if (f->table.slots && f->table.mask <= 2 * FEW) {
		table_clear(&f->table);
		return;
	}
	table_free(&f->table);
	table_init(&f->table, FEW);
}

void dead_ends_begin(struct dead_ends *f, unsigned words)
{
	assert(words);
	forget(f);
	if (f->stride > words) return;
	free(f->items);
	f->items = NULL;
	f->capacity = 0;
	f->stride = 1 + words;
}

/* The budget of the i-th, and behind it the place. */
static word *item(const struct dead_ends *f, uint32_t i)
{
	assert(i < f->count);
	return f->items + (size_t)i * f->stride;
}

static uint32_t find(const struct dead_ends *f, const word *place,
                     unsigned words, struct table_probe *probe)
{
	uint64_t hash = 0;
	uint32_t i;
	assert(words < f->stride);
	for (unsigned w = 0; w < words; w++) hash = hash_mix(hash, place[w]);
	*probe = table_probe(hash);
	while ((i = table_next(&f->table, probe)) != TABLE_NONE)
		if (!memcmp(item(f, i) + 1, place, words * sizeof *place))
			break;
	return i;
}

bool dead_ends_has(const struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget)
{
	struct table_probe probe;
	uint32_t i = find(f, place, words, &probe);
	return i != TABLE_NONE && *item(f, i) >= budget;
}

void dead_ends_add(struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget)
{
	struct table_probe probe;
	bool full = f->count == f->capacity;
	if (full && 2 * dead_ends_bytes(f) > BYTES_MAX) forget(f);
	uint32_t i = find(f, place, words, &probe);
	if (i == TABLE_NONE) {
		if (f->count == f->capacity) {
			f->capacity = f->capacity ? 2 * f->capacity : FEW;
			f->items = mem_grow(f->items, f->capacity,
			                    f->stride * sizeof *f->items);
		}
		i = f->count++;
		table_put(&f->table, probe, i);
		bits_copy(item(f, i) + 1, place, words);
	} else if (*item(f, i) >= budget) {
		return;
	}
	*item(f, i) = budget;
}
