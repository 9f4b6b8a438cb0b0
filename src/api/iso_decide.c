/* isoscope.h: assertions decided by a solver. */
#include "api/programs.h"
#include "api/results.h"
#include "result/decided.h"
#include "vm/program.h"

static bool options_fit(const iso_decide_options *o)
{
	return (o->level == ISO_LEVEL_DEFAULT || is_level(o->level)) &&
	       o->timeout >= 0;
}

static int try_decide(iso_result **out, const iso_program *program,
                      const iso_decide_options *options)
{
	iso_decide_options given;
	struct problem problem = { 0 };
	struct decide_options o = { 0 };
	int status = ISO_E_ARGUMENT;
	if (!out || !program || !options_read(&given, sizeof given, options) ||
	    !options_fit(&given))
		return ISO_E_ARGUMENT;
	*out = NULL;
	const struct program *p = program->compiled;
	o.timeout = given.timeout;
	o.memory = given.memory;
	o.robust = given.robust;
	bool known = program_level(p,
	                           given.level == ISO_LEVEL_DEFAULT
	                                   ? LEVEL_COUNT
	                                   : internal_level(given.level),
	                           &o.level, &problem);
	if (known && !decide_obstacle(p, o.level)) {
		struct decision found;
		if (given.level == ISO_LEVEL_DEFAULT)
			o.as = program_deployment(p, NULL);
		decide(&found, p, &o);
		status = program_fault(p) ? ISO_E_CLIENT : ISO_OK;
		if (status == ISO_OK)
			*out = iso_result_of(
				result_of_decision(&found, RESULT_WHOLE));
		decision_free(&found);
	}
	problem_free(&problem);
	return status;
}

int iso_program_decide(iso_result **out, const iso_program *program,
                       const iso_decide_options *options)
{
	int status;
	CALL_IN(NULL, status, try_decide(out, program, options));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}
