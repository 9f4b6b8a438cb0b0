/* Explorations that begin where another one stopped, and that write down how
 * far they are: from a checkpoint or a unit of a split, into a checkpoint or
 * the result of the unit. The order of calls is that of the functions here.
 */
#ifndef ISO_API_KEPT_H
#define ISO_API_KEPT_H

#include <stdbool.h>
#include <stdio.h>

#include "api/problem.h"
#include "distribute/unit.h"
#include "dpor/explorer.h"

struct program;

/* Paths, each NULL if there is none; `resume` and `unit` exclude each other. */
struct kept_files {
	const char *resume; /* a checkpoint to go on with */
	const char *unit;   /* a unit of a split to go on with */
	/* What is written. By default what is resumed, or beside the unit:
	 * result-003.json. */
	const char *checkpoint;
	double every; /* seconds from checkpoint to checkpoint; 0: 60 */
	const char *histories;
};

struct kept {
	struct kept_files files;
	const struct program *program; /* in the order asked for */
	struct unit *unit; /* what to go on with, and what is written; NULL:
	                    * no file but `histories` was asked for */
	bool resumed;      /* `unit` was read from a file */
	char *path;        /* the file that is written; NULL: none. Owned */
	double next;       /* seconds_now() of the next checkpoint */
	bool was_finished; /* before this run: nothing is written */
	FILE *histories;   /* flushed before each checkpoint; NULL: none */
	bool failing;      /* the last checkpoint could not be written */
};

/* Those that return bool return false if there is a problem. `k` is all zero
 * before; the paths must live as long. */
bool kept_read(struct kept *k, const struct kept_files *files,
               struct problem *p);
/* The task of the file that is gone on with, or NULL. */
const struct task *kept_task(const struct kept *k);
/* The program, a view of it in `order` (or NULL), and options are known. */
bool kept_accept(struct kept *k, const struct program *program,
                 const struct explore_options *o, const char *order,
                 struct problem *p);
/* Where histories go on to be written: what a run before has written beyond
 * its checkpoint is cut off, the rest is kept. NULL if there is a problem, or
 * if none are. */
FILE *kept_histories(struct kept *k, struct problem *p);
/* Before explorer_run. */
bool kept_begin(struct kept *k, struct explorer *e, struct problem *p);
/* For observer.snapshot. An exploration is worth more than one checkpoint: if
 * it cannot be written, that is a problem, but only the first time. */
void kept_snapshot(struct kept *k, const struct tally *found,
                   const struct branch_list *open, struct problem *p);
/* After explorer_run (NULL: it was not run), before the result is reported and
 * the histories are closed. */
bool kept_end(struct kept *k, struct explorer *e, struct problem *p);
void kept_free(struct kept *k);

#endif
