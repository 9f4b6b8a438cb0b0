#include "report/report.h"

#include <assert.h>
#include <string.h>

#include "result/names.h"
#include "result/numbers.h"
#include "result/result.h"

enum {
	LABEL_WIDTH = 15,
	NUMBER_WIDTH = 12,
	WARNINGS_SHOWN = 8,
	WARNING_COLUMNS = 60 /* of a line of source */
};

/* ---- the verdict ---- */

void report_verdict_line(struct text *t, const struct style *s, enum verdict v,
                         const char *reason)
{
	assert(reason);
	style_verdict(t, s, v);
	text_string(t, ": ");
	text_string(t, reason);
	text_char(t, '\n');
}

void report_verdict(struct text *t, const struct style *s,
                    const struct result *r)
{
	if (r->outlook && r->verdict == VERDICT_INCONCLUSIVE) {
		report_verdict_line(t, s, r->verdict, r->outlook);
		return;
	}
	report_verdict_line(t, s, r->verdict, r->reason);
	if (r->outlook) text_format(t, "%s\n", r->outlook);
}

/* ---- the list of assertions ---- */

static void print_assertions(struct text *t, const struct style *s,
                             const struct result *r)
{
	uint32_t listed = 0;
	for (uint32_t i = 0; i < r->assertion_count; i++)
		listed += r->assertions[i].state != ASSERTION_UNKNOWN;
	if (!listed || (listed == 1 && r->verdict == VERDICT_VIOLATED)) return;
	text_char(t, '\n');
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].state != ASSERTION_UNKNOWN)
			report_assertion_line(t, s, r, &r->assertions[i]);
}

/* ---- warnings ---- */

static void print_warning(struct text *t, const struct style *s,
                          const struct diag *d)
{
	style_words(t, s, STYLE_YELLOW, "warning: ");
	name_position(t, (struct position){ d->file, d->line, d->column,
	                                    d->source_line });
	text_string(t, ": ");
	text_string(t, d->message);
	if (d->source_line && d->line) {
		const char *line = d->source_line;
		while (*line == ' ' || *line == '\t') line++;
		size_t before = (size_t)(line - d->source_line);
		text_string(t, ": ");
		style_begin(t, s, STYLE_DIM);
		style_around(t, line, WARNING_COLUMNS,
		             d->column > before ? d->column - before : 1);
		style_end(t, s);
	}
	text_char(t, '\n');
}

/* Those of imported files are mostly about what the program does not use. */
static void print_warnings(struct text *t, const struct style *s,
                           const struct result *r)
{
	const struct diags *d = &r->warnings;
	size_t shown = 0;
	assert(d->errors == 0);
	if (d->count) text_char(t, '\n');
	for (size_t i = 0; i < d->count && shown < WARNINGS_SHOWN; i++) {
		if (strcmp(d->items[i].file, program_path(r->program)))
			continue;
		print_warning(t, s, &d->items[i]);
		shown++;
	}
	if (d->count > shown) {
		style_words(t, s, STYLE_YELLOW, "warning: ");
		text_format(t,
		            "%zu %s%s never reached, mostly in imported "
		            "files; --json lists them\n",
		            d->count - shown, shown ? "other " : "",
		            d->count - shown == 1 ? "place was"
		                                  : "places were");
	}
}

/* ---- counts ---- */

static void print_line(struct text *t, const struct result_line *l)
{
	size_t label = style_columns(l->label), n = style_columns(l->number);
	assert(l->label && l->number && l->words);
	text_string(t, l->label);
	if (label < LABEL_WIDTH) text_pad(t, ' ', LABEL_WIDTH - label);
	if (n < NUMBER_WIDTH) text_pad(t, ' ', NUMBER_WIDTH - n);
	text_format(t, "%s  %s\n", l->number, l->words);
}

void report_memory(struct text *t)
{
	text_string(t, "memory    ");
	number_resident(t);
	text_char(t, '\n');
}

static void print_table(struct text *t, const struct style *s,
                        const struct result *r)
{
	struct text n = { 0 };
	assert(r->table->first && r->table_heads[0]);
	text_char(t, '\n');
	style_begin(t, s, STYLE_DIM);
	for (int i = 0; i < RESULT_COLUMNS; i++)
		text_format(t, "%*s", NUMBER_WIDTH, r->table_heads[i]);
	style_end(t, s);
	text_char(t, '\n');
	for (const struct result_value *row = r->table->first; row;
	     row = row->next) {
		const struct result_value *cell = row->values.first;
		for (; cell; cell = cell->next) {
			text_clear(&n);
			number_count(&n, cell->count);
			if (n.length < NUMBER_WIDTH)
				text_pad(t, ' ', NUMBER_WIDTH - n.length);
			text_string(t, text_get(&n));
		}
		text_char(t, '\n');
	}
	text_free(&n);
}

void report_text(struct text *t, const struct style *s, const struct result *r)
{
	assert(r->reason);
	if (r->comparison) {
		report_compare(t, s, r);
		return;
	}
	if (r->separated) {
		report_separated(t, s, r);
		return;
	}
	report_verdict(t, s, r);
	if (r->levels) report_levels(t, s, r);
	if (r->note) text_string(t, r->note);
	print_assertions(t, s, r);
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].where)
			report_violation(t, s, r, &r->assertions[i]);
	if (r->has_warnings) print_warnings(t, s, r);
	if (r->line_count) text_char(t, '\n');
	for (uint32_t i = 0; i < r->line_count; i++)
		print_line(t, &r->lines[i]);
	if (r->table) print_table(t, s, r);
	if (r->closing) text_string(t, r->closing);
}
