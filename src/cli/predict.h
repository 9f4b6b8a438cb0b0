/* What the command line asked prediction to do, and what it did so far. */
#ifndef ISO_CLI_PREDICT_H
#define ISO_CLI_PREDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/histories.h"
#include "cli/options.h"
#include "report/predict_case.h"
#include "report/predict_text.h"
#include "report/style.h"
#include "run/runner.h"

struct program;

enum predict_shown {
	SHOWN_NOTHING,
	SHOWN_REFUTED, /* a prediction, but running it does not show it */
	SHOWN_VIOLATED
};

struct predicting {
	const struct command_line *line;
	struct predict_options options; /* level: of the history at hand */
	bool level_given;               /* by -i */
	const char *stated_by; /* who states the level; NULL: -i does */
	struct histories in;
	uint64_t wanted; /* predictions of each history; 0: one */
	bool recording;  /* from --program, so from seeds */
	uint64_t runs, seed;
	struct program *program; /* NULL: predictions are not validated */
	const char *program_path;
	struct runner *runner; /* of it; NULL: none yet */
	struct style style;
	bool json, quiet;
	struct predict_summary summary;
	/* Of the first history, then of the first one that shows more: which
	 * it is, what is said about it, and what that cost. */
	struct text which, report, costs;
	struct text first_line;   /* of the first history; it is said once there
	                           * is a second one */
	enum predict_shown shown; /* the most that a history shows so far */
	FILE *histories;          /* what is predicted; NULL: not asked for */
	struct text picture;
};

/* predict_settings.c. Each says what is wrong, and returns false. */
bool predict_settings(struct predicting *x);
/* The level for this history: the option's, else the one that the history
 * states, else the program's, else cc. */
bool predict_level(struct predicting *x, const struct trace *observed);

/* predict_search.c */
/* Predicts from the history of the case, which has all that is known before,
 * and reports it. EXIT_HOLDS unless something went wrong; of a fault of the
 * program nothing is said. */
int predict_from(struct predicting *x, struct predict_case *c);
/* The runner of the program under the level at hand. */
struct runner *predict_runner(struct predicting *x);

#endif
