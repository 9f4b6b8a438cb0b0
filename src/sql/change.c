/* INSERT, UPDATE, DELETE. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/run.h"

/* "(1, ann)", as in PostgreSQL's details */
static void print_columns(struct text *t, struct sql_run *x,
                          const struct sql_table *table,
                          const struct value *columns)
{
	text_char(t, '(');
	for (uint32_t c = 0; c < table->column_count; c++) {
		if (c) text_string(t, ", ");
		text_string(t, sql_is_null(columns[c])
		                       ? "null"
		                       : sql_to_text(x->region, columns[c],
		                                     table->columns[c].type)
		                                 .o->bytes);
	}
	text_char(t, ')');
}

/* Columns that are made of others, NOT NULL and CHECK. */
static bool check_row(struct sql_run *x, const struct sql_table *t,
                      struct value *columns)
{
	const struct value *rows[] = { columns };
	struct sql_frame f = { .rows = rows };
	for (uint32_t c = 0; c < t->column_count; c++)
		if (t->columns[c].made &&
		    !sql_eval(x, &f, t->columns[c].made, &columns[c]))
			return false;
	for (uint32_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].not_null || !sql_is_null(columns[c]))
			continue;
		return sql_run_fails(x, "23502",
		                     "null value in column \"%s\" of relation "
		                     "\"%s\" violates not-null constraint",
		                     t->columns[c].name, t->name);
	}
	for (uint32_t i = 0; i < t->check_count; i++) {
		struct value v;
		if (!sql_eval(x, &f, t->checks[i].condition, &v)) return false;
		if (sql_is_null(v) || v.i) continue;
		struct text row = { 0 };
		print_columns(&row, x, t, columns);
		sql_run_fails(x, "23514",
		              "new row for relation \"%s\" violates check "
		              "constraint \"%s\": %s",
		              t->name, t->checks[i].name, text_get(&row));
		text_free(&row);
		return false;
	}
	return true;
}

static bool is_double(struct sql_run *x, const struct sql_unique *u)
{
	return sql_run_fails(x, "23505",
	                     "duplicate key value violates unique constraint "
	                     "\"%s\"",
	                     u->name);
}

/* ---- Unique constraints: an entry has the key of its row ---- */

/* What becomes of an INSERT that finds a row in its way. */
enum way { WAY_ERROR, WAY_NOTHING, WAY_UPDATE };

/* Before it locks. Who comes between the look and the lock could as well have
 * come before the look, which has a moment of its own: that is explored, and is
 * the same to the transaction. */
static bool look_first(struct sql_run *x, uint32_t global, struct value key,
                       enum strength strength, struct value *out)
{
	uint32_t base = x->read_base;
	x->read_base = x->read_count;
	sql_begin_moment(x);
	bool fine = sql_read(x, global, key, strength, out);
	x->read_base = base;
	if (!fine || !sql_is_gone(*out)) return fine;
	if (!sql_read(x, global, key, STRENGTH_UPDATE, out)) return false;
	if (sql_is_gone(*out)) return true;
	x->stop = SQL_REPEATS;
	return false;
}

/* INSERT looks for a row in its way, the newest, beside the snapshot that its
 * transaction may have; where there is none, it locks what it will write. What
 * it finds it does not keep: that matters where the transaction goes on, so
 * there it looks first. A row that ON CONFLICT does something with has to be in
 * the snapshot. */
static bool look(struct sql_run *x, uint32_t global, struct value key,
                 enum way way, struct value *out)
{
	bool locked = sql_was_read(x, global, key, STRENGTH_UPDATE);
	bool goes_on = x->guarded || x->handled;
	assert(key.tag == VALUE_TUPLE);
	*out = value_null();
	if (!locked && (goes_on || way == WAY_NOTHING) &&
	    !sql_own_write(x, x->writes, global, key))
		return look_first(x, global, key,
		                  way == WAY_ERROR ? STRENGTH_CHECK
		                                   : STRENGTH_PLAIN,
		                  out);
	return sql_read(x, global, key,
	                locked || goes_on || way != WAY_ERROR ? STRENGTH_UPDATE
	                                                      : STRENGTH_INSERT,
	                out);
}

