/* Until when an audit may go on: from its beginning, over logs, graph and
 * search. */
#ifndef ISO_AUDIT_LIMIT_H
#define ISO_AUDIT_LIMIT_H

#include "base/budget.h"
#include "base/seconds.h"

struct audit_limit {
	const atomic_bool *interrupt; /* may be NULL */
	double end;                   /* of seconds_now(); 0: none */
	enum stop_reason stop;        /* once it is reached, it stays so */
};

static inline bool limit_reached(struct audit_limit *l)
{
	if (l->stop) return true;
	if (l->interrupt && atomic_load(l->interrupt))
		l->stop = STOP_INTERRUPTED;
	else if (l->end > 0 && seconds_now() > l->end)
		l->stop = STOP_TIME;
	return l->stop != STOP_NONE;
}

#endif
