/* A history as a table: one column per session, rows in an order in which the
 * transactions may have run. */
#ifndef ISO_REPORT_COUNTEREXAMPLE_H
#define ISO_REPORT_COUNTEREXAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "report/style.h"

struct history;
struct program;
struct result_changes;

/* Is the event among them? They are marked with a star. */
bool event_is_marked(const struct result_changes *m, uint32_t transaction,
                     uint32_t event);

/* `indent` columns stand before every row. Of a program in SQL, which may be
 * NULL, with the statements that read and write. */
void report_counterexample(struct text *t, const struct style *s,
                           const struct program *p, const struct history *h,
                           unsigned indent);
/* The same with marks. */
void report_marked(struct text *t, const struct style *s,
                   const struct history *h, const struct result_changes *marks,
                   unsigned indent);

#endif
