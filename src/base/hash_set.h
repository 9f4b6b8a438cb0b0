/* A set of 64-bit hashes. */
#ifndef ISO_BASE_HASH_SET_H
#define ISO_BASE_HASH_SET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* Begins zeroed. */
struct hash_set {
	struct table table;
	uint64_t *hashes;
	uint32_t count, capacity;
};

static inline void hash_set_free(struct hash_set *s)
{
	table_free(&s->table);
	free(s->hashes);
}

static inline bool hash_set_find(const struct hash_set *s, uint64_t hash,
                                 struct table_probe *at)
{
	uint32_t i;
	*at = table_probe(hash);
	while ((i = table_next(&s->table, at)) != TABLE_NONE)
		if (s->hashes[i] == hash) return true;
	return false;
}

/* What it holds, and what it takes for a moment to add one more. */
static inline uint64_t hash_set_bytes(const struct hash_set *s)
{
	return table_bytes(&s->table) + s->capacity * sizeof *s->hashes;
}
static inline uint64_t hash_set_bytes_to_add(const struct hash_set *s)
{
	return s->count == s->capacity || table_is_full(&s->table)
	               ? 2 * hash_set_bytes(s)
	               : 0;
}

static inline bool hash_set_has(const struct hash_set *s, uint64_t hash)
{
	struct table_probe at;
	assert(s->count == s->table.count);
	return s->count && hash_set_find(s, hash, &at);
}

/* True when the hash is new. */
static inline bool hash_set_add(struct hash_set *s, uint64_t hash)
{
	struct table_probe at;
	if (!s->capacity) table_init(&s->table, 0);
	if (hash_set_find(s, hash, &at)) return false;
	VEC_RESERVE(s->hashes, s->count, s->capacity);
	table_put(&s->table, at, s->count);
	s->hashes[s->count++] = hash;
	assert(s->count == s->table.count);
	return true;
}

#endif
