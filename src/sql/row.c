/* Rows as values of keys. A row is a record of its columns. A key outlives its
 * row: DELETE ends the row, and an INSERT of the same key begins another; an
 * UPDATE of the key takes the row to another key. Who has found a row, and then
 * looks for its newest version, must not take another for it. So where some
 * session deletes or moves a row of the key, a row has its origin: where it was
 * inserted, or the key that it had first. And what is left at a key, a row or
 * none, tells which rows have left it for which other keys.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/run.h"

/* Behind the columns of a row, in memory: its key, its origin, and who left; in
 * a record, a field without a name has the last two. Both are null mostly. */
static bool has_past(const struct value *columns, uint32_t count)
{
	return !sql_is_null(columns[count + 1]) ||
	       !sql_is_null(columns[count + 2]);
}

const struct value *sql_columns(struct sql_run *x, const struct sql_table *t,
                                struct value key, struct value row)
{
	uint32_t n = t->column_count;
	struct value *columns = region_take(x->region, sql_row_size(t));
	const struct value *items = row.o->items;
	assert(row.tag == VALUE_RECORD);
	assert(row.o->length == 2 * n || row.o->length == 2 * n + 2);
	columns[n] = key;
	columns[n + 1] = columns[n + 2] = value_null();
	if (row.o->length > 2 * n) {
		columns[n + 1] = items[1].o->items[0];
		columns[n + 2] = items[1].o->items[1];
		items += 2;
	}
	for (uint32_t c = 0; c < n; c++)
		columns[c] = items[2 * t->columns[c].slot + 1];
	return columns;
}

struct value sql_row(struct sql_run *x, const struct sql_table *t,
                     const struct value *columns)
{
	uint32_t n = t->column_count, past = has_past(columns, n);
	struct value *pairs =
		region_take(x->region, (2 * n + 2) * sizeof *pairs);
	if (past) {
		pairs[0] = value_string(x->region, "", 0);
		pairs[1] = value_sequence(x->region, VALUE_TUPLE,
		                          columns + n + 1, 2);
	}
	for (uint32_t c = 0; c < n; c++) {
		uint32_t slot = t->columns[c].slot + past;
		pairs[2 * slot] = t->names[slot - past];
		pairs[2 * slot + 1] = columns[c];
	}
	return value_record(x->region, pairs, n + past);
}

/* Who left, as a list of (origin, key); null if nobody did. */
static struct value left_behind(const struct sql_table *t, struct value row)
{
	uint32_t n = t->column_count;
	if (row.tag != VALUE_RECORD) return row;
	return row.o->length > 2 * n ? row.o->items[1].o->items[1]
	                             : value_null();
}

/* The list without the one of this origin, and, unless null, with it and where
 * it went. */
static struct value change_left(struct sql_run *x, struct value list,
                                struct value origin, struct value to)
{
	uint32_t count = sql_is_null(list) ? 0 : list.o->length, n = 0;
	struct value pair[2] = { origin, to };
	struct value *all =
		region_take(x->region, (count + (size_t)1) * sizeof *all);
	for (uint32_t i = 0; i < count; i++)
		if (!value_equal(list.o->items[i].o->items[0], origin))
			all[n++] = list.o->items[i];
	if (!sql_is_null(to))
		all[n++] = value_sequence(x->region, VALUE_TUPLE, pair, 2);
	return n ? value_sequence(x->region, VALUE_LIST, all, n) : value_null();
}

static struct value origin_of(const struct sql_table *t,
                              const struct value *columns)
{
	uint32_t n = t->column_count;
	return sql_is_null(columns[n + 1]) ? columns[n] : columns[n + 1];
}

struct value sql_deleted(const struct sql_table *t, const struct value *columns)
{
	return columns[t->column_count + 2];
}

struct value sql_moved(struct sql_run *x, const struct sql_table *t,
                       const struct value *old, struct value *columns,
                       struct value there)
{
	uint32_t n = t->column_count;
	struct value origin = origin_of(t, old);
	assert(sql_is_gone(there));
	if (x->serial) return value_null();
	columns[n + 1] = origin;
	columns[n + 2] = change_left(x, there, origin, value_null());
	return change_left(x, old[n + 2], origin, columns[n]);
}

