/* Functions and procedures: PL/pgSQL, and lists of statements in SQL. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/run.h"

enum {
	ROUNDS_MOST = 100000, /* of loops and calls, in one statement */
	DEPTH_MOST = 100
};

/* Where a routine goes on. */
enum flow {
	FLOW_ON,
	FLOW_EXIT, /* of the loop `label`, or the innermost one */
	FLOW_CONTINUE,
	FLOW_RETURN,
	FLOW_STOP /* run->stop says why */
};

/* A routine that is being run. */
struct activation {
	struct sql_run *run;
	const struct sql_routine *routine;
	struct sql_frame frame;
	const struct value *row[1]; /* the variables */
	struct value *slots;
	struct sql_rows *out;
	const char *label;
	const struct sql_failure *caught; /* in a handler */
	uint64_t affected;                /* by the last statement */
};

static enum flow run_list(struct activation *a, const struct sql_code *c);

/* ---- Values ---- */

/* What comes next sees all that was written, at a moment of its own. */
static void begin_inner(struct sql_run *x)
{
	x->read_base = x->read_count;
	x->written_before = x->writes;
	sql_begin_moment(x);
}

/* Does it call a routine with snapshots of its own; does it read? */
static void look_for_calls(const struct sql_expr *e, bool *calls, bool *reads)
{
	bool routine = e && e->kind == EXPR_ROUTINE;
	if (!e) return;
	*calls |= routine && !e->routine->fixed;
	*reads |= e->query || (routine && e->routine->fixed);
	for (uint32_t i = 0; i < e->count; i++)
		look_for_calls(e->args[i], calls, reads);
}

/* As statements do (statement.c). */
static bool look_ahead(struct activation *a, const struct sql_expr *e)
{
	struct sql_run *x = a->run;
	bool calls = false, reads = false;
	struct value out;
	look_for_calls(e, &calls, &reads);
	if (!calls || !reads || x->serial || x->looks) return true;
	x->looks = true;
	bool fine = sql_looks_on(x, sql_eval(x, &a->frame, e, &out));
	x->looks = false;
	return fine;
}

/* Each expression is a statement of its own. */
static bool eval_value(struct activation *a, const struct sql_code *c,
                       const struct sql_expr *e, struct value *out)
{
	struct sql_run *x = a->run;
	const struct sql_write *before = x->written_before;
	uint32_t point = x->point, base = x->read_base;
	*out = value_null();
	if (!e) return true;
	x->point = c->point;
	if (!x->fixed) begin_inner(x);
	bool fine = look_ahead(a, e) && sql_eval(x, &a->frame, e, out);
	if (!x->fixed) sql_begin_moment(x);
	x->written_before = before;
	x->read_base = base;
	if (fine) x->point = point;
	return fine;
}

static bool eval_truth(struct activation *a, const struct sql_code *c,
                       bool *out)
{
	struct value v;
	if (!eval_value(a, c, c->value, &v)) return false;
	*out = !sql_is_null(v) && v.i;
	return true;
}

static bool assign(struct activation *a, const struct sql_target_slot *t,
                   struct value v)
{
	if (t->not_null && sql_is_null(v))
		return sql_run_fails(a->run, "22004",
		                     "null value cannot be assigned to a "
		                     "variable declared NOT NULL");
	assert(t->slot < a->routine->slot_count);
	a->slots[t->slot] = v;
	return true;
}

/* A row of such columns to the targets; those without a column become NULL. */
static bool assign_row(struct activation *a, const struct sql_code *c,
                       const struct value *row)
{
	const struct sql_target *from = sql_result_targets(c->statement);
	uint32_t count = sql_result_columns(c->statement);
	for (uint32_t i = 0; i < c->target_count; i++) {
		const struct sql_target_slot *t = &c->targets[i];
		struct value v = value_null();
		if (row && i < count &&
		    !sql_convert(a->run->region, row[i], from[i].value->type,
		                 t->type, false, &v, &a->run->failure)) {
			a->run->stop = SQL_FAILED;
			return false;
		}
		if (!assign(a, t, v)) return false;
	}
	return true;
}

