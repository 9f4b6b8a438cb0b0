/* What an exploration is asked to do, with all that it borrows of its program:
 * whoever explores, splits or merges begins with one. */
#ifndef ISO_API_EXPLORE_PLAN_H
#define ISO_API_EXPLORE_PLAN_H

#include <stdbool.h>

#include "api/kept.h"
#include "api/problem.h"
#include "dpor/explorer.h"

struct observed_reads;
struct program;
struct symmetry;
struct task;
struct trace;

/* Beside the options that are numbers. */
struct explore_wish {
	enum level level, base; /* LEVEL_COUNT: not said */
	const char *word;       /* of the level, if it was said by one */
	const char *order;      /* "bob,alice"; NULL: as declared */
	bool symmetry;
	/* The options' algorithm was not asked for: the usual one may be taken
	 * in place of EXPLORE_CE; and where no two sessions can be exchanged,
	 * in place of EXPLORE_ORDERLY. */
	bool any_algorithm;
	/* The observed history to begin at; NULL: none. */
	const struct trace *from;
	/* That decides the options in place of all this; NULL: none. What to
	 * do when it is of another program, in words. */
	const struct task *task;
	const char *otherwise;
};

/* What could not be planned. */
enum plan_step { PLAN_LEVELS, PLAN_ORDER, PLAN_TASK, PLAN_FROM, PLAN_SYMMETRY };

struct explore_plan {
	struct explore_options options;
	const struct program *program; /* in the order asked for */
	const char *order;
	struct kept kept;
	enum plan_step step;
	/* Owned; NULL: not asked for. */
	struct program *view;
	struct symmetry *symmetry;
	struct observed_reads *observed;
};

/* All but levels, symmetry and observed reads is set in the options, and `kept`
 * is whatever it is. False if there is a problem; the plan is to be freed
 * either way. */
bool explore_plan_make(struct explore_plan *x, const struct program *p,
                       const struct explore_wish *w, struct problem *problem);
void explore_plan_free(struct explore_plan *x);

/* The one history of a file that an exploration begins at; NULL if there is a
 * problem. */
struct trace *explore_from(const char *path, struct problem *p);

#endif