/* Is another row there with these values? */
static bool find_entry(struct sql_run *x, const struct sql_unique *u,
                       const struct value *columns, enum way way,
                       struct value *entry, struct value *holder)
{
	*entry = sql_key(x, u, columns);
	*holder = value_null();
	return sql_is_null(*entry) || look(x, u->global, *entry, way, holder);
}

static bool enter(struct sql_run *x, const struct sql_table *t,
                  const struct value *columns, const struct value *old,
                  struct value key)
{
	for (uint32_t i = 0; i < t->unique_count; i++) {
		const struct sql_unique *u = &t->uniques[i];
		struct value entry, holder;
		struct value before = old ? sql_key(x, u, old) : value_null();
		struct value now = sql_key(x, u, columns);
		if (old && value_equal(before, now) &&
		    value_equal(old[t->column_count], key))
			continue;
		if (!sql_is_null(before))
			sql_write(x, NULL, u->global, before, value_null(),
			          STRENGTH_UPDATE);
		if (!find_entry(x, u, columns, WAY_ERROR, &entry, &holder))
			return false;
		if (!sql_is_null(holder)) return is_double(x, u);
		if (!sql_is_null(entry))
			sql_write(x, NULL, u->global, entry, key,
			          STRENGTH_UPDATE);
	}
	return true;
}

static void leave(struct sql_run *x, const struct sql_table *t,
                  const struct value *columns)
{
	for (uint32_t i = 0; i < t->unique_count; i++) {
		struct value entry = sql_key(x, &t->uniques[i], columns);
		if (!sql_is_null(entry))
			sql_write(x, NULL, t->uniques[i].global, entry,
			          value_null(), STRENGTH_UPDATE);
	}
}

/* ---- UPDATE ---- */

static bool default_of(struct sql_run *x, const struct sql_column *c,
                       struct value *out)
{
	struct sql_frame none = { 0 };
	*out = value_null();
	return !c->initial || sql_eval(x, &none, c->initial, out);
}

/* Does the row come to refer to another one? */
static bool refers_anew(const struct sql_table *t, const struct value *old,
                        const struct value *columns)
{
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		for (uint32_t i = 0; i < f->count; i++)
			if (!sql_is_null(columns[f->columns[i]]) &&
			    !value_equal(old[f->columns[i]],
			                 columns[f->columns[i]]))
				return true;
	return false;
}

/* Of an UPDATE: the columns of keys are those that others can refer to. */
static enum strength strength_of(const struct sql_table *t,
                                 const struct value *old,
                                 const struct value *columns)
{
	for (uint32_t i = 0; i <= t->unique_count; i++) {
		const struct sql_unique *u =
			i < t->unique_count ? &t->uniques[i] : t->primary;
		for (uint32_t k = 0; u && k < u->count; k++)
			if (!value_equal(old[u->columns[k]],
			                 columns[u->columns[k]]))
				return STRENGTH_UPDATE;
	}
	return refers_anew(t, old, columns) ? STRENGTH_REFERENCE
	                                    : STRENGTH_NO_KEY_UPDATE;
}

/* A row that goes, or gets another key, is locked against who locks it FOR KEY
 * SHARE as well. Its write says so; but that comes later where a savepoint may
 * take it back. */
static bool lock_key(struct sql_run *x, const struct sql_table *t,
                     const struct value *old)
{
	struct value key = old[t->column_count];
	const struct sql_write *own =
		sql_own_write(x, x->writes, t->global, key);
	if (!(x->guarded || x->handled) ||
	    (own && own->strength == STRENGTH_UPDATE))
		return true;
	return sql_lock(x, t->global, key, STRENGTH_UPDATE);
}

