/* The syntax of EDN, for forms.h. */
#include <string.h>

#include "formats/forms.h"

static bool is_blank(char c)
{
	return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' ||
	       c == '\f' || c == '\v';
}

/* Ends an atom. */
static bool is_delimiter(char c)
{
	return is_blank(c) || (c && strchr("()[]{}\";", c));
}

static void skip_blanks(struct forms *f)
{
	for (; f->at < f->end; f->at++) {
		if (*f->at == ';')
			while (f->at + 1 < f->end && f->at[1] != '\n') f->at++;
		else if (!is_blank(*f->at))
			return;
		f->line += *f->at == '\n';
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_symbol(char c)
{
	return is_letter(c) || is_digit(c) ||
	       (c && strchr(".*+!-_?$%&=<>/#:'", c));
}

/* [-+]? (0 | [1-9][0-9]*) N?, or a real: with a fraction, an exponent or M.
 * The token is [x->at, f->at). */
static bool number(struct forms *f, struct form *x)
{
	const char *p = x->at, *digits;
	if (*p == '+') p++;
	x->text = p;
	if (*p == '-') p++;
	digits = p;
	while (p < f->at && is_digit(*p)) p++;
	x->length = (size_t)(p - x->text);
	x->end = f->at;
	if (*digits == '0' && p - digits > 1)
		return form_error(f, x, "a number with a leading 0");
	x->kind = FORM_INTEGER;
	forms_integer(x);
	if (p == f->at || (*p == 'N' && p + 1 == f->at)) return true;
	x->kind = FORM_REAL;
	if (*p == '.')
		for (p++; p < f->at && is_digit(*p);) p++;
	if (p + 1 < f->at && (*p | 32) == 'e') {
		p += 1 + (p[1] == '+' || p[1] == '-');
		const char *exponent = p;
		while (p < f->at && is_digit(*p)) p++;
		if (p == exponent) p = x->at;
	}
	p += p < f->at && *p == 'M';
	return p == f->at || form_expected(f, x, "a number");
}

/* Behind the backslash: a character, or its name. */
static bool character(struct forms *f, struct form *x)
{
	const char *start = ++f->at;
	if (f->at < f->end) f->at++;
	while (f->at < f->end && !is_delimiter(*f->at)) f->at++;
	x->kind = FORM_CHARACTER;
	x->text = start;
	x->length = (size_t)(f->at - start);
	x->end = f->at;
	return x->length || form_expected(f, x, "a character");
}

static bool symbol(struct forms *f, struct form *x)
{
	char shown[32];
	for (const char *p = x->at; p < f->at; p++)
		if (!is_symbol(*p))
			return forms_error_at(f, p, "unexpected %s",
			                      forms_show(f, p, shown));
	x->kind = FORM_SYMBOL;
	x->text = x->at;
	x->length = (size_t)(f->at - x->at);
	x->end = f->at;
	if (*x->at == ':') {
		if (x->length == 1)
			return form_error(f, x, "a colon without a keyword");
		x->kind = FORM_KEYWORD;
		x->text++;
		x->length--;
	} else if (form_is(x, "nil")) {
		x->kind = FORM_NULL;
	} else if (form_is(x, "true") || form_is(x, "false")) {
		x->kind = FORM_BOOL;
		x->number = *x->text == 't';
	}
	return true;
}

static bool atom(struct forms *f, struct form *x)
{
	if (*f->at == '\\') return character(f, x);
	char first = *f->at;
	if (!is_symbol(first)) {
		char shown[32];
		return forms_error_at(f, f->at, "unexpected %s",
		                      forms_show(f, f->at, shown));
	}
	while (f->at < f->end && !is_delimiter(*f->at)) f->at++;
	bool sign = (first == '-' || first == '+') && f->at - x->at > 1;
	return is_digit(x->at[sign]) ? number(f, x) : symbol(f, x);
}

static bool closing(struct forms *f, struct form *x)
{
	static const char opening[] = "([{", closers[] = ")]}";
	char open = f->depth ? f->open[f->depth - 1] : '\0';
	char shown[32];
	if (!open)
		return forms_error_at(f, f->at, "%s closes nothing",
		                      forms_show(f, f->at, shown));
	if (open == '#') open = '{';
	char wanted = closers[strchr(opening, open) - opening];
	if (*f->at != wanted)
		return forms_error_at(f, f->at, "expected '%c', found %s",
		                      wanted, forms_show(f, f->at, shown));
	return forms_pop(f, x);
}

static bool the_end(struct forms *f, struct form *x)
{
	x->kind = FORM_END;
	return !f->depth || forms_unclosed(f);
}

/* What stands next where tags and #_ are forms like others: as tags they give
 * the kind SYMBOL with the bracket '#' or '_'. */
static bool raw_next(struct forms *f, struct form *x)
{
	skip_blanks(f);
	x->at = x->end = x->text = f->at;
	x->length = 0;
	x->line = f->line;
	x->key = false;
	x->bracket = '\0';
	if (f->at >= f->end) return the_end(f, x);
	switch (*f->at) {
	case '(':
	case '[':
	case '{': f->at++; return forms_push(f, x, *x->at);
	case ')':
	case ']':
	case '}': return closing(f, x);
	case '"': return forms_string(f, x);
	case '#': break;
	default: return atom(f, x);
	}
	char next = f->end - f->at > 1 ? f->at[1] : '\0';
	f->at++;
	if (next == '{') {
		f->at++;
		return forms_push(f, x, '#');
	}
	x->bracket = next == '_' ? '_' : '#';
	if (next == '_')
		f->at++;
	else if (next == ':' || is_letter(next))
		return atom(f, x);
	else
		return forms_error_at(f, x->at, "'#' that begins nothing");
	x->kind = FORM_SYMBOL;
	return true;
}

/* Passes over one form behind #_; a further #_ on the way takes one more. */
static bool discard(struct forms *f, const struct form *tag)
{
	struct form x;
	for (unsigned pending = 1; pending; pending--) {
		if (!raw_next(f, &x)) return false;
		if (x.kind == FORM_END || x.kind == FORM_CLOSE)
			return form_error(f, tag, "nothing follows #_");
		if (x.kind == FORM_SYMBOL && x.bracket)
			pending += x.bracket == '_' ? 2 : 1;
		unsigned outside = f->depth - 1u;
		if (x.kind != FORM_OPEN) continue;
		while (f->depth > outside)
			if (!raw_next(f, &x)) return false;
	}
	return true;
}

bool edn_form_next(struct forms *f, struct form *x)
{
	struct form tag = { .kind = FORM_END };
	for (;;) {
		if (!raw_next(f, x)) return false;
		if (!x->bracket || x->kind == FORM_OPEN ||
		    x->kind == FORM_CLOSE)
			break;
		if (x->bracket == '#')
			tag = *x;
		else if (!discard(f, x))
			return false;
	}
	bool nothing = x->kind == FORM_END || x->kind == FORM_CLOSE;
	if (tag.kind != FORM_END && nothing)
		return form_error(f, &tag, "nothing follows the tag");
	return true;
}
