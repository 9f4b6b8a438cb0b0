/* Routines: each is run once, with nodes in the place of values; loops as in
 * .tx: two of any number of rounds. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/lower.h"
#include "prove/sql_lower.h"
#include "vm/bytecode.h"

enum {
	CODE_STATEMENTS = 2000, /* that are looked at */
	CODE_ROUNDS = 16,       /* that are told apart */
	CODE_CALLS = 8          /* in each other */
};

static void lower_code(struct sql_lowering *l, const struct sql_code *c);

void prove_uncovered(struct sql_lowering *l, struct place at, const char *what)
{
	struct sources *all = (struct sources *)(uintptr_t)&l->image->all;
	application_leave_out(l->b.app, source_position(all, at), what);
}

static uint32_t *slots_of(struct sql_lowering *l, const struct sql_routine *r)
{
	return region_take0(&l->b.app->region,
	                    (r->slot_count + (size_t)1) * sizeof(uint32_t));
}

static void assign(struct sql_lowering *l, const struct sql_target_slot *target,
                   uint32_t value, struct sql_type from)
{
	value = prove_assigned(l, value, from, target->type);
	if (target->not_null)
		build_require(&l->b,
		              node_not(l->b.s, prove_is_null_node(l, value)));
	l->slots[target->slot] = value;
}

/* It sees what is there now, unless it is part of one that has begun. */
static void begin_statement(struct sql_lowering *l)
{
	if (l->routine->fixed) return;
	prove_begin(l);
	l->before = l->b.s->access_count;
}

/* A value nobody knows. */
static void forget_slot(struct sql_lowering *l, uint32_t slot)
{
	l->slots[slot] = prove_any_value(l, l->routine->slots[slot].type);
}

/* ---- statements ---- */

static void set_found(struct sql_lowering *l, uint32_t found)
{
	struct summary *s = l->b.s;
	l->slots[0] =
		found <= TRUE_NODE
			? build_constant(&l->b, value_bool(found == TRUE_NODE))
			: node_add(s, NODE_TRUTH, found, 0, 0);
}

static struct sql_answer lower_statement(struct sql_lowering *l,
                                         const struct sql_statement *s)
{
	struct sql_answer a = { .found = FALSE_NODE };
	const char *why = prove_statement_problem(s);
	struct sql_asks asks = prove_statement_asks(s);
	a.values = region_take0(&l->b.app->region,
	                        (sql_result_columns(s) + (size_t)1) *
	                                sizeof *a.values);
	for (uint32_t i = 0; i < sql_result_columns(s); i++)
		a.values[i] = prove_null_node(l);
	a.rows = prove_int_node(l, 0);
	l->b.full |= ++l->statements > CODE_STATEMENTS;
	if (build_is_full(&l->b)) return a;
	if (!why && asks.calls && asks.tables) why = "a call beside a query";
	if (why) {
		prove_uncovered(l, s->at, why);
		return a;
	}
	if (*s->doom.state) {
		build_require(&l->b, FALSE_NODE);
		return a;
	}
	switch (s->kind) {
	case STATEMENT_QUERY: return prove_answer(l, &l->variables, s->query);
	case STATEMENT_CALL: prove_value(l, &l->variables, s->call); return a;
	case STATEMENT_NOTHING: return a;
	default: prove_change(l, s, &a); return a;
	}
}

static void lower_sql_code(struct sql_lowering *l, const struct sql_code *c)
{
	const struct sql_statement *s = c->statement;
	if (c->dynamic) {
		prove_uncovered(l, c->at, "a dynamic statement");
		return;
	}
	struct sql_answer a = lower_statement(l, s);
	uint32_t columns = sql_result_columns(s);
	if (c->strict) build_require(&l->b, a.found);
	if (c->strict || (c->into && s->kind != STATEMENT_QUERY))
		prove_may_fail(l, FALSE_NODE); /* several rows */
	for (uint32_t i = 0; i < c->target_count; i++)
		assign(l, &c->targets[i],
		       i < columns ? a.values[i] : prove_null_node(l),
		       i < columns ? sql_result_targets(s)[i].value->type
		                   : c->targets[i].type);
	if (s->kind != STATEMENT_CALL) set_found(l, a.found);
	l->row_count = a.rows;
}

/* ---- branches ---- */

static uint32_t *copy_slots(struct sql_lowering *l)
{
	size_t size = (l->routine->slot_count + (size_t)1) * sizeof(uint32_t);
	return memcpy(slots_of(l, l->routine), l->slots, size);
}

