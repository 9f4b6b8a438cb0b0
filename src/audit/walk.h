/* Walking over a statement as libpg_query has it: what names in it mean, and
 * what its parts read (reads.c), what queries do (queries.c). The statements
 * that change something are in operations.c. */
#ifndef ISO_AUDIT_WALK_H
#define ISO_AUDIT_WALK_H

#include "audit/operations.h"
#include "sql/resolve_parts.h"

enum { WALK_EQUAL_MOST = 64 };

/* A table or query in FROM. */
struct mention {
	const char *name; /* what columns of it are qualified with */
	uint32_t place;   /* CATALOG_NONE: a query, whose reads are known */
};

/* What names can mean, inside out. */
struct mentions {
	const struct mentions *outer;
	struct mention *items;
	uint32_t count, capacity;
};

struct walk {
	struct operations *to;
	struct catalog *catalog;
	const struct literal_places *literals;
	struct mentions *in;   /* the innermost */
	const char *named[64]; /* queries of WITH */
	uint32_t named_count;
	unsigned flags; /* of reads */
	int depth;
};

/* Columns that a condition makes equal to literals. */
struct equals {
	uint32_t place[WALK_EQUAL_MOST], column[WALK_EQUAL_MOST];
	uint32_t literal[WALK_EQUAL_MOST];
	uint32_t count;
};

static inline bool same_name(const char *a, const char *b)
{
	return !strcasecmp(a, b);
}

/* ---- reads.c ---- */

void walk_add(struct walk *w, uint32_t column, uint32_t place, unsigned flags);
/* A further mention of the table: its place. */
uint32_t walk_place(struct walk *w, uint32_t table);
uint32_t walk_table_of(const struct walk *w, const struct mention *s);
/* The source of that name, here or further out; NULL. */
const struct mention *walk_find(const struct walk *w, const char *name);
/* Reads all columns of the source. */
void walk_read_all(struct walk *w, const struct mention *s);
/* The column of a source; CATALOG_NONE: it has none, or is a query. */
uint32_t walk_column_in(struct walk *w, const struct mention *s,
                        const char *name);
/* True where it is nested too deep: then the operations are `cut`. */
bool walk_too_deep(struct walk *w);
/* Queries in the node, those inside before those around them. */
void walk_subqueries(struct walk *w, json_t *node);
/* The columns that it reads itself: without queries, and the order of rows. */
void walk_reads(struct walk *w, json_t *node);
/* The literal at the node, or CATALOG_NONE. */
uint32_t walk_literal(const struct walk *w, json_t *node);
void walk_name_row(struct walk *w, uint32_t place, const struct equals *e);
/* The rows that the condition names by a key. */
void walk_name_rows(struct walk *w, json_t *condition);

/* ---- queries.c ---- */

/* What is named inside is known from here to walk_leave(). */
void walk_enter(struct walk *w, struct mentions *s);
void walk_leave(struct walk *w, struct mentions *s);
void walk_source(struct walk *w, const char *name, uint32_t place);
const char *walk_alias(json_t *body);
/* What is changed is a table, even if a query has its name. */
void walk_changed_table(struct walk *w, json_t *range);
void walk_from(struct walk *w, json_t *node);
/* The conditions of joins and WHERE. `first` is the first mention in FROM. */
void walk_conditions(struct walk *w, json_t *from, uint32_t first,
                     json_t *where);
void walk_with(struct walk *w, json_t *body);
void walk_query(struct walk *w, json_t *select);

/* ---- operations.c ---- */

void walk_statement(struct walk *w, json_t *node);

#endif