static void set_found(struct activation *a, bool found)
{
	a->slots[0] = value_bool(found);
}

/* Its statement; one of EXECUTE has nothing but what USING gives. */
static bool run_inside(struct activation *a, const struct sql_code *c,
                       struct sql_rows *rows)
{
	struct sql_run *x = a->run;
	if (!c->dynamic) return sql_run_inner(x, c->statement, rows);
	struct value *given = region_take(
		x->region, (c->arg_count + (size_t)1) * sizeof *given);
	const struct value *row[] = { given };
	struct sql_frame f = { .rows = row };
	const struct sql_frame *outer = x->outer;
	for (uint32_t i = 0; i < c->arg_count; i++)
		if (!eval_value(a, c, c->args[i], &given[i])) return false;
	x->outer = &f;
	bool fine = sql_run_inner(x, c->statement, rows);
	x->outer = outer;
	return fine;
}

/* ---- Loops ---- */

static bool goes_round(struct activation *a, const struct sql_code *c)
{
	struct sql_run *x = a->run;
	x->loops = true;
	x->loop_point = c->point;
	if (++x->rounds <= ROUNDS_MOST && sql_spend(x, 0)) return true;
	x->point = c->point;
	if (x->rounds <= ROUNDS_MOST) return false;
	return sql_is_endless(x, "an endless loop",
	                      "loops of one statement went round more than "
	                      "100000 times");
}

/* After the body was run once: does the loop go on? */
static bool loop_goes_on(struct activation *a, const struct sql_code *c,
                         enum flow *flow)
{
	bool ours = !a->label || (c->label && !strcmp(a->label, c->label));
	bool on = *flow == FLOW_ON || (*flow == FLOW_CONTINUE && ours);
	if ((*flow == FLOW_EXIT || *flow == FLOW_CONTINUE) && ours) {
		*flow = FLOW_ON;
		a->label = NULL;
	}
	return on;
}

static enum flow run_loop(struct activation *a, const struct sql_code *c)
{
	enum flow flow = FLOW_ON;
	for (;;) {
		bool holds = true;
		if (!goes_round(a, c)) return FLOW_STOP;
		if (c->value && !eval_truth(a, c, &holds)) return FLOW_STOP;
		if (!holds) return FLOW_ON;
		flow = run_list(a, c->body);
		if (!loop_goes_on(a, c, &flow)) return flow;
	}
}

static bool bound_of(struct activation *a, const struct sql_code *c,
                     const struct sql_expr *e, const char *what, int64_t *out)
{
	struct value v = value_int(1);
	if (e && !eval_value(a, c, e, &v)) return false;
	if (sql_is_null(v))
		return sql_run_fails(a->run, "22004",
		                     "%s of FOR loop cannot be null", what);
	*out = v.i;
	return true;
}

static enum flow run_for(struct activation *a, const struct sql_code *c)
{
	assert(c->target_count == 1);
	int64_t from, to, step;
	bool any = false;
	enum flow flow = FLOW_ON;
	if (!bound_of(a, c, c->value, "lower bound", &from) ||
	    !bound_of(a, c, c->upper, "upper bound", &to) ||
	    !bound_of(a, c, c->step, "BY value", &step))
		return FLOW_STOP;
	if (step <= 0) {
		sql_run_fails(a->run, "22023",
		              "BY value of FOR loop must be greater than zero");
		return FLOW_STOP;
	}
	for (int64_t i = from; c->reverse ? i >= to : i <= to;
	     i += c->reverse ? -step : step) {
		any = true;
		if (!goes_round(a, c)) return FLOW_STOP;
		a->slots[c->targets[0].slot] = value_int(i);
		flow = run_list(a, c->body);
		if (!loop_goes_on(a, c, &flow)) break;
	}
	if (flow == FLOW_ON) set_found(a, any);
	return flow;
}

