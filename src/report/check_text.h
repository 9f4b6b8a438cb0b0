/* What was found out about recorded histories, in words. */
#ifndef ISO_REPORT_CHECK_TEXT_H
#define ISO_REPORT_CHECK_TEXT_H

#include "result/checked.h"
#include "report/style.h"

/* "violated: not serializable; the strongest level that holds is cc". */
void report_check_verdict(struct text *t, const struct style *s,
                          const struct check_case *c);
/* All about one history but the verdict: a line for each level, then why those
 * that are violated are, the weakest level first. */
void report_check(struct text *t, const struct style *s,
                  const struct check_case *c);
/* How large it is, and what the checking cost. */
void report_check_costs(struct text *t, const struct check_case *c);
/* The committed transactions, one a line, in a commit order, for the level
 * that was asked for or the strongest levels that hold. */
void report_commit_orders(struct text *t, const struct check_case *c);
/* The strongest levels that hold, one a line, or "no level". */
void report_strongest(struct text *t, const struct check_case *c);
/* "h.jsonl:3: pc psi", a line. */
void report_strongest_of(struct text *t, const struct check_case *c);

/* "violated: 37 of 1,000 histories are not serializable". */
void report_summary_verdict(struct text *t, const struct style *s,
                            const struct check_summary *m);
/* The verdict, a table of all levels, and the list. */
void report_summary(struct text *t, const struct style *s,
                    const struct check_summary *m);

#endif
