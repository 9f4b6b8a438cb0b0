/* Expressions of SQL: NULL, and conditions of three values. */
#include <assert.h>

#include "base/memory.h"
#include "prove/sql_lower.h"
#include "sql/procs.h"

static uint32_t constant(struct sql_lowering *l, struct value v)
{
	return build_constant(&l->b, v);
}

uint32_t prove_null_node(struct sql_lowering *l)
{
	return constant(l, value_null());
}

uint32_t prove_int_node(struct sql_lowering *l, int64_t n)
{
	return constant(l, value_int(n));
}

static const struct node *node(const struct sql_lowering *l, uint32_t n)
{
	assert(n < l->b.s->node_count);
	return &l->b.s->nodes[n];
}

uint32_t prove_is_null_node(struct sql_lowering *l, uint32_t value)
{
	const struct node *n = node(l, value);
	if (n->op >= NODE_SUM || n->op == NODE_TRUTH) return FALSE_NODE;
	if (n->op == NODE_CHOOSE) {
		struct node c = *n;
		uint32_t b = prove_is_null_node(l, c.b);
		uint32_t d = prove_is_null_node(l, c.c);
		return node_or(l->b.s, node_and(l->b.s, c.a, b),
		               node_and(l->b.s, node_not(l->b.s, c.a), d));
	}
	return node_equal(l->b.s, value, prove_null_node(l));
}

uint32_t prove_maybe(struct sql_lowering *l, uint32_t condition)
{
	return node_and(l->b.s, condition, build_guess(&l->b));
}

void prove_assume(struct sql_lowering *l, uint32_t condition)
{
	struct summary *s = l->b.s;
	s->assumed = node_and(s, s->assumed, condition);
}

void prove_may_fail(struct sql_lowering *l, uint32_t fine)
{
	if (fine != TRUE_NODE)
		build_require(&l->b, node_or(l->b.s, fine, build_guess(&l->b)));
}

bool prove_is_exact(enum sql_kind k)
{
	switch (k) {
	case SQL_BOOL:
	case SQL_INT2:
	case SQL_INT4:
	case SQL_INT8:
	case SQL_TEXT:
	case SQL_VARCHAR:
	case SQL_DATE:
	case SQL_TIMESTAMP:
	case SQL_UUID:
	case SQL_ENUM: return true;
	default: return false;
	}
}

static uint32_t in_range(struct sql_lowering *l, uint32_t v, enum sql_kind k)
{
	struct summary *s = l->b.s;
	int64_t most = k == SQL_INT2   ? INT16_MAX
	               : k == SQL_INT4 ? INT32_MAX
	                               : INT64_MAX;
	if (k == SQL_INT8) return node_add(s, NODE_FITS, v, 0, 0);
	uint32_t low =
		node_add(s, NODE_LESS, v, prove_int_node(l, -most - 1), 0);
	uint32_t high = node_add(s, NODE_LESS, prove_int_node(l, most), v, 0);
	return node_and(s, node_not(s, low), node_not(s, high));
}

uint32_t prove_has_type(struct sql_lowering *l, uint32_t value,
                        struct sql_type t, bool nullable)
{
	struct summary *s = l->b.s;
	bool truth = t.kind == SQL_BOOL, number = sql_is_integer(t.kind);
	uint32_t typed = node_add(s,
	                          truth    ? NODE_IS_BOOL
	                          : number ? NODE_IS_INT
	                                   : NODE_IS_STRING,
	                          value, 0, 0);
	if (number) typed = node_and(s, typed, in_range(l, value, t.kind));
	return nullable ? node_or(s, typed, prove_is_null_node(l, value))
	                : typed;
}

uint32_t prove_any_value(struct sql_lowering *l, struct sql_type t)
{
	uint32_t v = build_unknown(&l->b);
	prove_assume(l, prove_has_type(l, v, t, true));
	return v;
}

/* Any value of the type, NULL if one of these is. */
static uint32_t strict(struct sql_lowering *l, struct sql_type t,
                       const uint32_t *values, uint32_t count)
{
	uint32_t v = prove_any_value(l, t), null = prove_null_node(l);
	prove_may_fail(l, FALSE_NODE);
	for (uint32_t i = 0; i < count; i++)
		v = node_choose(l->b.s, prove_is_null_node(l, values[i]), null,
		                v);
	return v;
}

/* ---- conditions ---- */

