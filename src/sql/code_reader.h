/* PL/pgSQL while it is being read: words, expressions, variables. */
#ifndef ISO_SQL_CODE_READER_H
#define ISO_SQL_CODE_READER_H

#include "sql/resolve_parts.h"

enum word_kind { WORD_END, WORD_NAME, WORD_QUOTED, WORD_STRING, WORD_OTHER };

struct word {
	enum word_kind kind;
	uint32_t from, to; /* in the source */
	const char *name;  /* in small letters, of names; strings without quotes
	                    */
};

struct reader {
	struct resolver *r;
	struct sql_routine *routine;
	struct scope *scope;
	const char *text; /* of the source */
	uint32_t source, end;
	struct word word;
	uint32_t depth; /* of blocks */
	uint32_t loops; /* that it is in */
};

/* A part of the text. */
struct span {
	uint32_t from, to;
};

static inline struct place place_at(const struct reader *p, uint32_t offset)
{
	return (struct place){ p->source, offset };
}

/* ---- Words ---- */

void next_word(struct reader *p);
bool is_mark(const struct reader *p, const char *mark);
bool is_word(const struct reader *p, const char *name);
bool accept_word(struct reader *p, const char *name);
bool accept_mark(struct reader *p, const char *mark);
void syntax_error(struct reader *p);
void expect_word(struct reader *p, const char *name);
void expect_mark(struct reader *p, const char *mark);
const char *expect_name(struct reader *p);
/* All up to one of these words or marks, outside of parentheses. */
struct span read_span(struct reader *p, const char *const *ends);
#define UNTIL(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- Expressions ---- */

struct sql_code *code_new(struct reader *p, enum sql_code_kind kind,
                          uint32_t at);
const struct sql_expr *read_expr(struct reader *p, struct span s);
/* As PL/pgSQL assigns: what is no assignment for SQL goes by its text. */
const struct sql_expr *become(struct resolver *r, const struct sql_expr *e,
                              struct sql_type type);
const struct sql_expr *read_typed(struct reader *p, struct span s,
                                  enum sql_kind kind);
/* `into` is left out of it, and `before` put before it. */
const struct sql_statement *read_statement(struct reader *p, struct span s,
                                           const struct span *into,
                                           const char *before);

struct target_list;
/* Behind EXECUTE: text [INTO [STRICT] targets] [USING expression, ...]; the
 * statement and its values. `into`: NULL where there is none. */
void read_execute(struct reader *p, struct sql_code *c,
                  struct target_list *into);

/* ---- Variables ---- */

struct target_list {
	struct sql_target_slot *items;
	uint32_t count;
	struct variable *record; /* or all fields of it */
	struct place at;
};

struct variable *add_variable(struct reader *p, const char *name,
                              const char *label, struct sql_type type);
/* The end of a block: what was declared in it cannot be named any more. */
void hide_variables(struct reader *p, uint32_t from);
struct sql_target_slot *fields_of(struct reader *p, const struct variable *x,
                                  uint32_t *count);
struct target_list read_targets(struct reader *p);
/* name or record.field; *whole: a record itself, if that is allowed. */
struct sql_target_slot read_target(struct reader *p, struct variable **whole);
/* A record has the fields of the rows that it gets. */
void set_targets(struct reader *p, struct sql_code *c,
                 const struct target_list *l);
/* name [CONSTANT] type [NOT NULL] [{DEFAULT | := | =} expression]; */
struct sql_code *read_declaration(struct reader *p, const char *label);

#endif