/* Where either arm ended. */
static void join(struct sql_lowering *l, uint32_t condition,
                 const uint32_t *other)
{
	for (uint32_t i = 0; i < l->routine->slot_count; i++)
		l->slots[i] =
			node_choose(l->b.s, condition, l->slots[i], other[i]);
}

static void lower_if(struct sql_lowering *l, const struct sql_code *c)
{
	struct summary *s = l->b.s;
	struct sql_truth t = prove_condition(l, &l->variables, c->value);
	uint32_t live = l->b.live;
	uint32_t before[1], *slots = copy_slots(l);
	l->b.live = node_and(s, live, node_not(s, t.yes));
	lower_code(l, c->other);
	uint32_t *other = copy_slots(l);
	before[0] = l->b.live;
	memcpy(l->slots, slots, l->routine->slot_count * sizeof *l->slots);
	l->b.live = node_and(s, live, t.yes);
	lower_code(l, c->body);
	join(l, t.yes, other);
	l->b.live = node_or(s, l->b.live, before[0]);
}

/* What the code sets may be anything, before a round and behind it. */
static void forget(struct sql_lowering *l, const struct sql_code *c,
                   bool *leaves, bool *returns)
{
	for (; c; c = c->next) {
		for (uint32_t i = 0; i < c->target_count; i++)
			if (c->kind != CODE_RETURN && c->kind != CODE_NEXT)
				forget_slot(l, c->targets[i].slot);
		*leaves |= c->kind == CODE_EXIT || c->kind == CODE_CONTINUE;
		*returns |= c->kind == CODE_RETURN;
		forget(l, c->body, leaves, returns);
		forget(l, c->other, leaves, returns);
		forget(l, c->variables, leaves, returns);
	}
}

static void forget_body(struct sql_lowering *l, const struct sql_code *c,
                        bool *leaves, bool *returns)
{
	for (uint32_t i = 0; i < c->target_count; i++)
		forget_slot(l, c->targets[i].slot);
	forget(l, c->body, leaves, returns);
	forget_slot(l, 0);
	l->row_count = prove_any_value(l, sql_type(SQL_INT8));
}

/* Behind a loop that began at a place: it ended, or has returned. */
static void leave_loop(struct sql_lowering *l, const struct sql_code *c,
                       uint32_t before)
{
	struct summary *s = l->b.s;
	bool leaves = false, returns = false;
	uint32_t goes_on = build_guess(&l->b);
	forget_body(l, c, &leaves, &returns);
	l->b.live = node_and(s, before, goes_on);
	uint32_t fails = node_and(s, before, node_not(s, goes_on));
	if (returns) {
		uint32_t ended = prove_maybe(l, fails);
		l->result = node_choose(s, ended,
		                        prove_any_value(l, l->routine->result),
		                        l->result);
		l->returned = node_or(s, l->returned, ended);
		fails = node_and(s, fails, node_not(s, ended));
	}
	/* It may have failed, or have been given up on purpose. */
	s->errs = node_or(s, s->errs, prove_maybe(l, fails));
}

static bool only_goes_on(const struct sql_code *c)
{
	for (; c; c = c->next)
		if (c->kind == CODE_EXIT || c->kind == CODE_CONTINUE ||
		    !only_goes_on(c->body) || !only_goes_on(c->other))
			return false;
	return true;
}

/* The rounds at hand are all that there are: this one is there if there are so
 * many numbers, and has the next one. */
static void wish_of_round(struct sql_lowering *l, uint32_t before, int i,
                          uint32_t v, uint32_t low, uint32_t high)
{
	struct summary *s = l->b.s;
	uint32_t next = node_add(s, NODE_SUM, low, prove_int_node(l, i), 0);
	uint32_t past = node_add(s, NODE_LESS, high, next, 0);
	uint32_t here = node_and(s, l->b.live, node_equal(s, v, next));
	uint32_t told = node_or(s, here, past);
	if (i + 1 == SQL_ROWS) {
		uint32_t end = prove_int_node(l, SQL_ROWS);
		end = node_add(s, NODE_SUM, low, end, 0);
		told = node_and(s, told, node_add(s, NODE_LESS, high, end, 0));
	}
	s->untold =
		node_or(s, s->untold, node_and(s, before, node_not(s, told)));
}

