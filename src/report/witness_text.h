/* The small part of a recorded history that violates a level, in words. */
#ifndef ISO_REPORT_WITNESS_TEXT_H
#define ISO_REPORT_WITNESS_TEXT_H

#include "base/text.h"
#include "check/minimal_violation.h"
#include "report/style.h"

struct event_marks;
struct history;
struct witness;

/* "  these 2 of 10,000 transactions are enough, whatever the others do";
 * `all` are those of the whole history, without init. */
void report_witness_extent(struct text *t, const struct check_witness *w,
                           uint32_t all);
/* A column for each session; a list when there are too many columns. Marks may
 * be NULL. */
void report_witness_part(struct text *t, const struct style *s,
                         const struct history *part,
                         const struct event_marks *marks);
/* All edges of a cycle, a line each behind so many blanks: "alice.1 before
 * bob.1: " and the clause. */
void report_cycle(struct text *t, const struct history *h,
                  const struct witness *w, unsigned indent);
/* Why no order of the part satisfies `who` ("Snapshot Isolation"); nothing if
 * the witness has no cycle. */
void report_witness_cycle(struct text *t, const struct check_witness *w,
                          const char *who);

#endif
