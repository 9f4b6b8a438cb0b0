#include "analyse/sorts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The label of the items of collections; of the places of tuples it is their
 * number, which no symbol's address is. */
static const char item_label;

static const void *place_label(uint32_t place)
{
	assert(place < UINT32_MAX);
	return (const void *)(uintptr_t)(place + 1);
}

struct sort *sort_new(struct sorts *s)
{
	struct sort *a = region_take0(s->region, sizeof *a);
	a->next = s->first;
	s->first = a;
	s->count++;
	return a;
}

struct sort *sort_find(struct sort *a)
{
	struct sort *top = a;
	while (top->same) top = top->same;
	while (a->same) {
		struct sort *above = a->same;
		a->same = top;
		a = above;
	}
	assert(!top->same);
	return top;
}

static struct sort *known(const struct sort *a, const void *label)
{
	for (uint32_t i = 0; i < a->part_count; i++)
		if (a->parts[i].label == label) return a->parts[i].sort;
	return NULL;
}

static void add_part(struct sorts *s, struct sort *a, const void *label,
                     struct sort *part)
{
	assert(label && part && !known(a, label));
	if (a->part_count == a->part_capacity) {
		uint32_t capacity = a->part_capacity ? 2 * a->part_capacity : 4;
		struct sort_part *parts =
			region_take(s->region, capacity * sizeof *parts);
		if (a->part_count)
			memcpy(parts, a->parts, a->part_count * sizeof *parts);
		a->parts = parts;
		a->part_capacity = capacity;
	}
	assert(a->part_count < a->part_capacity);
	a->parts[a->part_count++] = (struct sort_part){ label, part };
}

/* Where an item is taken out by a number or a name that is not known, all
 * parts are items. */
static void unite_parts(struct sorts *s, struct sort *a)
{
	struct sort *item = known(a, &item_label);
	for (uint32_t i = 0; item && i < a->part_count; i++)
		sort_unite(s, item, a->parts[i].sort);
}

void sort_use(struct sort *a, const char *use, struct place at)
{
	assert(use);
	a = sort_find(a);
	if (a->use) return;
	a->use = use;
	a->used_at = at;
}

void sort_use_deep(struct sort *a, const char *use, struct place at)
{
	assert(use);
	a = sort_find(a);
	if (a->deep_use) return;
	a->deep_use = use;
	a->deep_at = at;
}

void sort_unite(struct sorts *s, struct sort *a, struct sort *b)
{
	a = sort_find(a);
	b = sort_find(b);
	if (a == b) return;
	assert(!a->same && !b->same);
	b->same = a;
	a->is_set |= b->is_set;
	a->is_record |= b->is_record;
	if (b->use) sort_use(a, b->use, b->used_at);
	if (b->deep_use) sort_use_deep(a, b->deep_use, b->deep_at);
	for (uint32_t i = 0; i < b->part_count; i++) {
		struct sort *top = sort_find(a);
		struct sort *part = known(top, b->parts[i].label);
		if (part)
			sort_unite(s, part, b->parts[i].sort);
		else
			add_part(s, top, b->parts[i].label, b->parts[i].sort);
	}
	unite_parts(s, sort_find(a));
}

static struct sort *part_of(struct sorts *s, struct sort *a, const void *label)
{
	a = sort_find(a);
	struct sort *part = known(a, label);
	if (!part) part = known(a, &item_label);
	if (part) return sort_find(part);
	assert(!a->same);
	part = sort_new(s);
	add_part(s, a, label, part);
	return part;
}

struct sort *sort_item(struct sorts *s, struct sort *a)
{
	struct sort *item = part_of(s, a, &item_label);
	unite_parts(s, sort_find(a));
	return sort_find(item);
}

struct sort *sort_place(struct sorts *s, struct sort *a, uint32_t place)
{
	return part_of(s, a, place_label(place));
}

struct sort *sort_field(struct sorts *s, struct sort *a,
                        const struct symbol *name)
{
	return part_of(s, a, name);
}

static const struct sort *known_part(const struct sort *a, const void *label)
{
	a = sort_find((struct sort *)a);
	struct sort *part = known(a, label);
	if (!part) part = known(a, &item_label);
	return part ? sort_find(part) : NULL;
}

const struct sort *sort_known_place(const struct sort *a, uint32_t place)
{
	return known_part(a, place_label(place));
}

const struct sort *sort_known_field(const struct sort *a,
                                    const struct symbol *name)
{
	return known_part(a, name);
}

static void hold_record(struct sorts *s, struct sort *a, struct value v)
{
	assert(v.tag == VALUE_RECORD && v.o->length % 2 == 0);
	sort_find(a)->is_record = true;
	for (uint32_t i = 0; i < v.o->length; i += 2) {
		const struct value_object *name = v.o->items[i].o;
		struct symbol *symbol =
			symbol_find(s->symbols, name->bytes, name->length);
		sort_hold(s, sort_field(s, a, symbol), v.o->items[i + 1]);
	}
}

void sort_hold(struct sorts *s, struct sort *a, struct value v)
{
	switch (v.tag) {
	case VALUE_TUPLE:
		for (uint32_t i = 0; i < v.o->length; i++)
			sort_hold(s, sort_place(s, a, i), v.o->items[i]);
		return;
	case VALUE_SET:
		sort_find(a)->is_set = true;
		__attribute__((fallthrough));
	case VALUE_LIST:
		for (uint32_t i = 0; i < v.o->length; i++)
			sort_hold(s, sort_item(s, a), v.o->items[i]);
		return;
	case VALUE_RECORD: hold_record(s, a, v); return;
	default: return;
	}
}
