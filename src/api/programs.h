/* What a program says about itself before and after it is run. */
#ifndef ISO_API_PROGRAMS_H
#define ISO_API_PROGRAMS_H

#include "api/problem.h"
#include "axioms/level.h"

struct program;

/* The level that it states, else cc. False if there is no such level. */
bool program_level(const struct program *p, enum level *out,
                   struct problem *problem);
/* After it was run: does its code in C do the same each time? If not, nothing
 * that was found is worth anything, and program_fault() says why. */
bool program_sound(const struct program *p, struct problem *problem);

#endif
