/* Which sessions are interchangeable, and in how many classes the histories
 * fall for that. */
#ifndef ISO_REPORT_SYMMETRY_H
#define ISO_REPORT_SYMMETRY_H

#include <stdbool.h>

#include "base/text.h"

struct explorer;

/* Are there such sessions, so that a history that is output may stand for
 * several? */
bool explores_classes(const struct explorer *e);
/* Lines among the counts. */
void report_classes(struct text *t, const struct explorer *e);
/* The member "interchangeable": a list of lists of names. */
void json_interchangeable(struct text *t, const struct explorer *e);

#endif
