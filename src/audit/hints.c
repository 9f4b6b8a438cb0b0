#include "audit/hints.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { WORDS = 4, KEY_MOST = 16 };

struct reader {
	struct hints *hints;
	struct catalog *catalog;
	const char *path;
	uint32_t line;
	struct diags *diags;
};

void hints_free(struct hints *h)
{
	free(h->classes);
	*h = (struct hints){ 0 };
}

static bool wrong(struct reader *r, const char *what, const char *word)
{
	diags_add(r->diags, DIAG_ERROR, r->path, r->line, 0, NULL, what, word);
	return false;
}

/* Without a schema, each name is one of the log's, which is read later. */
static uint32_t table(struct reader *r, const char *word)
{
	const struct catalog *c = r->catalog;
	uint32_t found = catalog_find_table(c, word), t = 0;
	if (found != CATALOG_NONE && c->tables[found].told) return found;
	while (t < c->table_count && !c->tables[t].told) t++;
	if (t == c->table_count) return catalog_table(r->catalog, word);
	wrong(r, "the schema has no table %s", word);
	return CATALOG_NONE;
}

/* "orders.total" */
static uint32_t column(struct reader *r, const char *word)
{
	char *copy = mem_copy_string(word), *dot = strrchr(copy, '.');
	uint32_t found = CATALOG_NONE;
	if (dot && dot > copy && dot[1]) {
		*dot = 0;
		uint32_t t = table(r, copy);
		if (t != CATALOG_NONE)
			found = catalog_column(r->catalog, t, dot + 1);
		if (t != CATALOG_NONE && found == CATALOG_NONE)
			wrong(r, "the schema has no column %s", word);
	} else {
		wrong(r, "'%s' is no column: write TABLE.COLUMN", word);
	}
	free(copy);
	return found;
}

/* "orders.customer,number" */
static bool key(struct reader *r, char *word)
{
	uint32_t columns[KEY_MOST], n = 0;
	char *rest, *part = strtok_r(word, ",", &rest);
	uint32_t first = part ? column(r, part) : CATALOG_NONE;
	if (first == CATALOG_NONE) return false;
	uint32_t table = r->catalog->columns[first].table;
	columns[n++] = first;
	while ((part = strtok_r(NULL, ",", &rest))) {
		uint32_t c = catalog_column(r->catalog, table, part);
		if (c == CATALOG_NONE)
			return wrong(r, "the schema has no column %s", part);
		if (n == KEY_MOST)
			return wrong(r, "%s is too long a key", word);
		columns[n++] = c;
	}
	catalog_add_key(r->catalog, table, columns, n);
	return true;
}

static bool class(struct reader *r, const char *word, uint32_t *out)
{
	char *end;
	unsigned long n = *word == 'T' ? strtoul(word + 1, &end, 10) : 0;
	if (!n || *end || n > UINT32_MAX)
		return wrong(r, "'%s' is no class: write its number, as in T3",
		             word);
	*out = (uint32_t)n - 1;
	return true;
}

static bool about_class(struct reader *r, enum class_hint_kind kind,
                        char **words)
{
	struct hints *h = r->hints;
	assert(r->line);
	struct class_hint x = { .kind = kind, .line = r->line };
	if (!class(r, words[1], &x.classes[0])) return false;
	if (kind == HINT_EXCLUSIVE && !class(r, words[2], &x.classes[1]))
		return false;
	VEC_RESERVE(h->classes, h->class_count, h->class_capacity);
	h->classes[h->class_count++] = x;
	return true;
}

static bool weight(struct reader *r, char **words)
{
	char *end;
	unsigned long n = strtoul(words[2], &end, 10);
	uint32_t c = column(r, words[1]);
	if (c == CATALOG_NONE) return false;
	if (!n || *end || n > 1000000)
		return wrong(r, "'%s' is no weight from 1 to 1000000",
		             words[2]);
	r->catalog->columns[c].weight = (uint32_t)n;
	return true;
}

static bool about_column(struct reader *r, char **words)
{
	uint32_t c = column(r, words[1]);
	if (c == CATALOG_NONE) return false;
	struct audit_column *x = &r->catalog->columns[c];
	switch (*words[0]) {
	case 'u':
		x->unique = true;
		catalog_add_key(r->catalog, x->table, &c, 1);
		break;
	case 'c': x->commutes = true; break;
	default: x->fixed = true; break;
	}
	return true;
}

static bool exists(struct reader *r, const char *word)
{
	uint32_t t = table(r, word);
	if (t == CATALOG_NONE) return false;
	r->catalog->tables[t].exists = true;
	return true;
}

static bool one(struct reader *r, char **words, unsigned count)
{
	static const struct {
		const char *word;
		unsigned words;
	} known[] = {
		{ "key", 2 },    { "unique", 2 },    { "commutes", 2 },
		{ "exists", 2 }, { "fixed", 2 },     { "weight", 3 },
		{ "ignore", 2 }, { "tolerates", 2 }, { "exclusive", 3 },
	};
	const char *names[sizeof known / sizeof *known];
	size_t i, n = sizeof known / sizeof *known;
	for (i = 0; i < n && strcmp(words[0], known[i].word); i++)
		names[i] = known[i].word;
	if (i == n) {
		const char *meant = diag_nearest(words[0], names, n);
		diags_add(r->diags, DIAG_ERROR, r->path, r->line, 0, NULL,
		          "there is no hint '%s'%s%s%s", words[0],
		          meant ? "; did you mean '" : "", meant ? meant : "",
		          meant ? "'?" : "");
		return false;
	}
	if (count != known[i].words)
		return wrong(r, "'%s' has too many words, or too few",
		             words[0]);
	switch (i) {
	case 0: return key(r, words[1]);
	case 3: return exists(r, words[1]);
	case 5: return weight(r, words);
	case 6: return about_class(r, HINT_IGNORE, words);
	case 7: return about_class(r, HINT_TOLERATES, words);
	case 8: return about_class(r, HINT_EXCLUSIVE, words);
	default: return about_column(r, words);
	}
}

bool hints_read(struct hints *h, struct catalog *c, const char *path,
                const char *text, struct diags *d)
{
	struct reader r = { h, c, path, 0, d };
	char *copy = mem_copy_string(text), *line, *rest = copy;
	size_t before = d->errors;
	while ((line = strsep(&rest, "\n"))) {
		char *words[WORDS], *word, *more;
		unsigned n = 0;
		r.line++;
		line[strcspn(line, "#\r")] = 0;
		for (word = strtok_r(line, " \t", &more); word && n < WORDS;
		     word = strtok_r(NULL, " \t", &more))
			words[n++] = word;
		if (n) one(&r, words, n);
	}
	free(copy);
	return d->errors == before;
}
