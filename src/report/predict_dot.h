/* A prediction as a picture. */
#ifndef ISO_REPORT_PREDICT_DOT_H
#define ISO_REPORT_PREDICT_DOT_H

#include "result/predicted.h"

/* The part that matters, in the language of Graphviz. */
void report_predicted_dot(struct text *t, const struct predict_case *c,
                          const struct predicted *p);

#endif
