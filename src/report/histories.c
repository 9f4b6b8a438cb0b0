#include "report/histories.h"

#include "dpor/explorer.h"
#include "history/history.h"
#include "report/changes.h"
#include "report/json.h"
#include "report/names.h"
#include "report/symmetry.h"

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

/* The history satisfies the level it was made under; whether it is
 * serializable as well is what most readers want to know next. */
static void print_verdict(struct text *t, const struct history_line *l)
{
	text_string(t, ",\"verdict\":{");
	json_name(t, level_word(l->level));
	text_string(t, "true");
	if (!level_is_serial(l->level)) {
		text_char(t, ',');
		json_name(t, level_word(LEVEL_SERIAL));
		text_string(t, json_bool(l->serializable));
	}
	text_char(t, '}');
}

/* "file:line:column: assert ..." */
static void print_violated(struct text *t, const struct history_line *l)
{
	struct text words = { 0 };
	text_string(t, ",\"violated\":[");
	for (uint32_t i = 0; i < l->violated_count; i++) {
		struct position at = name_program_slot_position(
			l->program, l->violated[i], l->error);
		name_position(&words, at);
		if (at.file) text_string(&words, ": ");
		name_program_slot(&words, l->program, l->violated[i]);
		if (i) text_char(t, ',');
		json_text(t, text_get(&words));
		text_clear(&words);
	}
	text_char(t, ']');
	text_free(&words);
}

void report_history_line(struct text *t, const struct history_line *l)
{
	text_string(t, "{\"history\":1,\"program\":");
	json_text(t, program_path(l->program));
	text_string(t, ",\"level\":");
	json_text(t, level_word(l->level));
	text_char(t, ',');
	if (l->random) {
		json_count(t, "run", l->run);
		text_char(t, ',');
		json_count(t, "seed", l->seed);
		text_char(t, ',');
	}
	if (l->classes) {
		json_count(t, "stands_for", l->stands_for);
		text_char(t, ',');
	}
	if (l->outward) {
		json_count(t, "changes", l->changes);
		text_char(t, ',');
	}
	history_print_members(t, l->history);
	print_verdict(t, l);
	print_violated(t, l);
	text_string(t, "}\n");
}

void report_history(struct text *t, const struct explore_execution *e)
{
	const struct explorer *x = e->explorer;
	struct history *h = explore_history(e);
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
	if (!level_is_serial(l.level))
		l.serializable = explore_satisfies(e, LEVEL_SERIAL);
	report_history_line(t, &l);
	history_free(h);
}
