/* How text for people looks: colours, columns, numbers, cut-off values. */
#ifndef ISO_REPORT_STYLE_H
#define ISO_REPORT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/verdict.h"

struct style {
	bool colour;
	unsigned width; /* columns that a line should fit in */
};

/*     identifier, escape sequence that begins it */
#define STYLE_TABLE(X)          \
	X(STYLE_BOLD, "1")      \
	X(STYLE_DIM, "2")       \
	X(STYLE_RED, "1;31")    \
	X(STYLE_GREEN, "1;32")  \
	X(STYLE_YELLOW, "1;33") \
	X(STYLE_BLUE, "34")     \
	X(STYLE_CYAN, "36")

enum style_mark {
#define X(id, code) id,
	STYLE_TABLE(X)
#undef X
		STYLE_COUNT
};

void style_begin(struct text *t, const struct style *s, enum style_mark m);
void style_end(struct text *t, const struct style *s);
/* The words in that style. */
void style_words(struct text *t, const struct style *s, enum style_mark m,
                 const char *words);

/* The word of the verdict, in its colour. */
void style_verdict(struct text *t, const struct style *s, enum verdict v);

/* How many columns UTF-8 text takes on a terminal (wcwidth(3), so by the
 * locale: without one for UTF-8, each character takes one). Control characters
 * are counted as what style_fit and value_print make of them: one each. */
size_t style_columns(const char *words);
/* Behind as much of the text as takes at most so many columns, at least two. */
const char *style_part(const char *words, size_t columns);
/* The text if it takes at most so many columns; else exactly so many, an
 * ellipsis behind the part that fits. */
void style_fit(struct text *t, const char *words, size_t columns);
/* The same, but of a text that is too long a part with its character number
 * `at` (from 1). */
void style_around(struct text *t, const char *words, size_t columns, size_t at);

#endif
