/* INSERT, UPDATE and DELETE: the keys and entries that they look at, lock and
 * write, and the foreign keys that they check. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/sql_lower.h"

static uint32_t *take(struct sql_lowering *l, uint32_t count)
{
	return region_take0(&l->b.app->region,
	                    (count + (size_t)1) * sizeof(uint32_t));
}

/* ---- entries of unique constraints ---- */

static struct build_key entry_key(struct sql_lowering *l,
                                  const struct sql_table *t,
                                  const struct sql_unique *u,
                                  const uint32_t *columns, uint32_t *named)
{
	struct text name = { 0 };
	struct build_key k = { .count = u->count };
	text_format(&name, "%s.%s", t->name, u->name);
	k.family = application_family(l->b.app, text_get(&name), u->count, 1);
	text_free(&name);
	k.indexes = take(l, u->count);
	*named = TRUE_NODE;
	for (uint32_t i = 0; i < u->count; i++) {
		uint32_t v = columns[u->columns[i]];
		*named = node_and(l->b.s, *named,
		                  node_not(l->b.s, prove_is_null_node(l, v)));
		k.indexes[i] =
			prove_is_exact(t->columns[u->columns[i]].type.kind)
				? v
				: build_unknown(&l->b);
	}
	return k;
}

static uint32_t read_entry(struct sql_lowering *l, const struct build_key *k,
                           enum strength strength)
{
	uint32_t number = l->b.s->access_count;
	uint32_t v = *build_read(&l->b, k, strength, l->line);
	l->b.s->accesses[number].beside = true;
	prove_assume(l, node_add(l->b.s, NODE_IS_BOOL,
	                         l->b.s->accesses[number].values[0], 0, 0));
	return prove_holds(l, v);
}

static void write_entry(struct sql_lowering *l, const struct build_key *k,
                        bool there, bool many)
{
	uint32_t v = build_constant(&l->b, value_bool(there));
	l->b.rounds += many;
	build_write(&l->b, k, STRENGTH_UPDATE, &v, l->line);
	l->b.rounds -= many;
}

/* Entries of a row that comes, or goes. */
static void enter(struct sql_lowering *l, const struct sql_table *t,
                  const uint32_t *columns, bool there, bool many)
{
	for (uint32_t i = 0; i < t->unique_count; i++) {
		uint32_t named;
		struct build_key k =
			entry_key(l, t, &t->uniques[i], columns, &named);
		struct sql_branch b = prove_enter(l, named);
		if (there)
			build_require(
				&l->b,
				node_not(l->b.s,
			                 read_entry(l, &k, STRENGTH_UPDATE)));
		write_entry(l, &k, there, many);
		prove_leave(l, b);
	}
}

/* ---- rows ---- */

/* NOT NULL and CHECK. */
static void check_row(struct sql_lowering *l, const struct sql_table *t,
                      uint32_t *columns)
{
	const uint32_t *rows[] = { columns };
	struct sql_scope scope = { NULL, rows, NULL };
	for (uint32_t c = 0; c < t->column_count; c++) {
		if (t->columns[c].made)
			columns[c] = prove_value(l, &scope, t->columns[c].made);
		if (t->columns[c].not_null)
			build_require(&l->b,
			              node_not(l->b.s, prove_is_null_node(
							       l, columns[c])));
	}
	for (uint32_t i = 0; i < t->check_count; i++)
		build_require(
			&l->b,
			node_not(l->b.s, prove_condition(l, &scope,
		                                         t->checks[i].condition)
		                                 .no));
}

static uint32_t default_of(struct sql_lowering *l, const struct sql_column *c)
{
	struct sql_scope none = { 0 };
	return c->initial ? prove_value(l, &none, c->initial)
	                  : prove_null_node(l);
}

/* What SET and DEFAULT give, in a column. */
static void set_columns(struct sql_lowering *l, const struct sql_table *t,
                        const struct sql_scope *scope,
                        const struct sql_set *sets, uint32_t count,
                        uint32_t *columns)
{
	uint32_t *new = take(l, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct sql_column *c = &t->columns[sets[i].column];
		new[i] = sets[i].value
		                 ? prove_assigned(
					   l,
					   prove_value(l, scope, sets[i].value),
					   sets[i].value->type, c->type)
		                 : default_of(l, c);
	}
	for (uint32_t i = 0; i < count; i++) columns[sets[i].column] = new[i];
}