static enum flow run_each(struct activation *a, const struct sql_code *c)
{
	struct sql_rows rows = { 0 };
	enum flow flow = FLOW_ON;
	if (!run_inside(a, c, &rows)) return FLOW_STOP;
	if (!rows.count && !assign_row(a, c, NULL)) return FLOW_STOP;
	for (uint32_t i = 0; i < rows.count; i++) {
		if (!goes_round(a, c) || !assign_row(a, c, rows.items[i]))
			return FLOW_STOP;
		flow = run_list(a, c->body);
		if (!loop_goes_on(a, c, &flow)) break;
	}
	if (flow == FLOW_ON) set_found(a, rows.count);
	return flow;
}

static enum flow run_items(struct activation *a, const struct sql_code *c)
{
	struct value array;
	enum flow flow = FLOW_ON;
	if (!eval_value(a, c, c->value, &array)) return FLOW_STOP;
	if (sql_is_null(array)) {
		sql_run_fails(a->run, "22004",
		              "FOREACH expression must not be null");
		return FLOW_STOP;
	}
	for (uint32_t i = 0; i < array.o->length; i++) {
		if (!goes_round(a, c) ||
		    !assign(a, &c->targets[0], array.o->items[i]))
			return FLOW_STOP;
		flow = run_list(a, c->body);
		if (!loop_goes_on(a, c, &flow)) break;
	}
	if (flow == FLOW_ON) set_found(a, array.o->length);
	return flow;
}

/* What is found to have no end meanwhile is this loop, or one within it. */
static enum flow loop(struct activation *a, const struct sql_code *c,
                      enum flow (*run)(struct activation *a,
                                       const struct sql_code *c))
{
	struct sql_run *x = a->run;
	bool loops = x->loops;
	uint32_t point = x->loop_point;
	enum flow flow = run(a, c);
	x->loops = loops;
	x->loop_point = point;
	return flow;
}

/* ---- Errors ---- */

/* OTHERS takes all but a cancelled statement and a failed ASSERT. */
static bool handles(const struct sql_handler *h, const char *state)
{
	for (uint32_t i = 0; i < h->count; i++) {
		const char *wanted = h->states[i];
		if (!strcmp(wanted, state)) return true;
		if (!strcmp(wanted, "OTHER") && strcmp(state, "57014") &&
		    strcmp(state, "P0004"))
			return true;
		if (!strcmp(wanted + 2, "000") && !strncmp(wanted, state, 2))
			return true;
	}
	return false;
}

/* What was written since then stays: from now on it can be told. */
static void settle(struct sql_run *x, const struct sql_write *old)
{
	for (struct sql_write *w = (struct sql_write *)x->writes; w != old;
	     w = (struct sql_write *)w->older)
		w->after = x->read_count;
}

/* An error ends the locks that were taken since then, the newest first. */
static void give_up_locks(struct sql_run *x, uint32_t reads)
{
	for (uint32_t i = x->read_count; i-- > reads;) {
		if (x->reads[i].strength == STRENGTH_PLAIN ||
		    x->reads[i].given_up)
			continue;
		REGION_RESERVE(x->region, x->given_up, x->given_count,
		               x->given_capacity);
		x->given_up[x->given_count++] =
			(struct sql_given_up){ i, x->read_count };
		x->reads[i].given_up = true;
	}
}

/* An error in a block with handlers takes back what the block has written and
 * locked. */
static enum flow run_handled(struct activation *a, const struct sql_code *c)
{
	struct sql_run *x = a->run;
	const struct sql_write *writes = x->writes;
	uint32_t reads = x->read_count;
	const struct sql_failure *before = a->caught;
	assert(c->error_slot + 1 < a->routine->slot_count);
	if (!x->handled++) x->settled = writes;
	enum flow flow = run_list(a, c->body);
	if (flow == FLOW_STOP && x->stop != SQL_FAILED) return flow;
	if (!--x->handled) settle(x, writes);
	if (flow != FLOW_STOP || x->stop != SQL_FAILED || x->beyond)
		return flow;
	struct sql_failure failure = x->failure;
	for (uint32_t i = 0; i < c->handler_count; i++) {
		const struct sql_handler *h = &c->handlers[i];
		if (!handles(h, failure.state)) continue;
		x->stop = SQL_GOES_ON;
		x->writes = writes;
		give_up_locks(x, reads);
		a->slots[c->error_slot] = value_string(x->region, failure.state,
		                                       strlen(failure.state));
		a->slots[c->error_slot + 1] = value_string(
			x->region, failure.message, strlen(failure.message));
		a->caught = &failure;
		flow = run_list(a, h->body);
		a->caught = before;
		return flow;
	}
	return flow;
}

