/* Which names are in scope, and what to say when one is not. A part of the
 * checker. */
#ifndef ISO_LANG_SCOPE_H
#define ISO_LANG_SCOPE_H

#include "lang/ast.h"
#include "lang/source.h"

/* The kind of code being checked. */
enum where {
	WHERE_CONSTANT,
	WHERE_FUNCTION,
	WHERE_TRANSACTION,
	WHERE_SESSION,  /* outside its transactions */
	WHERE_ASSERTION /* top level */
};

struct checker {
	struct syntax *syntax;
	struct sources *all;
	bool failed;
	enum where where;
	unsigned loops;      /* comprehensions around */
	uint32_t level;      /* blocks around */
	struct local *scope; /* newest local in scope */
	struct item *owner;  /* session or finally being checked, or NULL */
	struct item *pure;   /* fn or const being checked, or NULL */
	struct block *body;  /* of the txn or session being checked */
	struct item *isolation;
	bool asserting; /* within an assertion */
	bool statement; /* within `statement { .. }` */
};

void scope_error(struct checker *c, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void scope_enter(struct checker *c);
void scope_leave(struct checker *c);
void scope_declare(struct checker *c, struct local *l);
/* Gives the names of all items to their symbols; reports duplicates. */
void scope_declare_items(struct checker *c);

/* Errors for a name that stands for nothing, with a suggestion. */
void scope_unknown_name(struct checker *c, const struct expr *e);
void scope_unknown_callee(struct checker *c, const struct expr *e);
void scope_unknown_member(struct checker *c, const struct expr *e,
                          const struct item *session);
void scope_unknown_session(struct checker *c, struct place at,
                           const char *name);

/* In check.c: expressions are checked from both. */
void check_expr(struct checker *c, struct expr *e);

#endif
