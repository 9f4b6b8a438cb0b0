#include "api/programs.h"

#include "native/host/library.h"
#include "vm/program.h"

bool program_level(const struct program *p, enum level *out,
                   struct problem *problem)
{
	const char *word = program_isolation(p);
	enum level l = word ? level_from_word(word) : LEVEL_DEFAULT;
	if (l == LEVEL_COUNT)
		return problem_set(problem, PROBLEM_REQUEST,
		                   "%s: there is no isolation level '%s'",
		                   program_path(p), word);
	*out = l;
	return true;
}

bool program_sound(const struct program *p, struct problem *problem)
{
	library_settle(p);
	if (!program_fault(p)) return true;
	/* Whatever else went wrong before may be for that reason. */
	problem->kind = PROBLEM_FAULT;
	return false;
}
