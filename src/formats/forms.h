/* Nested data as text, form by form: JSON and EDN, without a tree.
 *
 * A form is a number, a string, another atom, or the opening or closing
 * bracket of a collection. The reader checks the syntax as it goes: brackets
 * match, JSON has its commas and colons where they belong, text is valid
 * UTF-8. It takes time linear in the input and memory bounded by the longest
 * string.
 *
 * JSON is RFC 8259, any number of values one after the other at the top. EDN
 * is as in its specification; comments, commas and forms behind #_ are blanks,
 * tags (#inst, #jepsen.history.Op) are passed over: the tagged form counts.
 */
#ifndef ISO_FORMATS_FORMS_H
#define ISO_FORMATS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "formats/parsers.h"

enum form_syntax { FORM_JSON, FORM_EDN };

enum form_kind {
	FORM_END,   /* of the input */
	FORM_OPEN,  /* bracket: [ { and in EDN ( and # for the set #{ */
	FORM_CLOSE, /* bracket: that of the opening one */
	FORM_NULL,
	FORM_BOOL,    /* number: 0 or 1 */
	FORM_INTEGER, /* number if `fits`; text: its digits, no plus, no N */
	FORM_REAL,
	FORM_STRING,  /* text: without quotes and escapes */
	FORM_KEYWORD, /* text: without the colon */
	FORM_SYMBOL,
	FORM_CHARACTER
};

struct form {
	enum form_kind kind;
	char bracket;
	bool fits;     /* INTEGER: of 64 bits, signed */
	bool key;      /* in JSON: the name of a member of an object */
	uint32_t line; /* from 1, as the reader counts */
	int64_t number;
	const char *at, *end; /* its bytes in the input */
	const char *text;     /* valid until the next form is read; may contain
	                       * no zero byte, but is not followed by one */
	size_t length;
};

enum { FORM_DEPTH_MAX = 256 };

struct forms {
	const struct input *in;
	struct diags *diags;
	const char *at, *end; /* what is left to read */
	enum form_syntax syntax;
	uint32_t line;
	uint16_t depth;
	uint8_t phase;                      /* of JSON: what may follow */
	char open[FORM_DEPTH_MAX];          /* the brackets that are open */
	const char *opened[FORM_DEPTH_MAX]; /* where they stand */
	struct text unescaped;
};

/* Reads [at, end) of the input, whose first byte is in this line. Errors go to
 * `diags`. */
void forms_init(struct forms *f, const struct input *in, const char *at,
                const char *end, uint32_t line, enum form_syntax syntax,
                struct diags *diags);
void forms_free(struct forms *f);
/* Goes on with another part of the input. */
void forms_restart(struct forms *f, const char *at, const char *end,
                   uint32_t line);

/* The next form. False, with an error added, if it is malformed; then nothing
 * more may be read. */
bool form_next(struct forms *f, struct form *x);
/* Passes over the rest of this form: all up to the closing bracket if it is an
 * opening one, else nothing. x->end becomes the end of all of it. */
bool form_skip(struct forms *f, struct form *x);
/* The same for an opening bracket of JSON, and fast: only brackets and strings
 * are looked at. For what is read later by a reader of its own, which then
 * finds whatever is wrong in it. */
bool form_pass(struct forms *f, struct form *x);
/* Adds an error at the form; returns false. */
bool form_error(struct forms *f, const struct form *x, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What stands there, shortened. */
void form_show(struct text *t, const struct form *x);
/* Adds "expected `what`, found ..." at the form; returns false. */
bool form_expected(struct forms *f, const struct form *x, const char *what);
/* Is the text of the form this word? */
bool form_is(const struct form *x, const char *word);
/* A name: a string, keyword or symbol. */
bool form_is_name(const struct form *x);

/* ---- Between the two syntaxes and what they share ---- */

bool json_form_next(struct forms *f, struct form *x);
bool edn_form_next(struct forms *f, struct form *x);

/* An error at this byte of the input; returns false. */
bool forms_error_at(struct forms *f, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The character at this byte as it is shown in messages. */
const char *forms_show(const struct forms *f, const char *at, char out[32]);
/* A string whose opening quote is the next byte. */
bool forms_string(struct forms *f, struct form *x);
/* The digits of x (text and length) as a number, if they fit. */
void forms_integer(struct form *x);
bool forms_push(struct forms *f, struct form *x, char bracket);
/* Takes one bracket off; the next byte closes it. */
bool forms_pop(struct forms *f, struct form *x);
/* Where the input ends inside brackets: adds an error at the innermost one. */
bool forms_unclosed(struct forms *f);

#endif
