/* From text to tokens. */
#ifndef ISO_LANG_LEXER_H
#define ISO_LANG_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/source.h"

/* Words that cannot be names:   identifier, word */
#define KEYWORD_TABLE(X)                \
	X(TOKEN_GLOBAL, "global")       \
	X(TOKEN_CONST, "const")         \
	X(TOKEN_FN, "fn")               \
	X(TOKEN_TXN, "txn")             \
	X(TOKEN_SESSION, "session")     \
	X(TOKEN_FINALLY, "finally")     \
	X(TOKEN_IMPORT, "import")       \
	X(TOKEN_ISOLATION, "isolation") \
	X(TOKEN_LET, "let")             \
	X(TOKEN_IF, "if")               \
	X(TOKEN_ELSE, "else")           \
	X(TOKEN_FOR, "for")             \
	X(TOKEN_IN, "in")               \
	X(TOKEN_ABORT, "abort")         \
	X(TOKEN_RETURN, "return")       \
	X(TOKEN_ASSERT, "assert")       \
	X(TOKEN_ASSUME, "assume")       \
	X(TOKEN_SKIP, "skip")           \
	X(TOKEN_TRUE, "true")           \
	X(TOKEN_FALSE, "false")         \
	X(TOKEN_NULL, "null")

/* Longer ones first where one begins another. */
#define SIGN_TABLE(X)                \
	X(TOKEN_ELLIPSIS, "...")     \
	X(TOKEN_RANGE, "..")         \
	X(TOKEN_DOT, ".")            \
	X(TOKEN_OR, "||")            \
	X(TOKEN_AND, "&&")           \
	X(TOKEN_EQUAL, "==")         \
	X(TOKEN_UNEQUAL, "!=")       \
	X(TOKEN_LESS_EQUAL, "<=")    \
	X(TOKEN_GREATER_EQUAL, ">=") \
	X(TOKEN_PLUS_SET, "+=")      \
	X(TOKEN_SET, "=")            \
	X(TOKEN_LESS, "<")           \
	X(TOKEN_GREATER, ">")        \
	X(TOKEN_PLUS, "+")           \
	X(TOKEN_MINUS, "-")          \
	X(TOKEN_TIMES, "*")          \
	X(TOKEN_DIVIDE, "/")         \
	X(TOKEN_MODULO, "%")         \
	X(TOKEN_NOT, "!")            \
	X(TOKEN_OPEN, "(")           \
	X(TOKEN_CLOSE, ")")          \
	X(TOKEN_OPEN_SQUARE, "[")    \
	X(TOKEN_CLOSE_SQUARE, "]")   \
	X(TOKEN_OPEN_BRACE, "{")     \
	X(TOKEN_CLOSE_BRACE, "}")    \
	X(TOKEN_COMMA, ",")          \
	X(TOKEN_SEMICOLON, ";")      \
	X(TOKEN_COLON, ":")

enum token_kind {
	TOKEN_END, /* end of the text; always the last token */
	TOKEN_NAME,
	TOKEN_INTEGER,
	TOKEN_STRING,
	TOKEN_COMMENT, /* from // to the end of the line */
#define X(id, word) id,
	KEYWORD_TABLE(X) SIGN_TABLE(X)
#undef X
		TOKEN_KIND_COUNT
};

struct token {
	enum token_kind kind;
	uint32_t offset, length;
};

struct tokens {
	struct token *items; /* malloc'ed; free with free() */
	size_t count, capacity;
};

/* All tokens of a source; comments among them only if wanted. False when
 * something is no token: that is reported and left out. */
bool lex(struct sources *all, uint32_t source, bool comments,
         struct tokens *out);
/* The tokens, comments left out, between two bytes of a source that was lexed
 * before; they must not divide a token. */
void lex_part(struct sources *all, uint32_t source, uint32_t from, uint32_t to,
              struct tokens *out);
/* How a token is written, or what it is: "';'", "a name". */
const char *token_name(enum token_kind kind);
bool token_is_keyword(enum token_kind kind);
/* The bytes that a string token stands for; into `out` (at least
 * token->length bytes); returns their number. */
uint32_t token_string(const struct source *s, const struct token *t, char *out);

#endif
