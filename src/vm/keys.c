#include "vm/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "vm/bytecode.h"

struct key {
	uint64_t hash;
	uint32_t global;
	uint32_t count;            /* of index values */
	const struct value *index; /* owned by the program or the region */
	struct value initial;
	const char *name;
};

struct keys {
	const struct program *program;
	struct region region; /* index values and names */
	struct key *items;
	uint32_t count, capacity;
	struct table table;
};

static uint64_t index_hash(uint32_t global, const struct value *index,
                           uint32_t count)
{
	uint64_t hash = global;
	for (uint32_t i = 0; i < count; i++)
		hash = hash_mix(hash, value_hash(index[i]));
	return hash_mix(hash, count);
}

/* Can a string stand for itself, so that no other key of a native program has
 * the same name? */
static bool is_plain(const struct value_object *s)
{
	if (!s->length || (unsigned)s->bytes[0] - '0' < 10 ||
	    strchr("\"-{", s->bytes[0]))
		return false;
	for (uint32_t i = 0; i < s->length; i++)
		if ((unsigned char)s->bytes[i] < ' ' || s->bytes[i] == 127)
			return false;
	return true;
}

/* Keys of native programs: strings without quotes where possible. */
static const char *native_name(struct keys *k, struct value key)
{
	if (key.tag == VALUE_STRING && is_plain(key.o))
		return region_copy_string(&k->region, key.o->bytes,
		                          key.o->length);
	struct text t = { 0 };
	value_print(&t, key);
	const char *name =
		region_copy_string(&k->region, text_get(&t), t.length);
	text_free(&t);
	return name;
}

static const char *make_name(struct keys *k, uint32_t global,
                             const struct value *index, uint32_t count)
{
	if (k->program->native) return native_name(k, index[0]);
	struct text t = { 0 };
	text_string(&t, k->program->globals[global].name);
	for (uint32_t i = 0; i < count; i++) {
		text_string(&t, i ? ", " : "[");
		value_print(&t, index[i]);
	}
	if (count) text_char(&t, ']');
	const char *name =
		region_copy_string(&k->region, text_get(&t), t.length);
	text_free(&t);
	return name;
}

static const struct value *copy_index(struct keys *k, const struct value *index,
                                      uint32_t count)
{
	struct value *copy =
		region_take(&k->region, (count + 1) * sizeof *copy);
	for (uint32_t i = 0; i < count; i++)
		copy[i] = value_copy(&k->region, index[i]);
	return copy;
}

/* `index` must live as long as the table; the probe is for the hash. */
static uint32_t add(struct keys *k, struct table_probe probe, uint64_t hash,
                    uint32_t global, const struct value *index, uint32_t count)
{
	assert(k->count < KEYS_MAX);
	VEC_RESERVE(k->items, k->count, k->capacity);
	k->items[k->count] = (struct key){
		.hash = hash,
		.global = global,
		.count = count,
		.index = index,
		.initial = k->program->globals[global].initial,
		.name = make_name(k, global, index, count),
	};
	table_put(&k->table, probe, k->count);
	return k->count++;
}

static bool is_key(const struct key *key, uint64_t hash, uint32_t global,
                   const struct value *index, uint32_t count)
{
	if (key->hash != hash || key->global != global || key->count != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!value_equal(key->index[i], index[i])) return false;
	return true;
}

uint32_t keys_find(struct keys *k, uint32_t global, const struct value *index,
                   uint32_t count)
{
	assert(global < k->program->globals_count);
	uint64_t hash = index_hash(global, index, count);
	struct table_probe probe = table_probe(hash);
	uint32_t i;
	while ((i = table_next(&k->table, &probe)) != TABLE_NONE)
		if (is_key(k->items + i, hash, global, index, count)) return i;
	if (k->count == KEYS_MAX) return KEY_NONE;
	return add(k, probe, hash, global, copy_index(k, index, count), count);
}

const struct value *keys_index(const struct keys *k, uint32_t key,
                               uint32_t *global, uint32_t *count)
{
	assert(key < k->count);
	*global = k->items[key].global;
	*count = k->items[key].count;
	return k->items[key].index;
}

struct keys *keys_new(const struct program *p)
{
	struct keys *k = mem_take0(1, sizeof *k);
	k->program = p;
	region_init(&k->region);
	table_init(&k->table, 2 * p->keys_count); /* it is asked all the time */
	for (uint32_t i = 0; i < p->keys_count; i++) {
		const struct static_key *s = p->keys + i;
		/* its number is i: the bytecode relies on it */
		uint64_t hash = index_hash(s->global, s->index, s->count);
		struct table_probe probe = table_probe(hash);
		while (table_next(&k->table, &probe) != TABLE_NONE) continue;
		add(k, probe, hash, s->global, s->index, s->count);
		if (s->has_initial) k->items[i].initial = s->initial;
	}
	return k;
}

void keys_free(struct keys *k)
{
	if (!k) return;
	region_free(&k->region);
	free(k->items);
	table_free(&k->table);
	free(k);
}

uint32_t keys_count(const struct keys *k)
{
	return k->count;
}

struct value keys_initial(const struct keys *k, uint32_t key)
{
	assert(key < k->count);
	return k->items[key].initial;
}

const char *keys_name(const struct keys *k, uint32_t key)
{
	assert(key < k->count);
	return k->items[key].name;
}

size_t keys_bytes(const struct keys *k)
{
	return k->region.held + k->capacity * sizeof *k->items +
	       table_bytes(&k->table);
}

uint64_t keys_hash(const struct keys *k, uint32_t key)
{
	assert(key < k->count);
	return k->items[key].hash;
}
