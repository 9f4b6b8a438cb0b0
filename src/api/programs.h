/* Loading a program, and what it says about itself before and after it is run.
 */
#ifndef ISO_API_PROGRAMS_H
#define ISO_API_PROGRAMS_H

#include "api/problem.h"
#include "axioms/level.h"
#include "native/host/library.h"
#include "sql/load.h"

struct program;
struct trace;

/* How a program's code in C is run. */
struct code_in_c {
	double step_timeout; /* seconds from one call of isoscope's functions
	                      * to the next */
	struct library_bounds bounds;
	uint64_t memory; /* bytes, half of which are for what it was seen to
	                  * do; 0: as usual */
	double timeout;  /* seconds, from loading; a little later it is given
	                  * up. 0: never */
	bool shows_output;
	bool ssi;                     /* program_be_ssi() */
	const atomic_bool *interrupt; /* borrowed; NULL: none */
	/* Of files of SQL; borrowed while they are loaded. */
	struct sql_arguments sql;
};
#define CODE_IN_C                                          \
	((struct code_in_c){ .step_timeout = STEP_TIMEOUT, \
	                     .bounds = LIBRARY_BOUNDS })

/* NULL if it has errors; those, and warnings, are added to `d`. */
struct program *program_load_as(const char *path, const struct code_in_c *c,
                                struct diags *d);
/* The level given, if there is one (not LEVEL_COUNT), else the one that the
 * program states, else cc. False if there is no such level, or if it cannot
 * stand beside those that transactions have of their own. */
bool program_level(const struct program *p, enum level given, enum level *out,
                   struct problem *problem);
/* The deployment as which the level was said: the word given, if there is one,
 * else that of the program. NULL: it was not said so. */
const char *program_deployment(const struct program *p, const char *given);
/* Can the level stand beside those that transactions of a recorded history have
 * of their own? */
bool trace_takes_level(const struct trace *t, enum level others,
                       struct problem *problem);
/* After it was run: does its code in C do the same each time? If not, nothing
 * that was found is worth anything, and program_fault() says why. */
bool program_sound(const struct program *p, struct problem *problem);

#endif
