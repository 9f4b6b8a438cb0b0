/* The result of looking for changes of a program that repair it. */
#ifndef ISO_RESULT_REPAIRED_H
#define ISO_RESULT_REPAIRED_H

#include "repair/repair.h"
#include "result/result.h"

/* What was found is borrowed. */
struct result *result_of_repair(const struct repair *r);

/* "a locked read of seats[course] in enroll and pay at si" */
void name_edits(struct text *t, const struct edits *e, struct edit_set s);
/* What stands on the command line for a program at this level: "-i ser" */
void name_repair_option(struct text *t, enum level l);

#endif
