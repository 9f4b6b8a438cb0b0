#include "api/sources.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "history/history.h"
#include "prove/prove.h"
#include "result/result.h"
#include "vm/program.h"

enum {
	AROUND = 3, /* lines before and behind one that was run through */
	LINES_MOST = 4000,
	FILE_MOST = 1 << 22
};

/* Lines of examples, in the order of their places. */
struct marks {
	struct position *items;
	size_t count, capacity;
};

static void mark(struct marks *m, struct position at)
{
	if (!at.file || !at.line || !at.source_line) return;
	VEC_RESERVE(m->items, m->count, m->capacity);
	m->items[m->count++] = at;
}

static void mark_history(struct marks *m, const struct program *p,
                         const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *x = &h->transactions[t];
		for (uint32_t e = 0; e < x->event_count; e++)
			mark(m, program_position(p, x->events[e].point));
	}
}

static int compare(const void *a, const void *b)
{
	const struct position *x = a, *y = b;
	int files = strcmp(x->file, y->file);
	return files ? files : (x->line > y->line) - (x->line < y->line);
}

static bool read_file(struct text *t, const char *path)
{
	char part[1 << 14];
	size_t n;
	FILE *f = fopen(path, "rbe");
	if (!f) return false;
	while ((n = fread(part, 1, sizeof part, f)) > 0 &&
	       t->length < FILE_MOST)
		text_bytes(t, part, n);
	bool fine = !ferror(f) && t->length < FILE_MOST &&
	            !memchr(text_get(t), 0, t->length);
	fclose(f);
	return fine;
}

/* The line's number from 1, and where those of the file begin. */
struct lines {
	const char **at;
	size_t count, capacity;
};

static void part_lines(struct lines *l, const char *text)
{
	while (*text) {
		VEC_RESERVE(l->at, l->count, l->capacity);
		l->at[l->count++] = text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static size_t length_of(const char *line)
{
	return strcspn(line, "\r\n");
}

/* Is the file what it was when it was loaded, as far as it matters? */
static bool is_same(const struct lines *l, const struct position *items,
                    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *known = items[i].source_line;
		if (items[i].line > l->count) return false;
		const char *line = l->at[items[i].line - 1];
		if (strlen(known) > length_of(line) + 1 ||
		    strncmp(known, line, length_of(known)))
			return false;
	}
	return true;
}

static void add_lines(struct result *r, struct result_values *to,
                      const char *file, const struct lines *l, size_t first,
                      size_t last)
{
	struct result_values *one = result_group(r, to, NULL);
	struct text words = { 0 };
	assert(first && first <= last && last <= l->count);
	result_text(r, one, "file", file);
	result_count(r, one, "first", first);
	struct result_values *list = result_list(r, one, "lines");
	for (size_t i = first; i <= last; i++) {
		const char *line = l->at[i - 1];
		text_bytes(&words, line, length_of(line));
		result_taken(r, list, NULL, &words);
	}
	text_free(&words);
}

/* Lines near each other come with those between them. */
static void add_file(struct result *r, struct result_values *to,
                     const struct lines *l, const struct position *items,
                     size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		size_t first = items[i].line, last = first;
		for (next = i + 1;
		     next < count && items[next].line <= last + 2 * AROUND + 1;
		     next++)
			last = items[next].line;
		first = first > AROUND ? first - AROUND : 1;
		last = last + AROUND < l->count ? last + AROUND : l->count;
		add_lines(r, to, items[i].file, l, first, last);
	}
}

/* Of one file. */
static void add_text(struct result *r, struct result_values *to,
                     const char *text, const struct position *items,
                     size_t count)
{
	struct lines l = { 0 };
	part_lines(&l, text);
	if (is_same(&l, items, count)) add_file(r, to, &l, items, count);
	free(l.at);
}

static void add_files(struct result *r, struct result_values *to,
                      const struct marks *m)
{
	for (size_t i = 0, next; i < m->count; i = next) {
		struct text text = { 0 };
		for (next = i; next < m->count &&
		               !strcmp(m->items[next].file, m->items[i].file);
		     next++)
			;
		if (read_file(&text, m->items[i].file))
			add_text(r, to, text_get(&text), m->items + i,
			         next - i);
		text_free(&text);
	}
}

static void add_marked(struct result *r, struct marks *m, const char *text)
{
	if (m->count) {
		struct result_values *to =
			result_list(r, &r->sources, "sources");
		qsort(m->items, m->count, sizeof *m->items, compare);
		if (text)
			add_text(r, to, text, m->items, m->count);
		else
			add_files(r, to, m);
	}
	free(m->items);
}

void result_read_sources(struct result *r)
{
	const struct proof *p = r->proof;
	struct marks m = { 0 };
	if (p && p->history) {
		mark_history(&m, p->program, p->history);
		add_marked(r, &m, text_get(&p->client));
		return;
	}
	for (uint32_t i = 0; r->program && i < r->assertion_count; i++) {
		const struct result_assertion *a = &r->assertions[i];
		if (!a->example.history || m.count > LINES_MOST) continue;
		mark_history(&m, r->program, a->example.history);
		mark(&m, a->at);
	}
	add_marked(r, &m, NULL);
}
