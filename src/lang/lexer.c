#include "lang/lexer.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "lang/limits.h"

struct lexer {
	struct sources *all;
	uint32_t source;
	const char *text;
	uint32_t at, length;
	struct tokens *out;
	bool failed;
};

static const struct {
	const char *word;
	uint32_t length;
	enum token_kind kind;
} keywords[] = {
#define X(id, word) { word, sizeof word - 1, id },
	KEYWORD_TABLE(X)
#undef X
}, signs[] = {
#define X(id, word) { word, sizeof word - 1, id },
	SIGN_TABLE(X)
#undef X
};

const char *token_name(enum token_kind kind)
{
	switch (kind) {
	case TOKEN_END: return "the end of the file";
	case TOKEN_NAME: return "a name";
	case TOKEN_INTEGER: return "a number";
	case TOKEN_STRING: return "a string";
	case TOKEN_COMMENT: return "a comment";
#define X(id, word) \
	case id: return "'" word "'";
		KEYWORD_TABLE(X)
		SIGN_TABLE(X)
#undef X
	case TOKEN_KIND_COUNT: break;
	}
	return "";
}

bool token_is_keyword(enum token_kind kind)
{
	return kind >= TOKEN_GLOBAL && kind <= TOKEN_NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct place place_at(const struct lexer *x, uint32_t offset)
{
	return (struct place){ x->source, offset };
}

static void add(struct lexer *x, enum token_kind kind, uint32_t start)
{
	struct tokens *out = x->out;
	assert(x->at >= start && x->at <= x->length);
	VEC_RESERVE(out->items, out->count, out->capacity);
	out->items[out->count++] = (struct token){ .kind = kind,
		                                   .offset = start,
		                                   .length = x->at - start };
}

static void lex_word(struct lexer *x)
{
	uint32_t start = x->at;
	while (is_letter(x->text[x->at]) || is_digit(x->text[x->at])) x->at++;
	uint32_t length = x->at - start;
	assert(length > 0);
	enum token_kind kind = TOKEN_NAME;
	if (length > LIMIT_NAME) {
		source_error(x->all, place_at(x, start),
		             "the name is longer than %d bytes", LIMIT_NAME);
		x->failed = true;
		x->at = start + LIMIT_NAME;
		add(x, TOKEN_NAME, start);
		x->at = start + length;
		return;
	}
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (keywords[i].length == length &&
		    !memcmp(keywords[i].word, x->text + start, length))
			kind = keywords[i].kind;
	add(x, kind, start);
}

static void lex_number(struct lexer *x)
{
	uint32_t start = x->at;
	while (is_digit(x->text[x->at])) x->at++;
	add(x, TOKEN_INTEGER, start);
	bool fraction = x->text[x->at] == '.' && is_digit(x->text[x->at + 1]);
	if (!fraction && !is_letter(x->text[x->at])) return;
	source_error(x->all, place_at(x, x->at),
	             fraction ? "numbers are integers: no fraction may follow"
	                      : "a letter may not follow a number directly");
	x->failed = true;
	x->at++;
	while (is_digit(x->text[x->at]) || is_letter(x->text[x->at])) x->at++;
}

static int hex_digit(char c)
{
	if (is_digit(c)) return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	if (c >= 'A' && c <= 'F') return c - 'A' + 10;
	return -1;
}

/* The code point of \uXXXX with p at the u, or -1. Half of a surrogate pair
 * is none; neither is zero, so that strings can be printed as they are. */
static int32_t unicode_escape(const char *p)
{
	int32_t code = 0;
	assert(*p == 'u');
	for (unsigned i = 1; i <= 4; i++) {
		int digit = hex_digit(p[i]);
		if (digit < 0) return -1;
		code = code * 16 + digit;
	}
	return code == 0 || (code >= 0xd800 && code <= 0xdfff) ? -1 : code;
}

static void check_escape(struct lexer *x)
{
	const char *p = x->text + x->at + 1; /* the text ends in a zero byte */
	if (*p && strchr("\"\\/nrtbf", *p)) return;
	if (*p == 'u' && unicode_escape(p) > 0) return;
	source_error(x->all, place_at(x, x->at),
	             "no such escape: there are \\\" \\\\ \\/ \\n \\r \\t \\b "
	             "\\f and \\uXXXX");
	x->failed = true;
}

static void lex_string(struct lexer *x)
{
	uint32_t start = x->at++;
	while (x->at < x->length && x->text[x->at] != '"' &&
	       x->text[x->at] != '\n') {
		if (x->text[x->at] == '\\') {
			check_escape(x);
			x->at++;
			if (x->at >= x->length || x->text[x->at] == '\n') break;
		}
		x->at++;
	}
	if (x->at < x->length && x->text[x->at] == '"') {
		x->at++;
		add(x, TOKEN_STRING, start);
		return;
	}
	source_error(x->all, place_at(x, start),
	             "the string does not end on its line");
	x->failed = true;
	/* Kept as the empty string, so that the parser sees an operand. */
	add(x, TOKEN_STRING, start);
	x->out->items[x->out->count - 1].length = 0;
}

static uint32_t write_utf8(char *out, uint32_t code)
{
	assert(code > 0 && code <= 0xffff);
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

uint32_t token_string(const struct source *s, const struct token *t, char *out)
{
	static const char escapes[] = "n\nr\rt\tb\bf\f";
	uint32_t n = 0, end = t->offset + t->length;
	assert(t->length <= s->length && t->offset <= s->length - t->length);
	for (uint32_t i = t->offset + 1; i + 1 < end; i++) {
		char c = s->text[i];
		if (c != '\\') {
			out[n++] = c;
			continue;
		}
		c = s->text[++i];
		if (c == 'u') {
			int32_t code = unicode_escape(s->text + i);
			if (code > 0) n += write_utf8(out + n, (uint32_t)code);
			i += code > 0 ? 4 : 0;
			continue;
		}
		const char *escape = strchr(escapes, c);
		bool letter = escape && c && (escape - escapes) % 2 == 0;
		out[n++] = letter ? escape[1] : c;
	}
	assert(n <= t->length);
	return n;
}

static bool lex_sign(struct lexer *x)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (strncmp(x->text + x->at, signs[i].word, signs[i].length))
			continue;
		x->at += signs[i].length;
		add(x, signs[i].kind, x->at - signs[i].length);
		return true;
	}
	return false;
}

