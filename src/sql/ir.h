/* Statements of SQL after names and types were resolved: what execution runs
 * and static analyses read. All of it is immutable, in the region of the
 * program that it belongs to.
 */
#ifndef ISO_SQL_IR_H
#define ISO_SQL_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "base/level_words.h"
#include "lang/source.h"
#include "sql/convert.h"
#include "sql/type.h"
#include "vm/value.h"

struct sql_expr;
struct sql_order;
struct sql_proc;
struct sql_query;
struct sql_routine;

/* ---- The schema ---- */

struct sql_column {
	const char *name;
	struct sql_type type;
	bool not_null;
	const struct sql_expr *initial; /* DEFAULT, or NULL */
	const struct sql_expr *made;    /* GENERATED: of relation 0; or NULL */
	bool always;   /* GENERATED ALWAYS: no other value may be given */
	uint32_t slot; /* its place among the names, sorted */
};

/* PRIMARY KEY and UNIQUE. */
struct sql_unique {
	const char *name;
	uint32_t count;
	const uint32_t *columns;
	const struct sql_type *types; /* of the columns */
	uint32_t global; /* of its keys, for others than the primary key */
};

struct sql_check {
	const char *name;
	const struct sql_expr *condition; /* of relation 0 */
};

/* What becomes of rows that refer to one that goes, or gets another key. */
enum sql_action {
	ACTION_NONE, /* an error */
	ACTION_RESTRICT,
	ACTION_CASCADE,
	ACTION_SET_NULL
};

/* FOREIGN KEY. */
struct sql_foreign {
	const char *name;
	const struct sql_table *from, *to;
	uint32_t unique; /* of `to`: number + 1, or 0, the primary key */
	uint32_t count;
	const uint32_t *columns;    /* of `from`, as those of that stand */
	const uint32_t *to_columns; /* these */
	enum sql_action on_delete, on_update;
	struct sql_foreign *next_from, *next_to; /* of the two tables */
};

struct sql_table {
	const char *name;
	struct place at;
	uint32_t number, global; /* among the tables, of the program's keys */
	struct sql_column *columns;
	uint32_t column_count, column_capacity;
	const struct sql_unique *primary; /* NULL: rows have their birth */
	struct sql_unique *uniques;
	uint32_t unique_count, unique_capacity;
	struct sql_check *checks;
	uint32_t check_count, check_capacity;
	struct sql_foreign *foreigns;  /* that rows of it refer by */
	struct sql_foreign *referrers; /* that others refer to it by */
	struct sql_trigger *triggers;  /* in the order of their names */
	struct value *names;           /* of the columns, by slot */
	bool counts_statements;        /* some trigger is FOR EACH STATEMENT */
	bool inserted;  /* sessions, or routines, may insert a row, or give a
	                 * column its default */
	bool scanned;   /* some condition does not name the key */
	bool *filtered; /* columns that conditions of sessions mention,
	                 * where they do not name the key */
};

enum sql_event { EVENT_INSERT = 1, EVENT_UPDATE = 2, EVENT_DELETE = 4 };

struct sql_trigger {
	const char *name;
	bool before;    /* else after, at the end of the statement */
	bool statement; /* FOR EACH STATEMENT; else ROW */
	unsigned events;
	const uint32_t *columns; /* UPDATE OF; none: of any */
	uint32_t column_count;
	const struct sql_expr *condition; /* WHEN: of OLD, relation 0, and NEW,
	                                   * 1; or NULL */
	/* Its function, for this trigger: it is given the columns of NEW, those
	 * of OLD, and TG_OP. */
	const struct sql_routine *routine;
	struct sql_trigger *next;
};

struct sql_sequence {
	const char *name;
	int64_t start, step;
};

/* The key that it refers to. */
static inline const struct sql_unique *
sql_foreign_unique(const struct sql_foreign *f)
{
	return f->unique ? &f->to->uniques[f->unique - 1] : f->to->primary;
}

/* ---- Expressions ---- */

