/* Expressions. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "sql/moment.h"
#include "sql/numeric.h"
#include "sql/procs.h"
#include "sql/run.h"
#include "sql/text_call.h"

/* ---- Functions ---- */

static bool compute(struct sql_run *x, const struct sql_expr *e, int64_t a,
                    int64_t b, struct value *out)
{
	int64_t n = 0;
	bool over = false;
	switch (e->function->operation) {
	case DO_ADD: over = __builtin_add_overflow(a, b, &n); break;
	case DO_SUB: over = __builtin_sub_overflow(a, b, &n); break;
	case DO_MUL: over = __builtin_mul_overflow(a, b, &n); break;
	case DO_DIV:
	case DO_MOD:
		if (!b) return sql_run_fails(x, "22012", "division by zero");
		over = e->function->operation == DO_DIV && b == -1 &&
		       a == INT64_MIN;
		if (e->function->operation == DO_MOD)
			n = b == -1 ? 0 : a % b;
		else if (!over)
			n = a / b;
		break;
	default: assert(!"arithmetic");
	}
	if (e->type.kind == SQL_INT2) over |= n < INT16_MIN || n > INT16_MAX;
	if (e->type.kind == SQL_INT4) over |= n < INT32_MIN || n > INT32_MAX;
	if (over)
		return sql_run_fails(x, "22003", "%s out of range",
		                     sql_kind_name(e->type.kind));
	*out = value_int(n);
	return true;
}

/* LIKE: % stands for any text, _ for one character, \ takes the next as it
 * is. -1: the pattern ends in it. */
static int is_like(const char *s, const char *s_end, const char *p,
                   const char *p_end)
{
	for (; p < p_end; p++) {
		if (*p == '%') {
			while (p < p_end && *p == '%') p++;
			for (;; s++) {
				int r = is_like(s, s_end, p, p_end);
				if (r || s == s_end) return r;
			}
		}
		if (*p == '\\' && ++p == p_end) return -1;
		if (s == s_end) return 0;
		if (*p == '_' && p[-1] != '\\') {
			size_t n = utf8_length(s, (size_t)(s_end - s));
			s += n ? n : 1;
		} else if (*p != *s++) {
			return 0;
		}
	}
	return s == s_end;
}

static bool like(struct sql_run *x, struct value s, struct value p,
                 enum sql_operation op, struct value *out)
{
	bool wanted = op == DO_LIKE || op == DO_ILIKE;
	if (op == DO_ILIKE || op == DO_NOT_ILIKE) {
		s = sql_change_case(x->region, s, false);
		p = sql_change_case(x->region, p, false);
	}
	int r = is_like(s.o->bytes, s.o->bytes + s.o->length, p.o->bytes,
	                p.o->bytes + p.o->length);
	if (r < 0)
		return sql_run_fails(x, "22025",
		                     "LIKE pattern must not end "
		                     "with escape character");
	*out = value_bool((r > 0) == wanted);
	return true;
}

static bool concatenate(struct sql_run *x, struct value a, struct value b,
                        struct value *out)
{
	struct text t = { 0 };
	if (!sql_spend(x, (size_t)a.o->length + b.o->length)) return false;
	text_bytes(&t, a.o->bytes, a.o->length);
	text_bytes(&t, b.o->bytes, b.o->length);
	*out = value_string(x->region, text_get(&t), t.length);
	text_free(&t);
	return true;
}

/* character(n) without its padding. */
static int64_t count_characters(struct value v, bool padded)
{
	size_t n = sql_characters(v);
	for (uint32_t i = v.o->length; padded && i && v.o->bytes[i - 1] == ' ';
	     i--)
		n--;
	return (int64_t)n;
}

static bool compares(enum sql_operation op, struct value a, struct value b,
                     struct sql_type type)
{
	int order = sql_compare(a, b, type);
	return op == DO_EQ   ? !order
	       : op == DO_NE ? order != 0
	       : op == DO_LT ? order < 0
	       : op == DO_LE ? order <= 0
	       : op == DO_GT ? order > 0
	                     : order >= 0;
}