static bool changes(const struct sql_set *sets, uint32_t count,
                    const uint32_t *columns, uint32_t column_count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < column_count; k++)
			if (sets[i].column == columns[k]) return true;
	return false;
}

/* ---- foreign keys ---- */

/* Is there what the row refers to? */
static void check_foreign(struct sql_lowering *l, const struct sql_foreign *f,
                          const uint32_t *columns, bool for_sure)
{
	struct summary *s = l->b.s;
	uint32_t *referred = take(l, f->to->column_count), *read;
	uint32_t named = TRUE_NODE;
	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t v = columns[f->columns[i]];
		referred[f->to_columns[i]] = v;
		named = node_and(s, named,
		                 node_not(s, prove_is_null_node(l, v)));
	}
	bool deletes = l->facts[f->to->number].deletes;
	if (!for_sure) named = node_and(s, named, build_guess(&l->b));
	struct sql_branch b = prove_enter(l, named);
	uint32_t *index = prove_index_of(l, f->to, referred);
	prove_begin(l);
	if (deletes) { /* another may come to its key */
		struct sql_branch look = prove_enter(l, build_guess(&l->b));
		prove_read_row(l, f->to, index, STRENGTH_PLAIN, true, &read);
		prove_begin(l);
		prove_read_row(l, f->to, index, STRENGTH_PLAIN, true, &read);
		prove_leave(l, look);
		look = prove_enter(l, build_guess(&l->b));
		prove_read_row(l, f->to, index, STRENGTH_KEY_SHARE, true,
		               &read);
		prove_leave(l, look);
		prove_may_fail(l, FALSE_NODE);
	} else {
		build_require(&l->b,
		              prove_read_row(l, f->to, index,
		                             STRENGTH_KEY_SHARE, true, &read));
	}
	prove_leave(l, b);
}

static void check_foreigns(struct sql_lowering *l, const struct sql_table *t,
                           const uint32_t *columns, uint32_t there,
                           const struct sql_set *sets, uint32_t count)
{
	struct sql_branch b = prove_enter(l, there);
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		if (!sets || changes(sets, count, f->columns, f->count))
			check_foreign(l, f, columns, !sets);
	prove_leave(l, b);
}

/* Who deletes a row looks for rows that refer to it. */
static void check_referrers(struct sql_lowering *l, const struct sql_table *t,
                            uint32_t there)
{
	for (const struct sql_foreign *f = t->referrers; f; f = f->next_to) {
		prove_begin(l);
		for (int i = 0; i < SQL_ROWS; i++) {
			uint32_t *index,
				*columns = take(l, f->from->column_count);
			struct sql_branch b =
				prove_enter(l, prove_maybe(l, there));
			for (uint32_t c = 0; c < f->from->column_count; c++)
				columns[c] = prove_any_value(
					l, f->from->columns[c].type);
			index = prove_index_of(l, f->from, columns);
			prove_read_row(l, f->from, index, STRENGTH_CHECK, true,
			               &columns);
			/* One that refers is locked: an error. */
			uint32_t error = build_guess(&l->b);
			struct sql_branch found = prove_enter(l, error);
			prove_read_row(l, f->from, index, STRENGTH_KEY_SHARE,
			               true, &columns);
			prove_leave(l, found);
			build_require(&l->b, node_not(l->b.s, error));
			prove_leave(l, b);
		}
	}
}

/* ---- UPDATE and DELETE ---- */

static struct sql_scope scope_of(struct sql_lowering *l,
                                 const uint32_t *const *rows)
{
	return (struct sql_scope){ &l->variables, rows, NULL };
}

/* The row becomes another; under the condition that it is there. */
static void replace_row(struct sql_lowering *l, const struct sql_table *t,
                        uint32_t *index, const uint32_t *old, uint32_t *new,
                        const struct sql_set *sets, uint32_t count, bool many)
{
	bool entries = false;
	check_row(l, t, new);
	for (uint32_t i = 0; i < t->unique_count; i++)
		entries |= changes(sets, count, t->uniques[i].columns,
		                   t->uniques[i].count);
	if (entries) {
		/* Those that stay as they are are left alone. */
		struct sql_branch b = prove_enter(l, build_guess(&l->b));
		enter(l, t, old, false, many);
		enter(l, t, new, true, many);
		prove_leave(l, b);
	}
	prove_write_row(l, t, index, STRENGTH_NO_KEY_UPDATE, true, new, many);
}

