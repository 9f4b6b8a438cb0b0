/* Where a history that a command makes goes, and in which format: its options
 * --output and --format. */
#ifndef ISO_CLI_TARGET_H
#define ISO_CLI_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "api/problem.h"
#include "formats/formats.h"

struct command_line;
struct trace;

struct target {
	enum format format;
	const char *path; /* "-": the standard output */
};

/* Each says what is wrong before it returns false. */
bool target_read(const struct command_line *c, struct target *to);
/* Can it be a file there? A binary one is none for a terminal. */
bool target_file_possible(const struct target *to);
/* Writes the history, `order` being as in print_history. False if there was a
 * problem. */
bool target_write(const struct target *to, const struct trace *t,
                  const uint32_t *order, struct problem *p);

#endif
