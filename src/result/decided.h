/* The result of deciding assertions with a solver. */
#ifndef ISO_RESULT_DECIDED_H
#define ISO_RESULT_DECIDED_H

#include "result/result.h"
#include "solve/decision.h"

/* Histories and findings are borrowed. */
struct result *result_of_decision(const struct decision *d,
                                  enum result_depth depth);

#endif
