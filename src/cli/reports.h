/* The forms of a result that are made from its JSON: --html, --sarif, --junit,
 * --tap, --github. What is found is kept in that form until the command ends.
 */
#ifndef ISO_CLI_REPORTS_H
#define ISO_CLI_REPORTS_H

#include <stdbool.h>

#include "base/text.h"

struct command_line;
struct result;

/* Is any of them asked for? */
bool reports_wanted(const struct command_line *c);
/* Could they be written? */
bool reports_possible(const struct command_line *c);
/* Adds what only these forms and the JSON have: the command, and sources. */
void reports_complete(const struct command_line *c, struct result *r);
/* Adds the result, which is complete, to those that are kept; behind very many
 * no more. */
void reports_keep(struct text *kept, const struct result *r);
/* Writes them. False, with a message, if that fails. */
bool reports_write(const struct command_line *c, const struct text *kept);

#endif
