/* What the files that look for edits share: a program's texts, and what was
 * found to change in them. */
#ifndef ISO_REPAIR_EDITS_PARTS_H
#define ISO_REPAIR_EDITS_PARTS_H

#include "base/region.h"
#include "repair/edits.h"

struct accesses;
struct sources;

struct edit_file {
	const char *path, *text;
	size_t length;
};

struct edits {
	struct region region;
	const char *path;
	bool sql, checks; /* program_is_sql(), program_checks() */
	struct edit_terms terms;
	struct edit_file *files;
	size_t file_count;
	struct edit_transaction *transactions;
	uint32_t transaction_count, transaction_capacity;
	/* In SQL: how many of the first ones each session has. */
	uint32_t *session_transactions, session_count;
	/* As it was; edits keep the order of the accesses. Not in SQL. */
	struct accesses *accesses;
	struct edit *items;
	uint32_t count, capacity;
};

struct edit *edits_add(struct edits *e, enum edit_kind kind, unsigned cost);
/* The three behind each other, in the region. */
const char *edits_text(struct edits *e, const char *before, const char *word,
                       const char *behind);
/* The number of the line of a byte. */
uint32_t edits_line_at(const struct edit_file *f, size_t at);
void edits_copy_files(struct edits *e, const struct sources *all);
/* sql_edits.c: what there is to change in a program in SQL. */
void edits_find_sql(struct edits *e, const struct program *p);

#endif
