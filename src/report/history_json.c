#include "report/history_json.h"

#include <assert.h>

#include "dpor/explorer.h"
#include "history/history.h"
#include "report/report.h"
#include "result/explored.h"
#include "result/names.h"

/* The history satisfies the level it was made under, or its levels; whether it
 * is serializable as well is what most readers want to know next. */
static void print_verdict(struct json *j, const struct history_line *l)
{
	bool mixed = history_has_owns(l->history);
	json_open(j, "verdict", '{');
	json_bool(j, mixed ? "levels" : level_word(l->level), true);
	if (mixed || !level_is_serial(l->level))
		json_bool(j, level_word(LEVEL_SERIAL), l->serializable);
	json_close(j);
}

/* "file:line:column: assert ..." */
static void print_violated(struct json *j, const struct history_line *l)
{
	struct text words = { 0 };
	json_open(j, "violated", '[');
	for (uint32_t i = 0; i < l->violated_count; i++) {
		struct position at = name_program_slot_position(
			l->program, l->violated[i], l->error);
		name_position(&words, at);
		if (at.file) text_string(&words, ": ");
		name_program_slot(&words, l->program, l->violated[i]);
		json_taken(j, NULL, &words);
	}
	json_close(j);
	text_free(&words);
}

void report_history_line(struct text *t, const struct history_line *l)
{
	assert(l->program && l->history && l->level < LEVEL_COUNT);
	struct json j = json_to(t);
	json_open(&j, NULL, '{');
	json_count(&j, "history", 1);
	json_text(&j, "program", program_path(l->program));
	json_text(&j, "level", level_word(l->level));
	if (l->random) {
		json_count(&j, "run", l->run);
		json_count(&j, "seed", l->seed);
	}
	if (l->classes) json_count(&j, "stands_for", l->stands_for);
	if (l->outward) json_count(&j, "changes", l->changes);
	history_print_members(&j, l->history);
	print_verdict(&j, l);
	print_violated(&j, l);
	report_json_end(&j);
}

void report_history(struct text *t, const struct explore_execution *e)
{
	const struct explorer *x = e->explorer;
	struct history *h = explore_history(e);
	assert(e->weight);
	struct history_line l = {
		.program = explorer_program(x),
		.history = h,
		.level = explorer_options(x)->level,
		.violated = e->violated,
		.violated_count = (uint32_t)e->violated_count,
		.error = explore_error(e),
		.classes = explores_classes(x),
		.stands_for = e->weight,
		.outward = explores_outward(x),
		.changes = e->changes,
	};
	if (!level_is_serial(l.level) || history_has_owns(h))
		l.serializable = explore_satisfies(e, LEVEL_SERIAL);
	report_history_line(t, &l);
	history_free(h);
}
