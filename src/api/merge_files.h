/* Adding up what was explored of a split, from the files in its folders. */
#ifndef ISO_API_MERGE_FILES_H
#define ISO_API_MERGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "api/explore_plan.h"
#include "api/problem.h"

struct explorer;
struct merger;

struct merging {
	struct merger *merger;
	struct explore_plan plan;
};

/* In this order. `partial`: parts that are not finished will do. False if there
 * is a problem. */
bool merge_read(struct merging *g, const char *const *folders, size_t count,
                bool partial, struct problem *p);
/* The path of the program that was split. */
const char *merge_program(const struct merging *g);
/* As after explorer_run: an exploration that found all this, with nothing left,
 * or, where parts are missing, one that was interrupted. The caller frees it,
 * before merge_free(); NULL if there is a problem. */
struct explorer *merge_explored(struct merging *g, const struct program *p,
                                struct problem *problem);
/* How many parts there are, and how many of them are finished. */
size_t merge_parts(const struct merging *g);
size_t merge_finished(const struct merging *g);
void merge_free(struct merging *g);

#endif
