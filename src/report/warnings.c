#include "report/warnings.h"

#include "dpor/explorer.h"
#include "vm/program.h"

static void warn_no_history(struct diags *d, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	const char *path = program_path(explorer_program(e));
	if (s->histories || s->stop != STOP_NONE) return;
	if (s->filtered)
		diags_add(d, DIAG_WARNING, path, 0, 0, NULL,
		          "no history satisfies the level: the result says "
		          "nothing");
	else if (s->pruned)
		diags_add(d, DIAG_WARNING, path, 0, 0, NULL,
		          "an assumption is false in every execution: the "
		          "result says nothing");
	else
		diags_add(d, DIAG_WARNING, path, 0, 0, NULL,
		          "there is no complete history: the result says "
		          "nothing");
}

static void warn_point(struct diags *d, struct reach_point point)
{
	static const char *const messages[] = {
		[REACH_ASSERTION] = "this assertion is never reached",
		[REACH_THEN] = "this condition is never true",
		[REACH_ELSE] = "this condition is never false",
	};
	diags_add(d, DIAG_WARNING, point.at.file, point.at.line,
	          point.at.column, point.at.source_line, "%s",
	          messages[point.kind]);
}

void report_warnings(struct diags *d, const struct explorer *e)
{
	const struct program *p = explorer_program(e);
	warn_no_history(d, e);
	if (explorer_stats(e)->stop != STOP_NONE) return;
	for (uint32_t i = 0; i < program_reach_count(p); i++)
		if (!explorer_reached(e, i))
			warn_point(d, program_reach_point(p, i));
}
