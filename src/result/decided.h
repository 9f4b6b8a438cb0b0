/* The result of deciding assertions with a solver. */
#ifndef ISO_RESULT_DECIDED_H
#define ISO_RESULT_DECIDED_H

#include "result/result.h"
#include "solve/all_levels.h"
#include "solve/local_runs.h"

/* Histories and findings are borrowed. */
struct result *result_of_decision(const struct decision *d,
                                  enum result_depth depth);

/* Which of two engines side by side was the quicker one: exploring, whose
 * histories were all, or the solver, when exploring had come so far. */
void result_engine(struct result *r, bool explored, uint64_t histories);

/* What was asked, and whether it was answered. */
void result_decision_terms(struct result *r, const struct decision *d);
/* Why it ended before its time; false: it did not. */
bool name_decision_end(struct text *t, const struct decision *d);
/* Lines and statistics. */
void result_decision_costs(struct result *r, const struct decision *d);
/* "; left out: ..." as explorations say it; nothing if none are. */
void name_decision_left_out(struct text *t, const struct decision *d);
/* The table of all levels; nothing is borrowed. */
struct result *result_of_level_decisions(const struct level_decisions *d);
/* What each session and transaction reads, writes and ends with, in all runs
 * that histories have. The program and the runs are borrowed. */
struct result *result_of_local_runs(const struct local_runs *l);

#endif
