/* Groups of random descents that go down abreast in the tree of an exploration.
 *
 * A branch that was drawn is explored depth first up to its first end state
 * (or, where many lead to none, up to its first choice), which counts as often
 * as the branch stands for others; the alternatives that were passed on the way
 * are open. Of those of all descents together the group draws the next
 * branches, without repetition, those with large trees rather than others, and
 * each of them stands for 1 / chance as many as before. So the sum of all
 * counts has no bias, whatever the chances are: they are larger for branches of
 * a kind whose trees proved large in groups before.
 *
 * (R. Rubinstein, Stochastic enumeration method for counting NP-hard problems,
 * Methodology and Computing in Applied Probability 15, 2013; chances in
 * proportion to estimated sizes, drawn by one random number: W. G. Madow, On
 * the theory of systematic sampling II, Annals of Mathematical Statistics 20,
 * 1949.)
 */
#ifndef ISO_DPOR_STOCHASTIC_ENUMERATION_H
#define ISO_DPOR_STOCHASTIC_ENUMERATION_H

#include <stdbool.h>
#include <stdint.h>

struct stochastic;
struct branch_list;
struct explore_options;
struct program;

/* What a group says of all that its branches lead to. */
struct stochastic_count {
	double histories, end_states;
	double places; /* branches that were drawn: the size of a tree in which
	                * most lead to no end */
	uint64_t seen; /* histories that it met itself */
	uint64_t ends; /* end states likewise */
	bool exact;    /* it left nothing out */
};

/* The program is borrowed. Of the options those count that say what is
 * explored, `interrupt` and `memory`; with EXPLORE_CE, too, histories are those
 * with at most max_changes stale reads (staleness.h). Not for EXPLORE_OUTWARD.
 */
struct stochastic *stochastic_new(const struct program *p,
                                  const struct explore_options *o,
                                  uint64_t seed);
void stochastic_free(struct stochastic *a);
/* Groups stop so many seconds from now. */
void stochastic_hurry(struct stochastic *a, double seconds);
/* One group of `width` descents from these branches together; false if
 * something stopped it (an interrupt, the time, a limit that no option sets):
 * then the count says nothing. What is open takes 256 MiB at most, or
 * options.memory if that is less, but 32 MiB in any case. */
bool stochastic_descend(struct stochastic *a, const struct branch_list *from,
                        uint32_t width, struct stochastic_count *count);

#endif
