/* Reading texts of lines and integers, one character after the other. */
#ifndef ISO_FORMATS_SCAN_H
#define ISO_FORMATS_SCAN_H

#include <assert.h>

#include "formats/parsers.h"
#include "history/trace_build.h"

struct scan {
	struct input *in;
	struct diags *d;
	const char *at; /* the next character; a zero byte ends the text */
	const char *end;
	uint32_t line; /* that it is in, from 1 */
};

/* An integer of 64 bits, signed or not. */
struct integer {
	uint64_t size;
	bool negative;
};

struct scan scan_begin(struct input *in, struct diags *d);
/* An error at the next character; returns false. */
bool scan_wrong(struct scan *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Behind [ "#" or "//" comment ] and a line end; or an error: `expected` is
 * what the line should have been. */
bool scan_line_end(struct scan *s, const char *expected);
/* Does a comment begin here? */
bool scan_at_comment(const struct scan *s);
/* What scan_integer does with the integers that are not the usual ones: long
 * or wrong. `first` is the first digit, s->at the minus or the first digit. */
bool scan_odd_integer(struct scan *s, const char *first, const char *last,
                      struct integer *n);

static inline void scan_blanks(struct scan *s)
{
	while (*s->at == ' ' || *s->at == '\t') s->at++;
}

/* integer = ["-"] digit {digit}, blanks before it */
static inline bool scan_integer(struct scan *s, struct integer *n)
{
	scan_blanks(s);
	n->negative = *s->at == '-';
	const char *first = s->at + n->negative, *p = first;
	uint64_t size = 0;
	unsigned digit;
	while ((digit = (unsigned)(unsigned char)*p - '0') <= 9) {
		size = size * 10 + digit;
		p++;
	}
	if (p == first || p - first > 18)
		return scan_odd_integer(s, first, p, n);
	n->size = size;
	if (!size) n->negative = false;
	s->at = p;
	return true;
}

static inline bool integer_same(struct integer a, struct integer b)
{
	return a.size == b.size && a.negative == b.negative;
}
/* Does it only fit 64 bits without a sign? */
static inline bool integer_is_wide(struct integer n)
{
	return !n.negative && n.size > INT64_MAX;
}
static inline int64_t integer_signed(struct integer n)
{
	assert(!integer_is_wide(n));
	return (int64_t)(n.negative ? -n.size : n.size);
}

/* The digits of a wide one. */
struct digits {
	char text[24];
	size_t length;
};
struct digits integer_digits(struct integer n);

/* The key and the value that an integer stands for. Wide ones are strings of
 * digits: integers have a sign elsewhere. */
uint32_t scan_key(struct trace_builder *b, struct integer n);
struct trace_value scan_value(struct trace_builder *b, struct integer n);
/* The rules of the text formats: 0 is the initial value, and a transaction
 * that writes 0 to all its keys is init. */
struct trace_rules scan_rules(const struct reader_options *o);

#endif
