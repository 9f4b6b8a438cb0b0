/* SELECT and VALUES. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

void free_scope(struct scope *s)
{
	free(s->relations);
	free(s->visible);
	free(s->aggregates);
	free(s->sets);
	free(s->named);
}

/* ---- SELECT's list ---- */

struct targets {
	struct sql_target *items;
	uint32_t count, capacity;
};

static void add_target(struct targets *t, const char *name,
                       const struct sql_expr *value)
{
	VEC_RESERVE(t->items, t->count, t->capacity);
	t->items[t->count++] = (struct sql_target){ name, value };
}

/* `*` and `t.*` */
static void add_star(struct resolver *r, struct scope *s, struct targets *t,
                     const char *only)
{
	bool found = !only && s->relation_count;
	for (uint32_t i = 0; !only && i < s->visible_count; i++)
		add_target(t, s->visible[i].name, visible_column(r, s, 0, i));
	for (uint32_t i = 0; only && i < s->relation_count; i++) {
		const struct sql_relation *x = &s->relations[i];
		if (strcmp(only, x->name)) continue;
		found = true;
		for (uint32_t c = 0; c < x->column_count; c++)
			add_target(t, x->columns[c].name,
			           column_of(r, s, 0, i, c));
	}
	const struct sql_column *columns;
	uint32_t count;
	if (!found && only && whole_row(s, only, &columns, &count)) {
		for (uint32_t c = 0; c < count; c++) {
			found = true;
			add_target(t, columns[c].name,
			           field_of_row(r, s, only, columns[c].name));
		}
	}
	if (!found)
		refuse(r, r->place,
		       only ? "missing FROM-clause entry for table \"%s\""
		            : "SELECT * with no tables specified is not valid",
		       only);
}

/* The last name of a list of them. */
static const char *last_name(json_t *list)
{
	return node_name(json_array_get(list, json_array_size(list) - 1));
}

static bool figure(json_t *node, const char **name);

/* Of a query in an expression: its only column. */
static bool figure_query(json_t *link, const char **name)
{
	json_t *select, *target, *list;
	const char *what = node_string(link, "subLinkType");
	bool exists = !strcmp(what, "EXISTS_SUBLINK");
	if (exists || !strcmp(what, "ARRAY_SUBLINK")) {
		*name = exists ? "exists" : "array";
		return true;
	}
	if (strcmp(what, "EXPR_SUBLINK")) return false;
	node_is(json_object_get(link, "subselect"), "SelectStmt", &select);
	list = json_object_get(select, "targetList");
	if (!node_is(json_array_get(list, 0), "ResTarget", &target))
		return false;
	const char *given = node_string(target, "name");
	if (!*given) return figure(json_object_get(target, "val"), name);
	*name = given;
	return true;
}

/* The name that PostgreSQL gives a column without AS: *name, if there is one;
 * false: one from inside of a cast or CASE would be better. */
static bool figure(json_t *node, const char **name)
{
	json_t *body, *type;
	const char *kind = node_kind(node, &body);
	static const struct {
		const char *kind, *name;
	} fixed[] = {
		{ "CoalesceExpr", "coalesce" },
		{ "A_ArrayExpr", "array" },
		{ "RowExpr", "row" },
	};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (!strcmp(kind, fixed[i].kind)) *name = fixed[i].name;
	if (!strcmp(kind, "ColumnRef"))
		*name = last_name(json_object_get(body, "fields"));
	else if (!strcmp(kind, "FuncCall"))
		*name = last_name(json_object_get(body, "funcname"));
	else if (!strcmp(kind, "MinMaxExpr"))
		*name = strcmp(node_string(body, "op"), "IS_LEAST") ? "greatest"
		                                                    : "least";
	else if (!strcmp(kind, "A_Indirection"))
		return figure(json_object_get(body, "arg"), name);
	else if (!strcmp(kind, "SubLink"))
		return figure_query(body, name);
	else if (!strcmp(kind, "A_Expr") &&
	         !strcmp(node_string(body, "kind"), "AEXPR_NULLIF"))
		*name = "nullif";
	else if (!strcmp(kind, "TypeCast")) {
		if (figure(json_object_get(body, "arg"), name)) return true;
		type = json_object_get(body, "typeName");
		*name = last_name(json_object_get(type, "names"));
		return false;
	} else if (!strcmp(kind, "CaseExpr")) {
		if (figure(json_object_get(body, "defresult"), name))
			return true;
		*name = "case";
		return false;
	}
	return strcmp(*name, "?column?") != 0;
}

