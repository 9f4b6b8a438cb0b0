/* Nodes of libpg_query's JSON, and refusals. */
#include <assert.h>
#include <string.h>

#include "sql/resolve_parts.h"

const char *node_kind(json_t *node, json_t **body)
{
	void *i = json_object_iter(node);
	*body = i ? json_object_iter_value(i) : NULL;
	return i ? json_object_iter_key(i) : "";
}

bool node_is(json_t *node, const char *kind, json_t **body)
{
	return !strcmp(node_kind(node, body), kind);
}

const char *node_string(json_t *body, const char *field)
{
	const char *s = json_string_value(json_object_get(body, field));
	return s ? s : "";
}

int64_t node_integer(json_t *body, const char *field)
{
	return json_integer_value(json_object_get(body, field));
}

bool node_flag(json_t *body, const char *field)
{
	return json_is_true(json_object_get(body, field));
}

const char *node_name(json_t *string)
{
	return node_string(json_object_get(string, "String"), "sval");
}

struct place node_place(const struct resolver *r, json_t *body)
{
	int64_t at = node_integer(body, "location");
	struct place p = r->base;
	if (at > 0) p.offset += (uint32_t)at;
	return at < 0 ? r->place : p;
}

uint32_t skip_space(const char *text, uint32_t from, uint32_t to)
{
	assert(from <= to);
	while (from < to) {
		if (strchr(" \t\r\n\f\v", text[from])) {
			from++;
		} else if (!strncmp(text + from, "--", 2)) {
			while (from < to && text[from] != '\n') from++;
		} else if (!strncmp(text + from, "/*", 2)) {
			int depth = 0;
			do {
				int open = !strncmp(text + from, "/*", 2);
				int shut = !strncmp(text + from, "*/", 2);
				depth += open - shut;
				from += open || shut ? 2 : 1;
			} while (depth && from < to);
		} else {
			break;
		}
	}
	return from;
}

uint32_t skip_blanks(const char *text, uint32_t from, uint32_t to)
{
	from = skip_space(text, from, to);
	while (from < to && text[from] == ';')
		from = skip_space(text, from + 1, to);
	return from;
}

uint32_t end_of_words(const char *text, uint32_t from, uint32_t to)
{
	uint32_t end = from;
	while (from < to) {
		uint32_t next = skip_space(text, from, to);
		if (next > from) {
			from = next;
			continue;
		}
		const char *shut = strchr("'\"", text[from])
		                           ? memchr(text + from + 1, text[from],
		                                    to - from - 1)
		                           : NULL;
		end = from = (shut ? (uint32_t)(shut - text) : from) + 1;
	}
	assert(end <= to);
	return end;
}

void *refuse(struct resolver *r, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!r->failed) source_verror(r->catalog->all, at, format, args);
	va_end(args);
	r->failed = true;
	return NULL;
}

static bool has_server(const struct resolver *r)
{
	return *ISO_POSTGRES_PROGRAMS && r->catalog->explored;
}

const char *server_hint(const struct resolver *r)
{
	return has_server(r) ? " (or explore it with --engine=postgres)" : "";
}

void *refuse_construct(struct resolver *r, struct place at, const char *what)
{
	if (!has_server(r)) return refuse_everywhere(r, at, what);
	return refuse(r, at,
	              "%s: not supported here; explore it with "
	              "--engine=postgres, or write it in another way (see 'SQL "
	              "programs' in the manual)",
	              what);
}

void *refuse_everywhere(struct resolver *r, struct place at, const char *what)
{
	return refuse(r, at,
	              "%s: not supported; write it in another way (see 'SQL "
	              "programs' in the manual)",
	              what);
}

json_t *parse_at(struct resolver *r, struct place at, const char *before,
                 const char *text, uint32_t length)
{
	struct text all = { 0 };
	struct sql_refusal why = { 0 };
	size_t front = strlen(before);
	text_string(&all, before);
	text_bytes(&all, text, length);
	json_t *statements =
		sql_parse(r->catalog->parser, text_get(&all), all.length, &why);
	if (!statements) {
		at.offset += why.at > front ? why.at - (uint32_t)front : 0;
		refuse(r, at, "%s", text_get(&why.message));
	}
	text_free(&why.message);
	text_free(&all);
	return statements;
}

void doom(struct resolver *r, struct place at, const struct sql_failure *why)
{
	assert(*why->state);
	if (r->purpose == PURPOSE_ASSERT)
		refuse(r, at, "%s (%s)", why->message, why->state);
	else if (!*r->doom.state)
		r->doom = *why;
}

json_t *row_items(json_t *node)
{
	json_t *body;
	return node_is(node, "RowExpr", &body) ? json_object_get(body, "args")
	                                       : NULL;
}

const char *keep_name(struct resolver *r, const char *name)
{
	return region_copy_string(r->region, name, strlen(name));
}
