/* Operators and functions. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

static void print_signature(struct text *t, const char *name,
                            const struct sql_expr *const *args, uint32_t count,
                            bool is_operator)
{
	if (!is_operator) text_format(t, "%s(", name);
	for (uint32_t i = 0; i < count; i++) {
		if (is_operator && (i || count == 1))
			text_format(t, "%s%s ", i ? " " : "", name);
		else if (i)
			text_string(t, ", ");
		struct sql_type type = args[i]->type;
		type.length = 0;
		sql_type_print(t, type);
	}
	if (!is_operator) text_char(t, ')');
}

/* What gives something else each time it is called cannot be explored. */
static bool is_uncertain(const char *name)
{
	static const char *const names[] = { "random", "clock_timestamp",
		                             "timeofday", "gen_random_uuid",
		                             "txid_current" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return false;
}

/* Not with --engine=postgres either: it depends on other backends, or makes
 * them wait, or changes what all see. */
static bool is_outside_all(const char *name)
{
	static const char *const names[] = {
		"pg_advisory_", "pg_backend_pid", "pg_current_xact_id",
		"pg_notify",    "pg_sleep",       "pg_try_advisory_",
		"set_config",   "setseed",        "setval",
		"txid_",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(names[i], name, strlen(names[i]))) return true;
	return false;
}

/* The type of the function's argument: an enum or array is that of the first
 * argument which is one. False: of two that differ. */
static bool argument_type(const struct sql_expr *const *args, uint32_t count,
                          enum sql_kind kind, struct sql_type *out)
{
	bool found = false;
	*out = sql_type(kind);
	if (kind != SQL_ENUM && kind != SQL_ARRAY) return true;
	for (uint32_t i = 0; i < count; i++) {
		struct sql_type t = args[i]->type;
		if (t.kind != kind) continue;
		if (found && !sql_same_type(*out, t)) return false;
		*out = t;
		found = true;
	}
	return found;
}

/* array_agg(): the type of its argument is that of the elements. */
static const struct sql_expr *make_array_of(struct resolver *r,
                                            struct sql_expr *e)
{
	struct sql_type of = e->args[0]->type;
	if (of.kind == SQL_ARRAY)
		return refuse_construct(r, e->at,
		                        "an array of several dimensions");
	e->type.element = of.kind;
	e->type.labels = of.labels;
	return e;
}

/* There is none of this name for these arguments, or it is not clear which; or
 * `outside` is meant, which is not supported. */
static void *no_call(struct resolver *r, const char *name,
                     const struct sql_expr *const *args, uint32_t count,
                     bool is_operator, enum sql_choice choice,
                     const struct sql_proc *outside)
{
	struct text t = { 0 };
	const char *what = is_operator ? "operator" : "function";
	const char *why =
		choice == CHOICE_NONE ? "does not exist" : "is not unique";
	bool known = sql_has_proc(name), array = false;
	bool taken = sql_takes(name, count);
	for (uint32_t i = 0; i < count; i++)
		array |= args[i]->type.kind == SQL_ARRAY;
	print_signature(&t, name, args, count, is_operator);
	if (choice == CHOICE_MADE && outside->result == SQL_NUMERIC) {
		refuse(r, r->place,
		       "%s %s gives double precision, which is not "
		       "supported%s; make an argument numeric: x::numeric",
		       what, text_get(&t), server_hint(r));
	} else if (strstr(name, "_advisory_") && sql_is_outside(name)) {
		refuse(r, r->place,
		       "%s(): advisory locks are not supported; lock a row "
		       "instead: SELECT ... FOR UPDATE",
		       name);
	} else if (choice == CHOICE_MADE || (!taken && sql_is_outside(name)) ||
	           (array && !strcmp(name, "||"))) {
		bool alone = choice != CHOICE_MADE && is_outside_all(name);
		refuse(r, r->place,
		       "%s %s of PostgreSQL is not supported here%s; see 'SQL "
		       "programs' in the manual for what is, or write a "
		       "function of your own (CREATE FUNCTION)",
		       what, text_get(&t), alone ? "" : server_hint(r));
	} else if (is_operator) {
		refuse(r, r->place, "operator %s: %s", why, text_get(&t));
	} else {
		const char *near = known ? NULL : sql_nearest_proc(name);
		refuse(r, r->place, "function %s %s%s%s%s", text_get(&t), why,
		       near ? "; did you mean \"" : "", near ? near : "",
		       near ? "\"?" : "");
	}
	text_free(&t);
	return NULL;
}

/* The type of its parameter number i; the last one stands for those behind. */
static enum sql_kind parameter(const struct sql_proc *p, uint32_t i)
{
	if (i < p->count) return p->types[i];
	assert(sql_proc_takes_any_number(p));
	return SQL_ANY;
}

static const struct sql_expr *make_call(struct resolver *r, const char *name,
                                        const struct sql_expr **args,
                                        uint32_t count, bool is_operator)
{
	enum sql_kind *kinds =
		region_take(r->region, (count + (size_t)1) * sizeof *kinds);
	const struct sql_proc *p = NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (!args[i]) return NULL;
		kinds[i] = args[i]->type.kind;
	}
	enum sql_choice choice = sql_choose_proc(name, kinds, count, &p);
	for (uint32_t i = 0; i < count && choice == CHOICE_MADE; i++) {
		struct sql_type type;
		if (!argument_type(args, count, parameter(p, i), &type))
			choice = CHOICE_NONE;
	}
	if (!is_operator && is_uncertain(name))
		return refuse(r, r->place,
		              "%s() gives something else each time: not "
		              "supported; write a constant",
		              name);
	if (choice != CHOICE_MADE || p->operation == DO_OUTSIDE)
		return no_call(r, name, args, count, is_operator, choice, p);
	struct sql_expr *e = expr_new(r, EXPR_CALL, p->result, count);
	assert(p->count == count || sql_proc_takes_any_number(p));
	e->function = p;
	for (uint32_t i = 0; i < count; i++) {
		struct sql_type type;
		argument_type(args, count, parameter(p, i), &type);
		e->args[i] = type.kind == SQL_ANY
		                     ? settle(r, args[i])
		                     : coerce(r, args[i], type, COERCE_IMPLICIT,
		                              "argument");
		if (!e->args[i]) return NULL;
		if (type.kind == SQL_ANY && p->operation == DO_CONCAT)
			e->args[i] = coerce(r, e->args[i], sql_type(SQL_TEXT),
			                    COERCE_EXPLICIT, "argument");
	}
	if (r->failed) return NULL;
	if (p->result == SQL_ENUM ||
	    (p->result == SQL_ARRAY && p->types[0] == SQL_ARRAY))
		e->type = e->args[0]->type;
	else if (p->operation == DO_UNNEST)
		e->type = sql_element_type(e->args[0]->type);
	else if (p->operation == DO_ARRAY_AGG)
		return make_array_of(r, e);
	return e;
}

