/* The forms of a result that are made from its JSON: --html, --sarif, --junit,
 * --tap, --github. What is found is kept in that form until the command ends.
 */
#ifndef ISO_CLI_REPORTS_H
#define ISO_CLI_REPORTS_H

#include <stdbool.h>

#include <stdint.h>

#include "base/text.h"

struct command_line;
struct result;

/* Results in their JSON form, up to a limit. */
struct kept_results {
	struct text json;  /* owned */
	uint64_t left_out; /* what came behind it */
};

/* Is any of them asked for? */
bool reports_wanted(const struct command_line *c);
/* Could they be written? */
bool reports_possible(const struct command_line *c);
/* Adds what only these forms and the JSON have: the command, and sources. */
void reports_complete(const struct command_line *c, struct result *r);
/* Adds the result, which is complete, to those that are kept; of those behind
 * very many, only their number. */
void reports_keep(struct kept_results *kept, const struct result *r);
/* Writes them, behind them the errors that were said, and frees them. False,
 * with a message, if that fails. */
bool reports_write(const struct command_line *c, struct kept_results *kept);
/* The same of a result that was saved; `path` is where. */
bool reports_convert(const struct command_line *c, const char *path,
                     const struct text *json);
/* Writes the errors that were said, if these forms are asked for and have not
 * been written. */
bool reports_of_errors(const struct command_line *c);
/* What the command's exit code is in the end: the forms are written if they
 * were not, and a misuse that only the input shows is one. */
int command_end(const struct command_line *c, int code);

#endif
