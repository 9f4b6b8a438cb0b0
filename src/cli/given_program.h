/* The program that a command is given. */
#ifndef ISO_CLI_GIVEN_PROGRAM_H
#define ISO_CLI_GIVEN_PROGRAM_H

#include <stdbool.h>

struct command_line;
struct problem;
struct diags;
struct program;

/* Does the command line name one program, and say well how its code in C is
 * run? If not, says so. */
bool one_program(const struct command_line *c);
/* NULL if it has errors; all of them, and the warnings, are said. */
struct program *read_program(const struct command_line *c, const char *path);
/* The same, and they are added to `d`. */
struct program *given_program(const struct command_line *c, const char *path,
                              struct diags *d);
/* After it was run: is what was found worth nothing, because its code in C does
 * not do the same each time? If so, says it, with --json as JSON too. */
bool program_failed(const struct command_line *c, const struct program *p);
/* Says what went wrong, of a fault of the program as program_failed() does, and
 * returns the exit code. Warnings are said if nothing went wrong, too. */
int say_problem(const struct command_line *c, const struct program *p,
                const struct problem *problem);
/* Is the file a shared object? If so, says what to do with one, and that here
 * something else is wanted: `wanted` is as in "check takes histories". */
bool is_client(const char *path, const char *wanted);

#endif
