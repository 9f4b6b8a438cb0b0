/* Branches made from larger ones. */
#ifndef ISO_DISTRIBUTE_EXPAND_H
#define ISO_DISTRIBUTE_EXPAND_H

#include <stdbool.h>

struct branch;
struct branch_list;
struct explore_options;
struct program;
struct tally;

struct expander;

/* The program is borrowed, the options are copied. */
struct expander *expander_new(const struct program *p,
                              const struct explore_options *o);
void expander_free(struct expander *x);
/* Explores the branch, which is taken over, up to its first choice, and adds
 * the alternatives to the list; there may be none. False when it was stopped
 * (an interruption, a limit of the program): then what is left of it is added
 * nevertheless. */
bool expander_expand(struct expander *x, struct branch *b,
                     struct branch_list *out);
/* Was a branch none of this program? */
bool expander_failed(const struct expander *x);
/* Adds what all of that found. Once, at the end. */
void expander_tally(struct expander *x, struct tally *to);

#endif
