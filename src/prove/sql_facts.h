/* What statements of SQL do, without a look at how. */
#ifndef ISO_PROVE_SQL_FACTS_H
#define ISO_PROVE_SQL_FACTS_H

#include <stdbool.h>

#include "sql/ir.h"

/* What the transactions do to the rows of a table. */
struct sql_facts {
	bool inserts, deletes;
};

/* Of all that the routine may do; by number of the table. */
void prove_note_routine(struct sql_facts *facts, const struct sql_routine *r);
void prove_note_code(struct sql_facts *facts, const struct sql_code *c);

/* "a change of a table with triggers": what is not followed; or NULL. */
const char *prove_statement_problem(const struct sql_statement *s);

/* Does FROM begin with a routine in PL/pgSQL that has OUT parameters: one row
 * of these? It is run before the tables behind it are read. */
bool prove_is_row_call(const struct sql_query *q);

/* Is there a call of a routine, or something of a table in it? That of a row in
 * FROM is none, but its arguments count. */
struct sql_asks {
	bool calls, tables;
};
/* Added to `out`. */
void prove_find_asks(const struct sql_expr *e, struct sql_asks *out);
struct sql_asks prove_statement_asks(const struct sql_statement *s);

#endif
