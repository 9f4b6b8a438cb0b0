/* Which rows of a table are read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/run.h"

/* A table being read for a query, with the rows before it in FROM. */
struct scan {
	struct sql_run *run;
	const struct sql_query *query; /* NULL: of no relation that is locked */
	const struct sql_relation *relation;
	uint32_t number; /* of the relation */
	const struct sql_frame *frame;
	uint32_t conditions; /* how many are looked at */
	struct sql_rows *out;
	bool certain; /* all that are locked are found in any case */
};

/* Does the row satisfy the conditions? An error is one where it counts only:
 * what fails on a version that may never be read is worth a read. */
static bool satisfies(const struct scan *s, const struct value *columns,
                      bool certain, bool *out)
{
	const struct sql_access *a = &s->relation->access;
	const struct value **place = &s->frame->rows[s->number];
	const struct value *before = *place;
	bool fine = true;
	*place = columns;
	*out = true;
	assert(s->conditions <= a->condition_count);
	for (uint32_t i = 0; i < s->conditions && *out && fine; i++)
		fine = sql_eval_condition(s->run, s->frame, a->conditions[i],
		                          out);
	*place = before;
	if (fine || certain) return fine;
	s->run->stop = SQL_GOES_ON;
	*out = true;
	return true;
}

/* Can a version that is known satisfy the conditions? */
static bool matters(const struct scan *s, const struct known_row *row)
{
	const struct sql_table *t = s->relation->table;
	bool found = s->run->known->all_rows;
	for (uint32_t i = 0; i < row->count && !found; i++) {
		struct region_mark mark = region_mark(s->run->region);
		satisfies(s, sql_columns(s->run, t, row->key, row->versions[i]),
		          false, &found);
		region_release(s->run->region, mark);
	}
	return found;
}

bool sql_may_match(struct sql_run *x, const struct sql_relation *relation,
                   const struct known_row *row)
{
	uint32_t n = relation->number;
	struct sql_frame f = { .rows = region_take0(x->region,
		                                    (n + 1) * sizeof *f.rows) };
	struct scan s = { x,    NULL, relation, n, &f, relation->access.fixed,
		          NULL, false };
	return matters(&s, row);
}

static bool add_if_satisfies(const struct scan *s, struct value key,
                             struct value row)
{
	const struct sql_table *t = s->relation->table;
	bool wanted;
	if (sql_is_gone(row)) return true;
	const struct value *columns = sql_columns(s->run, t, key, row);
	if (!satisfies(s, columns, true, &wanted)) return false;
	if (wanted) sql_rows_add(s->run->region, s->out, columns);
	return true;
}

/* Keys in order: those known, and those that the transaction itself made. */
static int order_of_keys(const void *a, const void *b)
{
	return known_compare(*(const struct value *)a,
	                     *(const struct value *)b);
}

/* Is a version of it found whichever it is, now and when it is locked? */
static bool is_certain(const struct scan *s, const struct known_row *row)
{
	const struct sql_table *t = s->relation->table;
	const struct sql_access *a = &s->relation->access;
	bool found = true;
	if (!row || !row->initial || row->deleted) return false;
	assert(row->count);
	if (a->key_alone) return true;
	/* Other versions than these are not told apart. */
	if (a->key) return false;
	for (uint32_t i = 0; i < row->count && found; i++) {
		struct region_mark mark = region_mark(s->run->region);
		found = satisfies(s,
		                  sql_columns(s->run, t, row->key,
		                              row->versions[i]),
		                  true, &found) &&
		        found;
		s->run->stop = SQL_GOES_ON;
		region_release(s->run->region, mark);
	}
	return found;
}

/* Where rows are locked and found in any case, they are not read before; all of
 * them, since a statement looks for its rows before it locks any. */
static enum strength strength_of(const struct scan *s)
{
	return s->certain && !s->run->looks ? s->relation->lock
	                                    : STRENGTH_PLAIN;
}

static bool read_row(const struct scan *s, struct value key, struct value *out)
{
	return sql_read(s->run, s->relation->table->global, key, strength_of(s),
	                out);
}

/* The first of these keys, of all that are to be read; the others are read next
 * if no condition can fail on a row. `anew`: before all of them. */
