#include "api/compare_ways.h"

#include <assert.h>

#include "api/predict_inputs.h"
#include "api/programs.h"
#include "vm/program.h"

/* A prediction is never serializable. */
static bool choose_level(enum level *l, const struct program *p,
                         bool level_given, struct problem *problem)
{
	bool mixed = program_mixes(p);
	if (!program_level(p, level_given ? *l : LEVEL_COUNT, l, problem))
		return false;
	if (level_given) return predict_level_possible(*l, mixed, problem);
	if (!level_is_serial(*l) || mixed) return true;
	return problem_set(problem, PROBLEM_REQUEST,
	                   "%s states ser, under which every history is "
	                   "serializable: choose a weaker level with -i",
	                   program_path(p));
}

struct comparison *compare_ways(const struct program *p,
                                const struct compare_options *o,
                                bool level_given,
                                const struct compare_observer *observer,
                                struct problem *problem)
{
	struct compare_options options = *o;
	assert(!level_given || o->predict.level < LEVEL_COUNT);
	if (!level_given) options.predict.as = program_deployment(p, NULL);
	if (!choose_level(&options.predict.level, p, level_given, problem))
		return NULL;
	struct comparison *c = comparison_new(p, &options, observer);
	comparison_run(c);
	if (program_sound(p, problem)) return c;
	comparison_free(c);
	return NULL;
}
