#include "lang/static_checks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/access.h"
#include "base/level_words.h"
#include "base/memory.h"
#include "base/text.h"
#include "lang/limits.h"
#include "lang/parser.h"
#include "lang/scope.h"
#include "vm/bytecode.h"

static void check_block(struct checker *c, struct block *b);

/* --- expressions ------------------------------------------------------- */

static void need(struct checker *c, struct item *on, const struct expr *e)
{
	if (!c->pure) return;
	struct need *n = region_take(c->syntax->region, sizeof *n);
	*n = (struct need){ .item = on,
		            .at = expr_place(e),
		            .next = c->pure->needs };
	c->pure->needs = n;
}

/* May a global be used here? Reports if not. */
static bool global_allowed(struct checker *c, const struct expr *e,
                           const char *name)
{
	switch (c->where) {
	case WHERE_TRANSACTION: return true;
	case WHERE_SESSION:
		scope_error(c, expr_place(e),
		            "global '%s' is used outside a transaction", name);
		return false;
	case WHERE_FUNCTION:
		scope_error(c, expr_place(e),
		            "a function is pure: it cannot use global '%s'; "
		            "pass the value as an argument",
		            name);
		return false;
	case WHERE_CONSTANT:
		scope_error(c, expr_place(e),
		            "global '%s' is used where a constant is needed",
		            name);
		return false;
	case WHERE_ASSERTION:
		scope_error(c, expr_place(e),
		            "global '%s' is used in a top-level assertion: "
		            "only the locals of sessions can be; read it in "
		            "'finally { ... }'",
		            name);
		return false;
	}
	return false;
}

/* May this expression, which names a key or something else, lock? Reports if
 * not. */
static void check_lock(struct checker *c, const struct expr *e,
                       const char *name)
{
	const char *word = e->op == STRENGTH_SHARE ? "shared" : "locked";
	if (e->op == STRENGTH_PLAIN) return;
	if (e->ref == REF_LOCAL || e->ref == REF_CONST)
		scope_error(c, (struct place){ e->source, e->start },
		            "only the read of a global can lock: '%s' is a %s",
		            name, e->ref == REF_LOCAL ? "local" : "constant");
	else if (c->asserting && e->ref == REF_GLOBAL)
		scope_error(c, (struct place){ e->source, e->start },
		            "an assertion only looks, it cannot lock: read "
		            "before it, as in 'let v = %s %s%s;'",
		            word, name, e->kind == EXPR_INDEX ? "[...]" : "");
}

static void check_item_name(struct checker *c, struct expr *e,
                            struct item *item)
{
	const char *name = item->name->text;
	switch (item->kind) {
	case ITEM_CONST:
		e->ref = REF_CONST;
		e->item = item;
		e->constant = true;
		need(c, item, e);
		return;
	case ITEM_GLOBAL:
		if (!global_allowed(c, e, name)) return;
		if (item->keyed) {
			scope_error(c, expr_place(e),
			            "'%s' is a family of keys: it needs an "
			            "index, %s[...]",
			            name, name);
			return;
		}
		e->ref = REF_GLOBAL;
		e->item = item;
		return;
	default:
		scope_error(c, expr_place(e), "'%s' is a %s: call it", name,
		            item->kind == ITEM_TXN ? "transaction"
		                                   : "function");
	}
}

static void check_name(struct checker *c, struct expr *e)
{
	struct symbol *name = e->name;
	if (name->local) {
		e->ref = REF_LOCAL;
		e->local = name->local;
	} else if (name->item) {
		check_item_name(c, e, name->item);
	} else if (name->session) {
		scope_error(
			c, expr_place(e),
			c->where == WHERE_ASSERTION
				? "'%s' is a session: name one of its locals, "
				  "%s.local"
				: "'%s' is a session: '%s.local' can be used "
				  "in a top-level assertion only",
			name->text, name->text);
	} else {
		scope_unknown_name(c, e);
	}
	check_lock(c, e, name->text);
}

