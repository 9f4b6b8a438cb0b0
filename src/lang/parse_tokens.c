/* Looking at tokens, and going on to the next. */
#include "lang/parsing.h"

#include <string.h>

enum token_kind parser_peek(const struct parser *p)
{
	return p->tokens.items[p->at].kind;
}

enum token_kind parser_peek_second(const struct parser *p)
{
	return parser_peek(p) == TOKEN_END ? TOKEN_END
	                                   : p->tokens.items[p->at + 1].kind;
}

const struct token *parser_token(const struct parser *p)
{
	return &p->tokens.items[p->at];
}

uint32_t parser_here(const struct parser *p)
{
	return parser_token(p)->offset;
}

uint32_t parser_behind(const struct parser *p)
{
	if (!p->at) return 0;
	const struct token *t = &p->tokens.items[p->at - 1];
	return t->offset + t->length;
}

void parser_advance(struct parser *p)
{
	if (parser_peek(p) != TOKEN_END) p->at++;
}

bool parser_accept(struct parser *p, enum token_kind kind)
{
	if (parser_peek(p) != kind) return false;
	parser_advance(p);
	return true;
}

struct place parser_place(const struct parser *p, uint32_t offset)
{
	return (struct place){ p->source, offset };
}

bool parser_word_is(const struct parser *p, const char *word)
{
	const struct token *t = parser_token(p);
	return t->kind == TOKEN_NAME && t->length == strlen(word) &&
	       !memcmp(p->text->text + t->offset, word, t->length);
}

bool parser_begins_item(const struct parser *p)
{
	enum token_kind second = parser_peek_second(p);
	switch (parser_peek(p)) {
	case TOKEN_GLOBAL:
	case TOKEN_CONST:
	case TOKEN_FN:
	case TOKEN_SESSION:
	case TOKEN_ISOLATION:
	case TOKEN_TXN: return second == TOKEN_NAME;
	case TOKEN_FINALLY: return second == TOKEN_OPEN_BRACE;
	case TOKEN_IMPORT: return second == TOKEN_STRING;
	case TOKEN_NAME:
		return (second == TOKEN_FN && parser_word_is(p, "extern")) ||
		       (second == TOKEN_NAME && parser_word_is(p, "symmetric"));
	default: return false;
	}
}

bool parser_begins_statement(const struct parser *p)
{
	switch (parser_peek(p)) {
	case TOKEN_LET:
	case TOKEN_IF:
	case TOKEN_FOR:
	case TOKEN_ABORT:
	case TOKEN_RETURN:
	case TOKEN_ASSERT:
	case TOKEN_ASSUME:
	case TOKEN_SKIP:
	case TOKEN_TXN: return true;
	default: return false;
	}
}
