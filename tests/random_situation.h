/* Random specifications of sessions that change the same rows. */
#ifndef TESTS_RANDOM_SITUATION_H
#define TESTS_RANDOM_SITUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/text.h"

struct program;

/* Is one of the signs, of which the last is NULL, in the text? */
bool has_any(const char *text, const char *const *signs);
/* With comments that say what is not compared. */
void random_situation(struct text *t, struct rng *r);
/* Two sessions whose conditions find rows or not. */
void random_rows(struct text *t, struct rng *r);
/* One of these, and what it is a program of, with all that is known of its
 * rows; some of its transactions may have levels of their own. To be freed. */
struct program *random_spec(struct text *out, uint64_t seed);

#endif