/* session.local in a top-level assertion. */
static void check_member(struct checker *c, struct expr *e,
                         struct item *session)
{
	for (struct local *l = session->locals; l; l = l->next) {
		if (l->name != e->field) continue;
		e->ref = REF_SESSION_LOCAL;
		e->member = l;
		e->session = session;
		return;
	}
	scope_unknown_member(c, e, session);
}

static void check_field(struct checker *c, struct expr *e)
{
	struct expr *base = e->base;
	struct symbol *name = base->kind == EXPR_NAME ? base->name : NULL;
	if (c->where == WHERE_ASSERTION && name && !name->local &&
	    name->session) {
		check_member(c, e, name->session);
		return;
	}
	check_expr(c, base);
	e->constant = base->constant;
}

/* A key of a family: base[indexes]. */
static void check_key(struct checker *c, struct expr *e, struct item *family)
{
	struct symbol *name = family->name;
	if (!global_allowed(c, e, name->text)) return;
	if (!family->index_count) family->index_count = e->index_count;
	if (family->index_count != e->index_count)
		scope_error(
			c, expr_place(e), "'%s' has %u index value%s, not %u",
			name->text, family->index_count,
			family->index_count == 1 ? "" : "s", e->index_count);
	e->ref = REF_GLOBAL;
	e->op = e->indexed->op;
	e->indexed = NULL;
	e->family = family;
	check_lock(c, e, name->text);
}

static void check_index(struct checker *c, struct expr *e)
{
	struct expr *base = e->indexed;
	struct symbol *name = base->kind == EXPR_NAME ? base->name : NULL;
	struct item *family = name && !name->local ? name->item : NULL;
	if (family && family->kind == ITEM_GLOBAL && family->keyed) {
		check_key(c, e, family);
	} else {
		check_expr(c, base);
		e->at = e->index_count ? e->indexes[0]->start : e->at;
		e->constant = base->constant;
		if (e->index_count != 1)
			scope_error(c, expr_place(e),
			            "a value has one index, not %u",
			            e->index_count);
	}
	for (uint32_t i = 0; i < e->index_count; i++) {
		check_expr(c, e->indexes[i]);
		e->constant &= e->indexes[i]->constant;
	}
}

static void check_argument_count(struct checker *c, const struct expr *e,
                                 uint32_t fewest, uint32_t most)
{
	uint32_t count = e->argument_count;
	if (count >= fewest && count <= most) return;
	const char *limit = fewest == most   ? ""
	                    : count < fewest ? "at least "
	                                     : "at most ";
	uint32_t wanted = count < fewest ? fewest : most;
	scope_error(c, expr_place(e), "'%s' takes %s%u argument%s, not %u",
	            e->callee->text, limit, wanted, wanted == 1 ? "" : "s",
	            count);
}

static void check_txn_call(struct checker *c, struct expr *e)
{
	const char *name = e->callee->text;
	e->ref = REF_TRANSACTION;
	if (c->where == WHERE_TRANSACTION)
		scope_error(c, expr_place(e),
		            "transaction '%s' cannot be "
		            "called within a transaction",
		            name);
	else if (c->where != WHERE_SESSION)
		scope_error(c, expr_place(e),
		            "transaction '%s' can be called "
		            "in a session only",
		            name);
	else if (c->loops)
		scope_error(c, expr_place(e),
		            "transaction '%s' cannot be "
		            "called in a comprehension; use 'for'",
		            name);
}

static void check_callee(struct checker *c, struct expr *e)
{
	struct item *item = e->callee->item;
	uint32_t fewest, most;
	int builtin;
	if (item && (item->kind == ITEM_FN || item->kind == ITEM_EXTERN ||
	             item->kind == ITEM_TXN)) {
		e->callee_item = item;
		if (item->kind == ITEM_TXN) {
			check_txn_call(c, e);
		} else {
			e->ref = REF_FUNCTION;
			if (item->kind == ITEM_FN) need(c, item, e);
		}
		check_argument_count(c, e, item->param_count,
		                     item->param_count);
	} else if ((builtin = builtin_find(e->callee->text, &fewest, &most)) >=
	           0) {
		e->ref = REF_BUILTIN;
		e->op = (uint8_t)builtin;
		check_argument_count(c, e, fewest, most);
	} else {
		scope_unknown_callee(c, e);
	}
}

