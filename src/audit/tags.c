#include "audit/tags.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/hash.h"

bool grouping_read(struct grouping *g, const char *words)
{
	static const struct {
		const char *word;
		enum grouping_kind kind;
	} kinds[] = { { "tag:", GROUP_TAG }, { "request:", GROUP_REQUEST } };
	const char *s = NULL;
	*g = (struct grouping){ .kind = GROUP_NONE };
	if (!words) return true;
	if (!strcmp(words, "connection")) {
		g->kind = GROUP_CONNECTION;
		return true;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i].word);
		if (strncmp(words, kinds[i].word, n)) continue;
		g->kind = kinds[i].kind;
		s = words + n;
	}
	while (s) {
		size_t n = strcspn(s, ",");
		if (!n || g->count == GROUP_NAMES_MOST) return false;
		g->names[g->count++] = (struct tag_name){ s, n };
		s = s[n] ? s + n + 1 : NULL;
	}
	return g->count > 0;
}

static bool in_tag(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.%", c));
}

/* The value behind "name=" or "name:" from `s` on; its end is `*to`. */
static const char *value_at(const char *s, const char *end, const char **to)
{
	char quote = s < end && (*s == '\'' || *s == '"') ? *s : 0;
	const char *from = s += quote != 0;
	while (s < end &&
	       (quote ? *s != quote : *s != ',' && !isspace((unsigned char)*s)))
		s += *s == '\\' && s + 1 < end ? 2 : 1;
	*to = s;
	return from;
}

/* The hash of the tag's value in the comment; 0: it has none. */
static uint64_t value_in(const char *s, const char *end,
                         const struct tag_name *name)
{
	while (s < end) {
		const char *from = s, *to;
		while (s < end && in_tag(*s)) s++;
		if (s == from) {
			s++;
			continue;
		}
		bool is = (size_t)(s - from) == name->length &&
		          !memcmp(from, name->text, name->length);
		while (s < end && isspace((unsigned char)*s)) s++;
		if (s == end || (*s != '=' && *s != ':')) continue;
		for (s++; s < end && isspace((unsigned char)*s);) s++;
		from = value_at(s, end, &to);
		if (is && to > from)
			return hash_bytes(17, from, (size_t)(to - from)) | 1;
		s = to < end ? to + 1 : end;
	}
	return 0;
}

uint64_t grouping_value(const struct grouping *g, const struct sql_words *w)
{
	uint64_t all = 1;
	if (!g->count || !w->comment_count) return 0;
	for (uint32_t i = 0; i < g->count; i++) {
		uint64_t value = 0;
		for (uint32_t k = 0; k < w->comment_count && !value; k++) {
			const struct sql_comment *c = &w->comments[k];
			value = value_in(w->text + c->at,
			                 w->text + c->at + c->length,
			                 &g->names[i]);
		}
		if (!value) return 0;
		all = hash_mix(all, value);
	}
	assert(g->kind == GROUP_TAG || g->kind == GROUP_REQUEST);
	return all ? all : 1;
}
