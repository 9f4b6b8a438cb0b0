/* The lines of several threads in the order of one.
 *
 * What a thread outputs of one branch (dpor/work/branch.h) comes in depth-first
 * order, and nobody else outputs anything that stands between. So each thread
 * writes into a temporary file of its own, noting where each branch begins; in
 * the end the pieces are put in the order of their branches. Memory is taken
 * for the pieces only, and those are few: one for each time that work was
 * handed over.
 */
#ifndef ISO_API_SORTED_H
#define ISO_API_SORTED_H

#include <stdbool.h>
#include <stdio.h>

#include "api/problem.h"

struct explore_execution;
struct sorted;

/* For so many threads; temporary files are in the folder. */
struct sorted *sorted_new(unsigned threads, const char *folder);
void sorted_free(struct sorted *s); /* NULL is fine */
/* Keeps the line of a history. Called by the thread that found it. False if it
 * cannot be kept; sorted_write says why. */
bool sorted_add(struct sorted *s, const struct explore_execution *e,
                const struct text *line);
/* Writes all lines. False, with the problem, if a temporary file failed; what
 * goes wrong with `to` is seen when it is closed. */
bool sorted_write(struct sorted *s, FILE *to, struct problem *p);

#endif