/* What a conversion or the like said of itself. */
static bool checked(struct sql_run *x, bool fine)
{
	if (!fine) x->stop = SQL_FAILED;
	return fine;
}

static bool call_numeric(struct sql_run *x, enum sql_operation op,
                         const struct value *a, uint32_t count,
                         struct value *out)
{
	if (op == DO_POWER && !sql_numeric_can_raise(a[0], a[1]))
		return sql_is_beyond(x, "a power that is not supported",
		                     "its exponent is not whole, or too large");
	if (op == DO_POWER || op == DO_SQRT)
		return checked(x, op == DO_POWER
		                          ? sql_numeric_raise(x->region, a[0],
		                                              a[1], out,
		                                              &x->failure)
		                          : sql_numeric_root(x->region, a[0],
		                                             out, &x->failure));
	if (op > DO_MOD) {
		*out = sql_numeric_change(x->region, op, a[0],
		                          count > 1 ? a[1].i : 0);
		return true;
	}
	return checked(x, sql_numeric_compute(x->region, op, a[0], a[1], out,
	                                      &x->failure));
}

static bool call_moment(struct sql_run *x, const struct sql_proc *p,
                        const struct value *a, struct value *out)
{
	bool part = p->operation == DO_EXTRACT || p->operation == DO_DATE_TRUNC;
	if (part ? sql_moment_part(x->region, p, a[0], a[1], out, &x->failure)
	         : sql_moment_compute(x->region, p, a[0], a[1], out,
	                              &x->failure))
		return true;
	x->stop = SQL_FAILED;
	return false;
}

static bool is_time(enum sql_kind k)
{
	return sql_is_moment(k) || k == SQL_INTERVAL;
}

/* As the processor does it: of the distance, the bits that count. */
static int64_t shifted(int64_t n, int64_t by, enum sql_operation op,
                       enum sql_kind kind)
{
	bool left = op == DO_SHIFT_LEFT;
	if (kind == SQL_INT8) {
		by &= 63;
		return left ? (int64_t)((uint64_t)n << by) : n >> by;
	}
	by &= 31;
	if (left) n = (int32_t)((uint32_t)n << by);
	if (!left) n >>= by;
	return kind == SQL_INT2 ? (int16_t)n : n;
}

/* Of what the session drew last. */
static bool last_value(struct sql_run *x, struct value *out)
{
	const struct sql_draws *last = NULL;
	for (uint32_t i = 0; i < x->sequence_count; i++)
		if (x->sequences[i].drawn > (last ? last->drawn : 0))
			last = &x->sequences[i];
	if (!last)
		return sql_run_fails(
			x, "55000",
			"lastval is not yet defined in this session");
	*out = value_int(last->last);
	return true;
}

/* Of any number of values. */
static bool join(struct sql_run *x, const struct sql_expr *e,
                 const struct value *args, struct value *out)
{
	struct sql_type *types =
		region_take(x->region, (e->count + (size_t)1) * sizeof *types);
	for (uint32_t i = 0; i < e->count; i++) types[i] = e->args[i]->type;
	return checked(x, sql_text_join(x->region, e->function, args, types,
	                                e->count, out, &x->failure));
}