/* Two rounds, with what they find there. */
static void lower_rounds(struct sql_lowering *l, const struct sql_code *c,
                         uint32_t low, uint32_t high)
{
	struct summary *s = l->b.s;
	uint32_t before = l->b.live, ended = FALSE_NODE;
	bool leaves = false, returns = false, all = only_goes_on(c->body);
	l->b.rounds++;
	for (int i = 0; i < SQL_ROWS; i++) {
		l->b.live = prove_maybe(l, before);
		prove_wish(l, node_not(s, ended));
		forget_body(l, c, &leaves, &returns);
		if (c->kind == CODE_FOR) {
			uint32_t v = prove_any_value(l, sql_type(SQL_INT4));
			uint32_t null = prove_is_null_node(l, v);
			uint32_t less = node_add(s, NODE_LESS, v, low, 0);
			uint32_t more = node_add(s, NODE_LESS, high, v, 0);
			uint32_t outside =
				node_or(s, null, node_or(s, less, more));
			l->b.live =
				node_and(s, l->b.live, node_not(s, outside));
			l->slots[c->targets[0].slot] = v;
			wish_of_round(l, before, i, v, low, high);
		}
		if (c->kind == CODE_LOOP && c->value) {
			prove_begin(l);
			l->b.live = node_and(
				s, l->b.live,
				prove_condition(l, &l->variables, c->value)
					.yes);
		}
		uint32_t entered = l->b.live;
		lower_code(l, c->body);
		if (all)
			ended = node_or(
				s, ended,
				node_and(s, entered, node_not(s, l->b.live)));
	}
	l->b.rounds--;
	leave_loop(l, c, before);
	prove_wish(l, node_not(s, ended));
}

static bool constant_int(const struct sql_lowering *l, uint32_t v, int64_t *out)
{
	const struct node *n = &l->b.s->nodes[v];
	if (n->op != NODE_CONSTANT) return false;
	*out = l->b.app->constants[n->a].i;
	return l->b.app->constants[n->a].tag == VALUE_INT;
}

static void lower_for(struct sql_lowering *l, const struct sql_code *c)
{
	uint32_t a = prove_value(l, &l->variables, c->value);
	uint32_t b = prove_value(l, &l->variables, c->upper), low, high;
	int64_t from, until;
	if (c->step) prove_value(l, &l->variables, c->step);
	build_require(&l->b, node_not(l->b.s, prove_is_null_node(l, a)));
	build_require(&l->b, node_not(l->b.s, prove_is_null_node(l, b)));
	low = c->reverse ? b : a;
	high = c->reverse ? a : b;
	if (constant_int(l, low, &from) && constant_int(l, high, &until) &&
	    until - from < CODE_ROUNDS && !c->step && only_goes_on(c->body)) {
		for (int64_t i = 0; i <= until - from; i++) {
			l->slots[c->targets[0].slot] = prove_int_node(
				l, c->reverse ? until - i : from + i);
			lower_code(l, c->body);
		}
		set_found(l, until >= from ? TRUE_NODE : FALSE_NODE);
		return;
	}
	lower_rounds(l, c, low, high);
}

/* A round for each row; of many, two. */
static void lower_each(struct sql_lowering *l, const struct sql_code *c)
{
	const struct sql_statement *s = c->statement;
	struct summary *x = l->b.s;
	struct sql_rows_found rows;
	uint32_t *values[SQL_ROWS], before;
	struct sql_asks asks = prove_statement_asks(s);
	bool leaves = false, returns = false;
	if (s->kind != STATEMENT_QUERY || c->dynamic ||
	    (asks.calls && asks.tables)) {
		prove_uncovered(l, c->at, "a loop over such rows");
		return;
	}
	prove_each_row(l, &l->variables, s->query, &rows, values);
	before = l->b.live;
	l->b.rounds += rows.many;
	for (uint32_t k = 0; k < rows.count; k++) {
		l->b.live = node_and(x, before, rows.items[k].found);
		if (rows.many) forget_body(l, c, &leaves, &returns);
		for (uint32_t i = 0;
		     i < c->target_count && i < s->query->target_count; i++)
			assign(l, &c->targets[i], values[k][i],
			       sql_result_targets(s)[i].value->type);
		lower_code(l, c->body);
	}
	l->b.rounds -= rows.many;
	leave_loop(l, c, before);
}

/* ---- code ---- */

static void lower_return(struct sql_lowering *l, const struct sql_code *c)
{
	struct summary *s = l->b.s;
	uint32_t v = prove_null_node(l);
	if (c->value)
		v = prove_assigned(l, prove_value(l, &l->variables, c->value),
		                   c->value->type, l->routine->result);
	if (!c->value && c->target_count) v = l->slots[c->targets[0].slot];
	l->result = node_choose(s, l->b.live, v, l->result);
	l->returned = node_or(s, l->returned, l->b.live);
	l->b.live = FALSE_NODE;
}

