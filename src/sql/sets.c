/* What returns a set: routines, generate_series(), unnest(). */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/moment.h"
#include "sql/numeric.h"
#include "sql/procs.h"
#include "sql/run.h"

enum { ROWS_MOST = 100000 }; /* of one series */

static void add_value(struct sql_run *x, struct sql_rows *out, struct value v)
{
	struct value *row = region_take(x->region, sizeof *row);
	*row = v;
	sql_rows_add(x->region, out, row);
}

/* ---- generate_series() ---- */

/* Operators of the type of the series. */
struct series {
	enum sql_kind kind;
	struct sql_proc add; /* of moments and intervals */
	struct sql_type type;
};

static bool next_value(struct sql_run *x, const struct series *s,
                       struct value *v, struct value step)
{
	bool fine;
	if (sql_is_integer(s->kind))
		return !__builtin_add_overflow(v->i, step.i, &v->i);
	if (s->kind == SQL_NUMERIC)
		fine = sql_numeric_compute(x->region, DO_ADD, *v, step, v,
		                           &x->failure);
	else
		fine = sql_moment_compute(x->region, &s->add, *v, step, v,
		                          &x->failure);
	if (!fine) x->stop = SQL_FAILED;
	return fine;
}

/* The sign of a step. */
static int direction(struct sql_run *x, const struct series *s,
                     struct value step)
{
	if (sql_is_integer(s->kind)) return (step.i > 0) - (step.i < 0);
	bool spans = s->kind != SQL_NUMERIC;
	struct value zero = spans ? value_string(x->region, "00:00:00", 8)
	                          : sql_numeric_of_integer(x->region, 0);
	int order = sql_compare(step, zero,
	                        sql_type(spans ? SQL_INTERVAL : SQL_NUMERIC));
	return (order > 0) - (order < 0);
}

static bool generate(struct sql_run *x, const struct sql_expr *e,
                     const struct value *args, struct sql_rows *out)
{
	struct series s = { .kind = e->type.kind, .type = e->type };
	struct value v = args[0];
	struct value step = sql_is_integer(s.kind)
	                            ? value_int(1)
	                            : sql_numeric_of_integer(x->region, 1);
	if (e->count > 2) step = args[2];
	s.add = (struct sql_proc){
		"+", DO_ADD, s.kind, 2, { s.kind, SQL_INTERVAL }
	};
	int up = direction(x, &s, step);
	if (!up)
		return sql_run_fails(x, "22023", "step size cannot equal zero");
	while (up * sql_compare(v, args[1], s.type) <= 0) {
		if (out->count == ROWS_MOST)
			return sql_run_fails(x, "54000",
			                     "generate_series() gives more "
			                     "than %d rows",
			                     (int)ROWS_MOST);
		add_value(x, out, v);
		if (!next_value(x, &s, &v, step)) return x->stop == SQL_GOES_ON;
	}
	return true;
}

/* ---- All ---- */

static bool call_routine(struct sql_run *x, const struct sql_expr *e,
                         const struct value *args, struct sql_rows *out)
{
	const struct sql_routine *routine = e->routine;
	if (!x->inner->call(x, routine, args, out)) return false;
	/* One that returns no set returns one row. */
	size_t n = routine->column_count + (size_t)1;
	if (!out->count && !routine->set)
		sql_rows_add(x->region, out,
		             region_take0(x->region, n * sizeof **out->items));
	return true;
}

bool sql_set_rows(struct sql_run *x, const struct sql_frame *f,
                  const struct sql_expr *e, struct sql_rows *out)
{
	struct value *args =
		region_take(x->region, (e->count + (size_t)1) * sizeof *args);
	bool null = false;
	*out = (struct sql_rows){ 0 };
	for (uint32_t i = 0; i < e->count; i++) {
		if (!sql_eval(x, f, e->args[i], &args[i])) return false;
		null |= sql_is_null(args[i]);
	}
	if (e->kind == EXPR_ROUTINE) return call_routine(x, e, args, out);
	assert(sql_proc_returns_set(e->function));
	if (null) return true;
	if (e->function->operation == DO_GENERATE_SERIES)
		return generate(x, e, args, out);
	for (uint32_t i = 0; i < args[0].o->length; i++)
		add_value(x, out, args[0].o->items[i]);
	return true;
}