static bool call(struct sql_run *x, const struct sql_expr *e,
                 const struct value *a, struct value *out)
{
	const struct sql_proc *p = e->function;
	enum sql_operation op = p->operation;
	if (op == DO_NOW) {
		*out = value_string(x->region, SQL_NOW, strlen(SQL_NOW));
		return true;
	}
	enum sql_kind kind = p->types[0];
	if (op <= DO_GE) {
		*out = value_bool(compares(op, a[0], a[1], e->args[0]->type));
		return true;
	}
	if (op >= DO_SUBSTRING && op <= DO_QUOTE_IDENT)
		return checked(x, sql_text_call(x->region, p, a, e->count, out,
		                                &x->failure));
	if (kind == SQL_NUMERIC && op != DO_PLUS)
		return call_numeric(x, op, a, e->count, out);
	if (is_time(kind) || (e->count > 1 && is_time(p->types[1])))
		return call_moment(x, p, a, out);
	switch (op) {
	case DO_NEGATE:
	case DO_ABS:
		if (op == DO_ABS && a[0].i >= 0) {
			*out = a[0];
			return true;
		}
		if ((kind == SQL_INT2 && a[0].i == INT16_MIN) ||
		    (kind == SQL_INT4 && a[0].i == INT32_MIN) ||
		    a[0].i == INT64_MIN)
			return sql_run_fails(x, "22003", "%s out of range",
			                     sql_kind_name(kind));
		*out = value_int(-a[0].i);
		return true;
	case DO_PLUS: *out = a[0]; return true;
	case DO_CONCAT: return concatenate(x, a[0], a[1], out);
	case DO_LIKE:
	case DO_NOT_LIKE:
	case DO_ILIKE:
	case DO_NOT_ILIKE: return like(x, a[0], a[1], op, out);
	case DO_LENGTH:
		*out = value_int(count_characters(a[0], kind == SQL_CHAR));
		return true;
	case DO_CARDINALITY: *out = value_int(a[0].o->length); return true;
	case DO_ARRAY_LENGTH:
		*out = a[0].o->length && a[1].i == 1 ? value_int(a[0].o->length)
		                                     : value_null();
		return true;
	case DO_LOWER:
	case DO_UPPER:
		*out = sql_change_case(x->region, a[0], op == DO_UPPER);
		return true;
	case DO_LASTVAL: return last_value(x, out);
	case DO_BIT_AND: *out = value_int(a[0].i & a[1].i); return true;
	case DO_BIT_OR: *out = value_int(a[0].i | a[1].i); return true;
	case DO_BIT_XOR: *out = value_int(a[0].i ^ a[1].i); return true;
	case DO_BIT_NOT: *out = value_int(~a[0].i); return true;
	case DO_SHIFT_LEFT:
	case DO_SHIFT_RIGHT:
		*out = value_int(shifted(a[0].i, a[1].i, op, kind));
		return true;
	default: return compute(x, e, a[0].i, a[1].i, out);
	}
}

/* Of NULL, functions make NULL: all but aggregates, and those of any number of
 * values. */
static bool eval_call(struct sql_run *x, const struct sql_frame *f,
                      const struct sql_expr *e, struct value *out)
{
	struct value few[PROC_ARGUMENTS], *args = few;
	bool null = false;
	if (e->count > PROC_ARGUMENTS)
		args = region_take(x->region, e->count * sizeof *args);
	for (uint32_t i = 0; i < e->count; i++) {
		if (!sql_eval(x, f, e->args[i], &args[i])) return false;
		null |= sql_is_null(args[i]);
	}
	if (sql_proc_takes_any_number(e->function))
		return join(x, e, args, out);
	assert(e->count <= PROC_ARGUMENTS);
	*out = value_null();
	return null || call(x, e, args, out);
}

/* ---- Three values ---- */

/* AND ends with the first false, OR with the first true. */
static bool eval_junction(struct sql_run *x, const struct sql_frame *f,
                          const struct sql_expr *e, struct value *out)
{
	bool ends = e->kind == EXPR_OR;
	*out = value_bool(!ends);
	for (uint32_t i = 0; i < e->count; i++) {
		struct value v;
		if (!sql_eval(x, f, e->args[i], &v)) return false;
		if (sql_is_null(v))
			*out = v;
		else if (v.i == ends) {
			*out = v;
			return true;
		}
	}
	return true;
}

bool sql_eval_condition(struct sql_run *x, const struct sql_frame *f,
                        const struct sql_expr *e, bool *out)
{
	struct value v;
	if (!sql_eval(x, f, e, &v)) return false;
	*out = sql_is_null(v) ? x->looks : v.i;
	return true;
}

