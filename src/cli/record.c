#include <inttypes.h>

#include "api/record.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "vm/program.h"

static int record(const struct command_line *c, const struct target *to,
                  const struct program *p, uint64_t seed,
                  struct problem *problem)
{
	struct recorded recorded;
	signals_catch();
	if (record_run(&recorded, p, seed, signals_flag(), problem)) {
		if (recorded.seed != seed)
			say("the run of seed %" PRIu64
			    " violates an assumption; this is the run of seed "
			    "%" PRIu64,
			    seed, recorded.seed);
		target_write(to, recorded.trace, recorded.order, problem);
	}
	recorded_free(&recorded);
	return say_problem(c, p, problem);
}

int record_main(const struct command_line *c)
{
	uint64_t seed = 1;
	struct target to;
	struct problem problem = { 0 };
	if (!one_program(c) || !setting_seed(c, OPTION_RUN_SEED, &seed) ||
	    !outputs_fit(c, "program") || !target_read(c, &to))
		return EXIT_USAGE;
	int code = EXIT_INPUT;
	struct program *p = given_program(c, c->operands[0], &problem.diags);
	if (p)
		code = record(c, &to, p, seed, &problem);
	else
		say_diagnostics(c, &problem.diags);
	problem_free(&problem);
	program_free(p);
	return code;
}
