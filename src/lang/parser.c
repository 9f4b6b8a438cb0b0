/* Recursive descent; each function begins with the production that it parses.
 * Longer than most files, since the grammar is one thing. */
#include "lang/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lang/lexer.h"
#include "lang/limits.h"
#include "native/worker.h"
#include "vm/bytecode.h"

struct parser {
	struct syntax *syntax;
	struct sources *all;
	uint32_t source;
	const struct source *text;
	struct tokens tokens;
	size_t at;
	bool panic;  /* an error was reported; silent until synchronized */
	bool failed;
	bool stopped; /* a limit was exceeded: nothing more is parsed */
	unsigned nesting;
	unsigned literals; /* braces of sets and records around */
	struct expr **stack; /* items of the lists being parsed */
	size_t stack_count, stack_capacity;
};

static struct expr *parse_expression(struct parser *p);
static struct block *parse_block(struct parser *p);

/* --- tokens ------------------------------------------------------------ */

static enum token_kind peek(const struct parser *p)
{
	return p->tokens.items[p->at].kind;
}

static enum token_kind peek_second(const struct parser *p)
{
	return peek(p) == TOKEN_END ? TOKEN_END
	                            : p->tokens.items[p->at + 1].kind;
}

static const struct token *token(const struct parser *p)
{
	return &p->tokens.items[p->at];
}

static uint32_t here(const struct parser *p)
{
	return token(p)->offset;
}

/* The end of the token before this one. */
static uint32_t behind(const struct parser *p)
{
	if (!p->at) return 0;
	const struct token *t = &p->tokens.items[p->at - 1];
	return t->offset + t->length;
}

static void advance(struct parser *p)
{
	if (peek(p) != TOKEN_END) p->at++;
}

static bool accept(struct parser *p, enum token_kind kind)
{
	if (peek(p) != kind) return false;
	advance(p);
	return true;
}

static struct place place(const struct parser *p, uint32_t offset)
{
	return (struct place){ p->source, offset };
}

static bool word_is(const struct parser *p, const char *word)
{
	const struct token *t = token(p);
	return t->kind == TOKEN_NAME && t->length == strlen(word) &&
	       !memcmp(p->text->text + t->offset, word, t->length);
}

/* --- errors ------------------------------------------------------------ */

static void fail(struct parser *p, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(struct parser *p, uint32_t offset, const char *format, ...)
{
	p->failed = true;
	if (p->panic || p->stopped) return;
	p->panic = true;
	va_list args;
	va_start(args, format);
	source_verror(p->all, place(p, offset), format, args);
	va_end(args);
}

static const char *copy_word(struct parser *p)
{
	const struct token *t = token(p);
	return region_copy_string(p->syntax->region, p->text->text + t->offset,
	                          t->length);
}

/* What stands here, for messages. */
static const char *found(struct parser *p)
{
	if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_INTEGER)
		return token_name(peek(p));
	struct text t = { 0 };
	text_format(&t, "'%s'", copy_word(p));
	const char *s =
	    region_copy_string(p->syntax->region, text_get(&t), t.length);
	text_free(&t);
	return s;
}

static void expected(struct parser *p, const char *what)
{
	fail(p, here(p), "expected %s, found %s", what, found(p));
}

static bool expect(struct parser *p, enum token_kind kind)
{
	if (p->panic) return false;
	if (accept(p, kind)) return true;
	if (kind == TOKEN_SEMICOLON && p->at)
		fail(p, behind(p), "expected ';' before %s", found(p));
	else
		expected(p, token_name(kind));
	return false;
}

static const char *const item_words[] = {
	"global", "const", "fn", "extern", "txn", "session", "finally",
	"assert", "isolation", "import", "symmetric", NULL
};
static const char *const statement_words[] = {
	"let", "if", "else", "for", "abort", "return", "assert", "assume",
	"skip", "txn", NULL
};

const char *const *parser_item_words(void)
{
	return item_words;
}

const char *const *parser_statement_words(void)
{
	return statement_words;
}

static const char *nearest_word(struct parser *p, const char *const *words)
{
	size_t count = 0;
	while (words[count]) count++;
	return diag_nearest(copy_word(p), words, count);
}

/* Two names in a row, or a name where no name can be: a misspelt keyword, or
 * SQL. */
