/* Which rows queries read. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/sql_lower.h"
#include "sql/procs.h"
#include "sql/walk.h"

struct sql_branch prove_enter(struct sql_lowering *l, uint32_t condition)
{
	struct sql_branch b = { .before = l->b.live };
	b.entered = l->b.live = node_and(l->b.s, l->b.live, condition);
	return b;
}

void prove_leave(struct sql_lowering *l, struct sql_branch b)
{
	struct summary *s = l->b.s;
	uint32_t skipped = node_and(s, b.before, node_not(s, b.entered));
	/* Nothing has ended it: as if it had not been entered. */
	l->b.live = l->b.live == b.entered ? b.before
	                                   : node_or(s, l->b.live, skipped);
}

/* ---- keys ---- */

static uint32_t *take(struct sql_lowering *l, uint32_t count)
{
	return region_take0(&l->b.app->region,
	                    (count + (size_t)1) * sizeof(uint32_t));
}

static uint32_t key_columns(const struct sql_table *t)
{
	return t->primary ? t->primary->count : 0;
}

static bool is_key_column(const struct sql_table *t, uint32_t column)
{
	for (uint32_t i = 0; i < key_columns(t); i++)
		if (t->primary->columns[i] == column) return true;
	return false;
}

uint32_t prove_table_family(struct sql_lowering *l, const struct sql_table *t)
{
	struct application *a = l->b.app;
	uint32_t n = key_columns(t), part = 1;
	uint32_t f = application_family(a, t->name, n ? n : 1,
	                                1 + t->column_count - n);
	if (a->families[f].parts) return f;
	const char **parts = region_take0(
		&a->region, a->families[f].value_count * sizeof *parts);
	for (uint32_t c = 0; c < t->column_count; c++)
		if (!is_key_column(t, c)) parts[part++] = t->columns[c].name;
	a->families[f].parts = parts;
	return f;
}

struct build_key prove_row_key(struct sql_lowering *l,
                               const struct sql_table *t, uint32_t *index)
{
	uint32_t n = key_columns(t);
	return (struct build_key){ .family = prove_table_family(l, t),
		                   .indexes = index,
		                   .count = n ? n : 1 };
}

/* A key of any value. */
static uint32_t *any_index(struct sql_lowering *l, const struct sql_table *t)
{
	uint32_t n = key_columns(t), *index = take(l, n);
	index[0] = build_unknown(&l->b);
	for (uint32_t i = 0; i < n; i++) {
		index[i] = build_unknown(&l->b);
		prove_assume(l, prove_has_type(
					l, index[i],
					t->columns[t->primary->columns[i]].type,
					false));
	}
	return index;
}

uint32_t *prove_index_of(struct sql_lowering *l, const struct sql_table *t,
                         const uint32_t *columns)
{
	uint32_t n = key_columns(t), *index = take(l, n);
	if (!n) return any_index(l, t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = t->primary->columns[i];
		/* Equal values may be written in several ways. */
		index[i] = prove_is_exact(t->columns[c].type.kind)
		                   ? columns[c]
		                   : build_unknown(&l->b);
	}
	return index;
}

/* ---- reads and writes ---- */

uint32_t prove_read_row(struct sql_lowering *l, const struct sql_table *t,
                        uint32_t *index, enum strength strength, bool beside,
                        uint32_t **columns)
{
	struct summary *s = l->b.s;
	struct build_key k = prove_row_key(l, t, index);
	uint32_t number = s->access_count, part = 1;
	const uint32_t *values = build_read(&l->b, &k, strength, l->line);
	struct access *a = &s->accesses[number];
	a->beside = beside;
	*columns = take(l, t->column_count);
	prove_assume(l, node_add(s, NODE_IS_BOOL, a->values[0], 0, 0));
	uint32_t gone =
		node_not(s, node_add(s, NODE_HOLDS, a->values[0], 0, 0));
	for (uint32_t c = 0; c < t->column_count; c++) {
		const struct sql_column *column = &t->columns[c];
		if (is_key_column(t, c)) continue;
		uint32_t typed =
			prove_has_type(l, s->accesses[number].values[part],
		                       column->type, !column->not_null);
		prove_assume(l, node_or(s, gone, typed));
		(*columns)[c] = values[part++];
	}
	for (uint32_t i = 0; i < key_columns(t); i++)
		(*columns)[t->primary->columns[i]] = index[i];
	return prove_holds(l, values[0]);
}

