#include "axioms/failures.h"

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

void failures_free(struct failures *f)
{
	free(f->slots);
}

size_t failures_bytes(const struct failures *f)
{
	return f->slot_count * f->stride * sizeof *f->slots;
}

static void take_slots(struct failures *f, size_t count)
{
	f->slots = mem_take0(count * f->stride, sizeof *f->slots);
	f->slot_count = count;
	f->used = 0;
}

void failures_begin(struct failures *f, unsigned words)
{
	f->time++;
	f->used = 0;
	if (f->stride >= PLACE + words) return;
	failures_free(f);
	f->stride = PLACE + words;
	take_slots(f, FIRST_SLOTS);
}

/* The slot of the place, or the empty one where it belongs. */
static word *slot_of(const struct failures *f, const word *place,
                     unsigned words)
{
	uint64_t hash = 0;
	for (unsigned w = 0; w < words; w++) hash = hash_mix(hash, place[w]);
	for (size_t i = hash;; i++) {
		word *slot = f->slots + (i & (f->slot_count - 1)) * f->stride;
		if (slot[TIME] != f->time) return slot;
		if (!memcmp(slot + PLACE, place, words * sizeof *place))
			return slot;
	}
}

bool failures_has(const struct failures *f, const word *place, unsigned words,
                  uint64_t budget)
{
	const word *slot = slot_of(f, place, words);
	return slot[TIME] == f->time && slot[BUDGET] >= budget;
}

static void grow(struct failures *f, unsigned words)
{
	struct failures old = *f;
	take_slots(f, 2 * old.slot_count);
	for (size_t i = 0; i < old.slot_count; i++) {
		const word *slot = old.slots + i * old.stride;
		if (slot[TIME] == f->time)
			failures_add(f, slot + PLACE, words, slot[BUDGET]);
	}
	failures_free(&old);
}

void failures_add(struct failures *f, const word *place, unsigned words,
                  uint64_t budget)
{
	if (2 * f->used >= f->slot_count) {
		if (2 * failures_bytes(f) <= BYTES_MAX) {
			grow(f, words);
		} else {
			f->time++;
			f->used = 0;
		}
	}
	word *slot = slot_of(f, place, words);
	if (slot[TIME] != f->time) {
		f->used++;
		slot[TIME] = f->time;
		bits_copy(slot + PLACE, place, words);
	} else if (slot[BUDGET] >= budget) {
		return;
	}
	slot[BUDGET] = budget;
}
