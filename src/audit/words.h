/* The words of a statement of SQL: what strings and comments are, and where
 * literals stand. It is not known what they mean. */
#ifndef ISO_AUDIT_WORDS_H
#define ISO_AUDIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word_kind {
	WORD_NAME,
	WORD_QUOTED, /* a name in its quotes: "x", `x` */
	WORD_STRING,
	WORD_NUMBER,
	WORD_PARAMETER, /* $1 */
	WORD_VARIABLE,  /* @x, @@session.x, and ? */
	WORD_SIGN
};

struct sql_word {
	enum word_kind kind;
	uint32_t at, length; /* in the text */
};

struct sql_words {
	const char *text; /* borrowed */
	struct sql_word *items;
	uint32_t count, capacity;
	/* Those that are not carried out, without what begins them. */
	struct sql_comment {
		uint32_t at, length;
	} * comments;
	uint32_t comment_count, comment_capacity;
};

/* Reads them anew. False: a string or a comment has no end; then the rest is
 * left out. */
bool words_read(struct sql_words *w, const char *text, size_t length,
                bool mysql);
void words_free(struct sql_words *w);
/* Is it this name (not in quotes) or sign, which is given in capitals? */
bool word_is(const struct sql_words *w, uint32_t i, const char *what);
/* Is it a literal: a string or a number? */
bool word_is_literal(const struct sql_words *w, uint32_t i);

#endif