const struct sql_expr *make_operator(struct resolver *r, const char *name,
                                     const struct sql_expr *a,
                                     const struct sql_expr *b)
{
	const struct sql_expr *args[] = { a, b };
	if (!a || !b) return NULL;
	return make_call(r, name, args, 2, true);
}

static const struct sql_expr *resolve_operator(struct resolver *r,
                                               struct scope *s, json_t *body)
{
	json_t *names = json_object_get(body, "name");
	json_t *left = json_object_get(body, "lexpr");
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	struct place at = r->place;
	const struct sql_expr *args[2] = { NULL };
	uint32_t count = 0;
	if (left) args[count++] = resolve_expr(r, s, left);
	args[count++] = resolve_expr(r, s, json_object_get(body, "rexpr"));
	r->place = at;
	if (r->failed) return NULL;
	return make_call(r, name, args, count, true);
}

const struct sql_expr *make_both(struct resolver *r, enum sql_expr_kind kind,
                                 const struct sql_expr *a,
                                 const struct sql_expr *b)
{
	if (!a || !b) return NULL;
	struct sql_expr *e = expr_new(r, kind, SQL_BOOL, 2);
	e->args[0] = a;
	e->args[1] = b;
	return e;
}

static const struct sql_expr *negation(struct resolver *r,
                                       const struct sql_expr *a)
{
	if (!a) return NULL;
	struct sql_expr *e = expr_new(r, EXPR_NOT, SQL_BOOL, 1);
	e->args[0] = a;
	return e;
}

