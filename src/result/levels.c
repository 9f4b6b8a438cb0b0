#include "result/levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "result/names.h"

struct levels_table *levels_table_new(const struct explorer *e)
{
	struct levels_table *t = mem_take0(1, sizeof *t);
	t->slot_count = explorer_slot_count(e);
	t->program = explorer_program(e);
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
			name_program_slot(&t->slots[s], t->program, s);
	}
}

void levels_table_set(struct levels_table *t, const struct explorer *e,
                      enum level l)
{
	const struct explore_stats *s = explorer_stats(e);
	bool own = explorer_options(e)->level == l;
	assert(own || explorer_options(e)->classify);
	struct levels_column *c = &t->columns[l];
	assert(t->slot_count == explorer_slot_count(e));
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
	assert(l < LEVEL_COUNT);
	for (uint32_t s = 0; s < t->slot_count; s++)
		if (c->violated[s]) return VERDICT_VIOLATED;
	return c->ran && c->complete ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

bool levels_table_has_row(const struct levels_table *t, uint32_t slot)
{
	assert(slot < t->slot_count);
	if (t->checked[slot]) return true;
	for (int l = 0; l < LEVEL_COUNT; l++)
		if (t->columns[l].violated[slot]) return true;
	return false;
}

/* ---- the result ---- */

static void name_reason(struct text *t, const struct levels_table *table,
                        enum level asked)
{
	uint32_t violated = 0, rows = 0;
	assert(asked < LEVEL_COUNT);
	for (uint32_t i = 0; i < table->slot_count; i++) {
		bool row = levels_table_has_row(table, i);
		rows += row;
		violated += row && table->columns[asked].violated[i] > 0;
	}
	switch (levels_table_verdict(table, asked)) {
	case VERDICT_VIOLATED:
		text_format(t, "%" PRIu32 " of %" PRIu32 " assertion%s %s",
		            violated, rows, rows == 1 ? "" : "s",
		            violated == 1 ? "fails" : "fail");
		break;
	case VERDICT_HOLDS:
		text_string(t, rows ? "no assertion fails"
		                    : "nothing is asserted");
		break;
	default: text_string(t, "not everything was explored");
	}
	text_string(t, " under ");
	name_level(t, asked);
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
	result_text(r, column, "verdict",
	            verdict_word(levels_table_verdict(table, l)));
	struct result_values *violated = result_list(r, column, "violated");
	for (uint32_t i = 0; i < table->slot_count; i++)
		if (levels_table_has_row(table, i))
			result_count(r, violated, NULL, c->violated[i]);
}

struct result *result_of_levels(const struct levels_table *table,
                                enum level asked)
{
	struct result *r = result_new(table->program, asked);
	struct result_values *list;
	struct text reason = { 0 };
	r->levels = table;
	r->verdict = levels_table_verdict(table, asked);
	name_reason(&reason, table, asked);
	r->reason = result_words(r, &reason);
	r->reason_in_words = true;
	result_text(r, &r->settings, "program", program_path(table->program));
	result_text(r, &r->settings, "level", level_word(asked));
	list = result_list(r, &r->findings, "assertions");
	for (uint32_t i = 0; i < table->slot_count; i++)
		if (levels_table_has_row(table, i))
			result_text(r, list, NULL, text_get(&table->slots[i]));
	list = result_list(r, &r->findings, "levels");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		add_column(r, list, table, l);
	text_free(&reason);
	return r;
}
