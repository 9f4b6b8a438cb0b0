#include "report/report.h"

#include <assert.h>
#include <inttypes.h>

#include "base/diag.h"

/* A source line may be megabytes long: this many columns are shown. */
enum { EXCERPT_COLUMNS = 100 };

static bool continues(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

static const char *skip_character(const char *s)
{
	s++;
	while (continues(*s)) s++;
	return s;
}

/* Control characters would garble the terminal. */
static void print_character(struct text *t, const char *s, const char *end)
{
	if (*s == '\t')
		text_char(t, ' ');
	else if ((unsigned char)*s < ' ' || *s == 127)
		text_char(t, '?');
	else
		text_bytes(t, s, (size_t)(end - s));
}

/* The line around the column, and a caret under it. */
static void print_excerpt(struct text *t, const struct style *s,
                          const struct diag *d)
{
	uint32_t first = 1;
	if (d->column > EXCERPT_COLUMNS * 3 / 4)
		first = d->column - EXCERPT_COLUMNS / 2;
	const char *c = d->source_line;
	for (uint32_t i = 1; i < first && *c; i++) c = skip_character(c);
	if (first > 1 && !*c) return; /* only the line's beginning is known */
	text_string(t, first > 1 ? "  …" : "  ");
	uint32_t shown = 0;
	while (*c && shown < EXCERPT_COLUMNS) {
		const char *next = skip_character(c);
		print_character(t, c, next);
		c = next;
		shown++;
	}
	text_string(t, *c ? "…\n" : "\n");
	if (!d->column) return;
	text_pad(t, ' ', (first > 1 ? 3 : 2) + d->column - first);
	style_words(t, s, STYLE_GREEN, "^");
	text_char(t, '\n');
}

static void print_one(struct text *t, const struct style *s,
                      const struct diag *d)
{
	assert(d->message);
	static const char *const words[] = { "error: ", "warning: ", "note: " };
	static const enum style_mark marks[] = { STYLE_RED, STYLE_YELLOW,
		                                 STYLE_CYAN };
	if (d->file) {
		style_begin(t, s, STYLE_BOLD);
		text_string(t, d->file);
		if (d->line) text_format(t, ":%" PRIu32, d->line);
		if (d->line && d->column)
			text_format(t, ":%" PRIu32, d->column);
		text_string(t, ": ");
		style_end(t, s);
	}
	style_words(t, s, marks[d->kind], words[d->kind]);
	text_string(t, d->message);
	text_char(t, '\n');
	if (d->line && d->source_line && *d->source_line)
		print_excerpt(t, s, d);
}

void report_diagnostics(struct text *t, const struct style *s,
                        const struct diags *d)
{
	for (size_t i = 0; i < d->count; i++) print_one(t, s, &d->items[i]);
	if (d->errors > 1) text_format(t, "%zu errors\n", d->errors);
}
