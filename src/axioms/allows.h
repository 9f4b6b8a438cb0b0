/* Is a history allowed by a level, or by levels that its transactions have of
 * their own? */
#ifndef ISO_AXIOMS_ALLOWS_H
#define ISO_AXIOMS_ALLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/scratch.h"

struct history;
struct relation;

/* Does the history satisfy the level? Exact for every level and mix. */
bool level_allows(enum level l, const struct relation *r,
                  struct level_scratch *s);
/* The same, and false for a history with a cycle of so and wr (which no level
 * allows), or with a dirty read (which `none` alone allows). Levels that
 * transactions have of their own do not count. */
bool level_allows_history(enum level l, const struct history *h);
/* But here they do. */
bool level_allows_mix(enum level others, const struct history *h);

#endif
