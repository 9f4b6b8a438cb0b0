#include "formats/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct scan scan_begin(struct input *in, struct diags *d)
{
	return (struct scan){ in, d, in->bytes, in->bytes + in->length, 1 };
}

bool scan_wrong(struct scan *s, const char *format, ...)
{
	struct text message = { 0 };
	va_list args;
	assert(s->at >= s->in->bytes && s->at <= s->end);
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	bool zero = s->at < s->end && !*s->at;
	input_error(s->in, s->d, s->at, "%s",
	            zero ? "this is not a text: it holds a zero byte"
	                 : text_get(&message));
	text_free(&message);
	return false;
}

bool scan_at_comment(const struct scan *s)
{
	return *s->at == '#' || (s->at[0] == '/' && s->at[1] == '/');
}

static void skip_comment(struct scan *s)
{
	const char *stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
	s->at = stop ? stop : s->end;
}

bool scan_line_end(struct scan *s, const char *expected)
{
	scan_blanks(s);
	if (scan_at_comment(s)) skip_comment(s);
	if (*s->at == '\r') s->at++;
	if (s->at == s->end) return true;
	if (*s->at != '\n') return scan_wrong(s, "expected %s", expected);
	s->at++;
	assert(s->at <= s->end);
	s->line++;
	return true;
}

static bool long_integer(const char *from, const char *to, uint64_t *n)
{
	*n = 0;
	for (; from < to; from++)
		if (__builtin_mul_overflow(*n, (uint64_t)10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(*from - '0'), n))
			return false;
	return true;
}

bool scan_odd_integer(struct scan *s, const char *first, const char *last,
                      struct integer *n)
{
	assert(first <= last && last <= s->end);
	if (first == last) {
		s->at = first;
		return scan_wrong(s, "expected an integer");
	}
	if (!long_integer(first, last, &n->size) ||
	    (n->negative && n->size > (uint64_t)INT64_MAX + 1))
		return scan_wrong(s, "the number does not fit 64 bits");
	if (!n->size) n->negative = false;
	s->at = last;
	return true;
}

struct digits integer_digits(struct integer n)
{
	struct digits d;
	d.length = (size_t)snprintf(d.text, sizeof d.text, "%" PRIu64, n.size);
	assert(d.length < sizeof d.text);
	return d;
}

uint32_t scan_key(struct trace_builder *b, struct integer n)
{
	if (!integer_is_wide(n)) return trace_key_number(b, integer_signed(n));
	struct digits wide = integer_digits(n);
	return trace_key_named(b, wide.text, wide.length);
}

struct trace_value scan_value(struct trace_builder *b, struct integer n)
{
	if (!integer_is_wide(n)) return trace_value_number(integer_signed(n));
	struct text quoted = { 0 };
	struct digits wide = integer_digits(n);
	text_json_string(&quoted, wide.text, wide.length);
	struct trace_value v = trace_value_text(b, quoted.data, quoted.length);
	text_free(&quoted);
	return v;
}

struct trace_rules scan_rules(const struct reader_options *o)
{
	return (struct trace_rules){
		.initial = trace_value_number(0),
		.initial_transaction = true,
		.unknown_is_initial = o->unknown_is_initial,
	};
}