static void fail_at_word(struct parser *p, const char *const *words,
                         const char *what)
{
	static const char *const tables[] = { "SELECT", "INSERT", "UPDATE",
		                              "DELETE", "table", "option" };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		if (!word_is(p, tables[i])) continue;
		fail(p, here(p), "tables are not supported: no '%s'",
		     tables[i]);
		return;
	}
	const char *nearest =
	    peek(p) == TOKEN_NAME ? nearest_word(p, words) : NULL;
	if (nearest)
		fail(p, here(p), "expected %s, found %s; did you mean '%s'?",
		     what, found(p), nearest);
	else
		expected(p, what);
}

/* Both words of an item's beginning: one alone may be an error elsewhere. */
static bool begins_item(const struct parser *p)
{
	enum token_kind second = peek_second(p);
	switch (peek(p)) {
	case TOKEN_GLOBAL:
	case TOKEN_CONST:
	case TOKEN_FN:
	case TOKEN_SESSION:
	case TOKEN_ISOLATION:
	case TOKEN_TXN:
		return second == TOKEN_NAME;
	case TOKEN_FINALLY: return second == TOKEN_OPEN_BRACE;
	case TOKEN_IMPORT: return second == TOKEN_STRING;
	case TOKEN_NAME:
		return (second == TOKEN_FN && word_is(p, "extern")) ||
		       (second == TOKEN_NAME && word_is(p, "symmetric"));
	default: return false;
	}
}

static bool begins_statement(const struct parser *p)
{
	switch (peek(p)) {
	case TOKEN_LET:
	case TOKEN_IF:
	case TOKEN_FOR:
	case TOKEN_ABORT:
	case TOKEN_RETURN:
	case TOKEN_ASSERT:
	case TOKEN_ASSUME:
	case TOKEN_SKIP:
	case TOKEN_TXN:
		return true;
	default:
		return false;
	}
}

/* After an error: skips to where a statement or an item can begin. */
static void synchronize(struct parser *p)
{
	unsigned depth = 0;
	/* Sets and records that the error is in; but at a semicolon the error
	 * probably is that one was not closed. */
	unsigned literals = peek(p) == TOKEN_SEMICOLON ? 0 : p->literals;
	p->literals = 0;
	p->panic = false;
	while (peek(p) != TOKEN_END && !begins_item(p)) {
		if (!depth && literals && accept(p, TOKEN_CLOSE_BRACE)) {
			literals--;
			continue;
		}
		if (!depth && (begins_statement(p) ||
		               peek(p) == TOKEN_CLOSE_BRACE))
			return;
		if (accept(p, TOKEN_OPEN_BRACE)) {
			depth++;
		} else if (accept(p, TOKEN_CLOSE_BRACE)) {
			if (!--depth) return;
		} else if (accept(p, TOKEN_SEMICOLON)) {
			if (!depth) return;
		} else {
			advance(p);
		}
	}
}

/* After this, all that follows would be one error after the other. */
static void stop(struct parser *p)
{
	p->stopped = p->panic = true;
	p->at = p->tokens.count - 1;
}

static bool enter(struct parser *p)
{
	if (++p->nesting <= LIMIT_NESTING) return true;
	fail(p, here(p), "nested deeper than %d", LIMIT_NESTING);
	stop(p);
	return false;
}

static void leave(struct parser *p)
{
	p->nesting--;
}

/* --- expressions ------------------------------------------------------- */

static struct expr *new_expr(struct parser *p, enum expr_kind kind,
                             uint32_t start)
{
	struct expr *e = region_take0(p->syntax->region, sizeof *e);
	e->kind = (uint8_t)kind;
	e->source = (uint16_t)p->source;
	e->at = e->start = e->end = start;
	e->depth = 1;
	return e;
}

static void deepen(struct parser *p, struct expr *e, const struct expr *part)
{
	if (!part || part->depth < e->depth) return;
	e->depth = (uint16_t)(part->depth + 1);
	if (e->depth <= LIMIT_CHAIN) return;
	fail(p, e->at, "more than %d operators within each other", LIMIT_CHAIN);
	e->depth = LIMIT_CHAIN;
	stop(p);
}

static struct expr *finish(struct parser *p, struct expr *e)
{
	e->end = behind(p);
	return e;
}

static struct expr *null_expr(struct parser *p)
{
	struct expr *e = new_expr(p, EXPR_VALUE, here(p));
	e->value = value_null();
	return e;
}

