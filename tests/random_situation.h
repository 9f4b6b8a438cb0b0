/* Random specifications of sessions that change the same rows. */
#ifndef TESTS_RANDOM_SITUATION_H
#define TESTS_RANDOM_SITUATION_H

#include "base/rng.h"
#include "base/text.h"

/* With comments that say what is not compared. */
void random_situation(struct text *t, struct rng *r);
/* Two sessions whose conditions find rows or not. */
void random_rows(struct text *t, struct rng *r);

#endif
