#include "sql/moment.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

enum { YEAR_MOST = 9999 };

/* ---- The calendar ---- */

struct date {
	int64_t year;
	int month, day;
};

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100) || year % 400 == 0;
}

static int days_of(int64_t year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30,
		                    31, 31, 30, 31, 30, 31 };
	assert(month >= 1 && month <= 12);
	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days since 1970-01-01: years are counted from March. */
static int64_t day_number(struct date d)
{
	int64_t y = d.year - (d.month <= 2), era = y / 400, of_era = y % 400;
	int64_t of_year =
		(153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
	assert(y >= 0);
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	       of_year - 719468;
}

static struct date date_of(int64_t number)
{
	int64_t z = number + 719468, era = z / 146097, of = z % 146097;
	int64_t y = (of - of / 1460 + of / 36524 - of / 146096) / 365;
	int64_t day = of - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * day + 2) / 153;
	struct date d = { era * 400 + y, (int)(m < 10 ? m + 3 : m - 9),
		          (int)(day - (153 * m + 2) / 5 + 1) };
	d.year += d.month <= 2;
	assert(z >= 0 && d.month >= 1 && d.month <= 12);
	assert(d.day >= 1 && d.day <= days_of(d.year, d.month));
	return d;
}

static int64_t first_day(void)
{
	return day_number((struct date){ 1, 1, 1 });
}

static int64_t last_day(void)
{
	return day_number((struct date){ YEAR_MOST, 12, 31 });
}

static int64_t floor_divide(int64_t a, int64_t b)
{
	assert(b > 0);
	return a / b - (a % b < 0);
}

/* ---- Texts ---- */

/* ".25" of a part of a second, or nothing */
static void print_fraction(struct text *t, int64_t micros)
{
	char digits[16];
	if (!micros) return;
	assert(micros > 0 && micros < SECOND);
	snprintf(digits, sizeof digits, ".%06d", (int)micros);
	size_t n = strlen(digits);
	while (digits[n - 1] == '0') digits[--n] = 0;
	text_string(t, digits);
}

static struct value kept(struct region *r, struct text *t)
{
	struct value v = value_string(r, text_get(t), t->length);
	text_free(t);
	return v;
}

/* Microseconds since 1970 as a date or timestamp. */
static bool give_moment(struct region *r, int64_t at, enum sql_kind kind,
                        struct value *out, struct sql_failure *why)
{
	struct text t = { 0 };
	int64_t day = floor_divide(at, DAY), rest = at - day * DAY;
	if (day < first_day() || day > last_day())
		return sql_fail(r, why, "22008", "%s out of range",
		                kind == SQL_DATE ? "date" : "timestamp");
	assert(rest >= 0 && rest < DAY);
	struct date d = date_of(day);
	text_format(&t, "%04d-%02d-%02d", (int)d.year, d.month, d.day);
	if (kind != SQL_DATE) {
		text_format(&t, " %02d:%02d:%02d", (int)(rest / HOUR),
		            (int)(rest / MINUTE % 60),
		            (int)(rest / SECOND % 60));
		print_fraction(&t, rest % SECOND);
	}
	if (kind == SQL_TIMESTAMPTZ) text_string(&t, "+00");
	*out = kept(r, &t);
	return true;
}

/* What is left of a text that is being read. */
struct cursor {
	const char *at, *end;
};

static bool accept(struct cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted) return false;
	c->at++;
	return true;
}

/* A number of at most so many digits; -1: there is none. */
static int64_t number(struct cursor *c, int most)
{
	int64_t n = 0;
	int digits = 0;
	while (c->at < c->end && isdigit((unsigned char)*c->at) &&
	       digits++ < most)
		n = 10 * n + (*c->at++ - '0');
	return digits ? n : -1;
}

/* Behind the point of a second, in microseconds. */
static int64_t fraction(struct cursor *c)
{
	int64_t n = 0, unit = SECOND / 10;
	bool up = false;
	for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
		if (!unit) {
			up |= !n || *c->at >= '5';
			while (c->at + 1 < c->end &&
			       isdigit((unsigned char)c->at[1]))
				c->at++;
			return n + up;
		}
		n += unit * (*c->at - '0');
		unit /= 10;
	}
	return n;
}

