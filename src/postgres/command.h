/* A command of the user's that talks to the private PostgreSQL: a process group
 * of its own. */
#ifndef ISO_POSTGRES_COMMAND_H
#define ISO_POSTGRES_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"
#include "postgres/cluster.h"

struct command {
	const struct cluster *cluster;
	pid_t pid; /* 0: none */
	int ended; /* can be read from when it has */
	int out, err;
	bool out_open, err_open; /* more may come */
	struct text output, errors;
	bool over; /* it is reaped: */
	int code;  /* as the shell has it: 128 and more for signals */
};

enum { COMMAND_VARIABLES = 8 };

/* How clients find the server at this door ("": the server's own) in variables
 * of the environment, "NAME=value", which the caller frees; returns how many. A
 * server that listens by TCP is found so by set-up and by those who are served.
 */
size_t command_variables(char **out, const struct cluster *cluster,
                         const char *door);
/* What the shell is to run, in `folder` (NULL: here); `door` is where it finds
 * the server, "" is the server's own. False, and why, if it cannot be started.
 */
bool command_start(struct command *c, const struct cluster *cluster,
                   const char *text, const char *folder, const char *door,
                   struct text *why);
/* A program and its arguments, NULL behind them, which prints to this file, and
 * may take its time. False, and why, if there is no such program, too. */
bool command_start_apart(struct command *c, const struct cluster *cluster,
                         const char *const *words, const char *door, int output,
                         struct text *why);
/* Takes what it has printed; and its end, if it has come. False: it has printed
 * too much. */
bool command_take(struct command *c);
/* What it has printed last on standard error, or NULL. */
const char *command_last_words(const struct command *c, size_t *length);
/* Whatever runs of it is killed. */
void command_kill(struct command *c);

#endif
