/* What the files of the resolver share. */
#ifndef ISO_SQL_RESOLVE_PARTS_H
#define ISO_SQL_RESOLVE_PARTS_H

#include "sql/convert.h"
#include "sql/procs.h"
#include "sql/resolve.h"

/* The query whose names are being looked up, and those around it. */
struct scope {
	struct scope *outer;
	struct sql_relation *relations;
	uint32_t relation_count, relation_capacity;
	/* What names without a relation can mean, in the order of `*`. */
	struct visible_column {
		const char *name;
		uint32_t relation, column;
		const struct sql_expr *merged; /* by USING; or NULL */
	} * visible;
	uint32_t visible_count, visible_capacity;
	const struct sql_expr **aggregates;
	uint32_t aggregate_count, aggregate_capacity;
	struct variables *variables; /* of the outermost scope of a routine */
	const char *no_aggregates; /* "WHERE", where none may stand; or NULL */
	/* Of SELECT's list: calls that return sets, where these may stand. */
	const struct sql_expr **sets;
	uint32_t set_count, set_capacity;
	bool takes_sets;
	bool in_aggregate, keep_literals;
	/* WITH: names of queries. */
	struct named_query {
		const char *name;
		const struct sql_query *query;
	} * named;
	uint32_t named_count, named_capacity;
};

/* Of a routine. */
struct variables {
	struct variable {
		const char *name, *label; /* of its block, or the routine */
		uint32_t slot, depth;
		struct sql_type type;
		bool hidden, constant, not_null;
		/* Fields have slots behind each other. A record has none until
		 * it gets rows. */
		bool record;
		const struct sql_column *columns;
		uint32_t column_count;
		/* It is always this; NULL: it varies. */
		const struct sql_expr *fixed;
		bool from_zero; /* its first element is number 0 */
	} * items;
	uint32_t count, capacity, slots;
	uint32_t parameter_count; /* those come first */
	bool shadows;             /* in SQL, columns come first */
};

struct resolver {
	struct sql_catalog *catalog;
	struct region *region;
	struct place base;  /* of byte 0 of the block */
	struct place place; /* of the innermost node that has one */
	enum sql_purpose purpose;
	struct scope *outer; /* of a routine; or NULL */
	bool calls_rows;     /* the next call stands in FROM */
	bool discards;       /* PERFORM: what is returned may be of any type */
	bool keep_literals;  /* of the next query: what it is put into gives
	                      * them a type */
	bool failed;         /* an error was reported */
	struct sql_failure doom; /* what the statement fails with when run */
};

/* ---- Nodes ---- */

/* The name of a node, as "A_Const", and what it holds. */
const char *node_kind(json_t *node, json_t **body);
bool node_is(json_t *node, const char *kind, json_t **body);
const char *node_string(json_t *body, const char *field); /* or "" */
int64_t node_integer(json_t *body, const char *field);    /* or 0 */
bool node_flag(json_t *body, const char *field);
/* What it is in SQL: "DECLARE ... CURSOR". */
void node_words(struct text *t, const char *kind, json_t *body);
/* What it does, of a node of ALTER TABLE: "ADD COLUMN". */
const char *change_words(json_t *command);
/* The text of a String node. */
const char *node_name(json_t *string);
struct place node_place(const struct resolver *r, json_t *body);

/* The first byte from there on that is neither blank nor comment; nor, with
 * skip_blanks(), a semicolon. */
uint32_t skip_space(const char *text, uint32_t from, uint32_t to);
uint32_t skip_blanks(const char *text, uint32_t from, uint32_t to);
/* Behind the last byte that is neither. */
uint32_t end_of_words(const char *text, uint32_t from, uint32_t to);