/* hh:mm[:ss[.ffffff]]; the hours are there already. */
static bool read_clock(struct cursor *c, int64_t hours, int64_t *out)
{
	int64_t minutes = number(c, 2), seconds = 0, part = 0;
	if (accept(c, ':')) {
		seconds = number(c, 2);
		if (accept(c, '.')) part = fraction(c);
	}
	*out = hours * HOUR + minutes * MINUTE + seconds * SECOND + part;
	if (minutes > 59 || seconds > 60) *out = -1; /* there is none */
	return hours >= 0 && minutes >= 0 && seconds >= 0;
}

/* Z, UTC, +hh[:mm]: what is to be taken away. */
static bool read_zone(struct cursor *c, int64_t *out)
{
	*out = 0;
	if (c->end - c->at == 3 && !strncasecmp(c->at, "UTC", 3)) c->at += 3;
	if (c->end - c->at == 1 && (*c->at == 'Z' || *c->at == 'z')) c->at++;
	if (c->at == c->end) return true;
	bool minus = accept(c, '-');
	if (!minus && !accept(c, '+')) return false;
	int64_t hours = number(c, 2), minutes = 0;
	if (hours < 0) return false;
	if (c->at < c->end) {
		accept(c, ':');
		minutes = number(c, 2);
	}
	*out = (hours * HOUR + minutes * MINUTE) * (minus ? -1 : 1);
	return c->at == c->end && minutes >= 0;
}

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
}

static struct cursor trimmed(struct value text)
{
	struct cursor c = { text.o->bytes, text.o->bytes + text.o->length };
	skip_blanks(&c);
	while (c.end > c.at && isspace((unsigned char)c.end[-1])) c.end--;
	return c;
}

/* yyyy-mm-dd [hh:mm[:ss[.f]]] [zone], in microseconds; false: `state` says why.
 */
static bool read_moment(struct value text, enum sql_kind to, int64_t *out,
                        const char **state)
{
	struct cursor c = trimmed(text);
	struct date d;
	int64_t clock = 0, zone = 0, month, day;
	*state = "22007";
	const char *from = c.at;
	d.year = number(&c, 8);
	if (c.at - from == 8) { /* yyyymmdd */
		day = d.year % 100;
		month = d.year / 100 % 100;
		d.year /= 10000;
	} else {
		if (c.at - from < 4 || !accept(&c, '-')) return false;
		month = number(&c, 2);
		if (month < 0 || !accept(&c, '-')) return false;
		if ((day = number(&c, 2)) < 0) return false;
	}
	if (c.at < c.end &&
	    (accept(&c, 'T') || isspace((unsigned char)*c.at))) {
		skip_blanks(&c);
		int64_t hours = number(&c, 2);
		if (!accept(&c, ':') || !read_clock(&c, hours, &clock))
			return false;
		skip_blanks(&c);
	}
	if (!read_zone(&c, &zone)) return false;
	*state = "22008";
	if (d.year < 1 || d.year > YEAR_MOST || month < 1 || month > 12)
		return false;
	d.month = (int)month;
	d.day = (int)day;
	if (day < 1 || day > days_of(d.year, d.month) || clock < 0 ||
	    clock > DAY)
		return false;
	*out = day_number(d) * DAY;
	if (to != SQL_DATE) *out += clock;
	if (to == SQL_TIMESTAMPTZ) *out -= zone;
	return true;
}

/* Of a value. */
static int64_t moment(struct value v)
{
	const char *state;
	int64_t at = 0;
	bool fine = read_moment(v, SQL_TIMESTAMP, &at, &state);
	assert(fine);
	(void)fine;
	return at;
}

struct value sql_moment_convert(struct region *r, struct value v,
                                enum sql_kind from, enum sql_kind to)
{
	struct sql_failure none = { 0 };
	struct value out = v;
	if (from != to) {
		int64_t at = moment(v);
		assert(sql_is_moment(from) && sql_is_moment(to));
		if (to == SQL_DATE) at = floor_divide(at, DAY) * DAY;
		give_moment(r, at, to, &out, &none);
	}
	return out;
}

/* ---- Intervals ---- */

struct interval {
	int64_t months, days, micros;
};

static void print_unit(struct text *t, int64_t n, const char *unit,
                       bool *before)
{
	if (!n) return;
	text_format(t, "%s%s%" PRId64 " %s%s", t->length ? " " : "",
	            *before && n > 0 ? "+" : "", n, unit, n != 1 ? "s" : "");
	*before = n < 0;
}

