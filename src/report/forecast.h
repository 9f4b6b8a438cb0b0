/* What is left of an exploration that runs: from its snapshots, for the line
 * that says how far it is. Of everything else it takes some three hundredths of
 * the time.
 */
#ifndef ISO_REPORT_FORECAST_H
#define ISO_REPORT_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct branch_list;
struct explore_options;
struct explore_stats;
struct forecast;
struct program;
struct tally;

/* Seconds from one snapshot to the next: explore_options.snapshot_every. */
#define FORECAST_EVERY 2.0

/* NULL for EXPLORE_OUTWARD, which cannot be estimated. The program is
 * borrowed, the options are copied. */
struct forecast *forecast_new(const struct program *p,
                              const struct explore_options *o);
void forecast_free(struct forecast *f); /* NULL is fine */
/* For observer.snapshot. */
void forecast_snapshot(struct forecast *f, const struct tally *so_far,
                       const struct branch_list *open);
/* For observer.tick: false as long as nothing is known. Adds "[###    ] 41 % of
 * about 12,000 histories (11,000 to 14,000), 12 s left". */
bool forecast_words(struct forecast *f, struct text *t,
                    const struct explore_stats *so_far);

/* The part of the work that a bar shows as done. It begins at 0, grows with the
 * work, and reaches 1 together with it, whatever estimates say on the way. */
struct bar {
	double shown;  /* 0 to 1; never falls */
	double done;   /* the work done when it was shown last */
};

/* So much work was done, and so much is left, as far as known: both >= 0.
 * Below 1 as long as the end is not told by bar_end. */
void bar_move(struct bar *b, double done, double left);

#endif