static void lower_block(struct sql_lowering *l, const struct sql_code *c)
{
	if (c->handler_count) {
		prove_uncovered(l, c->at, "a block with EXCEPTION");
		return;
	}
	lower_code(l, c->variables);
	lower_code(l, c->body);
}

/* A block that EXIT leaves. */
static bool is_left(const struct sql_code *c)
{
	return c->kind == CODE_BLOCK && c->label && *c->label &&
	       !only_goes_on(c->body);
}

static void lower_raise(struct sql_lowering *l, const struct sql_code *c)
{
	for (uint32_t i = 0; i < c->arg_count; i++)
		prove_value(l, &l->variables, c->args[i]);
	if (c->asserts) {
		struct sql_truth t =
			prove_condition(l, &l->variables, c->value);
		build_require(&l->b, t.yes);
		return;
	}
	prove_may_fail(l, FALSE_NODE);
	if (c->fails) l->b.live = FALSE_NODE;
}

static void lower_one(struct sql_lowering *l, const struct sql_code *c)
{
	struct sql_asks asks = { 0 };
	prove_find_asks(c->value, &asks);
	prove_find_asks(c->upper, &asks);
	for (uint32_t i = 0; i < c->arg_count; i++)
		prove_find_asks(c->args[i], &asks);
	if ((asks.calls && asks.tables) || is_left(c)) {
		prove_uncovered(l, c->at,
		                is_left(c) ? "a block that EXIT leaves"
		                           : "a call beside a query");
		return;
	}
	begin_statement(l);
	switch (c->kind) {
	case CODE_BLOCK: lower_block(l, c); return;
	case CODE_ASSIGN:
		assign(l, &c->targets[0],
		       c->value ? prove_value(l, &l->variables, c->value)
		                : prove_null_node(l),
		       c->value ? c->value->type : c->targets[0].type);
		return;
	case CODE_IF: lower_if(l, c); return;
	case CODE_LOOP: lower_rounds(l, c, 0, 0); return;
	case CODE_FOR: lower_for(l, c); return;
	case CODE_EACH: lower_each(l, c); return;
	case CODE_ITEM:
		prove_value(l, &l->variables, c->value);
		prove_may_fail(l, FALSE_NODE);
		lower_rounds(l, c, 0, 0);
		return;
	case CODE_EXIT:
	case CODE_CONTINUE:
		l->b.live =
			c->value ? node_and(l->b.s, l->b.live,
		                            node_not(l->b.s,
		                                     prove_condition(
							     l, &l->variables,
							     c->value)
		                                             .yes))
				 : FALSE_NODE;
		return;
	case CODE_RETURN: lower_return(l, c); return;
	case CODE_NEXT:
		if (c->value) prove_value(l, &l->variables, c->value);
		return;
	case CODE_ROWS:
		lower_statement(l, c->statement);
		forget_slot(l, 0);
		return;
	case CODE_RAISE: lower_raise(l, c); return;
	case CODE_SQL: lower_sql_code(l, c); return;
	case CODE_COUNT:
		assign(l, &c->targets[0], l->row_count, sql_type(SQL_INT8));
		return;
	}
}

static void lower_code(struct sql_lowering *l, const struct sql_code *c)
{
	for (; c && l->b.live != FALSE_NODE; c = c->next) {
		l->b.full |= ++l->statements > CODE_STATEMENTS;
		if (build_is_full(&l->b)) return;
		if (c->point)
			l->line = program_position(l->image->program, c->point)
			                  .line;
		lower_one(l, c);
	}
}

/* ---- routines ---- */

/* Its statements, one after the other; the last one's first value. */
static void lower_statements(struct sql_lowering *l,
                             const struct sql_routine *r)
{
	for (uint32_t i = 0; i < r->statement_count; i++) {
		const struct sql_statement *s = r->statements[i];
		begin_statement(l);
		l->line = program_position(l->image->program, s->point).line;
		struct sql_answer a = lower_statement(l, s);
		if (i + 1 == r->statement_count && sql_result_columns(s))
			l->result = a.values[0];
	}
}

static void begin_routine(struct sql_lowering *l, const struct sql_routine *r,
                          const uint32_t *args)
{
	l->routine = r;
	l->slots = slots_of(l, r);
	l->variable_rows[0] = l->slots;
	l->variables = (struct sql_scope){ .rows = l->variable_rows };
	l->returned = FALSE_NODE;
	l->result = prove_null_node(l);
	l->row_count = prove_int_node(l, 0);
	for (uint32_t i = 0; i < r->slot_count; i++)
		l->slots[i] = prove_null_node(l);
	if (r->slot_count) set_found(l, FALSE_NODE);
	for (uint32_t i = 0; i < r->parameter_count; i++)
		l->slots[r->parameter_slots[i]] = args[i];
}