static struct sql_truth truth_of(struct sql_lowering *l, uint32_t v)
{
	struct summary *s = l->b.s;
	const struct node n = *node(l, v);
	if (n.op == NODE_TRUTH)
		return (struct sql_truth){ n.a, node_not(s, n.a) };
	if (n.op == NODE_CONSTANT) {
		struct value k = l->b.app->constants[n.a];
		bool known = k.tag == VALUE_BOOL;
		return (struct sql_truth){
			known && k.i ? TRUE_NODE : FALSE_NODE,
			known && !k.i ? TRUE_NODE : FALSE_NODE
		};
	}
	if (n.op == NODE_CHOOSE) {
		struct sql_truth b = truth_of(l, n.b), c = truth_of(l, n.c);
		uint32_t other = node_not(s, n.a);
		return (struct sql_truth){ node_or(s, node_and(s, n.a, b.yes),
			                           node_and(s, other, c.yes)),
			                   node_or(s, node_and(s, n.a, b.no),
			                           node_and(s, other, c.no)) };
	}
	uint32_t holds = node_add(s, NODE_HOLDS, v, 0, 0);
	uint32_t is = node_add(s, NODE_IS_BOOL, v, 0, 0);
	return (struct sql_truth){ holds, node_and(s, is, node_not(s, holds)) };
}

uint32_t prove_holds(struct sql_lowering *l, uint32_t value)
{
	return truth_of(l, value).yes;
}

static uint32_t value_of(struct sql_lowering *l, struct sql_truth t)
{
	struct summary *s = l->b.s;
	uint32_t holds = t.yes <= TRUE_NODE
	                         ? constant(l, value_bool(t.yes == TRUE_NODE))
	                         : node_add(s, NODE_TRUTH, t.yes, 0, 0);
	uint32_t known = node_or(s, t.yes, t.no);
	if (t.no == node_not(s, t.yes)) return holds;
	return node_choose(s, known, holds, prove_null_node(l));
}

/* Of two values that are no NULLs. */
static uint32_t compare(struct sql_lowering *l, enum sql_operation o,
                        uint32_t a, uint32_t b, struct sql_type type)
{
	struct summary *s = l->b.s;
	bool equality = o == DO_EQ || o == DO_NE, less;
	uint32_t holds;
	if (equality && a == b && prove_is_exact(type.kind))
		return o == DO_EQ ? TRUE_NODE : FALSE_NODE;
	if (equality ? !prove_is_exact(type.kind) : !sql_is_integer(type.kind))
		return build_guess(&l->b);
	if (equality) {
		holds = node_equal(s, a, b);
		return o == DO_EQ ? holds : node_not(s, holds);
	}
	less = o == DO_LT || o == DO_GE;
	holds = less ? node_add(s, NODE_LESS, a, b, 0)
	             : node_add(s, NODE_LESS, b, a, 0);
	return o == DO_LE || o == DO_GE ? node_not(s, holds) : holds;
}

/* Values of the same kind; else nobody knows. */
static struct sql_type common_type(struct sql_type a, struct sql_type b)
{
	bool texts = (a.kind == SQL_TEXT || a.kind == SQL_VARCHAR) &&
	             (b.kind == SQL_TEXT || b.kind == SQL_VARCHAR);
	if (a.kind == b.kind || texts ||
	    (sql_is_integer(a.kind) && sql_is_integer(b.kind)))
		return a;
	return sql_type(SQL_ANY);
}

static struct sql_truth compared(struct sql_lowering *l, enum sql_operation o,
                                 uint32_t a, uint32_t b, struct sql_type type)
{
	struct summary *s = l->b.s;
	uint32_t known = node_and(s, node_not(s, prove_is_null_node(l, a)),
	                          node_not(s, prove_is_null_node(l, b)));
	uint32_t holds = compare(l, o, a, b, type);
	return (struct sql_truth){ node_and(s, known, holds),
		                   node_and(s, known, node_not(s, holds)) };
}

/* Of all but the first argument, what fails or is read may as well not be. */
static struct sql_truth logical(struct sql_lowering *l,
                                const struct sql_scope *scope,
                                const struct sql_expr *e)
{
	struct summary *s = l->b.s;
	bool all = e->kind == EXPR_AND;
	struct sql_truth t = { all ? TRUE_NODE : FALSE_NODE,
		               all ? FALSE_NODE : TRUE_NODE };
	for (uint32_t i = 0; i < e->count; i++) {
		uint32_t live = l->b.live, skipped = FALSE_NODE;
		if (i) {
			l->b.live = prove_maybe(l, live);
			skipped = node_and(s, live, node_not(s, l->b.live));
		}
		struct sql_truth c = prove_condition(l, scope, e->args[i]);
		if (i) l->b.live = node_or(s, l->b.live, skipped);
		t.yes = all ? node_and(s, t.yes, c.yes)
		            : node_or(s, t.yes, c.yes);
		t.no = all ? node_or(s, t.no, c.no) : node_and(s, t.no, c.no);
	}
	return t;
}

