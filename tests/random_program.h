/* Small random programs of the language, from a seed. */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <stdint.h>

#include "axioms/level.h"
#include "base/rng.h"
#include "base/text.h"

/* Adds the program to `out`; the same seed always gives the same text. Two to
 * four sessions of one or two transactions, with ifs on values read, aborts,
 * reads of own writes, repeated reads, several writes of a key, computed keys,
 * assumptions, assertions, run-time errors, session code that depends on what
 * transactions returned, and sometimes `finally`. */
void random_program(struct text *out, uint64_t seed);
/* The same with locked and shared reads, atomic updates, and statements of
 * several reads and writes. */
void random_locking_program(struct text *out, uint64_t seed);

typedef bool level_predicate(enum level l);
/* A level that may be, or 0: in `none` of eight cases. */
own_level random_own(struct rng *r, uint32_t none, level_predicate *may);
/* Adds the program, its transactions at random levels of those that may be,
 * with `ssi` often at ser. */
void random_mix(struct text *out, const char *source, struct rng *r,
                level_predicate *may, bool ssi);

#endif