static void check_call(struct checker *c, struct expr *e)
{
	check_callee(c, e);
	/* A range is better counted than spelt out as a constant. */
	e->constant = e->ref == REF_BUILTIN && e->op != BUILTIN_RANGE;
	for (uint32_t i = 0; i < e->argument_count; i++) {
		check_expr(c, e->arguments[i]);
		e->constant &= e->arguments[i]->constant;
	}
}

static void check_loop(struct checker *c, struct expr *e)
{
	check_expr(c, e->collection);
	scope_enter(c);
	c->loops++;
	scope_declare(c, e->variable);
	check_expr(c, e->body);
	assert(c->loops > 0);
	c->loops--;
	scope_leave(c);
}

static void check_part(void *context, struct expr *part)
{
	check_expr(context, part);
}

static void and_constant(void *context, struct expr *part)
{
	bool *constant = context;
	*constant &= part->constant;
}

/* Operators and constructors: constant if all their parts are. */
static void check_parts(struct checker *c, struct expr *e)
{
	bool constant = true;
	expr_parts(e, check_part, c);
	expr_parts(e, and_constant, &constant);
	e->constant = constant;
}

static bool check_level_word(struct checker *c, const char *word,
                             struct place at)
{
	if (level_number(word) >= 0) return true;
	struct text why = { 0 };
	level_unknown(&why, word);
	scope_error(c, at, "%s", text_get(&why));
	text_free(&why);
	return false;
}

/* The level that a transaction has of its own. */
static void check_own_level(struct checker *c, const struct block *b)
{
	if (!b->level || !check_level_word(c, b->level->text, b->level_at))
		return;
	const char *problem = own_level_problem(b->level->text);
	if (problem) scope_error(c, b->level_at, "%s", problem);
}

/* An anonymous transaction in a session. */
static void check_transaction(struct checker *c, struct block *b,
                              struct place at)
{
	check_own_level(c, b);
	if (c->where == WHERE_SESSION) {
		c->where = WHERE_TRANSACTION;
		check_block(c, b);
		assert(c->where == WHERE_TRANSACTION);
		c->where = WHERE_SESSION;
		return;
	}
	scope_error(c, at, "a transaction cannot be within a transaction");
}

void check_expr(struct checker *c, struct expr *e)
{
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: e->constant = true; return;
	case EXPR_NAME: check_name(c, e); return;
	case EXPR_FIELD: check_field(c, e); return;
	case EXPR_INDEX: check_index(c, e); return;
	case EXPR_CALL: check_call(c, e); return;
	case EXPR_LOOP: check_loop(c, e); return;
	case EXPR_TXN:
		check_transaction(c, e->transaction, expr_place(e));
		return;
	case EXPR_UNARY:
	case EXPR_BINARY:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_TUPLE:
	case EXPR_LIST:
	case EXPR_SET:
	case EXPR_RECORD: check_parts(c, e); return;
	}
}

/* --- statements -------------------------------------------------------- */

static void check_target(struct checker *c, struct expr *e)
{
	struct expr *base = e;
	check_expr(c, e);
	while (base->kind == EXPR_FIELD ||
	       (base->kind == EXPR_INDEX && base->ref != REF_GLOBAL))
		base = base->kind == EXPR_FIELD ? base->base : base->indexed;
	if (e->ref == REF_GLOBAL && e->op != STRENGTH_PLAIN)
		scope_error(c, (struct place){ e->source, e->start },
		            "a write locks by itself; 'atomic x += ...' reads "
		            "and writes in one");
	if (e->ref == REF_GLOBAL && c->body && c->body->stale_ok)
		scope_error(c, expr_place(e),
		            "a transaction that is 'stale ok' only reads");
	if (e->ref == REF_LOCAL || e->ref == REF_GLOBAL) return;
	if (base->kind == EXPR_NAME && base->ref == REF_CONST)
		scope_error(c, expr_place(e), "'%s' is a constant",
		            base->name->text);
	else if ((e->kind == EXPR_FIELD || e->kind == EXPR_INDEX) &&
	         (base->ref == REF_LOCAL || base->ref == REF_GLOBAL))
		scope_error(c, expr_place(e),
		            "values are immutable: assign a new value to the "
		            "name, as in r = {...r, field: value}");
	else if (base->kind != EXPR_NAME)
		scope_error(c, expr_place(e), "this cannot be assigned to");
}