/* NAME */
static struct symbol *parse_name(struct parser *p, const char *what)
{
	if (peek(p) == TOKEN_NAME) {
		const struct token *t = token(p);
		struct symbol *y =
		    symbol_find(&p->syntax->symbols, p->text->text + t->offset,
		                t->length);
		advance(p);
		return y;
	}
	if (token_is_keyword(peek(p)))
		fail(p, here(p), "expected %s, but %s is a word of the "
		     "language", what, token_name(peek(p)));
	else
		expected(p, what);
	return symbol_find(&p->syntax->symbols, "?", 1);
}

static struct local *parse_local(struct parser *p, const char *what)
{
	struct local *l = region_take0(p->syntax->region, sizeof *l);
	l->at = place(p, here(p));
	l->name = parse_name(p, what);
	return l;
}

/* A string token's value, in the region. */
static const char *parse_string(struct parser *p, uint32_t *length)
{
	char *bytes = region_take(p->syntax->region, token(p)->length + 1);
	*length = token_string(p->text, token(p), bytes);
	bytes[*length] = 0;
	advance(p);
	return bytes;
}

/* INTEGER, the digits read as a negative number when a minus precedes */
static struct expr *parse_integer(struct parser *p, bool negative)
{
	struct expr *e = new_expr(p, EXPR_VALUE, here(p));
	const struct token *t = token(p);
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
		fail(p, here(p), "the number is too large: the greatest is "
		                 "9223372036854775807");
	e->value = value_int(overflow ? 0 : n);
	advance(p);
	return finish(p, e);
}

static void push(struct parser *p, struct expr *e)
{
	VEC_RESERVE(p->stack, p->stack_count, p->stack_capacity);
	p->stack[p->stack_count++] = e;
}

/* [ expression { "," expression } [","] ] up to the closing token */
static struct expr **parse_items(struct parser *p, struct expr *of,
                                 enum token_kind close, uint32_t most,
                                 uint32_t *count)
{
	size_t base = p->stack_count;
	while (!p->panic && peek(p) != close) {
		push(p, parse_expression(p));
		deepen(p, of, p->stack[p->stack_count - 1]);
		if (p->stack_count - base > most)
			fail(p, here(p), "more than %u items", most);
		if (!accept(p, TOKEN_COMMA)) break;
	}
	expect(p, close);
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
	struct expr *e = new_expr(p, EXPR_TUPLE, here(p));
	advance(p);
	uint32_t count;
	struct expr **items =
	    parse_items(p, e, TOKEN_CLOSE, LIMIT_ITEMS, &count);
	if (count == 1 && p->at >= 2 &&
	    p->tokens.items[p->at - 2].kind != TOKEN_COMMA) {
		items[0]->start = e->start;
		return finish(p, items[0]);
	}
	e->items = items;
	e->count = count;
	return finish(p, e);
}

/* "[" [ expression { "," expression } ] "]" */
static struct expr *parse_list(struct parser *p)
{
	struct expr *e = new_expr(p, EXPR_LIST, here(p));
	advance(p);
	uint32_t count;
	e->items = parse_items(p, e, TOKEN_CLOSE_SQUARE, LIMIT_ITEMS, &count);
	e->count = count;
	return finish(p, e);
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
	uint32_t start = here(p);
	struct field f = { 0 };
	if (!accept(p, TOKEN_ELLIPSIS)) {
		f.name = parse_name(p, "a field's name");
		if (f.name && has_field(before, count, f.name))
			fail(p, start, "the record has this field already");
		expect(p, TOKEN_COLON);
	}
	f.value = p->panic ? null_expr(p) : parse_expression(p);
	deepen(p, of, f.value);
	return f;
}

/* "{" field { "," field } [","] "}" */
static struct expr *parse_record(struct parser *p, uint32_t start)
{
	struct expr *e = new_expr(p, EXPR_RECORD, start);
	struct field *fields = NULL;
	uint32_t count = 0, capacity = 0;
	while (!p->panic && peek(p) != TOKEN_CLOSE_BRACE) {
		VEC_RESERVE(fields, count, capacity);
		struct field f = parse_field(p, e, fields, count);
		fields[count++] = f;
		if (count > LIMIT_ITEMS)
			fail(p, here(p), "more than %d fields", LIMIT_ITEMS);
		if (!accept(p, TOKEN_COMMA)) break;
	}
	expect(p, TOKEN_CLOSE_BRACE);
	size_t size = count * sizeof *fields;
	e->fields = region_take(p->syntax->region, size);
	if (size) memcpy(e->fields, fields, size);
	e->field_count = count;
	free(fields);
	return finish(p, e);
}