bool sql_replace(struct sql_run *x, const struct sql_table *t,
                 const struct value *old, struct value *columns)
{
	struct value key = old[t->column_count];
	struct value before = key, there;
	if (!check_row(x, t, columns)) return false;
	if (strength_of(t, old, columns) == STRENGTH_UPDATE &&
	    !lock_key(x, t, old))
		return false;
	if (t->primary) key = sql_key(x, t->primary, columns);
	columns[t->column_count] = key;
	if (!value_equal(key, before)) {
		if (!look(x, t->global, key, WAY_ERROR, &there)) return false;
		if (!sql_is_gone(there)) return is_double(x, t->primary);
		sql_write(x, t, t->global, before,
		          sql_moved(x, t, old, columns, there),
		          STRENGTH_UPDATE);
	}
	if (!enter(x, t, columns, old, key)) return false;
	sql_write(x, t, t->global, key, sql_row(x, t, columns),
	          strength_of(t, old, columns));
	sql_refer(x, t, old, columns);
	return true;
}

bool sql_remove(struct sql_run *x, const struct sql_table *t,
                const struct value *old)
{
	if (!lock_key(x, t, old)) return false;
	leave(x, t, old);
	sql_write(x, t, t->global, old[t->column_count], sql_deleted(t, old),
	          STRENGTH_UPDATE);
	sql_refer(x, t, old, NULL);
	return true;
}

/* The columns that SET gives, from the frame. */
static bool set_columns(struct sql_run *x, const struct sql_table *t,
                        const struct sql_frame *f, const struct sql_set *sets,
                        uint32_t count, struct value *columns)
{
	for (uint32_t i = 0; i < count; i++) {
		assert(sets[i].column < t->column_count);
		struct value *to = &columns[sets[i].column];
		bool fine = sets[i].value
		                    ? sql_eval(x, f, sets[i].value, to)
		                    : default_of(x, &t->columns[sets[i].column],
		                                 to);
		if (!fine) return false;
	}
	return true;
}

static bool add_returned(struct sql_run *x, const struct sql_statement *s,
                         const struct sql_frame *f)
{
	struct value *row;
	x->affected++;
	if (!s->returning_count) return true;
	row = region_take(x->region, s->returning_count * sizeof *row);
	for (uint32_t i = 0; i < s->returning_count; i++)
		if (!sql_eval(x, f, s->returning[i].value, &row[i]))
			return false;
	sql_rows_add(x->region, &x->result, row);
	return true;
}

static struct value *copy_columns(struct sql_run *x, const struct sql_table *t,
                                  const struct value *columns)
{
	size_t size = sql_row_size(t);
	return memcpy(region_take(x->region, size), columns, size);
}

/* Was the row changed from `before` on, up to `last`? */
static bool is_changed(struct sql_run *x, const struct sql_write *before,
                       const struct sql_write *last, const struct sql_table *t,
                       const struct value *row)
{
	const struct sql_write *w =
		sql_own_write(x, last, t->global, row[t->column_count]);
	return w && w->number > (before ? before->number : 0);
}

static bool update_row(struct sql_run *x, const struct sql_statement *s,
                       const struct value **rows)
{
	const struct sql_table *t = s->table;
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	struct value *columns = copy_columns(x, t, rows[0]);
	assert(s->kind == STATEMENT_UPDATE);
	bool kept;
	if (!set_columns(x, t, &f, s->sets, s->set_count, columns) ||
	    !sql_fire_before(x, t, rows[0], &columns, &kept))
		return false;
	if (!kept) return true;
	if (!sql_replace(x, t, rows[0], columns)) return false;
	rows[0] = columns;
	return add_returned(x, s, &f);
}

static bool delete_row(struct sql_run *x, const struct sql_statement *s,
                       const struct value **rows)
{
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	struct value *none = NULL;
	bool kept;
	if (!sql_fire_before(x, s->table, rows[0], &none, &kept)) return false;
	if (!kept) return true;
	return sql_remove(x, s->table, rows[0]) && add_returned(x, s, &f);
}

