/* Dividing what is left of a unit into parts of about the same size. */
#ifndef ISO_DISTRIBUTE_SPLIT_H
#define ISO_DISTRIBUTE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
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

/* Told now and then how many branches there are, of those that are enough;
 * `tick` may be NULL. */
struct split_observer {
	void *payload;
	void (*tick)(void *payload, size_t branches, size_t enough);
};

/* Makes `parts` units, or as many as there are branches, perhaps none: all was
 * met. They are left in `out` and are the caller's; what remains of `u` is what
 * was found until then, and that it was split into so many (u->parts). The
 * program is the task's, in its order; the options are complete. Takes some
 * milliseconds for each branch: 8 to 32 of them for each part. */
enum split_end split_unit(struct unit *u, const struct program *p,
                          const struct explore_options *o,
                          const struct split_observer *observer, uint32_t parts,
                          struct unit **out);

#endif
