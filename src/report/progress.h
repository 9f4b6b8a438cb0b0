/* A line on the terminal that says how far an exploration has come. */
#ifndef ISO_REPORT_PROGRESS_H
#define ISO_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/style.h"

struct explore_stats;

struct progress {
	FILE *to;         /* a terminal, or NULL: silent */
	unsigned width;
	double last;      /* seconds of exploration at the last line */
	bool shown;
	const char *what; /* said first, e.g. a level; may be NULL */
};

/* Writes the line anew, a few times a second at most. */
void progress_tick(struct progress *p, const struct explore_stats *s,
                   uint32_t depth);
/* Takes the line away. */
void progress_end(struct progress *p);

#endif
