/* How much prediction, random runs and exploration have found: in words and
 * as JSON. */
#ifndef ISO_REPORT_COMPARE_REPORT_H
#define ISO_REPORT_COMPARE_REPORT_H

#include "base/text.h"
#include "report/style.h"

struct comparison;

/* The first line: the verdict, and what of all there is prediction reached. */
void report_compare_verdict(struct text *t, const struct style *s,
                            const struct comparison *c);
/* That line, a table of the three ways, the assertions that one of them
 * violates, and what became of the traces and predictions. */
void report_compare(struct text *t, const struct style *s,
                    const struct comparison *c);
/* One object on one line, with its line end; `version` is the program's. */
void report_compare_json(struct text *t, const struct comparison *c,
                         const char *version);

#endif
