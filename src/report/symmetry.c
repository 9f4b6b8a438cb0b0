#include "report/symmetry.h"

#include "dpor/explorer.h"
#include "report/counts.h"
#include "report/json.h"
#include "report/style.h"
#include "vm/program.h"
#include "analyse/symmetry.h"

bool explores_classes(const struct explorer *e)
{
	const struct explore_options *o = explorer_options(e);
	return o->algorithm == EXPLORE_ORDERLY && o->symmetry &&
	       !o->symmetry->trivial;
}

static bool begins_class(const struct symmetry *s, uint32_t session)
{
	return s->class_of[session] == session &&
	       symmetry_class_size(s, session) > 1;
}

/* "alice, bob and carol", as far as there is room for a line of them. */
static void print_class(struct text *t, const struct explorer *e,
                        uint32_t first)
{
	enum { NAMED = 5 };
	const struct symmetry *s = explorer_options(e)->symmetry;
	uint32_t size = symmetry_class_size(s, first), named = 0;
	uint32_t most = size > NAMED ? NAMED - 1 : size;
	for (uint32_t i = first; named < most; i++) {
		if (s->class_of[i] != first) continue;
		if (named) text_string(t, named + 1 == size ? " and " : ", ");
		text_string(t, program_session_name(explorer_program(e), i));
		named++;
	}
	if (named == size) return;
	text_string(t, " and ");
	style_count(t, size - named);
	text_string(t, " others");
}

void report_classes(struct text *t, const struct explorer *e)
{
	const struct symmetry *s = explorer_options(e)->symmetry;
	struct text nothing = { 0 };
	count_begin(t, "classes", explorer_stats(e)->classes);
	text_string(t, "that stand for them: each was explored once\n");
	if (explorer_stats(e)->histories == UINT64_MAX) {
		count_begin_text(t, "", &nothing);
		text_string(t, "there are more histories than 64 bits can "
		               "count\n");
	}
	for (uint32_t i = 0; i < s->session_count; i++) {
		if (!begins_class(s, i)) continue;
		count_begin_text(t, "", &nothing);
		print_class(t, e, i);
		text_string(t, " are interchangeable\n");
	}
	text_free(&nothing);
}

void json_interchangeable(struct text *t, const struct explorer *e)
{
	const struct symmetry *s = explorer_options(e)->symmetry;
	bool first = true;
	text_string(t, ",\"interchangeable\":[");
	for (uint32_t i = 0; i < s->session_count; i++) {
		if (!begins_class(s, i)) continue;
		text_string(t, first ? "[" : ",[");
		first = false;
		for (uint32_t j = i; j < s->session_count; j++) {
			if (s->class_of[j] != i) continue;
			if (j > i) text_char(t, ',');
			json_text(t,
			          program_session_name(explorer_program(e), j));
		}
		text_char(t, ']');
	}
	text_char(t, ']');
}
