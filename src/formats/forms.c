#include "formats/forms.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void forms_init(struct forms *f, const struct input *in, const char *at,
                const char *end, uint32_t line, enum form_syntax syntax,
                struct diags *diags)
{
	f->in = in;
	f->diags = diags;
	f->syntax = syntax;
	f->unescaped = (struct text){ 0 };
	forms_restart(f, at, end, line);
}

void forms_restart(struct forms *f, const char *at, const char *end,
                   uint32_t line)
{
	assert(at && at <= end);
	f->at = at;
	f->end = end;
	f->line = line;
	f->depth = 0;
	f->phase = 0;
}

void forms_free(struct forms *f)
{
	text_free(&f->unescaped);
}

bool form_next(struct forms *f, struct form *x)
{
	assert(f->at <= f->end);
	return f->syntax == FORM_JSON ? json_form_next(f, x)
	                              : edn_form_next(f, x);
}

bool form_skip(struct forms *f, struct form *x)
{
	if (x->kind != FORM_OPEN) return true;
	unsigned outside = f->depth - 1u;
	struct form y;
	while (f->depth > outside)
		if (!form_next(f, &y)) return false;
	assert(f->depth == outside);
	x->end = y.end;
	return true;
}

/* ---- errors ---- */

bool forms_error_at(struct forms *f, const char *at, const char *format, ...)
{
	struct text message = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	input_error(f->in, f->diags, at, "%s", text_get(&message));
	text_free(&message);
	return false;
}

bool form_error(struct forms *f, const struct form *x, const char *format, ...)
{
	struct text message = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	input_error(f->in, f->diags, x->at, "%s", text_get(&message));
	text_free(&message);
	return false;
}

enum { SHOWN_MAX = 40 };

/* What stands there, cut at the beginning of a character. */
void form_show(struct text *t, const struct form *x)
{
	size_t length = (size_t)(x->end - x->at);
	assert(x->end >= x->at);
	if (x->kind == FORM_END) {
		text_string(t, "the end");
	} else if (length <= SHOWN_MAX) {
		text_bytes(t, x->at, length);
	} else {
		length = SHOWN_MAX;
		while (((unsigned char)x->at[length] & 0xc0) == 0x80) length--;
		text_bytes(t, x->at, length);
		text_string(t, "...");
	}
}

bool form_expected(struct forms *f, const struct form *x, const char *what)
{
	struct text shown = { 0 };
	form_show(&shown, x);
	form_error(f, x, "expected %s, found %s", what, text_get(&shown));
	text_free(&shown);
	return false;
}

const char *forms_show(const struct forms *f, const char *at, char out[32])
{
	unsigned char c = (unsigned char)*at;
	if (at >= f->end)
		return f->end < f->in->bytes + f->in->length
		               ? "the end of the line"
		               : "the end of the file";
	if (c > 32 && c < 127)
		snprintf(out, 32, "'%c'", c);
	else if (c == '\n' || c == '\r')
		snprintf(out, 32, "the end of the line");
	else
		snprintf(out, 32, "the byte 0x%02x", c);
	return out;
}

bool forms_unclosed(struct forms *f)
{
	assert(f->depth > 0 && f->at >= f->end);
	char open = f->open[f->depth - 1];
	return forms_error_at(f, f->opened[f->depth - 1],
	                      "'%s%c' that is not closed",
	                      open == '#' ? "#" : "", open == '#' ? '{' : open);
}

/* ---- atoms ---- */

bool form_is(const struct form *x, const char *word)
{
	return x->length == strlen(word) && !memcmp(x->text, word, x->length);
}

bool form_is_name(const struct form *x)
{
	return x->kind == FORM_STRING || x->kind == FORM_KEYWORD ||
	       x->kind == FORM_SYMBOL;
}

void forms_integer(struct form *x)
{
	bool minus = x->text[0] == '-';
	uint64_t n = 0, limit = (uint64_t)INT64_MAX + minus;
	assert(x->length > minus);
	x->fits = true;
	x->number = 0;
	for (size_t i = minus; i < x->length; i++) {
		unsigned digit = (unsigned)(x->text[i] - '0');
		if (n > (limit - digit) / 10) {
			x->fits = false;
			return;
		}
		n = 10 * n + digit;
	}
	x->number = minus ? (int64_t)(0 - n) : (int64_t)n;
}

bool forms_push(struct forms *f, struct form *x, char bracket)
{
	if (f->depth == FORM_DEPTH_MAX)
		return forms_error_at(f, x->at,
		                      "nested more than %d levels deep",
		                      FORM_DEPTH_MAX);
	assert(f->depth < FORM_DEPTH_MAX);
	f->opened[f->depth] = x->at;
	f->open[f->depth++] = bracket;
	x->kind = FORM_OPEN;
	x->bracket = bracket;
	x->end = f->at;
	return true;
}

