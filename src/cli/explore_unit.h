/* Explorations that begin where another one stopped, and that write down how
 * far they are: --unit, --resume and --checkpoint. The order of calls is that
 * of the functions here.
 */
#ifndef ISO_CLI_EXPLORE_UNIT_H
#define ISO_CLI_EXPLORE_UNIT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/explore.h"

struct branch_list;
struct command_line;
struct tally;
struct unit;

struct explore_unit {
	const struct command_line *line;
	const struct program *program; /* in the order asked for */
	struct unit *unit; /* what to go on with, and what is written; NULL:
	                    * none of the three options was given */
	bool resumed;      /* `unit` was read from a file */
	char *keep;        /* the file that is written; NULL: none. Owned */
	bool was_finished; /* before this run: nothing is written */
	FILE *histories;   /* flushed before each checkpoint; NULL: none */
	int code;          /* when a function returned false: exit with it */
	bool failing;      /* the last checkpoint could not be written */
};

/* Reads the files that the command line names; with them come options: what
 * decides the exploration is refused beside --unit and --resume, and set in
 * `x->options`. False after saying why. All zero before. */
bool explore_unit_read(struct explore_unit *u, struct exploration *x);
/* The program, instead of c->operands[0]: that of the file, if no operand was
 * given. NULL: none of both (one_program() says so). */
const char *explore_unit_program(const struct explore_unit *u);
/* --sessions-order, or that of the file; NULL: as declared. */
const char *explore_unit_order(const struct explore_unit *u);
/* The program is known (x->program), and so are all options: is it the right
 * one? False after saying why: exit code EXIT_INPUT. Sets
 * x->options.snapshot_every. */
bool explore_unit_accept(struct explore_unit *u, struct exploration *x);
/* Instead of output_open() for --histories: what a run before has written there
 * beyond its checkpoint is cut off, the rest is kept. NULL: not asked for;
 * *fine is false, after saying why, when it cannot be done. */
FILE *explore_unit_histories(struct explore_unit *u, bool *fine);
/* Before explorer_run. False after saying why (EXIT_INPUT). */
bool explore_unit_begin(struct explore_unit *u, struct explorer *e);
/* For observer.snapshot; the payload is the explore_unit. */
bool explore_unit_snapshot(void *payload, const struct tally *found,
                           const struct branch_list *open);
/* After explorer_run, before the result is reported and the histories are
 * closed. False, after saying why, if the file could not be written
 * (EXIT_INTERNAL). */
bool explore_unit_end(struct explore_unit *u, struct explorer *e);
void explore_unit_free(struct explore_unit *u);

#endif
