#include "sql/numeric.h"

#include <assert.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	SCALE_MOST = 16383,   /* digits behind the point */
	DIGITS_MOST = 131072, /* and before it */
	DIVISION_SCALE_MOST = 1000,
	DIVISION_DIGITS = 16, /* that count, at least */
	BASE_DIGITS = 4,      /* PostgreSQL computes in base 10,000 */
	POWER_BITS_MOST = 1 << 26
};

/* n * 10^-scale */
struct decimal {
	mpz_t n;
	long scale;
};

/* n * 10^by */
static void shift(mpz_t n, long by)
{
	mpz_t power;
	assert(by >= 0);
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, (unsigned long)by);
	mpz_mul(n, n, power);
	mpz_clear(power);
}

/* How a quotient becomes whole. */
enum rounding { TO_NEAREST, TO_ZERO, UP, DOWN };

static void divide(mpz_t n, const mpz_t by, enum rounding how)
{
	mpz_t rest, twice;
	bool minus = (mpz_sgn(n) < 0) != (mpz_sgn(by) < 0);
	assert(mpz_sgn(by));
	if (how == UP) {
		mpz_cdiv_q(n, n, by);
		return;
	}
	if (how == DOWN) {
		mpz_fdiv_q(n, n, by);
		return;
	}
	mpz_inits(rest, twice, NULL);
	mpz_tdiv_qr(n, rest, n, by);
	mpz_mul_ui(twice, rest, 2);
	if (how == TO_NEAREST && mpz_cmpabs(twice, by) >= 0) {
		if (minus)
			mpz_sub_ui(n, n, 1);
		else
			mpz_add_ui(n, n, 1);
	}
	mpz_clears(rest, twice, NULL);
}

/* The same number with another scale. */
static void rescale(struct decimal *d, long scale, enum rounding how)
{
	if (scale >= d->scale) {
		shift(d->n, scale - d->scale);
	} else {
		mpz_t power;
		mpz_init(power);
		mpz_ui_pow_ui(power, 10, (unsigned long)(d->scale - scale));
		divide(d->n, power, how);
		mpz_clear(power);
	}
	d->scale = scale;
}

/* Both with the greater of their scales. */
static void align(struct decimal *a, struct decimal *b)
{
	long scale = a->scale > b->scale ? a->scale : b->scale;
	rescale(a, scale, TO_NEAREST);
	rescale(b, scale, TO_NEAREST);
	assert(a->scale == b->scale);
}

/* ---- Texts ---- */

/* Of a value of type numeric. */
static void take(struct decimal *d, struct value v)
{
	assert(v.tag == VALUE_STRING);
	const char *point = memchr(v.o->bytes, '.', v.o->length);
	char *digits = mem_copy_string(v.o->bytes);
	d->scale = 0;
	if (point) {
		size_t at = (size_t)(point - v.o->bytes);
		d->scale = (long)(v.o->length - at - 1);
		memmove(digits + at, digits + at + 1, (size_t)d->scale + 1);
	}
	int bad = mpz_init_set_str(d->n, digits, 10);
	assert(!bad);
	(void)bad;
	free(digits);
}

