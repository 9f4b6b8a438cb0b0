/* Statements and blocks. */
#include "lang/parsing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lang/parser.h"

static struct block *parse_body(struct parser *p);

/* "stale" "ok" */
static void parse_stale(struct parser *p)
{
	parser_advance(p);
	if (parser_word_is(p, "ok"))
		parser_advance(p);
	else
		parser_expected(p, "'ok' after 'stale'");
}

/* transaction := [ "at" level ] block; one with a name may be "stale" "ok",
 * which stands before or behind its level */
struct block *parse_transaction(struct parser *p, bool named)
{
	struct symbol *level = NULL;
	struct place at = { 0 };
	bool stale = false;
	while (!p->panic) {
		if (!level && parser_word_is(p, "at")) {
			parser_advance(p);
			at = parser_place(p, parser_here(p));
			level = parse_level(p);
		} else if (named && !stale && parser_word_is(p, "stale")) {
			parse_stale(p);
			stale = true;
		} else {
			break;
		}
	}
	struct block *b = parse_block(p);
	b->level = level;
	b->level_at = at;
	b->stale_ok = stale;
	return b;
}

/* expression | "txn" transaction */
static struct expr *parse_value(struct parser *p)
{
	if (parser_peek(p) != TOKEN_TXN) return parse_expression(p);
	struct expr *e = parser_new_expr(p, EXPR_TXN, parser_here(p));
	parser_advance(p);
	e->transaction = parse_transaction(p, false);
	return parser_finish(p, e);
}