static void return_row(struct sql_lowering *l, const struct sql_statement *s,
                       const uint32_t *columns, uint32_t k, uint32_t **returned)
{
	const uint32_t *rows[] = { columns };
	struct sql_scope scope = scope_of(l, rows);
	for (uint32_t i = 0; i < s->returning_count; i++)
		returned[k][i] = prove_value(l, &scope, s->returning[i].value);
}

/* What came of it: how many rows, and the first. */
static void answer(struct sql_lowering *l, const struct sql_statement *s,
                   const struct sql_rows_found *rows, uint32_t **returned,
                   struct sql_answer *out)
{
	struct summary *x = l->b.s;
	out->found = FALSE_NODE;
	for (uint32_t k = 0; k < rows->count; k++)
		out->found = node_or(x, out->found, rows->items[k].found);
	if (rows->many) out->found = node_or(x, out->found, build_guess(&l->b));
	out->values = take(l, s->returning_count);
	uint32_t first =
		rows->many ? prove_maybe(l, rows->items[0].found) : TRUE_NODE;
	for (uint32_t i = 0; i < s->returning_count; i++) {
		uint32_t v = returned[0][i];
		if (rows->many)
			v = node_choose(
				x, first, v,
				prove_any_value(l,
			                        s->returning[i].value->type));
		out->values[i] =
			node_choose(x, out->found, v, prove_null_node(l));
	}
	out->rows = rows->many
	                    ? prove_any_value(l, sql_type(SQL_INT8))
	                    : node_choose(x, out->found, prove_int_node(l, 1),
	                                  prove_int_node(l, 0));
}

static uint32_t **returned_rows(struct sql_lowering *l,
                                const struct sql_statement *s)
{
	uint32_t **rows =
		region_take0(&l->b.app->region, SQL_ROWS * sizeof *rows);
	for (int k = 0; k < SQL_ROWS; k++) {
		rows[k] = take(l, s->returning_count);
		for (uint32_t i = 0; i < s->returning_count; i++)
			rows[k][i] = prove_null_node(l);
	}
	return rows;
}

static void change(struct sql_lowering *l, const struct sql_statement *s,
                   struct sql_answer *out)
{
	const struct sql_table *t = s->table;
	bool update = s->kind == STATEMENT_UPDATE;
	struct sql_rows_found rows;
	uint32_t **returned = returned_rows(l, s), *new[SQL_ROWS];
	size_t size = (t->column_count + (size_t)1) * sizeof **new;
	prove_find(l, &l->variables, s->query, true, &rows);
	for (uint32_t k = 0; k < rows.count; k++) {
		struct sql_found *row = &rows.items[k];
		struct sql_branch b = prove_enter(l, row->found);
		struct sql_scope scope = scope_of(l, row->rows);
		new[k] = memcpy(take(l, t->column_count), row->columns, size);
		if (update) {
			set_columns(l, t, &scope, s->sets, s->set_count,
			            new[k]);
			replace_row(l, t, row->index, row->columns, new[k],
			            s->sets, s->set_count, rows.many);
		} else {
			enter(l, t, row->columns, false, rows.many);
			prove_write_row(l, t, row->index, STRENGTH_UPDATE,
			                false, row->columns, rows.many);
		}
		return_row(l, s, new[k], k, returned);
		prove_leave(l, b);
	}
	for (uint32_t k = 0; k < rows.count; k++)
		if (update)
			check_foreigns(l, t, new[k], rows.items[k].found,
			               s->sets, s->set_count);
		else
			check_referrers(l, t, rows.items[k].found);
	answer(l, s, &rows, returned, out);
}

/* ---- INSERT ---- */

