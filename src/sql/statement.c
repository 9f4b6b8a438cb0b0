/* A statement of any kind: above queries, changes and routines, which are above
 * expressions. */
#include "sql/run.h"

#include <assert.h>

const struct sql_inner *sql_inner(void)
{
	static const struct sql_inner inner = { sql_run_query, sql_call };
	return &inner;
}

static bool run_call(struct sql_run *x, const struct sql_statement *s)
{
	const struct sql_routine *routine = s->call->routine;
	struct sql_frame f = { .outer = x->outer };
	struct value *args = region_take(
		x->region, (s->call->count + (size_t)1) * sizeof *args);
	for (uint32_t i = 0; i < s->call->count; i++)
		if (!sql_eval(x, &f, s->call->args[i], &args[i])) return false;
	return sql_call(x, routine, args, &x->result);
}

/* All that it reads is of one moment. So what it reads after it has called,
 * locked or written something is read before. */
static bool look_ahead(struct sql_run *x, const struct sql_statement *s)
{
	struct sql_rows rows = { 0 };
	if (!s->looks_ahead || x->serial || x->tables || x->looks) return true;
	x->looks = true;
	bool fine = s->kind == STATEMENT_QUERY
	                    ? sql_run_query(x, s->query, x->outer, &rows)
	                    : sql_look_at_change(x, s);
	fine = sql_looks_on(x, fine);
	x->looks = false;
	x->point = s->point;
	return fine;
}

/* A change where there may be none. */
static bool refuse_change(struct sql_run *x, const struct sql_statement *s)
{
	const char *what = s->kind == STATEMENT_INSERT   ? "INSERT"
	                   : s->kind == STATEMENT_UPDATE ? "UPDATE"
	                   : s->kind == STATEMENT_DELETE ? "DELETE"
	                                                 : "SELECT FOR UPDATE";
	if (x->fixed)
		return sql_run_fails(
			x, "0A000",
			"%s is not allowed in a non-volatile function", what);
	return sql_run_fails(x, "25006",
	                     "cannot execute %s in a read-only transaction",
	                     what);
}

bool sql_carry_out(struct sql_run *x, const struct sql_statement *s)
{
	x->point = s->point;
	x->affected = 0;
	if (!x->fixed) {
		x->written_before = x->writes;
		sql_begin_moment(x);
	}
	if (*s->doom.state)
		return sql_run_fails(x, s->doom.state, "%s", s->doom.message);
	if ((x->fixed || x->read_only) && sql_changes(s))
		return refuse_change(x, s);
	if (!look_ahead(x, s)) return false;
	assert(x->stop == SQL_GOES_ON);
	switch (s->kind) {
	case STATEMENT_QUERY:
		return sql_run_query(x, s->query, x->outer, &x->result);
	case STATEMENT_CALL: return run_call(x, s);
	default: return sql_change(x, s);
	}
}

bool sql_run_statement(struct sql_run *x, const struct sql_statement *s)
{
	assert(x->inner);
	x->stop = SQL_GOES_ON;
	x->read_count = x->births = 0;
	x->referrals = NULL;
	x->result = (struct sql_rows){ 0 };
	return sql_carry_out(x, s);
}
