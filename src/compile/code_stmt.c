#include "compile/code.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"
#include "lang/format.h"
#include "lang/limits.h"

/* --- bounds on the number of transactions -------------------------------- */

static uint64_t saturated_product(uint64_t a, uint64_t b)
{
	uint64_t product;
	if (!a || !b) return 0;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t saturated_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The difference of two integers, at most UINT64_MAX - 1; none below 0. */
static uint64_t distance(int64_t from, int64_t to)
{
	return from >= to ? 0 : (uint64_t)to - (uint64_t)from;
}

static bool constant_integer(struct code *c, struct expr *e, int64_t *i)
{
	struct value v;
	if (!code_constant(c, e, &v) || v.tag != VALUE_INT) return false;
	*i = v.i;
	return true;
}

/* range(a, b) or range(b) with known ends. */
static bool builtin_range(struct code *c, struct expr *e, uint64_t *times)
{
	int64_t ends[2] = { 0, 0 };
	uint32_t n = e->argument_count;
	if (e->kind != EXPR_CALL || e->ref != REF_BUILTIN ||
	    e->op != BUILTIN_RANGE || n < 1 || n > 2)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!constant_integer(c, e->arguments[i], &ends[2 - n + i]))
			return false;
	assert(n <= 2);
	*times = distance(ends[0], ends[1]);
	return true;
}

/* How often a loop runs at most; UINT64_MAX when that is not known. */
static uint64_t iterations(struct code *c, struct stmt *s)
{
	struct value v;
	int64_t from, to;
	uint64_t times = UINT64_MAX;
	struct expr *e = s->value;
	if (s->until) {
		if (constant_integer(c, e, &from) &&
		    constant_integer(c, s->until, &to))
			times = distance(from, to);
	} else if (code_constant(c, e, &v)) {
		bool items = v.tag == VALUE_LIST || v.tag == VALUE_TUPLE ||
		             v.tag == VALUE_SET;
		times = items ? v.o->length : 0;
	} else if (e->kind == EXPR_LIST || e->kind == EXPR_TUPLE ||
	           e->kind == EXPR_SET) {
		times = e->count;
	} else {
		builtin_range(c, e, &times);
	}
	if (times > LIMIT_ITERATIONS && times != UINT64_MAX)
		code_error(c, expr_place(e),
		           "the loop is too long: more than %d iterations",
		           LIMIT_ITERATIONS);
	return times;
}

/* --- transactions -------------------------------------------------------- */

own_level code_own_level(const struct block *b)
{
	if (!b->level) return 0;
	int number = level_number(b->level->text);
	assert(number >= 0);
	return (own_level)(number + 1);
}

static void transaction(struct code *c, const char *name, struct block *b,
                        struct place at, bool wants_result, uint32_t result)
{
	struct code outer = *c;
	c->aborts = c->returns = (struct patches){ 0 };
	c->anonymous = true;
	c->wants_result = wants_result;
	c->result = result;
	c->bound = saturated_sum(c->bound, 1);
	code_emit(c,
	          op_ax(OP_BEGIN, 0,
	                program_add_transaction(c->p, name, code_own_level(b))),
	          at);
	code_block(c, b);
	code_emit(c, op_ax(OP_COMMIT, 0, 0), at);
	code_patch(c, &c->aborts, program_here(c->p));
	if (wants_result) code_load(c, result, value_null(), at);
	code_patch(c, &c->returns, program_here(c->p));
	assert(!c->aborts.items && !c->returns.items);
	c->aborts = outer.aborts;
	c->returns = outer.returns;
	c->anonymous = outer.anonymous;
	c->wants_result = outer.wants_result;
	c->result = outer.result;
}

void code_anonymous(struct code *c, struct block *b, struct place at,
                    bool wants_result, uint32_t result)
{
	transaction(c, "txn", b, at, wants_result, result);
}

void code_finally(struct code *c, struct block *b, struct place at)
{
	transaction(c, "finally", b, at, false, 0);
}

