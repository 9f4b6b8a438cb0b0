/* The inside of the parser, recursive descent over the tokens of one source.
 *
 *     parser.c         the entry, and items
 *     parse_stmt.c     statements and blocks
 *     parse_expr.c     expressions
 *     parsing.c        looking at tokens; what is said of an error
 *
 * A function `parse_...` begins with the production that it parses; those named
 * `parser_...` are its tools. After an error all go on, with no further message
 * until parser_synchronize(), and what they return is harmless. */
#ifndef ISO_LANG_PARSING_H
#define ISO_LANG_PARSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/lexer.h"
#include "lang/source.h"

struct parser {
	struct syntax *syntax;
	struct sources *all;
	uint32_t source;
	const struct source *text;
	struct tokens tokens;
	size_t at;
	bool panic; /* an error was reported; silent until synchronized */
	bool failed;
	bool stopped; /* a limit was exceeded: nothing more is parsed */
	unsigned nesting;
	unsigned literals;   /* braces of sets and records around */
	struct expr **stack; /* items of the lists being parsed */
	size_t stack_count, stack_capacity;
};

/* The token to be parsed next, its kind, and the kind of the one behind it. */
const struct token *parser_token(const struct parser *p);
enum token_kind parser_peek(const struct parser *p);
enum token_kind parser_peek_second(const struct parser *p);
/* Is it this name, which is no keyword? */
bool parser_word_is(const struct parser *p, const char *word);
/* Where it begins, and the end of the token before it: bytes of the source. */
uint32_t parser_here(const struct parser *p);
uint32_t parser_behind(const struct parser *p);
struct place parser_place(const struct parser *p, uint32_t offset);
/* Goes on to the next token, but never beyond the end. */
void parser_advance(struct parser *p);
/* The same if the token is of this kind; false if not. */
bool parser_accept(struct parser *p, enum token_kind kind);
/* Looks at both words of an item's beginning: one alone may be an error
 * elsewhere. */
bool parser_begins_item(const struct parser *p);
/* By a keyword, that is: calls and assignments do not count. */
bool parser_begins_statement(const struct parser *p);

/* Reports an error, unless one was reported since the last synchronizing. */
void parser_fail(struct parser *p, uint32_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What stands here, for messages. */
const char *parser_found(struct parser *p);
/* Fails: this was expected, something else found. */
void parser_expected(struct parser *p, const char *what);
/* Accepts a token of this kind, or fails and returns false. */
bool parser_expect(struct parser *p, enum token_kind kind);
/* The one of these words, up to NULL, that the name here may be a misspelling
 * of; or NULL. */
const char *parser_nearest_word(struct parser *p, const char *const *words);
/* Fails at two names in a row, or at a name where no name can be: a misspelt
 * keyword, or SQL. */
void parser_fail_at_word(struct parser *p, const char *const *words,
                         const char *what);
/* After an error: skips to where a statement or an item can begin. */
void parser_synchronize(struct parser *p);
/* After this, nothing more is parsed: all that follows would be one error after
 * the other. */
void parser_stop(struct parser *p);
/* Around whatever can nest. Enter is false, with an error, when that is too
 * deep; leave then as well. */
bool parser_enter(struct parser *p);
void parser_leave(struct parser *p);

/* A node that begins, and as yet ends, at this byte. */
struct expr *parser_new_expr(struct parser *p, enum expr_kind kind,
                             uint32_t start);
/* The constant null, for what could not be parsed. */
struct expr *parser_null_expr(struct parser *p);
/* `part`, if not NULL, lies within `e`: fails when that is too deep. */
void parser_deepen(struct parser *p, struct expr *e, const struct expr *part);
/* `e` ends behind the last token. Returns it. */
struct expr *parser_finish(struct parser *p, struct expr *e);

/* `what` says in messages what the name is of. */
struct symbol *parse_name(struct parser *p, const char *what);
/* level := NAME | STRING; names of deployments have hyphens */
struct symbol *parse_level(struct parser *p);
/* A name with its place. */
struct local *parse_local(struct parser *p, const char *what);
/* The value of the string token here, in the region and followed by a zero
 * byte. */
const char *parse_string(struct parser *p, uint32_t *length);
/* `negative`: a minus precedes. */
struct expr *parse_integer(struct parser *p, bool negative);
/* Expressions up to the closing token, in the region; they lie within `of`. */
struct expr **parse_items(struct parser *p, struct expr *of,
                          enum token_kind close, uint32_t most,
                          uint32_t *count);
struct expr *parse_primary(struct parser *p);
struct expr *parse_expression(struct parser *p);
/* With its semicolon; `*message` is set only if there is one. */
struct expr *parse_assertion(struct parser *p, const char **message);
struct block *parse_block(struct parser *p);
/* That of a transaction, with its level; only one with a name may be stale. */
struct block *parse_transaction(struct parser *p, bool named);

#endif
