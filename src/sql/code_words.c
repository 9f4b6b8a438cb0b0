/* The words of PL/pgSQL. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "sql/code_reader.h"

static bool goes_on_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 128;
}

static const char *unquoted(struct reader *p, uint32_t from, uint32_t to,
                            char quote)
{
	char *s = region_take(p->r->region, to - from + (size_t)1);
	size_t n = 0;
	for (uint32_t i = from; i < to; i++) {
		s[n++] = p->text[i];
		if (p->text[i] == quote) i++;
	}
	s[n] = 0;
	return s;
}

/* 'text', "name", with doubled quotes inside. */
static void read_quoted(struct reader *p, char quote)
{
	assert(p->text[p->word.from] == quote);
	uint32_t i = p->word.from + 1;
	while (i < p->end &&
	       (p->text[i] != quote ||
	        (i + 1 < p->end && p->text[i + 1] == quote && ++i)))
		i++;
	p->word.to = i < p->end ? i + 1 : i;
	p->word.kind = quote == '"' ? WORD_QUOTED : WORD_STRING;
	p->word.name = unquoted(p, p->word.from + 1, i, quote);
}

/* $tag$ ... $tag$; false: it is none. */
static bool read_dollars(struct reader *p)
{
	uint32_t from = p->word.from, i = from + 1;
	assert(p->text[from] == '$');
	while (i < p->end && goes_on_name(p->text[i]) && p->text[i] != '$') i++;
	if (i >= p->end || p->text[i] != '$') return false;
	size_t tag = i + 1 - from;
	for (i++; i + tag <= p->end; i++)
		if (!memcmp(p->text + i, p->text + from, tag)) break;
	p->word.kind = WORD_STRING;
	p->word.to = i + tag <= p->end ? i + (uint32_t)tag : p->end;
	p->word.name = "";
	return true;
}

static void read_name(struct reader *p)
{
	uint32_t i = p->word.from;
	while (i < p->end && goes_on_name(p->text[i])) i++;
	p->word.to = i;
	p->word.kind = WORD_NAME;
	char *name = region_copy_string(p->r->region, p->text + p->word.from,
	                                i - p->word.from);
	for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
	p->word.name = name;
}

void next_word(struct reader *p)
{
	static const char *const marks[] = { ":=", "<<", ">>", ".." };
	const char *s = p->text;
	uint32_t at = skip_space(s, p->word.to, p->end);
	p->word = (struct word){ WORD_OTHER, at, at + 1, "" };
	if (at >= p->end) {
		p->word.kind = WORD_END;
		p->word.to = at;
		return;
	}
	char c = s[at];
	if (c == '\'' || c == '"') {
		read_quoted(p, c);
	} else if (c == '$' && read_dollars(p)) {
		return;
	} else if (isdigit((unsigned char)c)) {
		uint32_t i = at;
		while (i < p->end &&
		       (isalnum((unsigned char)s[i]) ||
		        (s[i] == '.' && (i + 1 >= p->end || s[i + 1] != '.'))))
			i++;
		p->word.to = i;
	} else if (goes_on_name(c)) {
		read_name(p);
	} else {
		for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
			if (at + 1 < p->end && !strncmp(s + at, marks[i], 2))
				p->word.to = at + 2;
	}
}

bool is_mark(const struct reader *p, const char *mark)
{
	size_t n = strlen(mark);
	return p->word.kind == WORD_OTHER && p->word.to - p->word.from == n &&
	       !strncmp(p->text + p->word.from, mark, n);
}

bool is_word(const struct reader *p, const char *name)
{
	return p->word.kind == WORD_NAME && !strcmp(p->word.name, name);
}

bool accept_word(struct reader *p, const char *name)
{
	if (!is_word(p, name)) return false;
	next_word(p);
	return true;
}

bool accept_mark(struct reader *p, const char *mark)
{
	if (!is_mark(p, mark)) return false;
	next_word(p);
	return true;
}

void syntax_error(struct reader *p)
{
	struct place at = place_at(p, p->word.from);
	if (p->word.kind == WORD_END)
		refuse(p->r, at, "syntax error at end of input");
	else
		refuse(p->r, at, "syntax error at or near \"%.*s\"",
		       (int)(p->word.to - p->word.from),
		       p->text + p->word.from);
	p->word.kind = WORD_END;
}

void expect_word(struct reader *p, const char *name)
{
	if (!accept_word(p, name)) syntax_error(p);
}

void expect_mark(struct reader *p, const char *mark)
{
	if (!accept_mark(p, mark)) syntax_error(p);
}

const char *expect_name(struct reader *p)
{
	const char *name = p->word.name;
	if (p->word.kind != WORD_NAME && p->word.kind != WORD_QUOTED) {
		syntax_error(p);
		return "";
	}
	next_word(p);
	return name;
}

/* All up to one of these words or marks, outside of parentheses. */
struct span read_span(struct reader *p, const char *const *ends)
{
	struct span s = { p->word.from, p->word.from };
	int depth = 0;
	for (; p->word.kind != WORD_END; next_word(p)) {
		if (is_mark(p, "(") || is_mark(p, "[")) depth++;
		if (is_mark(p, ")") || is_mark(p, "]")) depth--;
		for (size_t i = 0; depth <= 0 && ends[i]; i++)
			if (is_word(p, ends[i]) || is_mark(p, ends[i]))
				return s;
		if (is_mark(p, ";")) break;
		s.to = p->word.to;
	}
	syntax_error(p);
	return s;
}