static const char *figure_name(json_t *node)
{
	const char *name = "?column?";
	figure(node, &name);
	return name;
}

static void resolve_target(struct resolver *r, struct scope *s, json_t *node,
                           struct targets *t)
{
	json_t *body, *value, *column, *star;
	node_is(node, "ResTarget", &body);
	r->place = node_place(r, body);
	value = json_object_get(body, "val");
	if (node_is(value, "ColumnRef", &column)) {
		json_t *fields = json_object_get(column, "fields");
		size_t n = json_array_size(fields);
		if (n <= 2 &&
		    node_is(json_array_get(fields, n - 1), "A_Star", &star)) {
			add_star(r, s, t,
			         n == 2 ? node_name(json_array_get(fields, 0))
			                : NULL);
			return;
		}
	}
	const char *name = node_string(body, "name");
	const struct sql_expr *e = resolve_expr(r, s, value);
	if (!s->keep_literals) e = settle(r, e);
	if (e)
		add_target(t, keep_name(r, *name ? name : figure_name(value)),
		           e);
}

bool resolve_targets(struct resolver *r, struct scope *s, json_t *list,
                     const struct sql_target **out, uint32_t *count)
{
	struct targets t = { 0 };
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++)
		resolve_target(r, s, json_array_get(list, i), &t);
	struct sql_target *all =
		region_take0(r->region, (t.count + 1) * sizeof *all);
	for (uint32_t i = 0; i < t.count; i++) all[i] = t.items[i];
	*out = all;
	*count = t.count;
	free(t.items);
	return !r->failed;
}

/* ---- ORDER BY, GROUP BY ---- */

/* A number, or the name of an output column; -1: an expression. */
static int64_t target_meant(struct resolver *r, const struct sql_query *q,
                            json_t *node, bool names)
{
	json_t *body, *ival;
	int64_t found = -1;
	if (node_is(node, "A_Const", &body) &&
	    (ival = json_object_get(body, "ival"))) {
		int64_t n = node_integer(ival, "ival");
		r->place = node_place(r, body);
		if (n >= 1 && n <= q->target_count) return n - 1;
		refuse(r, r->place, "%s position %d is not in select list",
		       names ? "ORDER BY" : "GROUP BY", (int)n);
	}
	if (names && node_is(node, "ColumnRef", &body)) {
		json_t *fields = json_object_get(body, "fields");
		if (json_array_size(fields) != 1) return -1;
		const char *name = node_name(json_array_get(fields, 0));
		for (uint32_t i = 0; i < q->target_count; i++)
			if (!strcmp(q->targets[i].name, name)) found = i;
	}
	assert(found < (int64_t)q->target_count);
	return found;
}

static void resolve_direction(struct resolver *r, json_t *body,
                              struct sql_order *o)
{
	const char *nulls = node_string(body, "sortby_nulls");
	const char *direction = node_string(body, "sortby_dir");
	if (!strcmp(direction, "SORTBY_USING"))
		refuse_construct(r, r->place, "ORDER BY ... USING");
	o->descending = !strcmp(direction, "SORTBY_DESC");
	o->nulls_first = strstr(nulls, "DEFAULT")
	                         ? o->descending
	                         : strstr(nulls, "FIRST") != NULL;
}

const struct sql_order *resolve_sort(struct resolver *r, struct scope *s,
                                     json_t *list, uint32_t *count)
{
	json_t *body;
	*count = (uint32_t)json_array_size(list);
	struct sql_order *all =
		region_take0(r->region, (*count + (size_t)1) * sizeof *all);
	for (uint32_t i = 0; i < *count && !r->failed; i++) {
		node_is(json_array_get(list, i), "SortBy", &body);
		resolve_direction(r, body, &all[i]);
		all[i].by = settle(
			r, resolve_expr(r, s, json_object_get(body, "node")));
	}
	return r->failed ? NULL : all;
}