enum sql_expr_kind {
	EXPR_CONSTANT,
	EXPR_COLUMN, /* `column` of relation `relation`, `up` queries out; the
	              * outermost query of a routine has one relation, its
	              * variables */
	EXPR_CALL,   /* `function` of the arguments, NULL if one is */
	EXPR_AND,    /* of all arguments */
	EXPR_OR,
	EXPR_NOT,
	EXPR_IS_NULL,     /* `negated`: IS NOT NULL */
	EXPR_IS_BOOL,     /* IS [NOT] `constant`: true, false or unknown */
	EXPR_IS_DISTINCT, /* `negated`: IS NOT DISTINCT FROM */
	EXPR_CASE,        /* condition, result, ..., and else */
	EXPR_COALESCE,
	EXPR_NULLIF,    /* the first one, unless the second, x = y, is true */
	EXPR_GREATEST,  /* `negated`: LEAST */
	EXPR_CAST,      /* to `type` */
	EXPR_ANY,       /* arg 0 compares, by `function`, with some item of
	                 * `query`, as the type of `item`, or of the array
	                 * arg 1; `negated`: with all items; without a
	                 * function: arg 0, one query further in, is true of
	                 * some row, or all rows, of `query` */
	EXPR_ARRAY,     /* of the arguments */
	EXPR_ELEMENT,   /* of array 0, arg 1 - 1 + `number`, from 0 */
	EXPR_ROUTINE,   /* `routine` of the arguments, one for each of its
	                 * parameters */
	EXPR_NEXTVAL,   /* of sequence `number`, in steps of `constant` */
	EXPR_CURRVAL,   /* of sequence `number` */
	EXPR_SET,       /* in SELECT's list: the value, in the row at hand, of
	                 * arg 0, which returns a set */
	EXPR_EXISTS,    /* `query` has a row */
	EXPR_SCALAR,    /* the value of the one row of `query`; with arg 0: of
	                 * that, one query further in */
	EXPR_AGGREGATE, /* `function` of `distinct` arguments, where `filter` */
	EXPR_FAILURE,   /* always fails with `failure` */
	EXPR_STEP_ERROR /* in assertions: SQLSTATE of step `relation`, or NULL
	                 */
};

struct sql_expr {
	enum sql_expr_kind kind;
	struct sql_type type;
	struct place at;
	uint32_t count;
	const struct sql_expr **args;
	struct value constant;
	const struct sql_failure *failure;
	uint32_t relation, column, up;
	const struct sql_proc *function;
	const struct sql_routine *routine;
	bool negated, distinct;
	uint32_t number; /* of an aggregate, a set, in its query; see above */
	struct sql_type item;
	const struct sql_query *query;
	const struct sql_expr *filter;
	const struct sql_order *order; /* of what an aggregate sees */
	uint32_t order_count;
};

/* Are the arguments about a row of its query, one query further in? */
static inline bool sql_is_about_row(const struct sql_expr *e)
{
	return (e->kind == EXPR_ANY && !e->function) ||
	       (e->kind == EXPR_SCALAR && e->count);
}

static inline bool sql_has_query(const struct sql_expr *e)
{
	bool found = e && e->query;
	for (uint32_t i = 0; e && i < e->count && !found; i++)
		found = sql_has_query(e->args[i]);
	return found;
}

/* Can its value depend on tables, or what it calls change them? */
static inline bool sql_reads_tables(const struct sql_expr *e)
{
	bool found = e && (e->query || e->kind == EXPR_ROUTINE);
	for (uint32_t i = 0; e && i < e->count && !found; i++)
		found = sql_reads_tables(e->args[i]);
	return found;
}

/* ---- Queries ---- */

enum sql_relation_kind {
	RELATION_TABLE,
	RELATION_QUERY, /* in FROM, WITH, of a view */
	RELATION_CALL,  /* what `call` returns */
	RELATION_STEP   /* in assertions: what a step returned */
};

/* How a table's rows are found: what the condition says of this table alone,
 * once those before it in FROM are there. */
struct sql_access {
	/* Equality on the whole primary key: what each of its columns equals.
	 * NULL: there is none. */
	const struct sql_expr **key;
	/* Of the conditions, that whose other columns are known. */
	const struct sql_expr **conditions;
	uint32_t condition_count;
	uint32_t fixed; /* the first so many mention no other relation */
	/* They are about nothing but the primary key, which is never changed.
	 */
	bool key_alone;
	bool never_fails; /* none of them is ever an error */
};

struct sql_relation {
	enum sql_relation_kind kind;
	uint32_t number; /* in its query */
	const char *name;
	struct place at;
	const struct sql_table *table;
	const struct sql_query *query;
	uint32_t query_up; /* what it mentions of others is so far out */
	bool lateral;      /* it depends on those before it */
	const struct sql_expr *call;
	uint32_t step;
	const struct sql_column *columns; /* names and types */
	uint32_t column_count;
	struct sql_access access; /* of tables */
	/* Of its rows that the query finds. */
	enum strength lock;
};

