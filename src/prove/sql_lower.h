/* Transactions in SQL as summaries: between the files that make them.
 *
 * A row is a key, named by its primary key; it holds whether the row is there,
 * and its other columns. A table without a primary key has keys of which
 * nothing is known. An entry of another unique constraint is a key, too.
 *
 * What a condition finds is any number of rows: two of them are looked at, each
 * with a key that may be any, and they may be there or not: a cycle enters a
 * transaction by one read and leaves it by one. Of what is too hard to follow,
 * the rows may be any, and what is computed from them as well.
 */
#ifndef ISO_PROVE_SQL_LOWER_H
#define ISO_PROVE_SQL_LOWER_H

#include "prove/build.h"
#include "prove/sql_facts.h"
#include "sql/image.h"
#include "sql/ir.h"

struct claim;

/* Rows of a query's relations, and of those around it: nodes, by relation and
 * column. */
struct sql_scope {
	const struct sql_scope *outer;
	const uint32_t *const *rows;
	const uint32_t *aggregates;
};

/* Is it true, is it false? Else it is unknown, as NULL is. */
struct sql_truth {
	uint32_t yes, no;
};

struct sql_lowering {
	struct builder b;
	const struct sql_image *image;
	const struct sql_facts *facts; /* by table */
	/* Of the routine at hand: */
	const struct sql_routine *routine;
	uint32_t *slots; /* values of its variables */
	struct sql_scope variables;
	const uint32_t *variable_rows[1];
	uint32_t returned, result; /* it has, and what */
	bool reads;                /* the statement asks tables by itself */
	uint32_t row_count;        /* of the last statement */
	uint32_t statements;       /* that were looked at */
	uint32_t depth;            /* routines in routines, queries too */
	uint32_t moments;          /* so far */
	uint32_t before;           /* accesses, when the statement began */
	uint32_t conditions;       /* of rows: around what is evaluated */
	uint32_t line;
	/* A part of a condition that was evaluated already. */
	const struct sql_expr *known;
	uint32_t known_value;
	/* What is asserted; NULL: it is a transaction that is lowered. */
	struct claim *claim;
};

enum { SQL_ROWS = 2 /* of any number */ };

struct sql_found {
	uint32_t found; /* condition: it is there, and satisfies the query */
	uint32_t at;    /* of the relation's table: what leads there */
	uint32_t *index, *columns;
	const uint32_t *rows[16]; /* by relation */
};

struct sql_rows_found {
	struct sql_found items[SQL_ROWS];
	uint32_t count;
	bool many; /* there may be others */
	bool any;  /* nothing is known of them */
};

enum { SQL_RELATIONS = 16, SQL_DEPTH = 12 };

/* What is read next is of a moment of its own. */
static inline void prove_begin(struct sql_lowering *l)
{
	l->b.statement = ++l->moments;
}

/* Where it gets here, what follows is as it is told if this holds (summary,
 * untold). */
static inline void prove_wish(struct sql_lowering *l, uint32_t told)
{
	struct summary *s = l->b.s;
	uint32_t other = node_and(s, l->b.live, node_not(s, told));
	s->untold = node_or(s, s->untold, other);
}

void prove_uncovered(struct sql_lowering *l, struct place at, const char *what);

/* ---- sql_code.c ---- */

/* The summary of a transaction that runs the routine. Valid up to the next. */
struct summary *prove_lower_routine(struct application *a,
                                    const struct sql_image *image,
                                    const struct sql_facts *facts,
                                    const struct sql_routine *r);

/* ---- sql_values.c ---- */

uint32_t prove_null_node(struct sql_lowering *l);
uint32_t prove_int_node(struct sql_lowering *l, int64_t n);
uint32_t prove_is_null_node(struct sql_lowering *l, uint32_t value);
/* Is it true? */
uint32_t prove_holds(struct sql_lowering *l, uint32_t value);
/* It may be, and may not. */
uint32_t prove_maybe(struct sql_lowering *l, uint32_t condition);
/* Any value of the type; NULL too. */
uint32_t prove_any_value(struct sql_lowering *l, struct sql_type t);
/* The value is one of this type, or NULL if that may be. */
uint32_t prove_has_type(struct sql_lowering *l, uint32_t value,
                        struct sql_type t, bool nullable);
