/* What one statement reads and writes: columns of tables, in the order of
 * IsoDiff (subqueries, conditions, what is selected or set, what is written).
 *
 * Rows: each mention of a table is a *place*; reads and writes at one place are
 * of the same rows. Where the statement names one row by literals that are the
 * whole of a key, the place has the literals. */
#ifndef ISO_AUDIT_OPERATIONS_H
#define ISO_AUDIT_OPERATIONS_H

#include <jansson.h>

#include "audit/catalog.h"

enum operation_flag {
	OPERATION_WRITE = 1,
	OPERATION_CONDITION = 2,   /* a read that says which rows */
	OPERATION_LOCKED = 4,      /* a read of a row that is then locked */
	OPERATION_FRESH = 8,       /* a write of a row that was not there */
	OPERATION_CHANGE = 16,     /* a read of a row that is written as well */
	OPERATION_ADD = 32,        /* of x = x + e: the read, and the write */
	OPERATION_GONE = 64,       /* the write of a DELETE */
	OPERATION_UNCOUNTED = 128, /* IsoDiff has no such operation */
	OPERATION_SHARED = 256,    /* locked, but others may lock it as well */
	OPERATION_FOUND = 512      /* a read of a row that is there */
};

struct operation {
	uint32_t column;
	uint16_t place;
	uint16_t flags;
};

enum { PLACE_KEY_MOST = 4 };

struct operation_place {
	uint32_t table;
	/* The literals of its key, in the order of its columns: numbers of
	 * literals in the text, or PLACE_PARAMETER + number of a parameter.
	 * None: it is not known that this is one row. */
	uint32_t literals[PLACE_KEY_MOST];
	uint32_t literal_count;
	const struct audit_key *key; /* of which these are the values */
};
enum { PLACE_PARAMETER = 1 << 30 };

struct operations {
	struct operation *items;
	uint32_t count, capacity;
	struct operation_place *places;
	uint32_t place_count, place_capacity;
	bool cut; /* it is nested too deep: there are more */
};

void operations_free(struct operations *a);

/* Where literals stand in the text that was parsed, ascending. */
struct literal_places {
	const uint32_t *at;    /* byte */
	const uint32_t *which; /* number of the literal */
	uint32_t count;
};

/* Adds those of the statement, libpg_query's node. */
void operations_of(struct operations *a, struct catalog *c, json_t *statement,
                   const struct literal_places *literals);

#endif