/* "{" "}" | "{" expression { "," expression } "}" | record */
static struct expr *parse_braces(struct parser *p)
{
	uint32_t start = here(p), count;
	struct expr *e;
	advance(p);
	p->literals++;
	if (peek(p) == TOKEN_ELLIPSIS ||
	    (peek(p) == TOKEN_NAME && peek_second(p) == TOKEN_COLON)) {
		e = parse_record(p, start);
	} else {
		e = new_expr(p, EXPR_SET, start);
		e->items = parse_items(p, e, TOKEN_CLOSE_BRACE, LIMIT_ITEMS,
		                       &count);
		e->count = count;
	}
	if (!p->panic) p->literals--;
	return finish(p, e);
}

static int loop_of(const struct parser *p)
{
	static const char *const words[] = { "filter", "map", "exists",
		                             "forall" };
	for (int i = 0; i < 4; i++)
		if (word_is(p, words[i])) return i;
	return -1;
}

/* ("filter" | "map" | "exists" | "forall")
 *     "(" NAME "in" expression ":" expression ")" */
static struct expr *parse_loop(struct parser *p, int kind)
{
	struct expr *e = new_expr(p, EXPR_LOOP, here(p));
	e->op = (uint8_t)kind;
	advance(p);
	advance(p);
	e->variable = parse_local(p, "the name of a variable");
	expect(p, TOKEN_IN);
	e->collection = p->panic ? null_expr(p) : parse_expression(p);
	expect(p, TOKEN_COLON);
	e->body = p->panic ? null_expr(p) : parse_expression(p);
	deepen(p, e, e->collection);
	deepen(p, e, e->body);
	expect(p, TOKEN_CLOSE);
	return finish(p, e);
}

/* NAME | NAME "(" [ expression { "," expression } ] ")" | loop */
static struct expr *parse_name_or_call(struct parser *p)
{
	bool call = peek_second(p) == TOKEN_OPEN;
	int loop = call ? loop_of(p) : -1;
	if (loop >= 0) return parse_loop(p, loop);
	if (peek_second(p) == TOKEN_NAME || peek_second(p) == TOKEN_TIMES)
		if (word_is(p, "SELECT")) {
			fail_at_word(p, statement_words, "an expression");
			return null_expr(p);
		}
	struct expr *e =
	    new_expr(p, call ? EXPR_CALL : EXPR_NAME, here(p));
	struct symbol *name = parse_name(p, "a name");
	if (!call) {
		e->name = name;
		return finish(p, e);
	}
	advance(p);
	e->callee = name;
	uint32_t count;
	e->arguments =
	    parse_items(p, e, TOKEN_CLOSE, LIMIT_PARAMS, &count);
	e->argument_count = count;
	return finish(p, e);
}

/* "null" | "true" | "false" | STRING */
static struct expr *parse_literal(struct parser *p)
{
	struct expr *e = new_expr(p, EXPR_VALUE, here(p));
	if (peek(p) == TOKEN_STRING) {
		uint32_t length;
		const char *s = parse_string(p, &length);
		e->value = value_string(p->syntax->region, s, length);
		return finish(p, e);
	}
	e->value = peek(p) == TOKEN_NULL ? value_null()
	                                 : value_bool(peek(p) == TOKEN_TRUE);
	advance(p);
	return finish(p, e);
}

/* primary := literal | INTEGER | NAME | call | loop | parentheses | list
 *          | braces | "finally" (only before a field) */
