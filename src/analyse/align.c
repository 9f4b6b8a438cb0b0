#include "analyse/align.h"

#include <assert.h>

static bool align_expr(struct expr *a, struct expr *b, struct difference *d);
static bool align_block(struct block *a, struct block *b, struct difference *d);

/* Is it a constant, once compiled? */
static bool is_constant_expr(const struct expr *e)
{
	return e->kind == EXPR_VALUE ||
	       (e->kind == EXPR_NAME && e->ref == REF_CONST);
}

static bool differ(struct difference *d, struct place a, struct place b,
                   const char *what)
{
	*d = (struct difference){ a, b, what };
	return false;
}

static bool differ_here(struct difference *d, const struct expr *a,
                        const struct expr *b, const char *what)
{
	return differ(d, expr_place(a), expr_place(b), what);
}

static void declare(struct local *a, const struct local *b)
{
	a->twin = b;
}

static bool align_all(struct expr **a, uint32_t count, struct expr **b,
                      struct difference *d)
{
	for (uint32_t i = 0; i < count; i++)
		if (!align_expr(a[i], b[i], d)) return false;
	return true;
}

static bool align_name(struct expr *a, struct expr *b, struct difference *d)
{
	bool same = a->ref == REF_LOCAL ? a->local->twin == b->local
	                                : a->item->family == b->item->family;
	return same || differ_here(d, a, b, "use different variables");
}

static bool is_number(const struct expr *e)
{
	return e->kind == EXPR_VALUE && e->value.tag == VALUE_INT;
}

static bool align_index(struct expr *a, struct expr *b, struct difference *d)
{
	if (a->index_count != b->index_count ||
	    (a->ref == REF_GLOBAL && a->family->family != b->family->family))
		return differ_here(d, a, b, "use different keys");
	if (a->ref == REF_GLOBAL)
		return align_all(a->indexes, a->index_count, b->indexes, d);
	if (!align_expr(a->indexed, b->indexed, d)) return false;
	struct expr *x = a->indexes[0], *y = b->indexes[0];
	if ((is_number(x) || is_number(y)) &&
	    !(is_number(x) && is_number(y) && x->value.i == y->value.i))
		return differ_here(d, x, y, "take different items");
	return align_expr(x, y, d);
}

static bool align_record(struct expr *a, struct expr *b, struct difference *d)
{
	if (a->field_count != b->field_count)
		return differ_here(d, a, b, "make different records");
	for (uint32_t i = 0; i < a->field_count; i++) {
		if (a->fields[i].name != b->fields[i].name)
			return differ_here(d, a->fields[i].value,
			                   b->fields[i].value,
			                   "set different fields");
		if (!align_expr(a->fields[i].value, b->fields[i].value, d))
			return false;
	}
	return true;
}

static bool align_call(struct expr *a, struct expr *b, struct difference *d)
{
	bool same = a->argument_count == b->argument_count &&
	            (a->ref == REF_BUILTIN ? a->op == b->op
	                                   : a->callee_item == b->callee_item);
	if (!same) return differ_here(d, a, b, "make different calls");
	return align_all(a->arguments, a->argument_count, b->arguments, d);
}

static bool align_field(struct expr *a, struct expr *b, struct difference *d)
{
	if (a->field != b->field)
		return differ_here(d, a, b, "take different fields");
	return align_expr(a->base, b->base, d);
}

static bool align_loop(struct expr *a, struct expr *b, struct difference *d)
{
	if (!align_expr(a->collection, b->collection, d)) return false;
	declare(a->variable, b->variable);
	return align_expr(a->body, b->body, d);
}

static bool align_items(struct expr *a, struct expr *b, struct difference *d)
{
	if (a->count != b->count)
		return differ_here(d, a, b, "make different values");
	return align_all(a->items, a->count, b->items, d);
}

static bool align_parts(struct expr *a, struct expr *b, struct difference *d)
{
	switch ((enum expr_kind)a->kind) {
	case EXPR_VALUE: return true;
	case EXPR_NAME: return align_name(a, b, d);
	case EXPR_FIELD: return align_field(a, b, d);
	case EXPR_INDEX: return align_index(a, b, d);
	case EXPR_UNARY: return align_expr(a->left, b->left, d);
	case EXPR_BINARY:
	case EXPR_AND:
	case EXPR_OR:
		return align_expr(a->left, b->left, d) &&
		       align_expr(a->right, b->right, d);
	case EXPR_TUPLE:
	case EXPR_LIST:
	case EXPR_SET: return align_items(a, b, d);
	case EXPR_RECORD: return align_record(a, b, d);
	case EXPR_CALL: return align_call(a, b, d);
	case EXPR_LOOP: return align_loop(a, b, d);
	case EXPR_TXN: return align_block(a->transaction, b->transaction, d);
	}
	return true;
}

static bool align_expr(struct expr *a, struct expr *b, struct difference *d)
{
	bool constant = is_constant_expr(a);
	if (constant && is_constant_expr(b)) return true;
	if (constant != is_constant_expr(b) || a->kind != b->kind ||
	    a->ref != b->ref || (a->kind != EXPR_CALL && a->op != b->op))
		return differ_here(d, a, b, "differ");
	return align_parts(a, b, d);
}

static bool align_if(struct stmt *a, struct stmt *b, struct difference *d)
{
	if (a->arm_count != b->arm_count || !a->orelse != !b->orelse)
		return differ(d, a->at, b->at, "differ");
	for (uint32_t i = 0; i < a->arm_count; i++)
		if (!align_expr(a->arms[i].condition, b->arms[i].condition,
		                d) ||
		    !align_block(a->arms[i].body, b->arms[i].body, d))
			return false;
	return !a->orelse || align_block(a->orelse, b->orelse, d);
}

static bool align_statement(struct stmt *a, struct stmt *b,
                            struct difference *d)
{
	if (a->kind != b->kind || !a->target != !b->target ||
	    !a->value != !b->value || !a->until != !b->until)
		return differ(d, a->at, b->at, "differ");
	if (a->kind == STMT_IF) return align_if(a, b, d);
	if (a->target && !align_expr(a->target, b->target, d)) return false;
	if (a->value && !align_expr(a->value, b->value, d)) return false;
	if (a->until && !align_expr(a->until, b->until, d)) return false;
	if (a->local) declare(a->local, b->local);
	return !a->body || align_block(a->body, b->body, d);
}

static bool align_block(struct block *a, struct block *b, struct difference *d)
{
	struct stmt *x = a->first, *y = b->first;
	if (a->level != b->level) {
		struct place at = a->level ? a->level_at : b->level_at;
		return differ(d, at, at,
		              "run transactions at different levels");
	}
	for (; x && y; x = x->next, y = y->next)
		if (!align_statement(x, y, d)) return false;
	if (!x && !y) return true;
	struct stmt *more = x ? x : y;
	return differ(d, more->at, more->at, "are not equally long");
}

bool align_sessions(struct item *a, struct item *b, struct difference *d)
{
	assert(a != b);
	return align_block(a->body, b->body, d);
}