bool forms_pop(struct forms *f, struct form *x)
{
	assert(f->depth > 0 && f->at < f->end);
	x->kind = FORM_CLOSE;
	x->bracket = f->open[--f->depth];
	x->end = ++f->at;
	return true;
}

/* ---- strings ---- */

static void add_utf8(struct text *t, uint32_t c)
{
	assert(c > 0 && c <= 0x10ffff);
	if (c < 0x80) {
		text_char(t, (char)c);
		return;
	}
	if (c < 0x800) {
		text_char(t, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		text_char(t, (char)(0xe0 | c >> 12));
		text_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		text_char(t, (char)(0xf0 | c >> 18));
		text_char(t, (char)(0x80 | (c >> 12 & 0x3f)));
		text_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	text_char(t, (char)(0x80 | (c & 0x3f)));
}

/* Four hexadecimal digits at p, or -1. */
static int32_t hexadecimal(const struct forms *f, const char *p)
{
	int32_t n = 0;
	if (f->end - p < 4) return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i], low = (char)(c | 32);
		if (c >= '0' && c <= '9')
			n = 16 * n + (c - '0');
		else if (low >= 'a' && low <= 'f')
			n = 16 * n + (low - 'a' + 10);
		else
			return -1;
	}
	assert(n >= 0 && n <= 0xffff);
	return n;
}

/* \uXXXX at f->at, or a pair of them for a character beyond 16 bits. */
static bool unicode_escape(struct forms *f)
{
	const char *at = f->at;
	int32_t c = hexadecimal(f, at + 2), low;
	assert(f->end - at >= 2 && at[1] == 'u');
	if (c < 0)
		return forms_error_at(f, at,
		                      "\\u needs four hexadecimal digits");
	f->at += 6;
	if (c >= 0xd800 && c < 0xdc00 && f->end - f->at >= 6 &&
	    f->at[0] == '\\' && f->at[1] == 'u') {
		low = hexadecimal(f, f->at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			f->at += 6;
		}
	}
	if (c >= 0xd800 && c < 0xe000)
		return forms_error_at(f, at, "half of a surrogate pair");
	if (!c) return forms_error_at(f, at, "a zero character in a string");
	add_utf8(&f->unescaped, (uint32_t)c);
	return true;
}

static bool escape(struct forms *f)
{
	static const char names[] = "\"\\bfnrt", means[] = "\"\\\b\f\n\r\t";
	char shown[32];
	if (f->end - f->at < 2)
		return forms_error_at(f, f->end, "the string does not end");
	char c = f->at[1];
	if (c == 'u') return unicode_escape(f);
	const char *name = c ? strchr(names, c) : NULL;
	if (name) {
		text_char(&f->unescaped, means[name - names]);
	} else if (c == '/' && f->syntax == FORM_JSON) {
		text_char(&f->unescaped, c);
	} else {
		return forms_error_at(f, f->at, "unknown escape: \\ and %s",
		                      forms_show(f, f->at + 1, shown));
	}
	f->at += 2;
	return true;
}

/* What a string may hold as it is: false if the byte is none of it. */
static bool plain(struct forms *f)
{
	unsigned char c = (unsigned char)*f->at;
	char shown[32];
	assert(f->at < f->end);
	if (c >= 0x80) {
		unsigned n = input_utf8_length(f->at, (size_t)(f->end - f->at));
		if (!n)
			return forms_error_at(f, f->at, "this is not UTF-8: %s",
			                      forms_show(f, f->at, shown));
		f->at += n;
		return true;
	}
	if (!c || (c < 32 && f->syntax == FORM_JSON))
		return forms_error_at(f, f->at, "%s in a string",
		                      forms_show(f, f->at, shown));
	f->line += c == '\n';
	f->at++;
	return true;
}

bool forms_string(struct forms *f, struct form *x)
{
	const char *start = ++f->at;
	bool escaped = false;
	text_clear(&f->unescaped);
	for (;;) {
		const char *run = f->at;
		while (f->at < f->end && *f->at != '"' && *f->at != '\\')
			if ((unsigned char)(*f->at - 32) < 95)
				f->at++;
			else if (!plain(f))
				return false;
		if (f->at >= f->end)
			return forms_error_at(f, x->at,
			                      "the string does not end");
		if (*f->at == '"' && !escaped) break;
		text_bytes(&f->unescaped, run, (size_t)(f->at - run));
		if (*f->at == '"') break;
		escaped = true;
		if (!escape(f)) return false;
	}
	x->kind = FORM_STRING;
	x->text = escaped ? f->unescaped.data : start;
	x->length = escaped ? f->unescaped.length : (size_t)(f->at - start);
	assert(*f->at == '"' && f->at < f->end);
	x->end = ++f->at;
	return true;
}
