#include "vm/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
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
	uint32_t *slots;     /* number of a key + 1, or 0; open addressing */
	uint32_t slot_count; /* a power of two, at least twice the keys */
};

static uint64_t index_hash(uint32_t global, const struct value *index,
                           uint32_t count)
{
	uint64_t hash = global;
	for (uint32_t i = 0; i < count; i++)
		hash = hash_mix(hash, value_hash(index[i]));
	return hash_mix(hash, count);
}

static void grow_slots(struct keys *k)
{
	k->slot_count *= 2;
	free(k->slots);
	k->slots = mem_take0(k->slot_count, sizeof *k->slots);
	for (uint32_t i = 0; i < k->count; i++) {
		uint64_t at = k->items[i].hash;
		while (k->slots[at & (k->slot_count - 1)]) at++;
		k->slots[at & (k->slot_count - 1)] = i + 1;
	}
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

/* `index` must live as long as the table. */
static uint32_t add(struct keys *k, uint64_t hash, uint32_t global,
                    const struct value *index, uint32_t count)
{
	assert(k->count < KEYS_MAX);
	if (2 * (k->count + 1) > k->slot_count) grow_slots(k);
	VEC_RESERVE(k->items, k->count, k->capacity);
	k->items[k->count] = (struct key){
		.hash = hash,
		.global = global,
		.count = count,
		.index = index,
		.initial = k->program->globals[global].initial,
		.name = make_name(k, global, index, count),
	};
	uint64_t at = hash;
	while (k->slots[at & (k->slot_count - 1)]) at++;
	k->slots[at & (k->slot_count - 1)] = k->count + 1;
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
	uint32_t mask = k->slot_count - 1;
	for (uint64_t at = hash; k->slots[at & mask]; at++) {
		uint32_t found = k->slots[at & mask] - 1;
		if (is_key(k->items + found, hash, global, index, count))
			return found;
	}
	if (k->count == KEYS_MAX) return KEY_NONE;
	return add(k, hash, global, copy_index(k, index, count), count);
}

bool keys_match(const struct keys *k, uint32_t key, uint32_t global,
                const struct value *index, uint32_t count)
{
	const struct key *item = &k->items[key];
	assert(key < k->count);
	if (!index) return item->global == global;
	return is_key(item, index_hash(global, index, count), global, index,
	              count);
}

struct keys *keys_new(const struct program *p)
{
	struct keys *k = mem_take0(1, sizeof *k);
	k->program = p;
	region_init(&k->region);
	k->slot_count = 64;
	k->slots = mem_take0(k->slot_count, sizeof *k->slots);
	for (uint32_t i = 0; i < p->keys_count; i++) {
		const struct static_key *s = p->keys + i;
		/* its number is i: the bytecode relies on it */
		add(k, index_hash(s->global, s->index, s->count), s->global,
		    s->index, s->count);
		if (s->has_initial) k->items[i].initial = s->initial;
	}
	return k;
}

void keys_free(struct keys *k)
{
	if (!k) return;
	region_free(&k->region);
	free(k->items);
	free(k->slots);
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
	       k->slot_count * sizeof *k->slots;
}

uint64_t keys_hash(const struct keys *k, uint32_t key)
{
	assert(key < k->count);
	return k->items[key].hash;
}