void prove_write_row(struct sql_lowering *l, const struct sql_table *t,
                     uint32_t *index, enum strength strength, bool there,
                     const uint32_t *columns, bool many)
{
	struct build_key k = prove_row_key(l, t, index);
	uint32_t *values = take(l, t->column_count + 1), part = 0;
	values[part++] = build_constant(&l->b, value_bool(there));
	for (uint32_t c = 0; c < t->column_count; c++)
		if (!is_key_column(t, c))
			values[part++] =
				there ? columns[c] : prove_null_node(l);
	l->b.rounds += many;
	build_write(&l->b, &k, strength, values, l->line);
	l->b.rounds -= many;
}

/* ---- what is not followed ---- */

static void hidden_row(struct sql_lowering *l, const struct sql_table *t,
                       enum strength lock)
{
	uint32_t *columns, *index = any_index(l, t);
	struct sql_branch b = prove_enter(l, build_guess(&l->b));
	prove_read_row(l, t, index, STRENGTH_PLAIN, false, &columns);
	if (lock) prove_read_row(l, t, index, lock, true, &columns);
	prove_leave(l, b);
}

static void hidden_part(void *data, const struct sql_expr *e)
{
	prove_hidden_expr(data, e);
}

void prove_hidden_expr(struct sql_lowering *l, const struct sql_expr *e)
{
	if (!e || build_is_full(&l->b)) return;
	if (e->kind == EXPR_ROUTINE)
		prove_uncovered(l, e->at, "a call within a query");
	sql_expr_parts(e, hidden_part, l);
	if (e->query) prove_hidden_query(l, e->query);
}

static void hidden_relation(struct sql_lowering *l,
                            const struct sql_relation *r)
{
	if (r->kind == RELATION_QUERY) prove_hidden_query(l, r->query);
	if (r->kind == RELATION_CALL) prove_hidden_expr(l, r->call);
	for (int i = 0; i < SQL_ROWS && r->kind == RELATION_TABLE; i++)
		hidden_row(l, r->table, r->lock);
}

void prove_hidden_query(struct sql_lowering *l, const struct sql_query *q)
{
	for (uint32_t i = 0; i < q->relation_count; i++)
		hidden_relation(l, &q->relations[i]);
	sql_query_parts(q, hidden_part, l);
}

/* ---- what is ---- */

static bool is_inner(const struct sql_from *f)
{
	return f->join == JOIN_NONE ||
	       (f->join == JOIN_INNER && is_inner(f->a) && is_inner(f->b));
}

/* Rows of the first table, or of a routine, and of others by key. */
static bool is_followed(const struct sql_query *q)
{
	if (q->combination || !q->from || !is_inner(q->from) ||
	    q->relation_count > SQL_RELATIONS)
		return false;
	for (uint32_t i = prove_is_row_call(q); i < q->relation_count; i++)
		if (q->relations[i].kind != RELATION_TABLE ||
		    (i && !q->relations[i].access.key))
			return false;
	return true;
}

/* Does it mention no other column of the relation than the key's? */
static bool about_key(const struct sql_table *t, uint32_t relation,
                      const struct sql_expr *e)
{
	if (e->query) return false;
	if (e->kind == EXPR_COLUMN)
		return e->up || e->relation != relation ||
		       is_key_column(t, e->column);
	for (uint32_t i = 0; i < e->count; i++)
		if (!about_key(t, relation, e->args[i])) return false;
	return true;
}

/* A row being found. */
struct row_search {
	struct sql_lowering *l;
	const struct sql_query *q;
	struct sql_scope scope;
	struct sql_found *row;
	bool many;
};

/* The key that the conditions name; the condition that there is one. */
static uint32_t named_index(struct row_search *f, uint32_t i, uint32_t **index)
{
	struct sql_lowering *l = f->l;
	const struct sql_relation *r = &f->q->relations[i];
	const struct sql_table *t = r->table;
	uint32_t n = t->primary->count, named = TRUE_NODE;
	*index = take(l, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct sql_expr *e = r->access.key[k];
		struct sql_type to = t->columns[t->primary->columns[k]].type;
		uint32_t v = prove_value(l, &f->scope, e);
		bool same =
			prove_is_exact(to.kind) &&
			(e->type.kind == to.kind ||
		         (sql_is_integer(e->type.kind) &&
		          sql_is_integer(to.kind)) ||
		         (sql_is_string(e->type.kind) &&
		          e->type.kind != SQL_CHAR && sql_is_string(to.kind)));
		named = node_and(l->b.s, named,
		                 node_not(l->b.s, prove_is_null_node(l, v)));
		(*index)[k] = same ? v : build_unknown(&l->b);
		if (!i && sql_has_query(e)) {
			l->known = e;
			l->known_value = v;
		}
	}
	return named;
}

