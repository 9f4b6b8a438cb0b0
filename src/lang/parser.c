/* The parser's entry, and items. */
#include "lang/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lang/limits.h"
#include "lang/parsing.h"
#include "vm/guest.h"

/* ":" ("int" | "string") */
static enum foreign_type parse_type(struct parser *p, const char *after)
{
	enum foreign_type type = FOREIGN_INT;
	if (p->panic) return type;
	if (!parser_accept(p, TOKEN_COLON)) {
		parser_fail(p, parser_here(p),
		            "expected ': int' or ': string' after %s, "
		            "found %s",
		            after, parser_found(p));
		return type;
	}
	if (parser_word_is(p, "string"))
		type = FOREIGN_STRING;
	else if (!parser_word_is(p, "int"))
		parser_expected(p, "a type, 'int' or 'string'");
	parser_advance(p);
	return type;
}

/* "(" [ param { "," param } ] ")"
 * with a type behind each parameter of a function in C */
static void parse_params(struct parser *p, struct item *i)
{
	uint32_t capacity = 0;
	struct local **params = NULL;
	bool typed = i->kind == ITEM_EXTERN;
	uint32_t most = typed ? LIMIT_EXTERN_PARAMS : LIMIT_PARAMS;
	if (typed) i->param_types = region_take(p->syntax->region, most);
	parser_expect(p, TOKEN_OPEN);
	while (!p->panic && parser_peek(p) != TOKEN_CLOSE) {
		uint32_t n = i->param_count;
		if (n == most) {
			parser_fail(p, parser_here(p),
			            "more than %u parameters", most);
			break;
		}
		VEC_RESERVE(params, n, capacity);
		params[i->param_count++] = parse_local(p, "a parameter");
		if (typed)
			i->param_types[n] =
				(uint8_t)parse_type(p, "the parameter");
		if (!parser_accept(p, TOKEN_COMMA)) break;
	}
	parser_expect(p, TOKEN_CLOSE);
	size_t size = i->param_count * sizeof *params;
	i->params = region_take(p->syntax->region, size);
	if (size) memcpy(i->params, params, size);
	free(params);
}

