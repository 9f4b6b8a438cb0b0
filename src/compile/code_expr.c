#include "compile/code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lang/format.h"
#include "lang/limits.h"

/* --- instructions and registers ---------------------------------------- */

void code_error(struct code *c, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(c->all, at, format, args);
	va_end(args);
	c->failed = true;
}

uint32_t code_point(struct code *c, struct place at)
{
	return program_add_position(c->p, source_position(c->all, at));
}

uint32_t code_emit(struct code *c, struct instruction i, struct place at)
{
	return program_emit(c->p, i, code_point(c, at));
}

uint32_t code_registers(struct code *c, uint32_t count)
{
	uint32_t first = c->next;
	if (first + count > LIMIT_LOCALS) {
		c->too_many_registers = true; /* reported by the caller */
		return 0;
	}
	c->next += count;
	if (c->next > c->most) c->most = c->next;
	assert(c->next <= c->most && c->most <= LIMIT_LOCALS);
	return first;
}

void code_patches_add(struct patches *p, uint32_t at)
{
	assert(p->count <= p->capacity);
	VEC_RESERVE(p->items, p->count, p->capacity);
	p->items[p->count++] = at;
}

void code_patch(struct code *c, struct patches *p, uint32_t target)
{
	for (uint32_t i = 0; i < p->count; i++)
		program_patch(c->p, p->items[i], target);
	free(p->items);
	*p = (struct patches){ 0 };
}

/* --- constants --------------------------------------------------------- */

static void code_failure(struct code *c, uint32_t point, const char *message)
{
	struct position at = program_position(c->p, point);
	c->failed = true;
	if (sources_full(c->all)) return;
	c->all->errors++;
	diags_add(c->all->diags, DIAG_ERROR, at.file, at.line, at.column,
	          at.source_line, "in a constant expression: %s", message);
}

struct value code_evaluate(struct code *c, struct expr *e)
{
	struct value v = value_null();
	uint32_t next = c->next, most = c->most, entry = program_here(c->p);
	bool evaluating = c->evaluating;
	const char *message;
	uint32_t point;
	if (e->kind == EXPR_VALUE) return e->value;
	c->evaluating = true;
	c->next = c->most = 1; /* register 0 is for the way back */
	uint32_t operand = code_operand(c, e);
	code_emit(c, op_ax(OP_RETURN, operand, 0), expr_place(e));
	if (!c->failed && !c->too_many_registers &&
	    !program_evaluate(c->p, entry, c->most, c->region, &v, &message,
	                      &point)) {
		code_failure(c, point, message);
		v = value_null();
	}
	assert(program_here(c->p) >= entry);
	program_truncate(c->p, entry);
	c->evaluating = evaluating;
	c->next = next;
	c->most = most;
	return v;
}

bool code_constant(struct code *c, struct expr *e, struct value *out)
{
	if (e->kind == EXPR_NAME && e->ref == REF_CONST) {
		*out = e->item->constant;
		return true;
	}
	if (e->kind != EXPR_VALUE) {
		if (!e->constant || c->evaluating) return false;
		struct value v = code_evaluate(c, e);
		e->kind = EXPR_VALUE;
		e->value = v;
	}
	*out = e->value;
	return true;
}

void code_load(struct code *c, uint32_t reg, struct value v, struct place at)
{
	uint32_t k = program_constant(c->p, v);
	if (k < OPERAND_CONSTANT)
		code_emit(c, op_abc(OP_MOVE, 0, reg, k | OPERAND_CONSTANT, 0),
		          at);
	else
		code_emit(c, op_ax(OP_LOAD, reg, k), at);
}

static uint32_t constant_operand(struct code *c, struct value v,
                                 struct place at)
{
	uint32_t k = program_constant(c->p, v);
	if (k < OPERAND_CONSTANT) return k | OPERAND_CONSTANT;
	assert(k >= OPERAND_CONSTANT);
	uint32_t reg = code_registers(c, 1);
	code_emit(c, op_ax(OP_LOAD, reg, k), at);
	return reg;
}

/* The register of a local that the expression names. */
static bool is_local(const struct expr *e, uint32_t *reg)
{
	if (e->kind != EXPR_NAME || e->ref != REF_LOCAL) return false;
	*reg = e->local->reg;
	return true;
}

/* Registers in a row with the values of these expressions: those of locals
 * where they lie so already. */
static uint32_t row(struct code *c, struct expr **items, uint32_t count)
{
	uint32_t base = 0, reg = 0, n = 0;
	while (n < count && is_local(items[n], &reg)) {
		if (!n) base = reg;
		if (reg != base + n) break;
		n++;
	}
	if (count && n == count) return base;
	base = code_registers(c, count);
	for (uint32_t i = 0; i < count; i++) code_into(c, items[i], base + i);
	return base;
}

