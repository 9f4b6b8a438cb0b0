/* Parts of an exploration that can be written into a file, explored elsewhere,
 * and added up.
 *
 * All of them are of one kind: a task, the branches that are left to explore,
 * and what was found so far. A *work unit* has branches and nothing found; a
 * *checkpoint* has both; a *result* has no branches left. What remains of a
 * unit that was *split* is what was found until then, and how many parts there
 * are: its branches are in them.
 */
#ifndef ISO_DISTRIBUTE_UNIT_H
#define ISO_DISTRIBUTE_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "distribute/results_file.h"
#include "distribute/task.h"
#include "dpor/work/branch.h"

struct diags;

enum {
	UNIT_VERSION = 1,       /* of the text */
	UNIT_PARTS_MAX = 999999 /* that one split makes */
};

struct unit {
	struct task task;
	/* "3", "3.1": the first part of part 3; "" for the whole. Owned. */
	char *id;
	/* Which split made it; 0 for the whole. */
	uint64_t split;
	struct branch_list open;
	struct results_file found;
	/* If it was split: into how many parts (none: nothing was left), and by
	 * which split; else both are 0. */
	uint32_t parts;
	uint64_t parts_split;
	/* --histories: where they are written, and how many bytes of it hold
	 * those that were found. NULL: nowhere. Owned. */
	char *histories;
	uint64_t histories_length;
	/* Of the last of these bytes: other files end differently there. */
	uint64_t histories_end;
};

/* Takes the task over, copies the id. Nothing is left, nothing was found. */
struct unit *unit_new(struct task *task, const char *id, uint64_t split);
void unit_free(struct unit *u); /* NULL is fine */
/* Replaces what was found and what is left by copies of these. */
void unit_update(struct unit *u, const struct program *p,
                 const struct tally *found, const struct branch_list *open);
/* Is nothing left to explore, in it or in parts? */
bool unit_is_finished(const struct unit *u);

/* The text: JSON, ending in a line with a hash of all before it. */
void unit_write(struct text *t, const struct unit *u);
/* NULL, with an error added, if it is not such a text. `file` is its name in
 * messages. */
struct unit *unit_parse(const char *file, const char *text, size_t length,
                        struct diags *d);
struct unit *unit_read(const char *path, struct diags *d);

#endif
