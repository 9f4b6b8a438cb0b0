#include "report/style.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

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

void style_count(struct text *t, uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0) text_char(t, ',');
		text_char(t, digits[i]);
	}
}

void style_plural(struct text *t, uint64_t n, const char *one, const char *many)
{
	style_count(t, n);
	text_char(t, ' ');
	text_string(t, n == 1 ? one : many);
}

void style_seconds(struct text *t, double seconds)
{
	if (seconds < 0.0005)
		text_format(t, "%.0f µs", seconds * 1e6);
	else if (seconds < 0.9995)
		text_format(t, "%.1f ms", seconds * 1e3);
	else if (seconds < 120)
		text_format(t, "%.2f s", seconds);
	else
		text_format(t, "%.0f min %02.0f s",
		            (double)(uint64_t)(seconds / 60),
		            (double)((uint64_t)seconds % 60));
}

void style_memory(struct text *t, uint64_t bytes)
{
	if (bytes < 10000)
		text_format(t, "%" PRIu64 " bytes", bytes);
	else if (bytes < 1000000)
		text_format(t, "%.0f kB", (double)bytes / 1e3);
	else if (bytes < 1000000000)
		text_format(t, "%.1f MB", (double)bytes / 1e6);
	else
		text_format(t, "%.2f GB", (double)bytes / 1e9);
}