struct value sql_birth(struct sql_run *x)
{
	struct value items[] = {
		value_string(x->region, x->session, strlen(x->session)),
		value_int(x->statement), value_int(++x->births)
	};
	return value_sequence(x->region, VALUE_TUPLE, items, 3);
}

void sql_born(struct sql_run *x, const struct sql_table *t,
              struct value *columns, struct value there)
{
	uint32_t n = t->column_count;
	const struct known_row *row;
	assert(sql_is_gone(there));
	columns[n + 1] = value_null();
	columns[n + 2] = there;
	if (x->serial || !t->primary) return;
	row = known_find(x->known, t->global, columns[n]);
	if (row && row->deleted) columns[n + 1] = sql_birth(x);
}

/* Who comes too late, and finds no row, locks nothing. So where sessions delete
 * rows of the key, or move them, it is looked at first, at a moment of its own;
 * what it becomes between that and the lock, it could as well have become
 * before that. */
static bool read_to_lock(struct sql_run *x, const struct sql_table *t,
                         struct value key, enum strength strength,
                         enum strength look, struct value *row)
{
	const struct known_row *known = known_find(x->known, t->global, key);
	uint32_t base = x->read_base;
	struct value seen;
	assert(strength != STRENGTH_PLAIN && strength < STRENGTH_COUNT);
	if (x->serial || !known || !known->deleted ||
	    sql_own_write(x, x->writes, t->global, key))
		return sql_read(x, t->global, key, strength, row);
	x->read_base = x->read_count;
	sql_begin_moment(x);
	bool fine = sql_read(x, t->global, key, look, row);
	x->read_base = base;
	if (!fine || sql_is_gone(*row)) return fine;
	seen = *row;
	if (!sql_read(x, t->global, key, strength, row)) return false;
	if (value_equal(*row, seen)) return true;
	x->stop = SQL_REPEATS;
	return false;
}

void sql_versions(struct sql_run *x, const struct sql_table *t,
                  const struct value *found, struct sql_rows *out)
{
	uint32_t n = t->column_count;
	struct value origin = origin_of(t, found), key = found[n];
	const struct known_row *row = known_find(x->known, t->global, key);
	const struct known_rows *all = known_of(x->known, t->global);
	bool own = sql_own_write(x, x->writes, t->global, key) != NULL;
	*out = (struct sql_rows){ 0 };
	sql_rows_add(x->region, out, found);
	for (uint32_t i = 0; row && !own && i < all->count; i++) {
		const struct known_row *k = all->items[i];
		if (k != row && !row->deleted) continue;
		for (uint32_t v = 0; v < k->count; v++) {
			const struct value *columns =
				sql_columns(x, t, k->key, k->versions[v]);
			if (value_equal(origin_of(t, columns), origin))
				sql_rows_add(x->region, out, columns);
		}
	}
}

bool sql_read_again(struct sql_run *x, const struct sql_table *t,
                    enum strength strength, enum strength look,
                    const struct value *found, const struct value **out)
{
	enum { FAR = 64 }; /* nobody who locks on the way is sent in circles */
	struct value origin = origin_of(t, found);
	struct value key = found[t->column_count], row;
	*out = NULL;
	for (int i = 0; i < FAR; i++) {
		if (!read_to_lock(x, t, key, strength, look, &row))
			return false;
		if (!sql_is_gone(row)) {
			*out = sql_columns(x, t, key, row);
			if (value_equal(origin_of(t, *out), origin))
				return true;
			*out = NULL;
		}
		struct value left = left_behind(t, row);
		uint32_t count = sql_is_null(left) ? 0 : left.o->length, k = 0;
		while (k < count &&
		       !value_equal(left.o->items[k].o->items[0], origin))
			k++;
		if (k == count) return true;
		key = left.o->items[k].o->items[1];
	}
	return true;
}