/* FROM: a relation, or a join of two. */
/* a RIGHT JOIN b is b LEFT JOIN a. */
enum sql_join { JOIN_NONE, JOIN_INNER, JOIN_LEFT, JOIN_FULL };
struct sql_from {
	enum sql_join join;
	uint32_t relation;            /* JOIN_NONE */
	const struct sql_from *a, *b; /* else */
	const struct sql_expr *on;    /* NULL: true */
};

struct sql_target {
	const char *name;
	const struct sql_expr *value;
};

struct sql_order {
	const struct sql_expr *by; /* NULL: target number `target` */
	uint32_t target;
	bool descending, nulls_first;
};

enum sql_combination {
	COMBINE_NONE,
	COMBINE_UNION,
	COMBINE_INTERSECT,
	COMBINE_EXCEPT
};

struct sql_query {
	struct place at;
	/* UNION and the like, of relations 0, to which the targets belong, and
	 * 1, with `right`; `all` keeps equal rows apart. */
	enum sql_combination combination;
	bool all;
	const struct sql_expr **right;
	struct sql_relation *relations;
	uint32_t relation_count;
	const struct sql_from *from;  /* NULL: one row of nothing */
	const struct sql_expr *where; /* or NULL */
	const struct sql_expr **group;
	uint32_t group_count;
	bool grouped; /* has GROUP BY, HAVING or an aggregate */
	const struct sql_expr *having;
	const struct sql_expr **aggregates;
	uint32_t aggregate_count;
	const struct sql_expr **sets; /* EXPR_SET */
	uint32_t set_count;
	/* VALUES: rows of `target_count` expressions; else one row. */
	const struct sql_target *targets;
	uint32_t target_count;
	const struct sql_expr ***values;
	uint32_t value_count;
	bool distinct;
	const struct sql_order *order;
	uint32_t order_count;
	const struct sql_expr *limit, *offset;
	bool locks; /* some relation has one */
	/* Which rows of the one relation are found follows from the conditions
	 * of its access, which are all there is; and nothing else is read. */
	bool plain;
	/* Of one relation; and no expression of the statement reads. */
	bool alone;
};

/* ---- Statements ---- */

enum sql_statement_kind {
	STATEMENT_QUERY,
	STATEMENT_INSERT,
	STATEMENT_UPDATE,
	STATEMENT_DELETE,
	STATEMENT_BEGIN,
	STATEMENT_COMMIT,
	STATEMENT_ROLLBACK,
	STATEMENT_CALL,      /* `call`; what it returns is in `returning` */
	STATEMENT_SAVEPOINT, /* `name` */
	STATEMENT_ROLLBACK_TO,
	STATEMENT_RELEASE,
	STATEMENT_SET_TRANSACTION,
	STATEMENT_INDEX, /* the table's constraint `arbiter` is new */
	STATEMENT_KEY,   /* the table has a primary key now; its rows are those
	                  * of `old_global` */
	STATEMENT_CHECK, /* something new is asked of the table's rows */
	STATEMENT_TRUNCATE, /* the tables */
	STATEMENT_NOTHING   /* of the schema: was carried out at once */
};

/* Does it read or write? Outside of a transaction it is one by itself. */
static inline bool sql_is_access(enum sql_statement_kind k)
{
	return k <= STATEMENT_DELETE || k == STATEMENT_CALL;
}

struct sql_set {
	uint32_t column;
	const struct sql_expr *value; /* NULL: DEFAULT */
};

/* Of a transaction, as far as they are given. */
struct sql_modes {
	own_level level; /* 0: not given */
	bool read_only, read_write;
};

enum sql_conflict { CONFLICT_ERROR, CONFLICT_NOTHING, CONFLICT_UPDATE };

struct sql_statement {
	enum sql_statement_kind kind;
	struct place at;
	uint32_t end;            /* of its text, without the semicolon */
	uint32_t point;          /* of the program: where it stands */
	const char *name;        /* of a savepoint */
	struct sql_modes modes;  /* BEGIN and SET TRANSACTION */
	struct sql_failure doom; /* it fails so, before anything is done */
	/* Some of what it reads is asked for after it has called a routine,
	 * locked or written, and is to be as it was before that. */
	bool looks_ahead;
	/* What it reads depends on columns of rows that it locks; of an INSERT,
	 * of the one that is in its way. */
	bool follows_rows;
	/* QUERY; INSERT: the rows; UPDATE and DELETE: relation 0 is the table,
	 * and `where` and FROM are its own. */
	struct sql_query *query;
	const struct sql_expr *call;
	const struct sql_table *table;
	uint32_t old_global;
	const struct sql_table **tables; /* TRUNCATE */
	uint32_t table_count;
	const struct sql_set *sets; /* UPDATE; INSERT: the columns given, value
	                             * unused */
	uint32_t set_count;
	bool overrides; /* INSERT: gives columns that are GENERATED ALWAYS */
	enum sql_conflict conflict;
	const struct sql_unique *arbiter;    /* NULL: any */
	const struct sql_set *conflict_sets; /* of relations 0, the row that is
	                                      * there, and 1, excluded */
	uint32_t conflict_set_count;
	const struct sql_expr *conflict_where;
	const struct sql_target *returning; /* of relation 0 */
	uint32_t returning_count;
};

