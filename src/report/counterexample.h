/* A history as a table: one column per session, rows in an order in which the
 * transactions may have run. */
#ifndef ISO_REPORT_COUNTEREXAMPLE_H
#define ISO_REPORT_COUNTEREXAMPLE_H

#include "base/text.h"
#include "report/style.h"

struct history;

/* `indent` columns stand before every row. */
void report_counterexample(struct text *t, const struct style *s,
                           const struct history *h, unsigned indent);

#endif