static void check_if(struct checker *c, struct stmt *s)
{
	for (uint32_t i = 0; i < s->arm_count; i++) {
		check_expr(c, s->arms[i].condition);
		check_block(c, s->arms[i].body);
	}
	if (s->orelse) check_block(c, s->orelse);
}

static void check_for(struct checker *c, struct stmt *s)
{
	check_expr(c, s->value);
	if (s->until) check_expr(c, s->until);
	scope_enter(c);
	scope_declare(c, s->local);
	check_block(c, s->body);
	scope_leave(c);
}

static void check_in_transaction(struct checker *c, const struct stmt *s,
                                 const char *word)
{
	if (c->where != WHERE_TRANSACTION)
		scope_error(c, s->at, "'%s' is used outside a transaction",
		            word);
}

/* ---- the order within a statement ---- */

/* The database reads what a statement does not lock from one moment, before it
 * locks anything. */
struct moments {
	struct checker *c;
	bool locked, told;
};

static void order_block(struct moments *m, const struct block *b);

static void order_expr(void *context, struct expr *e)
{
	struct moments *m = context;
	if (e->kind == EXPR_TXN) return;
	expr_parts(e, order_expr, m);
	if (e->ref != REF_GLOBAL ||
	    (e->kind != EXPR_NAME && e->kind != EXPR_INDEX))
		return;
	if (m->locked && e->op == STRENGTH_PLAIN && !m->told) {
		scope_error(m->c, expr_place(e),
		            "a statement reads what it does not lock before it "
		            "locks or writes anything");
		m->told = true;
	}
	m->locked |= e->op != STRENGTH_PLAIN;
}

static void order_update(struct moments *m, const struct stmt *s)
{
	bool global = s->target->ref == REF_GLOBAL;
	if (s->kind == STMT_ADD)
		order_expr(m, s->target);
	else if (global)
		expr_parts(s->target, order_expr, m);
	order_expr(m, s->value);
	m->locked |= global;
}

static void order_if(struct moments *m, const struct stmt *s)
{
	bool after = false;
	for (uint32_t i = 0; i < s->arm_count; i++) {
		order_expr(m, s->arms[i].condition);
		bool before = m->locked;
		order_block(m, s->arms[i].body);
		after |= m->locked;
		m->locked = before;
	}
	if (s->orelse) order_block(m, s->orelse);
	m->locked |= after;
}

static void order_statement(struct moments *m, const struct stmt *s)
{
	switch (s->kind) {
	case STMT_SET:
	case STMT_ADD:
	case STMT_ATOMIC: order_update(m, s); return;
	case STMT_IF: order_if(m, s); return;
	case STMT_FOR:
		order_expr(m, s->value);
		if (s->until) order_expr(m, s->until);
		/* Twice: what one round locks comes before the next one. */
		order_block(m, s->body);
		order_block(m, s->body);
		return;
	case STMT_STATEMENT: order_block(m, s->body); return;
	default:
		if (s->value) order_expr(m, s->value);
		return;
	}
}

static void order_block(struct moments *m, const struct block *b)
{
	for (const struct stmt *s = b->first; s; s = s->next)
		order_statement(m, s);
}

static void check_atomic(struct checker *c, struct stmt *s)
{
	check_target(c, s->target);
	check_expr(c, s->value);
	if (s->target->ref == REF_LOCAL)
		scope_error(c, expr_place(s->target),
		            "'atomic' is for an update of a global: '%s' is a "
		            "local",
		            s->target->name->text);
	if (!c->statement) order_statement(&(struct moments){ .c = c }, s);
}