static struct sql_truth distinct(struct sql_lowering *l, uint32_t a, uint32_t b,
                                 struct sql_type type, bool negated)
{
	struct summary *s = l->b.s;
	struct sql_truth t = compared(l, DO_EQ, a, b, type);
	uint32_t nulls =
		node_and(s, prove_is_null_node(l, a), prove_is_null_node(l, b));
	uint32_t same = node_or(s, t.yes, nulls);
	uint32_t other = node_not(s, same);
	return negated ? (struct sql_truth){ same, other }
	               : (struct sql_truth){ other, same };
}

static struct sql_truth unknown_truth(struct sql_lowering *l)
{
	uint32_t yes = build_guess(&l->b);
	return (struct sql_truth){ yes, node_and(l->b.s, node_not(l->b.s, yes),
		                                 build_guess(&l->b)) };
}

/* x = ANY (ARRAY[...]), which IN is, too; or of what nobody knows. */
static struct sql_truth any_of(struct sql_lowering *l,
                               const struct sql_scope *scope,
                               const struct sql_expr *e)
{
	struct summary *s = l->b.s;
	struct sql_truth t = { FALSE_NODE, TRUE_NODE };
	const struct sql_expr *list = e->count > 1 ? e->args[1] : NULL;
	if (!e->function || e->query || !list || list->kind != EXPR_ARRAY ||
	    e->negated || e->function->operation > DO_GE) {
		prove_hidden_expr(l, e);
		return unknown_truth(l);
	}
	uint32_t x = prove_value(l, scope, e->args[0]);
	for (uint32_t i = 0; i < list->count; i++) {
		struct sql_truth c = compared(
			l, e->function->operation, x,
			prove_value(l, scope, list->args[i]),
			common_type(e->args[0]->type, list->args[i]->type));
		t.yes = node_or(s, t.yes, c.yes);
		t.no = node_and(s, t.no, c.no);
	}
	return t;
}

static struct sql_truth exists(struct sql_lowering *l,
                               const struct sql_scope *scope,
                               const struct sql_expr *e)
{
	uint32_t found;
	if (!prove_total_exists(l, e->query, &found)) {
		found = prove_answer(l, scope, e->query).found;
		prove_note_exists(l, e->query, found);
	}
	return (struct sql_truth){ found, node_not(l->b.s, found) };
}

struct sql_truth prove_condition(struct sql_lowering *l,
                                 const struct sql_scope *scope,
                                 const struct sql_expr *e)
{
	struct sql_truth t;
	uint32_t a, b;
	switch (e->kind) {
	case EXPR_AND:
	case EXPR_OR: return logical(l, scope, e);
	case EXPR_NOT:
		t = prove_condition(l, scope, e->args[0]);
		return (struct sql_truth){ t.no, t.yes };
	case EXPR_IS_NULL:
		a = prove_is_null_node(l, prove_value(l, scope, e->args[0]));
		b = node_not(l->b.s, a);
		return e->negated ? (struct sql_truth){ b, a }
		                  : (struct sql_truth){ a, b };
	case EXPR_IS_BOOL:
		t = prove_condition(l, scope, e->args[0]);
		a = e->constant.tag != VALUE_BOOL
		            ? node_not(l->b.s, node_or(l->b.s, t.yes, t.no))
		    : e->constant.i ? t.yes
		                    : t.no;
		b = node_not(l->b.s, a);
		return e->negated ? (struct sql_truth){ b, a }
		                  : (struct sql_truth){ a, b };
	case EXPR_IS_DISTINCT:
		a = prove_value(l, scope, e->args[0]);
		b = prove_value(l, scope, e->args[1]);
		return distinct(l, a, b,
		                common_type(e->args[0]->type, e->args[1]->type),
		                e->negated);
	case EXPR_ANY: return any_of(l, scope, e);
	case EXPR_EXISTS: return exists(l, scope, e);
	case EXPR_CALL:
		if (e->function->operation > DO_GE || e->count != 2) break;
		a = prove_value(l, scope, e->args[0]);
		b = prove_value(l, scope, e->args[1]);
		return compared(
			l, e->function->operation, a, b,
			common_type(e->args[0]->type, e->args[1]->type));
	default: break;
	}
	return truth_of(l, prove_value(l, scope, e));
}

