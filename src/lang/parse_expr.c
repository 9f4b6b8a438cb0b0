/* Expressions: the nodes of the tree, and operators by their strength. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/access.h"
#include "base/memory.h"
#include "lang/limits.h"
#include "lang/parser.h"
#include "lang/parsing.h"
#include "vm/bytecode.h"

/* ==== literals, names, calls, what stands in brackets ==== */

/* --- names and literals ------------------------------------------------ */

/* NAME */
struct symbol *parse_name(struct parser *p, const char *what)
{
	if (parser_peek(p) == TOKEN_NAME) {
		const struct token *t = parser_token(p);
		struct symbol *y =
			symbol_find(&p->syntax->symbols,
		                    p->text->text + t->offset, t->length);
		parser_advance(p);
		return y;
	}
	if (token_is_keyword(parser_peek(p)))
		parser_fail(p, parser_here(p),
		            "expected %s, but %s is a word of the language",
		            what, token_name(parser_peek(p)));
	else
		parser_expected(p, what);
	return symbol_find(&p->syntax->symbols, "?", 1);
}

/* postgres-serializable without quotes: fails, and reads it all. */
static struct symbol *unquoted_level(struct parser *p)
{
	uint32_t from = parser_here(p), to = from;
	while (to < p->text->length &&
	       (isalnum((unsigned char)p->text->text[to]) ||
	        p->text->text[to] == '-'))
		to++;
	const char *name = p->text->text + from;
	parser_fail(p, from, "a name with '-' is in quotes: \"%.*s\"",
	            (int)(to - from), name);
	while (parser_peek(p) != TOKEN_END && parser_here(p) < to)
		parser_advance(p);
	return symbol_find(&p->syntax->symbols, name, to - from);
}

struct symbol *parse_level(struct parser *p)
{
	if (parser_peek(p) == TOKEN_NAME &&
	    parser_peek_second(p) == TOKEN_MINUS)
		return unquoted_level(p);
	if (parser_peek(p) != TOKEN_STRING)
		return parse_name(p, "a level's name");
	uint32_t length;
	const char *name = parse_string(p, &length);
	return symbol_find(&p->syntax->symbols, name, length);
}

struct local *parse_local(struct parser *p, const char *what)
{
	struct local *l = region_take0(p->syntax->region, sizeof *l);
	l->at = parser_place(p, parser_here(p));
	l->name = parse_name(p, what);
	return l;
}

const char *parse_string(struct parser *p, uint32_t *length)
{
	const struct token *t = parser_token(p);
	char *bytes = region_take(p->syntax->region, t->length + 1);
	*length = token_string(p->text, t, bytes);
	bytes[*length] = 0;
	parser_advance(p);
	return bytes;
}

/* INTEGER, the digits read as a negative number when a minus precedes */
struct expr *parse_integer(struct parser *p, bool negative)
{
	struct expr *e = parser_new_expr(p, EXPR_VALUE, parser_here(p));
	const struct token *t = parser_token(p);
	int64_t n = 0;
	bool overflow = false;
	for (uint32_t i = 0; i < t->length && !overflow; i++) {
		int digit = p->text->text[t->offset + i] - '0';
		overflow = __builtin_mul_overflow(n, 10, &n) ||
		           __builtin_sub_overflow(n, digit, &n);
	}
	if (!negative && !overflow)
		overflow = __builtin_sub_overflow((int64_t)0, n, &n);
	if (overflow)
		parser_fail(p, parser_here(p),
		            "the number is too large: the greatest is "
		            "9223372036854775807");
	e->value = value_int(overflow ? 0 : n);
	parser_advance(p);
	return parser_finish(p, e);
}

/* "null" | "true" | "false" | STRING */
static struct expr *parse_literal(struct parser *p)
{
	struct expr *e = parser_new_expr(p, EXPR_VALUE, parser_here(p));
	if (parser_peek(p) == TOKEN_STRING) {
		uint32_t length;
		const char *s = parse_string(p, &length);
		e->value = value_string(p->syntax->region, s, length);
		return parser_finish(p, e);
	}
	e->value = parser_peek(p) == TOKEN_NULL
	                   ? value_null()
	                   : value_bool(parser_peek(p) == TOKEN_TRUE);
	parser_advance(p);
	return parser_finish(p, e);
}

/* --- brackets ---------------------------------------------------------- */

