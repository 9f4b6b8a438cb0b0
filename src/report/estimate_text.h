/* What is known only roughly of an exploration, beside its result: how large it
 * is, how long it takes, and what share was seen. */
#ifndef ISO_REPORT_ESTIMATE_TEXT_H
#define ISO_REPORT_ESTIMATE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "dpor/estimate.h"
#include "report/style.h"

struct explorer;

/* A part was explored, and the rest estimated. */
struct outlook {
	struct estimate whole;
	struct duration left; /* for one thread, of what no run before did */
	double classes;       /* with symmetry; else 0 */
	unsigned jobs;        /* threads that will explore it */
};

/* Random descents were made, and the whole estimated. */
struct sample_share {
	struct estimate whole;
	uint64_t descents, distinct;
};

/* "about 1.31 million histories under Causal Consistency (cc) (95 %: 1.1 to 1.6
 * million), about 2.4 s with 2 threads" */
void name_outlook(struct text *t, const struct explorer *e,
                  const struct outlook *o);
/* "871 distinct histories of about 12,400 (95 %: 11,000 to 14,200) in 1,000
 * random descents: about 7 %" */
void name_share(struct text *t, const struct sample_share *s);

/* As report_partial or, without an estimate, as report_verdict. The words are
 * the reason of an inconclusive verdict, and a line of their own below any
 * other. */
void report_roughly(struct text *t, const struct style *s,
                    const struct explorer *e, const char *words,
                    const struct estimate *all);

#endif
