/* How large an exploration is, and how long it takes, from random descents in
 * its tree: D. E. Knuth, Estimating the efficiency of backtrack programs,
 * Mathematics of Computation 29, 1975. A descent takes one of d alternatives at
 * each choice, and the product of all d is an unbiased estimate of the number
 * of leaves. Descents are coupled against variance (stochastic_enumeration.h):
 * each group of them gives one estimate, and several groups a mean and an
 * interval.
 *
 * Estimates of trees are skewed: most are too small, and a few are far too
 * large. So the interval is one of Student's t, but of the logarithm, it goes
 * twice as far up as down, and it never contains less than what was seen.
 */
#ifndef ISO_DPOR_ESTIMATE_H
#define ISO_DPOR_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct branch;
struct branch;
struct branch_list;
struct estimator;
struct explore_options;
struct explore_stats;
struct program;

struct estimate {
	double histories; /* the mean of all groups; without bias, so it may
	                   * be below what was seen */
	double low, high; /* of `histories`: 95 %; not below that */
	double work;      /* of the whole exploration (work_done), likewise */
	double work_low, work_high;
	uint64_t bound;  /* stale reads of each history at most; UINT64_MAX:
	                  * any number */
	uint64_t groups; /* of coupled descents; 0: nothing is known */
	bool exact;      /* everything was seen: low == high */
};

/* What an exploration did, in a measure that time is about proportional to: end
 * states before the filter. EXPLORE_ORDERLY: histories. Its own tree has so
 * many more dead ends than ends that nothing can be said about it; there are as
 * many histories as explore-ce finds, and so that one is gone down. */
double work_done(const struct explore_options *o,
                 const struct explore_stats *s);

/* What is measured of an exploration's speed: CPU seconds for its work. */
struct pace {
	double work, seconds; /* of all stretches */
	double squares; /* of the seconds of each per unit of work, weighted by
	                 * work */
	uint64_t count; /* of stretches */
};

/* How long one thread takes. Needs a pace; else all are NAN. */
struct duration {
	double seconds, low, high;
};

/* The program is borrowed; of the options those count that say what is
 * explored, and `interrupt`. The seed makes it reproducible. NULL for
 * EXPLORE_OUTWARD, whose tree grows with each round. */
struct estimator *estimator_new(const struct program *p,
                                const struct explore_options *o, uint64_t seed);
void estimator_free(struct estimator *e); /* NULL is fine */

/* The exploration has gone on: so much was found, and these branches are left.
 * Estimates are of the whole, and groups before count a little less. */
void estimator_advance(struct estimator *e, const struct branch_list *open,
                       uint64_t histories, uint64_t end_states);

/* Goes down, from the root unless it was told of branches, until so many more
 * groups are done. */
void estimator_run(struct estimator *e, uint64_t groups);
/* The same, until so many seconds are over, but one group at least; unless that
 * takes some times as long, and seconds. */
void estimator_spend(struct estimator *e, double seconds);
/* A group that goes on for longer than so many seconds from now is given up,
 * with those behind it. Each of them says nothing then. */
void estimator_hurry(struct estimator *e, double seconds);
struct estimate estimator_get(const struct estimator *e);

/* Adds a stretch of an exploration to what is known of its speed. */
void pace_add(struct pace *p, double work, double seconds);
/* For so much more work. */
struct duration pace_duration(const struct pace *p, double work, double low,
                              double high);

/* The size of a branch by one group, for balance: in end states, or, with
 * EXPLORE_ORDERLY, in branches of its tree. */
double estimator_size(struct estimator *e, struct branch *b);

#endif