static enum flow run_block(struct activation *a, const struct sql_code *c)
{
	for (const struct sql_code *v = c->variables; v; v = v->next) {
		struct value value;
		if (!eval_value(a, v, v->value, &value)) return FLOW_STOP;
		for (uint32_t i = 0; i < v->target_count; i++)
			if (!assign(a, &v->targets[i], value)) return FLOW_STOP;
	}
	enum flow flow =
		c->handler_count ? run_handled(a, c) : run_list(a, c->body);
	if (flow == FLOW_EXIT && a->label && c->label &&
	    !strcmp(a->label, c->label)) {
		a->label = NULL;
		return FLOW_ON;
	}
	return flow;
}

/* The text with its arguments: a % for each, and %% is %. */
static bool format_message(struct activation *a, const struct sql_code *c,
                           struct text *t)
{
	struct sql_run *x = a->run;
	uint32_t next = 0;
	for (const char *s = c->format; s && *s; s++) {
		struct value v;
		if (*s != '%' || *++s == '%') {
			text_char(t, *s);
			continue;
		}
		s--;
		assert(next < c->arg_count);
		const struct sql_expr *e = c->args[next++];
		if (!eval_value(a, c, e, &v)) return false;
		if (sql_is_null(v))
			text_string(t, "<NULL>");
		else if (e->type.kind == SQL_BOOL)
			text_char(t, v.i ? 't' : 'f');
		else
			text_string(
				t, sql_to_text(x->region, v, e->type).o->bytes);
	}
	return true;
}

static bool raise(struct activation *a, const struct sql_code *c,
                  struct text *t)
{
	struct sql_run *x = a->run;
	const char *state = c->state ? c->state : "P0001";
	struct value v;
	if (!c->format && !c->state && !c->message && !c->code) {
		if (!a->caught)
			return sql_run_fails(
				x, "0Z002",
				"RAISE without parameters cannot be used "
				"outside an exception handler");
		return sql_run_fails(x, a->caught->state, "%s",
		                     a->caught->message);
	}
	if (!format_message(a, c, t)) return false;
	if (c->code) {
		if (!eval_value(a, c, c->code, &v)) return false;
		if (!sql_is_null(v) && v.o->length == 5) state = v.o->bytes;
	}
	if (c->message) {
		if (!eval_value(a, c, c->message, &v)) return false;
		text_string(t, sql_is_null(v) ? "" : v.o->bytes);
	}
	if (!c->fails) return true;
	return sql_run_fails(x, state, "%s", t->length ? t->data : state);
}

static bool run_assert(struct activation *a, const struct sql_code *c)
{
	struct value v, message = value_null();
	if (!eval_value(a, c, c->value, &v)) return false;
	if (!sql_is_null(v) && v.i) return true;
	if (!eval_value(a, c, c->message, &message)) return false;
	return sql_run_fails(a->run, "P0004", "%s",
	                     sql_is_null(message) ? "assertion failed"
	                                          : message.o->bytes);
}

/* ---- Statements ---- */

static bool run_sql(struct activation *a, const struct sql_code *c)
{
	struct sql_rows rows = { 0 };
	struct sql_run *x = a->run;
	if (!run_inside(a, c, &rows)) return false;
	a->affected = x->affected;
	bool returns = sql_result_columns(c->statement) > 0;
	if (c->statement->kind == STATEMENT_QUERY) a->affected = rows.count;
	if (c->into && returns && c->statement->kind == STATEMENT_QUERY &&
	    a->affected > 1)
		a->affected = 1;
	if (!c->dynamic) set_found(a, a->affected > 0);
	if (!c->into) return true;
	x->point = c->point;
	if (c->strict && !rows.count)
		return sql_run_fails(x, "P0002", "query returned no rows");
	if (rows.count > 1 &&
	    (c->strict || c->statement->kind != STATEMENT_QUERY))
		return sql_run_fails(x, "P0003",
		                     "query returned more than one row");
	return assign_row(a, c, rows.count ? rows.items[0] : NULL);
}

