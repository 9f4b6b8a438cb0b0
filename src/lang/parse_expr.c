/* Expressions: the nodes of the tree, and operators by their strength. */
#include "lang/parsing.h"

#include "lang/limits.h"
#include "vm/bytecode.h"

/* --- nodes ------------------------------------------------------------- */

struct expr *parser_new_expr(struct parser *p, enum expr_kind kind,
                             uint32_t start)
{
	struct expr *e = region_take0(p->syntax->region, sizeof *e);
	e->kind = (uint8_t)kind;
	e->source = (uint16_t)p->source;
	e->at = e->start = e->end = start;
	e->depth = 1;
	return e;
}

void parser_deepen(struct parser *p, struct expr *e, const struct expr *part)
{
	if (!part || part->depth < e->depth) return;
	e->depth = (uint16_t)(part->depth + 1);
	if (e->depth <= LIMIT_CHAIN) return;
	parser_fail(p, e->at, "more than %d operators within each other",
	            LIMIT_CHAIN);
	e->depth = LIMIT_CHAIN;
	parser_stop(p);
}

struct expr *parser_finish(struct parser *p, struct expr *e)
{
	e->end = parser_behind(p);
	return e;
}

struct expr *parser_null_expr(struct parser *p)
{
	struct expr *e = parser_new_expr(p, EXPR_VALUE, parser_here(p));
	e->value = value_null();
	return e;
}

/* --- operators --------------------------------------------------------- */

/* postfix := primary { "." NAME | "[" expression { "," expression } "]" } */
static struct expr *parse_postfix(struct parser *p)
{
	struct expr *e = parse_primary(p);
	while (!p->panic) {
		struct expr *outer;
		if (parser_peek(p) == TOKEN_DOT) {
			outer = parser_new_expr(p, EXPR_FIELD, e->start);
			parser_advance(p);
			outer->base = e;
			outer->at = parser_here(p);
			outer->field = parse_name(p, "a field's name");
		} else if (parser_peek(p) == TOKEN_OPEN_SQUARE) {
			outer = parser_new_expr(p, EXPR_INDEX, e->start);
			outer->at =
				e->kind == EXPR_NAME ? e->at : parser_here(p);
			parser_advance(p);
			outer->indexed = e;
			uint32_t count;
			outer->indexes =
				parse_items(p, outer, TOKEN_CLOSE_SQUARE,
			                    LIMIT_INDEXES, &count);
			outer->index_count = count;
		} else {
			break;
		}
		parser_deepen(p, outer, e);
		e = parser_finish(p, outer);
	}
	return e;
}

/* unary := { "!" | "-" } postfix */
static struct expr *parse_unary(struct parser *p)
{
	enum token_kind sign = parser_peek(p);
	if (sign != TOKEN_NOT && sign != TOKEN_MINUS) return parse_postfix(p);
	uint32_t start = parser_here(p);
	if (sign == TOKEN_MINUS && parser_peek_second(p) == TOKEN_INTEGER) {
		parser_advance(p);
		struct expr *number = parse_integer(p, true);
		number->at = number->start = start;
		return number;
	}
	struct expr *e = parser_new_expr(p, EXPR_UNARY, start);
	e->op = sign == TOKEN_NOT ? OP_NOT : OP_NEG;
	parser_advance(p);
	if (!parser_enter(p)) return parser_null_expr(p);
	e->left = parse_unary(p);
	parser_leave(p);
	parser_deepen(p, e, e->left);
	return parser_finish(p, e);
}

struct operator
{
	unsigned strength; /* 0: none */
	enum expr_kind kind;
	enum opcode op;
};

static struct operator operator_of(enum token_kind t)
{
	static const struct operator table[TOKEN_KIND_COUNT] = {
		[TOKEN_OR] = { 1, EXPR_OR, OP_BOOL },
		[TOKEN_AND] = { 2, EXPR_AND, OP_BOOL },
		[TOKEN_EQUAL] = { 3, EXPR_BINARY, OP_EQ },
		[TOKEN_UNEQUAL] = { 3, EXPR_BINARY, OP_NE },
		[TOKEN_LESS] = { 4, EXPR_BINARY, OP_LT },
		[TOKEN_LESS_EQUAL] = { 4, EXPR_BINARY, OP_LE },
		[TOKEN_GREATER] = { 4, EXPR_BINARY, OP_GT },
		[TOKEN_GREATER_EQUAL] = { 4, EXPR_BINARY, OP_GE },
		[TOKEN_IN] = { 4, EXPR_BINARY, OP_IN },
		[TOKEN_PLUS] = { 5, EXPR_BINARY, OP_ADD },
		[TOKEN_MINUS] = { 5, EXPR_BINARY, OP_SUB },
		[TOKEN_TIMES] = { 6, EXPR_BINARY, OP_MUL },
		[TOKEN_DIVIDE] = { 6, EXPR_BINARY, OP_DIV },
		[TOKEN_MODULO] = { 6, EXPR_BINARY, OP_MOD },
	};
	return table[t];
}

/* !a in s: seldom what was meant. */
static void warn_about_not(struct parser *p, const struct expr *left,
                           enum opcode op)
{
	if (op != OP_IN || left->kind != EXPR_UNARY || left->op != OP_NOT ||
	    p->text->text[left->start] != '!')
		return;
	source_warning(p->all, parser_place(p, left->start),
	               "'!' applies to the left side of 'in' only; "
	               "write !(... in ...)");
}

/* binary(s) := unary { OPERATOR binary(stronger than OPERATOR) }
 * with operators of strength s or more, loosest first:
 *     "||"   "&&"   "==" "!="   "<" "<=" ">" ">=" "in"   "+" "-"
 *     "*" "/" "%" */
static struct expr *parse_binary(struct parser *p, unsigned strength)
{
	struct expr *left = parse_unary(p);
	for (;;) {
		struct operator o = operator_of(parser_peek(p));
		if (p->panic || !o.strength || o.strength < strength)
			return left;
		struct expr *e = parser_new_expr(p, o.kind, left->start);
		e->op = (uint8_t)o.op;
		e->at = parser_here(p);
		warn_about_not(p, left, o.op);
		parser_advance(p);
		e->left = left;
		e->right = parse_binary(p, o.strength + 1);
		parser_deepen(p, e, left);
		parser_deepen(p, e, e->right);
		left = parser_finish(p, e);
	}
}

/* expression := binary(1) */
struct expr *parse_expression(struct parser *p)
{
	struct expr *e;
	if (parser_enter(p))
		e = parse_binary(p, 1);
	else
		e = parser_null_expr(p);
	parser_leave(p);
	return e;
}
