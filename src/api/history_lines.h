/* The histories that an exploration meets, written as they come, a line of JSON
 * each, or in the order in which one thread meets them. */
#ifndef ISO_API_HISTORY_LINES_H
#define ISO_API_HISTORY_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "api/problem.h"

struct explore_execution;
struct history_lines;

/* Takes the file over. `sorted`: in the order of one thread, however many there
 * are, with temporary files in the folder. */
struct history_lines *history_lines_new(FILE *to, unsigned threads, bool sorted,
                                        const char *folder);
/* observer.history; the payload is the lines. */
bool history_lines_add(void *payload, const struct explore_execution *e);
/* Writes what is left, closes the file unless that is the standard output, and
 * frees the lines. False if there was a problem; `path` is named there. */
bool history_lines_end(struct history_lines *h, const char *path,
                       struct problem *p);

#endif
