/* isoscope explore --estimate[=SECONDS]: how many histories there are, and how
 * long it takes to explore them all. */
#ifndef ISO_CLI_EXPLORE_ESTIMATE_H
#define ISO_CLI_EXPLORE_ESTIMATE_H

struct exploration;

/* Explores for a part of the time and estimates the rest; with --resume, of
 * what is left. Writes the result; returns the exit code: that of the verdict,
 * so EXIT_INCONCLUSIVE unless the exploration came to its end, or saw a
 * violation. */
int explore_estimate(const struct exploration *x);

#endif
