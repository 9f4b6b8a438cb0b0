/* Warnings of vacuous success: what the exploration never came to. */
#ifndef ISO_REPORT_WARNINGS_H
#define ISO_REPORT_WARNINGS_H

#include "base/diag.h"

struct explorer;

/* Adds a warning if no history was complete, and one for each assertion and
 * branch that no execution reached. Says nothing of reaching when the
 * exploration ended early: the rest might have reached it. */
void report_warnings(struct diags *d, const struct explorer *e);

#endif
