/* Audits of logs that are given as texts. */
#ifndef TESTS_AUDIT_SUPPORT_H
#define TESTS_AUDIT_SUPPORT_H

#include "audit/audit.h"

struct audit_given {
	const char *log, *schema, *hints, *group_by;
	size_t length; /* of the log; 0: up to its NUL */
	enum level level;
	bool lifts; /* each class has to have a function */
	bool confirms, proves;
};

/* False: refused, with diagnostics. */
bool run_audit(struct audit *a, struct audit_given g, struct diags *d);
/* The same for one that is not refused. */
void audit_of(struct audit *a, struct audit_given g);

#endif
