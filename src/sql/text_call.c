#include "sql/text_call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <md5.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "sql/convert.h"

enum { LENGTH_MOST = 1 << 24 }; /* characters of what is padded or repeated */

/* A text, or a part of one. */
struct piece {
	const char *s;
	size_t length;
};

static struct piece piece_of(struct value v)
{
	assert(v.tag == VALUE_STRING);
	return (struct piece){ v.o->bytes, v.o->length };
}

static struct value kept(struct region *r, struct piece p)
{
	return value_string(r, p.s, p.length);
}

static struct value kept_text(struct region *r, struct text *t)
{
	struct value v = value_string(r, text_get(t), t->length);
	text_free(t);
	return v;
}

static size_t step(struct piece p, size_t at)
{
	size_t n = utf8_length(p.s + at, p.length - at);
	return n ? n : 1;
}

static int64_t characters(struct piece p)
{
	int64_t n = 0;
	for (size_t i = 0; i < p.length; i += step(p, i)) n++;
	return n;
}

size_t sql_characters(struct value text)
{
	return (size_t)characters(piece_of(text));
}

/* The bytes of its first `n` characters; of all, if it has not so many. */
static size_t bytes_of(struct piece p, int64_t n)
{
	size_t at = 0;
	for (; n > 0 && at < p.length; n--) at += step(p, at);
	assert(at <= p.length);
	return at;
}

static struct piece from(struct piece p, size_t at)
{
	assert(at <= p.length);
	return (struct piece){ p.s + at, p.length - at };
}

/* So many characters, behind the first `skipped`. */
static struct piece part(struct piece p, int64_t skipped, int64_t count)
{
	struct piece rest = from(p, bytes_of(p, skipped));
	rest.length = bytes_of(rest, count);
	return rest;
}

/* Where `what`, not empty, stands; its end if it does not. */
static size_t find(struct piece in, struct piece what)
{
	const char *at = memmem(in.s, in.length, what.s, what.length);
	return at ? (size_t)(at - in.s) : in.length;
}

/* ---- Parts ---- */

static bool substring(struct region *r, const struct value *a, uint32_t count,
                      struct value *out, struct sql_failure *why)
{
	int64_t first = a[1].i, end = INT64_MAX;
	if (count > 2 && a[2].i < 0)
		return sql_fail(r, why, "22011",
		                "negative substring length not allowed");
	if (count > 2 && first + a[2].i <= INT32_MAX) end = first + a[2].i;
	if (first < 1) first = 1;
	if (end < first) end = first;
	*out = kept(r, part(piece_of(a[0]), first - 1, end - first));
	return true;
}

static int64_t position(struct piece in, struct piece what)
{
	if (!what.length) return 1;
	size_t at = find(in, what);
	if (at == in.length) return 0;
	in.length = at;
	return characters(in) + 1;
}

static bool is_among(struct piece set, struct piece text, size_t at, size_t n)
{
	for (size_t i = 0, k; i < set.length; i += k) {
		k = step(set, i);
		if (k == n && !memcmp(set.s + i, text.s + at, n)) return true;
	}
	return false;
}

static struct piece trim(struct piece p, struct piece set, bool left,
                         bool right)
{
	size_t at = 0, end = 0, n;
	for (; left && at < p.length; at += n) {
		n = step(p, at);
		if (!is_among(set, p, at, n)) break;
	}
	p = from(p, at);
	/* Behind the last one that is kept. */
	for (size_t i = 0; right && i < p.length; i += n) {
		n = step(p, i);
		if (!is_among(set, p, i, n)) end = i + n;
	}
	if (right) p.length = end;
	return p;
}

static bool split_part(struct region *r, struct piece p, struct piece by,
                       int64_t n, struct value *out, struct sql_failure *why)
{
	int64_t fields = 1;
	if (!n)
		return sql_fail(r, why, "22023",
		                "field position must not be zero");
	for (struct piece x = p; by.length; fields++) {
		size_t at = find(x, by);
		if (at == x.length) break;
		x = from(x, at + by.length);
	}
	if (n < 0) n += fields + 1;
	if (n < 1 || n > fields) p.length = 0;
	for (; n > 1 && p.length; n--) p = from(p, find(p, by) + by.length);
	if (by.length) p.length = find(p, by);
	*out = kept(r, p);
	return true;
}