/* A row of what the routine returns, or its one value. */
static bool add_result(struct activation *a, const struct sql_code *c)
{
	const struct sql_routine *routine = a->routine;
	struct region *r = a->run->region;
	uint32_t n = routine->column_count;
	struct value *row = region_take(r, (n + (size_t)1) * sizeof *row);
	if (c && c->target_count) {
		for (uint32_t i = 0; i < n; i++)
			row[i] = i < c->target_count
			                 ? a->slots[c->targets[i].slot]
			                 : value_null();
	} else if (c && c->value) {
		if (!eval_value(a, c, c->value, &row[0])) return false;
	} else {
		for (uint32_t i = 0; i < routine->out_count; i++)
			row[i] = a->slots[routine->out_slots[i]];
	}
	sql_rows_add(r, a->out, row);
	return true;
}

static enum flow run_return(struct activation *a, const struct sql_code *c)
{
	if (a->routine->set || !a->routine->column_count ||
	    (a->routine->trigger && !c->target_count))
		return FLOW_RETURN;
	return add_result(a, c) ? FLOW_RETURN : FLOW_STOP;
}

static bool return_rows(struct activation *a, const struct sql_code *c)
{
	const struct sql_routine *routine = a->routine;
	const struct sql_target *from = sql_result_targets(c->statement);
	struct sql_run *x = a->run;
	struct sql_rows rows = { 0 };
	if (!run_inside(a, c, &rows)) return false;
	for (uint32_t i = 0; i < rows.count; i++) {
		uint32_t n = routine->column_count;
		struct value *row = region_take(x->region, n * sizeof *row);
		for (uint32_t k = 0; k < n; k++)
			if (!sql_convert(x->region, rows.items[i][k],
			                 from[k].value->type,
			                 routine->columns[k].type, false,
			                 &row[k], &x->failure)) {
				x->stop = SQL_FAILED;
				return false;
			}
		sql_rows_add(x->region, a->out, row);
	}
	a->affected = rows.count;
	set_found(a, rows.count);
	return true;
}

static enum flow run_if(struct activation *a, const struct sql_code *c)
{
	bool holds;
	if (!eval_truth(a, c, &holds)) return FLOW_STOP;
	return run_list(a, holds ? c->body : c->other);
}

static enum flow leave_loop(struct activation *a, const struct sql_code *c)
{
	bool holds = true;
	if (c->value && !eval_truth(a, c, &holds)) return FLOW_STOP;
	if (!holds) return FLOW_ON;
	a->label = c->label;
	return c->kind == CODE_EXIT ? FLOW_EXIT : FLOW_CONTINUE;
}

static bool run_simple(struct activation *a, const struct sql_code *c)
{
	struct value v;
	struct text t = { 0 };
	bool fine;
	switch (c->kind) {
	case CODE_ASSIGN:
		return eval_value(a, c, c->value, &v) &&
		       assign(a, &c->targets[0], v);
	case CODE_NEXT: return add_result(a, c);
	case CODE_ROWS: return return_rows(a, c);
	case CODE_SQL: return run_sql(a, c);
	case CODE_COUNT:
		return assign(a, &c->targets[0],
		              value_int((int64_t)a->affected));
	default: break;
	}
	assert(c->kind == CODE_RAISE);
	if (c->asserts) return run_assert(a, c);
	a->run->point = c->point;
	fine = raise(a, c, &t);
	text_free(&t);
	return fine;
}

static enum flow run_code(struct activation *a, const struct sql_code *c)
{
	switch (c->kind) {
	case CODE_BLOCK: return run_block(a, c);
	case CODE_IF: return run_if(a, c);
	case CODE_LOOP: return loop(a, c, run_loop);
	case CODE_FOR: return loop(a, c, run_for);
	case CODE_EACH: return loop(a, c, run_each);
	case CODE_ITEM: return loop(a, c, run_items);
	case CODE_EXIT:
	case CODE_CONTINUE: return leave_loop(a, c);
	case CODE_RETURN: return run_return(a, c);
	default: return run_simple(a, c) ? FLOW_ON : FLOW_STOP;
	}
}

