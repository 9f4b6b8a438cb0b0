/* Small random programs of what clients in C do, from a seed: those of
 * random_program.h, and others with loops whose length depends on what was
 * read, inside of transactions and around them; strings; one to four sessions.
 */
#ifndef TESTS_RANDOM_CLIENT_H
#define TESTS_RANDOM_CLIENT_H

#include <stdint.h>

#include "base/text.h"

/* Adds the program, in the language, to `out`; tests/native/interpreter.c can
 * execute it. The same seed always gives the same text. No two assertions are
 * on one line. */
void random_client(struct text *out, uint64_t seed);

#endif
