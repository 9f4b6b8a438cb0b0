/* The reads that a prediction changes, as a table. */
#ifndef ISO_REPORT_PREDICT_TABLE_H
#define ISO_REPORT_PREDICT_TABLE_H

#include "base/text.h"
#include "predict/predict.h"
#include "report/style.h"

/* A line each: who reads what, the value and the writer that were observed, and
 * those that are predicted. */
void report_changed_reads(struct text *t, const struct style *s,
                          const struct trace *observed,
                          const struct prediction *p);

#endif