static void resolve_order(struct resolver *r, struct scope *s,
                          struct sql_query *q, json_t *list)
{
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_order *all =
		region_take0(r->region, (count + 1) * sizeof *all);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		json_t *body, *node;
		node_is(json_array_get(list, i), "SortBy", &body);
		node = json_object_get(body, "node");
		int64_t target = target_meant(r, q, node, true);
		resolve_direction(r, body, &all[i]);
		if (target >= 0)
			all[i].target = (uint32_t)target;
		else if (q->value_count || q->combination)
			refuse(r, r->place,
			       "invalid UNION/INTERSECT/EXCEPT ORDER BY "
			       "clause: "
			       "only names and numbers of columns can be used");
		else
			all[i].by = settle(r, resolve_expr(r, s, node));
		if (all[i].by && q->distinct)
			refuse(r, all[i].by->at,
			       "for SELECT DISTINCT, ORDER BY expressions must "
			       "appear in select list");
	}
	q->order = all;
	q->order_count = count;
}

static void resolve_group(struct resolver *r, struct scope *s,
                          struct sql_query *q, json_t *list)
{
	uint32_t count = (uint32_t)json_array_size(list);
	q->group = region_take0(r->region, (count + 1) * sizeof *q->group);
	s->no_aggregates = "GROUP BY";
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		json_t *node = json_array_get(list, i), *set;
		int64_t target = target_meant(r, q, node, false);
		if (node_is(node, "GroupingSet", &set))
			refuse_construct(r, r->place, "a grouping set");
		else
			q->group[i] =
				target >= 0
					? q->targets[target].value
					: settle(r, resolve_expr(r, s, node));
	}
	s->no_aggregates = NULL;
	q->group_count = count;
	if (count) q->grouped = true;
}

static bool same_expr(const struct sql_expr *a, const struct sql_expr *b)
{
	if (a->kind != b->kind || a->count != b->count ||
	    a->function != b->function || a->relation != b->relation ||
	    a->column != b->column || a->up != b->up ||
	    a->negated != b->negated || a->query != b->query ||
	    a->type.kind != b->type.kind ||
	    !value_equal(a->constant, b->constant))
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!same_expr(a->args[i], b->args[i])) return false;
	return true;
}

static bool has_set(const struct sql_expr *e)
{
	bool found = e->kind == EXPR_SET;
	for (uint32_t i = 0; i < e->count && !found; i++)
		found = has_set(e->args[i]);
	return found;
}

/* Does GROUP BY have the whole primary key of the relation? */
static bool has_key(const struct sql_query *q, const struct scope *s,
                    uint32_t relation)
{
	assert(relation < s->relation_count);
	const struct sql_table *t = s->relations[relation].table;
	if (!t || !t->primary) return false;
	for (uint32_t k = 0; k < t->primary->count; k++) {
		bool found = false;
		for (uint32_t i = 0; i < q->group_count; i++) {
			const struct sql_expr *g = q->group[i];
			found |= g->kind == EXPR_COLUMN && !g->up &&
			         g->relation == relation &&
			         g->column == t->primary->columns[k];
		}
		if (!found) return false;
	}
	return true;
}

/* Is it one of the columns of GROUP BY, from wherever it is mentioned? */
static bool is_grouped(const struct sql_query *q, const struct sql_expr *e)
{
	for (uint32_t i = 0; i < q->group_count; i++) {
		const struct sql_expr *g = q->group[i];
		if (g->kind == EXPR_COLUMN && !g->up &&
		    g->relation == e->relation && g->column == e->column)
			return true;
	}
	return false;
}

/* Columns outside of aggregates must be the same in all rows of a group. */
/* `up`: the query stands so many queries out. */
static void check_grouped(struct resolver *r, const struct scope *s,
                          const struct sql_query *q, const struct sql_expr *e,
                          uint32_t up)
{
	for (uint32_t i = 0; i < q->group_count && !up; i++)
		if (same_expr(q->group[i], e)) return;
	if (e->kind == EXPR_AGGREGATE) return;
	if (e->kind == EXPR_COLUMN && e->up == up) {
		const struct sql_relation *x = &s->relations[e->relation];
		assert(e->column < x->column_count);
		if (has_key(q, s, e->relation) || is_grouped(q, e)) return;
		refuse(r, e->at,
		       "column \"%s.%s\" must appear in the GROUP BY clause or "
		       "be used in an aggregate function",
		       x->name, x->columns[e->column].name);
	}
	up += sql_is_about_row(e);
	for (uint32_t i = 0; i < e->count; i++)
		check_grouped(r, s, q, e->args[i], up);
}

