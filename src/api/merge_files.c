#include "api/merge_files.h"

#include <assert.h>

#include "api/programs.h"
#include "distribute/merge.h"
#include "distribute/task.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"
#include "vm/program.h"

bool merge_read(struct merging *g, const char *const *folders, size_t count,
                bool partial, struct problem *p)
{
	bool fine = true;
	assert(!g->merger && count);
	g->merger = merger_new();
	for (size_t i = 0; i < count; i++)
		fine = merger_add(g->merger, folders[i], &p->diags) && fine;
	return (fine && merger_check(g->merger, partial, &p->diags)) ||
	       problem_diagnosed(p, PROBLEM_INPUT);
}

const char *merge_program(const struct merging *g)
{
	return task_path(merger_task(g->merger));
}

static bool add_up(struct merging *g, struct tally *found,
                   struct branch_list *open, struct problem *p)
{
	const struct program *program = g->plan.program;
	if (!merger_sum(g->merger, program, found, open, &p->diags))
		return problem_diagnosed(p, PROBLEM_INPUT);
	return tally_make_examples(found, program, &g->plan.options) ||
	       program_fault(program) ||
	       problem_set(p, PROBLEM_INPUT,
	                   "a counterexample that was found is not one of the "
	                   "program's; explore the units again");
}

/* Takes over what was found and what is left. */
static struct explorer *explored(struct merging *g, struct tally *found,
                                 struct branch_list *open)
{
	static const atomic_bool at_once = true;
	struct explore_options o = g->plan.options;
	o.interrupt = open->count ? &at_once : NULL;
	struct explorer *e = explorer_new(g->plan.program, &o, NULL);
	explorer_resume(e, open, found);
	explorer_run(e);
	return e;
}

struct explorer *merge_explored(struct merging *g, const struct program *p,
                                struct problem *problem)
{
	struct tally found;
	struct branch_list open = { 0 };
	struct explore_wish w = { .task = merger_task(g->merger),
		                  .otherwise = "split it again" };
	assert(!g->plan.program);
	if (!explore_plan_make(&g->plan, p, &w, problem)) return NULL;
	tally_init(&found, g->plan.program);
	if (!add_up(g, &found, &open, problem)) {
		tally_free(&found);
		branch_list_free(&open);
		return NULL;
	}
	struct explorer *e = explored(g, &found, &open);
	if (program_sound(g->plan.program, problem)) return e;
	explorer_free(e);
	return NULL;
}

size_t merge_parts(const struct merging *g)
{
	return merger_parts(g->merger);
}

size_t merge_finished(const struct merging *g)
{
	assert(merger_finished(g->merger) <= merger_parts(g->merger));
	return merger_finished(g->merger);
}

void merge_free(struct merging *g)
{
	explore_plan_free(&g->plan);
	if (g->merger) merger_free(g->merger);
}