/* All conditions on the row alone: those about the key, or the others. */
static uint32_t conditions(struct row_search *f, uint32_t i, bool key)
{
	struct sql_lowering *l = f->l;
	const struct sql_relation *r = &f->q->relations[i];
	const struct sql_access *a = &r->access;
	uint32_t holds = TRUE_NODE;
	l->conditions++;
	for (uint32_t k = 0; k < a->condition_count; k++) {
		const struct sql_expr *e = a->conditions[k];
		if (sql_has_query(e) || about_key(r->table, i, e) != key)
			continue;
		holds = node_and(l->b.s, holds,
		                 prove_condition(l, &f->scope, e).yes);
	}
	l->conditions--;
	return holds;
}

/* Of a row that is locked: is it there always or never, so that it is not
 * looked for before? One that is not there is not locked either. */
static bool is_there_always_or_never(struct row_search *f, uint32_t i)
{
	const struct sql_relation *r = &f->q->relations[i];
	const struct sql_facts *facts = &f->l->facts[r->table->number];
	return r->lock && f->q->plain && r->access.key_alone &&
	       !facts->inserts && !facts->deletes;
}

/* The row of a key that set-up has made is locked at once, if nobody deletes
 * it. */
static void assume_looked_for(struct row_search *f, uint32_t i, uint32_t number,
                              uint32_t looked)
{
	struct sql_lowering *l = f->l;
	struct summary *s = l->b.s;
	const struct sql_relation *r = &f->q->relations[i];
	if (!r->lock || !f->q->plain || !r->access.key_alone ||
	    f->l->facts[r->table->number].deletes || f->many)
		return;
	uint32_t there =
		node_add(s, NODE_HOLDS, s->accesses[number].values[0], 0, 0);
	uint32_t first = node_add(s, NODE_FIRST, number, 0, 0);
	uint32_t both = node_and(s, node_and(s, looked, there), first);
	prove_assume(l, node_not(s, both));
}

/* The row of relation i, once those before it are there. */
static void find_row(struct row_search *f, uint32_t i)
{
	struct sql_lowering *l = f->l;
	struct summary *s = l->b.s;
	const struct sql_relation *r = &f->q->relations[i];
	const struct sql_table *t = r->table;
	uint32_t *index, *columns = take(l, t->column_count);
	uint32_t looks = TRUE_NODE, there = TRUE_NODE, looked = TRUE_NODE;
	struct sql_branch outer = prove_enter(l, f->row->found);
	if (r->access.key) {
		looks = named_index(f, i, &index);
	} else {
		index = any_index(l, t);
		looks = build_guess(&l->b);
	}
	for (uint32_t c = 0; c < t->column_count; c++)
		columns[c] = prove_null_node(l);
	for (uint32_t k = 0; k < key_columns(t); k++)
		columns[t->primary->columns[k]] = index[k];
	f->row->rows[i] = columns;
	struct sql_branch inner = prove_enter(l, looks);
	uint32_t fits = conditions(f, i, true);
	/* A key that is named is read whatever else is said of it. */
	if (!r->access.key) looks = node_and(s, looks, fits);
	struct sql_branch at = prove_enter(l, looks);
	if (is_there_always_or_never(f, i)) {
		there = build_guess(&l->b);
	} else {
		/* Rows that are found in any case are not looked for. */
		if (r->lock) looked = build_guess(&l->b);
		struct sql_branch look = prove_enter(l, looked);
		uint32_t number = s->access_count;
		there = prove_read_row(l, t, index, STRENGTH_PLAIN, false,
		                       &columns);
		assume_looked_for(f, i, number, s->accesses[number].happens);
		f->row->rows[i] = columns;
		struct sql_branch row = prove_enter(l, there);
		there = node_and(s, there, conditions(f, i, false));
		prove_leave(l, row);
		prove_leave(l, look);
		there = node_or(s, node_not(s, looked), there);
	}
	prove_leave(l, at);
	prove_leave(l, inner);
	prove_leave(l, outer);
	if (!i) f->row->index = index;
	if (!i) f->row->columns = columns;
	f->row->found = node_and(s, f->row->found, node_and(s, looks, there));
	if (r->access.key) f->row->found = node_and(s, f->row->found, fits);
}

