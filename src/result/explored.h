/* The result of an exploration, of whatever kind. */
#ifndef ISO_RESULT_EXPLORED_H
#define ISO_RESULT_EXPLORED_H

#include "dpor/estimate.h"
#include "result/result.h"

struct explorer;

/* A part was explored, and the rest estimated. */
struct outlook {
	struct estimate whole;
	struct duration left; /* for one thread, of what no run before did */
	double classes;       /* with symmetry; else 0 */
	unsigned jobs;        /* threads that will explore it */
};

/* Random descents were made, and the whole estimated. */
struct sample_share {
	struct estimate whole;
	uint64_t descents, distinct;
};

/* What is known beside what was found: one of these, or none; NULL each. */
struct explored_beside {
	const struct estimate *share; /* of an exploration that ended early */
	const struct outlook *outlook;
	const struct sample_share *sample;
};

/* After explorer_run; `beside` may be NULL. */
struct result *result_of_exploration(const struct explorer *e,
                                     const struct explored_beside *beside,
                                     enum result_depth depth);

/* Does the explorer begin at an observed history? */
bool explores_outward(const struct explorer *e);
/* Are there interchangeable sessions, so that a history that is output may
 * stand for several? */
bool explores_classes(const struct explorer *e);

#endif
