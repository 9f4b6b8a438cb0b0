/* isoscope.h: edits that repair a program. */
#include "api/explore_plan.h"
#include "api/results.h"
#include "api/second_engine.h"
#include "result/repaired.h"
#include "sql/load.h"
#include "vm/program.h"

/* Many variants are explored, each in the usual way. */
static bool options_fit(const iso_options *o)
{
	return !o->base && !o->algorithm && !o->classify && !o->symmetry &&
	       !o->bounded && !o->from && !o->sessions_order &&
	       !o->check_duplicates && !o->stop_on_violation;
}

static int try_repair(iso_result **out, const iso_program *program,
                      const iso_options *options,
                      const iso_repair_options *repair_options,
                      iso_diags **diags)
{
	iso_options given;
	iso_repair_options wanted;
	struct problem problem = { 0 };
	struct explore_plan plan = { 0 };
	if (diags) *diags = NULL;
	if (!out || !program || !check_options_read(&given, options) ||
	    !options_fit(&given) ||
	    !options_read(&wanted, sizeof wanted, repair_options))
		return ISO_E_ARGUMENT;
	*out = NULL;
	const struct program *p = program->compiled;
	if (program_is_native(p)) return ISO_E_PROGRAM;
	if (program_is_sql(p) && wanted.oracle) return ISO_E_ARGUMENT;
	int status = check_plan_make(&plan, program, &given, NULL, &problem);
	if (status == ISO_OK) {
		struct repair found = { 0 };
		struct repair_options o = {
			.path = program_path(p),
			.level_said = given.level != ISO_LEVEL_DEFAULT,
			.given = program_is_sql(p) ? sql_given(p) : NULL,
			.ssi = program_is_ssi(p),
			.explore = plan.options,
			.oracle = wanted.oracle,
			.max_edits = wanted.max_edits ? wanted.max_edits
			                              : REPAIR_EDITS,
			.max_answers = wanted.max_repairs ? wanted.max_repairs
			                                  : REPAIR_ANSWERS,
			.beside = second_engine_of_repair,
		};
		if (repair_weights(&o, wanted.weights, &problem.diags) &&
		    repair(&found, &o, &problem.diags))
			*out = iso_result_of(result_of_repair(&found));
		else
			status = ISO_E_PROGRAM;
		repair_free(&found);
	}
	explore_plan_free(&plan);
	diags_give(diags, &problem.diags);
	problem_free(&problem);
	return status;
}

int iso_program_repair(iso_result **out, const iso_program *program,
                       const iso_options *options,
                       const iso_repair_options *repair_options,
                       iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_repair(out, program, options, repair_options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