static const struct sql_expr *resolve_between(struct resolver *r,
                                              struct scope *s, json_t *body,
                                              bool negated, bool symmetric)
{
	json_t *list = json_object_get(
		json_object_get(json_object_get(body, "rexpr"), "List"),
		"items");
	const struct sql_expr *x =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	const struct sql_expr *low =
		resolve_expr(r, s, json_array_get(list, 0));
	const struct sql_expr *high =
		resolve_expr(r, s, json_array_get(list, 1));
	if (r->failed) return NULL;
	const struct sql_expr *in =
		make_both(r, EXPR_AND, make_operator(r, ">=", x, low),
	                  make_operator(r, "<=", x, high));
	if (symmetric)
		in = make_both(r, EXPR_OR, in,
		               make_both(r, EXPR_AND,
		                         make_operator(r, ">=", x, high),
		                         make_operator(r, "<=", x, low)));
	return negated ? negation(r, in) : in;
}

/* x IN (a, b) is x = a OR x = b; x NOT IN (a, b) is x <> a AND x <> b. */
static const struct sql_expr *resolve_in(struct resolver *r, struct scope *s,
                                         json_t *body)
{
	json_t *list = json_object_get(
		json_object_get(json_object_get(body, "rexpr"), "List"),
		"items");
	json_t *names = json_object_get(body, "name");
	const char *name = node_name(json_array_get(names, 0));
	uint32_t count = (uint32_t)json_array_size(list);
	const struct sql_expr *x =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	struct sql_expr *e = expr_new(
		r, !strcmp(name, "=") ? EXPR_OR : EXPR_AND, SQL_BOOL, count);
	const struct sql_expr **items =
		region_take0(r->region, (count + 1) * sizeof *items);
	if (!x) return NULL;
	for (uint32_t i = 0; i < count; i++)
		items[i] = resolve_expr(r, s, json_array_get(list, i));
	for (uint32_t i = 0; i < count; i++)
		e->args[i] = make_operator(r, name, x, items[i]);
	return r->failed ? NULL : e;
}

/* ---- Comparing ---- */

/* Both operands, compared; `left` is the first as it was written. */
static const struct sql_expr *resolve_equality(struct resolver *r,
                                               struct scope *s, json_t *body,
                                               const struct sql_expr **left)
{
	*left = resolve_expr(r, s, json_object_get(body, "lexpr"));
	return make_operator(
		r, "=", *left,
		resolve_expr(r, s, json_object_get(body, "rexpr")));
}

static const struct sql_expr *resolve_distinct(struct resolver *r,
                                               struct scope *s, json_t *body,
                                               bool negated)
{
	const struct sql_expr *left;
	const struct sql_expr *same = resolve_equality(r, s, body, &left);
	if (!same) return NULL;
	struct sql_expr *e = expr_new(r, EXPR_IS_DISTINCT, SQL_BOOL, 2);
	assert(same->kind == EXPR_CALL && same->count == 2);
	e->args[0] = same->args[0];
	e->args[1] = same->args[1];
	e->negated = negated;
	return e;
}

static const struct sql_expr *resolve_nullif(struct resolver *r,
                                             struct scope *s, json_t *body)
{
	const struct sql_expr *a;
	const struct sql_expr *same = resolve_equality(r, s, body, &a);
	if (!same) return NULL;
	a = a->type.kind == SQL_UNKNOWN ? same->args[0] : a;
	assert(a->type.kind != SQL_UNKNOWN);
	struct sql_expr *e = expr_new(r, EXPR_NULLIF, a->type.kind, 2);
	e->type = a->type;
	e->args[0] = a;
	e->args[1] = same;
	return e;
}

const struct sql_expr *make_now(struct resolver *r)
{
	return make_call(r, "now", NULL, 0, false);
}