/* All rows are found before the first is changed. */
static bool run_change(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_write *before = x->writes;
	struct sql_matches rows;
	bool update = s->kind == STATEMENT_UPDATE;
	assert(s->query->relations[0].table == s->table);
	if (!sql_match(x, s->query, x->outer, &rows)) return false;
	for (uint32_t i = 0; i < rows.count; i++) {
		bool kept;
		const struct value *row = rows.items[i][0];
		/* It stays as it was changed by the statement itself. */
		if (is_changed(x, before, x->writes, s->table, row)) continue;
		if (is_changed(x, x->written_before, before, s->table, row))
			return sql_changed_before(x, update);
		if (!sql_lock_rows(x, s->query, x->outer, rows.items[i], &kept))
			return false;
		if (!kept) continue;
		bool fine = update ? update_row(x, s, rows.items[i])
		                   : delete_row(x, s, rows.items[i]);
		if (!fine) return false;
	}
	return true;
}

/* ---- INSERT ---- */

/* The row that stands in the way of a new one by this constraint: its columns,
 * or NULL. */
static bool find_conflict(struct sql_run *x, const struct sql_table *t,
                          const struct sql_unique *u,
                          const struct value *columns, enum way way,
                          const struct value **out)
{
	struct value key, row;
	*out = NULL;
	if (u == t->primary) {
		key = sql_key(x, u, columns);
	} else {
		struct value entry;
		if (!find_entry(x, u, columns, way, &entry, &key)) return false;
		if (sql_is_null(key)) return true;
	}
	if (!look(x, t->global, key, way, &row)) return false;
	if (!sql_is_gone(row)) *out = sql_columns(x, t, key, row);
	return true;
}

/* The row is locked, and is what it is then. Who finds it gone looks again, as
 * if it had come later. */
static bool lock_conflicting(struct sql_run *x, const struct sql_table *t,
                             const struct value **row)
{
	struct value key = (*row)[t->column_count], now;
	if (!sql_read(x, t->global, key, STRENGTH_NO_KEY_UPDATE, &now))
		return false;
	if (sql_is_gone(now)) {
		x->stop = SQL_REPEATS;
		return false;
	}
	*row = sql_columns(x, t, key, now);
	return true;
}

static bool update_instead(struct sql_run *x, const struct sql_statement *s,
                           const struct value *old, const struct value *new)
{
	const struct sql_table *t = s->table;
	const struct value *rows[] = { old, new }, *now[1];
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	struct value *columns = copy_columns(x, t, old);
	bool holds = true;
	assert(s->conflict == CONFLICT_UPDATE);
	if (is_changed(x, x->written_before, x->writes, t, old))
		return sql_run_fails(x, "21000",
		                     "ON CONFLICT DO UPDATE command cannot "
		                     "affect row a second time");
	if (!lock_conflicting(x, t, &old)) return false;
	rows[0] = old;
	if (s->conflict_where &&
	    !sql_eval_condition(x, &f, s->conflict_where, &holds))
		return false;
	if (!holds) return true;
	bool kept;
	if (!set_columns(x, t, &f, s->conflict_sets, s->conflict_set_count,
	                 columns) ||
	    !sql_fire_before(x, t, old, &columns, &kept))
		return false;
	if (!kept) return true;
	now[0] = columns;
	if (!sql_replace(x, t, old, columns)) return false;
	f.rows = now;
	return add_returned(x, s, &f);
}

/* *done: another row was there, and it went ON CONFLICT's way. */
static bool meet_conflicts(struct sql_run *x, const struct sql_statement *s,
                           const struct value *columns, bool *done)
{
	const struct sql_table *t = s->table;
	for (uint32_t i = 0; i <= t->unique_count && !*done; i++) {
		const struct sql_unique *u =
			i ? &t->uniques[i - 1] : t->primary;
		const struct value *old;
		if (!u || (s->arbiter && s->arbiter != u)) continue;
		if (!find_conflict(x, t, u, columns,
		                   s->conflict == CONFLICT_NOTHING ? WAY_NOTHING
		                                                   : WAY_UPDATE,
		                   &old))
			return false;
		if (!old) continue;
		*done = true;
		if (s->conflict == CONFLICT_UPDATE)
			return update_instead(x, s, old, columns);
	}
	return true;
}