static void check_groups(struct resolver *r, const struct scope *s,
                         const struct sql_query *q)
{
	if (!q->group_count && !s->aggregate_count && !q->having) return;
	for (uint32_t i = 0; i < q->group_count; i++)
		if (has_set(q->group[i]))
			refuse_construct(r, q->group[i]->at,
			                 "GROUP BY what returns a set");
	for (uint32_t i = 0; i < q->target_count; i++)
		check_grouped(r, s, q, q->targets[i].value, 0);
	if (q->having) check_grouped(r, s, q, q->having, 0);
	for (uint32_t i = 0; i < q->order_count; i++)
		if (q->order[i].by) check_grouped(r, s, q, q->order[i].by, 0);
}

/* ---- The whole ---- */

static void resolve_values(struct resolver *r, struct scope *s,
                           struct sql_query *q, json_t *list)
{
	uint32_t rows = (uint32_t)json_array_size(list), columns = 0;
	q->values = region_take0(r->region, (rows + 1) * sizeof *q->values);
	for (uint32_t i = 0; i < rows && !r->failed; i++) {
		json_t *body, *items;
		node_is(json_array_get(list, i), "List", &body);
		items = json_object_get(body, "items");
		spread_rows(s, items);
		uint32_t n = (uint32_t)json_array_size(items);
		if (!i) columns = n;
		if (n != columns)
			refuse(r, r->place,
			       "VALUES lists must all be the same length");
		q->values[i] =
			region_take0(r->region, (n + 1) * sizeof **q->values);
		for (uint32_t c = 0; c < n && !r->failed; c++)
			q->values[i][c] =
				resolve_expr(r, s, json_array_get(items, c));
	}
	if (r->failed) return;
	struct sql_target *targets =
		region_take0(r->region, (columns + 1) * sizeof *targets);
	const struct sql_expr **column =
		region_take0(r->region, (rows + 1) * sizeof *column);
	for (uint32_t c = 0; c < columns; c++) {
		struct sql_type type;
		char name[24];
		for (uint32_t i = 0; i < rows; i++) column[i] = q->values[i][c];
		if (!unify(r, column, rows, "VALUES", &type)) return;
		for (uint32_t i = 0; i < rows; i++) q->values[i][c] = column[i];
		snprintf(name, sizeof name, "column%u", (unsigned)c + 1);
		targets[c] =
			(struct sql_target){ keep_name(r, name), column[0] };
	}
	q->value_count = rows;
	q->targets = targets;
	q->target_count = columns;
}

static void resolve_with(struct resolver *r, struct scope *s, json_t *with)
{
	json_t *list = json_object_get(with, "ctes"), *body, *select;
	if (node_flag(with, "recursive"))
		refuse_construct(r, r->place, "WITH RECURSIVE");
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		node_is(json_array_get(list, i), "CommonTableExpr", &body);
		r->place = node_place(r, body);
		if (json_object_get(body, "aliascolnames"))
			refuse_construct(r, r->place,
			                 "names of columns in WITH");
		if (!node_is(json_object_get(body, "ctequery"), "SelectStmt",
		             &select)) {
			refuse_construct(r, r->place, "a change inside WITH");
			return;
		}
		const struct sql_query *q = resolve_nested(r, s, select);
		if (!q) return;
		VEC_RESERVE(s->named, s->named_count, s->named_capacity);
		s->named[s->named_count++] = (struct named_query){
			keep_name(r, node_string(body, "ctename")), q
		};
	}
}

