#include "report/style.h"

#include <assert.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

void style_begin(struct text *t, const struct style *s, enum style_mark m)
{
	static const char *const codes[] = {
#define X(id, code) code,
		STYLE_TABLE(X)
#undef X
	};
	assert(m < STYLE_COUNT);
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

/* The columns of the character at *s, which is advanced. What is no UTF-8, a
 * control character or unknown is shown as one character of one column. */
static size_t take_character(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	size_t n = utf8_length(*s, strlen(*s));
	assert(*p);
	if (n < 2) {
		++*s;
		return n || (*p & 0xc0) != 0x80;
	}
	wchar_t c = (wchar_t)(*p & (0xff >> (n + 1)));
	for (size_t i = 1; i < n; i++) c = (wchar_t)(c << 6 | (p[i] & 0x3f));
	int columns = wcwidth(c);
	*s += n;
	return columns < 0 ? 1 : (size_t)columns;
}

size_t style_columns(const char *words)
{
	size_t n = 0;
	while (*words) n += take_character(&words);
	return n;
}

const char *style_part(const char *words, size_t columns)
{
	const char *next = words, *end = words;
	size_t used = 0;
	assert(columns > 1);
	while (*next) {
		used += take_character(&next);
		if (used > columns) break;
		end = next;
	}
	return end;
}

void style_fit(struct text *t, const char *words, size_t columns)
{
	if (style_columns(words) <= columns) {
		text_string(t, words);
		return;
	}
	if (!columns) return;
	const char *end = words, *next = words;
	size_t kept = 0;
	for (size_t used = take_character(&next); used < columns;
	     used += take_character(&next)) {
		end = next;
		kept = used;
	}
	text_bytes(t, words, (size_t)(end - words));
	text_string(t, "…");
	/* A character of two columns may leave one. */
	text_pad(t, ' ', columns - kept - 1);
}

void style_around(struct text *t, const char *words, size_t columns, size_t at)
{
	assert(at && columns > 1);
	if (style_columns(words) > columns && at > columns * 3 / 4) {
		for (size_t i = columns / 2; i < at && *words; i++)
			take_character(&words);
		text_string(t, "…");
		columns--;
	}
	style_fit(t, words, columns);
}
