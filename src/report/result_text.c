#include "report/report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/witness_text.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/result.h"

enum {
	GAP = 2,           /* before a column */
	LABELS_LEAST = 24, /* that labels of rows may take */
	WARNINGS_SHOWN = 8,
	WRONG_READS_SHOWN = 10,
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

static void print_found(struct text *t, const struct style *s,
                        const struct result *r)
{
	bool any = false;
	for (uint32_t i = 0; i < r->assertion_count; i++) {
		const struct result_assertion *a = &r->assertions[i];
		if (!a->found_by) continue;
		if (!any) text_string(t, "\nviolated\n");
		any = true;
		text_string(t, "  ");
		report_assertion_place(t, s, a, 2);
		text_format(t, "    by %s\n", a->found_by);
	}
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

static void print_line(struct text *t, const struct result *r,
                       const struct result_line *l)
{
	size_t label = style_columns(l->label);
	assert(l->label && l->words);
	text_string(t, l->label);
	if (label < r->label_width) text_pad(t, ' ', r->label_width - label);
	if (l->number) {
		size_t n = style_columns(l->number);
		if (n < r->number_width) text_pad(t, ' ', r->number_width - n);
		text_format(t, "%s  ", l->number);
	}
	text_format(t, "%s\n", l->words);
}

/* ---- the table ---- */

/* The widths of its columns; returns that of the labels. */
static unsigned measure(const struct result_table *x, const struct style *s,
                        unsigned *widths)
{
	unsigned label = x->label_least, used = 0;
	for (unsigned i = 0; i < x->columns; i++) {
		widths[i] = x->column_least;
		if (x->left && i + 1 == x->columns) continue;
		for (const struct result_row *r = x->first; r; r = r->next) {
			size_t w = style_columns(r->cells[i].words) + GAP;
			if (w > widths[i]) widths[i] = (unsigned)w;
		}
		used += widths[i];
	}
	for (const struct result_row *r = x->first; r; r = r->next) {
		size_t w = style_columns(r->label);
		if (w > label) label = (unsigned)w;
	}
	unsigned most =
		s->width > used + LABELS_LEAST ? s->width - used : LABELS_LEAST;
	return label < most ? label : most;
}

static void print_cell(struct text *t, const struct style *s,
                       const struct result_cell *c)
{
	static const enum style_mark marks[] = {
		[MARK_DIM] = STYLE_DIM,    [MARK_NAME] = STYLE_BLUE,
		[MARK_ASKED] = STYLE_BOLD, [MARK_GOOD] = STYLE_GREEN,
		[MARK_BAD] = STYLE_RED,    [MARK_OPEN] = STYLE_YELLOW,
	};
	if (c->mark == MARK_NONE)
		text_string(t, c->words);
	else
		style_words(t, s, marks[c->mark], c->words);
}

/* A label that is longer has a line of its own. */
static void print_row(struct text *t, const struct style *s,
                      const struct result_table *x, const struct result_row *r,
                      unsigned label, const unsigned *widths)
{
	size_t used = style_columns(r->label);
	text_string(t, r->label);
	if (used > label) {
		text_char(t, '\n');
		used = 0;
	}
	size_t owed = label - used;
	for (unsigned i = 0; i < x->columns; i++) {
		const struct result_cell *c = &r->cells[i];
		size_t n = style_columns(c->words);
		size_t rest = n < widths[i] ? widths[i] - n : 0;
		if (!x->left) owed += rest;
		if (x->left && !n) continue;
		text_pad(t, ' ', owed);
		print_cell(t, s, c);
		owed = x->left ? rest : 0;
	}
	if (r->note) {
		text_string(t, "  ");
		style_words(t, s, STYLE_YELLOW, r->note);
	}
	text_char(t, '\n');
}

static void print_table(struct text *t, const struct style *s,
                        const struct result_table *x)
{
	unsigned *widths = mem_take0(x->columns, sizeof *widths);
	unsigned label = measure(x, s, widths);
	text_char(t, '\n');
	for (const struct result_row *r = x->first; r; r = r->next)
		print_row(t, s, x, r, label, widths);
	free(widths);
}

/* ---- parts ---- */

void report_part(struct text *t, const struct style *s,
                 const struct result_part *p)
{
	enum { INDENT = 4 };
	if (p->anomaly && p->anomaly_leads) {
		style_words(t, s, STYLE_RED, p->anomaly);
		text_string(t, ": ");
	}
	text_string(t, p->heading);
	if (p->anomaly && !p->anomaly_leads) {
		text_string(t, ": ");
		style_words(t, s, STYLE_RED, p->anomaly);
	}
	text_char(t, '\n');
	if (!p->history) return;
	if (p->extent) {
		text_format(t, "  %s", p->extent);
		if (p->changes.count)
			text_format(t, " (* the changed read%s)",
			            p->changes.count == 1 ? "" : "s");
		text_string(t, ":\n");
	}
	text_char(t, '\n');
	if (p->levels) text_format(t, "  %s\n\n", p->levels);
	report_witness_part(t, s, p->history, &p->changes);
	if (p->cycle.count || p->closing) text_char(t, '\n');
	if (p->cycle.count) {
		text_format(t, "  %s\n", p->cycle_leads);
		report_cycle(t, p->history, &p->cycle, INDENT);
		text_string(t, "  which leads back to where it began\n");
	}
	if (p->closing) text_string(t, p->closing);
}

static void print_parts(struct text *t, const struct style *s,
                        const struct result *r)
{
	for (uint32_t i = 0; i < r->part_count; i++) {
		if (i || !r->parts_lead) text_char(t, '\n');
		report_part(t, s, &r->parts[i]);
	}
}

/* ---- wrong reads of a recorded history ---- */

static void print_wrong_reads(struct text *t, const struct style *s,
                              const struct result *r)
{
	const struct result_value *list =
		result_find(&r->findings, "anomalies");
	const struct result_value *a = list ? list->values.first : NULL;
	uint64_t shown = 0;
	if (!a) return;
	uint64_t found = result_find(&r->findings, "anomalies_found")->count;
	text_string(t, found == 1 ? "\nThis read is wrong"
	                          : "\nThese reads are wrong");
	text_string(t, ", in whatever order the transactions ran:\n");
	for (; a && shown < WRONG_READS_SHOWN; a = a->next, shown++) {
		text_string(t, "  ");
		style_words(t, s, STYLE_YELLOW,
		            result_find(&a->values, "name")->text);
		text_format(t, "\n    %s\n",
		            result_find(&a->values, "words")->text);
	}
	assert(shown <= found);
	if (found == shown) return;
	text_string(t, "  … and ");
	number_plural(t, found - shown, "other", "others");
	text_string(t, a ? "; --json lists more\n" : "\n");
}

/* ---- all ---- */

void report_findings(struct text *t, const struct style *s,
                     const struct result *r)
{
	assert(r->reason);
	if (r->repair) {
		report_repaired(t, s, r);
		return;
	}
	if (r->parts_lead)
		print_parts(t, s, r);
	else
		report_verdict(t, s, r);
	if (r->table && r->table_leads) print_table(t, s, r->table);
	if (r->note) text_string(t, r->note);
	print_wrong_reads(t, s, r);
	if (!r->parts_lead) print_parts(t, s, r);
	print_assertions(t, s, r);
	print_found(t, s, r);
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].where)
			report_violation(t, s, r, &r->assertions[i]);
	if (r->has_warnings) print_warnings(t, s, r);
}

void report_costs(struct text *t, const struct style *s, const struct result *r)
{
	if (r->line_count) text_char(t, '\n');
	for (uint32_t i = 0; i < r->line_count; i++)
		print_line(t, r, &r->lines[i]);
	if (r->table && !r->table_leads) print_table(t, s, r->table);
	if (r->closing) text_string(t, r->closing);
}

void report_text(struct text *t, const struct style *s, const struct result *r)
{
	report_findings(t, s, r);
	report_costs(t, s, r);
}
