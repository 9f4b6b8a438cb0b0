/* What was asked already. An answer depends on the transactions, on the levels
 * that they have, and on which of the keys that they read nobody writes. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/region.h"
#include "base/table.h"
#include "prove/search.h"

struct answered {
	uint32_t *key, length;
	struct answer answer;
};

struct answers {
	struct region region; /* keys */
	struct table table;
	struct answered *items;
	uint32_t count, capacity;
	uint32_t *key; /* of the one that is looked for */
	uint32_t key_length, key_capacity;
};

struct answers *answers_new(void)
{
	struct answers *a = mem_take0(1, sizeof *a);
	region_init(&a->region);
	table_init(&a->table, 0);
	return a;
}

void answers_free(struct answers *a)
{
	if (!a) return;
	region_free(&a->region);
	table_free(&a->table);
	free(a->items);
	free(a->key);
	free(a);
}

static void add_word(struct answers *a, uint32_t word)
{
	VEC_RESERVE(a->key, a->key_length, a->key_capacity);
	a->key[a->key_length++] = word;
}

static void make_key(struct answers *a, const struct application *app,
                     const uint32_t *which, uint32_t length, bool ssi)
{
	a->key_length = 0;
	add_word(a, ssi);
	for (uint32_t i = 0; i < length; i++) {
		const struct summary *s = &app->summaries[which[i]];
		add_word(a, which[i]);
		add_word(a, s->own);
		for (uint32_t k = 0; k < s->access_count; k++) {
			uint32_t family = s->accesses[k].family;
			if (!app->families[family].written) add_word(a, family);
		}
		add_word(a, UINT32_MAX);
	}
}

struct answer *answers_get(struct answers *a, const struct application *app,
                           const uint32_t *which, uint32_t length, bool ssi)
{
	uint64_t hash = 0;
	uint32_t i;
	make_key(a, app, which, length, ssi);
	for (i = 0; i < a->key_length; i++) hash = hash_mix(hash, a->key[i]);
	struct table_probe p = table_probe(hash);
	while ((i = table_next(&a->table, &p)) != TABLE_NONE)
		if (a->items[i].length == a->key_length &&
		    !memcmp(a->items[i].key, a->key,
		            a->key_length * sizeof *a->key))
			return &a->items[i].answer;
	size_t size = a->key_length * sizeof *a->key;
	VEC_RESERVE(a->items, a->count, a->capacity);
	struct answered *item = &a->items[a->count];
	*item = (struct answered){ region_take(&a->region, size),
		                   a->key_length,
		                   { .asked = false } };
	memcpy(item->key, a->key, size);
	table_put(&a->table, p, a->count++);
	return &item->answer;
}
