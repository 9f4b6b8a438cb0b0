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
		free(g->added);
		table_free(&g->by_key);
	}
	free(k->globals);
	region_free(&k->region);
}

static struct known_rows *rows_of(struct known *k, uint32_t global)
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

static int order_of_rows(const void *a, const void *b)
{
	const struct known_row *const *x = a, *const *y = b;
	return known_compare((*x)->key, (*y)->key);
}

static void put_in_order(struct known_rows *rows)
{
	uint32_t i = rows->in_order;
	if (i == rows->count) return;
	/* Mostly they come in order. */
	while (i < rows->count &&
	       (!i || order_of_rows(&rows->items[i - 1], &rows->items[i]) < 0))
		i++;
	if (i < rows->count)
		qsort(rows->items, rows->count, sizeof *rows->items,
		      order_of_rows);
	rows->in_order = rows->count;
}

const struct known_rows *known_of(struct known *k, uint32_t global)
{
	static const struct known_rows none;
	if (global >= k->global_count) return &none;
	put_in_order(&k->globals[global]);
	return &k->globals[global];
}

void known_sort(struct known *k)
{
	for (uint32_t i = 0; i < k->global_count; i++)
		put_in_order(&k->globals[i]);
}

/* Its number among those that were added, or TABLE_NONE. */
static uint32_t number_of(const struct known_rows *rows, struct value key,
                          struct table_probe *probe)
{
	uint32_t i;
	*probe = table_probe(value_hash(key));
	while ((i = table_next(&rows->by_key, probe)) != TABLE_NONE)
		if (value_equal(rows->added[i]->key, key)) break;
	return i;
}

const struct known_row *known_find(const struct known *k, uint32_t global,
                                   struct value key)
{
	struct table_probe probe;
	uint32_t i;
	if (global >= k->global_count || !k->globals[global].count) return NULL;
	i = number_of(&k->globals[global], key, &probe);
	return i == TABLE_NONE ? NULL : k->globals[global].added[i];
}

/* The row of the key, made if there is none. */
static struct known_row *row_of(struct known *k, uint32_t global,
                                struct value key)
{
	struct known_rows *rows = rows_of(k, global);
	struct table_probe probe;
	uint32_t i, n = rows->count;
	if (!rows->by_key.slots) table_init(&rows->by_key, 0);
	i = number_of(rows, key, &probe);
	if (i != TABLE_NONE) return rows->added[i];
	struct known_row *row = region_take0(&k->region, sizeof *row);
	row->key = value_copy(&k->region, key);
	VEC_RESERVE(rows->added, n, rows->added_capacity);
	VEC_RESERVE(rows->items, n, rows->capacity);
	table_put(&rows->by_key, probe, n);
	rows->added[n] = rows->items[n] = row;
	rows->count++;
	assert(rows->by_key.count == rows->count);
	assert(rows->in_order < rows->count);
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

/* Has it come to its key behind another one (row.c)? */
static bool has_past(const struct sql_table *t, struct value row)
{
	assert(row.tag == VALUE_RECORD);
	return row.o->length > 2 * t->column_count;
}

bool known_comes_again(const struct known_row *row, const struct sql_table *t)
{
	bool again = false;
	for (uint32_t i = 0; i < row->count && !again; i++)
		again = has_past(t, row->versions[i]);
	assert(!again || row->count);
	return again;
}

bool known_has(struct known *k, const struct sql_table *t, struct value key,
               struct value value)
{
	const struct known_row *row = known_find(k, t->global, key);
	if (value.tag != VALUE_RECORD) return row && row->deleted;
	if (has_past(t, value) && !(row && known_comes_again(row, t)))
		return false;
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
