/* The syntax tree of a program, imports merged in. All of it lives in one
 * region. */
#ifndef ISO_LANG_AST_H
#define ISO_LANG_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "lang/source.h"
#include "vm/value.h"

struct sort;

/* A name, one object for all its occurrences in all files, and what it stands
 * for at the moment. */
struct symbol {
	const char *text;
	uint32_t length;
	struct item *item; /* global, const, fn, extern fn or txn of this
	                    * name */
	struct item *session;
	struct local *local; /* innermost one in scope, while checking */
};

struct symbols {
	struct region *region;
	struct table table; /* by text */
	struct symbol **items;
	uint32_t count, capacity;
};

/* A local variable, a parameter, or the variable of a loop. */
struct local {
	struct symbol *name;
	struct place at;
	struct local *shadowed;   /* what the name stood for outside */
	struct local *previous;   /* declared before and still in scope */
	struct local *next;       /* session: the next top-level local */
	uint32_t level;           /* of the block that it belongs to */
	uint32_t reg;             /* given by the compiler */
	struct sort *sort;        /* flow.h; or NULL */
	const struct local *twin; /* symmetric.c: in another session */
};

enum expr_kind {
	EXPR_VALUE,  /* value */
	EXPR_NAME,   /* a local, a constant, a scalar global */
	EXPR_FIELD,  /* base.field, or session.local */
	EXPR_INDEX,  /* base[items], or a key of a family */
	EXPR_UNARY,  /* left */
	EXPR_BINARY, /* left, right */
	EXPR_AND,
	EXPR_OR,
	EXPR_TUPLE, /* items */
	EXPR_LIST,
	EXPR_SET,
	EXPR_RECORD, /* fields */
	EXPR_CALL,   /* fn, txn or builtin */
	EXPR_LOOP,   /* filter, map, exists, forall */
	EXPR_TXN     /* anonymous transaction giving a value */
};

enum loop_kind { LOOP_FILTER, LOOP_MAP, LOOP_EXISTS, LOOP_FORALL };

/* What a name was found to be. */
enum reference {
	REF_NONE,
	REF_LOCAL,
	REF_CONST,
	REF_GLOBAL,
	REF_SESSION_LOCAL,
	REF_FUNCTION,
	REF_TRANSACTION,
	REF_BUILTIN
};

struct expr;
struct block;

/* That one pure item needs another one. */
struct need {
	struct item *item;
	struct place at;
	struct need *next;
};

/* name: value, or ...value when the name is NULL */
struct field {
	struct symbol *name;
	struct expr *value;
};

struct expr {
	uint8_t kind;   /* enum expr_kind */
	uint8_t op;     /* opcode of UNARY and BINARY; enum loop_kind;
	                 * number of a builtin; of a NAME or INDEX that
	                 * reads a key, enum strength */
	uint8_t ref;    /* enum reference; of NAME, FIELD, INDEX, CALL */
	bool constant;  /* worth evaluating at compile time */
	uint16_t depth; /* 1 + that of the deepest part */
	uint16_t source;
	uint32_t at;         /* offset that errors point to */
	uint32_t start, end; /* the text of the expression */
	union {
		struct value value;
		struct {
			struct symbol *name;
			union {
				struct local *local;
				struct item *item;
			};
		};
		struct {
			struct expr *left, *right;
		};
		struct {
			struct expr *base;
			struct symbol *field;
			struct local *member; /* session.local */
			struct item *session;
		};
		struct {
			struct expr *indexed; /* NULL: key of `family` */
			struct expr **indexes;
			struct item *family;
			uint32_t index_count;
		};
		struct {
			struct expr **items;
			uint32_t count;
		};
		struct {
			struct field *fields;
			uint32_t field_count;
		};
		struct {
			struct symbol *callee;
			struct expr **arguments;
			struct item *callee_item;
			uint32_t argument_count;
		};
		struct {
			struct local *variable;
			struct expr *collection, *body;
		};
		struct block *transaction;
	};
};

