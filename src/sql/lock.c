/* Rows that a statement finds and locks: it found them as they were at its
 * beginning; another may have changed them since, and have committed. Where it
 * could as well have begun behind that, this is not explored. */
#include <assert.h>

#include "base/memory.h"
#include "sql/convert.h"
#include "sql/run.h"

/* Do the joined rows satisfy what FROM asks of them? An outer join holds,
 * whatever its condition, where there is no row on its other side. */
static bool joins_hold(struct sql_run *x, const struct sql_frame *f,
                       const struct sql_from *from, bool *holds)
{
	if (from->join == JOIN_NONE) return true;
	if (!joins_hold(x, f, from->a, holds)) return false;
	if (!*holds) return true;
	const struct sql_from *b = from->b;
	if (from->join == JOIN_LEFT) {
		while (b->join != JOIN_NONE) b = b->a;
		if (!f->rows[b->relation]) return true;
	}
	if (!joins_hold(x, f, from->b, holds)) return false;
	return !*holds || !from->on ||
	       sql_eval_condition(x, f, from->on, holds);
}

/* The conditions again, on the newest versions; all else is as it was. */
static bool still_found(struct sql_run *x, const struct sql_query *q,
                        const struct sql_frame *outer,
                        const struct value **rows, bool *out)
{
	struct sql_frame f = { .outer = outer, .rows = rows };
	*out = true;
	if (!joins_hold(x, &f, q->from, out)) return false;
	return !*out || !q->where || sql_eval_condition(x, &f, q->where, out);
}

static bool are_same(const struct value *a, const struct value *b,
                     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!value_equal(a[i], b[i])) return false;
	return true;
}

/* Was this row the last to be read? One that the transaction has written is not
 * read. */
static bool has_read_last(const struct sql_run *x, const struct sql_table *t,
                          struct value key)
{
	if (!x->read_count) return false;
	const struct sql_read *last = &x->reads[x->read_count - 1];
	return last->global == t->global && value_equal(last->key, key);
}

/* Has the statement read this row alone, once, which its conditions name by the
 * key and nothing else? */
static bool reads_alone(const struct sql_run *x, const struct sql_query *q,
                        struct value key)
{
	if (!q->alone || !q->relations[0].access.key_alone ||
	    !has_read_last(x, q->relations[0].table, key))
		return false;
	const struct sql_read *last = &x->reads[x->read_count - 1];
	return last->strength == STRENGTH_PLAIN && !last->joined;
}

bool sql_comes_later(const struct sql_run *x, const struct sql_table *t,
                     const struct value *found, const struct value *now)
{
	if (!has_read_last(x, t, found[t->column_count])) return false;
	return now ? !are_same(now, found, t->column_count)
	           : sql_is_null(x->values[x->read_count - 1]);
}

bool sql_lock_rows(struct sql_run *x, const struct sql_query *q,
                   const struct sql_frame *outer, const struct value **rows,
                   bool *kept)
{
	bool changed = false;
	assert(q->relation_count && !x->looks && !x->tables);
	*kept = true;
	for (uint32_t i = 0; i < q->relation_count; i++) {
		const struct sql_table *t = q->relations[i].table;
		const struct value *columns;
		if (!q->relations[i].lock || !rows[i]) continue;
		assert(t && q->relations[i].lock < STRENGTH_COUNT);
		bool alone = reads_alone(x, q, rows[i][t->column_count]);
		if (!sql_read_again(x, t, q->relations[i].lock, STRENGTH_PLAIN,
		                    rows[i], &columns))
			return false;
		if (alone && sql_comes_later(x, t, rows[i], columns)) {
			x->stop = SQL_REPEATS;
			return false;
		}
		if (!columns) {
			*kept = false;
			return true;
		}
		changed |= !are_same(columns, rows[i], t->column_count);
		rows[i] = columns;
	}
	assert(x->stop == SQL_GOES_ON);
	return !changed || still_found(x, q, outer, rows, kept);
}

/* What is done with the rows of a query, by what they can be. */
struct looking {
	const struct sql_query *query;
	const struct sql_frame *outer;
	sql_look *look;
	const void *what;
};

/* From relation number i on, rows are what they can be. */
static bool look_from(struct sql_run *x, const struct looking *l,
                      const struct value **rows, uint32_t i)
{
	const struct sql_query *q = l->query;
	struct sql_rows all;
	bool fine = true, kept;
	if (i == q->relation_count)
		return sql_looks_on(x,
		                    still_found(x, q, l->outer, rows, &kept)) &&
		       (!kept || l->look(x, l->what, rows));
	const struct value *found = rows[i];
	if (!q->relations[i].lock || !found)
		return look_from(x, l, rows, i + 1);
	sql_versions(x, q->relations[i].table, found, &all);
	for (uint32_t k = 0; k < all.count && fine; k++) {
		rows[i] = all.items[k];
		fine = sql_spend(x, 0) && look_from(x, l, rows, i + 1);
	}
	rows[i] = found;
	return fine;
}

bool sql_look_at_versions(struct sql_run *x, const struct sql_query *q,
                          const struct sql_frame *outer,
                          const struct value **rows, sql_look *look,
                          const void *what)
{
	assert(x->looks && q->relation_count);
	return look_from(x, &(struct looking){ q, outer, look, what }, rows, 0);
}
