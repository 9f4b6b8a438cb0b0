/* Of a proof: the reads that are to be locked in place of a stronger level. */
#ifndef ISO_RESULT_PROMOTED_H
#define ISO_RESULT_PROMOTED_H

#include "prove/prove.h"
#include "result/result.h"

/* Adds them to the findings, and to the words behind them. */
void result_promotions(struct result *r, const struct proof *p,
                       struct text *note);

#endif
