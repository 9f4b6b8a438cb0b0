/* Exploring beside deciding: where histories are few, enumerating them is
 * quicker than the solver. So a second thread enumerates for ten seconds, and
 * whoever ends first gives the answer.
 */
#ifndef ISO_API_DECIDE_BESIDE_H
#define ISO_API_DECIDE_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/decision.h"

struct explorer;

struct decided_beside {
	struct decision decision;
	bool explored; /* its answer is that of exploring */
	uint64_t histories;
	struct explorer *explorer; /* then it has the examples */
};

/* As decide(). */
void decide_beside(struct decided_beside *out, const struct program *p,
                   const struct decide_options *o);
void decided_beside_free(struct decided_beside *d);

#endif
