#include "repair/sql_text.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

bool goes_on_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 128;
}

uint32_t part_next_word(const struct part *p, uint32_t at, uint32_t *end)
{
	while (at < p->to && isspace((unsigned char)p->text[at])) at++;
	*end = at;
	if (at == p->to) return at;
	char c = p->text[at];
	if (c == '\'' || c == '"') {
		const char *shut = memchr(p->text + at + 1, c, p->to - at - 1);
		*end = shut ? (uint32_t)(shut - p->text) + 1 : p->to;
	} else if (goes_on_word(c)) {
		while (*end < p->to && goes_on_word(p->text[*end])) ++*end;
	} else {
		*end = at + 1;
	}
	return at;
}

bool part_word_is(const struct part *p, uint32_t at, uint32_t end,
                  const char *word)
{
	return end - at == strlen(word) &&
	       !strncasecmp(p->text + at, word, end - at);
}

uint32_t part_find_word(const struct part *p, const char *word)
{
	int depth = 0;
	uint32_t end;
	for (uint32_t at = part_next_word(p, p->from, &end); at < p->to;
	     at = part_next_word(p, end, &end)) {
		depth += p->text[at] == '(';
		depth -= p->text[at] == ')';
		if (!depth && part_word_is(p, at, end, word)) return at;
	}
	return p->to;
}

struct part between(const struct part *p, uint32_t from, uint32_t to)
{
	struct part x = { p->text, from, to };
	assert(from <= to);
	while (x.from < x.to && isspace((unsigned char)x.text[x.from]))
		x.from++;
	while (x.from < x.to && isspace((unsigned char)x.text[x.to - 1]))
		x.to--;
	return x;
}

struct part behind(const struct part *p, const char *word, const char *up_to)
{
	uint32_t at = part_find_word(p, word);
	if (at == p->to) return (struct part){ p->text, at, at };
	struct part rest = { p->text, at + (uint32_t)strlen(word), p->to };
	return between(p, rest.from, part_find_word(&rest, up_to));
}

bool same_words(const struct part *a, const struct part *b)
{
	uint32_t end_a, end_b;
	uint32_t i = part_next_word(a, a->from, &end_a);
	uint32_t k = part_next_word(b, b->from, &end_b);
	while (i < a->to && k < b->to && end_a - i == end_b - k &&
	       !strncasecmp(a->text + i, b->text + k, end_a - i)) {
		i = part_next_word(a, end_a, &end_a);
		k = part_next_word(b, end_b, &end_b);
	}
	return i == a->to && k == b->to;
}