static void check_grouped(struct checker *c, struct stmt *s)
{
	check_in_transaction(c, s, "statement");
	if (c->statement)
		scope_error(c, s->at,
		            "a statement cannot be within a statement");
	bool outer = c->statement;
	c->statement = true;
	check_block(c, s->body);
	c->statement = outer;
	if (!outer) order_block(&(struct moments){ .c = c }, s->body);
}

static void check_asserted(struct checker *c, struct expr *e)
{
	c->asserting = true;
	check_expr(c, e);
	c->asserting = false;
}

static void check_call_statement(struct checker *c, struct stmt *s)
{
	check_expr(c, s->value);
	if (s->value->ref == REF_FUNCTION || s->value->ref == REF_BUILTIN ||
	    s->value->kind == EXPR_LOOP)
		scope_error(c, s->at,
		            "this has no effect: a function only "
		            "computes a value");
}

static void check_statement(struct checker *c, struct stmt *s)
{
	switch (s->kind) {
	case STMT_LET:
		check_expr(c, s->value);
		scope_declare(c, s->local);
		return;
	case STMT_SET:
	case STMT_ADD:
		check_target(c, s->target);
		check_expr(c, s->value);
		return;
	case STMT_ATOMIC: check_atomic(c, s); return;
	case STMT_IF: check_if(c, s); return;
	case STMT_FOR: check_for(c, s); return;
	case STMT_ABORT: check_in_transaction(c, s, "abort"); return;
	case STMT_RETURN:
		check_in_transaction(c, s, "return");
		if (s->value) check_expr(c, s->value);
		return;
	case STMT_ASSERT: check_asserted(c, s->value); return;
	case STMT_ASSUME: check_expr(c, s->value); return;
	case STMT_SKIP: return;
	case STMT_CALL: check_call_statement(c, s); return;
	case STMT_TXN: check_transaction(c, s->body, s->at); return;
	case STMT_STATEMENT: check_grouped(c, s); return;
	}
}

static void check_block(struct checker *c, struct block *b)
{
	scope_enter(c);
	for (struct stmt *s = b->first; s; s = s->next) check_statement(c, s);
	scope_leave(c);
}

/* --- items ------------------------------------------------------------- */

/* Parameters and the outermost statements share a scope. */
static void check_body(struct checker *c, struct item *i, enum where where)
{
	assert(!c->level && !c->body);
	c->where = where;
	c->body = i->body;
	check_own_level(c, i->body);
	c->owner = i->kind == ITEM_TXN ? NULL : i;
	scope_enter(c);
	for (uint32_t n = 0; n < i->param_count; n++)
		scope_declare(c, i->params[n]);
	for (struct stmt *s = i->body->first; s; s = s->next)
		check_statement(c, s);
	scope_leave(c);
	assert(!c->level);
	c->body = NULL;
	c->owner = NULL;
}

/* One in C has no value here. */
static void check_fn(struct checker *c, struct item *i)
{
	assert(!c->pure && !c->level);
	c->where = WHERE_FUNCTION;
	c->pure = i;
	scope_enter(c);
	for (uint32_t n = 0; n < i->param_count; n++)
		scope_declare(c, i->params[n]);
	if (i->value) check_expr(c, i->value);
	scope_leave(c);
	assert(c->pure == i && !c->level);
	c->pure = NULL;
}

static void check_const(struct checker *c, struct item *i)
{
	assert(!c->pure);
	c->where = WHERE_CONSTANT;
	c->pure = i;
	check_expr(c, i->value);
	c->pure = NULL;
}

static void check_global(struct checker *c, struct item *i)
{
	c->where = WHERE_CONSTANT;
	for (uint32_t n = 0; n < i->index_count && i->indexes; n++)
		check_expr(c, i->indexes[n]);
	check_expr(c, i->value);
}

