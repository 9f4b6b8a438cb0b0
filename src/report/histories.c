#include "report/histories.h"

#include <inttypes.h>

#include "dpor/explorer.h"
#include "history/history.h"
#include "report/json.h"
#include "report/names.h"

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

/* The history satisfies the level it was explored under; whether it is
 * serializable as well is what most readers want to know next. */
static void print_verdict(struct text *t, const struct explore_execution *e)
{
	enum level l = explorer_options(e->explorer)->level;
	text_string(t, ",\"verdict\":{");
	json_name(t, level_word(l));
	text_string(t, "true");
	if (l != LEVEL_SER) {
		text_char(t, ',');
		json_name(t, level_word(LEVEL_SER));
		text_string(t, json_bool(explore_satisfies(e, LEVEL_SER)));
	}
	text_char(t, '}');
}

/* "file:line:column: assert ..." */
static void print_violated(struct text *t, const struct explore_execution *e)
{
	struct text words = { 0 };
	text_string(t, ",\"violated\":[");
	for (uint64_t i = 0; i < e->violated_count; i++) {
		struct position at =
		    name_slot_position(e->explorer, e->violated[i]);
		name_position(&words, at);
		if (at.file) text_string(&words, ": ");
		name_slot(&words, e->explorer, e->violated[i]);
		if (i) text_char(t, ',');
		json_text(t, text_get(&words));
		text_clear(&words);
	}
	text_char(t, ']');
	text_free(&words);
}

void report_history(struct text *t, const struct explore_execution *e)
{
	const struct explorer *x = e->explorer;
	struct history *h = explore_history(e);
	text_string(t, "{\"history\":1,\"program\":");
	json_text(t, program_path(explorer_program(x)));
	text_string(t, ",\"level\":");
	json_text(t, level_word(explorer_options(x)->level));
	text_char(t, ',');
	history_print_members(t, h);
	print_verdict(t, e);
	print_violated(t, e);
	text_string(t, "}\n");
	history_free(h);
}
