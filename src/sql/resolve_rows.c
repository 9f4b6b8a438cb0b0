/* Rows of values: (a, b) = (c, d). */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

/* Of rows as of texts: the first pair that differs decides. */
static const struct sql_expr *ordered(struct resolver *r, const char *name,
                                      const struct sql_expr *const *a,
                                      const struct sql_expr *const *b,
                                      uint32_t count)
{
	const char strict[] = { *name, 0 };
	const struct sql_expr *e =
		make_operator(r, name, a[count - 1], b[count - 1]);
	for (uint32_t i = count - 1; i-- > 0;)
		e = make_both(r, EXPR_OR, make_operator(r, strict, a[i], b[i]),
		              make_both(r, EXPR_AND,
		                        make_operator(r, "=", a[i], b[i]), e));
	return e;
}

static const struct sql_expr *compared(struct resolver *r, const char *name,
                                       const struct sql_expr *const *a,
                                       const struct sql_expr *const *b,
                                       uint32_t count)
{
	bool equal = !strcmp(name, "="), differ = !strcmp(name, "<>");
	assert(count > 0);
	if (!equal && !differ && strcmp(name, "<") && strcmp(name, "<=") &&
	    strcmp(name, ">") && strcmp(name, ">="))
		return refuse(r, r->place,
		              "could not determine interpretation of row "
		              "comparison operator %s",
		              name);
	if (!equal && !differ) return ordered(r, name, a, b, count);
	struct sql_expr *e =
		expr_new(r, equal ? EXPR_AND : EXPR_OR, SQL_BOOL, count);
	for (uint32_t i = 0; i < count; i++)
		e->args[i] = make_operator(r, name, a[i], b[i]);
	return r->failed ? NULL : e;
}

static const struct sql_expr **resolve_items(struct resolver *r,
                                             struct scope *s, json_t *items)
{
	size_t count = json_array_size(items);
	const struct sql_expr **all =
		region_take0(r->region, (count + 1) * sizeof *all);
	for (size_t i = 0; i < count && !r->failed; i++)
		all[i] = resolve_expr(r, s, json_array_get(items, i));
	return all;
}

static bool have_one_length(struct resolver *r, struct place at, size_t a,
                            size_t b)
{
	if (!a || !b)
		refuse(r, at, "cannot compare rows of zero length (0A000)");
	else if (a != b)
		refuse(r, at, "unequal number of entries in row expressions");
	return !r->failed;
}

const struct sql_expr *compare_rows(struct resolver *r, struct scope *s,
                                    const char *name, json_t *left,
                                    json_t *right)
{
	json_t *a = row_items(left), *b = row_items(right);
	struct place at = r->place;
	if (!a || !b)
		return refuse_construct(
			r, at, "a row of values beside anything but another");
	if (!have_one_length(r, at, json_array_size(a), json_array_size(b)))
		return NULL;
	const struct sql_expr **x = resolve_items(r, s, a);
	const struct sql_expr **y = resolve_items(r, s, b);
	r->place = at;
	return r->failed
	               ? NULL
	               : compared(r, name, x, y, (uint32_t)json_array_size(a));
}

const struct sql_expr *rows_differ(struct resolver *r, struct scope *s,
                                   json_t *left, json_t *right, bool negated)
{
	const struct sql_expr *same = compare_rows(r, s, "=", left, right);
	if (!same) return NULL;
	struct sql_expr *e = expr_new(r, negated ? EXPR_AND : EXPR_OR, SQL_BOOL,
	                              same->count);
	for (uint32_t i = 0; i < same->count; i++) {
		struct sql_expr *one =
			expr_new(r, EXPR_IS_DISTINCT, SQL_BOOL, 2);
		one->args[0] = same->args[i]->args[0];
		one->args[1] = same->args[i]->args[1];
		one->negated = negated;
		e->args[i] = one;
	}
	return e;
}

const struct sql_expr *row_is_null(struct resolver *r, struct scope *s,
                                   json_t *row, bool negated)
{
	json_t *items = row_items(row);
	uint32_t count = (uint32_t)json_array_size(items);
	struct sql_expr *e = expr_new(r, EXPR_AND, SQL_BOOL, count);
	const struct sql_expr **all = resolve_items(r, s, items);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		struct sql_expr *one = expr_new(r, EXPR_IS_NULL, SQL_BOOL, 1);
		one->args[0] = settle(r, all[i]);
		one->negated = negated;
		e->args[i] = one;
	}
	return r->failed ? NULL : e;
}

const struct sql_expr *column_of_query(struct resolver *r, struct scope *s,
                                       const struct sql_query *q,
                                       uint32_t column)
{
	struct scope inner = { .outer = s };
	struct sql_expr *e = expr_new(r, EXPR_SCALAR, SQL_UNKNOWN, 1);
	assert(column < q->target_count);
	add_part(r, &inner, "*SELECT*", q);
	e->args[0] = column_of(r, &inner, 0, 0, column);
	e->type = e->args[0]->type;
	e->query = q;
	free_scope(&inner);
	return e;
}

const struct sql_expr *row_and_query(struct resolver *r, struct scope *s,
                                     enum sql_expr_kind kind, const char *name,
                                     json_t *row, const struct sql_query *q)
{
	struct scope inner = { .outer = s, .no_aggregates = "this context" };
	json_t *items = row_items(row);
	uint32_t count = q->target_count;
	struct place at = r->place;
	struct sql_expr *e = expr_new(r, kind, SQL_BOOL, 1);
	if (count != json_array_size(items))
		return refuse(r, at, "subquery has too %s columns",
		              count > json_array_size(items) ? "many" : "few");
	add_part(r, &inner, "*SELECT*", q);
	inner.visible_count = 0;
	const struct sql_expr **a = resolve_items(r, &inner, items);
	const struct sql_expr **b =
		region_take0(r->region, (count + 1) * sizeof *b);
	r->place = at;
	for (uint32_t i = 0; i < count; i++)
		b[i] = column_of(r, &inner, 0, 0, i);
	if (!r->failed) e->args[0] = compared(r, name, a, b, count);
	free_scope(&inner);
	e->query = q;
	assert(r->failed || sql_is_about_row(e));
	return r->failed ? NULL : e;
}

const struct sql_expr *row_of_query(struct resolver *r, struct scope *s,
                                    const char *name, json_t *row,
                                    json_t *right)
{
	json_t *link, *select;
	struct place at = r->place;
	if (!node_is(right, "SubLink", &link) ||
	    strcmp(node_string(link, "subLinkType"), "EXPR_SUBLINK") ||
	    !node_is(json_object_get(link, "subselect"), "SelectStmt", &select))
		return NULL;
	const struct sql_query *q = resolve_query(r, s, select);
	r->place = at;
	return q ? row_and_query(r, s, EXPR_SCALAR, name, row, q) : NULL;
}

const struct sql_expr *resolve_row_in(struct resolver *r, struct scope *s,
                                      json_t *body, json_t *list)
{
	json_t *row = json_object_get(body, "lexpr");
	const char *name =
		node_name(json_array_get(json_object_get(body, "name"), 0));
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_expr *e = expr_new(
		r, !strcmp(name, "=") ? EXPR_OR : EXPR_AND, SQL_BOOL, count);
	for (uint32_t i = 0; i < count && !r->failed; i++)
		e->args[i] =
			compare_rows(r, s, name, row, json_array_get(list, i));
	return r->failed ? NULL : e;
}