/* ---- values ---- */

static uint32_t column(struct sql_lowering *l, const struct sql_scope *scope,
                       const struct sql_expr *e)
{
	for (uint32_t i = 0; i < e->up && scope; i++) scope = scope->outer;
	if (!scope || !scope->rows || !scope->rows[e->relation])
		return prove_any_value(l, e->type);
	return scope->rows[e->relation][e->column];
}

static uint32_t arithmetic(struct sql_lowering *l, enum sql_operation o,
                           const uint32_t *v, struct sql_type type)
{
	struct summary *s = l->b.s;
	uint32_t result, null = prove_is_null_node(l, v[0]);
	if (o != DO_NEGATE)
		null = node_or(s, null, prove_is_null_node(l, v[1]));
	if (o == DO_NEGATE)
		result = node_add(s, NODE_DIFFERENCE, prove_int_node(l, 0),
		                  v[0], 0);
	else
		result = node_add(s,
		                  o == DO_ADD   ? NODE_SUM
		                  : o == DO_SUB ? NODE_DIFFERENCE
		                                : NODE_PRODUCT,
		                  v[0], v[1], 0);
	uint32_t fine = node_or(s, null, in_range(l, result, type.kind));
	if (l->conditions) /* perhaps another one has said no before */
		prove_may_fail(l, fine);
	else
		build_require(&l->b, fine);
	return node_choose(s, null, prove_null_node(l), result);
}

static bool is_followed(const struct sql_lowering *l, const struct sql_expr *e,
                        const uint32_t *v)
{
	enum sql_operation o = e->function->operation;
	if (!sql_is_integer(e->type.kind)) return false;
	for (uint32_t i = 0; i < e->count; i++)
		if (!sql_is_integer(e->args[i]->type.kind)) return false;
	if (o == DO_MUL)
		return node(l, v[0])->op == NODE_CONSTANT ||
		       node(l, v[1])->op == NODE_CONSTANT;
	return o == DO_ADD || o == DO_SUB || o == DO_NEGATE;
}

static uint32_t called(struct sql_lowering *l, const struct sql_scope *scope,
                       const struct sql_expr *e)
{
	uint32_t v[8], count = e->count < 8 ? e->count : 8;
	for (uint32_t i = 0; i < e->count; i++) {
		uint32_t x = prove_value(l, scope, e->args[i]);
		if (i < count) v[i] = x;
	}
	if (is_followed(l, e, v))
		return arithmetic(l, e->function->operation, v, e->type);
	if (sql_proc_takes_any_number(e->function)) count = 0;
	return strict(l, e->type, v, count);
}

/* Arms are evaluated where they are chosen. */
static uint32_t lazily(struct sql_lowering *l, const struct sql_scope *scope,
                       const struct sql_expr *e, uint32_t condition)
{
	struct summary *s = l->b.s;
	uint32_t live = l->b.live;
	l->b.live = node_and(s, live, condition);
	uint32_t skipped = node_and(s, live, node_not(s, condition));
	uint32_t v = prove_value(l, scope, e);
	l->b.live = node_or(s, l->b.live, skipped);
	return v;
}

static uint32_t case_of(struct sql_lowering *l, const struct sql_scope *scope,
                        const struct sql_expr *e, uint32_t i, uint32_t open)
{
	struct summary *s = l->b.s;
	if (i >= e->count) return prove_null_node(l);
	if (i + 1 == e->count) return lazily(l, scope, e->args[i], open);
	uint32_t live = l->b.live;
	l->b.live = node_and(s, live, open);
	uint32_t skipped = node_and(s, live, node_not(s, open));
	struct sql_truth c = prove_condition(l, scope, e->args[i]);
	l->b.live = node_or(s, l->b.live, skipped);
	uint32_t a = lazily(l, scope, e->args[i + 1], node_and(s, open, c.yes));
	uint32_t b = case_of(l, scope, e, i + 2,
	                     node_and(s, open, node_not(s, c.yes)));
	return node_choose(s, c.yes, a, b);
}