/* Is there a row in the way of the new one? Who goes on keeps no lock of it. */
static uint32_t in_the_way(struct sql_lowering *l, const struct sql_table *t,
                           const struct sql_unique *u, uint32_t *index,
                           const uint32_t *columns)
{
	struct summary *s = l->b.s;
	uint32_t there = build_guess(&l->b), *read, named = TRUE_NODE;
	struct build_key k = { 0 };
	if (u != t->primary) k = entry_key(l, t, u, columns, &named);
	there = node_and(s, there, named);
	for (int i = 0; i < 2; i++) {
		enum strength strength = i ? STRENGTH_UPDATE : STRENGTH_PLAIN;
		uint32_t is =
			i ? node_and(s, named, node_not(s, there)) : there;
		struct sql_branch b = prove_enter(l, is);
		uint32_t live = l->b.live;
		uint32_t found = u == t->primary
		                         ? prove_read_row(l, t, index, strength,
		                                          true, &read)
		                         : read_entry(l, &k, strength);
		prove_assume(l, node_or(s, node_not(s, live),
		                        i ? node_not(s, found) : found));
		prove_leave(l, b);
	}
	return there;
}

/* Looks again, before it looks with a lock. */
static void look_first(struct sql_lowering *l, const struct sql_table *t,
                       uint32_t *index)
{
	uint32_t *read;
	struct sql_branch b = prove_enter(l, build_guess(&l->b));
	prove_read_row(l, t, index, STRENGTH_PLAIN, true, &read);
	prove_leave(l, b);
}

/* ON CONFLICT DO UPDATE: the row is locked, and changed. */
static void update_instead(struct sql_lowering *l,
                           const struct sql_statement *s, uint32_t *index,
                           const uint32_t *excluded, bool many)
{
	const struct sql_table *t = s->table;
	uint32_t *old, *new = take(l, t->column_count);
	uint32_t there =
		prove_read_row(l, t, index, STRENGTH_NO_KEY_UPDATE, true, &old);
	const uint32_t *rows[] = { old, excluded };
	struct sql_scope scope = scope_of(l, rows);
	prove_assume(l, node_or(l->b.s, node_not(l->b.s, l->b.live), there));
	uint32_t holds =
		s->conflict_where
			? prove_condition(l, &scope, s->conflict_where).yes
			: TRUE_NODE;
	struct sql_branch b = prove_enter(l, holds);
	memcpy(new, old, (t->column_count + (size_t)1) * sizeof *new);
	set_columns(l, t, &scope, s->conflict_sets, s->conflict_set_count, new);
	replace_row(l, t, index, old, new, s->conflict_sets,
	            s->conflict_set_count, many);
	check_foreigns(l, t, new, TRUE_NODE, s->conflict_sets,
	               s->conflict_set_count);
	prove_leave(l, b);
}

/* The key of a row with an entry of another constraint. */
static uint32_t *any_row(struct sql_lowering *l, const struct sql_table *t)
{
	uint32_t *columns = take(l, t->column_count);
	for (uint32_t c = 0; c < t->column_count; c++)
		columns[c] = prove_any_value(l, t->columns[c].type);
	return prove_index_of(l, t, columns);
}

/* The condition that it goes on to insert the row. */
static uint32_t meet_conflicts(struct sql_lowering *l,
                               const struct sql_statement *s, uint32_t *index,
                               const uint32_t *columns, bool many)
{
	const struct sql_table *t = s->table;
	struct summary *x = l->b.s;
	uint32_t goes_on = TRUE_NODE;
	for (uint32_t i = 0; i <= t->unique_count; i++) {
		const struct sql_unique *u =
			i ? &t->uniques[i - 1] : t->primary;
		if (!u || (s->arbiter && s->arbiter != u)) continue;
		struct sql_branch b = prove_enter(l, goes_on);
		uint32_t there = in_the_way(l, t, u, index, columns);
		struct sql_branch other = prove_enter(l, there);
		if (s->conflict == CONFLICT_UPDATE)
			update_instead(l, s,
			               u == t->primary ? index : any_row(l, t),
			               columns, many);
		prove_leave(l, other);
		prove_leave(l, b);
		goes_on = node_and(x, goes_on, node_not(x, there));
	}
	return goes_on;
}

