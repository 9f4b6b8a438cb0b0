/* How large an exploration is, and how long it takes, from random descents in
 * its tree: D. E. Knuth, Estimating the efficiency of backtrack programs,
 * Mathematics of Computation 29, 1975. A descent takes one of d alternatives at
 * each choice, and the product of all d is an unbiased estimate of the number
 * of leaves. Descents are coupled against variance (abreast.h): each group of
 * them gives one estimate, and several groups a mean and an interval.
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
struct branch_list;
struct estimator;
struct explore_options;
struct program;

struct estimate {
	double histories;  /* the mean of all groups; without bias */
	double low, high;  /* of `histories`: 95 % */
	double end_states; /* before the filter, likewise */
	double end_states_low, end_states_high;
	uint64_t groups;   /* of coupled descents; 0: nothing is known */
	bool exact;        /* everything was seen: low == high */
};

/* What is measured of an exploration's speed: CPU seconds of an end state. */
struct pace {
	double end_states, seconds; /* of all stretches */
	double squares;  /* of the seconds of each per end state, weighted by
	                  * end states */
	uint64_t count;  /* of stretches */
};

/* How long one thread takes. Needs a pace; else all are 0. */
struct duration { double seconds, low, high; };

/* The program is borrowed; of the options those count that say what is
 * explored, and `interrupt`. The seed makes it reproducible. NULL for
 * EXPLORE_OUTWARD, whose tree grows with each round. */
struct estimator *estimator_new(const struct program *p,
                                const struct explore_options *o,
                                uint64_t seed);
void estimator_free(struct estimator *e); /* NULL is fine */

/* What is to be estimated from now on: these branches together; copied. All
 * groups before are forgotten. Without a call: the root. */
void estimator_set(struct estimator *e, const struct branch_list *open);
/* The same exploration as before has gone on: so much was done of the whole,
 * and these branches are left. Estimates are of the whole, and groups before
 * count a little less. */
void estimator_advance(struct estimator *e, const struct branch_list *open,
                       uint64_t histories, uint64_t end_states);

/* Goes down until so many more groups are done, but one at least. */
void estimator_run(struct estimator *e, uint64_t groups);
/* The same, until so many seconds are over. */
void estimator_spend(struct estimator *e, double seconds);
struct estimate estimator_get(const struct estimator *e);

/* Adds a stretch of an exploration to what is known of its speed. */
void pace_add(struct pace *p, double end_states, double seconds);
/* For so many more end states. */
struct duration pace_duration(const struct pace *p, double end_states,
                              double low, double high);

/* The size of each branch by one group each, for balance: out[i] in end
 * states. */
void estimator_sizes(struct estimator *e, const struct branch_list *l,
                     double *out);

#endif
