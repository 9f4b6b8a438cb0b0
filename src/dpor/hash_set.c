#include "dpor/hash_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void insert(uint64_t *slots, uint64_t capacity, uint64_t hash)
{
	uint64_t i = hash & (capacity - 1);
	while (slots[i]) i = (i + 1) & (capacity - 1);
	slots[i] = hash;
}

static void enlarge(struct hash_set *s)
{
	uint64_t capacity = s->capacity ? 2 * s->capacity : 1024;
	uint64_t *slots = mem_take0(capacity, sizeof *slots);
	for (uint64_t i = 0; i < s->capacity; i++)
		if (s->slots[i]) insert(slots, capacity, s->slots[i]);
	free(s->slots);
	s->slots = slots;
	s->capacity = capacity;
}

bool hash_set_add(struct hash_set *s, uint64_t hash)
{
	if (!hash) hash = 1;
	if (2 * (s->count + 1) > s->capacity) enlarge(s);
	uint64_t i = hash & (s->capacity - 1);
	for (; s->slots[i]; i = (i + 1) & (s->capacity - 1))
		if (s->slots[i] == hash) return false;
	s->slots[i] = hash;
	s->count++;
	return true;
}

bool hash_set_has(const struct hash_set *s, uint64_t hash)
{
	if (!s->count) return false;
	if (!hash) hash = 1;
	uint64_t i = hash & (s->capacity - 1);
	for (; s->slots[i]; i = (i + 1) & (s->capacity - 1))
		if (s->slots[i] == hash) return true;
	return false;
}