static void check_isolation(struct checker *c, struct item *i)
{
	check_level_word(c, i->name->text, i->at);
	if (c->isolation && c->isolation->name != i->name) {
		scope_error(c, i->at,
		            "another isolation level was given "
		            "before");
		source_note(c->all, c->isolation->at, "here");
	}
	c->isolation = i;
}

static void check_symmetric(struct checker *c, struct item *i)
{
	if (i->param_count < 2)
		scope_error(c, i->params[0]->at,
		            "a session is symmetric to "
		            "others: name two or more");
	for (uint32_t n = 0; n < i->param_count; n++) {
		struct place at = i->params[n]->at;
		const struct symbol *name = i->params[n]->name;
		struct item *session = name->session;
		if (!session) {
			scope_unknown_session(c, at, name->text);
		} else if (session->declared) {
			scope_error(c, at, "'%s' is declared symmetric twice",
			            name->text);
			source_note(c->all, session->declared->at,
			            "first "
			            "here");
		} else {
			session->declared = i;
		}
	}
}

/* Everything but top-level assertions, which need the sessions' locals. */
static void check_item(struct checker *c, struct item *i)
{
	switch (i->kind) {
	case ITEM_GLOBAL: check_global(c, i); return;
	case ITEM_CONST: check_const(c, i); return;
	case ITEM_FN:
	case ITEM_EXTERN: check_fn(c, i); return;
	case ITEM_TXN: check_body(c, i, WHERE_TRANSACTION); return;
	case ITEM_SESSION: check_body(c, i, WHERE_SESSION); return;
	case ITEM_FINALLY: check_body(c, i, WHERE_TRANSACTION); return;
	case ITEM_ISOLATION: check_isolation(c, i); return;
	case ITEM_SYMMETRIC: check_symmetric(c, i); return;
	case ITEM_ASSERT:
	case ITEM_IMPORT: return;
	}
}

static void check_assertion(struct checker *c, struct item *i)
{
	c->where = WHERE_ASSERTION;
	if (i->value) check_expr(c, i->value);
}

/* --- functions and constants in the order of their needs ---------------- */

static void too_deep(struct checker *c, struct place at)
{
	scope_error(c, at, "definitions build on each other deeper than %d",
	            LIMIT_NESTING);
}

static void order_pure(struct checker *c, struct item *i, unsigned depth)
{
	assert(i->visit == VISIT_NOT_YET && depth <= LIMIT_NESTING);
	i->visit = VISIT_NOW;
	for (struct need *n = i->needs; n; n = n->next) {
		struct item *on = n->item;
		if (on->visit == VISIT_NOW)
			scope_error(c, n->at,
			            "'%s' is defined by itself: recursion is "
			            "not allowed",
			            on->name->text);
		else if (on->visit == VISIT_NOT_YET && depth == LIMIT_NESTING)
			too_deep(c, n->at);
		else if (on->visit == VISIT_NOT_YET)
			order_pure(c, on, depth + 1);
		if (on->pure_depth >= i->pure_depth)
			i->pure_depth = on->pure_depth + 1;
	}
	if (i->pure_depth == LIMIT_NESTING + 1) too_deep(c, i->at);
	i->visit = VISIT_DONE;
	*c->syntax->last_pure = i;
	c->syntax->last_pure = &i->next_pure;
}

bool check(struct syntax *syntax, struct sources *all)
{
	struct checker c = { .syntax = syntax, .all = all };
	scope_declare_items(&c);
	for (struct item *i = syntax->first; i && !sources_full(all);
	     i = i->next)
		check_item(&c, i);
	for (struct item *i = syntax->first; i && !sources_full(all);
	     i = i->next)
		if (i->kind == ITEM_ASSERT) check_assertion(&c, i);
	for (struct item *i = syntax->first; i; i = i->next)
		if ((i->kind == ITEM_FN || i->kind == ITEM_CONST) &&
		    i->visit == VISIT_NOT_YET)
			order_pure(&c, i, 0);
	assert(!c.scope && !c.level);
	return !c.failed;
}