static struct value give_interval(struct region *r, struct interval i)
{
	struct text t = { 0 };
	bool before = false;
	print_unit(&t, i.months / 12, "year", &before);
	print_unit(&t, i.months % 12, "mon", &before);
	print_unit(&t, i.days, "day", &before);
	if (!t.length || i.micros) {
		int64_t n = i.micros < 0 ? -i.micros : i.micros;
		text_format(&t, "%s%s%02" PRId64 ":%02d:%02d",
		            t.length ? " " : "",
		            i.micros < 0 ? "-"
		            : before     ? "+"
		                         : "",
		            n / HOUR, (int)(n / MINUTE % 60),
		            (int)(n / SECOND % 60));
		print_fraction(&t, n % SECOND);
	}
	return kept(r, &t);
}

/* `n` and a fraction, in millionths, of a unit. */
static bool add_unit(struct interval *i, const char *unit, size_t length,
                     int64_t n, int64_t part)
{
	static const struct {
		const char *name;
		int64_t months, days, micros;
	} units[] = {
		{ "", 0, 0, SECOND },       { "s", 0, 0, SECOND },
		{ "sec", 0, 0, SECOND },    { "second", 0, 0, SECOND },
		{ "min", 0, 0, MINUTE },    { "minute", 0, 0, MINUTE },
		{ "m", 0, 0, MINUTE },      { "h", 0, 0, HOUR },
		{ "hr", 0, 0, HOUR },       { "hour", 0, 0, HOUR },
		{ "d", 0, 1, 0 },           { "day", 0, 1, 0 },
		{ "week", 0, 7, 0 },        { "w", 0, 7, 0 },
		{ "mon", 1, 0, 0 },         { "month", 1, 0, 0 },
		{ "year", 12, 0, 0 },       { "y", 12, 0, 0 },
		{ "yr", 12, 0, 0 },         { "decade", 120, 0, 0 },
		{ "century", 1200, 0, 0 },  { "millisecond", 0, 0, 1000 },
		{ "microsecond", 0, 0, 1 },
	};
	if (length > 2 && (unit[length - 1] == 's' || unit[length - 1] == 'S'))
		length--;
	assert(part >= -SECOND && part <= SECOND);
	for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
		if (strlen(units[k].name) != length ||
		    strncasecmp(units[k].name, unit, length))
			continue;
		if (part && units[k].months) return false;
		i->months += n * units[k].months;
		i->days += n * units[k].days;
		i->micros +=
			n * units[k].micros +
			part * (units[k].days * DAY + units[k].micros) / SECOND;
		return true;
	}
	return false;
}

/* Numbers with units, and hh:mm:ss */
static bool read_interval(struct value text, struct interval *i)
{
	struct cursor c = trimmed(text);
	*i = (struct interval){ 0 };
	if (c.at == c.end) return false;
	while (c.at < c.end) {
		bool minus = accept(&c, '-');
		if (!minus) accept(&c, '+');
		int64_t n = number(&c, 10), part = 0, clock;
		if (n < 0) return false;
		if (accept(&c, ':')) {
			if (!read_clock(&c, n, &clock) || clock < 0)
				return false;
			i->micros += minus ? -clock : clock;
		} else {
			if (accept(&c, '.')) part = fraction(&c);
			skip_blanks(&c);
			const char *unit = c.at;
			while (c.at < c.end && isalpha((unsigned char)*c.at))
				c.at++;
			if (!add_unit(i, unit, (size_t)(c.at - unit),
			              minus ? -n : n, minus ? -part : part))
				return false;
		}
		skip_blanks(&c);
		if (c.end - c.at == 3 && !strncasecmp(c.at, "ago", 3)) {
			*i = (struct interval){ -i->months, -i->days,
				                -i->micros };
			c.at = c.end;
		}
	}
	return true;
}

static struct interval interval(struct value v)
{
	struct interval i;
	bool fine = read_interval(v, &i);
	assert(fine);
	(void)fine;
	return i;
}

/* A month has 30 days, a day 24 hours. */
static __int128 span(struct value v)
{
	struct interval i = interval(v);
	return (__int128)(30 * i.months + i.days) * DAY + i.micros;
}

int sql_interval_compare(struct value a, struct value b)
{
	__int128 x = span(a), y = span(b);
	return (x > y) - (x < y);
}

struct value sql_interval_normal(struct region *r, struct value v)
{
	struct interval i = { 0 };
	__int128 all = span(v);
	i.days = (int64_t)(all / DAY);
	i.micros = (int64_t)(all % DAY);
	return give_interval(r, i);
}

