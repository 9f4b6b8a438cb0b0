/* What an exploration from an observed history (dpor/origin.h) has changed in
 * it, in the program's names. */
#ifndef ISO_REPORT_CHANGES_H
#define ISO_REPORT_CHANGES_H

#include <stdint.h>

#include "base/text.h"
#include "report/style.h"

struct dot_change;
struct explorer;
struct history;

/* Does the explorer begin at an observed history? If not, nothing below is to
 * be called. */
bool explores_outward(const struct explorer *e);

/* "a history with 1 changed read is not serializable under Causal Consistency
 * (cc)": what follows the verdict and its colon. */
void name_outward_reason(struct text *t, const struct explorer *e);
/* "1 changed read", "2 changed reads" */
void name_changed_reads(struct text *t, uint64_t n);
/* That the observed history is none under the level, or not one of this
 * program; a paragraph, or nothing when the program runs as observed. */
void report_not_reproduced(struct text *t, const struct explorer *e);
/* The reads that the history changes, a line each, indented. */
void report_changes(struct text *t, const struct style *s,
                    const struct explorer *e, const struct history *h,
                    unsigned indent);

/* ,"changes":1,"changed_reads":[..] */
void json_changes(struct text *t, const struct explorer *e,
                  const struct history *h);
/* ,"from":{..},"max_changes":2: the trace, whether it was reproduced, and the
 * changes of the nearest history */
void json_origin(struct text *t, const struct explorer *e);

/* The changed reads for a picture: malloc'ed, `count` of them. */
struct dot_change *changes_to_draw(const struct explorer *e,
                                   const struct history *h, uint32_t *count);

#endif