/* *inserted: the condition that there is a new row. */
static void insert_row(struct sql_lowering *l, const struct sql_statement *s,
                       uint32_t *columns, bool many, uint32_t *inserted)
{
	const struct sql_table *t = s->table;
	uint32_t *read;
	check_row(l, t, columns);
	uint32_t *index = prove_index_of(l, t, columns);
	*inserted = TRUE_NODE;
	if (s->conflict != CONFLICT_ERROR)
		*inserted = meet_conflicts(l, s, index, columns, many);
	struct sql_branch b = prove_enter(l, *inserted);
	if (t->primary && s->conflict == CONFLICT_ERROR)
		build_require(&l->b,
		              node_not(l->b.s, prove_read_row(l, t, index,
		                                              STRENGTH_UPDATE,
		                                              true, &read)));
	else if (t->primary && s->arbiter && s->arbiter != t->primary) {
		look_first(l, t, index);
		build_require(&l->b,
		              node_not(l->b.s, prove_read_row(l, t, index,
		                                              STRENGTH_UPDATE,
		                                              true, &read)));
	}
	enter(l, t, columns, true, many);
	prove_write_row(l, t, index, STRENGTH_UPDATE, true, columns, many);
	prove_leave(l, b);
}

/* The columns of a row, from what is given; `types` of that. */
static uint32_t *new_row(struct sql_lowering *l, const struct sql_statement *s,
                         const struct sql_expr **values, const uint32_t *given)
{
	const struct sql_table *t = s->table;
	struct sql_scope scope = scope_of(l, NULL);
	uint32_t *columns = take(l, t->column_count);
	bool *set = mem_take0(t->column_count + (size_t)1, sizeof *set);
	for (uint32_t i = 0; i < s->set_count; i++) {
		uint32_t c = s->sets[i].column, v;
		struct sql_type to = t->columns[c].type;
		if (values && !values[i]) continue;
		set[c] = true;
		v = values ? prove_value(l, &scope, values[i]) : given[i];
		columns[c] = prove_assigned(
			l, v,
			values ? values[i]->type
			       : s->query->targets[i].value->type,
			to);
	}
	for (uint32_t c = 0; c < t->column_count; c++)
		if (!set[c]) columns[c] = default_of(l, &t->columns[c]);
	free(set);
	return columns;
}

static void insert(struct sql_lowering *l, const struct sql_statement *s,
                   struct sql_answer *out)
{
	const struct sql_query *q = s->query;
	struct sql_rows_found rows = { .count = 1 };
	uint32_t *values[SQL_ROWS], **returned = returned_rows(l, s);
	bool given = q->value_count && !q->targets;
	if (given && q->value_count > 1) rows.many = true;
	if (!given) prove_each_row(l, &l->variables, q, &rows, values);
	uint32_t count = given ? q->value_count : rows.count;
	uint32_t **columns = region_take0(
		&l->b.app->region, (count + (size_t)1) * sizeof *columns);
	uint32_t *there = take(l, count);
	for (uint32_t k = 0; k < count; k++) {
		struct sql_branch b =
			prove_enter(l, given ? TRUE_NODE : rows.items[k].found);
		columns[k] = new_row(l, s,
		                     !given            ? NULL
		                     : q->target_count ? q->values[k]
		                                       : NULL,
		                     given ? NULL : values[k]);
		insert_row(l, s, columns[k], !given && rows.many, &there[k]);
		if (!given)
			there[k] =
				node_and(l->b.s, there[k], rows.items[k].found);
		if (k < SQL_ROWS) {
			rows.items[k].found = s->conflict == CONFLICT_UPDATE
			                              ? build_guess(&l->b)
			                              : there[k];
			if (s->conflict == CONFLICT_UPDATE)
				for (uint32_t i = 0; i < s->returning_count;
				     i++)
					returned[k][i] = prove_any_value(
						l, s->returning[i].value->type);
			else
				return_row(l, s, columns[k], k, returned);
		}
		prove_leave(l, b);
	}
	for (uint32_t k = 0; k < count; k++)
		check_foreigns(l, s->table, columns[k], there[k], NULL, 0);
	if (rows.count > count) rows.count = count;
	answer(l, s, &rows, returned, out);
}

void prove_change(struct sql_lowering *l, const struct sql_statement *s,
                  struct sql_answer *out)
{
	if (s->kind == STATEMENT_INSERT)
		insert(l, s, out);
	else
		change(l, s, out);
}