/* --- keys of the database ----------------------------------------------- */

static struct item *global_of(const struct expr *e)
{
	assert(e->kind == EXPR_NAME || e->kind == EXPR_INDEX);
	return (e->kind == EXPR_NAME ? e->item : e->family)->family;
}

/* The index values, if all are known. */
static bool constant_indexes(struct code *c, struct expr *e,
                             struct value *values)
{
	for (uint32_t i = 0; i < e->index_count; i++)
		if (!code_constant(c, e->indexes[i], &values[i])) return false;
	return true;
}

struct key code_key(struct code *c, struct expr *e)
{
	struct key k = { .global = global_of(e)->number };
	struct value values[LIMIT_INDEXES];
	uint32_t count = e->kind == EXPR_INDEX ? e->index_count : 0;
	assert(count <= LIMIT_INDEXES);
	if (!count || constant_indexes(c, e, values)) {
		k.is_static = true;
		for (uint32_t i = 0; i < count; i++)
			if (values[i].tag > VALUE_TUPLE)
				code_error(c, expr_place(e->indexes[i]),
				           "a %s cannot be an index of a key",
				           value_type_name(values[i].tag));
		k.key = program_add_key(c->p, k.global, values, count);
		return k;
	}
	k.count = count;
	k.base = row(c, e->indexes, count);
	return k;
}

static void code_lock(struct code *c, enum strength strength, struct place at)
{
	if (strength != STRENGTH_PLAIN)
		code_emit(c, op_abc(OP_LOCK, strength, 0, 0, 0), at);
}

void code_read(struct code *c, const struct key *k, enum strength strength,
               uint32_t reg, struct place at)
{
	code_lock(c, strength, at);
	code_emit(c,
	          k->is_static ? op_ax(OP_READ, reg, k->key)
	                       : op_abc(OP_READ_AT, k->count, reg, k->base,
	                                k->global),
	          at);
}

void code_write(struct code *c, const struct key *k, enum strength strength,
                uint32_t operand, struct place at)
{
	code_lock(c, strength, at);
	code_emit(c,
	          k->is_static ? op_ax(OP_WRITE, operand, k->key)
	                       : op_abc(OP_WRITE_AT, k->count, operand, k->base,
	                                k->global),
	          at);
}

/* --- expressions ------------------------------------------------------- */

static void into_read(struct code *c, struct expr *e, uint32_t reg)
{
	struct key k = code_key(c, e);
	const struct watched *w = code_watched(c, e);
	enum strength lock = (enum strength)e->op;
	code_read(c, &k, lock, w ? w->reg : reg, expr_place(e));
	if (lock == STRENGTH_UPDATE && c->locks_write) {
		assert(!w);
		code_write(c, &k, STRENGTH_PLAIN, reg, expr_place(e));
	}
	if (w && w->reg != reg)
		code_emit(c, op_abc(OP_MOVE, 0, reg, w->reg, 0), expr_place(e));
}

static void into_binary(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t left = code_operand(c, e->left);
	uint32_t right = code_operand(c, e->right);
	code_emit(c, op_abc(e->op, 0, reg, left, right), expr_place(e));
}

static bool is_boolean(const struct expr *e)
{
	if (e->kind == EXPR_VALUE) return e->value.tag == VALUE_BOOL;
	if (e->kind == EXPR_BINARY) return e->op >= OP_EQ && e->op <= OP_IN;
	if (e->kind == EXPR_LOOP) return e->op >= LOOP_EXISTS;
	return e->kind == EXPR_AND || e->kind == EXPR_OR ||
	       (e->kind == EXPR_UNARY && e->op == OP_NOT);
}

static void into_logical(struct code *c, struct expr *e, uint32_t reg)
{
	enum opcode jump = e->kind == EXPR_AND ? OP_JUMP_FALSE : OP_JUMP_TRUE;
	assert(e->kind == EXPR_AND || e->kind == EXPR_OR);
	code_into(c, e->left, reg);
	uint32_t skip = code_emit(c, op_ax(jump, reg, 0), expr_place(e->left));
	code_into(c, e->right, reg);
	if (!is_boolean(e->right))
		code_emit(c, op_abc(OP_BOOL, 0, reg, reg, 0),
		          expr_place(e->right));
	program_patch(c->p, skip, program_here(c->p));
}

