/* Adding up the results of the parts of a split, each of which has to be there
 * once. */
#ifndef ISO_DISTRIBUTE_MERGE_H
#define ISO_DISTRIBUTE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct branch_list;
struct diags;
struct merger;
struct program;
struct tally;
struct task;

struct merger *merger_new(void);
void merger_free(struct merger *m);
/* Reads what split and explore have written into the folder. False, with errors
 * added, if it cannot be read, or a file is damaged. */
bool merger_add(struct merger *m, const char *folder, struct diags *d);
/* Does everything belong to one exploration, and is each part there once?
 * `partial`: parts that are not finished will do. */
bool merger_check(struct merger *m, bool partial, struct diags *d);
/* Behind that: of what. */
const struct task *merger_task(const struct merger *m);
/* Adds what was found and what is left; false, with an error added, if a file
 * is none of the program. */
bool merger_sum(const struct merger *m, const struct program *p,
                struct tally *found, struct branch_list *open, struct diags *d);
/* How many parts there are, and how many of them are finished. */
size_t merger_parts(const struct merger *m);
size_t merger_finished(const struct merger *m);

#endif