static enum flow run_list(struct activation *a, const struct sql_code *c)
{
	enum flow flow = FLOW_ON;
	for (; c && flow == FLOW_ON; c = c->next) flow = run_code(a, c);
	return flow;
}

/* ---- Calls ---- */

bool sql_run_inner(struct sql_run *x, const struct sql_statement *s,
                   struct sql_rows *out)
{
	struct sql_rows before = x->result;
	const struct sql_write *written = x->written_before;
	struct sql_referral *referrals = x->referrals,
			    **last = x->last_referral;
	uint32_t point = x->point, base = x->read_base;
	const struct sql_set *sets = x->sets;
	uint32_t set_count = x->set_count;
	x->result = (struct sql_rows){ 0 };
	if (!x->fixed) begin_inner(x);
	x->referrals = NULL;
	bool fine = sql_carry_out(x, s);
	*out = x->result;
	x->result = before;
	x->written_before = written;
	x->referrals = referrals;
	x->last_referral = last;
	x->sets = sets;
	x->set_count = set_count;
	if (!x->fixed) sql_begin_moment(x);
	x->read_base = base;
	if (fine) x->point = point;
	return fine;
}

/* The last statement of a routine in SQL gives its result. */
static bool run_statements(struct activation *a)
{
	const struct sql_routine *routine = a->routine;
	uint32_t count = routine->statement_count;
	for (uint32_t i = 0; i < count; i++) {
		const struct sql_statement *s = routine->statements[i];
		struct sql_rows rows = { 0 };
		struct sql_code last = { .statement = s };
		if (i + 1 == count && routine->column_count)
			return return_rows(a, &last);
		if (!sql_run_inner(a->run, s, &rows)) return false;
	}
	return true;
}

static bool run_body(struct activation *a)
{
	const struct sql_routine *routine = a->routine;
	if (routine->sql) return run_statements(a);
	enum flow flow = run_list(a, routine->body);
	if (flow == FLOW_STOP) return false;
	if (flow == FLOW_RETURN || routine->set || !routine->column_count)
		return true;
	if (routine->out_count) return add_result(a, NULL);
	return sql_run_fails(
		a->run, "2F005", "control reached end of %s without RETURN",
		routine->trigger ? "trigger procedure" : "function");
}

bool sql_call(struct sql_run *x, const struct sql_routine *routine,
              const struct value *args, struct sql_rows *out)
{
	size_t n = routine->slot_count + (size_t)1;
	struct activation a = { .run = x,
		                .routine = routine,
		                .slots = region_take0(x->region,
		                                      n * sizeof *a.slots),
		                .out = out };
	const struct sql_frame *outer = x->outer;
	uint64_t affected = x->affected;
	*out = (struct sql_rows){ 0 };
	a.row[0] = a.slots;
	a.frame.rows = a.row;
	if (x->tables)
		return sql_run_fails(x, "0A000",
		                     "a routine cannot be called in an "
		                     "assertion");
	for (uint32_t i = 0; i < routine->parameter_count; i++) {
		if (routine->strict && sql_is_null(args[i])) return true;
		a.slots[routine->parameter_slots[i]] = args[i];
	}
	if (!routine->sql) set_found(&a, false);
	if (x->depth >= DEPTH_MOST)
		return sql_run_fails(x, "54001", "stack depth limit exceeded");
	if (x->looks && !routine->fixed) {
		sql_rows_add(x->region, out,
		             region_take0(x->region,
		                          (routine->column_count + (size_t)1) *
		                                  sizeof **out->items));
		return true;
	}
	bool fixed = x->fixed;
	assert(routine->fixed || !x->looks);
	x->fixed = routine->fixed;
	x->depth++;
	x->outer = &a.frame;
	bool fine = run_body(&a);
	x->fixed = fixed;
	x->outer = outer;
	x->affected = affected;
	x->depth--;
	if (routine->sql && !routine->set && out->count > 1) out->count = 1;
	return fine;
}
