/* isoscope.h: what a solver makes of a program. */
#include "api/decide_beside.h"
#include "api/programs.h"
#include "api/results.h"
#include "result/decided.h"
#include "vm/program.h"

static bool options_fit(const iso_decide_options *o)
{
	return (o->level == ISO_LEVEL_DEFAULT || is_level(o->level)) &&
	       o->timeout >= 0;
}

typedef iso_result *answer(const struct program *p,
                           const struct decide_options *o);

static iso_result *answer_decision(const struct program *p,
                                   const struct decide_options *o)
{
	struct decided_beside found;
	decide_beside(&found, p, o);
	struct result *r = result_of_decision(&found.decision, RESULT_WHOLE);
	if (found.explored) result_engine(r, true, found.histories);
	iso_result *made = iso_result_of(r);
	decided_beside_free(&found);
	return made;
}

static iso_result *answer_runs(const struct program *p,
                               const struct decide_options *o)
{
	struct local_runs found;
	local_runs_find(&found, p, o);
	iso_result *r = iso_result_of(result_of_local_runs(&found));
	local_runs_free(&found);
	return r;
}

static int try_answer(iso_result **out, const iso_program *program,
                      const iso_decide_options *options, answer *answers)
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
		if (given.level == ISO_LEVEL_DEFAULT)
			o.as = program_deployment(p, NULL);
		*out = answers(p, &o);
		status = ISO_OK;
	}
	problem_free(&problem);
	if (status || !program_fault(p)) return status;
	iso_result_free(*out);
	*out = NULL;
	return ISO_E_CLIENT;
}

int iso_program_decide(iso_result **out, const iso_program *program,
                       const iso_decide_options *options)
{
	int status;
	CALL_IN(NULL, status,
	        try_answer(out, program, options, answer_decision));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

int iso_program_runs(iso_result **out, const iso_program *program,
                     const iso_decide_options *options)
{
	int status;
	CALL_IN(NULL, status, try_answer(out, program, options, answer_runs));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}
