/* Splitting what is left of an exploration into units, a file each. */
#ifndef ISO_API_SPLIT_FILES_H
#define ISO_API_SPLIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/explore_plan.h"
#include "api/problem.h"

struct split_observer;

struct division {
	struct explore_plan *plan; /* borrowed */
	struct unit *unit;         /* what is split; owned */
	bool from_file;            /* it was read */
	/* It is the unit's result so far: what was explored is not explored
	 * again. Owned; NULL: it is not. */
	char *result;
	char *folder; /* owned */
	uint32_t count;
	struct unit **parts;
};

/* In this order; each is false if there is a problem. */

/* Reads a unit or a checkpoint, or its result so far. */
bool split_read(struct division *v, const char *path, struct problem *p);
/* Into `count` units in a folder (NULL: that of the unit, at `path`), where
 * nothing of the kind may be. */
bool split_into(struct division *v, const char *folder, const char *path,
                uint64_t count, struct problem *p);
/* The plan is made. `path` is what is split, for messages. */
bool split_make(struct division *v, const char *path,
                const struct split_observer *observer, struct problem *p);
/* Of all units. */
size_t split_branches(const struct division *v);
uint64_t split_histories(const struct division *v); /* met so far */
void split_free(struct division *v);

#endif
