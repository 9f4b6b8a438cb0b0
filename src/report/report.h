/* Renderers of results (result/result.h). */
#ifndef ISO_REPORT_REPORT_H
#define ISO_REPORT_REPORT_H

#include "axioms/level.h"
#include "base/json.h"
#include "base/text.h"
#include "base/verdict.h"
#include "report/style.h"

struct diags;
struct history;
struct result;
struct result_confirmation;
struct result_assertion;
struct result_part;
struct result_prediction;

/* "violated: 2 of 3 assertions fail under ...", a line. */
void report_verdict_line(struct text *t, const struct style *s, enum verdict v,
                         const char *reason);

/* ---- result_text.c: for people ---- */

/* The line of the verdict, and one of an estimate, if there is one. */
void report_verdict(struct text *t, const struct style *s,
                    const struct result *r);
/* The verdict, the assertions, those violated with a counterexample each, and
 * warnings. */
void report_findings(struct text *t, const struct style *s,
                     const struct result *r);
/* What stands below them: the lines of counts and costs. */
void report_costs(struct text *t, const struct style *s,
                  const struct result *r);
/* Both. */
void report_text(struct text *t, const struct style *s, const struct result *r);

/* The line, and below it the history and the cycle. */
void report_part(struct text *t, const struct style *s,
                 const struct result_part *p);

/* repair_text.c: the edits that are enough, and those that are not. */
void report_repaired(struct text *t, const struct style *s,
                     const struct result *r);

/* ---- example.c ---- */

/* "assert ...  file.tx:9:1", a line, behind so many columns. */
void report_assertion_place(struct text *t, const struct style *s,
                            const struct result_assertion *a, size_t used);
/* In a list of all: "  fails  assert ...  file.tx:9:1". */
void report_assertion_line(struct text *t, const struct style *s,
                           const struct result *r,
                           const struct result_assertion *a);
/* How it fails: the heading, the table of the history, what failed, the
 * anomaly, and the cycle. */
void report_violation(struct text *t, const struct style *s,
                      const struct result *r, const struct result_assertion *a);
/* Whether it happens on PostgreSQL: sessions, statements and what came of them,
 * in columns that fit. Nothing if it was not tried. */
void report_confirmation(struct text *t, const struct style *s,
                         const struct result_confirmation *c);

/* "This is a lost update. The weakest level that forbids it is ..."; the name
 * may be NULL, the level LEVEL_COUNT. */
void report_anomaly(struct text *t, const struct style *s, const char *anomaly,
                    enum level forbidden_by);
/* What is said instead where there is none. */
const char *report_serializable(void);

/* ---- check_text.c: of a recorded history ---- */

/* For each of the strongest levels that hold, the committed transactions, one a
 * line, in a commit order, and the schedule. */
void report_commit_orders(struct text *t, const struct result *r);
/* The strongest levels that hold, one a line, or "no level". */
void report_strongest(struct text *t, const struct result *r);
/* "h.jsonl:3: pc psi", a line. */
void report_strongest_of(struct text *t, const struct result *r);

/* ---- prediction_text.c ---- */

/* All about one prediction, with its number if several are wanted. */
void report_prediction(struct text *t, const struct style *s,
                       const struct result_prediction *p);
/* What was predicted from a history: the verdict, the words of all its
 * predictions, and whether there are more. */
void report_predicted(struct text *t, const struct style *s,
                      const struct result *r, const char *predictions);
/* "h.jsonl:3: violated: 2 reads changed", a line. */
void report_predicted_line(struct text *t, const struct style *s,
                           const struct result *r);

/* ---- result_json.c ---- */

/* An object on one line, with its line end; `version` is the program's. */
void report_json(struct text *t, const struct result *r, const char *version);
/* Closes it, with a line end. */
void report_json_end(struct json *j);
/* {"isoscope":..,"program":..,"error":..,"errors":[..]}: the input cannot be
 * read, or nothing that was found is worth anything. There is at least one
 * error; `program` and `command` may be NULL. */
void report_errors_json(struct text *t, const char *program,
                        const struct diags *errors, const char *command,
                        const char *version);

/* ---- dot.c ---- */

/* The first counterexample that there is; false if there is none. */
bool report_picture(struct text *t, const struct result *r);

/* ---- diagnostics.c ---- */

/* file:line:column: error: message, the line, and a caret. */
void report_diagnostics(struct text *t, const struct style *s,
                        const struct diags *d);

#endif
