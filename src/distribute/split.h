/* Dividing what is left of a unit into parts of about the same size. */
#ifndef ISO_DISTRIBUTE_SPLIT_H
#define ISO_DISTRIBUTE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

struct explore_options;
struct program;
struct unit;

enum split_end {
	SPLIT_DONE,
	SPLIT_STOPPED, /* interrupted, or the program is at fault; nothing was
	                * changed */
	SPLIT_FOREIGN  /* what is left cannot be done by the program */
};

/* Makes `parts` units, which are left in `out` and are the caller's; what
 * remains of `u` is what was found until then, and that it was split. The
 * program is the task's, in its order; the options are complete. */
enum split_end split_unit(struct unit *u, const struct program *p,
                          const struct explore_options *o, uint32_t parts,
                          struct unit **out);

#endif
