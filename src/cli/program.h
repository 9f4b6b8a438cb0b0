/* The program that a command is given. */
#ifndef ISO_CLI_PROGRAM_H
#define ISO_CLI_PROGRAM_H

#include <stdbool.h>

struct command_line;
struct program;

/* Does the command line name one program? If not, says so. */
bool one_program(const struct command_line *c);
/* NULL if it has errors; all of them, and the warnings, are said. */
struct program *read_program(const struct command_line *c, const char *path);

#endif
