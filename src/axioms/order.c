#include "axioms/order.h"

#include <stdlib.h>

#include "axioms/points.h"
#include "base/memory.h"

struct level_scratch *level_scratch_new(void)
{
	return mem_take0(1, sizeof(struct level_scratch));
}

void level_scratch_stop_when(struct level_scratch *s, bool (*stop)(void *data),
                             void *data)
{
	s->stop = stop;
	s->stop_data = data;
}

void level_scratch_free(struct level_scratch *s)
{
	if (!s) return;
	free(s->memory);
	free(s->changes);
	free(s->frames);
	points_free(s->points);
	free(s);
}

size_t level_scratch_bytes(const struct level_scratch *s)
{
	return (s->points ? points_bytes(s->points) : 0) + s->capacity +
	       s->change_capacity * sizeof *s->changes +
	       s->frame_capacity * sizeof *s->frames;
}

/* Sizes of the arrays in bytes, in the order of struct level_scratch. */
struct layout {
	size_t closure, row, spare, set, longs, ints;
};

static struct layout layout_of(const struct relation *r, unsigned points)
{
	size_t n = (size_t)64 * r->words; /* at least r->n */
	size_t width = (size_t)points * r->words * sizeof(word);
	return (struct layout){ .closure = n * points * width,
		                .row = n * r->words * sizeof(word),
		                .spare = 4 * width,
		                .set = r->words * sizeof(word),
		                .longs = n * sizeof(uint64_t),
		                .ints = n * sizeof(uint32_t) };
}

static void *carve(char **next, size_t size)
{
	void *at = *next;
	*next += size;
	return at;
}

static void lay_out(struct level_scratch *s, const struct layout *l)
{
	char *next = s->memory;
	s->closure = carve(&next, 2 * l->closure);
	s->after = s->closure;
	s->before = s->closure + l->closure / sizeof(word);
	s->placed = carve(&next, l->row);
	s->rivals = carve(&next, l->row);
	s->visible = carve(&next, l->row);
	s->spare = carve(&next, l->spare);
	s->prefix = carve(&next, l->set);
	s->serial = carve(&next, l->set);
	s->exclusives = carve(&next, l->set);
	s->lockers = carve(&next, l->set);
	s->keys = carve(&next, l->longs);
	s->tried = carve(&next, l->ints);
	s->rank = carve(&next, l->ints);
	s->bound = carve(&next, l->ints);
	assert(next <= s->memory + s->capacity);
}

void scratch_grow(struct level_scratch *s, const struct relation *r,
                  unsigned points)
{
	assert(r->words >= BITS_WORDS(r->n) && r->order_count <= r->n);
	assert(points == 1 || points == 2);
	struct layout l = layout_of(r, points);
	size_t need = 2 * l.closure + 3 * l.row + l.spare + 4 * l.set +
	              l.longs + 3 * l.ints;
	if (need > s->capacity) {
		free(s->memory);
		s->memory = mem_take(need);
		s->capacity = need;
	}
	lay_out(s, &l);
	s->change_count = s->frame_count = 0;
	s->logging = false;
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
