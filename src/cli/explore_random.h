/* isoscope explore --random N: a sample of the histories, where exploring all
 * takes too long. */
#ifndef ISO_CLI_EXPLORE_RANDOM_H
#define ISO_CLI_EXPLORE_RANDOM_H

struct exploration;

/* Makes so many random descents (random_descents.h), with --histories, --json,
 * --timeout, --memory and the pictures as for an exploration. Writes the
 * result; returns the exit code: EXIT_VIOLATED or EXIT_INCONCLUSIVE. */
int explore_random(const struct exploration *x);

#endif