static void push(struct parser *p, struct expr *e)
{
	VEC_RESERVE(p->stack, p->stack_count, p->stack_capacity);
	p->stack[p->stack_count++] = e;
}

/* [ expression { "," expression } [","] ] up to the closing token */
struct expr **parse_items(struct parser *p, struct expr *of,
                          enum token_kind close, uint32_t most, uint32_t *count)
{
	size_t base = p->stack_count;
	while (!p->panic && parser_peek(p) != close) {
		push(p, parse_expression(p));
		parser_deepen(p, of, p->stack[p->stack_count - 1]);
		if (p->stack_count - base > most)
			parser_fail(p, parser_here(p), "more than %u items",
			            most);
		if (!parser_accept(p, TOKEN_COMMA)) break;
	}
	parser_expect(p, close);
	*count = (uint32_t)(p->stack_count - base);
	size_t size = *count * sizeof *p->stack;
	struct expr **items = region_take(p->syntax->region, size);
	if (size) memcpy(items, p->stack + base, size);
	p->stack_count = base;
	return items;
}

/* "(" expression ")" | "(" [ expression "," [ expression ... ] ] ")" */
static struct expr *parse_parentheses(struct parser *p)
{
	struct expr *e = parser_new_expr(p, EXPR_TUPLE, parser_here(p));
	parser_advance(p);
	uint32_t count;
	struct expr **items =
		parse_items(p, e, TOKEN_CLOSE, LIMIT_ITEMS, &count);
	if (count == 1 && p->at >= 2 &&
	    p->tokens.items[p->at - 2].kind != TOKEN_COMMA) {
		items[0]->start = e->start;
		return parser_finish(p, items[0]);
	}
	e->items = items;
	e->count = count;
	return parser_finish(p, e);
}

/* "[" [ expression { "," expression } ] "]" */
static struct expr *parse_list(struct parser *p)
{
	struct expr *e = parser_new_expr(p, EXPR_LIST, parser_here(p));
	parser_advance(p);
	uint32_t count;
	e->items = parse_items(p, e, TOKEN_CLOSE_SQUARE, LIMIT_ITEMS, &count);
	e->count = count;
	return parser_finish(p, e);
}

static bool has_field(const struct field *fields, uint32_t count,
                      const struct symbol *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (fields[i].name == name) return true;
	return false;
}

/* NAME ":" expression | "..." expression; `before` are the record's fields so
 * far. */
static struct field parse_field(struct parser *p, struct expr *of,
                                const struct field *before, uint32_t count)
{
	uint32_t start = parser_here(p);
	struct field f = { 0 };
	if (!parser_accept(p, TOKEN_ELLIPSIS)) {
		f.name = parse_name(p, "a field's name");
		if (f.name && has_field(before, count, f.name))
			parser_fail(p, start,
			            "the record has this field already");
		parser_expect(p, TOKEN_COLON);
	}
	f.value = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_deepen(p, of, f.value);
	return f;
}

/* "{" field { "," field } [","] "}" */
static struct expr *parse_record(struct parser *p, uint32_t start)
{
	struct expr *e = parser_new_expr(p, EXPR_RECORD, start);
	struct field *fields = NULL;
	uint32_t count = 0, capacity = 0;
	while (!p->panic && parser_peek(p) != TOKEN_CLOSE_BRACE) {
		VEC_RESERVE(fields, count, capacity);
		struct field f = parse_field(p, e, fields, count);
		fields[count++] = f;
		if (count > LIMIT_ITEMS)
			parser_fail(p, parser_here(p), "more than %d fields",
			            LIMIT_ITEMS);
		if (!parser_accept(p, TOKEN_COMMA)) break;
	}
	parser_expect(p, TOKEN_CLOSE_BRACE);
	size_t size = count * sizeof *fields;
	e->fields = region_take(p->syntax->region, size);
	if (size) memcpy(e->fields, fields, size);
	e->field_count = count;
	free(fields);
	return parser_finish(p, e);
}

/* "{" "}" | "{" expression { "," expression } "}" | record */
static struct expr *parse_braces(struct parser *p)
{
	uint32_t start = parser_here(p), count;
	struct expr *e;
	parser_advance(p);
	p->literals++;
	if (parser_peek(p) == TOKEN_ELLIPSIS ||
	    (parser_peek(p) == TOKEN_NAME &&
	     parser_peek_second(p) == TOKEN_COLON)) {
		e = parse_record(p, start);
	} else {
		e = parser_new_expr(p, EXPR_SET, start);
		e->items = parse_items(p, e, TOKEN_CLOSE_BRACE, LIMIT_ITEMS,
		                       &count);
		e->count = count;
	}
	if (!p->panic) p->literals--;
	return parser_finish(p, e);
}

