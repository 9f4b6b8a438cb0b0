/* What stands in expressions, queries and statements, for those who look for
 * something in all of them. */
#ifndef ISO_SQL_WALK_H
#define ISO_SQL_WALK_H

#include "sql/ir.h"

typedef void sql_on_expr(void *data, const struct sql_expr *e);

/* The parts of an expression; not those of its query. */
void sql_expr_parts(const struct sql_expr *e, sql_on_expr *on, void *data);
/* The expressions of a query, in the order in which they are written; not
 * those of queries and calls that its relations are. */
void sql_query_parts(const struct sql_query *q, sql_on_expr *on, void *data);
/* What a statement does with the rows that its query finds; and its call. */
void sql_statement_parts(const struct sql_statement *s, sql_on_expr *on,
                         void *data);

#endif