struct sql_expr *make_any(struct resolver *r, const char *name,
                          const struct sql_expr *x, struct sql_type item)
{
	struct sql_expr *of = expr_new(r, EXPR_CONSTANT, SQL_UNKNOWN, 0);
	of->type = item;
	const struct sql_expr *one = make_operator(r, name, x, of);
	if (!one) return NULL;
	if (one->function->operation > DO_GE)
		return refuse_construct(r, r->place,
		                        "ANY or ALL of this operator");
	struct sql_expr *e = expr_new(r, EXPR_ANY, SQL_BOOL, 2);
	e->function = one->function;
	e->args[0] = one->args[0];
	e->item = one->args[1]->type;
	return e;
}

/* x op ANY (array) */
static const struct sql_expr *
resolve_any_array(struct resolver *r, struct scope *s, json_t *body, bool all)
{
	const char *name =
		node_name(json_array_get(json_object_get(body, "name"), 0));
	struct place at = r->place;
	const struct sql_expr *x =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	const struct sql_expr *array =
		resolve_expr(r, s, json_object_get(body, "rexpr"));
	r->place = at;
	if (r->failed) return NULL;
	struct sql_type type = { .kind = SQL_ARRAY,
		                 .element = x->type.kind,
		                 .labels = x->type.labels };
	if (array->type.kind == SQL_ARRAY)
		type = array->type;
	else if (array->type.kind != SQL_UNKNOWN)
		return refuse(r, at,
		              "op ANY/ALL (array) requires array on right "
		              "side");
	struct sql_expr *e = make_any(r, name, x, sql_element_type(type));
	if (!e) return NULL;
	type.element = e->item.kind;
	type.labels = e->item.labels;
	e->args[1] = coerce(r, array, type, COERCE_IMPLICIT, "argument");
	e->negated = all;
	return r->failed ? NULL : e;
}

const struct sql_expr *resolve_a_expr(struct resolver *r, struct scope *s,
                                      json_t *body)
{
	const char *kind = node_string(body, "kind");
	json_t *left = json_object_get(body, "lexpr");
	json_t *right = json_object_get(body, "rexpr");
	bool whole = spread_row(s, left);
	whole = spread_row(s, right) || whole;
	bool rows = row_items(left) != NULL;
	if (rows && !strcmp(kind, "AEXPR_OP")) {
		const char *name = node_name(
			json_array_get(json_object_get(body, "name"), 0));
		if (whole)
			return refuse_construct(
				r, r->place,
				"a whole row beside an operator (write IS "
				"DISTINCT FROM, or ROW(r.*))");
		const struct sql_expr *e =
			row_of_query(r, s, name, left, right);
		return e || r->failed ? e
		                      : compare_rows(r, s, name, left, right);
	}
	if (!strcmp(kind, "AEXPR_OP") || !strcmp(kind, "AEXPR_LIKE") ||
	    !strcmp(kind, "AEXPR_ILIKE"))
		return resolve_operator(r, s, body);
	if (!strcmp(kind, "AEXPR_IN")) {
		json_t *list;
		if (!node_is(right, "List", &list))
			return refuse_construct(r, r->place, "this IN");
		if (rows)
			return resolve_row_in(r, s, body,
			                      json_object_get(list, "items"));
		return resolve_in(r, s, body);
	}
	if (rows && strstr(kind, "DISTINCT"))
		return rows_differ(r, s, left, right,
		                   !strcmp(kind, "AEXPR_NOT_DISTINCT"));
	if (!strcmp(kind, "AEXPR_OP_ANY") || !strcmp(kind, "AEXPR_OP_ALL"))
		return resolve_any_array(r, s, body,
		                         !strcmp(kind, "AEXPR_OP_ALL"));
	if (!strcmp(kind, "AEXPR_BETWEEN"))
		return resolve_between(r, s, body, false, false);
	if (!strcmp(kind, "AEXPR_NOT_BETWEEN"))
		return resolve_between(r, s, body, true, false);
	if (!strcmp(kind, "AEXPR_BETWEEN_SYM"))
		return resolve_between(r, s, body, false, true);
	if (!strcmp(kind, "AEXPR_NOT_BETWEEN_SYM"))
		return resolve_between(r, s, body, true, true);
	if (!strcmp(kind, "AEXPR_DISTINCT"))
		return resolve_distinct(r, s, body, false);
	if (!strcmp(kind, "AEXPR_NOT_DISTINCT"))
		return resolve_distinct(r, s, body, true);
	if (!strcmp(kind, "AEXPR_NULLIF")) return resolve_nullif(r, s, body);
	return refuse_construct(r, r->place,
	                        strcmp(kind, "AEXPR_SIMILAR") ? "an operator"
	                                                      : "SIMILAR TO");
}