static void find_call(struct row_search *f)
{
	struct sql_lowering *l = f->l;
	const struct sql_expr *call = f->q->relations[0].call;
	uint32_t *args = take(l, call->count);
	uint32_t *columns = take(l, call->routine->out_count);
	for (uint32_t i = 0; i < call->count; i++)
		args[i] = prove_value(l, &f->scope, call->args[i]);
	prove_call_row(l, call->routine, args, call->at, columns);
	f->row->rows[0] = columns;
}

static void hold_on(struct row_search *f, const struct sql_from *from)
{
	struct sql_lowering *l = f->l;
	if (from->join == JOIN_NONE) return;
	hold_on(f, from->a);
	hold_on(f, from->b);
	if (from->on)
		f->row->found =
			node_and(l->b.s, f->row->found,
		                 prove_condition(l, &f->scope, from->on).yes);
}

/* Does all that the query asks hold of the rows? */
static void hold_where(struct row_search *f)
{
	struct sql_lowering *l = f->l;
	struct sql_branch b = prove_enter(l, f->row->found);
	l->conditions++;
	hold_on(f, f->q->from);
	if (f->q->where)
		f->row->found = node_and(
			l->b.s, f->row->found,
			prove_condition(l, &f->scope, f->q->where).yes);
	l->conditions--;
	prove_leave(l, b);
}

static void lock_row(struct row_search *f, uint32_t i)
{
	struct sql_lowering *l = f->l;
	const struct sql_relation *r = &f->q->relations[i];
	uint32_t *index, *columns;
	struct sql_branch b = prove_enter(l, f->row->found);
	index = i ? prove_index_of(l, r->table, f->row->rows[i])
	          : f->row->index;
	if (l->facts[r->table->number].deletes) {
		/* It may be gone: it is looked at again before. */
		struct sql_branch again = prove_enter(l, build_guess(&l->b));
		prove_begin(l);
		prove_read_row(l, r->table, index, STRENGTH_PLAIN, false,
		               &columns);
		prove_leave(l, again);
	}
	uint32_t there =
		prove_read_row(l, r->table, index, r->lock, false, &columns);
	f->row->rows[i] = columns;
	if (!i) f->row->columns = columns;
	prove_leave(l, b);
	f->row->found = node_and(l->b.s, f->row->found, there);
}

static void lock_rows(struct row_search *f)
{
	bool locks = false;
	for (uint32_t i = 0; i < f->q->relation_count; i++) {
		if (!f->q->relations[i].lock) continue;
		lock_row(f, i);
		locks = true;
	}
	if (locks) hold_where(f);
}

static struct row_search row_search(struct sql_lowering *l,
                                    const struct sql_scope *outer,
                                    const struct sql_query *q,
                                    struct sql_rows_found *out, uint32_t k)
{
	struct row_search f = { .l = l, .q = q, .row = &out->items[k] };
	f.scope.outer = outer;
	f.scope.rows = f.row->rows;
	f.many = out->many;
	return f;
}

/* Of a change, rows that may be any. */
static void find_any(struct sql_lowering *l, const struct sql_query *q,
                     struct sql_rows_found *out)
{
	const struct sql_table *t = q->relations[0].table;
	out->count = SQL_ROWS;
	for (uint32_t k = 0; k < SQL_ROWS; k++) {
		struct sql_found *row = &out->items[k];
		row->found = build_guess(&l->b);
		row->index = any_index(l, t);
		struct sql_branch b = prove_enter(l, row->found);
		uint32_t there =
			prove_read_row(l, t, row->index, q->relations[0].lock,
		                       true, &row->columns);
		prove_leave(l, b);
		row->found = node_and(l->b.s, row->found, there);
		row->rows[0] = row->columns;
	}
}

void prove_find(struct sql_lowering *l, const struct sql_scope *outer,
                const struct sql_query *q, bool change,
                struct sql_rows_found *out)
{
	*out = (struct sql_rows_found){ .count = 1 };
	if (!is_followed(q) || l->depth >= SQL_DEPTH) {
		prove_hidden_query(l, q);
		out->any = out->many = true;
		out->count = 0;
		if (change) find_any(l, q, out);
		return;
	}
	l->depth++;
	uint32_t call = prove_is_row_call(q);
	out->many = !call && !q->relations[0].access.key;
	if (out->many) out->count = SQL_ROWS;
	for (uint32_t k = 0; k < out->count; k++) {
		struct row_search f = row_search(l, outer, q, out, k);
		f.row->found = TRUE_NODE;
		if (call) find_call(&f);
		for (uint32_t i = call; i < q->relation_count; i++)
			find_row(&f, i);
		hold_where(&f);
	}
	for (uint32_t k = 0; k < out->count; k++) {
		struct row_search f = row_search(l, outer, q, out, k);
		lock_rows(&f);
	}
	l->known = NULL;
	l->depth--;
}

