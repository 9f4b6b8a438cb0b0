/* Who writes which key, where transactions are known by their chain and their
 * position there, from 1: of each key the positions, chain by chain. */
#ifndef ISO_AXIOMS_KEY_WRITERS_H
#define ISO_AXIOMS_KEY_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The writers of a key in a chain: positions, ascending. */
struct writer_group {
	uint32_t chain, count, capacity;
	uint32_t *positions;
};

struct writer_groups {
	struct writer_group *groups; /* by chain, ascending */
	uint32_t count, capacity;
};

struct key_writers {
	struct writer_groups *keys;
	uint32_t key_count;
};

/* Of all keys; and so that none has a writer. */
void key_writers_free(struct key_writers *w);
void key_writers_clear(struct key_writers *w);
size_t key_writers_bytes(const struct key_writers *w);
/* It is the last one of its chain that writes the key. */
void key_writers_add(struct key_writers *w, uint32_t key, uint32_t chain,
                     uint32_t position);
/* The last one that was added of this chain. */
void key_writers_take_back(struct key_writers *w, uint32_t key, uint32_t chain,
                           uint32_t position);
bool key_writers_has(const struct key_writers *w, uint32_t key, uint32_t chain,
                     uint32_t position);

/* Of one key. */
static inline const struct writer_groups *
key_writers_of(const struct key_writers *w, uint32_t key)
{
	static const struct writer_groups none;
	return key < w->key_count ? &w->keys[key] : &none;
}

/* How many of the group have positions up to this one. Those asked for are
 * mostly the last. */
static inline uint32_t writer_group_up_to(const struct writer_group *g,
                                          uint32_t position)
{
	uint32_t low = 0, high = g->count, step = 1;
	while (step < high && g->positions[high - step] > position) step *= 2;
	if (step < high) low = high - step;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (g->positions[middle] <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
