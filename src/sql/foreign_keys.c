/* Foreign keys, as PostgreSQL's triggers see to them: at the end of a
 * statement, row by row, in statements of their own. A row that refers locks
 * the one that it refers to, which then cannot go; one that goes looks for
 * those that refer to it, as they are at that moment, at every level, and locks
 * these. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/convert.h"
#include "sql/run.h"

/* ---- Noting ---- */

static bool differ(const struct value *a, const struct value *b,
                   const uint32_t *columns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!value_equal(a[columns[i]], b[columns[i]])) return true;
	return false;
}

static void note(struct sql_run *x, struct sql_referral r)
{
	struct sql_referral *kept = region_take(x->region, sizeof *kept);
	*kept = r;
	if (!x->referrals) x->last_referral = &x->referrals;
	*x->last_referral = kept;
	x->last_referral = &kept->next;
}

void sql_refer(struct sql_run *x, const struct sql_table *t,
               const struct value *old, const struct value *new)
{
	assert(old || new);
	for (const struct sql_foreign *f = t->referrers; old && f;
	     f = f->next_to)
		if (!new || differ(old, new, f->to_columns, f->count))
			note(x, (struct sql_referral){
					.foreign = f, .old = old, .new = new });
	for (const struct sql_foreign *f = t->foreigns; new &&f;
	     f = f->next_from)
		if (!old || differ(old, new, f->columns, f->count))
			note(x, (struct sql_referral){ .foreign = f,
			                               .old = old,
			                               .new = new,
			                               .checks = true });
	for (const struct sql_trigger *g = t->triggers; g; g = g->next)
		if (sql_is_fired(x, g, false, false, sql_event_of(old, new)))
			note(x, (struct sql_referral){ .table = t,
			                               .trigger = g,
			                               .old = old,
			                               .new = new });
}

void sql_note_statement(struct sql_run *x, const struct sql_table *t,
                        enum sql_event event)
{
	for (const struct sql_trigger *g = t->triggers; g; g = g->next)
		if (sql_is_fired(x, g, false, true, event))
			note(x, (struct sql_referral){ .table = t,
			                               .trigger = g,
			                               .event = event });
}

/* ---- The row that is referred to ---- */

/* What these columns refer to; NULL: nothing. */
static struct value referred_key(struct sql_run *x, const struct sql_foreign *f,
                                 const struct value *columns)
{
	struct sql_unique u = *sql_foreign_unique(f);
	u.columns = f->columns;
	return sql_key(x, &u, columns);
}

/* Has a version of this row that is known the key that is referred to? */
static bool may_be_referred(struct sql_run *x, const struct sql_foreign *f,
                            const struct known_row *row, struct value to)
{
	const struct sql_unique *u = sql_foreign_unique(f);
	bool found = false;
	for (uint32_t i = 0; i < row->count && !found; i++) {
		struct region_mark mark = region_mark(x->region);
		found = value_equal(sql_key(x, u,
		                            sql_columns(x, f->to, row->key,
		                                        row->versions[i])),
		                    to);
		region_release(x->region, mark);
	}
	return found;
}

/* Can the row be missing when it is looked for, which locks nothing, or the key
 * that is referred to be another row's, behind that of this key? */
static bool may_pass_on(struct sql_run *x, const struct sql_foreign *f,
                        struct value key, struct value to)
{
	const struct known_rows *all = known_of(x->known, f->to->global);
	const struct known_row *row = known_find(x->known, f->to->global, key);
	if (x->serial) return false;
	if (!row || !row->initial) return true;
	bool passes = row->deleted && known_comes_again(row, f->to);
	for (uint32_t i = 0; f->unique && i < all->count && !passes; i++)
		passes = all->items[i] != row &&
		         may_be_referred(x, f, all->items[i], to);
	return passes;
}

/* Keeps the row of this key from going: *there. One that was found and goes, or
 * gets another key, before it is locked is not there, even if the key is there
 * again. */
