/* What random runs showed, in words. */
#ifndef ISO_REPORT_RUN_TEXT_H
#define ISO_REPORT_RUN_TEXT_H

#include "base/text.h"
#include "report/run_case.h"
#include "report/style.h"

/* The first line only. */
void report_run_verdict(struct text *t, const struct style *s,
                        const struct run_case *c);
/* Everything, the verdict first. */
void report_run(struct text *t, const struct style *s,
                const struct run_case *c);

#endif
