/* Constants, and all that is neither a name nor a call. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/numeric.h"
#include "sql/resolve_parts.h"

/* ---- Constants ---- */

/* Digits that are too many for int4, and such with a point, come as "fval". */
static const struct sql_expr *resolve_digits(struct resolver *r,
                                             const char *digits)
{
	char *end;
	struct sql_failure why = { 0 };
	struct value v, text = value_string(r->region, digits, strlen(digits));
	errno = 0;
	long long n = strtoll(digits, &end, 10);
	bool whole = *digits && !*end && !errno;
	if (whole)
		return expr_constant(r, n == (int32_t)n ? SQL_INT4 : SQL_INT8,
		                     value_int(n));
	if (!sql_numeric_of_text(r->region, text, &v, &why)) {
		doom(r, r->place, &why);
		v = value_null();
	}
	return expr_constant(r, SQL_NUMERIC, v);
}

/* libpg_query leaves negative numbers out of its JSON, as it does zero: what
 * the source says, with any number of signs and parentheses. */
static int64_t integer_at(const struct resolver *r, json_t *x)
{
	assert(r->place.source < r->catalog->all->count);
	const struct source *in = &r->catalog->all->items[r->place.source];
	uint32_t at = r->place.offset;
	int64_t n = node_integer(x, "ival");
	bool minus = false;
	if (n || at >= in->length || in->text[at] != '-') return n;
	while (at < in->length && strchr("-+(", in->text[at])) {
		minus ^= in->text[at] == '-';
		at = skip_space(in->text, at + 1, in->length);
	}
	n = strtoll(in->text + at, NULL, 10);
	return minus ? -n : n;
}

static const struct sql_expr *resolve_constant(struct resolver *r, json_t *body)
{
	json_t *x;
	if (node_flag(body, "isnull"))
		return expr_constant(r, SQL_UNKNOWN, value_null());
	if ((x = json_object_get(body, "ival")))
		return expr_constant(r, SQL_INT4, value_int(integer_at(r, x)));
	if ((x = json_object_get(body, "boolval")))
		return expr_constant(r, SQL_BOOL,
		                     value_bool(node_flag(x, "boolval")));
	if ((x = json_object_get(body, "sval"))) {
		const char *s = node_string(x, "sval");
		return expr_constant(r, SQL_UNKNOWN,
		                     value_string(r->region, s, strlen(s)));
	}
	if ((x = json_object_get(body, "fval")))
		return resolve_digits(r, node_string(x, "fval"));
	return refuse_construct(r, r->place, "a bit string");
}

/* ---- Constructs ---- */

static const struct sql_expr *resolve_bool_expr(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	const char *op = node_string(body, "boolop");
	json_t *list = json_object_get(body, "args");
	uint32_t count = (uint32_t)json_array_size(list);
	bool and = !strcmp(op, "AND_EXPR"), not = !strcmp(op, "NOT_EXPR");
	assert(!not || count == 1);
	struct sql_expr *e = expr_new(r,
	                              and   ? EXPR_AND
	                              : not ? EXPR_NOT
	                                    : EXPR_OR,
	                              SQL_BOOL, count);
	const char *what = and   ? "argument of AND must be type"
	                   : not ? "argument of NOT must be type"
	                         : "argument of OR must be type";
	for (uint32_t i = 0; i < count && !r->failed; i++)
		e->args[i] =
			coerce(r, resolve_expr(r, s, json_array_get(list, i)),
		               sql_type(SQL_BOOL), COERCE_IMPLICIT, what);
	return r->failed ? NULL : e;
}

/* CASE [x] WHEN c THEN v ... [ELSE e] END */
static const struct sql_expr *resolve_case(struct resolver *r, struct scope *s,
                                           json_t *body)
{
	json_t *whens = json_object_get(body, "args"), *when;
	json_t *arg = json_object_get(body, "arg");
	json_t *other = json_object_get(body, "defresult");
	uint32_t count = (uint32_t)json_array_size(whens);
	struct sql_expr *e = expr_new(r, EXPR_CASE, SQL_UNKNOWN, 2 * count + 1);
	const struct sql_expr *x = arg ? resolve_expr(r, s, arg) : NULL;
	bool takes_sets = s->takes_sets;
	s->takes_sets = false;
	/* ELSE comes first where types are unified. */
	const struct sql_expr **results =
		region_take0(r->region, (count + 1) * sizeof *results);
	results[0] = other ? resolve_expr(r, s, other)
	                   : expr_constant(r, SQL_UNKNOWN, value_null());
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		node_is(json_array_get(whens, i), "CaseWhen", &when);
		json_t *test = json_object_get(when, "expr");
		if (arg)
			e->args[2 * i] = make_operator(
				r, "=", settle(r, x), resolve_expr(r, s, test));
		else
			e->args[2 * i] =
				resolve_condition(r, s, test, "CASE/WHEN");
		results[i + 1] =
			resolve_expr(r, s, json_object_get(when, "result"));
	}
	s->takes_sets = takes_sets;
	if (r->failed || !unify(r, results, count + 1, "CASE", &e->type))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		e->args[2 * i + 1] = results[i + 1];
	e->args[2 * count] = results[0];
	return e;
}