static struct expr *parse_primary(struct parser *p)
{
	switch (peek(p)) {
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
	if (peek(p) == TOKEN_FINALLY && peek_second(p) == TOKEN_DOT) {
		struct expr *e = new_expr(p, EXPR_NAME, here(p));
		e->name = symbol_find(&p->syntax->symbols, "finally", 7);
		advance(p);
		return finish(p, e);
	}
	expected(p, "an expression");
	return null_expr(p);
}

/* postfix := primary { "." NAME | "[" expression { "," expression } "]" } */
static struct expr *parse_postfix(struct parser *p)
{
	struct expr *e = parse_primary(p);
	while (!p->panic) {
		struct expr *outer;
		if (peek(p) == TOKEN_DOT) {
			outer = new_expr(p, EXPR_FIELD, e->start);
			advance(p);
			outer->base = e;
			outer->at = here(p);
			outer->field = parse_name(p, "a field's name");
		} else if (peek(p) == TOKEN_OPEN_SQUARE) {
			outer = new_expr(p, EXPR_INDEX, e->start);
			outer->at = e->kind == EXPR_NAME ? e->at : here(p);
			advance(p);
			outer->indexed = e;
			uint32_t count;
			outer->indexes =
			    parse_items(p, outer, TOKEN_CLOSE_SQUARE,
			                LIMIT_INDEXES, &count);
			outer->index_count = count;
		} else {
			break;
		}
		deepen(p, outer, e);
		e = finish(p, outer);
	}
	return e;
}

/* unary := { "!" | "-" } postfix */
static struct expr *parse_unary(struct parser *p)
{
	enum token_kind sign = peek(p);
	if (sign != TOKEN_NOT && sign != TOKEN_MINUS) return parse_postfix(p);
	uint32_t start = here(p);
	if (sign == TOKEN_MINUS && peek_second(p) == TOKEN_INTEGER) {
		advance(p);
		struct expr *number = parse_integer(p, true);
		number->at = number->start = start;
		return number;
	}
	struct expr *e = new_expr(p, EXPR_UNARY, start);
	e->op = sign == TOKEN_NOT ? OP_NOT : OP_NEG;
	advance(p);
	if (!enter(p)) return null_expr(p);
	e->left = parse_unary(p);
	leave(p);
	deepen(p, e, e->left);
	return finish(p, e);
}

struct operator {
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
	source_warning(p->all, place(p, left->start),
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
		struct operator o = operator_of(peek(p));
		if (p->panic || !o.strength || o.strength < strength)
			return left;
		struct expr *e = new_expr(p, o.kind, left->start);
		e->op = (uint8_t)o.op;
		e->at = here(p);
		warn_about_not(p, left, o.op);
		advance(p);
		e->left = left;
		e->right = parse_binary(p, o.strength + 1);
		deepen(p, e, left);
		deepen(p, e, e->right);
		left = finish(p, e);
	}
}

/* expression := binary(1) */
static struct expr *parse_expression(struct parser *p)
{
	struct expr *e;
	if (enter(p))
		e = parse_binary(p, 1);
	else
		e = null_expr(p);
	leave(p);
	return e;
}

/* --- statements -------------------------------------------------------- */

/* expression | "txn" block */
static struct expr *parse_value(struct parser *p)
{
	if (peek(p) != TOKEN_TXN) return parse_expression(p);
	struct expr *e = new_expr(p, EXPR_TXN, here(p));
	advance(p);
	e->transaction = parse_block(p);
	return finish(p, e);
}

/* "let" NAME "=" value ";" */
static void parse_let(struct parser *p, struct stmt *s)
{
	s->kind = STMT_LET;
	s->local = parse_local(p, "a local's name");
	expect(p, TOKEN_SET);
	s->value = p->panic ? null_expr(p) : parse_value(p);
	expect(p, TOKEN_SEMICOLON);
}

/* "if" "(" expression ")" body
 *     { "else" "if" "(" expression ")" body } [ "else" body ] */
static struct block *parse_body(struct parser *p);

static void parse_if(struct parser *p, struct stmt *s)
{
	uint32_t capacity = 0;
	struct arm *arms = NULL;
	s->kind = STMT_IF;
	do {
		VEC_RESERVE(arms, s->arm_count, capacity);
		struct arm *arm = &arms[s->arm_count++];
		expect(p, TOKEN_OPEN);
		arm->condition = p->panic ? null_expr(p) : parse_expression(p);
		expect(p, TOKEN_CLOSE);
		arm->at = place(p, here(p));
		arm->body = parse_body(p);
		if (p->panic || !accept(p, TOKEN_ELSE)) break;
		if (accept(p, TOKEN_IF)) continue;
		s->orelse_at = place(p, here(p));
		s->orelse = parse_body(p);
		break;
	} while (true);
	size_t size = s->arm_count * sizeof *arms;
	s->arms = region_take(p->syntax->region, size);
	memcpy(s->arms, arms, size);
	free(arms);
}

/* "for" NAME "in" expression [ ".." expression ] block */
static void parse_for(struct parser *p, struct stmt *s)
{
	s->kind = STMT_FOR;
	s->local = parse_local(p, "the name of the loop's variable");
	expect(p, TOKEN_IN);
	s->value = p->panic ? null_expr(p) : parse_expression(p);
	if (!p->panic && accept(p, TOKEN_RANGE)) s->until = parse_expression(p);
	s->body = parse_block(p);
}

/* "return" [ expression ] ";" */
static void parse_return(struct parser *p, struct stmt *s)
{
	s->kind = STMT_RETURN;
	if (peek(p) != TOKEN_SEMICOLON) s->value = parse_expression(p);
	expect(p, TOKEN_SEMICOLON);
}

/* [ STRING ":" ] expression ";" */
static struct expr *parse_assertion(struct parser *p, const char **message)
{
	if (peek(p) == TOKEN_STRING && peek_second(p) == TOKEN_COLON) {
		uint32_t length;
		*message = parse_string(p, &length);
		advance(p);
	}
	struct expr *e = parse_expression(p);
	expect(p, TOKEN_SEMICOLON);
	return e;
}

/* expression ";" | target ("=" | "+=") value ";" */
static void parse_simple(struct parser *p, struct stmt *s)
{
	if (peek(p) == TOKEN_NAME &&
	    (peek_second(p) == TOKEN_NAME || peek_second(p) == TOKEN_INTEGER ||
	     peek_second(p) == TOKEN_TIMES)) {
		const char *nearest = nearest_word(p, statement_words);
		bool upper = p->text->text[here(p)] < 'a';
		if (nearest || upper) {
			fail_at_word(p, statement_words, "a statement");
			if (p->panic) return;
		}
	}
	if (word_is(p, "while") && peek_second(p) == TOKEN_OPEN)
		fail(p, here(p), "there is no unbounded loop; use 'for'");
	struct expr *e = parse_expression(p);
	if (p->panic) return;
	s->kind = STMT_CALL;
	s->value = e;
	if (peek(p) == TOKEN_SET || peek(p) == TOKEN_PLUS_SET) {
		s->kind = peek(p) == TOKEN_SET ? STMT_SET : STMT_ADD;
		s->target = e;
		advance(p);
		s->value = s->kind == STMT_SET ? parse_value(p)
		                               : parse_expression(p);
	} else if (e->kind != EXPR_CALL && peek(p) == TOKEN_SEMICOLON) {
		fail(p, e->start, "this has no effect: a statement is a call "
		                  "or an assignment");
		return;
	} else if (e->kind != EXPR_CALL) {
		expected(p, "'='");
		return;
	}
	expect(p, TOKEN_SEMICOLON);
}

/* statement := let | if | for | "abort" ";" | return | "assert" assertion
 *            | "assume" expression ";" | "skip" ";" | "txn" block | simple */
static void parse_statement_into(struct parser *p, struct stmt *s)
{
	enum token_kind kind = peek(p);
	if (begins_statement(p)) advance(p);
	switch (kind) {
	case TOKEN_LET: parse_let(p, s); return;
	case TOKEN_IF: parse_if(p, s); return;
	case TOKEN_FOR: parse_for(p, s); return;
	case TOKEN_RETURN: parse_return(p, s); return;
	case TOKEN_ABORT:
	case TOKEN_SKIP:
		s->kind = kind == TOKEN_ABORT ? STMT_ABORT : STMT_SKIP;
		expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_ASSERT:
		s->kind = STMT_ASSERT;
		s->value = parse_assertion(p, &s->message);
		return;
	case TOKEN_ASSUME:
		s->kind = STMT_ASSUME;
		s->value = parse_expression(p);
		expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_TXN:
		s->kind = STMT_TXN;
		s->body = parse_block(p);
		return;
	default: parse_simple(p, s); return;
	}
}

static struct stmt *parse_statement(struct parser *p)
{
	struct stmt *s = region_take0(p->syntax->region, sizeof *s);
	s->at = place(p, here(p));
	if (peek(p) == TOKEN_ELSE)
		fail(p, here(p), "'else' without 'if'");
	else
		parse_statement_into(p, s);
	return s;
}

/* { statement } up to what ends a block */
static void parse_statements(struct parser *p, struct block *b)
{
	struct stmt **last = &b->first;
	while (peek(p) != TOKEN_CLOSE_BRACE && peek(p) != TOKEN_END &&
	       !begins_item(p)) {
		size_t before = p->at;
		struct stmt *s = parse_statement(p);
		if (!p->panic) {
			*last = s;
			last = &s->next;
			continue;
		}
		if (p->at == before) advance(p);
		synchronize(p);
	}
}

/* block := "{" { statement } "}" */
static struct block *parse_block(struct parser *p)
{
	struct block *b = region_take0(p->syntax->region, sizeof *b);
	uint32_t open = here(p);
	if (p->panic || !expect(p, TOKEN_OPEN_BRACE)) return b;
	if (enter(p)) {
		parse_statements(p, b);
		if (!accept(p, TOKEN_CLOSE_BRACE) && !p->stopped) {
			struct position at =
			    source_position(p->all, place(p, open));
			fail(p, here(p), "expected '}' for the '{' on line "
			     "%u, found %s", at.line, found(p));
		}
	}
	leave(p);
	return b;
}

/* body := block | statement */
static struct block *parse_body(struct parser *p)
{
	if (p->panic || peek(p) == TOKEN_OPEN_BRACE) return parse_block(p);
	struct block *b = region_take0(p->syntax->region, sizeof *b);
	if (enter(p)) b->first = parse_statement(p);
	if (p->panic) b->first = NULL;
	leave(p);
	return b;
}

/* --- items ------------------------------------------------------------- */

/* ":" ("int" | "string") */
static enum foreign_type parse_type(struct parser *p, const char *after)
{
	enum foreign_type type = FOREIGN_INT;
	if (p->panic) return type;
	if (!accept(p, TOKEN_COLON)) {
		fail(p, here(p), "expected ': int' or ': string' after %s, "
		     "found %s", after, found(p));
		return type;
	}
	if (word_is(p, "string"))
		type = FOREIGN_STRING;
	else if (!word_is(p, "int"))
		expected(p, "a type, 'int' or 'string'");
	advance(p);
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
	expect(p, TOKEN_OPEN);
	while (!p->panic && peek(p) != TOKEN_CLOSE) {
		uint32_t n = i->param_count;
		if (n == most) {
			fail(p, here(p), "more than %u parameters", most);
			break;
		}
		VEC_RESERVE(params, n, capacity);
		params[i->param_count++] = parse_local(p, "a parameter");
		if (typed)
			i->param_types[n] =
			    (uint8_t)parse_type(p, "the parameter");
		if (!accept(p, TOKEN_COMMA)) break;
	}
	expect(p, TOKEN_CLOSE);
	size_t size = i->param_count * sizeof *params;
	i->params = region_take(p->syntax->region, size);
	if (size) memcpy(i->params, params, size);
	free(params);
}

/* NAME [ "[" ("*" | expression { "," expression }) "]" ] "=" expression ";" */
static void parse_global(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a global's name");
	if (accept(p, TOKEN_OPEN_SQUARE)) {
		struct expr outer = { 0 };
		i->keyed = true;
		i->star = accept(p, TOKEN_TIMES);
		if (i->star)
			expect(p, TOKEN_CLOSE_SQUARE);
		else
			i->indexes = parse_items(p, &outer, TOKEN_CLOSE_SQUARE,
			                         LIMIT_INDEXES,
			                         &i->index_count);
		if (!i->star && !i->index_count)
			fail(p, behind(p), "a key needs an index value");
	}
	expect(p, TOKEN_SET);
	i->value = p->panic ? null_expr(p) : parse_expression(p);
	expect(p, TOKEN_SEMICOLON);
}

/* NAME "=" expression ";" */
static void parse_const(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a constant's name");
	expect(p, TOKEN_SET);
	i->value = p->panic ? null_expr(p) : parse_expression(p);
	expect(p, TOKEN_SEMICOLON);
}

/* NAME params "=" expression ";" */
static void parse_fn(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a function's name");
	parse_params(p, i);
	if (!p->panic && peek(p) == TOKEN_OPEN_BRACE)
		fail(p, here(p), "a function is one expression: "
		                 "fn NAME(PARAMS) = EXPR;");
	expect(p, TOKEN_SET);
	i->value = p->panic ? null_expr(p) : parse_expression(p);
	expect(p, TOKEN_SEMICOLON);
}

/* NAME params ":" type "from" STRING ";" */
static void parse_extern(struct parser *p, struct item *i)
{
	i->name = parse_name(p, "a function's name");
	parse_params(p, i);
	i->result_type = (uint8_t)parse_type(p, "the parameters");
	if (p->panic) return;
	if (word_is(p, "from"))
		advance(p);
	else
		expected(p, "'from' and the library");
	uint32_t at = here(p), length = 0;
	if (!p->panic && peek(p) == TOKEN_STRING) {
		i->message = parse_string(p, &length);
		if (!length) fail(p, at, "which library?");
	} else {
		expected(p, "the library's name in double quotes");
	}
	expect(p, TOKEN_SEMICOLON);
}

/* NAME params block */
static void parse_txn(struct parser *p, struct item *i)
{
	if (peek(p) == TOKEN_OPEN_BRACE) {
		fail(p, here(p), "an anonymous transaction belongs in a "
		                 "session; here it needs a name");
		return;
	}
	i->name = parse_name(p, "a transaction's name");
	parse_params(p, i);
	if (!p->panic && word_is(p, "at"))
		fail(p, here(p), "'at LEVEL' is reserved: transactions have "
		                 "no levels of their own yet");
	i->body = parse_block(p);
}

/* "serializable" ";" | assertion */
static void parse_top_assertion(struct parser *p, struct item *i)
{
	if (word_is(p, "serializable") && peek_second(p) == TOKEN_SEMICOLON) {
		advance(p);
		advance(p);
		return;
	}
	i->value = parse_assertion(p, &i->message);
}

/* STRING ";" */
static void parse_import(struct parser *p, struct item *i)
{
	i->at = place(p, here(p));
	if (peek(p) == TOKEN_STRING) {
		uint32_t length;
		i->message = parse_string(p, &length);
		if (!length) fail(p, i->at.offset, "which file?");
	} else {
		expected(p, "the file's name in double quotes");
	}
	expect(p, TOKEN_SEMICOLON);
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
	         accept(p, TOKEN_COMMA));
	expect(p, TOKEN_SEMICOLON);
	size_t size = i->param_count * sizeof *names;
	i->params = region_take(p->syntax->region, size);
	memcpy(i->params, names, size);
	free(names);
}

