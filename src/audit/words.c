#include "audit/words.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

struct scanner {
	struct sql_words *to;
	const char *text, *s, *end;
	bool mysql, whole;
	bool unwrapped; /* inside MySQL's comments that are carried out */
};

void words_free(struct sql_words *w)
{
	free(w->items);
	free(w->comments);
	*w = (struct sql_words){ 0 };
}

bool word_is(const struct sql_words *w, uint32_t i, const char *what)
{
	if (i >= w->count) return false;
	const struct sql_word *x = &w->items[i];
	size_t n = strlen(what);
	return (x->kind == WORD_NAME || x->kind == WORD_SIGN) &&
	       x->length == n && !strncasecmp(w->text + x->at, what, n);
}

bool word_is_literal(const struct sql_words *w, uint32_t i)
{
	return i < w->count && (w->items[i].kind == WORD_STRING ||
	                        w->items[i].kind == WORD_NUMBER);
}

static bool starts_name(unsigned char c)
{
	return isalpha(c) || c == '_' || c >= 128;
}

static bool in_name(unsigned char c)
{
	return starts_name(c) || isdigit(c) || c == '$';
}

static void add(struct scanner *c, enum word_kind kind, const char *from)
{
	struct sql_words *w = c->to;
	assert(from >= c->text && c->s > from && c->s <= c->end);
	VEC_RESERVE(w->items, w->count, w->capacity);
	w->items[w->count++] =
		(struct sql_word){ kind, (uint32_t)(from - c->text),
		                   (uint32_t)(c->s - from) };
}

/* To behind the quote that ends it; doubled ones do not. */
static void quoted(struct scanner *c, char quote, bool escapes)
{
	for (c->s++; c->s < c->end; c->s++) {
		if (escapes && *c->s == '\\' && c->s + 1 < c->end) {
			c->s++;
		} else if (*c->s == quote) {
			if (c->s + 1 == c->end || c->s[1] != quote) {
				c->s++;
				return;
			}
			c->s++;
		}
	}
	c->whole = false;
}

/* "$tag$ .. $tag$"; false: it is none. */
static bool dollar_string(struct scanner *c)
{
	const char *tag = c->s + 1;
	while (tag < c->end && in_name((unsigned char)*tag) && *tag != '$')
		tag++;
	if (tag == c->end || *tag != '$') return false;
	size_t n = (size_t)(tag + 1 - c->s);
	const char *stop = memmem(tag + 1, (size_t)(c->end - tag - 1), c->s, n);
	if (!stop) {
		c->whole = false;
		c->s = c->end;
		return true;
	}
	c->s = stop + n;
	assert(c->s <= c->end);
	return true;
}

static void add_comment(struct scanner *c, const char *from, const char *to)
{
	struct sql_words *w = c->to;
	assert(from >= c->text && to >= from && to <= c->end);
	VEC_RESERVE(w->comments, w->comment_count, w->comment_capacity);
	w->comments[w->comment_count++] =
		(struct sql_comment){ (uint32_t)(from - c->text),
		                      (uint32_t)(to - from) };
}

static void block_comment(struct scanner *c)
{
	int depth = 0;
	const char *from = c->s + 2;
	if (c->mysql && c->s + 2 < c->end && c->s[2] == '!') {
		for (c->s += 3; c->s < c->end && isdigit((unsigned char)*c->s);)
			c->s++;
		c->unwrapped = true;
		return;
	}
	do {
		bool open =
			c->s + 1 < c->end && c->s[0] == '/' && c->s[1] == '*';
		bool shut =
			c->s + 1 < c->end && c->s[0] == '*' && c->s[1] == '/';
		if (open && (!c->mysql || !depth)) depth++;
		if (shut) depth--;
		c->s += open || shut ? 2 : 1;
	} while (depth && c->s < c->end);
	if (depth)
		c->whole = false;
	else
		add_comment(c, from, c->s - 2);
}