static bool eval_is_bool(struct sql_run *x, const struct sql_frame *f,
                         const struct sql_expr *e, struct value *out)
{
	struct value v;
	if (!sql_eval(x, f, e->args[0], &v)) return false;
	*out = value_bool(value_equal(v, e->constant) != e->negated);
	return true;
}

static bool eval_is_distinct(struct sql_run *x, const struct sql_frame *f,
                             const struct sql_expr *e, struct value *out)
{
	struct value a, b;
	if (!sql_eval(x, f, e->args[0], &a) || !sql_eval(x, f, e->args[1], &b))
		return false;
	bool distinct = sql_is_null(a) || sql_is_null(b)
	                        ? sql_is_null(a) != sql_is_null(b)
	                        : sql_compare(a, b, e->args[0]->type) != 0;
	*out = value_bool(distinct != e->negated);
	return true;
}

/* ---- Choices ---- */

static bool eval_case(struct sql_run *x, const struct sql_frame *f,
                      const struct sql_expr *e, struct value *out)
{
	uint32_t i = 0;
	for (; i + 1 < e->count; i += 2) {
		struct value holds;
		if (!sql_eval(x, f, e->args[i], &holds)) return false;
		if (!sql_is_null(holds) && holds.i)
			return sql_eval(x, f, e->args[i + 1], out);
		if (sql_is_null(holds) && x->looks &&
		    !sql_eval(x, f, e->args[i + 1], out))
			return false;
	}
	return sql_eval(x, f, e->args[i], out);
}

static bool eval_coalesce(struct sql_run *x, const struct sql_frame *f,
                          const struct sql_expr *e, struct value *out)
{
	for (uint32_t i = 0; i < e->count; i++) {
		if (!sql_eval(x, f, e->args[i], out)) return false;
		if (!sql_is_null(*out)) break;
	}
	return true;
}

static bool eval_nullif(struct sql_run *x, const struct sql_frame *f,
                        const struct sql_expr *e, struct value *out)
{
	bool same;
	if (!sql_eval_condition(x, f, e->args[1], &same)) return false;
	*out = value_null();
	return same || sql_eval(x, f, e->args[0], out);
}

static bool eval_greatest(struct sql_run *x, const struct sql_frame *f,
                          const struct sql_expr *e, struct value *out)
{
	*out = value_null();
	for (uint32_t i = 0; i < e->count; i++) {
		struct value v;
		if (!sql_eval(x, f, e->args[i], &v)) return false;
		if (sql_is_null(v)) continue;
		int order =
			sql_is_null(*out) ? 0 : sql_compare(v, *out, e->type);
		if (sql_is_null(*out) || (e->negated ? order < 0 : order > 0))
			*out = v;
	}
	return true;
}

static bool eval_cast(struct sql_run *x, const struct sql_frame *f,
                      const struct sql_expr *e, struct value *out)
{
	struct value v;
	if (!sql_eval(x, f, e->args[0], &v)) return false;
	if (sql_convert(x->region, v, e->args[0]->type, e->type, e->negated,
	                out, &x->failure))
		return true;
	x->stop = SQL_FAILED;
	return false;
}

/* ---- Sequences ---- */

static bool draw(struct sql_run *x, const struct sql_expr *e, struct value *out)
{
	struct sql_draws *d = &x->sequences[e->number];
	assert(e->number < x->sequence_count);
	if (x->looks) {
		*out = value_null();
		return true;
	}
	for (uint32_t i = 0; i < x->sequence_count; i++)
		if (x->sequences[i].drawn >= d->drawn)
			d->drawn = x->sequences[i].drawn + 1;
	d->last = d->next;
	d->next += e->constant.i;
	*out = value_int(d->last);
	return true;
}

