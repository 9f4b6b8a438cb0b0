/* The files that a command is asked to write: its options --dot, --output and
 * the like. Each function says what is wrong before it returns false. */
#ifndef ISO_CLI_OUTPUTS_H
#define ISO_CLI_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "api/problem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "result/result.h"

struct command_line;
struct trace;

/* Is none of the outputs one of the files of the input? Says so, if not. */
bool outputs_spare(const struct command_line *c, const struct diags *of);
/* Before any work is done: at most one thing goes to the standard output, no
 * file is written twice, and none is also an operand, which `operand` is the
 * word for ("program"); and what reports.h writes can be written. */
bool outputs_fit(const struct command_line *c, const char *operand);
/* Where the result in words goes: stderr when stdout has another use. */
FILE *outputs_result_stream(const struct command_line *c);

/* --dot and --svg. */
bool pictures_wanted(const struct command_line *c);
/* Could they be written, and drawn? */
bool pictures_possible(const struct command_line *c);
/* Writes the picture, given in the language of Graphviz, as asked for; if that
 * is empty, only says so: `none`. */
bool pictures_write(const struct command_line *c, const struct text *picture,
                    const char *none);
/* Writes the result to where it goes, as --json and --quiet ask, the pictures,
 * and what reports.h has; if there is nothing to draw, only says so: `none`. */
bool outputs_result(const struct command_line *c, struct result *r,
                    const char *none);
/* How much of it is going to be written. */
enum result_depth outputs_depth(const struct command_line *c);

/* Where a history that the command makes goes, and in which format: --output
 * and --format. */
struct target {
	enum format format;
	const char *path; /* "-": the standard output */
};

bool target_read(const struct command_line *c, struct target *to);
/* Can it be a file there? A binary one is none for a terminal. */
bool target_file_possible(const struct target *to);
/* Writes the history, `order` being as in print_history. False if there was a
 * problem. */
bool target_write(const struct target *to, const struct trace *t,
                  const uint32_t *order, struct problem *p);

#endif