/* UNION and the like: both sides are relations of the query. */
static void resolve_combination(struct resolver *r, struct scope *s,
                                struct sql_query *q, json_t *body)
{
	static const char *const words[] = { [COMBINE_UNION] = "UNION",
		                             [COMBINE_INTERSECT] = "INTERSECT",
		                             [COMBINE_EXCEPT] = "EXCEPT" };
	const char *op = node_string(body, "op");
	q->combination = COMBINE_UNION;
	while (strcmp(op + strlen("SETOP_"), words[q->combination]))
		q->combination++;
	q->all = node_flag(body, "all");
	r->keep_literals = true;
	const struct sql_query *a =
		resolve_nested(r, s, json_object_get(body, "larg"));
	r->keep_literals = true;
	const struct sql_query *b =
		r->failed ? NULL
			  : resolve_nested(r, s, json_object_get(body, "rarg"));
	if (!a || !b) return;
	uint32_t n = a->target_count;
	if (n != b->target_count) {
		refuse(r, q->at,
		       "each %s query must have the same number of columns",
		       words[q->combination]);
		return;
	}
	add_part(r, s, "*SELECT* 1", a);
	add_part(r, s, "*SELECT* 2", b);
	assert(s->relation_count == 2);
	struct sql_target *targets =
		region_take0(r->region, (n + (size_t)1) * sizeof *targets);
	q->right = region_take0(r->region, (n + (size_t)1) * sizeof *q->right);
	for (uint32_t i = 0; i < n; i++) {
		const struct sql_expr *pair[] = { column_of(r, s, 0, 0, i),
			                          column_of(r, s, 0, 1, i) };
		struct sql_type type;
		if (!unify(r, pair, 2, words[q->combination], &type)) return;
		targets[i] = (struct sql_target){ a->targets[i].name, pair[0] };
		q->right[i] = pair[1];
	}
	q->targets = targets;
	q->target_count = n;
}

static bool mentions_row(const struct sql_expr *e)
{
	bool found = e->kind == EXPR_COLUMN && !e->up;
	for (uint32_t i = 0; i < e->count && !found; i++)
		found = mentions_row(e->args[i]);
	return found;
}

/* A number of rows, which is known before the first one. */
static const struct sql_expr *resolve_count(struct resolver *r, struct scope *s,
                                            json_t *node, const char *clause)
{
	if (!node || r->failed) return NULL;
	uint32_t count = s->relation_count, visible = s->visible_count;
	s->no_aggregates = clause;
	const struct sql_expr *e = resolve_expr(r, s, node);
	if (e && mentions_row(e))
		refuse(r, e->at, "argument of %s must not contain variables",
		       clause);
	/* Nor may what its queries refer to be in this one. */
	s->relation_count = s->visible_count = 0;
	if (!r->failed && sql_has_query(e)) e = resolve_expr(r, s, node);
	s->relation_count = count;
	s->visible_count = visible;
	if (r->failed) return NULL;
	e = coerce(r, e, sql_type(SQL_INT8), COERCE_IMPLICIT, clause);
	s->no_aggregates = NULL;
	return e;
}

static enum strength locking_strength(json_t *clause)
{
	const char *word = node_string(clause, "strength");
	return strstr(word, "KEYSHARE") ? STRENGTH_KEY_SHARE
	       : strstr(word, "NOKEY")  ? STRENGTH_NO_KEY_UPDATE
	       : strstr(word, "SHARE")  ? STRENGTH_SHARE
	                                : STRENGTH_UPDATE;
}

static const char *locking_words(enum strength strength)
{
	static const char *const words[] = {
		[STRENGTH_KEY_SHARE] = "FOR KEY SHARE",
		[STRENGTH_SHARE] = "FOR SHARE",
		[STRENGTH_NO_KEY_UPDATE] = "FOR NO KEY UPDATE",
		[STRENGTH_UPDATE] = "FOR UPDATE",
	};
	assert(strength < sizeof words / sizeof *words && words[strength]);
	return words[strength];
}

static void lock_relation(struct resolver *r, struct sql_query *q,
                          struct sql_relation *x, enum strength strength)
{
	const char *words = locking_words(strength);
	if (x->kind == RELATION_CALL) {
		refuse(r, r->place, "%s cannot be applied to a function",
		       words);
		return;
	}
	if (x->kind != RELATION_TABLE) {
		struct text t = { 0 };
		text_format(&t, "%s of a query in FROM", words);
		refuse_construct(r, r->place, text_get(&t));
		text_free(&t);
	}
	if (strength > x->lock) x->lock = strength;
	q->locks = true;
}

/* Of the relations that it names, or of all. */
static void lock_relations(struct resolver *r, struct scope *s,
                           struct sql_query *q, json_t *clause)
{
	json_t *named = json_object_get(clause, "lockedRels"), *body;
	enum strength strength = locking_strength(clause);
	/* Functions are left out where all are meant. */
	for (uint32_t i = 0; !named && i < s->relation_count; i++)
		if (s->relations[i].kind != RELATION_CALL)
			lock_relation(r, q, &s->relations[i], strength);
	for (size_t k = 0; k < json_array_size(named) && !r->failed; k++) {
		uint32_t i = 0;
		node_is(json_array_get(named, k), "RangeVar", &body);
		const char *name = node_string(body, "relname");
		while (i < s->relation_count &&
		       strcmp(s->relations[i].name, name))
			i++;
		if (i < s->relation_count)
			lock_relation(r, q, &s->relations[i], strength);
		else
			refuse(r, node_place(r, body),
			       "relation \"%s\" in %s clause not found in "
			       "FROM clause",
			       name, locking_words(strength));
	}
}

