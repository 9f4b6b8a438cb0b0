/* The tables and columns that a log speaks of, or a schema tells. Numbers are
 * given in the order of first mention. */
#ifndef ISO_AUDIT_CATALOG_H
#define ISO_AUDIT_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/region.h"
#include "base/table.h"
#include "base/text.h"
#include "sql/parser.h"

enum { CATALOG_NONE = UINT32_MAX };

struct audit_column {
	const char *name; /* "*": any, of a table that no schema tells */
	uint32_t table;
	const char *type; /* as PostgreSQL has it; NULL: it is not known */
	uint32_t weight;  /* what protecting it costs, as a hint; else 1 */
	bool fixed;       /* hints: it cannot be protected */
	bool commutes;    /* hints: so do updates x = x + e */
	bool unique;      /* hints: no two transactions have the same */
};

/* A set of columns that a row is known by. */
struct audit_key {
	const uint32_t *columns;
	uint32_t count;
};

struct audit_table {
	const char *name;
	bool told;   /* by a schema: it has these columns and no others */
	bool exists; /* hints: rows that are asked for are there */
	uint32_t *columns, column_count, column_capacity;
	struct audit_key *keys;
	uint32_t key_count, key_capacity;
};

struct catalog {
	struct region region;
	struct audit_table *tables;
	uint32_t table_count, table_capacity;
	struct audit_column *columns;
	uint32_t column_count, column_capacity;
	struct table tables_by_name, columns_by_name;
	struct text sql; /* the schema, if it is given as CREATE TABLE */
};

void catalog_init(struct catalog *c);
void catalog_free(struct catalog *c);
/* The table of that name, in any case; a new one if there is none. */
uint32_t catalog_table(struct catalog *c, const char *name);
uint32_t catalog_find_table(const struct catalog *c, const char *name);
/* Likewise the column; CATALOG_NONE where a schema does not have it. */
uint32_t catalog_column(struct catalog *c, uint32_t table, const char *name);
uint32_t catalog_find_column(const struct catalog *c, uint32_t table,
                             const char *name);
/* A new one even then: the schema may be older than the log. */
uint32_t catalog_logged_column(struct catalog *c, uint32_t table,
                               const char *name);
/* That stands for which rows the table has; `*` is without it. */
uint32_t catalog_rows(struct catalog *c, uint32_t table);
/* That stands for all of the table. */
uint32_t catalog_any_column(struct catalog *c, uint32_t table);
bool column_is_any(const struct catalog *c, uint32_t column);
void catalog_add_key(struct catalog *c, uint32_t table, const uint32_t *columns,
                     uint32_t count);
/* "orders.total" */
void name_column(struct text *t, const struct catalog *c, uint32_t column);

/* Reads a schema: CREATE TABLE as PostgreSQL has it, or lines
 * "table,column,type,default,key" with PRI and UNI for keys. False, with a
 * diagnostic, if it is neither. */
bool catalog_read(struct catalog *c, struct sql_parser *p, const char *path,
                  const char *text, size_t length, struct diags *d);

#endif