/* Blanks and comments. */
static void skip(struct scanner *c)
{
	while (c->s < c->end) {
		char next = c->s + 1 < c->end ? c->s[1] : 0;
		if (isspace((unsigned char)*c->s)) {
			c->s++;
		} else if ((*c->s == '-' && next == '-') ||
		           (c->mysql && *c->s == '#')) {
			const char *from = c->s;
			while (c->s < c->end && *c->s != '\n') c->s++;
			add_comment(c, from, c->s);
		} else if (*c->s == '/' && next == '*') {
			block_comment(c);
		} else if (c->unwrapped && *c->s == '*' && next == '/') {
			c->s += 2;
			c->unwrapped = false;
		} else {
			return;
		}
	}
}

static void number(struct scanner *c)
{
	if (*c->s == '0' && c->s + 1 < c->end && (c->s[1] | 32) == 'x') {
		for (c->s += 2;
		     c->s < c->end && isxdigit((unsigned char)*c->s);)
			c->s++;
		return;
	}
	for (; c->s < c->end; c->s++) {
		bool sign = (*c->s == '-' || *c->s == '+') &&
		            (c->s[-1] | 32) == 'e';
		bool power = (*c->s | 32) == 'e' && c->s + 1 < c->end &&
		             strchr("+-0123456789", c->s[1]);
		if (!isdigit((unsigned char)*c->s) && *c->s != '.' && !sign &&
		    !power)
			return;
	}
}

/* Of MySQL; PostgreSQL's own are only passed over. */
static void sign(struct scanner *c)
{
	static const char *const longer[] = {
		"<=>", "&&", "||", ":=", "!=", "<>",
		"<=",  ">=", "<<", ">>", "::"
	};
	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
		size_t n = strlen(longer[i]);
		if ((size_t)(c->end - c->s) < n || strncmp(c->s, longer[i], n))
			continue;
		c->s += n;
		return;
	}
	c->s++;
}

/* A letter before a string: E'..', x'..', N'..', _utf8'..'. */
static bool introduces(const struct scanner *c, const char *from)
{
	return c->s < c->end && *c->s == '\'' &&
	       ((c->s - from == 1 && strchr("eExXbBnN", *from)) ||
	        (c->mysql && *from == '_'));
}

static void word(struct scanner *c)
{
	const char *from = c->s;
	unsigned char first = (unsigned char)*from;
	if (first == '\'' || (first == '"' && c->mysql)) {
		quoted(c, (char)first, c->mysql);
		add(c, WORD_STRING, from);
	} else if (first == '"' || (first == '`' && c->mysql)) {
		quoted(c, (char)first, false);
		add(c, WORD_QUOTED, from);
	} else if (isdigit(first) ||
	           (first == '.' && c->s + 1 < c->end &&
	            isdigit((unsigned char)c->s[1]) &&
	            (c->s == c->text || !in_name((unsigned char)c->s[-1])))) {
		number(c);
		add(c, WORD_NUMBER, from);
	} else if (first == '$' && c->s + 1 < c->end &&
	           isdigit((unsigned char)c->s[1])) {
		for (c->s++; c->s < c->end && isdigit((unsigned char)*c->s);)
			c->s++;
		add(c, WORD_PARAMETER, from);
	} else if (first == '$' && !c->mysql && dollar_string(c)) {
		add(c, WORD_STRING, from);
	} else if (c->mysql && (first == '@' || first == '?')) {
		for (c->s++; c->s < c->end && (in_name((unsigned char)*c->s) ||
		                               strchr("@.", *c->s));)
			c->s++;
		add(c, WORD_VARIABLE, from);
	} else if (starts_name(first)) {
		while (c->s < c->end && in_name((unsigned char)*c->s)) c->s++;
		bool string = introduces(c, from);
		if (string) quoted(c, '\'', c->mysql || (*from | 32) == 'e');
		add(c, string ? WORD_STRING : WORD_NAME, from);
	} else {
		sign(c);
		add(c, WORD_SIGN, from);
	}
}

bool words_read(struct sql_words *w, const char *text, size_t length,
                bool mysql)
{
	struct scanner c = { .to = w,
		             .text = text,
		             .s = text,
		             .end = text + length,
		             .mysql = mysql,
		             .whole = true };
	assert(length < UINT32_MAX);
	w->text = text;
	w->count = w->comment_count = 0;
	for (skip(&c); c.s < c.end; skip(&c)) word(&c);
	return c.whole;
}
