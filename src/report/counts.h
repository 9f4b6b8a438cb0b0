/* The counts below a result, a line each: a label, a number at the right of its
 * column, two blanks, and then the caller's words. */
#ifndef ISO_REPORT_COUNTS_H
#define ISO_REPORT_COUNTS_H

#include <stdint.h>

#include "base/text.h"

/* Begins the line, up to the words. */
void count_begin(struct text *t, const char *label, uint64_t n);
/* The same for what is no plain number, such as "1.4 MB"; empties it. */
void count_begin_text(struct text *t, const char *label, struct text *number);
/* What something took. */
struct costs {
	double seconds, cpu_seconds;
	unsigned threads;
};
/* A whole line: "time", the seconds, those of the CPU, and, unless that is
 * noise, how many of `n` there were in each: "20,000 runs per second". */
void count_time(struct text *t, const struct costs *c, uint64_t n,
                const char *what);
/* "12 MB resident": the most that the program held. */
void count_resident(struct text *t);
/* A line of costs, for checks and predictions: "memory    12 MB resident" */
void report_memory(struct text *t);

#endif
