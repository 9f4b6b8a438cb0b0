#include "api/merge_files.h"

#include "api/explorations.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "dpor/explorer.h"
#include "vm/program.h"

static int report(const struct command_line *c, const struct merging *g,
                  const struct explorer *e)
{
	struct estimate all = { 0 };
	size_t parts = merge_parts(g), finished = merge_finished(g);
	if (finished < parts)
		say("%zu of %zu units are finished", finished, parts);
	if (c->value[OPTION_JSON] || !c->value[OPTION_QUIET])
		all = explored_share(e);
	struct result *r = result_of_exploration(
		e, &(struct explored_beside){ .share = &all },
		outputs_depth(c));
	int code = outputs_result(c, r, NULL) ? exit_code_of(r->verdict)
	                                      : EXIT_INTERNAL;
	result_free(r);
	return code;
}

static int merge(const struct command_line *c, struct merging *g,
                 struct problem *problem)
{
	int code = EXIT_INPUT;
	if (!merge_read(g, c->operands, c->operand_count,
	                c->value[OPTION_PARTIAL], problem))
		return say_problem(c, NULL, problem);
	const char *path = c->value[OPTION_MERGED_PROGRAM];
	struct program *p = given_program(c, path ? path : merge_program(g),
	                                  &problem->diags);
	struct explorer *e = p ? merge_explored(g, p, problem) : NULL;
	if (e) code = report(c, g, e);
	explorer_free(e);
	bool fault = problem->kind == PROBLEM_FAULT;
	int failed = say_problem(c, fault ? p : NULL, problem);
	if (p && !e) code = failed;
	merge_free(g);
	*g = (struct merging){ 0 };
	program_free(p);
	return code;
}

int merge_main(const struct command_line *c)
{
	struct merging g = { 0 };
	struct problem problem = { 0 };
	struct code_in_c how = CODE_IN_C;
	if (!c->operand_count) {
		say("merge needs the folder of a split: isoscope merge FOLDER");
		return EXIT_USAGE;
	}
	if (!setting_code_in_c(c, &how) || !outputs_fit(c, "folder"))
		return EXIT_USAGE;
	int code = merge(c, &g, &problem);
	merge_free(&g);
	problem_free(&problem);
	return code;
}
