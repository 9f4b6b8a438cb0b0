/* Statements that differ only in their literals are one *template*: it is
 * parsed once, however often it is in a log. Forms with the same operations
 * share a *shape*. */
#ifndef ISO_AUDIT_TEMPLATES_H
#define ISO_AUDIT_TEMPLATES_H

#include "audit/operations.h"
#include "audit/words.h"

enum template_kind {
	TEMPLATE_DATA,
	TEMPLATE_BEGIN,
	TEMPLATE_COMMIT,
	TEMPLATE_ROLLBACK,
	TEMPLATE_ROLLBACK_TO, /* a savepoint */
	TEMPLATE_AUTOCOMMIT_ON,
	TEMPLATE_AUTOCOMMIT_OFF,
	TEMPLATE_SCHEMA,  /* changes it; in MySQL a commit as well */
	TEMPLATE_NOTHING, /* no data, such as SHOW */
	TEMPLATE_UNREAD   /* it is not known what it does */
};

struct shape {
	struct operation *items;
	uint32_t *tables; /* of its places */
	uint32_t count, place_count;
	uint32_t counted; /* without those that IsoDiff does not have */
};

/* Where a literal or a parameter, $1, stands in a template's SQL. */
struct template_literal {
	uint32_t at, length;
	uint32_t which; /* of the values, or PLACE_PARAMETER + its number */
};

struct template
{
	uint64_t hash;
	enum template_kind kind;
	bool chains; /* COMMIT AND CHAIN: the next one begins at once */
	uint32_t shape;
	struct operation_place *places; /* as many as its shape has */
	char *text; /* the first that was seen, with blanks made one */
	char *why;  /* unread: what the parser says */
	/* As it was parsed first; NULL, unless it is kept. */
	char *sql;
	struct template_literal *literals;
	uint32_t literal_count;
	uint32_t file, line; /* where that is */
	uint64_t count;
};

/* A statement: its template, and the values of its literals and parameters. */
struct templates {
	struct catalog *catalog;
	struct sql_parser *parser;
	bool keeps_sql;
	struct template *items;
	uint32_t count, capacity;
	struct shape *shapes;
	uint32_t shape_count, shape_capacity;
	struct table by_hash, shapes_by_hash;
	/* Of the statement read last. */
	uint64_t *values;
	uint32_t value_count, value_capacity;
	uint32_t *value_at;   /* word of each */
	uint64_t *parameters; /* $1 is number 0 */
	uint32_t *parameter_at;
	uint32_t parameter_count, parameter_capacity;
	/* Scratch. */
	uint32_t *places;
	uint32_t place_capacity;
	struct text text;
	struct sql_words parameter_words;
};

void templates_init(struct templates *f, struct catalog *c,
                    struct sql_parser *p);
void templates_free(struct templates *f);

/* "$1 = 'x', $2 = NULL"; for the statements that follow. */
void templates_parameters(struct templates *f, const char *text, size_t length);
/* Reads the words [from, to), a statement. Its template's number. */
uint32_t templates_read(struct templates *f, const struct sql_words *w,
                        uint32_t from, uint32_t to, bool mysql, uint32_t file,
                        uint32_t line);
/* The value of a literal that is kept, of the statement read last; 0: a list or
 * NULL. Its text, as PostgreSQL has it, is added to `out`. */
uint64_t templates_literal(struct templates *f, const struct sql_words *w,
                           uint32_t template, uint32_t literal, bool mysql,
                           struct text *out);
/* The value that names the row at a place of the statement read last; 0: no
 * row is named. */
uint64_t templates_row(const struct templates *f, uint32_t template,
                       uint32_t place);

#endif
