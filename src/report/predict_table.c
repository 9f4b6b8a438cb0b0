#include "report/predict_text.h"

#include <assert.h>
#include <inttypes.h>

#include "base/region.h"
#include "result/checked.h"
#include "result/names.h"
#include "result/predicted.h"
#include "result/numbers.h"

enum {
	COLUMNS = 3,
	ROWS_SHOWN = 40,
	VALUE_WIDTH = 24,  /* a longer value is cut */
	COLUMN_LEAST = 16, /* no column is made narrower to fit the width */
	GAP = 3,           /* " │ " */
	INDENT = 2
};

struct row {
	struct text cells[COLUMNS];
};

/* "bob.1 add"; if brief "bob.1" */
static void name_row_transaction(struct text *t, const struct trace *r,
                                 uint32_t i, bool brief)
{
	assert(i < r->transaction_count);
	const struct trace_transaction *x = &r->transactions[i];
	if (!brief || i == TRACE_INIT || r->sessions[x->session].after_all) {
		name_trace_transaction(t, r, i);
		return;
	}
	name_plain(t, r->sessions[x->session].name);
	text_format(t, ".%" PRIu32, i - r->sessions[x->session].first + 1);
}

/* "1  from bob.1 add"; if brief "1  ← bob.1" */
static void print_answer(struct text *t, const struct trace *r, uint32_t writer,
                         const struct trace_value *value, bool brief)
{
	struct text words = { 0 };
	struct region region;
	if (value) {
		region_init(&region);
		value_print(&words, trace_rich_value(&region, r, value->number,
		                                     value->flags));
		style_fit(t, text_get(&words), VALUE_WIDTH);
		text_string(t, "  ");
		region_free(&region);
	}
	text_string(t, brief ? "← " : "from ");
	name_row_transaction(t, r, writer, brief);
	text_free(&words);
}

/* `count` reads that are alike. */
static void fill_row(struct row *row, const struct trace *r,
                     const struct changed_read *c, uint32_t count, bool brief)
{
	assert(count && c->op < r->op_count);
	const struct trace_op *o = &r->ops[c->op];
	struct trace_value before = { o->value, o->flags }, now;
	bool known = !r->valueless && !(o->flags & TRACE_MISSING);
	for (int i = 0; i < COLUMNS; i++) text_clear(&row->cells[i]);
	name_row_transaction(&row->cells[0], r, c->transaction, brief);
	text_string(&row->cells[0], " reads ");
	name_trace_key(&row->cells[0], r, o->key);
	if (count > 1)
		text_format(&row->cells[0], ", %" PRIu32 " times", count);
	print_answer(&row->cells[1], r, c->observed, known ? &before : NULL,
	             brief);
	known = known && predict_value(r, c->writer, o->key, &now);
	print_answer(&row->cells[2], r, c->writer, known ? &now : NULL, brief);
}

/* The widths that the columns need; returns what the table does. */
static size_t measure(const struct row *rows, uint32_t count, size_t *width)
{
	static const size_t least[] = { 12, 8, 9 }; /* of the heading */
	size_t total = GAP * (COLUMNS - 1);
	assert(count);
	for (int c = 0; c < COLUMNS; c++) {
		width[c] = least[c];
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

static void print_row(struct text *t, const struct style *s,
                      const struct row *row, const size_t *width, bool heading)
{
	static const enum style_mark marks[] = { STYLE_BOLD, STYLE_DIM,
		                                 STYLE_RED };
	text_pad(t, ' ', INDENT);
	for (int c = 0; c < COLUMNS; c++) {
		const char *words = text_get(&row->cells[c]);
		size_t n = style_columns(words);
		if (c) {
			text_char(t, ' ');
			style_words(t, s, STYLE_DIM, "│");
			text_char(t, ' ');
		}
		style_begin(t, s, heading ? STYLE_BLUE : marks[c]);
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
	struct row heading = { 0 };
	text_string(&heading.cells[0], "changed read");
	text_string(&heading.cells[1], "observed");
	text_string(&heading.cells[2], "predicted");
	print_row(t, s, &heading, width, true);
	text_pad(t, ' ', INDENT);
	style_begin(t, s, STYLE_DIM);
	for (int c = 0; c < COLUMNS; c++) {
		if (c) text_string(t, "─┼─");
		for (size_t i = 0; i < width[c]; i++) text_string(t, "─");
		text_free(&heading.cells[c]);
	}
	style_end(t, s);
	text_char(t, '\n');
}

/* The rows of the first reads, without those like an earlier one. `covered`:
 * how many reads they are for. */
static uint32_t fill_rows(struct row *rows, const struct trace *observed,
                          const struct prediction *p, bool brief,
                          uint32_t *covered)
{
	uint32_t count = 0;
	*covered = 0;
	for (uint32_t i = 0; i < p->changed_count && count < ROWS_SHOWN; i++) {
		uint32_t times = predict_alike(observed, p, i);
		if (!times) continue;
		fill_row(&rows[count++], observed, &p->changed[i], times,
		         brief);
		*covered += times;
	}
	return count;
}

void report_changed_reads(struct text *t, const struct style *s,
                          const struct trace *observed,
                          const struct prediction *p)
{
	size_t width[COLUMNS];
	size_t available = s->width > INDENT ? s->width - INDENT : 1;
	struct row rows[ROWS_SHOWN] = { 0 };
	uint32_t covered, count;
	count = fill_rows(rows, observed, p, false, &covered);
	if (measure(rows, count, width) > available)
		fill_rows(rows, observed, p, true, &covered);
	narrow(width, measure(rows, count, width), available);
	text_char(t, '\n');
	print_heading(t, s, width);
	for (uint32_t i = 0; i < count; i++) {
		print_row(t, s, &rows[i], width, false);
		for (int c = 0; c < COLUMNS; c++) text_free(&rows[i].cells[c]);
	}
	if (p->changed_count > covered) {
		text_string(t, "  … and ");
		number_plural(t, p->changed_count - covered, "other", "others");
		text_char(t, '\n');
	}
}