/* --- calls and loops --------------------------------------------------- */

static int loop_of(const struct parser *p)
{
	static const char *const words[] = { "filter", "map", "exists",
		                             "forall" };
	for (int i = 0; i < 4; i++)
		if (parser_word_is(p, words[i])) return i;
	return -1;
}

/* ("filter" | "map" | "exists" | "forall")
 *     "(" NAME "in" expression ":" expression ")" */
static struct expr *parse_loop(struct parser *p, int kind)
{
	struct expr *e = parser_new_expr(p, EXPR_LOOP, parser_here(p));
	e->op = (uint8_t)kind;
	parser_advance(p);
	parser_advance(p);
	e->variable = parse_local(p, "the name of a variable");
	parser_expect(p, TOKEN_IN);
	e->collection = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_expect(p, TOKEN_COLON);
	e->body = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_deepen(p, e, e->collection);
	parser_deepen(p, e, e->body);
	parser_expect(p, TOKEN_CLOSE);
	return parser_finish(p, e);
}

/* The word before a key that is read and locked; it is taken. Not a name: what
 * follows tells. */
static enum strength parse_lock(struct parser *p)
{
	bool shared = parser_word_is(p, "shared");
	if (parser_peek_second(p) != TOKEN_NAME ||
	    (!shared && !parser_word_is(p, "locked")))
		return STRENGTH_PLAIN;
	parser_advance(p);
	return shared ? STRENGTH_SHARE : STRENGTH_UPDATE;
}

/* [ "locked" | "shared" ] NAME
 *     | NAME "(" [ expression { "," expression } ] ")" | loop */
static struct expr *parse_name_or_call(struct parser *p)
{
	uint32_t start = parser_here(p);
	enum strength strength = parse_lock(p);
	enum token_kind second = parser_peek_second(p);
	bool call = second == TOKEN_OPEN;
	int loop = call ? loop_of(p) : -1;
	if (call && strength != STRENGTH_PLAIN)
		parser_fail(p, start,
		            "only the read of a global can lock, not a call");
	if (loop >= 0) return parse_loop(p, loop);
	if ((second == TOKEN_NAME || second == TOKEN_TIMES) &&
	    parser_word_is(p, "SELECT")) {
		parser_fail_at_word(p, parser_statement_words(),
		                    "an expression");
		return parser_null_expr(p);
	}
	struct expr *e =
		parser_new_expr(p, call ? EXPR_CALL : EXPR_NAME, start);
	e->at = parser_here(p);
	struct symbol *name = parse_name(p, "a name");
	if (!call) {
		e->name = name;
		e->op = (uint8_t)strength;
		return parser_finish(p, e);
	}
	parser_advance(p);
	e->callee = name;
	uint32_t count;
	e->arguments = parse_items(p, e, TOKEN_CLOSE, LIMIT_PARAMS, &count);
	e->argument_count = count;
	return parser_finish(p, e);
}

/* primary := literal | INTEGER | NAME | call | loop | parentheses | list
 *          | braces | "finally" (only before a field) */
struct expr *parse_primary(struct parser *p)
{
	switch (parser_peek(p)) {
	case TOKEN_NULL:
	case TOKEN_TRUE:
	case TOKEN_FALSE:
	case TOKEN_STRING: return parse_literal(p);
	case TOKEN_INTEGER: return parse_integer(p, false);
	case TOKEN_NAME: return parse_name_or_call(p);
	case TOKEN_OPEN: return parse_parentheses(p);
	case TOKEN_OPEN_SQUARE: return parse_list(p);
	case TOKEN_OPEN_BRACE: return parse_braces(p);
	default: break;
	}
	if (parser_peek(p) == TOKEN_FINALLY &&
	    parser_peek_second(p) == TOKEN_DOT) {
		struct expr *e = parser_new_expr(p, EXPR_NAME, parser_here(p));
		e->name = symbol_find(&p->syntax->symbols, "finally", 7);
		parser_advance(p);
		return parser_finish(p, e);
	}
	parser_expected(p, "an expression");
	return parser_null_expr(p);
}

/* ==== operators ==== */

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