/* A string in the wrong quotes. */
static void lex_quote(struct lexer *x, uint32_t start)
{
	source_error(x->all, place_at(x, start),
	             "strings are written in double quotes");
	while (x->at < x->length && x->text[x->at] != '\n')
		if (x->text[x->at++] == '\'') return;
}

/* Something that begins no token: reported once for a run of such bytes. */
static void lex_unknown(struct lexer *x)
{
	uint32_t start = x->at;
	const char *p = x->text + start;
	unsigned n = 1;
	while (((unsigned char)p[n] & 0xc0) == 0x80) n++;
	x->failed = true;
	assert(n <= x->length - x->at);
	x->at += n;
	if ((unsigned char)*p < 0x20 || *p == 0x7f)
		source_error(x->all, place_at(x, start),
		             "unexpected control character");
	else if (*p == '\'')
		lex_quote(x, start);
	else if (*p == '&' || *p == '|') {
		source_error(x->all, place_at(x, start),
		             "unexpected '%c'; write '%c%c'", *p, *p, *p);
		/* As meant, so that the parser finds nothing else wrong. */
		add(x, *p == '&' ? TOKEN_AND : TOKEN_OR, start);
	} else
		source_error(x->all, place_at(x, start),
		             "unexpected character '%.*s'", (int)n, p);
	while (x->at < x->length && ((unsigned char)x->text[x->at] & 0x80))
		x->at++;
}

static void lex_comment(struct lexer *x, bool wanted)
{
	uint32_t start = x->at;
	const char *end =
		memchr(x->text + start, '\n', (size_t)(x->length - start));
	x->at = end ? (uint32_t)(end - x->text) : x->length;
	uint32_t after = x->at;
	while (x->at > start &&
	       (x->text[x->at - 1] == '\r' || x->text[x->at - 1] == ' ' ||
	        x->text[x->at - 1] == '\t'))
		x->at--;
	if (wanted) add(x, TOKEN_COMMENT, start);
	x->at = after;
}

/* A comment of another language: one error, and on after it. */
static void lex_foreign_comment(struct lexer *x)
{
	source_error(x->all, place_at(x, x->at),
	             "comments begin with '//' and end with the line");
	x->failed = true;
	const char *end = strstr(x->text + x->at + 2, "*/");
	x->at = end ? (uint32_t)(end + 2 - x->text) : x->length;
}

static void lex_all(struct lexer *x, bool comments)
{
	while (x->at < x->length && !sources_full(x->all)) {
		char c = x->text[x->at];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			x->at++;
		else if (c == '/' && x->text[x->at + 1] == '/')
			lex_comment(x, comments);
		else if (c == '/' && x->text[x->at + 1] == '*')
			lex_foreign_comment(x);
		else if (is_letter(c))
			lex_word(x);
		else if (is_digit(c))
			lex_number(x);
		else if (c == '"')
			lex_string(x);
		else if (!lex_sign(x))
			lex_unknown(x);
	}
	x->at = x->length;
	assert(x->at == x->length);
	add(x, TOKEN_END, x->length);
}

bool lex(struct sources *all, uint32_t source, bool comments,
         struct tokens *out)
{
	const struct source *s = &all->items[source];
	struct lexer x = { .all = all,
		           .source = source,
		           .text = s->text,
		           .length = s->length,
		           .out = out };
	assert(source < all->count);
	if (!strncmp(s->text, "\xef\xbb\xbf", 3)) x.at = 3;
	lex_all(&x, comments);
	return !x.failed;
}

void lex_part(struct sources *all, uint32_t source, uint32_t from, uint32_t to,
              struct tokens *out)
{
	struct lexer x = { .all = all,
		           .source = source,
		           .text = all->items[source].text,
		           .at = from,
		           .length = to,
		           .out = out };
	assert(from <= to && to <= all->items[source].length);
	lex_all(&x, false);
}