static struct value give(struct region *r, struct decimal *d)
{
	struct text t = { 0 };
	bool minus = mpz_sgn(d->n) < 0;
	mpz_abs(d->n, d->n);
	char *digits = mpz_get_str(NULL, 10, d->n);
	size_t length = strlen(digits), scale = (size_t)d->scale;
	assert(d->scale >= 0 && length);
	if (minus) text_char(&t, '-');
	if (length <= scale) {
		text_string(&t, "0.");
		text_pad(&t, '0', scale - length);
		text_string(&t, digits);
	} else {
		text_bytes(&t, digits, length - scale);
		if (scale) text_char(&t, '.');
		text_string(&t, digits + length - scale);
	}
	struct value v = value_string(r, text_get(&t), t.length);
	free(digits);
	mpz_clear(d->n);
	text_free(&t);
	return v;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool overflows(struct region *r, struct sql_failure *why)
{
	return sql_fail(r, why, "22003", "value overflows numeric format");
}

/* digits [. digits] [e exponent], at least one digit */
static bool read_number(const char *s, const char *end, struct text *digits,
                        long *scale)
{
	bool any = false, point = false;
	if (s < end && (*s == '-' || *s == '+')) {
		if (*s == '-') text_char(digits, '-');
		s++;
	}
	for (; s < end && ((*s >= '0' && *s <= '9') || (*s == '.' && !point));
	     s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		any = true;
		text_char(digits, *s);
		*scale += point;
	}
	if (!any) return false;
	if (s < end && (*s == 'e' || *s == 'E')) {
		char *after;
		const char *from = s + 1;
		if (from < end && (*from == '-' || *from == '+')) from++;
		if (from >= end || *from < '0' || *from > '9') return false;
		long e = strtol(s + 1, &after, 10);
		if (e > 2 * DIGITS_MOST) e = 2 * DIGITS_MOST;
		if (e < -2 * DIGITS_MOST) e = -2 * DIGITS_MOST;
		*scale -= e;
		s = after;
	}
	return s == end;
}

bool sql_numeric_of_text(struct region *r, struct value text, struct value *out,
                         struct sql_failure *why)
{
	const char *s = text.o->bytes, *end = s + text.o->length;
	struct text digits = { 0 };
	struct decimal d = { .scale = 0 };
	while (s < end && is_blank(*s)) s++;
	while (end > s && is_blank(end[-1])) end--;
	if (!read_number(s, end, &digits, &d.scale)) {
		text_free(&digits);
		return sql_fail(r, why, "22P02",
		                "invalid input syntax for type numeric: \"%s\"",
		                text.o->bytes);
	}
	bool fits = (long)digits.length - d.scale <= DIGITS_MOST;
	if (fits) {
		mpz_init_set_str(d.n, text_get(&digits), 10);
		if (d.scale < 0) rescale(&d, 0, TO_NEAREST);
		if (d.scale > SCALE_MOST) rescale(&d, SCALE_MOST, TO_NEAREST);
		*out = give(r, &d);
	}
	text_free(&digits);
	return fits || overflows(r, why);
}

struct value sql_numeric_of_integer(struct region *r, int64_t i)
{
	struct text t = { 0 };
	text_int(&t, i);
	struct value v = value_string(r, text_get(&t), t.length);
	text_free(&t);
	return v;
}

bool sql_numeric_to_integer(struct region *r, struct value v, enum sql_kind to,
                            struct value *out, struct sql_failure *why)
{
	struct decimal d;
	int bits = to == SQL_INT2 ? 15 : to == SQL_INT4 ? 31 : 63;
	assert(sql_is_integer(to));
	take(&d, v);
	rescale(&d, 0, TO_NEAREST);
	mpz_t most;
	mpz_init_set_ui(most, 1);
	mpz_mul_2exp(most, most, (unsigned long)bits);
	int order = mpz_cmpabs(d.n, most);
	bool fits = order < 0 || (!order && mpz_sgn(d.n) < 0);
	if (fits) *out = value_int((int64_t)mpz_get_si(d.n));
	mpz_clears(d.n, most, NULL);
	return fits ||
	       sql_fail(r, why, "22003", "%s out of range", sql_kind_name(to));
}

bool sql_numeric_fit(struct region *r, struct value v, int32_t length,
                     struct value *out, struct sql_failure *why)
{
	int precision = length >> 16, scale = length & 0xffff;
	struct decimal d, most = { .scale = 0 };
	assert(precision > 0);
	take(&d, v);
	rescale(&d, scale, TO_NEAREST);
	mpz_init(most.n);
	mpz_ui_pow_ui(most.n, 10, (unsigned long)precision);
	bool fits = mpz_cmpabs(d.n, most.n) < 0;
	mpz_clear(most.n);
	*out = give(r, &d);
	return fits || sql_fail(r, why, "22003", "numeric field overflow");
}

/* ---- Computing ---- */

/* The weight of the first digit in base 10,000, and that digit: of the number
 * as PostgreSQL holds it. */
static long first_digit(const struct decimal *d, long *digit)
{
	mpz_t n;
	*digit = 0;
	if (!mpz_sgn(d->n)) return 0;
	mpz_init(n);
	mpz_abs(n, d->n);
	long digits = (long)mpz_sizeinbase(n, 10), weight;
	mpz_t least; /* mpz_sizeinbase() may be one too many */
	mpz_init(least);
	mpz_ui_pow_ui(least, 10, (unsigned long)(digits - 1));
	if (mpz_cmp(n, least) < 0) digits--;
	mpz_clear(least);
	long exponent = digits - 1 - d->scale;
	weight = exponent >= 0 ? exponent / BASE_DIGITS
	                       : -((-exponent + BASE_DIGITS - 1) / BASE_DIGITS);
	struct decimal top = { .scale = d->scale + BASE_DIGITS * weight };
	mpz_init_set(top.n, n);
	if (top.scale < 0) {
		shift(top.n, -top.scale);
		top.scale = 0;
	}
	rescale(&top, 0, TO_ZERO);
	*digit = (long)mpz_get_ui(top.n);
	assert(*digit > 0 && *digit < 10000);
	mpz_clears(n, top.n, NULL);
	return weight;
}

/* select_div_scale(): at least 16 digits that count. */
static long quotient_scale(const struct decimal *a, const struct decimal *b)
{
	long da, db;
	long weight = first_digit(a, &da) - first_digit(b, &db);
	if (da <= db) weight--;
	long scale = DIVISION_DIGITS - weight * BASE_DIGITS;
	if (scale < a->scale) scale = a->scale;
	if (scale < b->scale) scale = b->scale;
	if (scale < 0) scale = 0;
	return scale > DIVISION_SCALE_MOST ? DIVISION_SCALE_MOST : scale;
}

/* a := a / b */
static void quotient(struct decimal *a, const struct decimal *b)
{
	long scale = quotient_scale(a, b);
	/* a.n / 10^a.scale * 10^b.scale / b.n * 10^scale */
	long by = scale + b->scale - a->scale;
	mpz_t divisor;
	mpz_init_set(divisor, b->n);
	if (by >= 0)
		shift(a->n, by);
	else
		shift(divisor, -by);
	divide(a->n, divisor, TO_NEAREST);
	a->scale = scale;
	mpz_clear(divisor);
}

bool sql_numeric_compute(struct region *r, enum sql_operation op,
                         struct value left, struct value right,
                         struct value *out, struct sql_failure *why)
{
	struct decimal a, b;
	take(&a, left);
	take(&b, right);
	bool divides = op == DO_DIV || op == DO_MOD, fine = true;
	if (divides && !mpz_sgn(b.n)) {
		mpz_clears(a.n, b.n, NULL);
		return sql_fail(r, why, "22012", "division by zero");
	}
	switch (op) {
	case DO_MUL:
		mpz_mul(a.n, a.n, b.n);
		a.scale += b.scale;
		if (a.scale > SCALE_MOST) rescale(&a, SCALE_MOST, TO_NEAREST);
		break;
	case DO_DIV: quotient(&a, &b); break;
	case DO_ADD:
	case DO_SUB:
	case DO_MOD:
		align(&a, &b);
		if (op == DO_ADD)
			mpz_add(a.n, a.n, b.n);
		else if (op == DO_SUB)
			mpz_sub(a.n, a.n, b.n);
		else
			mpz_tdiv_r(a.n, a.n, b.n);
		break;
	default: assert(!"arithmetic");
	}
	fine = (long)mpz_sizeinbase(a.n, 10) - a.scale <= DIGITS_MOST + 1;
	mpz_clear(b.n);
	*out = give(r, &a);
	return fine || overflows(r, why);
}

/* The whole number that it is; false: it is none, or does not fit. */
static bool whole(const struct decimal *d, long *out)
{
	mpz_t ten, q, rest;
	mpz_inits(ten, q, rest, NULL);
	mpz_ui_pow_ui(ten, 10, (unsigned long)d->scale);
	mpz_tdiv_qr(q, rest, d->n, ten);
	bool fits = !mpz_sgn(rest) && mpz_cmpabs_ui(q, INT32_MAX) <= 0;
	*out = fits ? mpz_get_si(q) : 0;
	mpz_clears(ten, q, rest, NULL);
	return fits;
}

/* Of a power: about so many digits stand before the point; of one below 1,
 * zeros behind it, as a negative number. */
static double power_digits(const struct decimal *x, long y)
{
	long e;
	double top = mpz_get_d_2exp(&e, x->n);
	double digits = log10(fabs(top)) + (double)e * log10(2);
	return (double)y * (digits - (double)x->scale);
}

bool sql_numeric_can_raise(struct value left, struct value right)
{
	struct decimal x, y;
	long by;
	take(&x, left);
	take(&y, right);
	bool can = whole(&y, &by);
	double bits = (double)mpz_sizeinbase(x.n, 2) * labs(by);
	double digits = mpz_sgn(x.n) ? power_digits(&x, by) : 0;
	can = can && (bits <= POWER_BITS_MOST || digits > DIGITS_MOST ||
	              digits < -SCALE_MOST);
	/* Those that are errors are such in any case. */
	can |= (!mpz_sgn(x.n) && mpz_sgn(y.n) < 0) || mpz_sgn(x.n) < 0;
	mpz_clears(x.n, y.n, NULL);
	return can;
}

/* x := x ^ by, with `scale` digits behind the point. */
static void raise_to(struct decimal *x, long by, long scale)
{
	mpz_t ten;
	mpz_init(ten);
	mpz_ui_pow_ui(ten, 10, (unsigned long)(x->scale * labs(by)));
	mpz_pow_ui(x->n, x->n, (unsigned long)labs(by));
	if (by >= 0) {
		shift(x->n, scale);
		divide(x->n, ten, TO_NEAREST);
	} else {
		shift(ten, scale);
		divide(ten, x->n, TO_NEAREST);
		mpz_swap(ten, x->n);
	}
	x->scale = scale;
	mpz_clear(ten);
}

bool sql_numeric_raise(struct region *r, struct value left, struct value right,
                       struct value *out, struct sql_failure *why)
{
	enum { SCALE = 16 };
	struct decimal x, y;
	long by;
	take(&x, left);
	take(&y, right);
	bool is_whole = whole(&y, &by), below = mpz_sgn(y.n) < 0, fits = true;
	mpz_clear(y.n);
	if ((!mpz_sgn(x.n) && below) || (mpz_sgn(x.n) < 0 && !is_whole)) {
		below = !mpz_sgn(x.n);
		mpz_clear(x.n);
		return sql_fail(r, why, "2201F",
		                below ? "zero raised to a negative power is "
		                        "undefined"
		                      : "a negative number raised to a "
		                        "non-integer power yields a complex "
		                        "result");
	}
	assert(is_whole);
	long scale = x.scale > SCALE ? x.scale : SCALE;
	if (scale > DIVISION_SCALE_MOST) scale = DIVISION_SCALE_MOST;
	double digits = mpz_sgn(x.n) ? power_digits(&x, by) : 0;
	if (digits < -SCALE_MOST) {
		mpz_set_ui(x.n, 0);
		x.scale = scale;
	} else if (digits <= DIGITS_MOST) {
		raise_to(&x, by, scale);
		fits = (long)mpz_sizeinbase(x.n, 10) - scale <= DIGITS_MOST + 1;
	} else {
		fits = false;
	}
	*out = give(r, &x);
	return fits || overflows(r, why);
}

/* With at least 16 digits that count. */
bool sql_numeric_root(struct region *r, struct value v, struct value *out,
                      struct sql_failure *why)
{
	struct decimal d;
	long digit;
	take(&d, v);
	if (mpz_sgn(d.n) < 0) {
		mpz_clear(d.n);
		return sql_fail(r, why, "2201F",
		                "cannot take square root of a negative number");
	}
	long scale = DIVISION_DIGITS -
	             ((first_digit(&d, &digit) + 1) * BASE_DIGITS / 2 - 1);
	if (scale < d.scale) scale = d.scale;
	if (scale < 0) scale = 0;
	if (scale > DIVISION_SCALE_MOST) scale = DIVISION_SCALE_MOST;
	/* One digit more is enough to round by: what is cut off behind a 5 is
	 * rounded up anyway. */
	rescale(&d, 2 * (scale + 1), TO_ZERO);
	mpz_sqrt(d.n, d.n);
	d.scale = scale + 1;
	rescale(&d, scale, TO_NEAREST);
	*out = give(r, &d);
	return true;
}

struct value sql_numeric_change(struct region *r, enum sql_operation op,
                                struct value v, int64_t digits)
{
	struct decimal d;
	take(&d, v);
	switch (op) {
	case DO_NEGATE: mpz_neg(d.n, d.n); break;
	case DO_ABS: mpz_abs(d.n, d.n); break;
	case DO_SIGN:
		mpz_set_si(d.n, mpz_sgn(d.n));
		d.scale = 0;
		break;
	case DO_CEIL: rescale(&d, 0, UP); break;
	case DO_FLOOR: rescale(&d, 0, DOWN); break;
	default:
		assert(op == DO_ROUND || op == DO_TRUNC);
		if (digits > SCALE_MOST) digits = SCALE_MOST;
		if (digits < -DIGITS_MOST) digits = -DIGITS_MOST;
		rescale(&d, digits, op == DO_ROUND ? TO_NEAREST : TO_ZERO);
		if (d.scale < 0) rescale(&d, 0, TO_NEAREST);
	}
	return give(r, &d);
}

int sql_numeric_compare(struct value a, struct value b)
{
	struct decimal x, y;
	take(&x, a);
	take(&y, b);
	align(&x, &y);
	int order = mpz_cmp(x.n, y.n);
	mpz_clears(x.n, y.n, NULL);
	return (order > 0) - (order < 0);
}

struct value sql_numeric_normal(struct region *r, struct value v)
{
	uint32_t n = v.o->length;
	if (!memchr(v.o->bytes, '.', n)) return v;
	while (v.o->bytes[n - 1] == '0') n--;
	if (v.o->bytes[n - 1] == '.') n--;
	return value_string(r, v.o->bytes, n);
}
