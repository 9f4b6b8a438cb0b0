/* What was predicted from observed histories: in words, as a table, as a
 * picture, and in the history format. */
#ifndef ISO_REPORT_PREDICT_TEXT_H
#define ISO_REPORT_PREDICT_TEXT_H

#include "result/predicted.h"
#include "report/style.h"

/* "violated: a feasible execution that ... is not serializable", a line. */
void report_predict_verdict(struct text *t, const struct style *s,
                            const struct predict_case *c);
/* All about one prediction: observed against predicted, why no order explains
 * it, what it has of each session, and what became of running it. With its
 * number before all if several are wanted. */
void report_predicted(struct text *t, const struct style *s,
                      const struct predict_case *c, const struct predicted *p);
/* Behind the last of several predictions: whether there are more. */
void report_predict_end(struct text *t, const struct predict_case *c);
/* How large the observed history is, and what predicting cost. */
void report_predict_costs(struct text *t, const struct predict_case *c);
/* "h.jsonl:3: violated: 2 reads changed", a line. */
void report_predict_line(struct text *t, const struct style *s,
                         const struct predict_case *c);

/* "violated: from 7 of 10 histories ...", a line. */
void report_predict_summary_verdict(struct text *t, const struct style *s,
                                    const struct predict_summary *m);
/* The verdict, and a table of counts. */
void report_predict_summary(struct text *t, const struct style *s,
                            const struct predict_summary *m);

/* predict_table.c: a line for each read that is changed: who reads what, the
 * value and the writer that were observed, and those that are predicted. */
void report_changed_reads(struct text *t, const struct style *s,
                          const struct trace *observed,
                          const struct prediction *p);
/* predict_dot.c: the part that matters, in the language of Graphviz. */
void report_predicted_dot(struct text *t, const struct predict_case *c,
                          const struct predicted *p);
/* predict_history.c: a line in the history format, with members that say what
 * was changed. */
void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p);

#endif