bool sql_moment_of_text(struct region *r, struct value text, enum sql_kind to,
                        struct value *out, struct sql_failure *why)
{
	struct interval i;
	const char *state = "22007";
	int64_t at;
	if (to == SQL_INTERVAL) {
		if (read_interval(text, &i)) {
			*out = give_interval(r, i);
			return true;
		}
	} else if (read_moment(text, to, &at, &state)) {
		return give_moment(r, at, to, out, why);
	}
	if (!strcmp(state, "22008"))
		return sql_fail(r, why, state,
		                "date/time field value out of range: \"%s\"",
		                text.o->bytes);
	return sql_fail(r, why, state,
	                "invalid input syntax for type %s: \"%s\"",
	                sql_kind_name(to), text.o->bytes);
}

/* ---- Computing ---- */

/* What is further than this is out of range anyhow. */
#define FAR (INT64_C(4000000) * DAY)

static bool is_far(int64_t n, int64_t unit)
{
	return n > FAR / unit || n < -FAR / unit;
}

/* Months first: the day is the last one of a shorter month. */
static int64_t add_interval(int64_t at, struct interval i)
{
	if (is_far(i.months, 31 * DAY) || is_far(i.days, DAY) ||
	    is_far(i.micros, 1))
		return FAR;
	int64_t day = floor_divide(at, DAY), rest = at - day * DAY;
	if (i.months) {
		struct date d = date_of(day);
		int64_t months = d.year * 12 + d.month - 1 + i.months;
		d.year = floor_divide(months, 12);
		d.month = (int)(months - 12 * d.year) + 1;
		if (d.year < 1 || d.year > YEAR_MOST) return FAR;
		if (d.day > days_of(d.year, d.month))
			d.day = days_of(d.year, d.month);
		day = day_number(d);
	}
	return (day + i.days) * DAY + rest + i.micros;
}

static struct interval minus(struct interval i)
{
	return (struct interval){ -i.months, -i.days, -i.micros };
}

static bool compute_interval(struct region *r, const struct sql_proc *p,
                             struct value a, struct value b, struct value *out,
                             struct sql_failure *why)
{
	struct interval x, y;
	if (p->operation == DO_MUL) {
		bool first = p->types[0] == SQL_INTERVAL;
		int64_t n = first ? b.i : a.i;
		x = interval(first ? a : b);
		if (__builtin_mul_overflow(n, x.months, &x.months) ||
		    __builtin_mul_overflow(n, x.days, &x.days) ||
		    __builtin_mul_overflow(n, x.micros, &x.micros))
			x.months = INT64_MAX;
	} else if (p->operation == DO_NEGATE) {
		x = minus(interval(a));
	} else {
		x = interval(a);
		y = interval(b);
		if (p->operation == DO_SUB) y = minus(y);
		x = (struct interval){ x.months + y.months, x.days + y.days,
			               x.micros + y.micros };
	}
	if (x.months > INT32_MAX || x.months < INT32_MIN ||
	    x.days > INT32_MAX || x.days < INT32_MIN)
		return sql_fail(r, why, "22008", "interval out of range");
	*out = give_interval(r, x);
	return true;
}

bool sql_moment_compute(struct region *r, const struct sql_proc *p,
                        struct value a, struct value b, struct value *out,
                        struct sql_failure *why)
{
	bool sum = p->operation == DO_ADD;
	int64_t by = sum ? 1 : -1;
	enum sql_kind left = p->types[0], right = p->types[1];
	if (p->result == SQL_INTERVAL && !sql_is_moment(left))
		return compute_interval(r, p, a, b, out, why);
	if (sum && !sql_is_moment(left)) { /* n + date, interval + t */
		struct value swapped = a;
		a = b;
		b = swapped;
		right = left;
	}
	assert(sql_is_moment(p->types[0]) || sql_is_moment(p->types[1]));
	int64_t at = moment(a);
	if (sql_is_moment(right)) {
		int64_t apart = at - moment(b);
		*out = p->result == SQL_INTERVAL
		               ? give_interval(
					 r, (struct interval){ 0, apart / DAY,
		                                               apart % DAY })
		               : value_int(apart / DAY);
		return true;
	}
	if (right == SQL_INTERVAL) {
		struct interval i = interval(b);
		at = add_interval(at, sum ? i : minus(i));
	} else {
		at = is_far(b.i, DAY) ? FAR : at + by * b.i * DAY;
	}
	return give_moment(r, at, p->result, out, why);
}

/* ---- Parts ---- */

enum part {
	PART_YEAR,
	PART_QUARTER,
	PART_MONTH,
	PART_DAY,
	PART_DOY,
	PART_DOW,
	PART_HOUR,
	PART_MINUTE,
	PART_SECOND,
	PART_EPOCH,
	PARTS
};

