/* A statement with the values of its parameters in their places, so that it can
 * be sent again as it stands. */
#include "postgres/am/backend.h"

#include <ctype.h>

#include <catalog/pg_type_d.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>

/* Behind the quoted part that begins there. */
static const char *skip_quoted(const char *at, const char *end, bool escapes)
{
	char quote = *at++;
	while (at < end && *at != quote) at += escapes && *at == '\\' ? 2 : 1;
	return at < end ? at + 1 : end;
}

/* Behind $tag$ .. $tag$; or one character on, if it is none. */
static const char *skip_dollars(const char *at, const char *end)
{
	const char *tag = at + 1;
	while (tag < end && (isalnum((unsigned char)*tag) || *tag == '_'))
		tag++;
	if (tag == end || *tag != '$') return at + 1;
	size_t n = tag + 1 - at;
	for (const char *x = tag + 1; x + n <= end; x++)
		if (!memcmp(x, at, n)) return x + n;
	return end;
}

static const char *skip_comment(const char *at, const char *end)
{
	int depth = 0;
	if (*at == '-') {
		while (at < end && *at != '\n') at++;
		return at;
	}
	do {
		bool opens = end - at > 1 && at[0] == '/' && at[1] == '*';
		bool closes = end - at > 1 && at[0] == '*' && at[1] == '/';
		depth += opens - closes;
		at += opens || closes ? 2 : 1;
	} while (at < end && depth);
	return at;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c & 0x80;
}

/* Behind what begins there, and holds no parameter. */
static const char *skip(const char *at, const char *end)
{
	bool escapes = false;
	if (is_of_name(*at) && *at != '$') {
		const char *from = at;
		while (at < end && is_of_name(*at)) at++;
		escapes = at - from == 1 && (*from == 'e' || *from == 'E');
		if (!escapes || at == end || *at != '\'') return at;
	}
	if (*at == '\'' || *at == '"') return skip_quoted(at, end, escapes);
	if (*at == '$') return skip_dollars(at, end);
	if (end - at > 1 &&
	    ((at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*')))
		return skip_comment(at, end);
	return at + 1;
}

static void put_value(StringInfo s, const ParamExternData *p)
{
	Oid output;
	bool varlena;
	if (p->isnull || !OidIsValid(p->ptype)) {
		appendStringInfoString(s, "NULL");
		return;
	}
	getTypeOutputInfo(p->ptype, &output, &varlena);
	char *text = OidOutputFunctionCall(output, p->value);
	if (p->ptype == INT4OID && *text != '-')
		appendStringInfoString(s, text);
	else
		appendStringInfo(s, "%s::%s", quote_literal_cstr(text),
		                 format_type_be(p->ptype));
}

void parameters_put(StringInfo s, const char *text, int length,
                    ParamListInfo given)
{
	const char *end = text + length, *next;
	for (const char *at = text; at < end; at = next) {
		bool is = end - at > 1 && at[0] == '$' &&
		          isdigit((unsigned char)at[1]);
		long number = is ? strtol(at + 1, (char **)&next, 10) : 0;
		if (!is) next = skip(at, end);
		if (number > 0 && number <= given->numParams)
			put_value(s, &given->params[number - 1]);
		else
			appendBinaryStringInfo(s, at, (int)(next - at));
	}
}
