/* The syntax of JSON, for forms.h. */
#include <string.h>

#include "formats/forms.h"

/* What may follow; the kind of the innermost open bracket tells the rest. */
enum phase {
	TOP,   /* a value, or the end */
	FIRST, /* a value or name, or the closing bracket */
	NEXT,  /* a comma, or the closing bracket */
	MEMBER /* a colon and a value */
};

static void skip_blanks(struct forms *f)
{
	for (; f->at < f->end; f->at++) {
		char c = *f->at;
		if (c == '\n')
			f->line++;
		else if (c != ' ' && c != '\t' && c != '\r')
			return;
	}
}

static bool unexpected(struct forms *f, const char *what)
{
	char shown[32];
	if (f->at >= f->end && f->depth) return forms_unclosed(f);
	return forms_error_at(f, f->at, "expected %s, found %s", what,
	                      forms_show(f, f->at, shown));
}

static bool is_digit(const struct forms *f)
{
	return f->at < f->end && *f->at >= '0' && *f->at <= '9';
}

static bool digits(struct forms *f)
{
	if (!is_digit(f)) return unexpected(f, "a digit");
	while (is_digit(f)) f->at++;
	return true;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static bool number(struct forms *f, struct form *x)
{
	x->kind = FORM_INTEGER;
	if (*f->at == '-') f->at++;
	if (f->at < f->end && *f->at == '0') {
		f->at++;
		if (is_digit(f))
			return forms_error_at(f, x->at,
			                      "a number with a leading 0");
	} else if (!digits(f)) {
		return false;
	}
	if (f->at < f->end && *f->at == '.') {
		x->kind = FORM_REAL;
		f->at++;
		if (!digits(f)) return false;
	}
	if (f->at < f->end && (*f->at | 32) == 'e') {
		x->kind = FORM_REAL;
		f->at++;
		if (f->at < f->end && (*f->at == '+' || *f->at == '-')) f->at++;
		if (!digits(f)) return false;
	}
	x->end = f->at;
	x->text = x->at;
	x->length = (size_t)(x->end - x->at);
	if (x->kind == FORM_INTEGER) forms_integer(x);
	return true;
}

static bool word(struct forms *f, struct form *x)
{
	static const struct {
		const char *word;
		enum form_kind kind;
		int64_t number;
	} words[] = {
		{ "null", FORM_NULL, 0 },
		{ "true", FORM_BOOL, 1 },
		{ "false", FORM_BOOL, 0 },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);
		if ((size_t)(f->end - f->at) < n ||
		    memcmp(f->at, words[i].word, n))
			continue;
		x->kind = words[i].kind;
		x->number = words[i].number;
		x->text = f->at;
		x->length = n;
		x->end = f->at += n;
		return true;
	}
	return unexpected(f, "a value");
}

static bool value(struct forms *f, struct form *x)
{
	f->phase = f->depth ? NEXT : TOP;
	char c = f->at < f->end ? *f->at : '\0';
	if (c == '"') return forms_string(f, x);
	if (c == '[' || c == '{') {
		f->at++;
		f->phase = FIRST;
		return forms_push(f, x, c);
	}
	if (c == '-' || (c >= '0' && c <= '9')) return number(f, x);
	return word(f, x);
}

/* The name of a member in an object, a value elsewhere. */
static bool element(struct forms *f, struct form *x)
{
	if (f->open[f->depth - 1] != '{') return value(f, x);
	if (f->at >= f->end || *f->at != '"')
		return unexpected(f, "a name in quotes");
	f->phase = MEMBER;
	x->key = true;
	return forms_string(f, x);
}

static bool starts(struct forms *f, struct form *x)
{
	skip_blanks(f);
	x->at = x->end = f->at;
	x->line = f->line;
	x->text = f->at;
	x->length = 0;
	return f->at < f->end;
}

/* A further element or the closing bracket of what is open. */
static bool in_collection(struct forms *f, struct form *x)
{
	bool object = f->open[f->depth - 1] == '{';
	if (f->at < f->end && *f->at == (object ? '}' : ']')) {
		f->phase = f->depth > 1 ? NEXT : TOP;
		return forms_pop(f, x);
	}
	if (f->phase == FIRST) return element(f, x);
	if (f->at >= f->end || *f->at != ',')
		return unexpected(f, object ? "',' or '}'" : "',' or ']'");
	f->at++;
	starts(f, x);
	return element(f, x);
}

bool json_form_next(struct forms *f, struct form *x)
{
	bool more = starts(f, x);
	x->key = false;
	switch (f->phase) {
	case TOP:
		if (more) return value(f, x);
		x->kind = FORM_END;
		return true;
	case MEMBER:
		if (!more || *f->at != ':') return unexpected(f, "':'");
		f->at++;
		starts(f, x);
		return value(f, x);
	default: return in_collection(f, x);
	}
}

/* The byte behind the string that begins here, or NULL. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\') p++;
	return p < end ? p + 1 : NULL;
}

/* Which brackets are open, a bit each: is it a brace? */
struct open_kinds {
	uint64_t braces[2 * FORM_DEPTH_MAX / 64];
	unsigned depth;
};

static void open_kind(struct open_kinds *k, bool brace)
{
	uint64_t bit = UINT64_C(1) << k->depth % 64;
	uint64_t *word = &k->braces[k->depth++ / 64];
	*word = brace ? *word | bit : *word & ~bit;
}

static bool close_kind(struct open_kinds *k)
{
	k->depth--;
	return k->braces[k->depth / 64] >> k->depth % 64 & 1;
}

/* A bracket at p: false, with an error added, if it should not be there. */
static bool pass_bracket(struct forms *f, struct open_kinds *k, const char *p)
{
	bool brace = *p == '{' || *p == '}', wanted;
	if (*p == '[' || *p == '{') {
		if (k->depth == 2 * FORM_DEPTH_MAX)
			return forms_error_at(f, p,
			                      "nested more than %d "
			                      "levels deep",
			                      k->depth);
		open_kind(k, brace);
		return true;
	}
	wanted = close_kind(k);
	return wanted == brace ||
	       forms_error_at(f, p, "expected '%c', found '%c'",
	                      wanted ? '}' : ']', *p);
}

bool form_pass(struct forms *f, struct form *x)
{
	struct open_kinds kinds = { .depth = 0 };
	const char *p = f->at;
	open_kind(&kinds, x->bracket == '{');
	while (p && p < f->end && kinds.depth) {
		char c = *p;
		f->line += c == '\n';
		if (c == '"') {
			p = string_end(p, f->end);
			continue;
		}
		/* [ and { differ in one bit, and so do ] and } */
		bool bracket = (c | 32) == '{' || (c | 32) == '}';
		if (bracket && !pass_bracket(f, &kinds, p)) return false;
		p++;
	}
	if (!p || kinds.depth)
		return form_error(f, x, "'%c' that is not closed", x->bracket);
	f->at = x->end = p;
	f->depth--;
	f->phase = f->depth ? NEXT : TOP;
	return true;
}