/* ---- what comes out ---- */

/* One row, of values. */
static void targets(struct sql_lowering *l, const struct sql_scope *scope,
                    const struct sql_query *q, uint32_t found, uint32_t *values)
{
	struct sql_branch b = prove_enter(l, found);
	for (uint32_t i = 0; i < q->target_count; i++)
		values[i] =
			q->value_count == 1
				? prove_value(l, scope, q->values[0][i])
				: prove_value(l, scope, q->targets[i].value);
	prove_leave(l, b);
}

static struct sql_type target_type(const struct sql_query *q, uint32_t i)
{
	return q->targets ? q->targets[i].value->type : q->values[0][i]->type;
}

static void any_targets(struct sql_lowering *l, const struct sql_query *q,
                        uint32_t *values)
{
	for (uint32_t i = 0; i < q->target_count; i++)
		values[i] = prove_any_value(l, target_type(q, i));
}

/* count(x) is of rows in which x is not NULL; sum, min and max of one row are
 * its value. Of many, it is at least what the rows at hand tell. */
static uint32_t aggregate(struct sql_lowering *l, const struct sql_scope *outer,
                          const struct sql_expr *e,
                          const struct sql_rows_found *rows)
{
	struct summary *s = l->b.s;
	enum sql_operation o = e->function->operation;
	bool counts = o == DO_COUNT, exact = !rows->many && !e->distinct;
	bool same = (o == DO_SUM || o == DO_MIN || o == DO_MAX) && e->count &&
	            (sql_is_integer(e->type.kind) ||
	             sql_same_type(e->type, e->args[0]->type));
	uint32_t result = prove_any_value(l, e->type),
		 one = prove_int_node(l, 1), told = FALSE_NODE,
		 none = TRUE_NODE;
	if (counts) prove_assume(l, node_not(s, prove_is_null_node(l, result)));
	if (counts)
		prove_assume(l, node_not(s, node_add(s, NODE_LESS, result,
		                                     prove_int_node(l, 0), 0)));
	for (uint32_t k = 0; k < rows->count; k++) {
		struct sql_scope scope = { outer, rows->items[k].rows, NULL };
		struct sql_branch b = prove_enter(l, rows->items[k].found);
		uint32_t taken = rows->items[k].found, v = one;
		if (e->filter)
			taken = node_and(
				s, taken,
				prove_condition(l, &scope, e->filter).yes);
		for (uint32_t i = 0; i < e->count; i++) {
			v = prove_value(l, &scope, e->args[i]);
			taken = node_and(s, taken,
			                 node_not(s, prove_is_null_node(l, v)));
		}
		prove_leave(l, b);
		if (exact && counts)
			return node_choose(s, taken, one, prove_int_node(l, 0));
		if (exact && same)
			return node_choose(s, taken, v, prove_null_node(l));
		if (counts)
			prove_assume(
				l,
				node_or(s, node_not(s, taken),
			                node_not(s, node_add(s, NODE_LESS,
			                                     result, one, 0))));
		told = node_or(s, told,
		               node_and(s, taken, node_equal(s, result, v)));
		none = node_and(s, none, node_not(s, taken));
		if (!same || !sql_is_integer(e->type.kind) || o == DO_SUM)
			continue;
		uint32_t worse = o == DO_MIN
		                         ? node_add(s, NODE_LESS, v, result, 0)
		                         : node_add(s, NODE_LESS, result, v, 0);
		uint32_t wrong =
			node_or(s, prove_is_null_node(l, result), worse);
		prove_assume(l, node_not(s, node_and(s, taken, wrong)));
	}
	none = node_and(s, none,
	                counts ? node_equal(s, result, prove_int_node(l, 0))
	                       : prove_is_null_node(l, result));
	if (same || counts) prove_wish(l, node_or(s, told, none));
	return result;
}

