/* isoscope.h: explorations in parts. */
#include <assert.h>
#include <stdlib.h>

#include "api/explorations.h"
#include "api/merge_files.h"
#include "api/objects.h"
#include "api/programs.h"
#include "api/results.h"
#include "api/split_files.h"
#include "base/memory.h"
#include "distribute/split.h"
#include "distribute/task.h"
#include "distribute/unit.h"

/* The status is known; the words of the problem become a diagnostic. */
static int give_with(int status, struct problem *p, iso_diags **diags)
{
	(void)problem_give(p, diags);
	return status;
}

/* ---- splitting ---- */

static int make_parts(struct division *v, const char *path, iso_split *out,
                      struct problem *p)
{
	const struct split_observer observer = { 0 };
	if (!split_make(v, path, &observer, p))
		return problem_error(p, ISO_E_PART);
	iso_split made = { .size = sizeof made,
		           .branches = split_branches(v),
		           .histories = split_histories(v),
		           .units = v->count };
	if (!out || structure_write(out, &made, sizeof made)) return ISO_OK;
	return ISO_E_ARGUMENT;
}

static int split(struct division *v, const iso_program *program,
                 const iso_options *given, const char *part, uint32_t units,
                 const char *folder, iso_split *out, struct problem *p)
{
	if ((part && !split_read(v, part, p)) ||
	    !split_into(v, folder, part, units, p))
		return problem_error(p, ISO_E_PART);
	int status = check_plan_make(v->plan, program, given,
	                             part ? &v->unit->task : NULL, p);
	return status < 0 ? status : make_parts(v, part, out, p);
}

static int try_program_split(const iso_program *program,
                             const iso_options *options, const char *part,
                             uint32_t units, const char *folder, iso_split *out,
                             iso_diags **diags)
{
	iso_options given;
	struct problem problem = { 0 };
	struct explore_plan x = { 0 };
	struct division v = { .plan = &x };
	if (diags) *diags = NULL;
	if (!program || (!folder && !part) ||
	    !check_options_read(&given, options) || given.from ||
	    (part && !check_options_are_limits(&given)))
		return ISO_E_ARGUMENT;
	int status =
		split(&v, program, &given, part, units, folder, out, &problem);
	split_free(&v);
	explore_plan_free(&x);
	return give_with(status, &problem, diags);
}

int iso_program_split(const iso_program *program, const iso_options *options,
                      const char *part, uint32_t units, const char *folder,
                      iso_split *out, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_split(program, options, part, units, folder, out,
	                          diags));
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

/* ---- merging ---- */

static int try_program_merge(iso_result **out, const iso_program *program,
                             const char *const *folders, size_t count,
                             bool partial, iso_diags **diags)
{
	struct problem problem = { 0 };
	struct merging g = { 0 };
	if (diags) *diags = NULL;
	if (!out || !program || !folders || !count) return ISO_E_ARGUMENT;
	*out = NULL;
	struct explorer *e =
		merge_read(&g, folders, count, partial, &problem)
			? merge_explored(&g, program->compiled, &problem)
			: NULL;
	if (e) {
		struct estimate share = explored_share(e);
		*out = iso_result_of_exploration(
			e, &(struct explored_beside){ .share = &share });
	}
	explorer_free(e);
	merge_free(&g);
	return give_with(problem_error(&problem, ISO_E_PART), &problem, diags);
}

int iso_program_merge(iso_result **out, const iso_program *program,
                      const char *const *folders, size_t count, bool partial,
                      iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_merge(out, program, folders, count, partial,
	                          diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

/* ---- their program ---- */

static int try_part_program(char **out, const char *part, iso_diags **diags)
{
	struct diags list = { 0 };
	if (diags) *diags = NULL;
	if (!out || !part) return ISO_E_ARGUMENT;
	struct unit *u = unit_read(part, &list);
	*out = u ? mem_copy_string(task_path(&u->task)) : NULL;
	unit_free(u);
	diags_give(diags, &list);
	return *out ? ISO_OK : ISO_E_PART;
}

int iso_part_program(char **out, const char *part, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_part_program(out, part, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
