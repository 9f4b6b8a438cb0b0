/* What is left of an exploration that runs: from its snapshots, for the line
 * that says how far it is. Of everything else it takes some three hundredths of
 * the time.
 */
#ifndef ISO_REPORT_FORECAST_H
#define ISO_REPORT_FORECAST_H

#include <stdbool.h>
#include "base/text.h"

struct branch_list;
struct explore_options;
struct explore_stats;
struct forecast;
struct program;
struct tally;

/* Seconds from one snapshot to the next: explore_options.snapshot_every. */
#define FORECAST_EVERY 1.0

/* NULL for EXPLORE_OUTWARD, which cannot be estimated. The program is
 * borrowed, the options are copied. */
struct forecast *forecast_new(const struct program *p,
                              const struct explore_options *o);
void forecast_free(struct forecast *f); /* NULL is fine */
/* For observer.snapshot. */
void forecast_snapshot(struct forecast *f, const struct tally *so_far,
                       const struct branch_list *open);
/* For observer.tick: adds "[###    ] 41.3 %, 12,345 of about 30,000 (27,000 to
 * 38,000) histories, 12 s left". False as long as nothing is known. */
bool forecast_words(struct forecast *f, struct text *t,
                    const struct explore_stats *so_far);

/* The part of the work that a bar shows as done: from 0 to 1. It never goes
 * back, whatever estimates say on the way; it moves when work is done; and it
 * does not come to 1, since the end is known only when it is there. */
struct bar {
	double shown;
	double done; /* the work that was done when it moved last */
};

/* So much work was done, and so much is left, as far as known: both >= 0. */
void bar_move(struct bar *b, double done, double left);

#endif
