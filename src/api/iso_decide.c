/* isoscope.h: what a solver makes of a program. */
#include "api/programs.h"
#include "api/results.h"
#include "result/decided.h"
#include "solve/decide_beside.h"
#include "vm/program.h"

static bool options_fit(const iso_decide_options *o)
{
	return (o->level == ISO_LEVEL_DEFAULT || is_level(o->level)) &&
	       o->timeout >= 0;
}

typedef iso_result *answer(const struct program *p,
                           const struct decide_options *o);
typedef bool cover(const struct program *p, enum level l);

static iso_result *answer_decision(const struct program *p,
                                   const struct decide_options *o)
{
	struct decision found;
	decide_beside(&found, p, o);
	iso_result *r = iso_result_of(result_of_decision(&found, RESULT_WHOLE));
	decision_free(&found);
	return r;
}

static bool covers(const struct program *p, enum level l)
{
	return !decide_obstacle(p, l);
}

static iso_result *answer_levels(const struct program *p,
                                 const struct decide_options *o)
{
	struct level_decisions found;
	decide_levels(&found, p, o, decide_beside);
	iso_result *r = iso_result_of(result_of_level_decisions(&found));
	level_decisions_free(&found);
	return r;
}

static bool covers_some(const struct program *p, enum level l)
{
	(void)l;
	return decide_covers_some(p);
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
                      const iso_decide_options *options, cover *fits,
                      answer *answers)
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
	if (known && fits(p, o.level)) {
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

static int ask(iso_result **out, const iso_program *program,
               const iso_decide_options *options, cover *fits, answer *answers)
{
	int status;
	CALL_IN(NULL, status, try_answer(out, program, options, fits, answers));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

int iso_program_decide(iso_result **out, const iso_program *program,
                       const iso_decide_options *options)
{
	return ask(out, program, options, covers, answer_decision);
}

int iso_program_decide_levels(iso_result **out, const iso_program *program,
                              const iso_decide_options *options)
{
	return ask(out, program, options, covers_some, answer_levels);
}

int iso_program_runs(iso_result **out, const iso_program *program,
                     const iso_decide_options *options)
{
	return ask(out, program, options, covers, answer_runs);
}
