/* Every history that is found, one line of JSON each. */
#ifndef ISO_REPORT_HISTORIES_H
#define ISO_REPORT_HISTORIES_H

#include "base/text.h"

struct explore_execution;

/* One line, with its line end, in the history format. */
void report_history(struct text *t, const struct explore_execution *e);

#endif