/* ---- Routines ---- */

/* How well the routine fits: 0 not at all, else more for each exact type. */
static uint32_t fits(const struct sql_routine *routine,
                     const struct sql_expr *const *args, uint32_t count)
{
	uint32_t n = 1;
	if (count > routine->parameter_count) return 0;
	for (uint32_t i = 0; i < routine->parameter_count; i++) {
		enum sql_kind to = routine->parameters[i].kind;
		if (i >= count) {
			if (!routine->defaults[i]) return 0;
			continue;
		}
		if (!sql_can_coerce(args[i]->type.kind, to, COERCE_IMPLICIT))
			return 0;
		n += args[i]->type.kind == to ? 2 : 0;
		n += args[i]->type.kind == SQL_UNKNOWN && to == SQL_TEXT;
	}
	return n;
}

static void no_routine(struct resolver *r, const char *name,
                       const struct sql_expr *const *args, uint32_t count,
                       bool procedure, const char *what)
{
	struct text t = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		if (i) text_string(&t, ", ");
		sql_type_print(&t, args[i]->type);
	}
	refuse(r, r->place, "%s %s(%s) %s",
	       procedure ? "procedure" : "function", name, text_get(&t), what);
	text_free(&t);
}

const struct sql_expr *call_routine(struct resolver *r, const char *name,
                                    const struct sql_expr **args,
                                    uint32_t count, bool procedure)
{
	const struct sql_catalog *c = r->catalog;
	struct sql_routine *best = NULL;
	uint32_t best_fit = 0;
	bool known = false, several = false;
	for (uint32_t i = 0; i < c->routine_count; i++) {
		struct sql_routine *x = c->routines[i];
		if (strcmp(x->name, name)) continue;
		known = true;
		uint32_t fit = fits(x, args, count);
		several = fit && fit == best_fit;
		if (fit <= best_fit) continue;
		best = x;
		best_fit = fit;
	}
	if (!known && !procedure) return NULL;
	if (!best || several) {
		no_routine(r, name, args, count, procedure,
		           several ? "is not unique" : "does not exist");
		return NULL;
	}
	if (best->procedure != procedure)
		return refuse(r, r->place,
		              procedure
		                      ? "%s() is not a procedure; to call a "
		                        "function, use SELECT"
		                      : "%s() is a procedure; to call it, use "
		                        "CALL",
		              name);
	struct sql_expr *e = expr_new(r, EXPR_ROUTINE, best->result.kind,
	                              best->parameter_count);
	assert(count <= best->parameter_count);
	e->type = best->result;
	e->routine = best;
	best->called = true;
	for (uint32_t i = 0; i < best->parameter_count; i++)
		e->args[i] = i < count ? coerce(r, args[i], best->parameters[i],
		                                COERCE_IMPLICIT, "argument")
		                       : best->defaults[i];
	return r->failed ? NULL : e;
}

/* ---- Calls ---- */

