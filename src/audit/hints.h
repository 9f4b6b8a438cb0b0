/* What the people who know an application can say beyond its log, one a line:
 *
 *	key TABLE.COLUMN[,COLUMN..]   a row is known by these
 *	unique TABLE.COLUMN      no two transactions name the same row by it
 *	commutes TABLE.COLUMN    the order of x = x + e does not matter
 *	exists TABLE             rows that are looked up by key are there
 *	fixed TABLE.COLUMN       it cannot be protected
 *	weight TABLE.COLUMN N    what protecting it costs (1)
 *	ignore CLASS             it does not run, or not beside others
 *	tolerates CLASS          it only reads, and may read what is stale
 *	exclusive CLASS CLASS    they never run at the same time
 *
 * A class is said by its number, T3. '#' begins a comment. */
#ifndef ISO_AUDIT_HINTS_H
#define ISO_AUDIT_HINTS_H

#include "audit/catalog.h"

struct hints {
	struct class_hint {
		enum class_hint_kind {
			HINT_IGNORE,
			HINT_TOLERATES,
			HINT_EXCLUSIVE
		} kind;
		uint32_t classes[2]; /* from 0 */
		uint32_t line;
	} * classes;
	uint32_t class_count, class_capacity;
};

/* Reads the text; hints about columns go to the catalog. False, with
 * diagnostics, if it cannot be read. */
bool hints_read(struct hints *h, struct catalog *c, const char *path,
                const char *text, struct diags *d);
void hints_free(struct hints *h);

#endif