static bool keep_referred(struct sql_run *x, const struct sql_foreign *f,
                          struct value key, struct value to, bool *there)
{
	const struct sql_table *t = f->to;
	bool passes = may_pass_on(x, f, key, to);
	const struct value *newest, *found;
	struct value row;
	if (!sql_read(x, t->global, key,
	              passes ? STRENGTH_PLAIN : STRENGTH_KEY_SHARE, &row))
		return false;
	*there = !sql_is_gone(row);
	if (!passes || !*there) return true;
	sql_begin_moment(x);
	x->read_base = x->read_count;
	found = sql_columns(x, t, key, row);
	if (!sql_read_again(x, t, STRENGTH_KEY_SHARE, STRENGTH_PLAIN, found,
	                    &newest))
		return false;
	if (!f->unique && sql_comes_later(x, t, found, newest)) {
		x->stop = SQL_REPEATS;
		return false;
	}
	*there = newest &&
	         value_equal(sql_key(x, sql_foreign_unique(f), newest), to);
	return true;
}

static bool check_referred(struct sql_run *x, const struct sql_foreign *f,
                           const struct value *columns)
{
	struct value to = referred_key(x, f, columns), key = to;
	bool there = false;
	if (sql_is_null(to)) return true;
	if (f->unique && !sql_read(x, sql_foreign_unique(f)->global, to,
	                           STRENGTH_PLAIN, &key))
		return false;
	if (!sql_is_null(key) && !keep_referred(x, f, key, to, &there))
		return false;
	if (there) return true;
	return sql_run_fails(x, "23503",
	                     "insert or update on table \"%s\" violates "
	                     "foreign key constraint \"%s\"",
	                     f->from->name, f->name);
}

bool sql_check_foreigns(struct sql_run *x, const struct sql_table *t,
                        const struct value *columns)
{
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		if (!check_referred(x, f, columns)) return false;
	return true;
}

/* ---- The rows that refer ---- */

static bool refers(struct sql_run *x, const struct sql_foreign *f,
                   const struct value *columns, struct value to)
{
	struct value key = referred_key(x, f, columns);
	return !sql_is_null(key) && !known_compare(key, to);
}

static bool may_refer(struct sql_run *x, const struct sql_foreign *f,
                      const struct known_row *row, struct value to)
{
	bool found = false;
	for (uint32_t i = 0; i < row->count && !found; i++)
		found = refers(
			x, f,
			sql_columns(x, f->from, row->key, row->versions[i]),
			to);
	return found;
}

/* The row that refers is changed with the one that it refers to, unless it does
 * not refer any more by the time when it is locked. It is looked for beside the
 * snapshot; what is changed has to be in that. */
static bool follow(struct sql_run *x, const struct sql_foreign *f,
                   enum sql_action action, struct value to,
                   const struct value *row, const struct value *new)
{
	const struct sql_table *t = f->from;
	const struct value *old;
	struct value *columns = NULL;
	bool removes = action == ACTION_CASCADE && !new, kept;
	assert(action == ACTION_CASCADE || action == ACTION_SET_NULL);
	if (!sql_read_again(x, t,
	                    removes ? STRENGTH_UPDATE : STRENGTH_NO_KEY_UPDATE,
	                    STRENGTH_CHECK, row, &old))
		return false;
	if (!old || !refers(x, f, old, to)) return true;
	x->sets = NULL;
	if (removes) {
		return sql_fire_before(x, t, old, &columns, &kept) &&
		       (!kept || sql_remove(x, t, old));
	}
	size_t size = sql_row_size(t);
	columns = memcpy(region_take(x->region, size), old, size);
	for (uint32_t i = 0; i < f->count; i++)
		columns[f->columns[i]] = action == ACTION_SET_NULL
		                                 ? value_null()
		                                 : new[f->to_columns[i]];
	return sql_fire_before(x, t, old, &columns, &kept) &&
	       (!kept || sql_replace(x, t, old, columns));
}