/* Without an argument that is NULL, if it is strict. */
static void run_routine(struct sql_lowering *l, const struct sql_routine *r,
                        const uint32_t *args)
{
	struct summary *s = l->b.s;
	begin_routine(l, r, args);
	for (uint32_t i = 0; r->strict && i < r->parameter_count; i++) {
		uint32_t null = prove_is_null_node(l, args[i]);
		l->returned =
			node_or(s, l->returned, node_and(s, l->b.live, null));
		l->b.live = node_and(s, l->b.live, node_not(s, null));
	}
	if (r->sql)
		lower_statements(l, r);
	else
		lower_code(l, r->body);
	if (!r->sql && r->out_count)
		l->result = node_choose(s, l->b.live, l->slots[r->out_slots[0]],
		                        l->result);
	l->b.live = node_or(s, l->b.live, l->returned);
}

/* Back from what it has called. */
static void go_back(struct sql_lowering *l, const struct sql_lowering *caller)
{
	l->depth = caller->depth;
	l->routine = caller->routine;
	l->slots = caller->slots;
	l->variable_rows[0] = caller->variable_rows[0];
	l->returned = caller->returned;
	l->result = caller->result;
	l->row_count = caller->row_count;
	l->b.statement = caller->b.statement;
	l->before = caller->before;
}

uint32_t prove_call(struct sql_lowering *l, const struct sql_routine *r,
                    const uint32_t *args, struct place at)
{
	struct sql_lowering caller = *l;
	uint32_t result;
	if (r->set || r->composite || r->trigger || l->depth >= CODE_CALLS) {
		prove_uncovered(l, at, "a call of such a function");
		return prove_any_value(l, r->result);
	}
	l->depth++;
	run_routine(l, r, args);
	result = r->result.kind == SQL_VOID ? prove_null_node(l) : l->result;
	go_back(l, &caller);
	return result;
}

static bool only_looks(const struct summary *s, uint32_t from)
{
	for (uint32_t i = from; i < s->access_count; i++)
		if (s->accesses[i].write ||
		    s->accesses[i].strength != STRENGTH_PLAIN)
			return false;
	return true;
}

/* Statements of the routine come later than the one that it is called in, which
 * does not see what they write. So they may only read; what is read then is of
 * the caller's statement, and nothing is told of which moment is the earlier.
 */
void prove_call_row(struct sql_lowering *l, const struct sql_routine *r,
                    const uint32_t *args, struct place at, uint32_t *columns)
{
	struct sql_lowering caller = *l;
	uint32_t before = l->b.s->access_count;
	bool told = l->depth < CODE_CALLS;
	l->depth++;
	if (told) run_routine(l, r, args);
	/* Where it returns early its variables may go on. */
	told = told && l->returned == FALSE_NODE && only_looks(l->b.s, before);
	for (uint32_t i = 0; i < r->out_count; i++)
		columns[i] = told ? l->slots[r->out_slots[i]]
		                  : prove_any_value(
					    l, r->slots[r->out_slots[i]].type);
	go_back(l, &caller);
	if (!told) prove_uncovered(l, at, "a call beside a query");
}

struct summary *prove_lower_routine(struct application *a,
                                    const struct sql_image *image,
                                    const struct sql_facts *facts,
                                    const struct sql_routine *r)
{
	struct sql_lowering l = { .b = { .app = a, .live = TRUE_NODE },
		                  .image = image,
		                  .facts = facts };
	VEC_RESERVE(a->summaries, a->summary_count, a->summary_capacity);
	struct summary *s = l.b.s = &a->summaries[a->summary_count++];
	uint32_t n = r->parameter_count;
	const char **params =
		region_take0(&a->region, (n + (size_t)1) * sizeof *params);
	uint32_t *args =
		region_take0(&a->region, (n + (size_t)1) * sizeof *args);
	summary_init(s);
	s->name = r->name;
	s->routine = r;
	s->param_count = n;
	s->params = params;
	for (uint32_t i = 0; i < n; i++) {
		params[i] = r->slots[r->parameter_slots[i]].name;
		args[i] = node_add(s, NODE_PARAMETER, i, 0, 0);
	}
	for (uint32_t i = 0; i < n; i++)
		prove_assume(&l, prove_has_type(&l, args[i], r->parameters[i],
		                                true));
	run_routine(&l, r, args);
	s->commits = l.b.live;
	build_finish(&l.b);
	if (l.b.full) {
		prove_uncovered(&l, r->at, "a transaction as large as this");
		build_empty(&l.b);
	}
	return s;
}