/* "let" NAME "=" value ";" */
static void parse_let(struct parser *p, struct stmt *s)
{
	s->kind = STMT_LET;
	s->local = parse_local(p, "a local's name");
	parser_expect(p, TOKEN_SET);
	s->value = p->panic ? parser_null_expr(p) : parse_value(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* "if" "(" expression ")" body
 *     { "else" "if" "(" expression ")" body } [ "else" body ] */
static void parse_if(struct parser *p, struct stmt *s)
{
	uint32_t capacity = 0;
	struct arm *arms = NULL;
	s->kind = STMT_IF;
	do {
		VEC_RESERVE(arms, s->arm_count, capacity);
		struct arm *arm = &arms[s->arm_count++];
		parser_expect(p, TOKEN_OPEN);
		arm->condition =
			p->panic ? parser_null_expr(p) : parse_expression(p);
		parser_expect(p, TOKEN_CLOSE);
		arm->at = parser_place(p, parser_here(p));
		arm->body = parse_body(p);
		if (p->panic || !parser_accept(p, TOKEN_ELSE)) break;
		if (parser_accept(p, TOKEN_IF)) continue;
		s->orelse_at = parser_place(p, parser_here(p));
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
	parser_expect(p, TOKEN_IN);
	s->value = p->panic ? parser_null_expr(p) : parse_expression(p);
	if (!p->panic && parser_accept(p, TOKEN_RANGE))
		s->until = parse_expression(p);
	s->body = parse_block(p);
}

/* "return" [ expression ] ";" */
static void parse_return(struct parser *p, struct stmt *s)
{
	s->kind = STMT_RETURN;
	if (parser_peek(p) != TOKEN_SEMICOLON) s->value = parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* [ STRING ":" ] expression ";" */
struct expr *parse_assertion(struct parser *p, const char **message)
{
	if (parser_peek(p) == TOKEN_STRING &&
	    parser_peek_second(p) == TOKEN_COLON) {
		uint32_t length;
		*message = parse_string(p, &length);
		parser_advance(p);
	}
	struct expr *e = parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
	return e;
}

/* expression ";" | target ("=" | "+=") value ";" */
static void parse_simple(struct parser *p, struct stmt *s)
{
	const char *const *words = parser_statement_words();
	enum token_kind second = parser_peek_second(p);
	if (parser_peek(p) == TOKEN_NAME &&
	    (second == TOKEN_NAME || second == TOKEN_INTEGER ||
	     second == TOKEN_TIMES)) {
		const char *nearest = parser_nearest_word(p, words);
		bool upper = p->text->text[parser_here(p)] < 'a';
		if (nearest || upper) {
			parser_fail_at_word(p, words, "a statement");
			if (p->panic) return;
		}
	}
	if (parser_word_is(p, "while") && second == TOKEN_OPEN)
		parser_fail(p, parser_here(p),
		            "there is no unbounded loop; use 'for'");
	struct expr *e = parse_expression(p);
	if (p->panic) return;
	s->kind = STMT_CALL;
	s->value = e;
	if (parser_peek(p) == TOKEN_SET || parser_peek(p) == TOKEN_PLUS_SET) {
		s->kind = parser_peek(p) == TOKEN_SET ? STMT_SET : STMT_ADD;
		s->target = e;
		parser_advance(p);
		s->value = s->kind == STMT_SET ? parse_value(p)
		                               : parse_expression(p);
	} else if (e->kind != EXPR_CALL && parser_peek(p) == TOKEN_SEMICOLON) {
		parser_fail(p, e->start,
		            "this has no effect: a statement is "
		            "a call or an assignment");
		return;
	} else if (e->kind != EXPR_CALL) {
		parser_expected(p, "'='");
		return;
	}
	parser_expect(p, TOKEN_SEMICOLON);
}

/* "atomic" target "+=" expression ";" */
static void parse_atomic(struct parser *p, struct stmt *s)
{
	parser_advance(p);
	s->kind = STMT_ATOMIC;
	s->target = parse_expression(p);
	if (!p->panic && parser_peek(p) != TOKEN_PLUS_SET)
		parser_fail(p, parser_here(p),
		            "'atomic' is for one update, as in 'atomic x += "
		            "1': expected '+=', found %s",
		            parser_found(p));
	parser_expect(p, TOKEN_PLUS_SET);
	s->value = p->panic ? parser_null_expr(p) : parse_expression(p);
	parser_expect(p, TOKEN_SEMICOLON);
}

/* Words that no name is kept from being: what follows tells. */
static bool parse_with_word(struct parser *p, struct stmt *s)
{
	enum token_kind second = parser_peek_second(p);
	if (second == TOKEN_NAME && parser_word_is(p, "atomic")) {
		parse_atomic(p, s);
	} else if (second == TOKEN_OPEN_BRACE &&
	           parser_word_is(p, "statement")) {
		parser_advance(p);
		s->kind = STMT_STATEMENT;
		s->body = parse_block(p);
	} else {
		return false;
	}
	return true;
}

/* statement := let | if | for | "abort" ";" | return | "assert" assertion
 *            | "assume" expression ";" | "skip" ";" | "txn" transaction
 *            | atomic | "statement" block | simple */
static void parse_statement_into(struct parser *p, struct stmt *s)
{
	enum token_kind kind = parser_peek(p);
	if (parser_begins_statement(p)) parser_advance(p);
	switch (kind) {
	case TOKEN_LET: parse_let(p, s); return;
	case TOKEN_IF: parse_if(p, s); return;
	case TOKEN_FOR: parse_for(p, s); return;
	case TOKEN_RETURN: parse_return(p, s); return;
	case TOKEN_ABORT:
	case TOKEN_SKIP:
		s->kind = kind == TOKEN_ABORT ? STMT_ABORT : STMT_SKIP;
		parser_expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_ASSERT:
		s->kind = STMT_ASSERT;
		s->value = parse_assertion(p, &s->message);
		return;
	case TOKEN_ASSUME:
		s->kind = STMT_ASSUME;
		s->value = parse_expression(p);
		parser_expect(p, TOKEN_SEMICOLON);
		return;
	case TOKEN_TXN:
		s->kind = STMT_TXN;
		s->body = parse_transaction(p, false);
		return;
	default:
		if (!parse_with_word(p, s)) parse_simple(p, s);
		return;
	}
}

static struct stmt *parse_statement(struct parser *p)
{
	struct stmt *s = region_take0(p->syntax->region, sizeof *s);
	s->at = parser_place(p, parser_here(p));
	if (parser_peek(p) == TOKEN_ELSE)
		parser_fail(p, parser_here(p), "'else' without 'if'");
	else
		parse_statement_into(p, s);
	return s;
}

/* { statement } up to what ends a block */
static void parse_statements(struct parser *p, struct block *b)
{
	struct stmt **last = &b->first;
	while (parser_peek(p) != TOKEN_CLOSE_BRACE &&
	       parser_peek(p) != TOKEN_END && !parser_begins_item(p)) {
		size_t before = p->at;
		struct stmt *s = parse_statement(p);
		if (!p->panic) {
			*last = s;
			last = &s->next;
			continue;
		}
		if (p->at == before) parser_advance(p);
		parser_synchronize(p);
	}
}

/* block := "{" { statement } "}" */
struct block *parse_block(struct parser *p)
{
	struct block *b = region_take0(p->syntax->region, sizeof *b);
	uint32_t open = parser_here(p);
	b->at = parser_place(p, open);
	if (p->panic || !parser_expect(p, TOKEN_OPEN_BRACE)) return b;
	if (parser_enter(p)) {
		parse_statements(p, b);
		if (!parser_accept(p, TOKEN_CLOSE_BRACE) && !p->stopped) {
			struct position at =
				source_position(p->all, parser_place(p, open));
			parser_fail(p, parser_here(p),
			            "expected '}' for the '{' on line %u, "
			            "found %s",
			            at.line, parser_found(p));
		}
	}
	parser_leave(p);
	return b;
}

/* body := block | statement */
static struct block *parse_body(struct parser *p)
{
	if (p->panic || parser_peek(p) == TOKEN_OPEN_BRACE)
		return parse_block(p);
	struct block *b = region_take0(p->syntax->region, sizeof *b);
	if (parser_enter(p)) b->first = parse_statement(p);
	if (p->panic) b->first = NULL;
	parser_leave(p);
	return b;
}