static enum part part_of(struct value unit)
{
	static const char *const names[] = { "year", "quarter", "month",
		                             "day",  "doy",     "dow",
		                             "hour", "minute",  "second",
		                             "epoch" };
	enum part i = 0;
	while (i < PARTS && strcasecmp(names[i], unit.o->bytes)) i++;
	return i;
}

/* A number of microseconds as one of seconds, with six digits. */
static struct value seconds(struct region *r, int64_t micros)
{
	struct text t = { 0 };
	int64_t n = micros < 0 ? -micros : micros;
	text_format(&t, "%s%" PRId64 ".%06d", micros < 0 ? "-" : "", n / SECOND,
	            (int)(n % SECOND));
	return kept(r, &t);
}

static struct value whole(struct region *r, int64_t n)
{
	struct text t = { 0 };
	text_int(&t, n);
	return kept(r, &t);
}

static bool extract(struct region *r, enum part part, struct value v,
                    enum sql_kind kind, struct value *out)
{
	struct interval i = { 0 };
	struct date d = { 0 };
	int64_t at = 0, day = 0;
	bool spans = kind == SQL_INTERVAL;
	assert(spans || sql_is_moment(kind));
	if (spans) {
		i = interval(v);
		d.year = i.months / 12;
		d.month = (int)(i.months % 12);
	} else {
		at = moment(v);
		day = floor_divide(at, DAY);
		d = date_of(day);
		i.micros = at - day * DAY;
		i.days = d.day;
	}
	if (kind == SQL_DATE && part >= PART_HOUR && part <= PART_SECOND)
		return false;
	if (spans && (part == PART_DOY || part == PART_DOW)) return false;
	switch (part) {
	case PART_YEAR: *out = whole(r, d.year); break;
	case PART_QUARTER: *out = whole(r, (d.month - !spans) / 3 + 1); break;
	case PART_MONTH: *out = whole(r, d.month); break;
	case PART_DAY: *out = whole(r, i.days); break;
	case PART_DOY:
		d.month = d.day = 1;
		*out = whole(r, day - day_number(d) + 1);
		break;
	case PART_DOW: *out = whole(r, (day % 7 + 11) % 7); break;
	case PART_HOUR: *out = whole(r, i.micros / HOUR); break;
	case PART_MINUTE: *out = whole(r, i.micros / MINUTE % 60); break;
	case PART_SECOND: *out = seconds(r, i.micros % MINUTE); break;
	case PART_EPOCH:
		/* A year of an interval has 365.25 days. */
		if (spans)
			at = d.year * (365 * DAY + DAY / 4) +
			     (d.month * INT64_C(30) + i.days) * DAY + i.micros;
		*out = kind == SQL_DATE ? whole(r, at / SECOND)
		                        : seconds(r, at);
		break;
	case PARTS: return false;
	}
	return true;
}

static bool truncate_to(struct region *r, enum part part, struct value v,
                        enum sql_kind kind, struct value *out,
                        struct sql_failure *why)
{
	static const int64_t units[PARTS] = { [PART_DAY] = DAY,
		                              [PART_HOUR] = HOUR,
		                              [PART_MINUTE] = MINUTE,
		                              [PART_SECOND] = SECOND };
	int64_t at = moment(v);
	struct date d = date_of(floor_divide(at, DAY));
	if (part < PARTS && units[part]) {
		at = floor_divide(at, units[part]) * units[part];
	} else if (part <= PART_MONTH) {
		d.day = 1;
		if (part == PART_YEAR) d.month = 1;
		if (part == PART_QUARTER) d.month -= (d.month - 1) % 3;
		at = day_number(d) * DAY;
	} else {
		return false;
	}
	return give_moment(r, at, kind, out, why);
}

bool sql_moment_part(struct region *r, const struct sql_proc *p,
                     struct value unit, struct value v, struct value *out,
                     struct sql_failure *why)
{
	enum part part = part_of(unit);
	enum sql_kind kind = p->types[1];
	bool fine = p->operation == DO_EXTRACT
	                    ? extract(r, part, v, kind, out)
	                    : truncate_to(r, part, v, kind, out, why);
	if (fine || *why->state) return fine;
	return sql_fail(r, why, part == PARTS ? "22023" : "0A000",
	                "unit \"%s\" not %s for type %s", unit.o->bytes,
	                part == PARTS ? "recognized" : "supported",
	                sql_kind_name(kind));
}