static uint32_t coalesce(struct sql_lowering *l, const struct sql_scope *scope,
                         const struct sql_expr *e, uint32_t i, uint32_t open)
{
	struct summary *s = l->b.s;
	uint32_t v = lazily(l, scope, e->args[i], open);
	if (i + 1 == e->count) return v;
	uint32_t null = prove_is_null_node(l, v);
	uint32_t other = coalesce(l, scope, e, i + 1, node_and(s, open, null));
	return node_choose(s, null, other, v);
}

uint32_t prove_assigned(struct sql_lowering *l, uint32_t value,
                        struct sql_type from, struct sql_type to)
{
	bool texts = (from.kind == SQL_TEXT || from.kind == SQL_VARCHAR) &&
	             (to.kind == SQL_TEXT || to.kind == SQL_VARCHAR);
	if (prove_is_null_node(l, value) == TRUE_NODE) return value;
	if (sql_is_integer(from.kind) && sql_is_integer(to.kind)) {
		if (from.kind > to.kind)
			prove_may_fail(l, node_or(l->b.s,
			                          prove_is_null_node(l, value),
			                          in_range(l, value, to.kind)));
		return value;
	}
	if (texts && to.length && to.length != from.length) {
		prove_may_fail(l, FALSE_NODE);
		/* Blanks at its end are cut off, in a cast more. */
		uint32_t other = prove_any_value(l, to);
		uint32_t cut =
			node_choose(l->b.s, build_guess(&l->b), other, value);
		return node_choose(l->b.s, prove_is_null_node(l, value),
		                   prove_null_node(l), cut);
	}
	if (texts || (from.kind == to.kind && sql_same_type(from, to)))
		return value;
	return strict(l, to, &value, 1);
}

static uint32_t of_routine(struct sql_lowering *l,
                           const struct sql_scope *scope,
                           const struct sql_expr *e)
{
	uint32_t *args = region_take(&l->b.app->region,
	                             (e->count + (size_t)1) * sizeof *args);
	for (uint32_t i = 0; i < e->count; i++)
		args[i] = prove_value(l, scope, e->args[i]);
	return prove_call(l, e->routine, args, e->at);
}

/* At most. */
static bool is_one_row(const struct sql_query *q)
{
	return q->grouped && !q->group_count && !q->set_count &&
	       !q->combination;
}

uint32_t prove_value(struct sql_lowering *l, const struct sql_scope *scope,
                     const struct sql_expr *e)
{
	struct summary *s = l->b.s;
	uint32_t v, w;
	if (build_is_full(&l->b)) return build_unknown(&l->b);
	if (e == l->known) return l->known_value;
	switch (e->kind) {
	case EXPR_CONSTANT:
		if (e->constant.tag == VALUE_LIST)
			return prove_any_value(l, e->type);
		return constant(l, e->constant);
	case EXPR_COLUMN: return column(l, scope, e);
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_NOT:
	case EXPR_IS_NULL:
	case EXPR_IS_BOOL:
	case EXPR_IS_DISTINCT:
	case EXPR_ANY:
	case EXPR_EXISTS: return value_of(l, prove_condition(l, scope, e));
	case EXPR_CALL:
		if (e->function->operation <= DO_GE && e->count == 2)
			return value_of(l, prove_condition(l, scope, e));
		return called(l, scope, e);
	case EXPR_CASE: return case_of(l, scope, e, 0, TRUE_NODE);
	case EXPR_COALESCE: return coalesce(l, scope, e, 0, TRUE_NODE);
	case EXPR_NULLIF:
		v = prove_value(l, scope, e->args[0]);
		return node_choose(s, prove_condition(l, scope, e->args[1]).yes,
		                   prove_null_node(l), v);
	case EXPR_CAST:
		v = prove_value(l, scope, e->args[0]);
		return prove_assigned(l, v, e->args[0]->type, e->type);
	case EXPR_AGGREGATE:
		return scope && scope->aggregates ? scope->aggregates[e->number]
		                                  : prove_any_value(l, e->type);
	case EXPR_SCALAR:
		if (e->count) break;
		w = prove_answer(l, scope, e->query).values[0];
		if (!is_one_row(e->query)) prove_may_fail(l, FALSE_NODE);
		return w;
	case EXPR_ROUTINE: return of_routine(l, scope, e);
	case EXPR_FAILURE:
		build_require(&l->b, FALSE_NODE);
		return prove_any_value(l, e->type);
	case EXPR_NEXTVAL: return prove_any_value(l, e->type);
	default: break;
	}
	prove_wish(l, FALSE_NODE);
	prove_hidden_expr(l, e);
	prove_may_fail(l, FALSE_NODE);
	return prove_any_value(l, e->type);
}
