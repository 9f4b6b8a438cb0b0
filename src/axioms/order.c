#include "axioms/order.h"

#include <stdlib.h>

#include "base/memory.h"

void order_log(struct level_scratch *s, const word *at)
{
	VEC_RESERVE(s->changes, s->change_count, s->change_capacity);
	s->changes[s->change_count++] =
		(struct order_change){ .place = (size_t)(at - s->closure),
		                       .old = *at };
}

void order_undo(struct level_scratch *s, size_t count)
{
	assert(count <= s->change_count);
	while (s->change_count > count) {
		struct order_change c = s->changes[--s->change_count];
		s->closure[c.place] = c.old;
	}
}

void order_push(struct level_scratch *s, struct order_edge second)
{
	VEC_RESERVE(s->frames, s->frame_count, s->frame_capacity);
	s->frames[s->frame_count++] =
		(struct order_frame){ .changes = s->change_count,
		                      .second = second };
	s->logging = true;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

void order_sort(struct level_scratch *s, uint32_t *items, uint32_t count,
                const word *rows, size_t stride, unsigned words)
{
	uint64_t *keys = s->keys;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t size = bits_count(rows + stride * items[i], words);
		keys[i] = size << 32 | items[i];
	}
	if (count > 16) {
		qsort(keys, count, sizeof *keys, by_size);
	} else {
		for (uint32_t i = 1; i < count; i++) {
			uint64_t key = keys[i];
			uint32_t j = i;
			for (; j && keys[j - 1] > key; j--)
				keys[j] = keys[j - 1];
			keys[j] = key;
		}
	}
	for (uint32_t i = 0; i < count; i++) items[i] = (uint32_t)keys[i];
}
