#include "axioms/dead_ends.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
	TIME,
	BUDGET,
	PLACE, /* words of a slot */
	FIRST_SLOTS = 64,
	BYTES_MAX = 64 << 20 /* then new failures replace old ones */
};

void dead_ends_free(struct dead_ends *f)
{
	free(f->slots);
}

size_t dead_ends_bytes(const struct dead_ends *f)
{
	return f->slot_count * f->stride * sizeof *f->slots;
}

static void take_slots(struct dead_ends *f, size_t count)
{
	f->slots = mem_take0(count * f->stride, sizeof *f->slots);
	f->slot_count = count;
	f->used = 0;
}

void dead_ends_begin(struct dead_ends *f, unsigned words)
{
	f->time++;
	f->used = 0;
	assert(words);
	if (f->stride >= PLACE + words) return;
	dead_ends_free(f);
	f->stride = PLACE + words;
	take_slots(f, FIRST_SLOTS);
}

/* The slot of the place, or the empty one where it belongs. */
static word *slot_of(const struct dead_ends *f, const word *place,
                     unsigned words)
{
	assert(PLACE + words <= f->stride && f->used < f->slot_count);
	uint64_t hash = 0;
	for (unsigned w = 0; w < words; w++) hash = hash_mix(hash, place[w]);
	for (size_t i = hash;; i++) {
		word *slot = f->slots + (i & (f->slot_count - 1)) * f->stride;
		if (slot[TIME] != f->time) return slot;
		if (!memcmp(slot + PLACE, place, words * sizeof *place))
			return slot;
	}
}

bool dead_ends_has(const struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget)
{
	const word *slot = slot_of(f, place, words);
	return slot[TIME] == f->time && slot[BUDGET] >= budget;
}

static void grow(struct dead_ends *f, unsigned words)
{
	struct dead_ends old = *f;
	take_slots(f, 2 * old.slot_count);
	for (size_t i = 0; i < old.slot_count; i++) {
		const word *slot = old.slots + i * old.stride;
		if (slot[TIME] == f->time)
			dead_ends_add(f, slot + PLACE, words, slot[BUDGET]);
	}
	dead_ends_free(&old);
}

void dead_ends_add(struct dead_ends *f, const word *place, unsigned words,
                   uint64_t budget)
{
	if (2 * f->used >= f->slot_count) {
		if (2 * dead_ends_bytes(f) <= BYTES_MAX) {
			grow(f, words);
		} else {
			f->time++;
			f->used = 0;
		}
	}
	word *slot = slot_of(f, place, words);
	if (slot[TIME] != f->time) {
		f->used++;
		assert(f->used < f->slot_count);
		slot[TIME] = f->time;
		bits_copy(slot + PLACE, place, words);
	} else if (slot[BUDGET] >= budget) {
		return;
	}
	slot[BUDGET] = budget;
}
