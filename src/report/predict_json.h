/* What was predicted, in JSON. */
#ifndef ISO_REPORT_PREDICT_JSON_H
#define ISO_REPORT_PREDICT_JSON_H

#include "report/predict_case.h"

/* Adds the prediction to a list of objects, with a comma before it if that has
 * some already. */
void report_predicted_json(struct text *list, const struct predict_case *c,
                           const struct predicted *p);
/* All about one observed history: an object, on a line, with the list as its
 * predictions. `version` is the program's. */
void report_predict_json(struct text *t, const struct predict_case *c,
                         const struct text *list, const char *version);
/* The predicted history, a line in the history format, with members that say
 * what was changed. */
void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p);

#endif
