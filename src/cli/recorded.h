/* What the commands that read recorded histories have in common: their options,
 * their progress, and where their results go. */
#ifndef ISO_CLI_RECORDED_H
#define ISO_CLI_RECORDED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/inputs.h"
#include "base/text.h"
#include "cli/reports.h"
#include "report/progress.h"

struct command_line;
struct result;

struct histories {
	const char
		*doing; /* "checking", for the progress; set by the command */
	FILE *to;       /* results */
	struct progress progress;
	double begun;
	bool failed; /* a result could not be written */
	const struct command_line *line;
	struct kept_results kept;
	uint64_t count; /* of results that were put */
};

/* --format, --history, the limits, and where results go. False, after saying
 * what is wrong. */
bool histories_settings(struct histories *h, struct inputs_options *in,
                        const struct command_line *c);
/* Catches signals, and shows the progress from now on. */
void histories_begin(struct histories *h, struct inputs_options *in);
/* Writes a result: in words, or as JSON. */
void histories_put(struct histories *h, const struct text *t);
void histories_put_json(struct histories *h, const struct result *r);
/* Of each history: completes the result, and keeps it for reports_write if that
 * is asked for and it shows something, or is the first. */
void histories_keep(struct histories *h, struct result *r);
/* Writes those that were kept, behind the result about all of them; NULL: there
 * is but one. Frees them. */
bool histories_report(struct histories *h, struct result *all);

#endif
