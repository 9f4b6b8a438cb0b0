/* What the command line asked an exploration to do. */
#ifndef ISO_CLI_EXPLORE_H
#define ISO_CLI_EXPLORE_H

#include <stdbool.h>

#include "dpor/estimate.h"
#include "dpor/explorer.h"
#include "report/style.h"

struct command_line;
struct explore_unit;
struct explored_beside;
struct observed_reads;
struct program;

struct exploration {
	const struct command_line *line;
	struct explore_options options;
	struct explore_unit *unit; /* what to go on with, and what to keep */
	const struct program *program; /* sessions in the order asked for */
	struct style style;            /* of the result in words */
	bool quiet, json;
};

/* explore_fit.c: do the options go together? Says which do not. */
bool options_fit(const struct command_line *c);

/* explore_settings.c: numbers, levels, order. Each says what is wrong, and
 * returns false. */
bool settings_read(struct exploration *x);
/* After the program is known: its stated level, and levels that fit. */
bool settings_levels(struct exploration *x);
/* A view of the program with its sessions in the order asked for, or NULL. */
struct program *settings_reordered(const struct program *p, const char *order);

/* explore_from.c: the observed history of --from. NULL, after saying why, if
 * it cannot be read, or is none of the program. */
struct observed_reads *explore_observed(const struct exploration *x);

/* explore_kinds.c: --levels, --estimate, --random; each returns the exit code.
 */
int explore_levels(const struct exploration *x);
int explore_estimate(const struct exploration *x);
int explore_random(const struct exploration *x);
/* Says what was found, and draws it as asked; returns the exit code. */
int explore_deliver(const struct exploration *x, const struct explorer *e,
                    const struct explored_beside *beside);

#endif
