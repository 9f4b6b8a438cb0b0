/* Small random programs in which sessions can be exchanged, from a seed. */
#ifndef TESTS_SYMMETRIC_PROGRAM_H
#define TESTS_SYMMETRIC_PROGRAM_H

#include <stdint.h>

#include "base/text.h"

/* A program of random_program.h, some of whose sessions are there two to four
 * times, each with assertions of its own, and final ones over them. */
void program_of_copies(struct text *out, uint64_t seed);
/* Two or three sessions declared symmetric, told apart by one or two values,
 * and sometimes others. */
void program_of_names(struct text *out, uint64_t seed);

#endif
