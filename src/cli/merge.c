#include "distribute/merge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/explorations.h"
#include "base/diag.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "distribute/task.h"
#include "dpor/tally.h"
#include "vm/program.h"
#include "analyse/symmetry.h"

struct merging {
	const struct command_line *line;
	struct merger *merger;
	const struct task *task;
	const struct program *program; /* in the order of the task */
	struct explore_options options;
	struct diags diags;
};

static int report(const struct merging *g, const struct explorer *e)
{
	struct estimate all = { 0 };
	size_t parts = merger_parts(g->merger);
	size_t finished = merger_finished(g->merger);
	assert(finished <= parts);
	if (finished < parts)
		say("%zu of %zu units are finished", finished, parts);
	if (g->line->value[OPTION_JSON] || !g->line->value[OPTION_QUIET])
		all = explored_share(e);
	struct result *r = result_of_exploration(
		e, &(struct explored_beside){ .share = &all },
		outputs_depth(g->line));
	int code = outputs_result(g->line, r, NULL) ? exit_code_of(r->verdict)
	                                            : EXIT_INTERNAL;
	result_free(r);
	return code;
}

/* An exploration with nothing left, or, where parts are missing, one that is
 * interrupted at once, says what it found as any other. */
static int show(struct merging *g, struct tally *found,
                struct branch_list *open)
{
	const atomic_bool at_once = true;
	struct explorer *e;
	g->options.interrupt = open->count ? &at_once : NULL;
	e = explorer_new(g->program, &g->options, NULL);
	explorer_resume(e, open, found);
	explorer_run(e);
	int code = EXIT_INPUT;
	if (!program_failed(g->line, g->program)) code = report(g, e);
	explorer_free(e);
	return code;
}

static bool illustrate(struct merging *g, struct tally *found)
{
	if (tally_make_examples(found, g->program, &g->options) ||
	    program_fault(g->program))
		return true;
	say("a counterexample that was found is not one of the program's; "
	    "explore the units again");
	return false;
}

static int merge(struct merging *g)
{
	struct tally found;
	struct branch_list open = { 0 };
	tally_init(&found, g->program);
	if (merger_sum(g->merger, g->program, &found, &open, &g->diags) &&
	    illustrate(g, &found))
		return show(g, &found, &open);
	tally_free(&found);
	branch_list_free(&open);
	return EXIT_INPUT;
}

static int merge_symmetric(struct merging *g)
{
	struct symmetry *symmetry = NULL;
	task_options(g->task, &g->options);
	if (g->task->symmetry) {
		symmetry = symmetry_new(g->program, &g->diags);
		if (!symmetry) return EXIT_INPUT;
		g->options.symmetry = symmetry;
	}
	int code = merge(g);
	symmetry_free(symmetry);
	return code;
}

static int merge_view(struct merging *g, const struct program *p)
{
	struct program *view = NULL;
	struct text why = { 0 };
	g->program = p;
	if (g->task->order) {
		view = settings_reordered(p, g->task->order);
		if (!view) return EXIT_INPUT;
		g->program = view;
	}
	bool fits = task_has_program(g->task, g->program, &why);
	if (!fits) say("%s; split it again", text_get(&why));
	text_free(&why);
	int code = fits ? merge_symmetric(g) : EXIT_INPUT;
	program_free(view);
	return code;
}

static int merge_program(struct merging *g)
{
	assert(g->merger && !g->program);
	const char *path = g->line->value[OPTION_MERGED_PROGRAM];
	g->task = merger_task(g->merger);
	struct program *p = given_program(
		g->line, path ? path : task_path(g->task), &g->diags);
	if (!p) return EXIT_INPUT;
	int code = merge_view(g, p);
	program_free(p);
	return code;
}

static bool read_folders(struct merging *g)
{
	bool fine = true;
	for (size_t i = 0; i < g->line->operand_count; i++)
		fine = merger_add(g->merger, g->line->operands[i], &g->diags) &&
		       fine;
	return fine;
}

int merge_main(const struct command_line *c)
{
	struct merging g = { .line = c };
	double seconds;
	struct library_bounds bounds;
	int code = EXIT_INPUT;
	if (!c->operand_count) {
		say("merge needs the folder of a split: isoscope merge FOLDER");
		return EXIT_USAGE;
	}
	if (!setting_code_in_c(c, &seconds, &bounds)) return EXIT_USAGE;
	g.merger = merger_new();
	if (read_folders(&g) &&
	    merger_check(g.merger, c->value[OPTION_PARTIAL], &g.diags))
		code = merge_program(&g);
	say_diagnostics(c, &g.diags);
	diags_free(&g.diags);
	merger_free(g.merger);
	return code;
}
