/* --confirm and --reproduce. */
#ifndef ISO_CLI_CONFIRMING_H
#define ISO_CLI_CONFIRMING_H

#include <stdbool.h>

#include "api/confirm_result.h"

struct command_line;
struct result;

/* Before any work is done: do they fit, and can the file be written? Says why
 * not. */
bool confirming_fits(const struct command_line *c);
/* As they ask, if they do; EXIT_HOLDS, or the exit code, after saying why. */
int confirm_as_asked(const struct command_line *c, struct result *r);

/* What --reproduce asks for, and what becomes of it: false if it cannot be
 * written. Empty: nothing was confirmed, which is said. */
enum reproduction reproduction_asked(const struct command_line *c);
bool reproduction_write(const struct command_line *c, const struct text *t);

#endif
