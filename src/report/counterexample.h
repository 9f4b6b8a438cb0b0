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

/* An event that is marked with a star. */
struct event_mark {
	uint32_t transaction, event;
};
struct event_marks {
	const struct event_mark *items;
	uint32_t count;
};
bool event_is_marked(const struct event_marks *m, uint32_t transaction,
                     uint32_t event); /* m may be NULL */

/* `indent` columns stand before every row. Of a program in SQL, which may be
 * NULL, with the statements that read and write. */
void report_counterexample(struct text *t, const struct style *s,
                           const struct program *p, const struct history *h,
                           unsigned indent);
/* The same with marks, which may be NULL. */
void report_marked(struct text *t, const struct style *s,
                   const struct history *h, const struct event_marks *marks,
                   unsigned indent);

#endif
