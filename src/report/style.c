#include "report/style.h"

#include <assert.h>

void style_begin(struct text *t, const struct style *s, enum style_mark m)
{
	static const char *const codes[] = {
#define X(id, code) code,
		STYLE_TABLE(X)
#undef X
	};
	if (s->colour) text_format(t, "\033[%sm", codes[m]);
}

void style_end(struct text *t, const struct style *s)
{
	if (s->colour) text_string(t, "\033[0m");
}

void style_words(struct text *t, const struct style *s, enum style_mark m,
                 const char *words)
{
	style_begin(t, s, m);
	text_string(t, words);
	style_end(t, s);
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

void style_verdict(struct text *t, const struct style *s, enum verdict v)
{
	static const enum style_mark marks[] = {
		[VERDICT_HOLDS] = STYLE_GREEN,
		[VERDICT_VIOLATED] = STYLE_RED,
		[VERDICT_UNDECIDED] = STYLE_YELLOW,
		[VERDICT_INCONCLUSIVE] = STYLE_YELLOW,
		[VERDICT_NO_VIOLATION] = STYLE_GREEN,
	};
	assert(v < VERDICT_COUNT);
	style_words(t, s, marks[v], verdict_word(v));
}

size_t style_columns(const char *words)
{
	size_t n = 0;
	for (; *words; words++) n += !continues(*words);
	return n;
}

void style_fit(struct text *t, const char *words, size_t columns)
{
	if (style_columns(words) <= columns) {
		text_string(t, words);
		return;
	}
	if (!columns) return;
	const char *end = words;
	for (size_t n = 0; n + 1 < columns; n++) {
		end++;
		while (continues(*end)) end++;
	}
	text_bytes(t, words, (size_t)(end - words));
	text_string(t, "…");
}
