/* One prediction: observed against predicted, why no order explains it, what it
 * has of each session, and what became of running it. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/report.h"
#include "result/numbers.h"
#include "result/result.h"

enum {
	COLUMNS = 3,
	VALUE_WIDTH = 24,  /* a longer value is cut */
	COLUMN_LEAST = 16, /* no column is made narrower to fit the width */
	GAP = 3,           /* " │ " */
	INDENT = 2
};

/* ---- changed reads ---- */

struct row {
	struct text cells[COLUMNS];
};
static const char *const heads[] = { "changed read", "observed", "predicted" };

/* "1  from bob.1 add"; if brief "1  ← bob.1" */
static void print_answer(struct text *t, const struct result_answer *a,
                         bool brief)
{
	if (a->value) {
		style_fit(t, a->value, VALUE_WIDTH);
		text_string(t, "  ");
	}
	text_string(t, brief ? "← " : "from ");
	text_string(t, brief ? a->from.brief : a->from.name);
}

static void fill_row(struct row *row, const struct result_read *x, bool brief)
{
	struct text *read = &row->cells[0];
	assert(x->times && x->key);
	for (int i = 0; i < COLUMNS; i++) text_clear(&row->cells[i]);
	text_format(read, "%s reads %s",
	            brief ? x->reader.brief : x->reader.name, x->key);
	if (x->times > 1) text_format(read, ", %" PRIu32 " times", x->times);
	print_answer(&row->cells[1], &x->observed, brief);
	print_answer(&row->cells[2], &x->predicted, brief);
}

/* The widths that the columns need; returns what the table does. */
static size_t measure(const struct row *rows, uint32_t count, size_t *width)
{
	size_t total = GAP * (COLUMNS - 1);
	assert(count);
	for (int c = 0; c < COLUMNS; c++) {
		width[c] = style_columns(heads[c]);
		for (uint32_t i = 0; i < count; i++) {
			size_t n = style_columns(text_get(&rows[i].cells[c]));
			if (n > width[c]) width[c] = n;
		}
		total += width[c];
	}
	return total;
}

static void narrow(size_t *width, size_t total, size_t available)
{
	for (; total > available; total--) {
		int widest = 0;
		for (int c = 1; c < COLUMNS; c++)
			if (width[c] > width[widest]) widest = c;
		if (width[widest] <= COLUMN_LEAST) return;
		width[widest]--;
	}
}

/* NULL: the heads. */
static void print_row(struct text *t, const struct style *s,
                      const struct row *row, const size_t *width)
{
	static const enum style_mark marks[] = { STYLE_BOLD, STYLE_DIM,
		                                 STYLE_RED };
	text_pad(t, ' ', INDENT);
	for (int c = 0; c < COLUMNS; c++) {
		const char *words = row ? text_get(&row->cells[c]) : heads[c];
		size_t n = style_columns(words);
		if (c) {
			text_char(t, ' ');
			style_words(t, s, STYLE_DIM, "│");
			text_char(t, ' ');
		}
		style_begin(t, s, row ? marks[c] : STYLE_BLUE);
		style_fit(t, words, width[c]);
		style_end(t, s);
		if (c + 1 < COLUMNS && n < width[c])
			text_pad(t, ' ', width[c] - n);
	}
	text_char(t, '\n');
}

static void print_heading(struct text *t, const struct style *s,
                          const size_t *width)
{
	print_row(t, s, NULL, width);
	text_pad(t, ' ', INDENT);
	style_begin(t, s, STYLE_DIM);
	for (int c = 0; c < COLUMNS; c++) {
		if (c) text_string(t, "─┼─");
		for (size_t i = 0; i < width[c]; i++) text_string(t, "─");
	}
	style_end(t, s);
	text_char(t, '\n');
}

static void print_reads(struct text *t, const struct style *s,
                        const struct result_prediction *p)
{
	size_t width[COLUMNS];
	size_t available = s->width > INDENT ? s->width - INDENT : 1;
	uint32_t count = p->read_count;
	struct row *rows = mem_take0(count, sizeof *rows);
	for (uint32_t i = 0; i < count; i++)
		fill_row(&rows[i], &p->reads[i], false);
	bool brief = measure(rows, count, width) > available;
	for (uint32_t i = 0; brief && i < count; i++)
		fill_row(&rows[i], &p->reads[i], true);
	narrow(width, measure(rows, count, width), available);
	text_char(t, '\n');
	print_heading(t, s, width);
	for (uint32_t i = 0; i < count; i++) {
		print_row(t, s, &rows[i], width);
		for (int c = 0; c < COLUMNS; c++) text_free(&rows[i].cells[c]);
	}
	free(rows);
	if (p->more_reads) {
		text_string(t, "  … and ");
		number_plural(t, p->more_reads, "other", "others");
		text_char(t, '\n');
	}
}

/* ---- sessions ---- */

static void print_sessions(struct text *t, const struct result_prediction *p)
{
	size_t width = 0;
	for (uint32_t i = 0; i < p->session_count; i++) {
		size_t n = style_columns(p->sessions[i].label);
		if (n > width) width = n;
	}
	text_format(t, "\n%s\n", p->sessions_lead);
	for (uint32_t i = 0; i < p->session_count; i++) {
		const struct result_line *l = &p->sessions[i];
		text_format(t, "  %s", l->label);
		text_pad(t, ' ', width - style_columns(l->label));
		text_format(t, "  %s\n", l->words);
	}
	text_string(t, p->sessions_rest);
}

/* ---- all ---- */

void report_prediction(struct text *t, const struct style *s,
                       const struct result_prediction *p)
{
	if (p->title) {
		text_char(t, '\n');
		style_words(t, s, STYLE_BOLD, p->title);
		text_string(t, p->itself ? ": the observed execution itself\n"
		                         : "\n");
	}
	if (p->read_count) print_reads(t, s, p);
	if (p->nearness) text_format(t, "\n%s\n", p->nearness);
	if (p->why.heading) {
		text_char(t, '\n');
		report_part(t, s, &p->why);
	}
	if (p->sessions_lead) print_sessions(t, p);
	if (!p->validation) return;
	text_char(t, '\n');
	style_words(t, s, p->validated ? STYLE_RED : STYLE_YELLOW,
	            p->validated ? "validated" : "not validated");
	text_string(t, p->validation);
	report_confirmation(t, s, &p->confirmation);
}

void report_predicted(struct text *t, const struct style *s,
                      const struct result *r, const char *predictions)
{
	report_verdict(t, s, r);
	text_string(t, predictions);
	if (r->note) text_string(t, r->note);
}

void report_predicted_line(struct text *t, const struct style *s,
                           const struct result *r)
{
	assert(r->place && r->brief);
	text_format(t, "%s: ", r->place);
	style_verdict(t, s, r->verdict);
	text_format(t, "%s\n", r->brief);
}
