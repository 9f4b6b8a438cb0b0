/* The result of deciding assertions with a solver. */
#ifndef ISO_RESULT_DECIDED_H
#define ISO_RESULT_DECIDED_H

#include "result/result.h"
#include "solve/all_levels.h"

/* Histories and findings are borrowed. */
struct result *result_of_decision(const struct decision *d,
                                  enum result_depth depth);

/* "; left out: ..." as explorations say it; nothing if none are. */
void name_decision_left_out(struct text *t, const struct decision *d);
/* The table of all levels; nothing is borrowed. */
struct result *result_of_level_decisions(const struct level_decisions *d);

#endif