static bool current_value(struct sql_run *x, const struct sql_expr *e,
                          struct value *out)
{
	const struct sql_draws *d = &x->sequences[e->number];
	assert(e->number < x->sequence_count);
	if (!d->drawn)
		return sql_run_fails(x, "55000",
		                     "currval of sequence \"%s\" is not yet "
		                     "defined in this session",
		                     e->constant.o->bytes);
	*out = value_int(d->last);
	return true;
}

/* ---- Queries ---- */

/* Compares with one item after the other. What decides is true of some (ANY),
 * or false of some (ALL); else it is NULL if one is NULL. */
static void compare_item(const struct sql_expr *e, struct value v,
                         struct value item, struct value *out)
{
	if (!sql_is_null(*out) && out->i == !e->negated) return;
	if (sql_is_null(v) || sql_is_null(item))
		*out = value_null();
	else if (compares(e->function->operation, v, item, e->args[0]->type) ==
	         !e->negated)
		*out = value_bool(!e->negated);
}

static bool eval_any_of_array(struct sql_run *x, const struct sql_frame *f,
                              const struct sql_expr *e, struct value v,
                              struct value *out)
{
	struct value array;
	if (!sql_eval(x, f, e->args[1], &array)) return false;
	*out = value_bool(e->negated);
	if (sql_is_null(array)) *out = array;
	for (uint32_t i = 0; !sql_is_null(array) && i < array.o->length; i++)
		compare_item(e, v, array.o->items[i], out);
	return true;
}

static bool eval_any_row(struct sql_run *x, const struct sql_frame *f,
                         const struct sql_expr *e, struct value *out)
{
	struct sql_rows rows = { 0 };
	if (!x->inner->query(x, e->query, f, &rows)) return false;
	*out = value_bool(e->negated);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct sql_frame inner = { .outer = f, .rows = &rows.items[i] };
		struct value v;
		if (!sql_eval(x, &inner, e->args[0], &v)) return false;
		if (sql_is_null(v)) *out = v;
		if (!sql_is_null(v) && v.i == !e->negated) {
			*out = v;
			break;
		}
	}
	return true;
}

static bool eval_any(struct sql_run *x, const struct sql_frame *f,
                     const struct sql_expr *e, struct value *out)
{
	struct sql_rows rows = { 0 };
	struct value v;
	if (!e->function) return eval_any_row(x, f, e, out);
	if (!sql_eval(x, f, e->args[0], &v)) return false;
	if (!e->query) return eval_any_of_array(x, f, e, v, out);
	assert(e->query->target_count == 1);
	if (!x->inner->query(x, e->query, f, &rows)) return false;
	*out = value_bool(e->negated);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct value item;
		if (!sql_convert(x->region, rows.items[i][0],
		                 e->query->targets[0].value->type, e->item,
		                 false, &item, &x->failure)) {
			x->stop = SQL_FAILED;
			return false;
		}
		compare_item(e, v, item, out);
	}
	return true;
}

static bool eval_array(struct sql_run *x, const struct sql_frame *f,
                       const struct sql_expr *e, struct value *out)
{
	struct value *items =
		region_take(x->region, (e->count + (size_t)1) * sizeof *items);
	for (uint32_t i = 0; i < e->count; i++)
		if (!sql_eval(x, f, e->args[i], &items[i])) return false;
	*out = value_sequence(x->region, VALUE_LIST, items, e->count);
	return true;
}

static bool eval_element(struct sql_run *x, const struct sql_frame *f,
                         const struct sql_expr *e, struct value *out)
{
	struct value array, at;
	if (!sql_eval(x, f, e->args[0], &array) ||
	    !sql_eval(x, f, e->args[1], &at))
		return false;
	at.i += e->number;
	bool there = !sql_is_null(array) && !sql_is_null(at) && at.i >= 1 &&
	             at.i <= array.o->length;
	*out = there ? array.o->items[at.i - 1] : value_null();
	return true;
}