static bool insert_row(struct sql_run *x, const struct sql_statement *s,
                       struct value *columns)
{
	const struct sql_table *t = s->table;
	struct value there = value_null();
	bool done = false, kept;
	if (!sql_fire_before(x, t, NULL, &columns, &kept)) return false;
	if (!kept) return true;
	const struct value *rows[] = { columns };
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	if (!check_row(x, t, columns)) return false;
	if (s->conflict != CONFLICT_ERROR &&
	    (!meet_conflicts(x, s, columns, &done) || done))
		return done && x->stop == SQL_GOES_ON;
	struct value key =
		t->primary ? sql_key(x, t->primary, columns) : sql_birth(x);
	columns[t->column_count] = key;
	if (t->primary) {
		if (!look(x, t->global, key, WAY_ERROR, &there)) return false;
		if (!sql_is_gone(there)) return is_double(x, t->primary);
	}
	sql_born(x, t, columns, there);
	if (!enter(x, t, columns, NULL, key)) return false;
	sql_write(x, t, t->global, key, sql_row(x, t, columns),
	          STRENGTH_UPDATE);
	sql_refer(x, t, NULL, columns);
	return add_returned(x, s, &f);
}

/* The columns of a new row, from those given; `values`: NULL is DEFAULT. */
static bool new_row(struct sql_run *x, const struct sql_statement *s,
                    const struct value *given, const struct sql_expr **values,
                    struct value **out)
{
	const struct sql_table *t = s->table;
	struct sql_frame none = { .outer = x->outer };
	struct value *columns = *out = region_take0(x->region, sql_row_size(t));
	bool *set = region_take0(x->region, t->column_count + 1);
	for (uint32_t i = 0; i < s->set_count; i++) {
		uint32_t c = s->sets[i].column;
		assert(c < t->column_count);
		if (values && !values[i]) continue;
		set[c] = true;
		if (given)
			columns[c] = given[i];
		else if (!sql_eval(x, &none, values[i], &columns[c]))
			return false;
	}
	for (uint32_t c = 0; c < t->column_count; c++)
		if (!set[c] && !default_of(x, &t->columns[c], &columns[c]))
			return false;
	return true;
}

static bool run_insert(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_query *q = s->query;
	struct sql_rows rows = { 0 };
	struct value *columns;
	/* VALUES of an INSERT may have DEFAULT in it. */
	if (q->value_count && !q->targets) {
		for (uint32_t i = 0; i < q->value_count; i++)
			if (!new_row(x, s, NULL,
			             q->target_count ? q->values[i] : NULL,
			             &columns) ||
			    !insert_row(x, s, columns))
				return false;
		return true;
	}
	if (!sql_run_query(x, q, x->outer, &rows)) return false;
	for (uint32_t i = 0; i < rows.count; i++)
		if (!new_row(x, s, rows.items[i], NULL, &columns) ||
		    !insert_row(x, s, columns))
			return false;
	return true;
}

/* ---- Before that ---- */

static bool look_at_sets(struct sql_run *x, const struct sql_frame *f,
                         const struct sql_table *t, const struct sql_set *sets,
                         uint32_t count, struct value *columns)
{
	const struct value *rows[] = { columns };
	struct sql_frame made = { .rows = rows };
	struct value out;
	for (uint32_t i = 0; i < count; i++) {
		bool fine =
			!sets[i].value || sql_eval(x, f, sets[i].value, &out);
		if (!sql_looks_on(x, fine)) return false;
		if (fine && sets[i].value) columns[sets[i].column] = out;
	}
	for (uint32_t c = 0; count && c < t->column_count; c++) {
		if (!t->columns[c].made) continue;
		bool fine = sql_eval(x, &made, t->columns[c].made, &out);
		if (!sql_looks_on(x, fine)) return false;
		if (fine) columns[c] = out;
	}
	return true;
}

static bool look_at_returned(struct sql_run *x, const struct sql_statement *s,
                             const struct value **rows)
{
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	struct value out;
	for (uint32_t i = 0; i < s->returning_count; i++)
		if (!sql_looks_on(x,
		                  sql_eval(x, &f, s->returning[i].value, &out)))
			return false;
	return true;
}

/* What is done with a row; of an INSERT, with the one in its way as well. What
 * is returned is of the row that it becomes, as far as that is known. */