static void statement_return(struct code *c, struct stmt *s)
{
	uint32_t operand =
		program_constant(c->p, value_null()) | OPERAND_CONSTANT;
	if (s->value) operand = code_operand(c, s->value);
	if (!c->anonymous) {
		code_emit(c, op_ax(OP_COMMIT, 0, 0), s->at);
		code_emit(c, op_ax(OP_RETURN, operand, 0), s->at);
		return;
	}
	assert(c->anonymous);
	if (c->wants_result)
		code_emit(c, op_abc(OP_MOVE, 0, c->result, operand, 0), s->at);
	code_emit(c, op_ax(OP_COMMIT, 0, 0), s->at);
	code_patches_add(&c->returns,
	                 code_emit(c, op_ax(OP_JUMP, 0, 0), s->at));
}

/* --- other statements ----------------------------------------------------- */

static void statement_let(struct code *c, struct stmt *s)
{
	if (c->in_session && s->local->level == 1) {
		/* A top-level local has its register already. */
		code_assign(c, s->value, s->local->reg);
		return;
	}
	s->local->reg = code_registers(c, 1);
	code_into(c, s->value, s->local->reg);
}

static void statement_set(struct code *c, struct stmt *s)
{
	if (s->target->ref == REF_LOCAL) {
		code_assign(c, s->value, s->target->local->reg);
		return;
	}
	struct key k = code_key(c, s->target);
	code_write(c, &k, STRENGTH_PLAIN, code_operand(c, s->value),
	           expr_place(s->target));
}

struct reads {
	bool plain, locked;
};

static void note_reads(void *context, struct expr *e)
{
	struct reads *r = context;
	if (e->ref == REF_GLOBAL &&
	    (e->kind == EXPR_NAME || e->kind == EXPR_INDEX)) {
		r->plain |= e->op == STRENGTH_PLAIN;
		r->locked |= e->op != STRENGTH_PLAIN;
	}
	expr_parts(e, note_reads, r);
}

/* From here on all is one statement; false if it was so already. */
static bool begin_statement(struct code *c, struct place at)
{
	if (c->in_statement) return false;
	code_emit(c, op_abc(OP_STATEMENT, 1, 0, 0, 0), at);
	return c->in_statement = true;
}

static void end_statement(struct code *c, struct place at)
{
	code_emit(c, op_abc(OP_STATEMENT, 0, 0, 0, 0), at);
	c->in_statement = false;
}

static void statement_block(struct code *c, struct stmt *s)
{
	bool begun = begin_statement(c, s->at);
	assert(begun);
	(void)begun;
	code_block(c, s->body);
	end_statement(c, s->at);
}

/* What else it reads comes first: of a statement, what it locks is read last.
 */
static void statement_atomic(struct code *c, struct stmt *s)
{
	struct place at = expr_place(s->target);
	bool begun = begin_statement(c, s->at);
	struct key k = code_key(c, s->target);
	uint32_t sum = code_registers(c, 1);
	uint32_t right = code_operand(c, s->value);
	code_read(c, &k, STRENGTH_NO_KEY_UPDATE, sum, at);
	code_emit(c, op_abc(OP_ADD, 0, sum, sum, right), at);
	code_write(c, &k, STRENGTH_NO_KEY_UPDATE, sum, at);
	if (begun) end_statement(c, s->at);
}

static void statement_add(struct code *c, struct stmt *s)
{
	struct place at = expr_place(s->target);
	if (s->target->ref == REF_LOCAL) {
		uint32_t reg = s->target->local->reg;
		uint32_t right = code_operand(c, s->value);
		code_emit(c, op_abc(OP_ADD, 0, reg, reg, right), at);
		return;
	}
	/* One statement, unless it locks: what it reads after that is newer. */
	struct reads r = { false, false };
	note_reads(&r, s->value);
	bool begun = r.plain && !r.locked && begin_statement(c, s->at);
	struct key k = code_key(c, s->target);
	uint32_t sum = code_registers(c, 1);
	code_read(c, &k, STRENGTH_PLAIN, sum, at);
	uint32_t right = code_operand(c, s->value);
	code_emit(c, op_abc(OP_ADD, 0, sum, sum, right), at);
	code_write(c, &k, STRENGTH_PLAIN, sum, at);
	if (begun) end_statement(c, s->at);
}

static void reach(struct code *c, enum reach_kind kind, struct place at)
{
	uint32_t point = program_add_reach(c->p, kind, code_point(c, at));
	code_emit(c, op_ax(OP_REACH, 0, point), at);
}

