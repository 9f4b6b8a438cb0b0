/* A line on the terminal that says how far a long computation has come. */
#ifndef ISO_REPORT_PROGRESS_H
#define ISO_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/style.h"

struct explore_stats;
struct forecast;

struct progress {
	FILE *to; /* a terminal, or NULL: silent */
	unsigned width;
	double last; /* seconds of exploration at the last line */
	bool shown;
	const char *what; /* said first, e.g. a level; may be NULL */
	/* What is left, with a bar; NULL: only what was found. Borrowed. */
	struct forecast *forecast;
};

/* Writes the line anew, a few times a second at most. */
void progress_tick(struct progress *p, const struct explore_stats *s,
                   uint32_t depth);
/* Is it time to write the line anew? If so, progress_say writes it. */
bool progress_due(const struct progress *p, double seconds);
void progress_say(struct progress *p, double seconds, const char *words);
/* Takes the line away. */
void progress_end(struct progress *p);

#endif
