#include "sql/known.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/convert.h"

void known_init(struct known *k)
{
	*k = (struct known){ 0 };
	region_init(&k->region);
}

void known_free(struct known *k)
{
	for (uint32_t i = 0; i < k->global_count; i++) {
		struct known_rows *g = &k->globals[i];
		for (uint32_t j = 0; j < g->count; j++)
			free(g->items[j]->versions);
		free(g->items);
	}
	free(k->globals);
	region_free(&k->region);
}

struct known_rows *known_of(struct known *k, uint32_t global)
{
	if (global >= k->global_count) {
		k->globals = mem_grow0(k->globals, k->global_count, global + 1,
		                       sizeof *k->globals);
		k->global_count = global + 1;
	}
	return &k->globals[global];
}

int known_compare(struct value a, struct value b)
{
	assert(a.tag == VALUE_TUPLE && b.tag == VALUE_TUPLE);
	assert(a.o->length == b.o->length);
	for (uint32_t i = 0; i < a.o->length; i++) {
		struct value x = a.o->items[i], y = b.o->items[i];
		int order = x.tag == VALUE_LIST
		                    ? value_compare(x, y)
		                    : sql_compare(x, y, sql_type(SQL_TEXT));
		if (order) return order;
	}
	return 0;
}

/* Where the key stands, or would. */
static uint32_t place_of(const struct known_rows *rows, struct value key,
                         bool *found)
{
	uint32_t low = 0, high = rows->count;
	*found = false;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = known_compare(rows->items[mid]->key, key);
		if (!order) *found = true;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	assert(low <= rows->count);
	return low;
}

const struct known_row *known_find(const struct known_rows *rows,
                                   struct value key)
{
	bool found;
	uint32_t at = place_of(rows, key, &found);
	return found ? rows->items[at] : NULL;
}

/* The row of the key, made if there is none. */
static struct known_row *row_of(struct known *k, uint32_t global,
                                struct value key)
{
	struct known_rows *rows = known_of(k, global);
	bool found;
	uint32_t at = place_of(rows, key, &found);
	if (found) return rows->items[at];
	struct known_row *row = region_take0(&k->region, sizeof *row);
	row->key = value_copy(&k->region, key);
	VEC_RESERVE(rows->items, rows->count, rows->capacity);
	memmove(rows->items + at + 1, rows->items + at,
	        (rows->count - at) * sizeof *rows->items);
	rows->items[at] = row;
	rows->count++;
	assert(!at || known_compare(rows->items[at - 1]->key, key) < 0);
	assert(at + 1 == rows->count ||
	       known_compare(key, rows->items[at + 1]->key) < 0);
	return row;
}

void known_set(struct known *k, uint32_t global, struct value key,
               struct value value)
{
	struct known_row *row = row_of(k, global, key);
	row->count = row->initial = 0;
	row->deleted = false;
	if (sql_is_null(value)) return;
	VEC_RESERVE(row->versions, row->count, row->capacity);
	row->versions[row->count++] = value_copy(&k->region, value);
	row->initial = 1;
	assert(row->count == 1 && !row->deleted);
}

/* Do all conditions treat the two alike? */
static bool are_alike(const struct sql_table *t, struct value a, struct value b)
{
	uint32_t n = 2 * t->column_count;
	const struct value *x = a.o->items + (a.o->length - n);
	const struct value *y = b.o->items + (b.o->length - n);
	assert(a.tag == VALUE_RECORD && b.tag == VALUE_RECORD);
	for (uint32_t c = 0; c < t->column_count; c++) {
		uint32_t field = 2 * t->columns[c].slot + 1;
		if (t->filtered[c] && !value_equal(x[field], y[field]))
			return false;
	}
	return true;
}

bool known_has(struct known *k, const struct sql_table *t, struct value key,
               struct value value)
{
	const struct known_row *row = known_find(known_of(k, t->global), key);
	if (value.tag != VALUE_RECORD) return row && row->deleted;
	if (!t->scanned && !k->all_rows) return true;
	for (uint32_t i = 0; row && i < row->count; i++)
		if (are_alike(t, row->versions[i], value)) return true;
	return false;
}

bool known_add(struct known *k, const struct sql_table *t, struct value key,
               struct value value)
{
	if (known_has(k, t, key, value)) return false;
	struct known_row *row = row_of(k, t->global, key);
	if (value.tag != VALUE_RECORD) {
		row->deleted = true;
		return true;
	}
	VEC_RESERVE(row->versions, row->count, row->capacity);
	row->versions[row->count++] = value_copy(&k->region, value);
	return true;
}