static void statement_if(struct code *c, struct stmt *s)
{
	struct patches end = { 0 }, next = { 0 };
	uint64_t before = c->bound, most = before;
	for (uint32_t i = 0; i < s->arm_count; i++) {
		struct arm *arm = &s->arms[i];
		c->bound = before;
		code_condition(c, arm->condition, false, &next);
		before = c->bound;
		reach(c, REACH_THEN, arm->at);
		code_block(c, arm->body);
		if (i + 1 < s->arm_count || s->orelse)
			code_patches_add(
				&end,
				code_emit(c, op_ax(OP_JUMP, 0, 0), arm->at));
		code_patch(c, &next, program_here(c->p));
		if (c->bound > most) most = c->bound;
	}
	c->bound = before;
	if (s->orelse) {
		reach(c, REACH_ELSE, s->orelse_at);
		code_block(c, s->orelse);
	}
	if (most > c->bound) c->bound = most;
	code_patch(c, &end, program_here(c->p));
}

static void statement_for(struct code *c, struct stmt *s)
{
	struct place at = expr_place(s->value);
	uint64_t times = iterations(c, s);
	uint32_t base = code_registers(c, 3);
	code_into(c, s->value, base);
	if (s->until) code_into(c, s->until, base + 1);
	uint64_t before = c->bound;
	c->bound = 0;
	assert(c->too_many_registers || base + 3 <= c->next);
	s->local->reg = base + 2;
	code_emit(c, op_ax(s->until ? OP_RANGE : OP_EACH, base, 0), at);
	uint32_t loop = code_emit(
		c, op_ax(s->until ? OP_RANGE_NEXT : OP_EACH_NEXT, base, 0), at);
	code_block(c, s->body);
	code_emit(c, op_ax(OP_JUMP, 0, loop), at);
	program_patch(c->p, loop, program_here(c->p));
	c->bound = saturated_sum(before, saturated_product(c->bound, times));
}

static void statement_assert(struct code *c, struct stmt *s)
{
	struct text text = { 0 };
	uint32_t point = code_point(c, s->at);
	format_expression(c->all, s->value, &text);
	struct assertion a = { .kind = ASSERTION_INLINE,
		               .text = text_get(&text),
		               .message = s->message,
		               .at = program_position(c->p, point) };
	uint32_t site = program_add_site(c->p, program_add_assertion(c->p, &a));
	text_free(&text);
	code_watch(c, s->value);
	uint32_t operand = code_operand(c, s->value);
	code_watch_site(c, site);
	reach(c, REACH_ASSERTION, s->at);
	code_emit(c, op_ax(OP_ASSERT, operand, site), s->at);
}

static void statement(struct code *c, struct stmt *s)
{
	switch (s->kind) {
	case STMT_LET: statement_let(c, s); return;
	case STMT_SET: statement_set(c, s); return;
	case STMT_ADD: statement_add(c, s); return;
	case STMT_ATOMIC: statement_atomic(c, s); return;
	case STMT_IF: statement_if(c, s); return;
	case STMT_FOR: statement_for(c, s); return;
	case STMT_ABORT:
		code_patches_add(&c->aborts,
		                 code_emit(c, op_ax(OP_ABORT, 0, 0), s->at));
		return;
	case STMT_RETURN: statement_return(c, s); return;
	case STMT_ASSERT: statement_assert(c, s); return;
	case STMT_ASSUME:
		code_emit(c, op_ax(OP_ASSUME, code_operand(c, s->value), 0),
		          s->at);
		return;
	case STMT_SKIP: return;
	case STMT_CALL: code_operand(c, s->value); return;
	case STMT_TXN: code_anonymous(c, s->body, s->at, false, 0); return;
	case STMT_STATEMENT: statement_block(c, s); return;
	}
}

void code_statement(struct code *c, struct stmt *s)
{
	uint32_t mark = c->next;
	statement(c, s);
	assert(c->next >= mark || c->too_many_registers);
	/* What a `let` declares stays until its block ends. */
	c->next =
		s->kind == STMT_LET && s->local->reg >= mark ? mark + 1 : mark;
	if (c->too_many_registers && !c->failed)
		code_error(c, s->at,
		           "too many locals and intermediate values: more "
		           "than %d",
		           LIMIT_LOCALS);
}

void code_block(struct code *c, struct block *b)
{
	uint32_t mark = c->next;
	for (struct stmt *s = b->first; s; s = s->next) code_statement(c, s);
	assert(c->next >= mark);
	c->next = mark;
}