static const struct sql_expr *resolve_list(struct resolver *r, struct scope *s,
                                           json_t *list,
                                           enum sql_expr_kind kind,
                                           const char *what)
{
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_expr *e = expr_new(r, kind, SQL_UNKNOWN, count);
	assert(count);
	bool takes_sets = s->takes_sets;
	s->takes_sets = takes_sets && kind == EXPR_GREATEST;
	for (uint32_t i = 0; i < count; i++)
		e->args[i] = resolve_expr(r, s, json_array_get(list, i));
	s->takes_sets = takes_sets;
	if (r->failed || !unify(r, e->args, count, what, &e->type)) return NULL;
	return e;
}

static const struct sql_expr *resolve_null_test(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	json_t *arg = json_object_get(body, "arg");
	bool negated =
		!strcmp(node_string(body, "nulltesttype"), "IS_NOT_NULL");
	spread_row(s, arg);
	if (row_items(arg)) return row_is_null(r, s, arg, negated);
	struct sql_expr *e = expr_new(r, EXPR_IS_NULL, SQL_BOOL, 1);
	e->negated = negated;
	e->args[0] = settle(r, resolve_expr(r, s, arg));
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_bool_test(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	const char *test = node_string(body, "booltesttype");
	struct sql_expr *e = expr_new(r, EXPR_IS_BOOL, SQL_BOOL, 1);
	e->negated = strstr(test, "NOT") != NULL;
	e->constant = strstr(test, "UNKNOWN")
	                      ? value_null()
	                      : value_bool(strstr(test, "TRUE"));
	e->args[0] = coerce(r, resolve_expr(r, s, json_object_get(body, "arg")),
	                    sql_type(SQL_BOOL), COERCE_IMPLICIT,
	                    "argument of IS must be type");
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_cast(struct resolver *r, struct scope *s,
                                           json_t *body)
{
	struct sql_type type;
	struct place at = r->place;
	const struct sql_expr *e =
		resolve_expr(r, s, json_object_get(body, "arg"));
	if (!e ||
	    !resolve_type(r, json_object_get(body, "typeName"), &type, NULL))
		return NULL;
	r->place = at;
	if (e->kind == EXPR_ARRAY && !e->count && type.kind == SQL_ARRAY)
		((struct sql_expr *)e)->type = type;
	if (!sql_can_coerce(e->type.kind, type.kind, COERCE_EXPLICIT))
		return refuse(r, at, "cannot cast type %s to %s",
		              sql_kind_name(e->type.kind),
		              sql_kind_name(type.kind));
	return coerce(r, e, type, COERCE_EXPLICIT, "");
}

/* ARRAY(query): what array_agg() makes of its rows, or an empty array. */
static const struct sql_expr *array_of(struct resolver *r, struct scope *s,
                                       json_t *body)
{
	static const char name[] = "*ARRAY*";
	struct place at = r->place;
	json_int_t location = node_integer(body, "location");
	json_t *select = json_pack(
		"{s:[{s:{s:{s:{s:[{s:{s:s}}],s:[{s:{s:[{s:{s:s}}],s:I}}],s:I}"
		"}}}],s:[{s:{s:O,s:{s:s,s:[{s:{s:s}}]}}}],s:s}",
		"targetList", "ResTarget", "val", "FuncCall", "funcname",
		"String", "sval", "array_agg", "args", "ColumnRef", "fields",
		"String", "sval", name, "location", location, "location",
		location, "fromClause", "RangeSubselect", "subquery",
		json_object_get(body, "subselect"), "alias", "aliasname", name,
		"colnames", "String", "sval", name, "op", "SETOP_NONE");
	assert(select);
	struct sql_query *q = resolve_query(r, s, select);
	json_decref(select);
	r->place = at;
	if (!q) return NULL;
	if (q->relations[0].column_count != 1)
		return refuse(r, at, "subquery must return only one column");
	struct sql_expr *rows = expr_new(r, EXPR_SCALAR, SQL_ARRAY, 0);
	struct sql_expr *e = expr_new(r, EXPR_COALESCE, SQL_ARRAY, 2);
	rows->query = q;
	rows->type = e->type = q->targets[0].value->type;
	e->args[0] = rows;
	e->args[1] = coerce(
		r,
		expr_constant(r, SQL_UNKNOWN, value_string(r->region, "{}", 2)),
		e->type, COERCE_IMPLICIT, "ARRAY");
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_sublink(struct resolver *r,
                                              struct scope *s, json_t *body)
{
	const char *kind = node_string(body, "subLinkType");
	json_t *select = NULL, *test = json_object_get(body, "testexpr");
	struct place at = r->place;
	if (!strcmp(kind, "ARRAY_SUBLINK")) return array_of(r, s, body);
	node_is(json_object_get(body, "subselect"), "SelectStmt", &select);
	struct sql_query *q = resolve_query(r, s, select);
	r->place = at;
	if (!q) return NULL;
	struct sql_expr *e;
	if (!strcmp(kind, "EXISTS_SUBLINK")) {
		e = expr_new(r, EXPR_EXISTS, SQL_BOOL, 0);
		e->query = q;
		return e;
	}
	json_t *names = json_object_get(body, "operName");
	const char *name = names ? node_name(json_array_get(names, 0)) : "=";
	if (row_items(test)) {
		e = (struct sql_expr *)row_and_query(r, s, EXPR_ANY, name, test,
		                                     q);
		if (e) e->negated = !strcmp(kind, "ALL_SUBLINK");
		return e;
	}
	if (q->target_count != 1)
		return refuse(r, at,
		              test ? "subquery has too many columns"
		                   : "subquery must return only one column");
	if (!strcmp(kind, "EXPR_SUBLINK")) {
		e = expr_new(r, EXPR_SCALAR, SQL_UNKNOWN, 0);
		e->type = q->targets[0].value->type;
		e->query = q;
		return e;
	}
	const struct sql_expr *x = resolve_expr(r, s, test);
	r->place = at;
	if (!x || !(e = make_any(r, name, x, q->targets[0].value->type)))
		return NULL;
	e->count = 1;
	e->query = q;
	e->negated = !strcmp(kind, "ALL_SUBLINK");
	return e;
}

/* ARRAY[a, b] */
static const struct sql_expr *resolve_array(struct resolver *r, struct scope *s,
                                            json_t *body)
{
	json_t *list = json_object_get(body, "elements");
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_expr *e = expr_new(r, EXPR_ARRAY, SQL_ARRAY, count);
	struct sql_type of = { 0 };
	for (uint32_t i = 0; i < count && !r->failed; i++)
		e->args[i] = resolve_expr(r, s, json_array_get(list, i));
	if (r->failed || !unify(r, e->args, count, "ARRAY", &of)) return NULL;
	if (of.kind == SQL_ARRAY)
		return refuse_construct(r, e->at,
		                        "an array of several dimensions");
	e->type.element = count ? of.kind : SQL_UNKNOWN;
	e->type.labels = of.labels;
	return e;
}

/* a[1] */
static const struct sql_expr *resolve_element(struct resolver *r,
                                              struct scope *s, json_t *body)
{
	json_t *list = json_object_get(body, "indirection"), *at;
	struct sql_expr *e = expr_new(r, EXPR_ELEMENT, SQL_UNKNOWN, 2);
	bool subscript = node_is(json_array_get(list, 0), "A_Indices", &at);
	if (json_array_size(list) != 1 || !subscript ||
	    node_flag(at, "is_slice"))
		return refuse_construct(
			r, e->at,
			!subscript ? "a field of a value, (value).field"
			: node_flag(at, "is_slice")
				? "a slice of an array, array[a:b]"
				: "several subscripts");
	e->args[0] = resolve_expr(r, s, json_object_get(body, "arg"));
	e->args[1] = coerce(r, resolve_expr(r, s, json_object_get(at, "uidx")),
	                    sql_type(SQL_INT4), COERCE_ASSIGNMENT,
	                    "array subscript must have type");
	e->number = counts_from_zero(s, json_object_get(body, "arg"));
	if (r->failed) return NULL;
	if (e->args[0]->type.kind != SQL_ARRAY)
		return refuse(r, e->at,
		              "cannot subscript type %s because it does not "
		              "support subscripting",
		              sql_kind_name(e->args[0]->type.kind));
	e->type = sql_element_type(e->args[0]->type);
	return e;
}

static const char *current_words(const char *op)
{
	static const char *const words[] = {
		"CURRENT_CATALOG", "CURRENT_ROLE", "CURRENT_SCHEMA",
		"CURRENT_TIME",    "CURRENT_USER", "LOCALTIME",
		"SESSION_USER",    "USER",
	};
	size_t i = 0, n = sizeof words / sizeof *words;
	if (strstr(op, "TIMESTAMP")) return "now() of less than microseconds";
	/* With (n), it is one of another name. */
	while (i < n - 1 &&
	       strncmp(op + strlen("SVFOP_"), words[i], strlen(words[i])))
		i++;
	return words[i];
}

/* CURRENT_TIMESTAMP and the like: now() */
static const struct sql_expr *resolve_current(struct resolver *r, json_t *body)
{
	const char *op = node_string(body, "op");
	const struct sql_expr *now = make_now(r);
	if (!strcmp(op, "SVFOP_CURRENT_TIMESTAMP")) return now;
	if (!strcmp(op, "SVFOP_LOCALTIMESTAMP"))
		return coerce(r, now, sql_type(SQL_TIMESTAMP), COERCE_EXPLICIT,
		              "");
	if (!strcmp(op, "SVFOP_CURRENT_DATE"))
		return coerce(r, now, sql_type(SQL_DATE), COERCE_EXPLICIT, "");
	return refuse_construct(r, r->place, current_words(op));
}

static const struct sql_expr *resolve_min_max(struct resolver *r,
                                              struct scope *s, json_t *body)
{
	bool least = !strcmp(node_string(body, "op"), "IS_LEAST");
	const struct sql_expr *e =
		resolve_list(r, s, json_object_get(body, "args"), EXPR_GREATEST,
	                     least ? "LEAST" : "GREATEST");
	if (e) ((struct sql_expr *)e)->negated = least;
	return e;
}

static const struct sql_expr *resolve_kind(struct resolver *r, struct scope *s,
                                           const char *kind, json_t *body)
{
	struct text t = { 0 };
	if (!strcmp(kind, "ColumnRef")) return resolve_column(r, s, body);
	if (!strcmp(kind, "A_Const")) return resolve_constant(r, body);
	if (!strcmp(kind, "A_Expr")) return resolve_a_expr(r, s, body);
	if (!strcmp(kind, "BoolExpr")) return resolve_bool_expr(r, s, body);
	if (!strcmp(kind, "NullTest")) return resolve_null_test(r, s, body);
	if (!strcmp(kind, "BooleanTest")) return resolve_bool_test(r, s, body);
	if (!strcmp(kind, "CaseExpr")) return resolve_case(r, s, body);
	if (!strcmp(kind, "TypeCast")) return resolve_cast(r, s, body);
	if (!strcmp(kind, "FuncCall")) return resolve_call(r, s, body);
	if (!strcmp(kind, "SubLink")) return resolve_sublink(r, s, body);
	if (!strcmp(kind, "MinMaxExpr")) return resolve_min_max(r, s, body);
	if (!strcmp(kind, "CoalesceExpr"))
		return resolve_list(r, s, json_object_get(body, "args"),
		                    EXPR_COALESCE, "COALESCE");
	if (!strcmp(kind, "A_ArrayExpr")) return resolve_array(r, s, body);
	if (!strcmp(kind, "A_Indirection")) return resolve_element(r, s, body);
	if (!strcmp(kind, "SQLValueFunction")) return resolve_current(r, body);
	if (!strcmp(kind, "ParamRef"))
		return resolve_parameter(r, s, node_integer(body, "number"));
	if (!strcmp(kind, "SetToDefault"))
		return refuse(r, r->place,
		              "DEFAULT is not allowed in this context");
	node_words(&t, kind, body);
	if (!strcmp(kind, "CurrentOfExpr"))
		refuse_everywhere(r, r->place, text_get(&t));
	else
		refuse_construct(r, r->place, text_get(&t));
	text_free(&t);
	return NULL;
}

const struct sql_expr *resolve_expr(struct resolver *r, struct scope *s,
                                    json_t *node)
{
	json_t *body;
	const char *kind = node_kind(node, &body);
	if (r->failed) return NULL;
	r->place = node_place(r, body);
	const struct sql_expr *e = resolve_kind(r, s, kind, body);
	assert(e || r->failed);
	return e;
}

const struct sql_expr *resolve_condition(struct resolver *r, struct scope *s,
                                         json_t *node, const char *clause)
{
	struct text what = { 0 };
	const char *before = s->no_aggregates;
	bool none = strcmp(clause, "HAVING") && strcmp(clause, "CASE/WHEN");
	if (none) s->no_aggregates = clause;
	text_format(&what, "argument of %s must be type", clause);
	const struct sql_expr *e =
		coerce(r, resolve_expr(r, s, node), sql_type(SQL_BOOL),
	               COERCE_IMPLICIT, text_get(&what));
	text_free(&what);
	s->no_aggregates = before;
	return e;
}
