/* Parts of results, between the files that fill them. */
#ifndef ISO_RESULT_PARTS_H
#define ISO_RESULT_PARTS_H

#include "result/explored.h"

struct check_witness;
struct history;
struct predict_case;
struct predicted;
struct result_part;
struct trace;
struct witness;

/* warnings.c: adds a warning if code in C was cut short, and one for each
 * assertion and branch that no execution reached. Says nothing of reaching when
 * the exploration ended early: the rest might have reached it. */
void explored_warnings(struct diags *d, const struct explorer *e);
/* One for each point of the program that was not reached (the last of many says
 * that there are others). */
typedef bool point_predicate(const void *data, uint32_t point);
void warn_unreached(struct diags *d, const struct program *p,
                    point_predicate *reached, const void *data);

/* changes.c, of an exploration from an observed history. */

/* "a history with 1 changed read is not serializable under Causal Consistency
 * (cc)": what follows the verdict and its colon. */
void changes_reason(struct text *t, const struct explorer *e);
/* That the observed history is none under the level, or not one of this
 * program; nothing when the program runs as observed. */
void changes_note(struct text *t, const struct explorer *e);
/* The trace, whether it was reproduced, and the changes of the nearest
 * history. */
void changes_settings(struct result *r, const struct explorer *e);
/* The reads that the example changes. */
void changes_of_example(struct result *r, struct result_example *x,
                        const struct explorer *e);

/* estimated.c */

/* "about 1.31 million histories under Causal Consistency (cc) (95 %: 1.1 to 1.6
 * million), about 2.4 s with 2 threads" */
void outlook_words(struct text *t, const struct explorer *e,
                   const struct outlook *o);
/* "871 distinct histories of about 12,400 (95 %: 11,000 to 14,200) in 1,000
 * random descents: about 7 %" */
void sample_words(struct text *t, const struct sample_share *s);
/* A line: "in all  about 1.31 million ...". Nothing if nothing is known. */
void estimate_line(struct result *r, uint64_t seen, const struct estimate *all);
void estimate_measures(struct result *r, const struct explorer *e,
                       const struct explored_beside *beside);

/* witnesses.c: a small part of the trace that violates a level, and the edges
 * of a cycle, one after the other. */
void result_witness(struct result *r, struct result_values *to,
                    const struct trace *t, const struct check_witness *w);
/* The same in words, of a history with `all` transactions: the part has what
 * the witness has, and "`who` would need an order with" its cycle. Behind that
 * stand the closing lines, or none. */
void result_witness_part(struct result *r, struct result_part *to,
                         const struct check_witness *w, uint32_t all,
                         const char *who, const struct text *closing);
/* The cycle that forbids the history, where transactions without a level of
 * their own run at this one; it lives as long as the result. */
struct witness result_cycle_of(struct result *r, enum level others,
                               const struct history *h);
void result_cycle(struct result *r, struct result_values *to,
                  const struct history *h, const struct witness *w);

/* steps.c: the list "steps" of the history, one thing after the other, of the
 * program's places if that is not NULL: {"session":"ann","transaction":
 * "ann.1 go_home","does":"reads","key":"x","value":"1","from":"init",
 * "newest":"ben.1","file":"a.tx","line":3}; and of a moment {...,"does":
 * "commits"}. `newest` is who had written the newest version by then, if it is
 * another one. As the example's schedule has it, or its transactions one after
 * the other. */
void result_steps(struct result *r, struct result_values *to,
                  const struct history *h, const struct program *p,
                  const struct result_example *x);

/* prediction_part.c */

/* The transactions of the witness, those that read otherwise than observed,
 * and the writers that these have and had; with their operations on keys that
 * matter to any of them, and the witness's cycle, if there is one. Linear in
 * the predicted history. */
void result_prediction_part(struct result *r, struct result_part *out,
                            const struct predict_case *of,
                            const struct predicted *p);
/* The reads of the witness's part that were observed otherwise. */
struct result_changes result_prediction_marks(struct result *r,
                                              const struct trace *observed,
                                              const struct predicted *p);

#endif
