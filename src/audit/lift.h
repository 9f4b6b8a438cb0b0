/* The classes of a log as a program in SQL, a function for each: what is not
 * always the same in its statements is a parameter, and one for all that are
 * equal in every instance. */
#ifndef ISO_AUDIT_LIFT_H
#define ISO_AUDIT_LIFT_H

#include "audit/audit.h"

struct lifted {
	struct text program; /* tables and functions */
	char **refused; /* of each class: why it has no function; or NULL */
	uint32_t count, functions;
};

/* Of an audit with options.lifts. */
void lift(struct lifted *out, struct audit *a);
void lift_free(struct lifted *l);

#endif
