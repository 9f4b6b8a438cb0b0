#include <stdlib.h>

#include "base/memory.h"
#include "formats/elle.h"

#define NONE UINT32_MAX

struct element {
	struct trace_value value;
	uint32_t reader; /* operation that read it first, at this place */
};

struct versions {
	struct element *items; /* the longest list so far */
	uint32_t count, capacity;
	uint32_t reader;      /* operation that read it */
	uint32_t transaction; /* whose appends `own` leads to */
	uint32_t own;         /* last one, of elle_lists.own */
};

/* An append of the current transaction. */
struct own_append {
	struct trace_value value;
	uint32_t op;
	uint32_t before; /* the one before, to the same key, or NONE */
};

struct elle_lists {
	struct trace_builder *builder;
	uint32_t transaction;
	struct versions *keys;
	size_t key_count, key_capacity;
	struct own_append *own;
	size_t own_count, own_capacity;
};

struct elle_lists *elle_lists_new(struct trace_builder *b)
{
	struct elle_lists *l = mem_take0(1, sizeof *l);
	l->builder = b;
	l->transaction = NONE;
	return l;
}

void elle_lists_free(struct elle_lists *l)
{
	if (!l) return;
	for (size_t k = 0; k < l->key_count; k++) free(l->keys[k].items);
	free(l->keys);
	free(l->own);
	free(l);
}

void elle_lists_begin(struct elle_lists *l, uint32_t transaction)
{
	l->transaction = transaction;
	l->own_count = 0;
}

static struct versions *find_key(struct elle_lists *l, uint32_t key)
{
	while (l->key_count <= key) {
		VEC_RESERVE(l->keys, l->key_count, l->key_capacity);
		l->keys[l->key_count++] = (struct versions){
			.transaction = NONE, .reader = NONE, .own = NONE
		};
	}
	struct versions *v = &l->keys[key];
	if (v->transaction != l->transaction) {
		v->transaction = l->transaction;
		v->own = NONE;
	}
	return v;
}

void elle_lists_append(struct elle_lists *l, uint32_t key,
                       struct trace_value value, uint32_t op)
{
	struct versions *v = find_key(l, key);
	VEC_RESERVE(l->own, l->own_count, l->own_capacity);
	l->own[l->own_count] = (struct own_append){ value, op, v->own };
	v->own = (uint32_t)l->own_count++;
}

static bool equal(struct trace_value a, struct trace_value b)
{
	return a.number == b.number && a.flags == b.flags;
}

/* The list must end with the own appends. That its last element is the last of
 * them is seen from this element alone, and not reported here. */
static void check_own(struct elle_lists *l, const struct versions *v,
                      const struct trace_value *values, uint32_t count,
                      uint32_t op)
{
	uint32_t at = count;
	for (uint32_t i = v->own; i != NONE; i = l->own[i].before) {
		if (at && equal(values[at - 1], l->own[i].value)) {
			at--;
			continue;
		}
		if (i != v->own)
			trace_anomaly_add(l->builder, ANOMALY_INTERNAL, op,
			                  l->own[i].op);
		return;
	}
}

void elle_lists_read(struct elle_lists *l, uint32_t key,
                     const struct trace_value *values, uint32_t count,
                     uint32_t op)
{
	struct versions *v = find_key(l, key);
	check_own(l, v, values, count, op);
	uint32_t common = count < v->count ? count : v->count;
	for (uint32_t i = 0; i < common; i++)
		if (!equal(values[i], v->items[i].value)) {
			trace_anomaly_add(l->builder, ANOMALY_LISTS, op,
			                  v->reader);
			return;
		}
	if (count > v->count) v->reader = op;
	for (uint32_t i = v->count; i < count; i++) {
		VEC_RESERVE(v->items, v->count, v->capacity);
		v->items[v->count++] = (struct element){ values[i], op };
	}
}

/* ---- the end ---- */

struct place {
	struct trace_value value;
	uint32_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->value.flags != y->value.flags)
		return x->value.flags < y->value.flags ? -1 : 1;
	if (x->value.number != y->value.number)
		return x->value.number < y->value.number ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* An element that is in the list before is no version of its own: marks it,
 * and reports that the list contradicts itself. */
static void find_repeated(struct elle_lists *l, const struct versions *v,
                          bool *repeated)
{
	struct place *places = mem_take(v->count * sizeof *places);
	for (uint32_t i = 0; i < v->count; i++)
		places[i] = (struct place){ v->items[i].value, i };
	qsort(places, v->count, sizeof *places, compare_places);
	for (uint32_t i = 1; i < v->count; i++) {
		if (!equal(places[i - 1].value, places[i].value)) continue;
		uint32_t op = v->items[places[i].at].reader;
		repeated[places[i].at] = true;
		trace_anomaly_add(l->builder, ANOMALY_LISTS, op, op);
	}
	free(places);
}

static void finish_key(struct elle_lists *l, uint32_t key)
{
	const struct versions *v = &l->keys[key];
	struct trace_value *values = mem_take(v->count * sizeof *values);
	bool *repeated = mem_take0(v->count, sizeof *repeated);
	uint32_t n = 0;
	find_repeated(l, v, repeated);
	for (uint32_t i = 0; i < v->count; i++)
		if (!repeated[i]) values[n++] = v->items[i].value;
	trace_key_versions(l->builder, key, values, n);
	free(values);
	free(repeated);
}

void elle_lists_finish(struct elle_lists *l)
{
	for (uint32_t k = 0; k < l->key_count; k++)
		if (l->keys[k].count) finish_key(l, k);
}