static bool eval_scalar(struct sql_run *x, const struct sql_frame *f,
                        const struct sql_expr *e, struct value *out)
{
	struct sql_rows rows = { 0 };
	if (!x->inner->query(x, e->query, f, &rows)) return false;
	if (rows.count > 1)
		return sql_run_fails(x, "21000",
		                     "more than one row returned by a subquery "
		                     "used as an expression");
	*out = rows.count ? rows.items[0][0] : value_null();
	if (!rows.count || !e->count) return true;
	struct sql_frame inner = { .outer = f, .rows = rows.items };
	return sql_eval(x, &inner, e->args[0], out);
}

static bool eval_exists(struct sql_run *x, const struct sql_frame *f,
                        const struct sql_expr *e, struct value *out)
{
	struct sql_rows rows = { 0 };
	if (!x->inner->query(x, e->query, f, &rows)) return false;
	*out = value_bool(rows.count);
	return true;
}

static bool eval_routine(struct sql_run *x, const struct sql_frame *f,
                         const struct sql_expr *e, struct value *out)
{
	struct sql_rows rows = { 0 };
	struct value *args =
		region_take(x->region, (e->count + (size_t)1) * sizeof *args);
	assert(e->count == e->routine->parameter_count);
	for (uint32_t i = 0; i < e->count; i++)
		if (!sql_eval(x, f, e->args[i], &args[i])) return false;
	if (!x->inner->call(x, e->routine, args, &rows)) return false;
	*out = rows.count && e->routine->column_count ? rows.items[0][0]
	                                              : value_null();
	return true;
}

bool sql_eval(struct sql_run *x, const struct sql_frame *f,
              const struct sql_expr *e, struct value *out)
{
	const struct value *row;
	struct value v;
	switch (e->kind) {
	case EXPR_CONSTANT: *out = e->constant; return true;
	case EXPR_COLUMN:
		for (uint32_t i = 0; i < e->up; i++) f = f->outer;
		row = f->rows[e->relation];
		*out = row ? row[e->column] : value_null();
		return true;
	case EXPR_CALL: return eval_call(x, f, e, out);
	case EXPR_AND:
	case EXPR_OR: return eval_junction(x, f, e, out);
	case EXPR_NOT:
		if (!sql_eval(x, f, e->args[0], &v)) return false;
		*out = sql_is_null(v) ? v : value_bool(!v.i);
		return true;
	case EXPR_IS_NULL:
		if (!sql_eval(x, f, e->args[0], &v)) return false;
		*out = value_bool(sql_is_null(v) != e->negated);
		return true;
	case EXPR_IS_BOOL: return eval_is_bool(x, f, e, out);
	case EXPR_IS_DISTINCT: return eval_is_distinct(x, f, e, out);
	case EXPR_CASE: return eval_case(x, f, e, out);
	case EXPR_COALESCE: return eval_coalesce(x, f, e, out);
	case EXPR_NULLIF: return eval_nullif(x, f, e, out);
	case EXPR_GREATEST: return eval_greatest(x, f, e, out);
	case EXPR_CAST: return eval_cast(x, f, e, out);
	case EXPR_ANY: return eval_any(x, f, e, out);
	case EXPR_ARRAY: return eval_array(x, f, e, out);
	case EXPR_ELEMENT: return eval_element(x, f, e, out);
	case EXPR_ROUTINE: return eval_routine(x, f, e, out);
	case EXPR_NEXTVAL: return draw(x, e, out);
	case EXPR_CURRVAL: return current_value(x, e, out);
	case EXPR_SET: *out = f->sets[e->number]; return true;
	case EXPR_SCALAR: return eval_scalar(x, f, e, out);
	case EXPR_EXISTS: return eval_exists(x, f, e, out);
	case EXPR_FAILURE:
		return sql_run_fails(x, e->failure->state, "%s",
		                     e->failure->message);
	case EXPR_AGGREGATE: *out = f->aggregates[e->number]; return true;
	case EXPR_STEP_ERROR: *out = x->step_errors[e->relation]; return true;
	}
	assert(!"an expression");
	return false;
}