/* Are equal values of the type the same? */
bool prove_is_exact(enum sql_kind k);
void prove_assume(struct sql_lowering *l, uint32_t condition);
/* An error, unless it holds; perhaps it is not noticed. */
void prove_may_fail(struct sql_lowering *l, uint32_t fine);
uint32_t prove_value(struct sql_lowering *l, const struct sql_scope *s,
                     const struct sql_expr *e);
struct sql_truth prove_condition(struct sql_lowering *l,
                                 const struct sql_scope *s,
                                 const struct sql_expr *e);
/* The value in a column or variable of this type. */
uint32_t prove_assigned(struct sql_lowering *l, uint32_t value,
                        struct sql_type from, struct sql_type to);

/* ---- sql_rows.c ---- */

uint32_t prove_table_family(struct sql_lowering *l, const struct sql_table *t);
struct build_key prove_row_key(struct sql_lowering *l,
                               const struct sql_table *t, uint32_t *index);
/* What follows is done under the condition; then what was before goes on,
 * unless that ended the transaction. */
struct sql_branch {
	uint32_t before, entered;
};
struct sql_branch prove_enter(struct sql_lowering *l, uint32_t condition);
void prove_leave(struct sql_lowering *l, struct sql_branch b);
/* Of the columns of a new row. */
uint32_t *prove_index_of(struct sql_lowering *l, const struct sql_table *t,
                         const uint32_t *columns);
/* Reads the row: is it there? *columns: of the row, if it is. */
uint32_t prove_read_row(struct sql_lowering *l, const struct sql_table *t,
                        uint32_t *index, enum strength strength, bool beside,
                        uint32_t **columns);
void prove_write_row(struct sql_lowering *l, const struct sql_table *t,
                     uint32_t *index, enum strength strength, bool there,
                     const uint32_t *columns, bool many);
/* The rows that a query finds, and locks if it does. */
void prove_find(struct sql_lowering *l, const struct sql_scope *outer,
                const struct sql_query *q, bool change,
                struct sql_rows_found *out);
/* The value of target `target` in the first row, NULL if there is none, and
 * whether there is one. */
struct sql_answer {
	uint32_t found;
	uint32_t *values; /* of targets */
	uint32_t rows;    /* how many */
};
struct sql_answer prove_answer(struct sql_lowering *l,
                               const struct sql_scope *outer,
                               const struct sql_query *q);
/* The targets, for each row that it looks at: as many as out->count. */
void prove_each_row(struct sql_lowering *l, const struct sql_scope *outer,
                    const struct sql_query *q, struct sql_rows_found *out,
                    uint32_t **values);
/* What is in there is read, nobody knows which rows, and how often. */
void prove_hidden_expr(struct sql_lowering *l, const struct sql_expr *e);
void prove_hidden_query(struct sql_lowering *l, const struct sql_query *q);

/* ---- sql_totals.c ---- */

/* Has each of its relations rows with keys that can be told apart? */
bool prove_has_keys(const struct sql_query *q);
/* In what is asserted, sums and counts over all rows of a table: what the query
 * finds. False if it is no such query. */
bool prove_totals(struct sql_lowering *l, const struct sql_query *q,
                  struct sql_answer *out);
/* Are there rows that the query finds? */
bool prove_total_exists(struct sql_lowering *l, const struct sql_query *q,
                        uint32_t *found);
/* In a transaction, if something is asserted: this node, of any value, is what
 * the query's aggregate finds; this condition says whether it finds a row. */
void prove_note_total(struct sql_lowering *l, const struct sql_query *q,
                      const struct sql_expr *e, uint32_t node);
void prove_note_exists(struct sql_lowering *l, const struct sql_query *q,
                       uint32_t found);

/* ---- sql_changes.c ---- */

/* What it returns is in *out, unless NULL. */
void prove_change(struct sql_lowering *l, const struct sql_statement *s,
                  struct sql_answer *out);

/* ---- sql_code.c ---- */

/* The value that it returns. */
uint32_t prove_call(struct sql_lowering *l, const struct sql_routine *r,
                    const uint32_t *args, struct place at);
/* Fills in the columns of its row: its OUT parameters. */
void prove_call_row(struct sql_lowering *l, const struct sql_routine *r,
                    const uint32_t *args, struct place at, uint32_t *columns);

#endif
