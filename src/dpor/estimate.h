/* How large an exploration is, and how long it takes, from random descents in
 * its tree: D. E. Knuth, Estimating the efficiency of backtrack programs,
 * Mathematics of Computation 29, 1975. A descent takes one of d alternatives at
 * each choice, and the product of all d is an unbiased estimate of the number
 * of leaves. Descents are coupled against variance: several go down abreast,
 * and those that go on are drawn from the alternatives of all of them, without
 * repetition (R. Rubinstein, Stochastic enumeration method for counting NP-hard
 * problems, Methodology and Computing in Applied Probability 15, 2013).
 */
#ifndef ISO_DPOR_ESTIMATE_H
#define ISO_DPOR_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct branch;
struct branch_list;
struct estimator;
struct explore_options;
struct program;

struct estimate {
	double histories;  /* that the branches lead to: the mean; without
	                    * bias, whenever it is looked at */
	double low, high;  /* of `histories`: 95 % */
	double end_states; /* before the filter, likewise */
	double seconds;    /* of one thread, to explore them */
	double seconds_low, seconds_high;
	uint64_t groups;   /* of coupled descents; 0: nothing is known */
	bool exact;        /* everything was seen: low == high */
};

/* The program is borrowed, the options are copied (limits, observers and jobs
 * do not count). The seed makes it reproducible. */
struct estimator *estimator_new(const struct program *p,
                                const struct explore_options *o,
                                uint64_t seed);
void estimator_free(struct estimator *e);
/* What is to be estimated from now on: these branches together; copied. What
 * was learnt of others is forgotten. Without a call: the root. */
void estimator_set(struct estimator *e, const struct branch_list *open);
/* Goes down until so many more groups are done, or so many seconds are over,
 * but one group at least. */
void estimator_run(struct estimator *e, uint64_t groups, double seconds);
struct estimate estimator_get(const struct estimator *e);
/* The size of each branch by one group each, for balance: out[i] in end
 * states. */
void estimator_sizes(struct estimator *e, const struct branch_list *l,
                     double *out);

#endif