/* ---- Routines: functions and procedures ---- */

enum sql_code_kind {
	CODE_BLOCK,  /* `body` after `variables` were set, with handlers */
	CODE_ASSIGN, /* `value` to target 0 */
	CODE_IF,     /* `value`: `body`, else `other` */
	CODE_LOOP,   /* `body`, while `value` if there is one */
	CODE_FOR,    /* target 0 from `value` to `upper` by `step` */
	CODE_EACH,   /* the targets in the rows of `statement` */
	CODE_ITEM,   /* target 0 in the array `value` */
	CODE_EXIT,   /* if `value`, if there is one; of the loop `label` */
	CODE_CONTINUE,
	CODE_RETURN, /* `value`, or the row of the targets */
	CODE_NEXT,   /* the same, and goes on */
	CODE_ROWS,   /* RETURN QUERY `statement` */
	CODE_RAISE,
	CODE_SQL,  /* `statement`; its first row to the targets */
	CODE_COUNT /* target 0 := rows of the last statement */
};

struct sql_handler {
	const char **states; /* SQLSTATEs; "OTHER" */
	uint32_t count;
	const struct sql_code *body;
};

struct sql_code {
	enum sql_code_kind kind;
	struct place at;
	uint32_t point; /* of the program */
	const struct sql_code *next;
	const struct sql_code *body, *other;
	const char *label; /* of blocks and loops; of EXIT: that meant */
	const struct sql_expr *value, *upper, *step;
	const struct sql_statement *statement;
	const struct sql_target_slot {
		uint32_t slot;
		struct sql_type type; /* of the variable */
		bool not_null;
	} * targets;
	uint32_t target_count;
	bool reverse, strict, into;
	bool dynamic; /* EXECUTE: the statement's $1 ... are `args` */
	/* Of a block: a variable with what it begins with, each. */
	const struct sql_code *variables;
	const struct sql_handler *handlers;
	uint32_t handler_count;
	uint32_t error_slot; /* SQLSTATE, and behind it the message */
	/* RAISE: the text, with % for each argument; `state`: NULL: P0001 */
	const char *format, *state;
	const struct sql_expr **args;
	uint32_t arg_count;
	const struct sql_expr *message, *code; /* USING */
	bool fails;                            /* EXCEPTION */
	bool asserts;                          /* ASSERT `value`, `message` */
};

struct sql_routine {
	const char *name;
	struct place at;
	bool procedure, strict, set;
	bool fixed;   /* STABLE or IMMUTABLE: sees what its caller sees */
	bool called;  /* by some statement or expression */
	bool trigger; /* it returns a row, or none */
	bool sql;     /* `statements`; else `body` */
	uint32_t parameter_count; /* those that are given */
	const struct sql_type *parameters;
	const uint32_t *parameter_slots;
	const struct sql_expr **defaults; /* of parameters, or NULL */
	struct sql_type result;           /* void: none */
	/* What it returns as rows: one column, or those of a table, or OUT
	 * parameters, which are variables. */
	const struct sql_column *columns;
	uint32_t column_count;
	bool composite; /* rows are no single values */
	const uint32_t *out_slots;
	uint32_t out_count;
	uint32_t slot_count;            /* FOUND is the first */
	const struct sql_column *slots; /* variables: names and types; what has
	                                 * no name has "" */
	const struct sql_code *body;
	const struct sql_statement **statements;
	uint32_t statement_count;
};

/* What comes out of it: columns of a query or of RETURNING. */
static inline uint32_t sql_result_columns(const struct sql_statement *s)
{
	return s->kind == STATEMENT_QUERY ? s->query->target_count
	                                  : s->returning_count;
}

static inline const struct sql_target *
sql_result_targets(const struct sql_statement *s)
{
	return s->kind == STATEMENT_QUERY ? s->query->targets : s->returning;
}

#endif