/* item := "global" global | "const" const | "fn" fn | "txn" txn
 *       | "session" NAME block | "finally" block | "assert" assertion
 *       | "isolation" NAME ";" | "import" STRING ";"
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
		i->body = parse_block(p);
		return;
	case TOKEN_ASSERT:
		i->kind = ITEM_ASSERT;
		parse_top_assertion(p, i);
		return;
	case TOKEN_ISOLATION:
		i->kind = ITEM_ISOLATION;
		i->name = parse_name(p, "a level's name");
		expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_NAME:
		if (i->kind == ITEM_SYMMETRIC)
			parse_symmetric(p, i);
		else
			parse_extern(p, i);
		return;
	default:
		i->kind = ITEM_IMPORT;
		parse_import(p, i);
	}
}

static void parse_item(struct parser *p)
{
	enum token_kind kind = peek(p);
	struct item *i = region_take0(p->syntax->region, sizeof *i);
	i->at = place(p, here(p));
	i->last_local = &i->locals;
	bool is_extern = word_is(p, "extern");
	bool is_symmetric = word_is(p, "symmetric") &&
	                    peek_second(p) == TOKEN_NAME;
	if (kind != TOKEN_ASSERT && !is_extern && !is_symmetric &&
	    (kind < TOKEN_GLOBAL || kind > TOKEN_ISOLATION)) {
		fail_at_word(p, item_words, "a declaration");
		return;
	}
	advance(p);
	if (is_extern && !expect(p, TOKEN_FN)) return;
	if (kind == TOKEN_NAME)
		i->kind = is_extern ? ITEM_EXTERN : ITEM_SYMMETRIC;
	if (peek(p) == TOKEN_NAME && !is_symmetric) i->at = place(p, here(p));
	if (kind == TOKEN_ASSERT) i->at = place(p, behind(p) - 6);
	parse_item_into(p, i, kind);
	if (p->panic) return;
	*p->syntax->last = i;
	p->syntax->last = &i->next;
}

/* program := { item } */
static void parse_program(struct parser *p)
{
	while (peek(p) != TOKEN_END && !sources_full(p->all)) {
		size_t before = p->at;
		parse_item(p);
		if (!p->panic) continue;
		if (p->at == before) advance(p);
		synchronize(p);
		while (peek(p) != TOKEN_END && !begins_item(p) &&
		       peek(p) != TOKEN_ASSERT && peek(p) != TOKEN_NAME)
			advance(p);
	}
}

bool parse(struct syntax *syntax, struct sources *all, uint32_t source)
{
	struct source text = all->items[source];
	struct parser p = { .syntax = syntax, .all = all, .source = source,
		            .text = &text };
	/* What is no token would be followed by errors that say nothing. */
	p.failed = !lex(all, source, false, &p.tokens);
	if (!p.failed) parse_program(&p);
	free(p.tokens.items);
	free(p.stack);
	return !p.failed;
}
