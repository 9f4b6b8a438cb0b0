/* Which format is it? Told by the beginning of the content, never by names:
 * many of the formats are called history.txt. */
#include <assert.h>
#include <string.h>

#include "formats/parsers.h"

enum { SEARCHED = 1 << 16 }; /* bytes in which a member is looked for */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *at)
{
	while (is_blank(*at)) at++;
	return at;
}

static const char *skip_line(const char *at, const char *end)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	assert(at <= end);
	return stop ? stop + 1 : end;
}

/* Comments, and what separates transactions and sessions: `rules` is true if
 * there was such a line. */
static const char *skip_noise(const char *at, const char *end, bool *rules)
{
	*rules = false;
	for (;;) {
		at = skip_blanks(at);
		bool rule = (at[0] == '-' && at[1] == '-') ||
		            (at[0] == '=' && at[1] == '=');
		bool comment =
			(at[0] == '/' && at[1] == '/') ||
			(at[0] == '#' && (is_blank(at[1]) || at[1] == '#'));
		if (!rule && !comment) return at;
		*rules |= rule;
		at = skip_line(at, end);
	}
}

/* Behind the closing quote of the string that begins at `at`, or `end`. */
static const char *skip_string(const char *at, const char *end)
{
	assert(*at == '"');
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end) at++;
	return at < end ? at + 1 : end;
}

/* Does the JSON object that begins at `at` have this member, as far as can be
 * seen near its beginning? */
static bool has_member(const char *at, const char *end, const char *name)
{
	size_t length = strlen(name);
	unsigned depth = 0;
	if (end - at > SEARCHED) end = at + SEARCHED;
	while (at < end) {
		if (*at == '"') {
			const char *start = at + 1;
			at = skip_string(at, end);
			const char *next = at;
			while (next < end && is_blank(*next)) next++;
			if (depth == 1 && next < end && *next == ':' &&
			    (size_t)(at - start) == length + 1 &&
			    !memcmp(start, name, length))
				return true;
			continue;
		}
		if (*at == '{' || *at == '[')
			depth++;
		else if ((*at == '}' || *at == ']') && --depth == 0)
			return false;
		at++;
	}
	return false;
}

static enum format detect_object(const struct input *in, const char *at)
{
	const char *end = in->bytes + in->length;
	if (has_member(at, end, "history") || has_member(at, end, "sessions"))
		return FORMAT_ISOSCOPE;
	if (has_member(at, end, "data")) return FORMAT_DBCOP_JSON;
	return elle_detect(in);
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* [x:=1] of dbcop, or an array in JSON or EDN. */
static enum format detect_bracket(const struct input *in, const char *at)
{
	const char *next = skip_blanks(at + 1);
	assert(*at == '[');
	if (*next == '[') return FORMAT_DBCOP_JSON;
	if (is_name(*next)) return FORMAT_DBCOP_TEXT;
	if (*next == ']') {
		bool all = skip_blanks(in->bytes) == at &&
		           skip_blanks(next + 1) == in->bytes + in->length;
		return all ? FORMAT_DBCOP_JSON : FORMAT_DBCOP_TEXT;
	}
	return elle_detect(in);
}

/* r(1,2,3,4) or r 1 2. */
static enum format detect_line(const char *at)
{
	const char *next = at + 1;
	assert(*at == 'r' || *at == 'w');
	while (*next == ' ' || *next == '\t') next++;
	if (*next == '(') return FORMAT_PLUME;
	bool number = is_digit(*next) || (*next == '-' && is_digit(next[1]));
	return number && next > at + 1 ? FORMAT_AWDIT : FORMAT_COUNT;
}

/* Lines that say nothing may come before, and most lines of a log may. */
static enum format detect_log(const struct input *in)
{
	size_t length = in->length < SEARCHED ? in->length : SEARCHED;
	return isopredict_detect(in->bytes, in->bytes + length)
	               ? FORMAT_ISOPREDICT
	               : elle_detect(in);
}

enum format format_detect(const struct input *in)
{
	if (dbcop_bincode_detect(in)) return FORMAT_DBCOP_BINCODE;
	bool rules;
	const char *end = in->bytes + in->length;
	const char *at = skip_noise(in->bytes, end, &rules);
	enum format f = FORMAT_COUNT;
	if (isopredict_detect(at, skip_line(at, end)))
		f = FORMAT_ISOPREDICT;
	else if (*at == 'r' || *at == 'w')
		f = detect_line(at);
	else if (*at == '[')
		f = detect_bracket(in, at);
	else if (*at == '{')
		f = detect_object(in, at);
	else if (at == end && rules)
		f = FORMAT_AWDIT;
	return f != FORMAT_COUNT ? f : detect_log(in);
}