static void into_sequence(struct code *c, struct expr *e, uint32_t reg)
{
	enum opcode op = e->kind == EXPR_TUPLE  ? OP_TUPLE
	                 : e->kind == EXPR_LIST ? OP_LIST
	                                        : OP_SET;
	uint32_t base = row(c, e->items, e->count);
	code_emit(c, op_abc(op, 0, reg, base, e->count), expr_place(e));
}

/* The named fields from..to, none of which is a spread. */
static void into_fields(struct code *c, struct expr *e, uint32_t from,
                        uint32_t to, uint32_t reg)
{
	uint32_t base = code_registers(c, 2 * (to - from));
	assert(from <= to && to <= e->field_count);
	for (uint32_t i = from; i < to; i++) {
		const struct field *f = &e->fields[i];
		uint32_t at = base + 2 * (i - from);
		code_load(
			c, at,
			value_string(c->region, f->name->text, f->name->length),
			expr_place(f->value));
		code_into(c, f->value, at + 1);
	}
	code_emit(c, op_abc(OP_RECORD, 0, reg, base, to - from), expr_place(e));
}

/* Runs of named fields and spreads, laid over each other from the left. */
static void into_record(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t whole = code_registers(c, 1), part = code_registers(c, 1);
	uint32_t below = constant_operand(c, value_record(c->region, NULL, 0),
	                                  expr_place(e));
	for (uint32_t i = 0; i < e->field_count;) {
		uint32_t from = i, mark = c->next, above = part;
		while (i < e->field_count && e->fields[i].name) i++;
		if (from == 0 && i == e->field_count) {
			into_fields(c, e, from, i, reg);
			return;
		}
		if (i > from)
			into_fields(c, e, from, i, part);
		else
			above = code_operand(c, e->fields[i++].value);
		uint32_t target = i == e->field_count ? reg : whole;
		code_emit(c, op_abc(OP_SPREAD, 0, target, below, above),
		          expr_place(e->fields[i - 1].value));
		below = whole;
		c->next = mark;
	}
}

static void into_call(struct code *c, struct expr *e, uint32_t reg)
{
	assert(e->callee_item);
	/* The callee's frame begins at the result's register; if that is the
	 * topmost one already, nothing needs to be moved. */
	bool top = reg + 1 == c->next && reg >= c->pinned;
	uint32_t base = top ? reg : code_registers(c, 1);
	uint32_t first = code_registers(c, e->argument_count);
	for (uint32_t i = 0; i < e->argument_count; i++)
		code_into(c, e->arguments[i], first + i);
	if (e->ref == REF_TRANSACTION && c->bound != UINT64_MAX) c->bound++;
	code_emit(c, op_ax(OP_CALL, base, e->callee_item->number),
	          expr_place(e));
	if (base != reg)
		code_emit(c, op_abc(OP_MOVE, 0, reg, base, 0), expr_place(e));
}

static void into_builtin(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t base = row(c, e->arguments, e->argument_count);
	code_emit(c, op_abc(OP_BUILTIN, e->argument_count, reg, base, e->op),
	          expr_place(e));
}

static void into_extern(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t base = row(c, e->arguments, e->argument_count);
	code_emit(c,
	          op_abc(OP_EXTERN, e->argument_count, reg, base,
	                 e->callee_item->number),
	          expr_place(e));
}

/* filter, map: gather what passes. */
static void into_gathering(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t each = code_registers(c, 3);
	struct place at = expr_place(e);
	struct patches next = { 0 };
	assert(e->op == LOOP_FILTER || e->op == LOOP_MAP);
	code_into(c, e->collection, each);
	code_emit(c, op_ax(OP_EACH, each, 0), expr_place(e->collection));
	code_emit(c, op_ax(OP_GATHER, reg, 0), at);
	e->variable->reg = each + 2;
	uint32_t loop = code_emit(c, op_ax(OP_EACH_NEXT, each, 0), at);
	uint32_t item = each + 2;
	if (e->op == LOOP_FILTER)
		code_condition(c, e->body, false, &next);
	else
		item = code_operand(c, e->body);
	code_emit(c, op_abc(OP_GATHER_ADD, 0, reg, item, 0), at);
	code_emit(c, op_ax(OP_JUMP, 0, loop), at);
	code_patch(c, &next, loop);
	program_patch(c->p, loop, program_here(c->p));
	code_emit(c, op_abc(OP_GATHER_END, 0, reg, each, 0), at);
}