static const struct sql_expr *make_aggregate(struct resolver *r,
                                             struct scope *s, json_t *body,
                                             const struct sql_expr *call,
                                             bool was_in_aggregate)
{
	struct sql_expr *e = region_take(r->region, sizeof *e);
	json_t *filter = json_object_get(body, "agg_filter"), *list;
	const char *name = call->function->name;
	assert(call->kind == EXPR_CALL);
	*e = *call;
	e->kind = EXPR_AGGREGATE;
	e->distinct = node_flag(body, "agg_distinct");
	if (was_in_aggregate)
		return refuse(r, r->place,
		              "aggregate function calls cannot be nested");
	if (s->no_aggregates)
		return refuse(r, r->place,
		              "aggregate functions are not allowed in %s",
		              s->no_aggregates);
	list = json_object_get(body, "agg_order");
	s->in_aggregate = true;
	if (list && !(e->order = resolve_sort(r, s, list, &e->order_count)))
		return NULL;
	s->in_aggregate = was_in_aggregate;
	if (filter && !(e->filter = resolve_condition(r, s, filter, "FILTER")))
		return NULL;
	if (!e->count && !node_flag(body, "agg_star"))
		return refuse(r, r->place,
		              "%s(*) must be used to call a parameterless "
		              "aggregate function",
		              name);
	e->number = s->aggregate_count;
	VEC_RESERVE(s->aggregates, s->aggregate_count, s->aggregate_capacity);
	s->aggregates[s->aggregate_count++] = e;
	return e;
}

static bool returns_set(const struct sql_expr *e)
{
	if (e->kind == EXPR_ROUTINE) return e->routine->set;
	return e->kind == EXPR_CALL && sql_proc_returns_set(e->function);
}

static bool is_wide(const struct sql_expr *e)
{
	return e->kind == EXPR_ROUTINE && e->routine->composite;
}

/* A call that returns a set, in SELECT's list. `before`: the sets known before
 * its arguments. */
static const struct sql_expr *add_set(struct resolver *r, struct scope *s,
                                      const struct sql_expr *call,
                                      uint32_t before)
{
	if (s->in_aggregate)
		return refuse(r, call->at,
		              "aggregate function calls cannot contain "
		              "set-returning function calls (0A000)");
	if (!s->takes_sets)
		return refuse(r, call->at,
		              "set-returning functions are not allowed in %s "
		              "(0A000); they may stand in FROM and in "
		              "SELECT's list",
		              s->no_aggregates ? s->no_aggregates
		                               : "this context");
	if (s->set_count > before)
		return refuse_construct(r, call->at,
		                        "a set-returning function in the "
		                        "arguments of another");
	if (is_wide(call) && !r->discards)
		return refuse_construct(r, call->at,
		                        "rows of several columns in SELECT's "
		                        "list (write SELECT ... FROM the "
		                        "function)");
	struct sql_expr *e = expr_new(r, EXPR_SET, SQL_UNKNOWN, 1);
	e->type = call->type;
	e->args[0] = call;
	e->number = s->set_count;
	VEC_RESERVE(s->sets, s->set_count, s->set_capacity);
	s->sets[s->set_count++] = e;
	return e;
}

const struct sql_expr *resolve_call(struct resolver *r, struct scope *s,
                                    json_t *body)
{
	json_t *names = json_object_get(body, "funcname");
	json_t *given = json_object_get(body, "args");
	uint32_t count = (uint32_t)json_array_size(given);
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	struct place at = r->place;
	bool was = s->in_aggregate, in_from = r->calls_rows;
	uint32_t sets = s->set_count;
	r->calls_rows = false;
	const struct sql_expr **args =
		region_take0(r->region, (count + 1) * sizeof *args);
	if ((!strcmp(name, "nextval") || !strcmp(name, "currval")) &&
	    count == 1)
		return resolve_draw(r, name, json_array_get(given, 0));
	if (json_object_get(body, "over"))
		return refuse_construct(r, at, "a window function");
	bool aggregates = sql_aggregates(name);
	s->in_aggregate = was || aggregates;
	for (uint32_t i = 0; i < count; i++)
		args[i] = resolve_expr(r, s, json_array_get(given, i));
	r->place = at;
	const struct sql_expr *e =
		r->failed ? NULL : call_routine(r, name, args, count, false);
	if (!e && !r->failed) e = make_call(r, name, args, count, false);
	if (e && e->kind == EXPR_CALL && sql_proc_is_aggregate(e->function))
		e = make_aggregate(r, s, body, e, was);
	s->in_aggregate = was;
	if (!e || in_from) return e;
	if (returns_set(e)) return add_set(r, s, e, sets);
	return aggregates || !is_wide(e) || r->discards
	               ? e
	               : refuse_construct(
				 r, at,
				 "a row of several columns as a value (write "
				 "SELECT ... FROM the function)");
}
