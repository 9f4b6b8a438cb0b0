/* The observed histories that a command looks at, one after the other: each
 * one of its files, or number N of each file. */
#ifndef ISO_CLI_HISTORIES_H
#define ISO_CLI_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/check.h"
#include "formats/formats.h"
#include "report/progress.h"

struct command_line;
struct text;
struct trace;

struct observed {
	const struct trace *trace;
	enum format format;
	uint64_t number; /* in its file, from 1 */
	double read_seconds;
};

struct histories {
	/* Set by the command. */
	const char *doing;     /* "checking", for the progress */
	const uint64_t *count; /* of histories looked at so far, for that too */
	/* Looks at one; not EXIT_HOLDS if nothing may come behind it. */
	int (*look)(void *data, const struct observed *o);
	void *data;
	/* Set by histories_settings. */
	const struct command_line *line;
	struct reader_options reader;
	struct check_limits limits;
	uint64_t only; /* number of the one history; 0: all */
	FILE *to;      /* results */
	struct progress progress;
	/* From histories_begin on. */
	double begun;
	struct check_clock *clock; /* of the limits; it shows the progress */
	const char *path;    /* of the input at hand; the command's, if the
	                      * command reads no file */
	const char *stopped; /* why not all were looked at, or NULL */
	bool failed;         /* a result could not be written */
};

/* --format, --history, the limits, and where results go. False, after saying
 * what is wrong. */
bool histories_settings(struct histories *h, const struct command_line *c);
/* Starts the clock. */
void histories_begin(struct histories *h);
/* Is there any use in looking at one more history? `any`: one was looked at; a
 * first one is whatever the limits. */
bool histories_go_on(struct histories *h, bool any);
/* Looks at the histories of the files that the command line names, up to the
 * one for which histories_go_on says no. Returns EXIT_HOLDS, or, after saying
 * why, what went wrong. */
int histories_look(struct histories *h);
/* Writes a result. */
void histories_put(struct histories *h, const struct text *t);
void histories_end(struct histories *h);

/* The exit code for the verdict over all of them. */
int exit_code_of_check(enum check_verdict v);

#endif
