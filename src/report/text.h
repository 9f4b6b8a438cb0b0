/* The result of an exploration, for people. */
#ifndef ISO_REPORT_TEXT_H
#define ISO_REPORT_TEXT_H

#include "base/text.h"
#include "report/style.h"

struct estimate;
struct explorer;

/* One line: "violated: 2 of 3 assertions fail under ...". */
void report_verdict(struct text *t, const struct style *s,
                    const struct explorer *e);
/* The verdict, the assertions with a counterexample each, warnings, counts. */
void report_result(struct text *t, const struct style *s,
                   const struct explorer *e);
/* The same, with an estimate of how many histories there are. */
void report_partial(struct text *t, const struct style *s,
                    const struct explorer *e, const struct estimate *all);

#endif
