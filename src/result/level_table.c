#include "result/level_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "result/names.h"
#include "result/numbers.h"

struct levels_table *levels_table_new(const struct program *p)
{
	struct levels_table *t = mem_take0(1, sizeof *t);
	t->program = p;
	return t;
}

void levels_table_free(struct levels_table *t)
{
	if (!t) return;
	free(t->rows);
	error_places_free(&t->errors);
	free(t);
}

/* Assertions by number, run-time errors by place, robustness. */
static struct levels_row *row_of(struct levels_table *t, uint32_t slot,
                                 struct position at)
{
	uint32_t i = 0;
	while (i < t->row_count && (t->rows[i].slot < slot ||
	                            (t->rows[i].slot == slot &&
	                             position_compare(t->rows[i].at, at) < 0)))
		i++;
	if (i < t->row_count && t->rows[i].slot == slot &&
	    !position_compare(t->rows[i].at, at))
		return &t->rows[i];
	VEC_RESERVE(t->rows, t->row_count, t->row_capacity);
	memmove(&t->rows[i + 1], &t->rows[i],
	        (t->row_count++ - i) * sizeof *t->rows);
	t->rows[i] = (struct levels_row){ .slot = slot, .at = at };
	return &t->rows[i];
}

static struct levels_row *row_of_slot(struct levels_table *t,
                                      const struct explorer *e, uint32_t slot)
{
	if (slot < explorer_slot_places(e))
		return row_of(
			t, slot,
			name_program_slot_position(t->program, slot, NULL));
	struct position at = explorer_error_place(e, slot);
	uint32_t place = error_places_number(&t->errors, at);
	return row_of(t, explorer_slot_error(e), t->errors.items[place]);
}

void levels_table_set(struct levels_table *t, const struct explorer *e,
                      enum level l)
{
	const struct explore_stats *s = explorer_stats(e);
	bool own = explorer_options(e)->level == l;
	assert(own || explorer_options(e)->classify);
	struct levels_column *c = &t->columns[l];
	if (t->stop == STOP_NONE && s->stop != STOP_VIOLATION)
		t->stop = s->stop;
	c->ran = true;
	c->complete = s->stop == STOP_NONE;
	c->histories = own ? s->histories : s->per_level[l];
	c->explored = explorer_options(e)->level;
	c->pruned = s->pruned;
	for (uint32_t i = 0; i < explorer_slot_count(e); i++) {
		const struct explore_violation *v = explorer_violation(e, i);
		bool checked = explorer_slot_checked(e, i);
		uint64_t n = own ? v->histories : v->per_level[l];
		if (i == explorer_slot_error(e) || (!checked && !n)) continue;
		struct levels_row *row = row_of_slot(t, e, i);
		row->checked |= checked;
		row->violated[l] = n;
	}
}

/* Over all assertions and run-time errors. */
static enum verdict verdict_of(const struct levels_table *t, enum level l)
{
	const struct levels_column *c = &t->columns[l];
	assert(l < LEVEL_COUNT);
	for (uint32_t i = 0; i < t->row_count; i++)
		if (t->rows[i].violated[l]) return VERDICT_VIOLATED;
	return c->ran && c->complete && c->histories ? VERDICT_HOLDS
	                                             : VERDICT_INCONCLUSIVE;
}

/* ---- the result ---- */

/* Not of code in C that was cut short, which made no assumption false, nor of
 * sessions in SQL, which make none. */
static void name_left_out(struct text *t, const struct levels_table *table,
                          enum level asked)
{
	const struct levels_column *c = &table->columns[asked];
	struct position at;
	if (!c->pruned || program_is_sql(table->program) ||
	    program_bound_met(table->program, &at))
		return;
	text_string(t, "; left out: ");
	number_plural(t, c->pruned, "execution", "executions");
	if (c->explored != asked)
		text_format(t, " under %s", level_word(c->explored));
	text_string(t, c->pruned == 1 ? " that makes an assumption false"
	                              : " that make an assumption false");
}

static void name_reason(struct text *t, const struct levels_table *table,
                        enum level asked, const char *as)
{
	uint32_t fail = 0, assertions = 0, places = 0;
	assert(asked < LEVEL_COUNT);
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct levels_row *row = &table->rows[i];
		bool error =
			row->slot == program_assertion_count(table->program);
		bool violated = row->violated[asked] > 0;
		assertions += !error;
		fail += !error && violated;
		places += error && violated;
	}
	switch (verdict_of(table, asked)) {
	case VERDICT_VIOLATED:
		if (fail) name_failing(t, fail, assertions);
		if (fail && places) text_string(t, ", and ");
		if (places) name_errors(t, places);
		break;
	case VERDICT_HOLDS:
		text_string(t, assertions ? "no assertion fails"
		                          : "nothing is asserted");
		break;
	default:
		if (table->columns[asked].complete)
			text_string(t, "there is no history to judge by");
		else if (table->stop != STOP_NONE)
			text_format(t, "%s, so not everything was explored",
			            stop_text(table->stop));
		else
			text_string(t, "not everything was explored");
	}
	text_string(t, " under ");
	name_program_level(t, table->program, asked, as);
	name_left_out(t, table, asked);
}