/* It has no GROUP BY. */
static void aggregates(struct sql_lowering *l, const struct sql_scope *outer,
                       const struct sql_query *q,
                       const struct sql_rows_found *rows, uint32_t *values)
{
	uint32_t *of = take(l, q->aggregate_count);
	for (uint32_t i = 0; i < q->aggregate_count; i++) {
		const struct sql_expr *e = q->aggregates[i];
		of[i] = rows->any ? prove_any_value(l, e->type)
		                  : aggregate(l, outer, e, rows);
		prove_note_total(l, q, e, of[i]);
	}
	struct sql_scope scope = { outer, NULL, of };
	targets(l, &scope, q, TRUE_NODE, values);
}

/* Is it one row of expressions? */
static bool is_row(const struct sql_query *q)
{
	return !q->combination && !q->from && q->value_count <= 1 &&
	       !q->set_count && !q->grouped;
}

/* LIMIT 1 takes no row away where there is one. */
static bool may_drop(const struct sql_query *q)
{
	const struct sql_expr *e = q->limit;
	return q->offset || q->having ||
	       (e && !(e->kind == EXPR_CONSTANT &&
	               e->constant.tag == VALUE_INT && e->constant.i > 0));
}

void prove_each_row(struct sql_lowering *l, const struct sql_scope *outer,
                    const struct sql_query *q, struct sql_rows_found *out,
                    uint32_t **values)
{
	struct summary *s = l->b.s;
	bool grouped = q->grouped && !q->group_count && !q->set_count;
	*out = (struct sql_rows_found){ .count = 1 };
	for (int k = 0; k < SQL_ROWS; k++) values[k] = take(l, q->target_count);
	if (is_row(q)) {
		struct sql_scope scope = { outer, NULL, NULL };
		out->items[0].found =
			q->where ? prove_condition(l, &scope, q->where).yes
				 : TRUE_NODE;
		targets(l, &scope, q, out->items[0].found, values[0]);
	} else {
		prove_find(l, outer, q, false, out);
		if (q->group_count || q->set_count) out->any = true;
		if (grouped && !q->combination) {
			aggregates(l, outer, q, out, values[0]);
			*out = (struct sql_rows_found){ .count = 1 };
			out->items[0].found = TRUE_NODE;
		} else if (out->any) {
			out->many = true;
			out->count = SQL_ROWS;
			for (int k = 0; k < SQL_ROWS; k++) {
				out->items[k].found = build_guess(&l->b);
				any_targets(l, q, values[k]);
			}
		}
		for (uint32_t k = 0; k < out->count && !out->any && !grouped;
		     k++) {
			struct sql_scope scope = { outer, out->items[k].rows,
				                   NULL };
			targets(l, &scope, q, out->items[k].found, values[k]);
		}
	}
	if (!may_drop(q)) return;
	prove_hidden_expr(l, q->limit);
	prove_hidden_expr(l, q->offset);
	prove_hidden_expr(l, q->having);
	prove_may_fail(l, FALSE_NODE);
	for (uint32_t k = 0; k < out->count; k++)
		out->items[k].found =
			node_and(s, out->items[k].found, build_guess(&l->b));
}

struct sql_answer prove_answer(struct sql_lowering *l,
                               const struct sql_scope *outer,
                               const struct sql_query *q)
{
	struct summary *s = l->b.s;
	struct sql_rows_found rows;
	uint32_t *values[SQL_ROWS], none = prove_null_node(l);
	struct sql_answer a = { .found = FALSE_NODE,
		                .values = take(l, q->target_count) };
	if (prove_totals(l, q, &a)) return a;
	prove_each_row(l, outer, q, &rows, values);
	for (uint32_t k = 0; k < rows.count; k++)
		a.found = node_or(s, a.found, rows.items[k].found);
	uint32_t none_here = node_not(s, a.found);
	if (rows.many) a.found = node_or(s, a.found, build_guess(&l->b));
	uint32_t first =
		rows.many ? prove_maybe(l, rows.items[0].found) : TRUE_NODE;
	if (rows.many)
		prove_wish(l, node_or(s, first,
		                      node_and(s, none_here,
		                               node_not(s, a.found))));
	for (uint32_t i = 0; i < q->target_count; i++) {
		uint32_t v = values[0][i];
		if (rows.many)
			v = node_choose(s, first, v,
			                prove_any_value(l, target_type(q, i)));
		a.values[i] = node_choose(s, a.found, v, none);
	}
	a.rows = rows.many ? prove_any_value(l, sql_type(SQL_INT8))
	                   : node_choose(s, a.found, prove_int_node(l, 1),
	                                 prove_int_node(l, 0));
	return a;
}
