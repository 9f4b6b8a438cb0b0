/* The transactions of a program as summaries. */
#ifndef ISO_PROVE_LOWER_H
#define ISO_PROVE_LOWER_H

#include "axioms/level.h"
#include "prove/summary.h"

struct program;
struct sources;
struct syntax;

/* Of a tree in .tx that was checked. What cannot be said is added to
 * a->uncovered, and taken for something simpler. */
void lower(struct application *a, const struct syntax *tree,
           struct sources *all);
/* Of a program in SQL: the routines that no other one calls; of a
 * specification, what its sessions run. */
void lower_sql(struct application *a, const struct program *p);
/* The texts of what it asserts of final states. */
void lower_sql_keep_assertions(struct application *a);
/* What it asserts of final states. */
void lower_sql_finals(struct application *a);
/* The levels that transactions of a specification have by now. */
void lower_sql_levels(struct application *a);

#endif