static void add_column(struct result *r, struct result_values *to,
                       const struct levels_table *table, enum level l)
{
	const struct levels_column *c = &table->columns[l];
	assert(c->ran || !c->histories);
	struct result_values *column = result_group(r, to, NULL);
	result_text(r, column, "level", level_word(l));
	result_flag(r, column, "complete", c->ran && c->complete);
	result_count(r, column, "histories", c->histories);
	result_text(r, column, "verdict", verdict_word(verdict_of(table, l)));
	result_text(r, column, "missing",
	            program_mixes(table->program) && !level_mixes(l)
	                    ? "it cannot stand beside other levels"
	                    : NULL);
	struct result_values *violated = result_list(r, column, "violated");
	for (uint32_t i = 0; i < table->row_count; i++)
		result_count(r, violated, NULL, table->rows[i].violated[l]);
}

/* ---- the table ---- */

static const char *cell_words(struct result *r, const struct levels_column *c,
                              uint64_t n)
{
	struct text words = { 0 };
	assert(c->ran || !n);
	if (!c->ran) return "-";
	if (!c->complete) text_string(&words, "≥");
	number_count(&words, n);
	const char *kept = result_words(r, &words);
	text_free(&words);
	return kept;
}

void name_levels_row(struct text *t, const struct result *r,
                     const struct result_assertion *a)
{
	bool error = a->slot == program_assertion_count(r->program);
	if (a->message && !program_is_native(r->program)) {
		text_format(t, "assert \"%s\"", a->message);
		return;
	}
	text_string(t, a->text);
	if (!error || !a->at.file) return;
	text_char(t, ' ');
	name_position(t, a->at);
}

/* How many histories violate it. */
static void add_row(struct result *r, const struct levels_table *table,
                    uint32_t i)
{
	struct text label = { 0 };
	name_levels_row(&label, r, &r->assertions[i]);
	struct result_row *row = result_row(r, text_get(&label));
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const struct levels_column *c = &table->columns[l];
		uint64_t n = table->rows[i].violated[l];
		row->cells[l].words = cell_words(r, c, n);
		if (n)
			row->cells[l].mark = MARK_BAD;
		else if (c->ran && c->complete)
			row->cells[l].mark = MARK_GOOD;
	}
	text_free(&label);
}

/* What the columns are, where not all transactions run at their levels. */
static void say_own_levels(struct text *t, const struct program *p)
{
	if (!program_mixes(p)) return;
	text_format(t,
	            "\nTransactions with a level of their own keep it%s; the "
	            "columns are the levels of the others.\n",
	            program_is_sql(p) ? ", unless -i is given" : "");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!level_mixes(l))
			text_format(t, "There is no %s beside other levels.\n",
			            level_word(l));
}

static void add_closing(struct result *r, const struct levels_table *table)
{
	struct text words = { 0 };
	if (table->row_count)
		text_string(&words, "\nThe rows of assertions count the "
		                    "histories that violate them.\n");
	say_own_levels(&words, table->program);
	if (words.length) r->closing = result_words(r, &words);
	text_free(&words);
}

static void add_table(struct result *r, const struct levels_table *table)
{
	result_table(r, LEVEL_COUNT, LEVELS_COLUMN_LEAST, LEVELS_LABEL_LEAST);
	struct result_row *head = result_row(r, "");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		head->cells[l] = (struct result_cell){
			level_word(l), l == r->level ? MARK_ASKED : MARK_NAME
		};
	struct result_row *row = result_row(r, "histories");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		row->cells[l].words = cell_words(r, &table->columns[l],
		                                 table->columns[l].histories);
	assert(r->assertion_count == table->row_count);
	for (uint32_t i = 0; i < table->row_count; i++) add_row(r, table, i);
	add_closing(r, table);
}

struct result *result_of_levels(const struct levels_table *table,
                                enum level asked, const char *as)
{
	struct result *r = result_new(table->program, asked);
	r->has_assertions = true;
	struct result_values *list;
	struct text reason = { 0 };
	r->verdict = verdict_of(table, asked);
	name_reason(&reason, table, asked, as);
	r->reason = result_words(r, &reason);
	result_text(r, &r->settings, "program", program_path(table->program));
	result_level(r, asked, as);
	for (uint32_t i = 0; i < table->row_count; i++) {
		struct result_assertion *a =
			result_assertion(r, table->rows[i].slot, NULL);
		a->at = table->rows[i].at;
		a->state = ASSERTION_UNKNOWN; /* it depends on the level */
	}
	list = result_list(r, &r->findings, "levels");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		add_column(r, list, table, l);
	add_table(r, table);
	text_free(&reason);
	return r;
}
