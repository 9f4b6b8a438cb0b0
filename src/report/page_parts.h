/* Parts of pages, between the files that write them. */
#ifndef ISO_REPORT_PAGE_PARTS_H
#define ISO_REPORT_PAGE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "report/documents.h"

/* ---- page_words.c ---- */

/* Bytes of a name or value that are shown; of what is longer, the rest is
 * counted. */
enum { PAGE_NAME_MOST = 240, PAGE_WORDS_MOST = 20000 };

/* Words from a result, escaped: fit for text and for quoted attributes. */
void page_words(struct text *t, const char *words, size_t length, size_t most);
/* The words with what is invisible shown, but not escaped: to be measured. */
void page_visible(struct text *t, const char *words);
/* A string of the result; nothing if it is none. In <bdi>, so that its
 * direction is its own. */
void page_name(struct text *t, const json_t *string);
/* The same without <bdi>, for attributes and running text. */
void page_plain(struct text *t, const json_t *string);
/* A value of a program, as a history has it in JSON, in the program's own
 * words. */
void page_literal(struct text *t, const json_t *value);
/* Any other value: a string, a number with its thousands, a list with commas.
 */
void page_value(struct text *t, const json_t *value);
bool page_is(const json_t *of, const char *name, const char *word);
/* "own_levels" with blanks. */
void page_label(struct text *t, const char *name);
/* "a.tx:27:1" of members file, line and column; nothing without a file. */
void page_place(struct text *t, const json_t *of);

/* What the result is about: "h.jsonl:3", a program. */
void page_subject(struct text *t, const json_t *result);
/* Is it about one thing? */
bool page_has_subject(const json_t *result);
/* The same without its place, for the title of the window. */
void page_title(struct text *t, const json_t *result);

/* ---- page_tables.c ---- */

/* All that is not named in `but` (up to NULL): numbers and words in a table of
 * facts, lists and groups of groups each in one of their own. */
void page_members(struct text *t, const json_t *of, const char *const *but);
/* The levels and what is violated under each, of explore --levels; is it such a
 * result? */
bool page_has_levels(const json_t *result);
void page_levels(struct text *t, const json_t *result);

/* ---- page_cycle.c ---- */

struct page_edge {
	unsigned from, to;   /* nodes */
	const json_t *label; /* "rw x" */
	const char *kind;    /* "rw": instead, if there is no label ... */
	const json_t *key;   /* ... with this behind it */
};
struct page_cycle {
	const json_t **nodes; /* names */
	struct page_edge *edges;
	unsigned node_count, edge_count;
	unsigned number; /* of the finding: its reasons have ids "w3-1" */
};
/* Drawn from top to bottom; edges that lead back go along the left. */
void page_draw(struct text *t, const struct page_cycle *c);

/* ---- page_finding.c ---- */

/* The findings of all results, grouped by cause. */
void page_findings(struct text *t, const json_t *results);

/* ---- page_history.c ---- */

/* The schedule, the cycle and the lines of source of one. `cycle` and `sources`
 * may be NULL. */
void page_history(struct text *t, const json_t *steps, const json_t *cycle,
                  const json_t *sources, const json_t *fails, unsigned number);

#endif
