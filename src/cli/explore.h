/* What the command line asked an exploration to do. */
#ifndef ISO_CLI_EXPLORE_H
#define ISO_CLI_EXPLORE_H

#include <stdbool.h>

#include "api/explore_plan.h"
#include "report/style.h"

struct command_line;
struct explored_beside;
struct explorer;
struct second_engine;

struct exploration {
	const struct command_line *line;
	struct explore_plan plan;
	struct style style; /* of the result in words */
	bool quiet, json;
	double deadline; /* of all that it takes, if there is a time limit */
	struct second_engine *second; /* beside it, or NULL */
};

/* explore_fit.c: do the options go together? Says which do not. */
bool options_fit(const struct command_line *c);

/* explore_settings.c: options that are numbers. Says what is wrong, and returns
 * false. */
bool settings_read(struct exploration *x);
/* Levels, order, symmetry; their words are known to be right. */
struct explore_wish explore_wish_read(const struct command_line *c);

/* explore_kinds.c: --levels, --estimate, --random; each returns the exit code.
 */
int explore_levels(struct exploration *x);
int explore_estimate(struct exploration *x);
int explore_random(struct exploration *x);
/* explore_watch.c: --watch; and called when the program was read, or could not
 * be. */
int explore_watch(const struct command_line *c);
void explore_read(const struct command_line *c);
/* The command without --watch. */
int explore_once(const struct command_line *c);
/* explore_repair.c: --fix. */
int explore_repair(struct exploration *x);
/* Gives the explorer what a run before has found; false, after saying why, if
 * that cannot be done. */
bool explore_goes_on(struct exploration *x, struct explorer *e);
/* Has the program failed, so that what was found is void? Says why, unless it
 * will be explored anew. */
bool explore_failed(const struct exploration *x);
/* Only a verdict is asked for, so deciding may be quicker (--stop-on-violation,
 * and no file of histories): a second engine, or NULL. */
struct second_engine *explore_beside(const struct exploration *x, bool levels);
/* Says what was found, and draws it as asked; returns the exit code. */
int explore_deliver(const struct exploration *x, const struct explorer *e,
                    const struct explored_beside *beside);

#endif
