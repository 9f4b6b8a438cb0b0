/* A small part of a history, and a cycle in it, in words. */
#ifndef ISO_REPORT_WITNESS_TEXT_H
#define ISO_REPORT_WITNESS_TEXT_H

#include "base/text.h"
#include "report/style.h"

struct history;
struct result_changes;
struct witness;

/* A column for each session; a list when there are too many columns. */
void report_witness_part(struct text *t, const struct style *s,
                         const struct history *part,
                         const struct result_changes *marks);
/* All edges of a cycle, a line each behind so many blanks: "alice.1 before
 * bob.1: " and the clause. */
void report_cycle(struct text *t, const struct history *h,
                  const struct witness *w, unsigned indent);

#endif