static bool forbid(struct sql_run *x, const struct sql_foreign *f)
{
	return sql_run_fails(x, "23503",
	                     "update or delete on table \"%s\" violates "
	                     "foreign key constraint \"%s\" on table \"%s\"",
	                     f->to->name, f->name, f->from->name);
}

static int order_of_keys(const void *a, const void *b)
{
	return known_compare(*(const struct value *)a,
	                     *(const struct value *)b);
}

/* Keys of rows that may refer to it, in their order. */
static struct value *referring_keys(struct sql_run *x,
                                    const struct sql_foreign *f,
                                    struct value to, uint32_t *count)
{
	uint32_t global = f->from->global, most;
	const struct known_rows *rows = known_of(x->known, global);
	most = rows->count + 1;
	for (const struct sql_write *w = x->writes; w; w = w->older) most++;
	struct value *keys = region_take(x->region, most * sizeof *keys);
	*count = 0;
	for (const struct sql_write *w = x->writes; w; w = w->older)
		if (sql_own_write(x, x->writes, global, w->key) == w)
			keys[(*count)++] = w->key;
	for (uint32_t i = 0; i < rows->count; i++)
		if (!sql_own_write(x, x->writes, global, rows->items[i]->key) &&
		    may_refer(x, f, rows->items[i], to))
			keys[(*count)++] = rows->items[i]->key;
	qsort(keys, *count, sizeof *keys, order_of_keys);
	assert(*count < most);
	return keys;
}

/* Is there a row with the key again, which the statement itself has made? */
static bool is_there_again(struct sql_run *x, const struct sql_foreign *f,
                           struct value key)
{
	const struct sql_write *w = sql_own_write(
		x, x->writes,
		f->unique ? sql_foreign_unique(f)->global : f->to->global, key);
	return w && !sql_is_gone(w->row);
}

static bool check_referring(struct sql_run *x, const struct sql_foreign *f,
                            const struct value *old, const struct value *new)
{
	enum sql_action action = new ? f->on_update : f->on_delete;
	struct value to = sql_key(x, sql_foreign_unique(f), old);
	uint32_t count, found = 0;
	struct value row;
	if (sql_is_null(to) ||
	    (action == ACTION_NONE && is_there_again(x, f, to)))
		return true;
	struct value *keys = referring_keys(x, f, to, &count);
	const struct value **rows =
		region_take(x->region, (count + (size_t)1) * sizeof *rows);
	for (uint32_t i = 0; i < count; i++) {
		if (!sql_read(x, f->from->global, keys[i], STRENGTH_CHECK,
		              &row))
			return false;
		if (sql_is_gone(row)) continue;
		rows[found] = sql_columns(x, f->from, keys[i], row);
		if (!refers(x, f, rows[found], to)) continue;
		if (action == ACTION_NONE || action == ACTION_RESTRICT)
			return sql_read(x, f->from->global, keys[i],
			                STRENGTH_HELD, &row) &&
			       forbid(x, f);
		found++;
	}
	assert(found <= count);
	for (uint32_t i = 0; i < found; i++)
		if (!follow(x, f, action, to, rows[i], new)) return false;
	return true;
}

bool sql_run_referrals(struct sql_run *x)
{
	/* What follows a change of theirs is looked at right after it. */
	struct sql_referral *all = x->referrals;
	x->referrals = NULL;
	for (struct sql_referral *r = all; r; r = r->next) {
		x->written_before = x->writes;
		sql_begin_moment(x);
		x->read_base = x->read_count;
		bool fine = r->trigger  ? sql_fire_after(x, r)
		            : r->checks ? check_referred(x, r->foreign, r->new)
		                        : check_referring(x, r->foreign, r->old,
		                                          r->new);
		if (!fine || !sql_run_referrals(x)) return false;
	}
	assert(!x->referrals);
	return true;
}
