/* explore --fix. */
#include "cli/explore.h"
#include "api/second_engine.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "report/progress.h"
#include "result/repaired.h"
#include "sql/load.h"
#include "vm/program.h"

struct repairing {
	struct progress progress;
};

static bool on_tick(void *payload, const char *what,
                    const struct explore_stats *s, uint32_t depth)
{
	struct repairing *r = payload;
	r->progress.what = what;
	progress_tick(&r->progress, s, depth);
	r->progress.what = NULL;
	return true;
}

static uint32_t at_most(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

int explore_repair(struct exploration *x)
{
	const struct command_line *c = x->line;
	const struct program *p = x->plan.program;
	struct repairing repairing = { output_progress(c) };
	uint64_t max_edits = REPAIR_EDITS, max_answers = REPAIR_ANSWERS;
	struct repair found = { 0 };
	struct diags d = { 0 };
	if (program_is_native(p)) {
		say("%s: --fix edits programs in .tx and in SQL",
		    program_path(p));
		return EXIT_USAGE;
	}
	if (program_is_sql(p) && c->value[OPTION_ORACLE]) {
		say("%s: --oracle is for programs in .tx; those in SQL are "
		    "PostgreSQL's",
		    program_path(p));
		return EXIT_USAGE;
	}
	if (!setting_count(c, OPTION_MAX_EDITS, &max_edits) ||
	    !setting_count(c, OPTION_MAX_REPAIRS, &max_answers))
		return EXIT_USAGE;
	struct repair_options o = {
		.path = program_path(p),
		.level_said = c->value[OPTION_ISOLATION],
		.given = program_is_sql(p) ? sql_given(p) : NULL,
		.ssi = program_is_ssi(p),
		.explore = x->plan.options,
		.oracle = c->value[OPTION_ORACLE],
		.max_edits = at_most(max_edits),
		.max_answers = at_most(max_answers),
		.tick = on_tick,
		.payload = &repairing,
		.beside = second_engine_of_repair,
	};
	bool fine = repair_weights(&o, c->value[OPTION_WEIGHTS], &d) &&
	            repair(&found, &o, &d);
	progress_end(&repairing.progress);
	say_diagnostics(c, &d);
	diags_free(&d);
	int code = EXIT_INPUT;
	if (fine) {
		struct result *r = result_of_repair(&found);
		code = outputs_result(c, r, NULL) ? exit_code_of(r->verdict)
		                                  : EXIT_INTERNAL;
		result_free(r);
	}
	repair_free(&found);
	return code;
}