/* NAME [ "[" ("*" | expression { "," expression }) "]" ] "=" expression ";" */
static void parse_global(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a global's name");
	if (parser_accept(p, TOKEN_OPEN_SQUARE)) {
		struct expr outer = { 0 };
		i->keyed = true;
		i->star = parser_accept(p, TOKEN_TIMES);
		if (i->star)
			parser_expect(p, TOKEN_CLOSE_SQUARE);
		else
			i->indexes =
				parse_items(p, &outer, TOKEN_CLOSE_SQUARE,
			                    LIMIT_INDEXES, &i->index_count);
		if (!i->star && !i->index_count)
			parser_fail(p, parser_behind(p),
			            "a key needs an index value");
	}
	parser_expect(p, TOKEN_SET);
	i->value = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* NAME "=" expression ";" */
static void parse_const(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a constant's name");
	parser_expect(p, TOKEN_SET);
	i->value = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* NAME params "=" expression ";" */
static void parse_fn(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a function's name");
	parse_params(p, i);
	if (!p->panic && parser_peek(p) == TOKEN_OPEN_BRACE)
		parser_fail(p, parser_here(p),
		            "a function is one expression: "
		            "fn NAME(PARAMS) = EXPR;");
	parser_expect(p, TOKEN_SET);
	i->value = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* NAME params ":" type "from" STRING ";" */
static void parse_extern(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a function's name");
	parse_params(p, i);
	i->result_type = (uint8_t)parse_type(p, "the parameters");
	if (p->panic) return;
	if (parser_word_is(p, "from"))
		parser_advance(p);
	else
		parser_expected(p, "'from' and the library");
	uint32_t at = parser_here(p), length = 0;
	if (!p->panic && parser_peek(p) == TOKEN_STRING) {
		i->message = parse_string(p, &length);
		if (!length) parser_fail(p, at, "which library?");
	} else {
		parser_expected(p, "the library's name in double quotes");
	}
	parser_expect(p, TOKEN_SEMICOLON);
}

/* NAME params transaction */
static void parse_txn(struct parser *p, struct item *i)
{
	if (parser_peek(p) == TOKEN_OPEN_BRACE) {
		parser_fail(p, parser_here(p),
		            "an anonymous transaction belongs in a session; "
		            "here it needs a name");
		return;
	}
	i->name = parse_name(p, "a transaction's name");
	parse_params(p, i);
	i->body = parse_transaction(p, true);
}

/* "serializable" ";" | assertion */
static void parse_top_assertion(struct parser *p, struct item *i)
{
	if (parser_word_is(p, "serializable") &&
	    parser_peek_second(p) == TOKEN_SEMICOLON) {
		parser_advance(p);
		parser_advance(p);
		return;
	}
	i->value = parse_assertion(p, &i->message);
}

/* STRING ";" */
static void parse_import(struct parser *p, struct item *i)
{
	i->at = parser_place(p, parser_here(p));
	if (parser_peek(p) == TOKEN_STRING) {
		uint32_t length;
		i->message = parse_string(p, &length);
		if (!length) parser_fail(p, i->at.offset, "which file?");
	} else {
		parser_expected(p, "the file's name in double quotes");
	}
	parser_expect(p, TOKEN_SEMICOLON);
}

/* NAME { "," NAME } ";" */
static void parse_symmetric(struct parser *p, struct item *i)
{
	uint32_t capacity = 0;
	struct local **names = NULL;
	do {
		VEC_RESERVE(names, i->param_count, capacity);
		names[i->param_count++] = parse_local(p, "a session's name");
	} while (!p->panic && i->param_count <= LIMIT_SESSIONS &&
	         parser_accept(p, TOKEN_COMMA));
	parser_expect(p, TOKEN_SEMICOLON);
	size_t size = i->param_count * sizeof *names;
	i->params = region_take(p->syntax->region, size);
	memcpy(i->params, names, size);
	free(names);
}

/* item := "global" global | "const" const | "fn" fn | "txn" txn
 *       | "session" NAME block | "finally" transaction | "assert" assertion
 *       | "isolation" level ";" | "import" STRING ";"
 *       | "extern" "fn" extern | "symmetric" symmetric
 * `kind` is the first word; "extern" and "symmetric" are also names. */
static void parse_item_into(struct parser *p, struct item *i,
                            enum token_kind kind)
{
	switch (kind) {
	case TOKEN_GLOBAL:
		i->kind = ITEM_GLOBAL;
		parse_global(p, i);
		return;
	case TOKEN_CONST:
		i->kind = ITEM_CONST;
		parse_const(p, i);
		return;
	case TOKEN_FN:
		i->kind = ITEM_FN;
		parse_fn(p, i);
		return;
	case TOKEN_TXN:
		i->kind = ITEM_TXN;
		parse_txn(p, i);
		return;
	case TOKEN_SESSION:
		i->kind = ITEM_SESSION;
		i->name = parse_name(p, "a session's name");
		i->body = parse_block(p);
		return;
	case TOKEN_FINALLY:
		i->kind = ITEM_FINALLY;
		i->name = symbol_find(&p->syntax->symbols, "finally", 7);
		i->body = parse_transaction(p, false);
		return;
	case TOKEN_ASSERT:
		i->kind = ITEM_ASSERT;
		parse_top_assertion(p, i);
		return;
	case TOKEN_ISOLATION:
		i->kind = ITEM_ISOLATION;
		i->at = parser_place(p, parser_here(p));
		i->name = parse_level(p);
		parser_expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_NAME:
		if (i->kind == ITEM_SYMMETRIC)
			parse_symmetric(p, i);
		else
			parse_extern(p, i);
		return;
	default: i->kind = ITEM_IMPORT; parse_import(p, i);
	}
}

static void parse_item(struct parser *p)
{
	enum token_kind kind = parser_peek(p);
	struct item *i = region_take0(p->syntax->region, sizeof *i);
	i->at = parser_place(p, parser_here(p));
	i->last_local = &i->locals;
	bool is_extern = parser_word_is(p, "extern");
	bool is_symmetric = parser_word_is(p, "symmetric") &&
	                    parser_peek_second(p) == TOKEN_NAME;
	if (kind != TOKEN_ASSERT && !is_extern && !is_symmetric &&
	    (kind < TOKEN_GLOBAL || kind > TOKEN_ISOLATION)) {
		parser_fail_at_word(p, parser_item_words(), "a declaration");
		return;
	}
	parser_advance(p);
	if (is_extern && !parser_expect(p, TOKEN_FN)) return;
	if (kind == TOKEN_NAME)
		i->kind = is_extern ? ITEM_EXTERN : ITEM_SYMMETRIC;
	if (parser_peek(p) == TOKEN_NAME && !is_symmetric)
		i->at = parser_place(p, parser_here(p));
	if (kind == TOKEN_ASSERT) i->at = parser_place(p, parser_behind(p) - 6);
	parse_item_into(p, i, kind);
	if (p->panic) return;
	*p->syntax->last = i;
	p->syntax->last = &i->next;
}

/* program := { item } */
static void parse_program(struct parser *p)
{
	while (parser_peek(p) != TOKEN_END && !sources_full(p->all)) {
		size_t before = p->at;
		parse_item(p);
		if (!p->panic) continue;
		if (p->at == before) parser_advance(p);
		parser_synchronize(p);
		while (parser_peek(p) != TOKEN_END && !parser_begins_item(p) &&
		       parser_peek(p) != TOKEN_ASSERT &&
		       parser_peek(p) != TOKEN_NAME)
			parser_advance(p);
	}
}

bool parse(struct syntax *syntax, struct sources *all, uint32_t source)
{
	struct source text = all->items[source];
	struct parser p = {
		.syntax = syntax, .all = all, .source = source, .text = &text
	};
	/* What is no token would be followed by errors that say nothing. */
	p.failed = !lex(all, source, false, &p.tokens);
	if (!p.failed) parse_program(&p);
	free(p.tokens.items);
	free(p.stack);
	return !p.failed;
}