/* ---- Made of others ---- */

static struct value replace(struct region *r, struct piece p, struct piece what,
                            struct piece by)
{
	struct text t = { 0 };
	while (what.length && p.length) {
		size_t at = find(p, what);
		if (at == p.length) break;
		text_bytes(&t, p.s, at);
		text_bytes(&t, by.s, by.length);
		p = from(p, at + what.length);
	}
	text_bytes(&t, p.s, p.length);
	return kept_text(r, &t);
}

static bool is_long(struct region *r, int64_t length, struct sql_failure *why)
{
	if (length <= LENGTH_MOST) return false;
	sql_fail(r, why, "54000", "requested length too large");
	return true;
}

static bool pad(struct region *r, struct piece p, int64_t length,
                struct piece with, bool left, struct value *out,
                struct sql_failure *why)
{
	struct text t = { 0 };
	if (is_long(r, length, why)) return false;
	int64_t missing = length - characters(p);
	if (!left || missing <= 0) text_bytes(&t, p.s, bytes_of(p, length));
	while (missing > 0 && with.length) {
		struct piece one = part(with, 0, missing);
		text_bytes(&t, one.s, one.length);
		missing -= characters(one);
	}
	if (left && length > characters(p)) text_bytes(&t, p.s, p.length);
	*out = kept_text(r, &t);
	return true;
}

static bool repeat(struct region *r, struct piece p, int64_t count,
                   struct value *out, struct sql_failure *why)
{
	struct text t = { 0 };
	if (count < 0 || !p.length) count = 0;
	if (is_long(r, (int64_t)p.length * count, why)) return false;
	for (; count; count--) text_bytes(&t, p.s, p.length);
	*out = kept_text(r, &t);
	return true;
}

static struct value reverse(struct region *r, struct piece p)
{
	char *s = region_take(r, p.length + 1);
	for (size_t i = 0, n; i < p.length; i += n) {
		n = step(p, i);
		memcpy(s + p.length - i - n, p.s + i, n);
	}
	return value_string(r, s, p.length);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char in_case(char c, bool upper)
{
	return !is_letter(c) ? c : (char)(upper ? c & ~0x20 : c | 0x20);
}

struct value sql_change_case(struct region *r, struct value v, bool upper)
{
	char *s = region_copy_string(r, v.o->bytes, v.o->length);
	for (uint32_t i = 0; i < v.o->length; i++) s[i] = in_case(s[i], upper);
	return value_string(r, s, v.o->length);
}

static struct value initcap(struct region *r, struct piece p)
{
	char *s = region_copy_string(r, p.s, p.length);
	bool inside = false;
	for (size_t i = 0; i < p.length; i++) {
		s[i] = in_case(s[i], !inside);
		inside = is_letter(s[i]) || (s[i] >= '0' && s[i] <= '9');
	}
	return value_string(r, s, p.length);
}

/* A character of `what` becomes that of `by` in its place, or nothing. */
static struct value translate(struct region *r, struct piece p,
                              struct piece what, struct piece by)
{
	struct text t = { 0 };
	for (size_t i = 0, n; i < p.length; i += n) {
		struct piece one = { p.s + i, n = step(p, i) };
		int64_t at = 0;
		size_t k = 0;
		for (; k < what.length; k += step(what, k), at++)
			if (step(what, k) == n && !memcmp(what.s + k, one.s, n))
				break;
		if (k < what.length) one = part(by, at, 1);
		text_bytes(&t, one.s, one.length);
	}
	return kept_text(r, &t);
}

/* ---- Numbers of characters ---- */

static int64_t code_point(struct piece p)
{
	const unsigned char *s = (const unsigned char *)p.s;
	if (!p.length) return 0;
	switch (step(p, 0)) {
	case 2: return (s[0] & 0x1f) << 6 | (s[1] & 0x3f);
	case 3: return (s[0] & 0x0f) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	case 4:
		return (s[0] & 0x07) << 18 | (s[1] & 0x3f) << 12 |
		       (s[2] & 0x3f) << 6 | (s[3] & 0x3f);
	default: return *s;
	}
}

static bool chr(struct region *r, int64_t n, struct value *out,
                struct sql_failure *why)
{
	char s[4];
	size_t length = n < 0x80 ? 1 : n < 0x800 ? 2 : n < 0x10000 ? 3 : 4;
	if (n < 0)
		return sql_fail(r, why, "54000",
		                "character number must be positive");
	if (!n)
		return sql_fail(r, why, "54000",
		                "null character not permitted");
	if (n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff))
		return sql_fail(
			r, why, "54000",
			"requested character %s encoding: %" PRId64,
			n > 0x10ffff ? "too large for" : "not valid for", n);
	static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = length; i-- > 1; n >>= 6)
		s[i] = (char)(0x80 | (n & 0x3f));
	s[0] = (char)(heads[length == 1 ? 0 : length] | n);
	*out = value_string(r, s, length);
	return true;
}

