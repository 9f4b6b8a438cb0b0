#include "serve/row_locks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct lock {
	uint32_t owner, tag;
	enum strength strength;
	bool changes;
};

struct key_locks {
	struct lock *items;
	uint32_t count, capacity;
};

struct owned_lock {
	uint32_t key, tag;
};

struct owned_locks {
	struct owned_lock *items;
	uint32_t count, capacity;
};

struct row_locks {
	struct key_locks *keys;
	struct owned_locks *owners;
	uint32_t key_count, owner_count;
};

struct row_locks *row_locks_new(void)
{
	return mem_take0(1, sizeof(struct row_locks));
}

void row_locks_free(struct row_locks *l)
{
	if (!l) return;
	for (uint32_t i = 0; i < l->key_count; i++) free(l->keys[i].items);
	for (uint32_t i = 0; i < l->owner_count; i++) free(l->owners[i].items);
	free(l->keys);
	free(l->owners);
	free(l);
}

static void widen(struct row_locks *l, uint32_t owner, uint32_t key)
{
	if (key >= l->key_count) {
		uint32_t n = 2 * key + 64;
		l->keys = mem_grow0(l->keys, l->key_count, n, sizeof *l->keys);
		l->key_count = n;
	}
	if (owner >= l->owner_count) {
		uint32_t n = 2 * owner + 8;
		l->owners = mem_grow0(l->owners, l->owner_count, n,
		                      sizeof *l->owners);
		l->owner_count = n;
	}
}

/* A check is of one moment, or nobody may come between it and the commit. */
enum strength row_locks_asked(enum level l, enum strength read)
{
	bool moments =
		level_has_statements(l) ||
		(level_sight(l) == SIGHT_PREFIX && level_excludes_rivals(l));
	if (read != STRENGTH_CHECK) return read;
	return moments ? read : STRENGTH_SHARE;
}

bool row_locks_take(struct row_locks *l, uint32_t owner, uint32_t key,
                    enum strength strength, bool changes, uint32_t *tag)
{
	assert(strength != STRENGTH_PLAIN);
	widen(l, owner, key);
	struct key_locks *k = &l->keys[key];
	struct owned_locks *o = &l->owners[owner];
	for (uint32_t i = 0; i < k->count; i++) {
		const struct lock *other = &k->items[i];
		if (other->owner == owner ||
		    !strengths_exclude(other->strength, strength))
			continue;
		*tag = other->tag;
		return false;
	}
	VEC_RESERVE(k->items, k->count, k->capacity);
	k->items[k->count++] = (struct lock){ owner, *tag, strength, changes };
	VEC_RESERVE(o->items, o->count, o->capacity);
	o->items[o->count++] = (struct owned_lock){ key, *tag };
	return true;
}

bool row_locks_changed(const struct row_locks *l, uint32_t owner, uint32_t key)
{
	if (key >= l->key_count) return false;
	const struct key_locks *k = &l->keys[key];
	for (uint32_t i = 0; i < k->count; i++)
		if (k->items[i].owner != owner && k->items[i].changes &&
		    k->items[i].strength > STRENGTH_SHARE)
			return true;
	return false;
}

/* The newest such. */
static void drop_lock(struct row_locks *l, uint32_t owner, struct owned_lock x)
{
	struct key_locks *k = &l->keys[x.key];
	uint32_t i = k->count - 1;
	while (k->items[i].owner != owner || k->items[i].tag != x.tag) i--;
	k->count--;
	memmove(k->items + i, k->items + i + 1,
	        (k->count - i) * sizeof *k->items);
}

void row_locks_give_up_one(struct row_locks *l, uint32_t owner, uint32_t tag,
                           uint32_t key)
{
	if (owner >= l->owner_count) return;
	struct owned_locks *o = &l->owners[owner];
	uint32_t i = o->count;
	while (i && (o->items[i - 1].key != key || o->items[i - 1].tag != tag))
		i--;
	if (!i) return;
	drop_lock(l, owner, o->items[i - 1]);
	o->count--;
	memmove(o->items + i - 1, o->items + i,
	        (o->count - (i - 1)) * sizeof *o->items);
}

void row_locks_give_up(struct row_locks *l, uint32_t owner, uint32_t tag)
{
	uint32_t kept = 0;
	if (owner >= l->owner_count) return;
	struct owned_locks *o = &l->owners[owner];
	for (uint32_t i = 0; i < o->count; i++)
		if (o->items[i].tag == tag)
			drop_lock(l, owner, o->items[i]);
		else
			o->items[kept++] = o->items[i];
	o->count = kept;
}

void row_locks_release(struct row_locks *l, uint32_t owner)
{
	if (owner >= l->owner_count) return;
	struct owned_locks *o = &l->owners[owner];
	while (o->count) drop_lock(l, owner, o->items[--o->count]);
}
