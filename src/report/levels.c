#include "report/levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "report/json.h"
#include "report/names.h"
#include "vm/program.h"

enum { CELL_LEAST = 7 };

struct levels_table *levels_table_new(const struct explorer *e)
{
	struct levels_table *t = mem_take0(1, sizeof *t);
	t->slot_count = explorer_slot_count(e);
	t->program = program_path(explorer_program(e));
	t->slots = mem_take0(t->slot_count, sizeof *t->slots);
	t->checked = mem_take0(t->slot_count, sizeof *t->checked);
	for (int l = 0; l < LEVEL_COUNT; l++)
		t->columns[l].violated =
			mem_take0(t->slot_count, sizeof(uint64_t));
	return t;
}

void levels_table_free(struct levels_table *t)
{
	if (!t) return;
	for (uint32_t s = 0; s < t->slot_count; s++) text_free(&t->slots[s]);
	for (int l = 0; l < LEVEL_COUNT; l++) free(t->columns[l].violated);
	free(t->slots);
	free(t->checked);
	free(t);
}

/* Those met so far: a native program may come to others under another level. */
static void note_slots(struct levels_table *t, const struct explorer *e)
{
	for (uint32_t s = 0; s < t->slot_count; s++) {
		bool checked = explorer_slot_checked(e, s);
		t->checked[s] |= checked;
		if (!t->slots[s].length &&
		    (checked || explorer_slot_violated(e, s)))
			name_slot(&t->slots[s], e, s);
	}
}

void levels_table_set(struct levels_table *t, const struct explorer *e,
                      enum level l)
{
	const struct explore_stats *s = explorer_stats(e);
	bool own = explorer_options(e)->level == l;
	assert(own || explorer_options(e)->classify);
	struct levels_column *c = &t->columns[l];
	note_slots(t, e);
	c->ran = true;
	c->complete = s->stop == STOP_NONE;
	c->histories = own ? s->histories : s->per_level[l];
	for (uint32_t i = 0; i < t->slot_count; i++) {
		const struct explore_violation *v = explorer_violation(e, i);
		c->violated[i] = !v ? 0 : own ? v->histories : v->per_level[l];
	}
}

enum verdict levels_table_verdict(const struct levels_table *t, enum level l)
{
	const struct levels_column *c = &t->columns[l];
	for (uint32_t s = 0; s < t->slot_count; s++)
		if (c->violated[s]) return VERDICT_VIOLATED;
	return c->ran && c->complete ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

static bool has_row(const struct levels_table *t, uint32_t slot)
{
	if (t->checked[slot]) return true;
	for (int l = 0; l < LEVEL_COUNT; l++)
		if (t->columns[l].violated[slot]) return true;
	return false;
}

static void cell_words(struct text *t, const struct levels_column *c,
                       uint64_t n)
{
	if (!c->ran) {
		text_char(t, '-');
		return;
	}
	if (!c->complete) text_string(t, "≥");
	style_count(t, n);
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
	text_pad(t, ' ', width > used ? width - used : 1);
	if (violations && n)
		style_words(t, s, STYLE_RED, text_get(&words));
	else if (violations && c->ran && c->complete)
		style_words(t, s, STYLE_GREEN, text_get(&words));
	else
		text_string(t, text_get(&words));
	text_free(&words);
}

static void print_label(struct text *t, const char *label, unsigned width)
{
	size_t used = style_columns(label);
	style_fit(t, label, width);
	if (used < width) text_pad(t, ' ', width - used);
}

static void print_verdict(struct text *t, const struct style *s,
                          const struct levels_table *table, enum level asked)
{
	enum verdict v = levels_table_verdict(table, asked);
	uint32_t violated = 0, checked = 0;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		bool row = has_row(table, i);
		checked += row;
		violated += row && table->columns[asked].violated[i] > 0;
	}
	style_verdict(t, s, v);
	if (v == VERDICT_VIOLATED)
		text_format(t, ": %" PRIu32 " of %" PRIu32 " assertion%s %s",
		            violated, checked, checked == 1 ? "" : "s",
		            violated == 1 ? "fails" : "fail");
	else if (v == VERDICT_HOLDS)
		text_string(t, checked ? ": no assertion fails"
		                       : ": nothing is asserted");
	else
		text_string(t, ": not everything was explored");
	text_format(t, " under %s (%s)\n\n", level_name(asked),
	            level_word(asked));
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

static unsigned label_width(const struct levels_table *table, unsigned least,
                            unsigned most)
{
	unsigned width = least;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		unsigned w =
			(unsigned)style_columns(text_get(&table->slots[i]));
		if (has_row(table, i) && w > width) width = w;
	}
	return width < most ? width : most;
}

void report_levels(struct text *t, const struct style *s,
                   const struct levels_table *table, enum level asked)
{
	unsigned widths[LEVEL_COUNT], used = 0;
	column_widths(table, widths);
	for (int l = 0; l < LEVEL_COUNT; l++) used += widths[l];
	unsigned label = label_width(
		table, 16, s->width > used + 24 ? s->width - used : 24);
	bool rows = false;
	print_verdict(t, s, table, asked);
	print_head(t, s, label, widths, asked);
	print_label(t, "histories", label);
	for (int l = 0; l < LEVEL_COUNT; l++)
		print_cell(t, s, &table->columns[l],
		           table->columns[l].histories, widths[l], false);
	text_char(t, '\n');
	for (uint32_t i = 0; i < table->slot_count; i++) {
		if (!has_row(table, i)) continue;
		rows = true;
		print_label(t, text_get(&table->slots[i]), label);
		for (int l = 0; l < LEVEL_COUNT; l++)
			print_cell(t, s, &table->columns[l],
			           table->columns[l].violated[i], widths[l],
			           true);
		text_char(t, '\n');
	}
	if (rows)
		text_string(t, "\nThe rows of assertions count the histories "
		               "that violate them.\n");
}

static void json_column(struct text *t, const struct levels_table *table,
                        enum level l)
{
	const struct levels_column *c = &table->columns[l];
	text_string(t, "{\"level\":");
	json_text(t, level_word(l));
	text_format(t, ",\"complete\":%s,",
	            c->ran && c->complete ? "true" : "false");
	json_count(t, "histories", c->histories);
	text_string(t, ",\"verdict\":");
	json_text(t, verdict_word(levels_table_verdict(table, l)));
	text_string(t, ",\"violated\":[");
	bool first = true;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		if (!has_row(table, i)) continue;
		if (!first) text_char(t, ',');
		text_format(t, "%" PRIu64, c->violated[i]);
		first = false;
	}
	text_string(t, "]}");
}

void report_levels_json(struct text *t, const struct levels_table *table,
                        enum level asked, const char *version)
{
	text_string(t, "{\"isoscope\":");
	json_text(t, version);
	text_string(t, ",\"program\":");
	json_text(t, table->program);
	text_string(t, ",\"level\":");
	json_text(t, level_word(asked));
	text_string(t, ",\"verdict\":");
	json_text(t, verdict_word(levels_table_verdict(table, asked)));
	text_string(t, ",\"assertions\":[");
	bool first = true;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		if (!has_row(table, i)) continue;
		if (!first) text_char(t, ',');
		json_text(t, text_get(&table->slots[i]));
		first = false;
	}
	text_string(t, "],\"levels\":[");
	for (int l = 0; l < LEVEL_COUNT; l++) {
		if (l) text_char(t, ',');
		json_column(t, table, (enum level)l);
	}
	text_string(t, "]}\n");
}