enum stmt_kind {
	STMT_LET,    /* local, value */
	STMT_SET,    /* target, value */
	STMT_ADD,    /* target += value */
	STMT_ATOMIC, /* atomic target += value */
	STMT_IF,     /* arms, orelse */
	STMT_FOR,    /* local, value [.. until], body */
	STMT_ABORT,
	STMT_RETURN, /* value, or NULL */
	STMT_ASSERT, /* value, message */
	STMT_ASSUME, /* value */
	STMT_SKIP,
	STMT_CALL,     /* value */
	STMT_TXN,      /* body */
	STMT_STATEMENT /* body */
};

struct arm {
	struct expr *condition;
	struct block *body;
	struct place at;
};

struct stmt {
	enum stmt_kind kind;
	struct place at;
	struct stmt *next;
	struct local *local;
	struct expr *target, *value, *until;
	struct block *body;
	struct arm *arms;
	uint32_t arm_count;
	struct block *orelse;
	struct place orelse_at;
	const char *message;
};

struct block {
	struct stmt *first;
	struct place at; /* of the brace that opens it */
	/* Of a transaction: the level of its own, or NULL. */
	struct symbol *level;
	struct place level_at;
	/* Its answer may be out of date: it is not asked of it that it is
	 * serializable with others. It only reads. */
	bool stale_ok;
};

enum item_kind {
	ITEM_GLOBAL, /* NAME = value, NAME[indexes] = value, NAME[*] = value */
	ITEM_CONST,  /* NAME = value */
	ITEM_FN,     /* NAME(params) = value */
	ITEM_EXTERN, /* NAME(params): result_type, in the library `message` */
	ITEM_TXN,    /* NAME(params) body */
	ITEM_SESSION,
	ITEM_FINALLY,
	ITEM_ASSERT,    /* value, message; without value: serializable */
	ITEM_ISOLATION, /* name */
	ITEM_IMPORT,    /* message: the path */
	ITEM_SYMMETRIC  /* params: names of sessions */
};

struct item {
	enum item_kind kind;
	struct place at;     /* of the name, or of the keyword */
	struct item *next;   /* in the program */
	struct symbol *name; /* or NULL */
	struct local **params;
	uint32_t param_count;
	uint8_t *param_types; /* EXTERN: enum foreign_type of each */
	uint8_t result_type;
	struct expr *value;
	struct expr **indexes; /* GLOBAL */
	uint32_t index_count;
	bool keyed, star;
	struct block *body;
	const char *message; /* ASSERT, IMPORT, EXTERN; or NULL */
	/* Found while checking. */
	struct local *locals, **last_local; /* SESSION, FINALLY: top level */
	struct need *needs;                 /* of FN, CONST */
	enum { VISIT_NOT_YET, VISIT_NOW, VISIT_DONE } visit;
	struct item *family;    /* GLOBAL: the first of this name; its
	                         * index_count is that of the family */
	uint32_t pure_depth;    /* FN, CONST: definitions it builds on */
	struct item *next_pure; /* FN, CONST: in order of dependence */
	bool others;            /* GLOBAL, the first: [*] was given */
	uint32_t number;        /* in the compiled program */
	struct value constant;  /* CONST */
	/* flow.h, or NULL: TXN: of the result; GLOBAL, the first: of what the
	 * keys hold, and of each index value. */
	struct sort *sort, **sorts;
	const struct item *declared; /* SESSION: SYMMETRIC that names it */
};

struct syntax {
	struct region *region;
	struct symbols symbols;
	struct item *first, **last;
	struct item *first_pure, **last_pure; /* fn and const, those that
	                                       * others depend on first */
};

void syntax_init(struct syntax *s, struct region *r);
void syntax_free(struct syntax *s);
struct symbol *symbol_find(struct symbols *s, const char *text,
                           uint32_t length);

/* Calls `visit` for each direct part of an expression, in the order of
 * evaluation. The statements of a transaction are no parts. */
void expr_parts(struct expr *e, void (*visit)(void *context, struct expr *part),
                void *context);

static inline struct place expr_place(const struct expr *e)
{
	return (struct place){ e->source, e->at };
}

#endif
