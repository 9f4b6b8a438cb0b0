/* What proofs say of themselves, compared with the solver. */
#ifndef ISO_TESTS_PROVE_SUPPORT_H
#define ISO_TESTS_PROVE_SUPPORT_H

#include "prove/prove.h"

/* With these rules there is no model, without each of them there is one. */
void check_exclusion(struct proof *p, const struct proved_exclusion *e);

#endif
