/* The smallest expressions: literals, names, calls, what stands in brackets. */
#include "lang/parsing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lang/limits.h"
#include "lang/parser.h"

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

/* NAME | NAME "(" [ expression { "," expression } ] ")" | loop */
static struct expr *parse_name_or_call(struct parser *p)
{
	enum token_kind second = parser_peek_second(p);
	bool call = second == TOKEN_OPEN;
	int loop = call ? loop_of(p) : -1;
	if (loop >= 0) return parse_loop(p, loop);
	if ((second == TOKEN_NAME || second == TOKEN_TIMES) &&
	    parser_word_is(p, "SELECT")) {
		parser_fail_at_word(p, parser_statement_words(),
		                    "an expression");
		return parser_null_expr(p);
	}
	struct expr *e = parser_new_expr(p, call ? EXPR_CALL : EXPR_NAME,
	                                 parser_here(p));
	struct symbol *name = parse_name(p, "a name");
	if (!call) {
		e->name = name;
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