static bool read_first(const struct scan *s, struct value *keys, uint32_t count,
                       uint32_t anew, struct value *row)
{
	struct sql_run *x = s->run;
	enum strength strength = strength_of(s);
	bool foreseen = s->relation->access.never_fails;
	assert(count && anew <= x->anew);
	if (read_row(s, keys[0], row)) {
		if (foreseen && x->anew > anew) x->anew = anew + 1;
		return true;
	}
	if (x->stop == SQL_WAITS && foreseen)
		sql_foresee(x, s->relation->table->global, keys + 1, count - 1,
		            strength);
	return false;
}

/* Does the statement lock rows of this table, and read nothing else? */
static bool locks_alone(const struct scan *s)
{
	return s->relation->lock && s->query->plain && !s->run->serial;
}

static bool scan_keys(struct scan *s)
{
	struct sql_run *x = s->run;
	uint32_t global = s->relation->table->global, count = 0, most;
	uint32_t anew = x->anew;
	const struct known_rows *rows = known_of(x->known, global);
	most = rows->count;
	for (const struct sql_write *w = x->written_before; w; w = w->older)
		most++;
	struct value *keys = region_take(x->region, (most + 1) * sizeof *keys);
	for (const struct sql_write *w = x->written_before; w; w = w->older)
		if (w->global == global &&
		    sql_own_write(x, x->written_before, global, w->key) == w)
			keys[count++] = w->key;
	for (uint32_t i = 0; i < rows->count; i++)
		if (!sql_own_write(x, x->written_before, global,
		                   rows->items[i]->key) &&
		    matters(s, rows->items[i]))
			keys[count++] = rows->items[i]->key;
	qsort(keys, count, sizeof *keys, order_of_keys);
	assert(count <= most);
	s->certain = locks_alone(s) && !x->known->all_rows;
	for (uint32_t i = 0; i < count && s->certain; i++)
		s->certain =
			sql_own_write(x, x->written_before, global, keys[i]) ||
			is_certain(s, known_find(x->known, global, keys[i]));
	for (uint32_t i = 0; i < count; i++) {
		struct value row;
		if (!read_first(s, keys + i, count - i, anew, &row) ||
		    !add_if_satisfies(s, keys[i], row))
			return false;
	}
	return true;
}

/* The key that the conditions name; NULL if there can be no such row. */
static bool named_key(const struct scan *s, struct value *out)
{
	const struct sql_table *t = s->relation->table;
	const struct sql_unique *u = t->primary;
	struct sql_run *x = s->run;
	assert(u && s->relation->access.key);
	struct value *items = region_take(x->region, u->count * sizeof *items);
	*out = value_null();
	for (uint32_t i = 0; i < u->count; i++) {
		const struct sql_expr *e = s->relation->access.key[i];
		struct sql_type to = t->columns[u->columns[i]].type;
		struct sql_failure why = { 0 };
		if (!sql_eval(x, s->frame, e, &items[i])) return false;
		if (sql_is_null(items[i])) return true;
		if (!sql_convert(x->region, items[i], e->type, to, false,
		                 &items[i], &why))
			return true;
		items[i] = sql_key_part(x->region, items[i], to);
	}
	*out = value_sequence(x->region, VALUE_TUPLE, items, u->count);
	return true;
}

static bool scan_table(struct scan *s)
{
	struct sql_run *x = s->run;
	const struct sql_table *t = s->relation->table;
	struct value key, row;
	if (x->tables) {
		const struct sql_rows *all = &x->tables[t->number];
		for (uint32_t i = 0; i < all->count; i++) {
			bool wanted;
			if (!satisfies(s, all->items[i], true, &wanted))
				return false;
			if (wanted)
				sql_rows_add(x->region, s->out, all->items[i]);
		}
		return true;
	}
	if (!s->relation->access.key || x->known->all_rows) return scan_keys(s);
	if (!named_key(s, &key)) return false;
	if (sql_is_null(key)) return !x->looks || scan_keys(s);
	s->certain = locks_alone(s) &&
	             is_certain(s, known_find(x->known, t->global, key));
	return read_row(s, key, &row) && add_if_satisfies(s, key, row);
}

bool sql_scan(struct sql_run *x, const struct sql_query *q, uint32_t number,
              const struct sql_frame *f, uint32_t conditions,
              struct sql_rows *out)
{
	return scan_table(&(struct scan){ x, q, &q->relations[number], number,
	                                  f, conditions, out, false });
}
