/* What levels demand of instances. */
#ifndef ISO_PROVE_RULES_H
#define ISO_PROVE_RULES_H

#include "prove/instances.h"

/* Asserts it: of each what its level demands; `others` is that of those that
 * have none of their own. */
void rules_assert(struct instances *x, enum level others);

#endif
