/* The tools of the parser: looking at tokens; what is said of an error, and
 * where to go on. */
#include "lang/parsing.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "lang/limits.h"
#include "lang/parser.h"

enum token_kind parser_peek(const struct parser *p)
{
	assert(p->at < p->tokens.count);
	return p->tokens.items[p->at].kind;
}

enum token_kind parser_peek_second(const struct parser *p)
{
	assert(parser_peek(p) == TOKEN_END || p->at + 1 < p->tokens.count);
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
	assert(t->offset + t->length <= p->text->length);
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

/* Is this word followed by a level, "at" and its name, or that of a deployment
 * in quotes? "txn" is then an anonymous transaction; "txn" NAME "(" declares
 * one. */
static bool has_level(const struct parser *p)
{
	struct parser next = *p;
	parser_advance(&next);
	if (!parser_word_is(&next, "at")) return false;
	enum token_kind level = parser_peek_second(&next);
	return level == TOKEN_NAME || level == TOKEN_STRING;
}

bool parser_begins_item(const struct parser *p)
{
	enum token_kind second = parser_peek_second(p);
	switch (parser_peek(p)) {
	case TOKEN_GLOBAL:
	case TOKEN_CONST:
	case TOKEN_FN:
	case TOKEN_SESSION:
	case TOKEN_ISOLATION: return second == TOKEN_NAME;
	case TOKEN_TXN: return second == TOKEN_NAME && !has_level(p);
	case TOKEN_FINALLY: return second == TOKEN_OPEN_BRACE || has_level(p);
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

/* --- messages ---------------------------------------------------------- */

void parser_fail(struct parser *p, uint32_t offset, const char *format, ...)
{
	p->failed = true;
	if (p->panic || p->stopped) return;
	p->panic = true;
	va_list args;
	va_start(args, format);
	source_verror(p->all, parser_place(p, offset), format, args);
	va_end(args);
}

static const char *copy_word(struct parser *p)
{
	const struct token *t = parser_token(p);
	return region_copy_string(p->syntax->region, p->text->text + t->offset,
	                          t->length);
}

const char *parser_found(struct parser *p)
{
	if (parser_peek(p) != TOKEN_NAME && parser_peek(p) != TOKEN_INTEGER)
		return token_name(parser_peek(p));
	struct text t = { 0 };
	text_format(&t, "'%s'", copy_word(p));
	const char *s =
		region_copy_string(p->syntax->region, text_get(&t), t.length);
	text_free(&t);
	return s;
}

void parser_expected(struct parser *p, const char *what)
{
	parser_fail(p, parser_here(p), "expected %s, found %s", what,
	            parser_found(p));
}

bool parser_expect(struct parser *p, enum token_kind kind)
{
	if (p->panic) return false;
	if (parser_accept(p, kind)) return true;
	bool ends = kind == TOKEN_SEMICOLON || kind == TOKEN_CLOSE;
	if (ends && parser_peek(p) == TOKEN_SET)
		parser_fail(p, parser_here(p),
		            "expected %s, found '='; '==' compares",
		            token_name(kind));
	else if (kind == TOKEN_SEMICOLON && p->at)
		parser_fail(p, parser_behind(p), "expected ';' before %s",
		            parser_found(p));
	else
		parser_expected(p, token_name(kind));
	return false;
}

static const char *const item_words[] = { "global",  "const",     "fn",
	                                  "extern",  "txn",       "session",
	                                  "finally", "assert",    "isolation",
	                                  "import",  "symmetric", NULL };
static const char *const statement_words[] = {
	"let",    "if",   "else", "for",    "abort",     "return", "assert",
	"assume", "skip", "txn",  "atomic", "statement", NULL
};

const char *const *parser_item_words(void)
{
	return item_words;
}

const char *const *parser_statement_words(void)
{
	return statement_words;
}

const char *parser_nearest_word(struct parser *p, const char *const *words)
{
	size_t count = 0;
	while (words[count]) count++;
	return diag_nearest(copy_word(p), words, count);
}

void parser_fail_at_word(struct parser *p, const char *const *words,
                         const char *what)
{
	static const char *const tables[] = { "SELECT", "INSERT", "UPDATE",
		                              "DELETE", "table",  "option" };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		if (!parser_word_is(p, tables[i])) continue;
		parser_fail(p, parser_here(p),
		            "tables are not supported: no '%s'", tables[i]);
		return;
	}
	const char *nearest = parser_peek(p) == TOKEN_NAME
	                              ? parser_nearest_word(p, words)
	                              : NULL;
	if (nearest)
		parser_fail(p, parser_here(p),
		            "expected %s, found %s; did you mean '%s'?", what,
		            parser_found(p), nearest);
	else
		parser_expected(p, what);
}

/* --- recovery and limits ----------------------------------------------- */

void parser_synchronize(struct parser *p)
{
	unsigned depth = 0;
	/* Sets and records that the error is in; but at a semicolon the error
	 * probably is that one was not closed. */
	unsigned literals = parser_peek(p) == TOKEN_SEMICOLON ? 0 : p->literals;
	p->literals = 0;
	p->panic = false;
	while (parser_peek(p) != TOKEN_END && !parser_begins_item(p)) {
		if (!depth && literals && parser_accept(p, TOKEN_CLOSE_BRACE)) {
			literals--;
			continue;
		}
		if (!depth && (parser_begins_statement(p) ||
		               parser_peek(p) == TOKEN_CLOSE_BRACE))
			return;
		if (parser_accept(p, TOKEN_OPEN_BRACE)) {
			depth++;
		} else if (parser_accept(p, TOKEN_CLOSE_BRACE)) {
			if (!--depth) return;
		} else if (parser_accept(p, TOKEN_SEMICOLON)) {
			if (!depth) return;
		} else {
			parser_advance(p);
		}
	}
}

void parser_stop(struct parser *p)
{
	p->stopped = p->panic = true;
	p->at = p->tokens.count - 1;
	assert(parser_peek(p) == TOKEN_END);
}

bool parser_enter(struct parser *p)
{
	if (++p->nesting <= LIMIT_NESTING) return true;
	parser_fail(p, parser_here(p), "nested deeper than %d", LIMIT_NESTING);
	parser_stop(p);
	return false;
}

void parser_leave(struct parser *p)
{
	assert(p->nesting > 0);
	p->nesting--;
}
