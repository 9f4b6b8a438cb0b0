/* A predicted history in the history format. */
#ifndef ISO_REPORT_PREDICT_HISTORY_H
#define ISO_REPORT_PREDICT_HISTORY_H

#include "result/predicted.h"

/* A line, with members that say what was changed. */
void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p);

#endif
