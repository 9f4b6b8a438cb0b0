/* Errors as PostgreSQL raises them. */
#ifndef ISO_SQL_FAILURE_H
#define ISO_SQL_FAILURE_H

#include <stdbool.h>

#include "base/region.h"

struct sql_failure {
	char state[6];       /* SQLSTATE; "" if there is none */
	const char *message; /* in a region */
};

/* Sets the error, and returns false. */
bool sql_fail(struct region *r, struct sql_failure *f, const char *state,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
