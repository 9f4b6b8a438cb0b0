/* The table of all levels. */
#include <assert.h>

#include "report/report.h"
#include "result/levels.h"
#include "result/names.h"
#include "result/numbers.h"

enum { CELL_LEAST = 7 };

static void cell_words(struct text *t, const struct levels_column *c,
                       uint64_t n)
{
	assert(c->ran || !n);
	if (!c->ran) {
		text_char(t, '-');
		return;
	}
	if (!c->complete) text_string(t, "≥");
	number_count(t, n);
}

static void column_widths(const struct levels_table *table,
                          unsigned widths[LEVEL_COUNT])
{
	struct text words = { 0 };
	for (int l = 0; l < LEVEL_COUNT; l++) {
		text_clear(&words);
		cell_words(&words, &table->columns[l],
		           table->columns[l].histories);
		size_t w = style_columns(text_get(&words)) + 2;
		widths[l] = w > CELL_LEAST ? (unsigned)w : CELL_LEAST;
	}
	text_free(&words);
}

/* A number at the right of its column; red when it counts violations. */
static void print_cell(struct text *t, const struct style *s,
                       const struct levels_column *c, uint64_t n,
                       unsigned width, bool violations)
{
	struct text words = { 0 };
	cell_words(&words, c, n);
	size_t used = style_columns(text_get(&words));
	assert(used);
	text_pad(t, ' ', width > used ? width - used : 1);
	if (violations && n)
		style_words(t, s, STYLE_RED, text_get(&words));
	else if (violations && c->ran && c->complete)
		style_words(t, s, STYLE_GREEN, text_get(&words));
	else
		text_string(t, text_get(&words));
	text_free(&words);
}

/* In words of the user, if there are some. */
static void name_row(struct text *t, const struct result *r, uint32_t row)
{
	const struct result_assertion *a = &r->assertions[row];
	bool error = a->slot == program_assertion_count(r->program);
	assert(row < r->assertion_count);
	text_clear(t);
	if (a->message && !program_is_native(r->program)) {
		text_format(t, "assert \"%s\"", a->message);
		return;
	}
	text_string(t, a->text);
	if (!error || !a->at.file) return;
	text_char(t, ' ');
	name_position(t, a->at);
}

/* One that is longer has a line of its own. */
static void print_label(struct text *t, const char *label, unsigned width)
{
	size_t used = style_columns(label);
	text_string(t, label);
	if (used > width) {
		text_char(t, '\n');
		used = 0;
	}
	text_pad(t, ' ', width - used);
}

static void print_head(struct text *t, const struct style *s, unsigned label,
                       const unsigned widths[LEVEL_COUNT], enum level asked)
{
	text_pad(t, ' ', label);
	for (int l = 0; l < LEVEL_COUNT; l++) {
		const char *word = level_word((enum level)l);
		text_pad(t, ' ', widths[l] - (unsigned)style_columns(word));
		style_words(t, s, l == (int)asked ? STYLE_BOLD : STYLE_BLUE,
		            word);
	}
	text_char(t, '\n');
}

static unsigned label_width(const struct result *r, unsigned least,
                            unsigned most)
{
	struct text label = { 0 };
	unsigned width = least;
	for (uint32_t i = 0; i < r->assertion_count; i++) {
		name_row(&label, r, i);
		unsigned w = (unsigned)style_columns(text_get(&label));
		if (w > width) width = w;
	}
	text_free(&label);
	return width < most ? width : most;
}

void report_levels(struct text *t, const struct style *s,
                   const struct result *r)
{
	const struct levels_table *table = r->levels;
	enum level asked = r->level;
	assert(table && asked < LEVEL_COUNT);
	unsigned widths[LEVEL_COUNT], used = 0;
	column_widths(table, widths);
	for (int l = 0; l < LEVEL_COUNT; l++) used += widths[l];
	unsigned label =
		label_width(r, 16, s->width > used + 24 ? s->width - used : 24);
	struct text row = { 0 };
	text_char(t, '\n');
	print_head(t, s, label, widths, asked);
	print_label(t, "histories", label);
	for (int l = 0; l < LEVEL_COUNT; l++)
		print_cell(t, s, &table->columns[l],
		           table->columns[l].histories, widths[l], false);
	text_char(t, '\n');
	assert(r->assertion_count == table->row_count);
	for (uint32_t i = 0; i < table->row_count; i++) {
		name_row(&row, r, i);
		print_label(t, text_get(&row), label);
		for (int l = 0; l < LEVEL_COUNT; l++)
			print_cell(t, s, &table->columns[l],
			           table->rows[i].violated[l], widths[l], true);
		text_char(t, '\n');
	}
	if (table->row_count)
		text_string(t, "\nThe rows of assertions count the histories "
		               "that violate them.\n");
	text_free(&row);
}