/* exists, forall: stop at the first item that decides. */
static void into_quantifier(struct code *c, struct expr *e, uint32_t reg)
{
	bool exists = e->op == LOOP_EXISTS;
	uint32_t each = code_registers(c, 3);
	struct place at = expr_place(e);
	struct patches next = { 0 };
	assert(e->op == LOOP_EXISTS || e->op == LOOP_FORALL);
	code_into(c, e->collection, each);
	code_emit(c, op_ax(OP_EACH, each, 0), expr_place(e->collection));
	code_load(c, reg, value_bool(!exists), at);
	e->variable->reg = each + 2;
	uint32_t loop = code_emit(c, op_ax(OP_EACH_NEXT, each, 0), at);
	code_condition(c, e->body, !exists, &next);
	code_patch(c, &next, loop);
	code_load(c, reg, value_bool(exists), at);
	program_patch(c->p, loop, program_here(c->p));
}

static void into_field(struct code *c, struct expr *e, uint32_t reg)
{
	uint32_t base = code_operand(c, e->base);
	uint32_t name = constant_operand(
		c, value_string(c->region, e->field->text, e->field->length),
		expr_place(e));
	code_emit(c, op_abc(OP_FIELD, 0, reg, base, name), expr_place(e));
}

static void into_index(struct code *c, struct expr *e, uint32_t reg)
{
	if (e->ref == REF_GLOBAL) {
		into_read(c, e, reg);
		return;
	}
	uint32_t base = code_operand(c, e->indexed);
	uint32_t index = code_operand(c, e->indexes[0]);
	code_emit(c, op_abc(OP_INDEX, 0, reg, base, index), expr_place(e));
}

/* All that is neither constant nor already in a register. */
static void into_compound(struct code *c, struct expr *e, uint32_t reg)
{
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: return;
	case EXPR_NAME: into_read(c, e, reg); return;
	case EXPR_FIELD: into_field(c, e, reg); return;
	case EXPR_INDEX: into_index(c, e, reg); return;
	case EXPR_UNARY:
		code_emit(c, op_abc(e->op, 0, reg, code_operand(c, e->left), 0),
		          expr_place(e));
		return;
	case EXPR_BINARY: into_binary(c, e, reg); return;
	case EXPR_AND:
	case EXPR_OR: into_logical(c, e, reg); return;
	case EXPR_TUPLE:
	case EXPR_LIST:
	case EXPR_SET: into_sequence(c, e, reg); return;
	case EXPR_RECORD: into_record(c, e, reg); return;
	case EXPR_CALL:
		if (e->ref == REF_BUILTIN)
			into_builtin(c, e, reg);
		else if (e->callee_item->kind == ITEM_EXTERN)
			into_extern(c, e, reg);
		else
			into_call(c, e, reg);
		return;
	case EXPR_LOOP:
		if (e->op == LOOP_FILTER || e->op == LOOP_MAP)
			into_gathering(c, e, reg);
		else
			into_quantifier(c, e, reg);
		return;
	case EXPR_TXN:
		code_anonymous(c, e->transaction, expr_place(e), true, reg);
		return;
	}
}

/* The register that holds the value already: of a local, or of something that
 * an assertion watches. */
static bool held(struct code *c, struct expr *e, uint32_t *reg)
{
	if (is_local(e, reg)) return true;
	if (e->kind == EXPR_FIELD && e->ref == REF_SESSION_LOCAL) {
		assert(code_watched(c, e->member));
		*reg = code_watched(c, e->member)->reg;
		return true;
	}
	return false;
}

void code_into(struct code *c, struct expr *e, uint32_t reg)
{
	struct value v;
	uint32_t source;
	if (code_constant(c, e, &v)) {
		code_load(c, reg, v, expr_place(e));
	} else if (held(c, e, &source)) {
		code_emit(c, op_abc(OP_MOVE, 0, reg, source, 0), expr_place(e));
	} else {
		uint32_t mark = c->next;
		into_compound(c, e, reg);
		c->next = mark;
	}
}

uint32_t code_operand(struct code *c, struct expr *e)
{
	struct value v;
	uint32_t reg;
	if (code_constant(c, e, &v))
		return constant_operand(c, v, expr_place(e));
	if (held(c, e, &reg)) return reg;
	const struct watched *w = code_watched(c, e);
	reg = w ? w->reg : code_registers(c, 1);
	code_into(c, e, reg);
	return reg;
}

void code_assign(struct code *c, struct expr *e, uint32_t reg)
{
	if (e->kind == EXPR_AND || e->kind == EXPR_OR || e->kind == EXPR_LOOP) {
		uint32_t mark = c->next, operand = code_operand(c, e);
		code_emit(c, op_abc(OP_MOVE, 0, reg, operand, 0),
		          expr_place(e));
		c->next = mark;
	} else {
		code_into(c, e, reg);
	}
}

/* --- conditions -------------------------------------------------------- */

