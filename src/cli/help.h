/* Help, made from the tables. */
#ifndef ISO_CLI_HELP_H
#define ISO_CLI_HELP_H

#include "base/text.h"
#include "cli/options.h"

/* Prints the help of one command; returns the exit code. */
int help_command(enum command c);

/* manual_page.c: the manual page and the completions. */
void generate_man(struct text *t);
void generate_bash(struct text *t);
void generate_zsh(struct text *t);
/* help_json.c */
void generate_json(struct text *t);

#endif