static void resolve_lock(struct resolver *r, struct scope *s,
                         struct sql_query *q, json_t *list)
{
	json_t *body;
	const char *beside = q->combination ? "UNION/INTERSECT/EXCEPT"
	                     : q->distinct  ? "DISTINCT clause"
	                     : q->grouped || q->group_count ? "GROUP BY clause"
	                     : s->aggregate_count ? "aggregate functions"
	                     : s->set_count ? "set-returning functions in the "
	                                      "target list"
	                                    : NULL;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		node_is(json_array_get(list, i), "LockingClause", &body);
		if (strcmp(node_string(body, "waitPolicy"), "LockWaitBlock"))
			refuse_everywhere(r, q->at, "NOWAIT and SKIP LOCKED");
		else if (r->purpose == PURPOSE_ASSERT)
			refuse(r, q->at, "an assertion locks no rows");
		else if (beside)
			refuse(r, q->at, "%s is not allowed with %s",
			       locking_words(locking_strength(body)), beside);
		else
			lock_relations(r, s, q, body);
	}
}

static void resolve_select(struct resolver *r, struct scope *s, json_t *body,
                           struct sql_query *q)
{
	json_t *x;
	if (json_object_get(body, "windowClause"))
		refuse_construct(r, q->at, "WINDOW");
	if (json_object_get(body, "intoClause")) {
		if (r->purpose == PURPOSE_SETUP)
			refuse_construct(r, q->at, "SELECT INTO");
		else
			refuse_everywhere(r, q->at, "SELECT INTO");
	}
	if ((x = json_object_get(body, "withClause"))) resolve_with(r, s, x);
	if (strcmp(node_string(body, "op"), "SETOP_NONE"))
		resolve_combination(r, s, q, body);
	resolve_from(r, s, json_object_get(body, "fromClause"), &q->from);
	if ((x = json_object_get(body, "whereClause")) && !r->failed)
		q->where = resolve_condition(r, s, x, "WHERE");
	if ((x = json_object_get(body, "valuesLists")))
		resolve_values(r, s, q, x);
	else if (!r->failed && !q->combination) {
		s->takes_sets = true;
		resolve_targets(r, s, json_object_get(body, "targetList"),
		                &q->targets, &q->target_count);
		s->takes_sets = false;
	}
	x = json_object_get(body, "distinctClause");
	q->distinct = x != NULL;
	if (json_array_size(x) && json_object_size(json_array_get(x, 0)))
		refuse_construct(r, q->at, "DISTINCT ON");
	resolve_group(r, s, q, json_object_get(body, "groupClause"));
	if ((x = json_object_get(body, "havingClause")) && !r->failed) {
		q->having = resolve_condition(r, s, x, "HAVING");
		q->grouped = true;
	}
	resolve_order(r, s, q, json_object_get(body, "sortClause"));
	q->limit = resolve_count(r, s, json_object_get(body, "limitCount"),
	                         "LIMIT");
	q->offset = resolve_count(r, s, json_object_get(body, "limitOffset"),
	                          "OFFSET");
	if (!strcmp(node_string(body, "limitOption"), "LIMIT_OPTION_WITH_TIES"))
		refuse_construct(r, q->at, "WITH TIES");
	if (!r->failed)
		resolve_lock(r, s, q, json_object_get(body, "lockingClause"));
}

struct sql_query *resolve_query(struct resolver *r, struct scope *outer,
                                json_t *body)
{
	struct scope s = { .outer = outer, .keep_literals = r->keep_literals };
	struct sql_query *q = region_take0(r->region, sizeof *q);
	q->at = r->place;
	r->keep_literals = false;
	resolve_select(r, &s, body, q);
	if (!r->failed) check_groups(r, &s, q);
	if (!r->failed) finish_query(r, &s, q);
	free_scope(&s);
	return r->failed ? NULL : q;
}