/* `a && b` that is to jump when false, or `a || b` when true: either part
 * decides. */
static void condition_either(struct code *c, struct expr *e, bool when,
                             struct patches *jumps)
{
	code_condition(c, e->left, when, jumps);
	code_condition(c, e->right, when, jumps);
}

/* The other way round: the left part may decide against the jump. */
static void condition_both(struct code *c, struct expr *e, bool when,
                           struct patches *jumps)
{
	struct patches skip = { 0 };
	code_condition(c, e->left, !when, &skip);
	code_condition(c, e->right, when, jumps);
	code_patch(c, &skip, program_here(c->p));
}

void code_condition(struct code *c, struct expr *e, bool when,
                    struct patches *jumps)
{
	uint32_t mark = c->next;
	if (!e->constant && e->kind == EXPR_UNARY && e->op == OP_NOT) {
		code_condition(c, e->left, !when, jumps);
	} else if (!e->constant &&
	           (e->kind == EXPR_AND || e->kind == EXPR_OR)) {
		if ((e->kind == EXPR_OR) == when)
			condition_either(c, e, when, jumps);
		else
			condition_both(c, e, when, jumps);
	} else {
		uint32_t operand = code_operand(c, e);
		enum opcode op = when ? OP_JUMP_TRUE : OP_JUMP_FALSE;
		code_patches_add(jumps, code_emit(c, op_ax(op, operand, 0),
		                                  expr_place(e)));
	}
	c->next = mark;
}

/* --- what an assertion mentions ------------------------------------------ */

struct watcher {
	struct code *c;
	bool conditional;     /* some part may not be evaluated */
	struct local **inner; /* variables of comprehensions */
	uint32_t inner_count, inner_capacity;
};

const struct watched *code_watched(const struct code *c, const void *of)
{
	for (uint32_t i = 0; i < c->watched_count; i++)
		if (c->watched[i].of == of) return &c->watched[i];
	return NULL;
}

static void watch(struct code *c, const void *of, const struct expr *e,
                  uint32_t reg)
{
	struct text name = { 0 };
	assert(of && !code_watched(c, of));
	format_expression(c->all, e, &name);
	VEC_RESERVE(c->watched, c->watched_count, c->watched_capacity);
	c->watched[c->watched_count++] = (struct watched){
		.of = of,
		.name = region_copy_string(c->region, text_get(&name),
		                           name.length),
		.reg = reg,
		.is_read = e->ref == REF_GLOBAL,
	};
	text_free(&name);
}

static void watch_local(struct watcher *w, struct expr *e)
{
	if (code_watched(w->c, e->local)) return;
	for (uint32_t i = 0; i < w->inner_count; i++)
		if (w->inner[i] == e->local) return;
	watch(w->c, e->local, e, e->local->reg);
}

static void watch_member(struct watcher *w, struct expr *e)
{
	struct code *c = w->c;
	if (code_watched(c, e->member)) return;
	uint32_t reg = code_registers(c, 1);
	watch(c, e->member, e, reg);
	code_emit(c,
	          op_abc(OP_LOCAL, 0, reg, e->session->number, e->member->reg),
	          expr_place(e));
}

static void watch_part(void *context, struct expr *e)
{
	struct watcher *w = context;
	if (e->kind == EXPR_NAME && e->ref == REF_LOCAL)
		watch_local(w, e);
	else if (e->ref == REF_GLOBAL)
		watch(w->c, e, e, code_registers(w->c, 1));
	else if (e->ref == REF_SESSION_LOCAL)
		watch_member(w, e);
	if (e->kind == EXPR_LOOP) {
		VEC_RESERVE(w->inner, w->inner_count, w->inner_capacity);
		w->inner[w->inner_count++] = e->variable;
	}
	w->conditional |= e->kind == EXPR_AND || e->kind == EXPR_OR ||
	                  e->kind == EXPR_LOOP;
	expr_parts(e, watch_part, w);
}

void code_watch(struct code *c, struct expr *e)
{
	struct watcher w = { .c = c };
	c->watched_count = 0;
	watch_part(&w, e);
	free(w.inner);
	if (!w.conditional) return;
	/* What is not read will be shown as null. */
	for (uint32_t i = 0; i < c->watched_count; i++)
		if (c->watched[i].is_read)
			code_load(c, c->watched[i].reg, value_null(),
			          expr_place(e));
}

void code_watch_site(struct code *c, uint32_t site)
{
	for (uint32_t i = 0; i < c->watched_count; i++)
		program_add_site_value(c->p, site, c->watched[i].name,
		                       c->watched[i].reg);
	c->watched_count = 0;
}