static struct value to_hex(struct region *r, int64_t n, enum sql_kind of)
{
	struct text t = { 0 };
	uint64_t bits = of == SQL_INT4 ? (uint32_t)n : (uint64_t)n;
	text_format(&t, "%" PRIx64, bits);
	return kept_text(r, &t);
}

static struct value md5_of(struct region *r, struct piece p)
{
	char digits[MD5_DIGEST_STRING_LENGTH];
	MD5Data((const uint8_t *)p.s, p.length, digits);
	return value_string(r, digits, strlen(digits));
}

/* ---- Quoting ---- */

static void quote_literal(struct text *t, struct piece p)
{
	if (memchr(p.s, '\\', p.length)) text_char(t, 'E');
	text_char(t, '\'');
	for (size_t i = 0; i < p.length; i++) {
		if (p.s[i] == '\'' || p.s[i] == '\\') text_char(t, p.s[i]);
		text_char(t, p.s[i]);
	}
	text_char(t, '\'');
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* Those that are no names by themselves. */
static bool is_keyword(const char *name)
{
	static const char *const words[] = {
		"all",
		"analyse",
		"analyze",
		"and",
		"any",
		"array",
		"as",
		"asc",
		"asymmetric",
		"authorization",
		"between",
		"bigint",
		"binary",
		"bit",
		"boolean",
		"both",
		"case",
		"cast",
		"char",
		"character",
		"check",
		"coalesce",
		"collate",
		"collation",
		"column",
		"concurrently",
		"constraint",
		"create",
		"cross",
		"current_catalog",
		"current_date",
		"current_role",
		"current_schema",
		"current_time",
		"current_timestamp",
		"current_user",
		"dec",
		"decimal",
		"default",
		"deferrable",
		"desc",
		"distinct",
		"do",
		"else",
		"end",
		"except",
		"exists",
		"extract",
		"false",
		"fetch",
		"float",
		"for",
		"foreign",
		"freeze",
		"from",
		"full",
		"grant",
		"greatest",
		"group",
		"grouping",
		"having",
		"ilike",
		"in",
		"initially",
		"inner",
		"inout",
		"int",
		"integer",
		"intersect",
		"interval",
		"into",
		"is",
		"isnull",
		"join",
		"lateral",
		"leading",
		"least",
		"left",
		"like",
		"limit",
		"localtime",
		"localtimestamp",
		"national",
		"natural",
		"nchar",
		"none",
		"normalize",
		"not",
		"notnull",
		"null",
		"nullif",
		"numeric",
		"offset",
		"on",
		"only",
		"or",
		"order",
		"out",
		"outer",
		"overlaps",
		"overlay",
		"placing",
		"position",
		"precision",
		"primary",
		"real",
		"references",
		"returning",
		"right",
		"row",
		"select",
		"session_user",
		"setof",
		"similar",
		"smallint",
		"some",
		"substring",
		"symmetric",
		"table",
		"tablesample",
		"then",
		"time",
		"timestamp",
		"to",
		"trailing",
		"treat",
		"trim",
		"true",
		"union",
		"unique",
		"user",
		"using",
		"values",
		"varchar",
		"variadic",
		"verbose",
		"when",
		"where",
		"window",
		"with",
		"xmlattributes",
		"xmlconcat",
		"xmlelement",
		"xmlexists",
		"xmlforest",
		"xmlnamespaces",
		"xmlparse",
		"xmlpi",
		"xmlroot",
		"xmlserialize",
		"xmltable",
	};
	return bsearch(name, words, sizeof words / sizeof *words, sizeof *words,
	               by_name);
}

static void quote_ident(struct text *t, const char *name)
{
	bool plain = (*name >= 'a' && *name <= 'z') || *name == '_';
	for (const char *s = name; *s && plain; s++)
		plain = (*s >= 'a' && *s <= 'z') || *s == '_' ||
		        (*s >= '0' && *s <= '9');
	if (plain && !is_keyword(name)) {
		text_string(t, name);
		return;
	}
	text_char(t, '"');
	for (const char *s = name; *s; s++) {
		if (*s == '"') text_char(t, '"');
		text_char(t, *s);
	}
	text_char(t, '"');
}

/* ---- All of one text and more ---- */

bool sql_text_call(struct region *r, const struct sql_proc *p,
                   const struct value *a, uint32_t count, struct value *out,
                   struct sql_failure *why)
{
	static const struct piece blank = { " ", 1 };
	struct piece all[PROC_ARGUMENTS] = { { "", 0 } };
	struct text t = { 0 };
	int64_t n;
	assert(count <= PROC_ARGUMENTS);
	for (uint32_t i = 0; i < count; i++)
		if (a[i].tag == VALUE_STRING) all[i] = piece_of(a[i]);
	switch (p->operation) {
	case DO_SUBSTRING: return substring(r, a, count, out, why);
	case DO_POSITION: *out = value_int(position(all[0], all[1])); break;
	case DO_BTRIM:
	case DO_LTRIM:
	case DO_RTRIM:
		*out = kept(r, trim(all[0], count > 1 ? all[1] : blank,
		                    p->operation != DO_RTRIM,
		                    p->operation != DO_LTRIM));
		break;
	case DO_REPLACE: *out = replace(r, all[0], all[1], all[2]); break;
	case DO_LEFT:
	case DO_RIGHT:
		n = a[1].i >= 0 ? a[1].i : characters(all[0]) + a[1].i;
		if (p->operation == DO_RIGHT) {
			n = a[1].i < 0 ? -a[1].i : characters(all[0]) - n;
			*out = kept(r, from(all[0], bytes_of(all[0], n)));
		} else {
			*out = kept(r, part(all[0], 0, n));
		}
		break;
	case DO_LPAD:
	case DO_RPAD:
		return pad(r, all[0], a[1].i, count > 2 ? all[2] : blank,
		           p->operation == DO_LPAD, out, why);
	case DO_REPEAT: return repeat(r, all[0], a[1].i, out, why);
	case DO_REVERSE: *out = reverse(r, all[0]); break;
	case DO_SPLIT_PART:
		return split_part(r, all[0], all[1], a[2].i, out, why);
	case DO_INITCAP: *out = initcap(r, all[0]); break;
	case DO_TRANSLATE: *out = translate(r, all[0], all[1], all[2]); break;
	case DO_STARTS_WITH:
		*out = value_bool(all[1].length <= all[0].length &&
		                  !memcmp(all[0].s, all[1].s, all[1].length));
		break;
	case DO_OCTET_LENGTH: *out = value_int(a[0].o->length); break;
	case DO_ASCII: *out = value_int(code_point(all[0])); break;
	case DO_CHR: return chr(r, a[0].i, out, why);
	case DO_TO_HEX: *out = to_hex(r, a[0].i, p->types[0]); break;
	case DO_MD5: *out = md5_of(r, all[0]); break;
	case DO_QUOTE_LITERAL:
		quote_literal(&t, all[0]);
		*out = kept_text(r, &t);
		break;
	default:
		assert(p->operation == DO_QUOTE_IDENT);
		quote_ident(&t, all[0].s);
		*out = kept_text(r, &t);
	}
	return true;
}

/* ---- Any number of values ---- */

/* As it is sent to a client, which is not how a cast writes booleans and
 * character(n). */
static struct piece output(struct region *r, struct value v,
                           struct sql_type type)
{
	if (type.kind == SQL_BOOL) return (struct piece){ v.i ? "t" : "f", 1 };
	if (type.kind == SQL_CHAR) return piece_of(v);
	return piece_of(sql_to_text(r, v, type));
}

/* What stands behind a % in a format: [n$] [-] [width] s, I or L. */
struct field {
	int64_t position, width;
	bool left;
	char kind;
};

static bool read_number(const char **s, int64_t *n)
{
	if (**s < '0' || **s > '9') return false;
	for (*n = 0; **s >= '0' && **s <= '9'; ++*s)
		if (*n <= INT32_MAX) *n = 10 * *n + (**s - '0');
	return true;
}

static bool read_field(struct region *r, const char **s, struct field *f,
                       struct sql_failure *why)
{
	*f = (struct field){ 0 };
	if (read_number(s, &f->width) && **s == '$') {
		f->position = f->width;
		f->width = 0;
		++*s;
		if (!f->position)
			return sql_fail(r, why, "22023",
			                "format specifies argument 0, but "
			                "arguments are numbered from 1");
	}
	for (; **s == '-'; ++*s) f->left = true;
	read_number(s, &f->width);
	if (f->width > LENGTH_MOST)
		return sql_fail(r, why, "22003", "number is out of range");
	f->kind = **s;
	if (!f->kind)
		return sql_fail(r, why, "22023",
		                "unterminated format() type specifier");
	++*s;
	if (f->kind == '*')
		return sql_fail(r, why, "0A000",
		                "* in format() is not supported here");
	return strchr("sIL", f->kind) ||
	       sql_fail(r, why, "22023",
	                "unrecognized format() type specifier \"%c\"", f->kind);
}

static bool print_field(struct region *r, struct text *t, const struct field *f,
                        struct value v, struct sql_type type,
                        struct sql_failure *why)
{
	struct text one = { 0 };
	bool null = sql_is_null(v);
	if (null && f->kind == 'I')
		return sql_fail(r, why, "22004",
		                "null values cannot be formatted as an SQL "
		                "identifier");
	struct piece p = null ? (struct piece){ "", 0 } : output(r, v, type);
	if (null && f->kind == 'L')
		text_string(&one, "NULL");
	else if (f->kind == 'L')
		quote_literal(&one, p);
	else if (f->kind == 'I')
		quote_ident(&one, p.s);
	else
		text_bytes(&one, p.s, p.length);
	p = (struct piece){ text_get(&one), one.length };
	int64_t missing = f->width - characters(p);
	if (!f->left && missing > 0) text_pad(t, ' ', (size_t)missing);
	text_bytes(t, p.s, p.length);
	if (f->left && missing > 0) text_pad(t, ' ', (size_t)missing);
	text_free(&one);
	return true;
}

static bool format(struct region *r, struct text *t, const struct value *args,
                   const struct sql_type *types, uint32_t count,
                   struct sql_failure *why)
{
	int64_t last = 0;
	for (const char *s = args[0].o->bytes; *s;) {
		struct field f;
		if (*s != '%' || s[1] == '%') {
			text_char(t, *s);
			s += *s == '%' ? 2 : 1;
			continue;
		}
		s++;
		if (!read_field(r, &s, &f, why)) return false;
		last = f.position ? f.position : last + 1;
		if (last >= count)
			return sql_fail(r, why, "22023",
			                "too few arguments for format()");
		if (!print_field(r, t, &f, args[last], types[last], why))
			return false;
	}
	return true;
}

bool sql_text_join(struct region *r, const struct sql_proc *p,
                   const struct value *args, const struct sql_type *types,
                   uint32_t count, struct value *out, struct sql_failure *why)
{
	struct text t = { 0 };
	bool separated = p->operation == DO_CONCAT_WS, any = false;
	*out = value_null();
	if (p->operation != DO_CONCAT_ALL && sql_is_null(args[0])) return true;
	if (p->operation == DO_FORMAT) {
		bool fine = format(r, &t, args, types, count, why);
		if (fine)
			*out = kept_text(r, &t);
		else
			text_free(&t);
		return fine;
	}
	for (uint32_t i = separated; i < count; i++) {
		if (sql_is_null(args[i])) continue;
		struct piece one = output(r, args[i], types[i]);
		if (any && separated)
			text_bytes(&t, args[0].o->bytes, args[0].o->length);
		text_bytes(&t, one.s, one.length);
		any = true;
	}
	*out = kept_text(r, &t);
	return true;
}