static bool look_at_row(struct sql_run *x, const void *what,
                        const struct value **rows)
{
	const struct sql_statement *s = what;
	struct sql_frame f = { .outer = x->outer, .rows = rows };
	bool inserts = s->kind == STATEMENT_INSERT, holds;
	uint32_t count = inserts ? s->conflict_set_count : s->set_count;
	const struct value *found = rows[0];
	struct value *columns = copy_columns(x, s->table, found);
	if (s->conflict_where &&
	    !sql_looks_on(x,
	                  sql_eval_condition(x, &f, s->conflict_where, &holds)))
		return false;
	if (!look_at_sets(x, &f, s->table, inserts ? s->conflict_sets : s->sets,
	                  count, columns))
		return false;
	rows[0] = columns;
	bool fine = look_at_returned(x, s, rows);
	rows[0] = found;
	return fine;
}

/* With a new row, and each that can be in its way. */
static bool look_at_met(struct sql_run *x, const struct sql_statement *s,
                        const struct value *new)
{
	const struct sql_table *t = s->table;
	const struct value *both[] = { new, new };
	const struct known_rows *all = known_of(x->known, t->global);
	if (!look_at_row(x, s, both) ||
	    (s->conflict_set_count && !look_at_returned(x, s, both)))
		return false;
	if (!s->follows_rows || !s->arbiter) return true;
	struct value key = sql_key(x, s->arbiter, new);
	for (uint32_t i = 0; i < all->count; i++)
		for (uint32_t v = 0; v < all->items[i]->count; v++) {
			both[0] = sql_columns(x, t, all->items[i]->key,
			                      all->items[i]->versions[v]);
			if (!value_equal(key, sql_key(x, s->arbiter, both[0])))
				continue;
			if (!sql_spend(x, 0) || !look_at_row(x, s, both))
				return false;
		}
	return true;
}

bool sql_look_at_change(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_query *q = s->query;
	struct sql_matches matches = { 0 };
	struct sql_rows rows = { 0 };
	struct value *columns;
	bool values = q->value_count && !q->targets;
	assert(x->looks && !x->serial);
	if (s->kind != STATEMENT_INSERT) {
		if (!sql_looks_on(x, sql_match(x, q, x->outer, &matches)))
			return false;
		for (uint32_t i = 0; i < matches.count; i++)
			if (!(s->follows_rows
			              ? sql_look_at_versions(x, q, x->outer,
			                                     matches.items[i],
			                                     look_at_row, s)
			              : look_at_row(x, s, matches.items[i])))
				return false;
		return true;
	}
	if (!values && !sql_looks_on(x, sql_run_query(x, q, x->outer, &rows)))
		return false;
	for (uint32_t i = 0; i < (values ? q->value_count : rows.count); i++) {
		const struct sql_expr **given =
			values && q->target_count ? q->values[i] : NULL;
		if (!sql_looks_on(x,
		                  new_row(x, s, values ? NULL : rows.items[i],
		                          given, &columns)))
			return false;
		if (!look_at_met(x, s, columns)) return false;
	}
	return true;
}

/* ---- The schema ---- */

/* Rows that are there get their entries. */
static bool run_index(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	const struct known_rows *rows = known_of(x->known, t->global);
	assert(x->serial);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct known_row *row = rows->items[i];
		struct value entry, holder;
		if (!row->initial) continue;
		const struct value *columns =
			sql_columns(x, t, row->key, row->versions[0]);
		if (!find_entry(x, s->arbiter, columns, WAY_ERROR, &entry,
		                &holder))
			return false;
		if (!sql_is_null(holder))
			return sql_run_fails(x, "23505",
			                     "could not create unique index "
			                     "\"%s\"",
			                     s->arbiter->name);
		if (!sql_is_null(entry))
			sql_write(x, NULL, s->arbiter->global, entry, row->key,
			          STRENGTH_UPDATE);
		/* The rows of another global may have moved. */
		rows = known_of(x->known, t->global);
	}
	return true;
}

