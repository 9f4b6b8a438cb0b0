/* Where the program writes: messages, results, files. */
#ifndef ISO_CLI_OUTPUT_H
#define ISO_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"
#include "report/progress.h"
#include "report/style.h"

struct command_line;

/* What a command has said, for the forms of its result (cli/reports.h) and for
 * --watch. */
struct said {
	struct diags errors; /* in its input; with the files that this is */
	bool reported;       /* the forms are written already */
	bool misused;        /* the options do not go with the input */
	int watcher;         /* who wants to hear of the files; 0: nobody */
};

/* "isoscope: ..." on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Diagnostics on stderr; the errors are kept. */
void say_diagnostics(const struct command_line *c, const struct diags *d);
/* Colours and width for what goes to the stream. */
struct style output_style(const struct command_line *c, FILE *to);
/* On stderr, if that is a terminal and progress is not unwanted. */
struct progress output_progress(const struct command_line *c);
/* Writes all of it now; false, with a message, if that fails. */
bool output_text(FILE *to, const char *name, const struct text *t);

bool is_standard(const char *path); /* "-" */
/* path_is_writable(); says why if it is not. */
bool output_possible(const char *path);
/* stdout for "-". NULL, with a message, if it cannot be opened. */
FILE *output_open(const char *path);
/* Closes it, unless it is stdout; false, with a message, if not all that was
 * written arrived. NULL is fine. */
bool output_close(FILE *f, const char *path);

#endif