/* Reports an error; NULL. */
void *refuse(struct resolver *r, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of what is SQL, but not in the subset: PostgreSQL itself can carry
 * it out, which is said; or is not of use either, as it cannot be explored. */
void *refuse_construct(struct resolver *r, struct place at, const char *what);
void *refuse_everywhere(struct resolver *r, struct place at, const char *what);
/* " (or explore it with --engine=postgres)"; "": that is not to be had. */
const char *server_hint(const struct resolver *r);

/* Statements of a text that stands at this place, as PostgreSQL's parser reads
 * it, with `before` in front of it. */
json_t *parse_at(struct resolver *r, struct place at, const char *before,
                 const char *text, uint32_t length);
/* The statement fails so when it is run, before it does anything; in an
 * assertion, that is an error at once. */
void doom(struct resolver *r, struct place at, const struct sql_failure *why);

/* ---- Types ---- */

bool resolve_type(struct resolver *r, json_t *type_name, struct sql_type *out,
                  bool *serial);

/* ---- Expressions ---- */

struct sql_expr *expr_new(struct resolver *r, enum sql_expr_kind kind,
                          enum sql_kind type, uint32_t count);
struct sql_expr *expr_constant(struct resolver *r, enum sql_kind type,
                               struct value v);
const struct sql_expr *resolve_expr(struct resolver *r, struct scope *s,
                                    json_t *node);
/* The same, as a condition of this clause. */
const struct sql_expr *resolve_condition(struct resolver *r, struct scope *s,
                                         json_t *node, const char *clause);
/* The expression as one of this type; NULL after reporting that it cannot
 * be. `what` is said of it: "column \"n\"". */
const struct sql_expr *coerce(struct resolver *r, const struct sql_expr *e,
                              struct sql_type type, enum sql_coercion when,
                              const char *what);
/* Literals that nothing gave a type become texts. */
const struct sql_expr *settle(struct resolver *r, const struct sql_expr *e);
/* `name` of two expressions, as an operator. */
const struct sql_expr *make_operator(struct resolver *r, const char *name,
                                     const struct sql_expr *a,
                                     const struct sql_expr *b);
/* AND or OR or another kind of two. */
const struct sql_expr *make_both(struct resolver *r, enum sql_expr_kind kind,
                                 const struct sql_expr *a,
                                 const struct sql_expr *b);
/* `name` of an expression and items of this type, as ANY; the items are left
 * out. */
struct sql_expr *make_any(struct resolver *r, const char *name,
                          const struct sql_expr *x, struct sql_type item);
const struct sql_expr *make_now(struct resolver *r);
/* ORDER BY without numbers and names of columns of the result. */
const struct sql_order *resolve_sort(struct resolver *r, struct scope *s,
                                     json_t *list, uint32_t *count);
/* A common type of all (UNION, CASE): each is made one of it. `what` names the
 * construct. */
bool unify(struct resolver *r, const struct sql_expr **all, uint32_t count,
           const char *what, struct sql_type *out);
const struct sql_expr *column_of(struct resolver *r, struct scope *s,
                                 uint32_t up, uint32_t relation,
                                 uint32_t column);
/* One of the scope so many out, by its number there. */
const struct sql_expr *visible_column(struct resolver *r, struct scope *s,
                                      uint32_t up, uint32_t i);
const struct sql_expr *outward(struct resolver *r, const struct sql_expr *e,
                               uint32_t up);
const char *keep_name(struct resolver *r, const char *name);
/* What the nodes of these names are. */
const struct sql_expr *resolve_column(struct resolver *r, struct scope *s,
                                      json_t *body);
const struct sql_expr *resolve_a_expr(struct resolver *r, struct scope *s,
                                      json_t *body);
const struct sql_expr *resolve_call(struct resolver *r, struct scope *s,
                                    json_t *body);

/* Is it the name of an array whose first element is number 0? */
bool counts_from_zero(const struct scope *s, json_t *node);
/* The columns of the relation or record variable of this name. */
bool whole_row(const struct scope *s, const char *name,
               const struct sql_column **columns, uint32_t *count);
/* In a list, r.* becomes the columns of r; a node that is r.* or r, a row of
 * them: true. */
const struct sql_expr *field_of_row(struct resolver *r, struct scope *s,
                                    const char *row, const char *name);
void spread_rows(const struct scope *s, json_t *list);
bool spread_row(const struct scope *s, json_t *node);
/* Rows of values: the items of one, or NULL; two rows compared; IS [NOT]
 * DISTINCT FROM; IS [NOT] NULL; with the rows of a query, some or all of
 * (EXPR_ANY), or the only one (EXPR_SCALAR). */
json_t *row_items(json_t *node);
const struct sql_expr *compare_rows(struct resolver *r, struct scope *s,
                                    const char *name, json_t *left,
                                    json_t *right);
const struct sql_expr *rows_differ(struct resolver *r, struct scope *s,
                                   json_t *left, json_t *right, bool negated);
const struct sql_expr *row_is_null(struct resolver *r, struct scope *s,
                                   json_t *row, bool negated);
/* A row beside a query in parentheses, which gives one; NULL without an error:
 * it is no query. */
const struct sql_expr *row_of_query(struct resolver *r, struct scope *s,
                                    const char *name, json_t *row,
                                    json_t *right);
/* (a, b) IN ((c, d), ...) */
const struct sql_expr *resolve_row_in(struct resolver *r, struct scope *s,
                                      json_t *body, json_t *list);
const struct sql_expr *row_and_query(struct resolver *r, struct scope *s,
                                     enum sql_expr_kind kind, const char *name,
                                     json_t *row, const struct sql_query *q);
/* A column of the one row of the query. */
const struct sql_expr *column_of_query(struct resolver *r, struct scope *s,
                                       const struct sql_query *q,
                                       uint32_t column);
/* Does it do more than find rows: call routines, lock, draw from sequences? */
bool query_acts(const struct sql_query *q);

const struct sql_expr *resolve_parameter(struct resolver *r,
                                         const struct scope *s, int64_t number);
/* The variable of this name, of this block if `label` is not NULL; or NULL. */
struct variable *find_variable(const struct variables *v, const char *label,
                               const char *name);

/* The call of a routine with these arguments; NULL without an error if there is
 * none of this name, or with one. */
const struct sql_expr *call_routine(struct resolver *r, const char *name,
                                    const struct sql_expr **args,
                                    uint32_t count, bool procedure);

/* ---- Routines ---- */

bool resolve_routine(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_do(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_call_statement(struct resolver *r, json_t *body,
                            struct sql_statement *s);
/* A table with triggers of statements has no rows that a foreign key changes:
 * such changes are no statements. */
void forbid_cascades(struct resolver *r, const struct sql_table *t);
/* CREATE TRIGGER; and the function of one, for the table, with its arguments,
 * strings. */
bool resolve_trigger(struct resolver *r, json_t *body, struct sql_statement *s);
const struct sql_routine *resolve_trigger_body(struct resolver *r,
                                               const struct sql_trigger_body *b,
                                               const struct sql_trigger *g,
                                               const struct sql_table *t,
                                               json_t *args);
/* The body of a routine in PL/pgSQL, which stands there; or in SQL. False after
 * reporting an error. */
bool resolve_code(struct resolver *r, struct sql_routine *routine,
                  struct scope *scope, struct place at, uint32_t length);
bool resolve_statements(struct resolver *r, struct sql_routine *routine,
                        struct place at, uint32_t length);
/* A statement whose text begins at this place, and ends there. */
struct sql_statement *resolve_statement(struct resolver *r, json_t *statement,
                                        struct place at, uint32_t end);
/* One of those that the block holds. */
struct sql_statement *resolve_in_block(struct resolver *r, json_t *statement,
                                       const struct spec_block *block);

/* ---- Queries ---- */

void free_scope(struct scope *s);

struct sql_query *resolve_query(struct resolver *r, struct scope *outer,
                                json_t *select);
/* A query that does not see the relations beside it. */
struct sql_query *resolve_nested(struct resolver *r, struct scope *s,
                                 json_t *select);
struct sql_relation *add_table(struct resolver *r, struct scope *s,
                               const struct sql_table *t, const char *alias);
/* A side of UNION and the like. */
void add_part(struct resolver *r, struct scope *s, const char *name,
              const struct sql_query *q);
/* In assertions: the number of the step of this name; a session with one step
 * lends it its name. Their count: there is none. */
uint32_t find_step(const struct resolver *r, const char *name);
struct sql_table *find_table(struct resolver *r, json_t *range_var);
/* The table, or a column of it, is named there. */
void note_name(struct resolver *r, struct place at, const struct sql_table *t,
               uint32_t column);
/* SELECT's list, and that of RETURNING. */
bool resolve_targets(struct resolver *r, struct scope *s, json_t *list,
                     const struct sql_target **out, uint32_t *count);
bool resolve_from(struct resolver *r, struct scope *s, json_t *list,
                  const struct sql_from **out);
/* Fills what the query has of the scope, and how its relations are found. */
void finish_query(struct resolver *r, struct scope *s, struct sql_query *q);
/* Does it read when it has called a routine, locked or written already? */
void look_for_late_reads(struct resolver *r, struct sql_statement *s);

/* ---- Sequences ---- */

uint32_t add_sequence(struct resolver *r, const char *name, int64_t start,
                      int64_t step);
bool sequence_options(struct resolver *r, json_t *list, int64_t *start,
                      int64_t *step);
/* The number of the sequence, or -1. */
int find_sequence(const struct sql_catalog *c, const char *name);
/* nextval() of the sequence. */
struct sql_expr *draw(struct resolver *r, uint32_t sequence);
/* nextval(), currval() */
const struct sql_expr *resolve_draw(struct resolver *r, const char *function,
                                    json_t *arg);

/* ---- Constraints ---- */

/* The number of the column; that of columns: there is none of this name. */
uint32_t column_named(const struct sql_table *t, const char *name);
/* Of a list of names; NULL after reporting that one does not exist, "named in
 * key". */
uint32_t *columns_named(struct resolver *r, const struct sql_table *t,
                        json_t *names, const char *where);
/* table_column_..._ending, with a number if it is taken, or the name given. */
const char *name_constraint(struct resolver *r, const struct sql_table *t,
                            json_t *body, const uint32_t *columns,
                            uint32_t count, const char *ending);
const struct sql_type *column_types(struct resolver *r,
                                    const struct sql_table *t,
                                    const struct sql_unique *u);
/* `self`: the column that the constraint stands behind, or -1. */
void add_primary(struct resolver *r, struct sql_table *t, json_t *body,
                 int64_t self);
void add_unique(struct resolver *r, struct sql_table *t, json_t *body,
                int64_t self);
void add_check(struct resolver *r, struct sql_table *t, json_t *body);
void add_foreign(struct resolver *r, struct sql_table *t, json_t *body,
                 int64_t self);
/* Rows of it that may refer to one that goes are looked for. */
void look_for_referring(struct sql_table *t);

/* ---- Statements ---- */

/* NULL: none any more. */
void set_default(struct resolver *r, struct sql_column *column, json_t *raw);
/* A constraint of any kind. */
void add_constraint(struct resolver *r, struct sql_table *t, json_t *body,
                    int64_t self);
/* The statement gives rows that are there their entries in the table's newest
 * constraint. */
void add_index(struct resolver *r, struct sql_table *t,
               struct sql_statement *s);
bool resolve_sequence(struct resolver *r, json_t *body,
                      struct sql_statement *s);
bool resolve_enum(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_alter_table(struct resolver *r, json_t *body,
                         struct sql_statement *s);
bool resolve_create_table(struct resolver *r, json_t *body,
                          struct sql_statement *s);
bool resolve_index(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_view(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_truncate(struct resolver *r, json_t *body,
                      struct sql_statement *s);
bool resolve_insert(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_update(struct resolver *r, json_t *body, struct sql_statement *s);
bool resolve_delete(struct resolver *r, json_t *body, struct sql_statement *s);

#endif
