#include "axioms/key_writers.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

static void free_groups(struct writer_groups *k)
{
	for (uint32_t i = 0; i < k->count; i++) free(k->groups[i].positions);
	free(k->groups);
}

void key_writers_free(struct key_writers *w)
{
	for (uint32_t i = 0; i < w->key_count; i++) free_groups(&w->keys[i]);
	free(w->keys);
	*w = (struct key_writers){ 0 };
}

void key_writers_clear(struct key_writers *w)
{
	for (uint32_t i = 0; i < w->key_count; i++) {
		free_groups(&w->keys[i]);
		w->keys[i] = (struct writer_groups){ 0 };
	}
}

/* The groups are reckoned, not counted. */
size_t key_writers_bytes(const struct key_writers *w)
{
	size_t bytes = w->key_count * sizeof *w->keys;
	for (uint32_t i = 0; i < w->key_count; i++) {
		const struct writer_groups *k = &w->keys[i];
		bytes += k->capacity * sizeof *k->groups;
		for (uint32_t g = 0; g < k->count; g++)
			bytes += k->groups[g].capacity * sizeof(uint32_t);
	}
	return bytes;
}

/* The group of the chain in the key, or where it would be. */
static uint32_t group_at(const struct writer_groups *k, uint32_t chain)
{
	uint32_t low = 0, high = k->count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (k->groups[middle].chain < chain)
			low = middle + 1;
		else
			high = middle;
	}
	assert(low == k->count || k->groups[low].chain >= chain);
	return low;
}

static struct writer_groups *make_key(struct key_writers *w, uint32_t key)
{
	if (key >= w->key_count) {
		uint32_t count = w->key_count ? w->key_count : 16;
		while (count <= key) count += count / 2;
		w->keys = mem_grow0(w->keys, w->key_count, count,
		                    sizeof *w->keys);
		w->key_count = count;
	}
	return &w->keys[key];
}

static struct writer_group *make_group(struct writer_groups *k, uint32_t chain)
{
	uint32_t at = group_at(k, chain);
	if (at < k->count && k->groups[at].chain == chain)
		return &k->groups[at];
	if (k->count == k->capacity) {
		uint32_t more = k->capacity ? 2 * k->capacity : 1;
		k->groups = mem_grow(k->groups, more, sizeof *k->groups);
		k->capacity = more;
	}
	memmove(k->groups + at + 1, k->groups + at,
	        (k->count - at) * sizeof *k->groups);
	k->count++;
	k->groups[at] = (struct writer_group){ .chain = chain };
	return &k->groups[at];
}

void key_writers_add(struct key_writers *w, uint32_t key, uint32_t chain,
                     uint32_t position)
{
	struct writer_group *g = make_group(make_key(w, key), chain);
	if (g->count == g->capacity) {
		uint32_t more = g->capacity + g->capacity / 2 + 2;
		g->positions =
			mem_grow(g->positions, more, sizeof *g->positions);
		g->capacity = more;
	}
	assert(!g->count || g->positions[g->count - 1] < position);
	g->positions[g->count++] = position;
}

void key_writers_take_back(struct key_writers *w, uint32_t key, uint32_t chain,
                           uint32_t position)
{
	assert(key < w->key_count);
	struct writer_groups *k = &w->keys[key];
	struct writer_group *g = &k->groups[group_at(k, chain)];
	assert(g->count && g->positions[g->count - 1] == position);
	(void)position;
	g->count--;
}

bool key_writers_has(const struct key_writers *w, uint32_t key, uint32_t chain,
                     uint32_t position)
{
	const struct writer_groups *k = key_writers_of(w, key);
	uint32_t at = group_at(k, chain);
	if (at == k->count || k->groups[at].chain != chain) return false;
	const struct writer_group *g = &k->groups[at];
	uint32_t count = writer_group_up_to(g, position);
	return count && g->positions[count - 1] == position;
}