/* Rows had their birth as a key. */
static bool run_key(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	const struct sql_unique *u = t->primary;
	assert(x->serial && u);
	for (uint32_t i = 0; i < known_of(x->known, s->old_global)->count;
	     i++) {
		const struct known_row *old =
			known_of(x->known, s->old_global)->items[i];
		struct value there;
		if (!old->initial) continue;
		struct value *columns = copy_columns(
			x, t, sql_columns(x, t, old->key, old->versions[0]));
		struct value key = sql_key(x, u, columns);
		if (sql_is_null(key))
			return sql_run_fails(x, "23502",
			                     "a column of primary key \"%s\" "
			                     "contains null values",
			                     u->name);
		if (!sql_read(x, t->global, key, STRENGTH_UPDATE, &there))
			return false;
		if (!sql_is_null(there))
			return sql_run_fails(x, "23505",
			                     "could not create unique index "
			                     "\"%s\"",
			                     u->name);
		leave(x, t, columns);
		columns[t->column_count] = key;
		sql_write(x, t, t->global, key, sql_row(x, t, columns),
		          STRENGTH_UPDATE);
		sql_write(x, t, s->old_global, old->key, value_null(),
		          STRENGTH_UPDATE);
		if (!enter(x, t, columns, NULL, key)) return false;
	}
	return true;
}

static bool run_check(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	const struct known_rows *rows = known_of(x->known, t->global);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct known_row *row = rows->items[i];
		if (!row->initial) continue;
		const struct value *columns =
			sql_columns(x, t, row->key, row->versions[0]);
		if (!check_row(x, t, copy_columns(x, t, columns)) ||
		    !sql_check_foreigns(x, t, columns))
			return false;
	}
	return true;
}

static bool run_truncate(struct sql_run *x, const struct sql_statement *s)
{
	assert(x->serial);
	for (uint32_t n = 0; n < s->table_count; n++) {
		const struct sql_table *t = s->tables[n];
		for (uint32_t i = 0; i < known_of(x->known, t->global)->count;
		     i++) {
			const struct known_row *row =
				known_of(x->known, t->global)->items[i];
			if (!row->initial) continue;
			leave(x, t,
			      sql_columns(x, t, row->key, row->versions[0]));
			sql_write(x, t, t->global, row->key, value_null(),
			          STRENGTH_UPDATE);
		}
	}
	return true;
}

/* What triggers of statements see: ON CONFLICT DO UPDATE is both, whatever it
 * does. */
static bool begin_change(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	bool both = s->conflict == CONFLICT_UPDATE;
	x->sets = both ? s->conflict_sets : s->sets;
	x->set_count = both ? s->conflict_set_count : s->set_count;
	if (s->kind == STATEMENT_DELETE)
		return sql_fire_statement(x, t, EVENT_DELETE);
	if (s->kind == STATEMENT_INSERT &&
	    !sql_fire_statement(x, t, EVENT_INSERT))
		return false;
	return (s->kind == STATEMENT_INSERT && !both) ||
	       sql_fire_statement(x, t, EVENT_UPDATE);
}

static bool end_change(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	if (s->kind == STATEMENT_DELETE) sql_note_statement(x, t, EVENT_DELETE);
	if (s->kind == STATEMENT_UPDATE || s->conflict == CONFLICT_UPDATE)
		sql_note_statement(x, t, EVENT_UPDATE);
	if (s->kind == STATEMENT_INSERT) sql_note_statement(x, t, EVENT_INSERT);
	return sql_run_referrals(x);
}

bool sql_change(struct sql_run *x, const struct sql_statement *s)
{
	switch (s->kind) {
	case STATEMENT_INSERT:
		return begin_change(x, s) && run_insert(x, s) &&
		       end_change(x, s);
	case STATEMENT_UPDATE:
	case STATEMENT_DELETE:
		return begin_change(x, s) && run_change(x, s) &&
		       end_change(x, s);
	case STATEMENT_INDEX: return run_index(x, s);
	case STATEMENT_KEY: return run_key(x, s);
	case STATEMENT_CHECK: return run_check(x, s);
	case STATEMENT_TRUNCATE: return run_truncate(x, s);
	default: return true;
	}
}
