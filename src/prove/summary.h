/* What a transaction does, for all arguments and all that it may read: its
 * accesses, each with the condition under which it happens, its key, and what
 * it writes, as expressions over parameters and reads.
 *
 * Conditions and values are exact, apart from what nobody knows: a GUESS may be
 * either, an UNKNOWN may be any value. So every run of the transaction is one
 * way to fill in parameters, reads, guesses and unknowns.
 */
#ifndef ISO_PROVE_SUMMARY_H
#define ISO_PROVE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "base/level_words.h"
#include "base/region.h"
#include "base/text.h"
#include "vm/program.h"
#include "vm/value.h"

struct finals;
struct sql_image;
struct sql_routine;
struct sql_span;

/*     identifier, which operands are nodes that it is made of */
#define NODE_TABLE(X)                                                        \
	/* conditions */                                                     \
	X(NODE_FALSE, "")                                                    \
	X(NODE_TRUE, "")                                                     \
	X(NODE_NOT, "a")       /* condition a */                             \
	X(NODE_AND, "ab")      /* conditions a, b */                         \
	X(NODE_OR, "ab")       /* conditions a, b */                         \
	X(NODE_EQUAL, "ab")    /* values a, b */                             \
	X(NODE_LESS, "ab")     /* values a, b: of integers */                \
	X(NODE_IS_INT, "a")    /* value a */                                 \
	X(NODE_IS_BOOL, "a")   /* value a */                                 \
	X(NODE_IS_STRING, "a") /* value a: of no other kind */               \
	X(NODE_FIRST, "")      /* access a reads what is there at first */   \
	X(NODE_HOLDS, "a")     /* value a is `true` */                       \
	X(NODE_FITS, "a")      /* value a, an integer, has 64 bits */        \
	X(NODE_HAS, "a")       /* value a is a record with field b */        \
	X(NODE_IS, "bc")       /* function a of values b, c: a condition */  \
	X(NODE_GUESS, "")                                                    \
	/* values */                                                         \
	X(NODE_CONSTANT, "")  /* number a of the application's constants */  \
	X(NODE_PARAMETER, "") /* number a */                                 \
	X(NODE_READ, "")      /* part b of what access a is given */         \
	X(NODE_UNKNOWN, "")                                                  \
	X(NODE_FIELD, "a")    /* field b of the record a; fields are named   \
	                       * by constants */                             \
	X(NODE_WITH, "ac")    /* the record a, but its field b is value c */ \
	X(NODE_TUPLE, "ab")   /* tuple a (if c is 1, the one without items), \
	                       * with b behind it: c items */                \
	X(NODE_APPLY, "bc")   /* function a of values b, c: a value */       \
	X(NODE_TRUTH, "a")    /* condition a as a value */                   \
	X(NODE_CHOOSE, "abc") /* condition a ? value b : value c */          \
	X(NODE_SUM, "ab")     /* integers a, b */                            \
	X(NODE_DIFFERENCE, "ab") /* integers a, b */                         \
	X(NODE_PRODUCT, "ab")    /* integers a, b, one of them a constant */

enum node_op {
#define X(id, parts) id,
	NODE_TABLE(X)
#undef X
};

/* Functions of values of which nobody says here what they give, but that for
 * the same values they give the same. */
enum {
	FUNCTION_ITEM, /* of a, at index b */
	FUNCTION_IN,   /* a is in b: a condition */
	FUNCTION_SIZE  /* of a; b is always the same */
};

/* Nodes come behind those that they are made of. */
struct node {
	enum node_op op;
	uint32_t a, b, c;
};

static inline bool node_is_value(const struct node *n)
{
	return n->op >= NODE_CONSTANT;
}

/* Those that it is made of, up to NODE_PARTS; how many. Of what is read that is
 * none: it is the access that knows. */
enum { NODE_PARTS = 3 };
uint32_t node_parts(const struct node *n, uint32_t *parts);

/* The first two nodes of all transactions. */
enum { FALSE_NODE, TRUE_NODE };

struct access {
	bool write;
	enum strength strength;
	uint32_t family;   /* of keys, of the application */
	uint32_t *indexes; /* values */
	uint32_t index_count;
	uint32_t happens; /* condition; of a read: and it is not the own
	                   * write's value that it gets */
	/* What is written, of a read its NODE_READs: as many as the family's
	 * keys hold. */
	uint32_t *values;
	/* Of any number like this one, each with a key of its own, two are
	 * here: a cycle enters a transaction by one access and leaves it by
	 * one. So that the others happen as well, nobody may conclude from
	 * these that they do not. */
	bool many;
	uint32_t statement; /* these increase */
	uint32_t line;
	/* A read of what is there at a moment of its own, whatever the
	 * transaction sees else. */
	bool beside;
};

/* A node that is a sum, or a count, over all rows of a table (finals.h), of
 * what the transaction sees: its own writes, too, those of the accesses before
 * this one. In the summary it may be any value. */
struct found_total {
	uint32_t node, total, access;
	uint32_t statement;
	bool counts;   /* it is how many rows there are */
	uint32_t errs; /* a guess: it ends by an error; or FALSE_NODE */
};

/* A transaction of the program. */
struct summary {
	const char *name;
	uint32_t param_count;
	const char *const *params;
	own_level own;
	bool stale_ok; /* its answer may be out of date: stale.h */
	const struct sql_routine *routine; /* in SQL */
	const struct sql_span *span;       /* of a specification; NULL: none */
	struct node *nodes;
	uint32_t node_count, node_capacity;
	struct access *accesses;
	uint32_t access_count, access_capacity;
	struct found_total *totals; /* if something is asserted */
	uint32_t total_count, total_capacity;
	uint32_t commits; /* condition: it does not abort */
	uint32_t errs;    /* condition: it ends by a run-time error */
	uint32_t assumed; /* condition: no assumption is false */
	uint32_t untold;  /* condition: it computes what may be anything here,
	                   * where it can be known; in .tx only of applications
	                   * that are from_first */
};

/* What is not covered by a summary: it does not say all that may happen. */
struct uncovered {
	struct position at;
	const char *what; /* "a loop that ..." */
};

/* Keys of one name. */
struct family {
	const char *name;
	uint32_t index_count;
	uint32_t value_count; /* parts of what a key holds */
	/* Their names; NULL among them: whether the row exists. NULL: there is
	 * one part, without a name. */
	const char *const *parts;
	bool written; /* by some transaction */
	bool sets;    /* are what some of its keys hold at first */
	/* The value of keys that are not named: number of a constant, or
	 * UINT32_MAX. */
	uint32_t initial;
};

/* All of them. Everything lives in the region, but for the arrays. */
struct application {
	struct region region;
	const char *path;
	const struct sql_image *image; /* of a program in SQL; borrowed */
	bool ssi; /* beside others, serial transactions are so among each
	           * other only */
	/* All transactions have levels of their own, whatever the texts say. */
	bool allocated;
	struct summary *summaries;
	uint32_t summary_count, summary_capacity;
	uint32_t stale_count; /* behind these: those that are stale ok */
	struct family *families;
	uint32_t family_count, family_capacity;
	struct value *constants; /* all different */
	uint32_t constant_count, constant_capacity;
	uint32_t *fields; /* constants: names of fields that are asked for */
	uint32_t field_count, field_capacity;
	struct uncovered *uncovered;
	uint32_t uncovered_count, uncovered_capacity;
	/* The texts of the items that a client needs, of its transactions, and
	 * of the globals. */
	struct text declarations;
	/* `finally` and assertions about final states. */
	struct text asserted;
	struct kept_transaction {
		const char *name;
		const char *head; /* "txn buy(k)" */
		const char *body; /* "{ .. }" */
	} * transactions;
	uint32_t transaction_count, transaction_capacity;
	struct declared_key {
		uint32_t family;
		bool star;        /* [*], or without index values */
		const char *text; /* "global x = 0;" */
	} * keys;
	uint32_t key_count, key_capacity;
	const char **names; /* that a session must not have */
	uint32_t name_count, name_capacity;
	/* What is asserted of final states: finals.h. NULL: it is not asked
	 * for. */
	struct finals *finals;
	/* It does not say all that its transactions may do: only what they do
	 * where what is read from init is what the program has at first, loops
	 * over numbers have up to two rounds, and some of what is walked
	 * through is as it is at first. Nothing is proved with it. */
	bool from_first;
	struct first_value {
		uint32_t family;
		uint32_t *indexes; /* constants; NULL: of all other keys */
		uint32_t value;    /* a constant; UINT32_MAX: it is not known */
	} * firsts;                /* if from_first */
	uint32_t first_count, first_capacity;
	struct application *begun; /* the same program, from_first; or NULL */
};

void application_init(struct application *a, const char *path);
void application_free(struct application *a);
uint32_t application_constant(struct application *a, struct value v);
/* The constant that names this field. */
uint32_t application_field(struct application *a, const char *name,
                           size_t length);
/* The one of this name, new if there is none. */
uint32_t application_family(struct application *a, const char *name,
                            uint32_t index_count, uint32_t value_count);
/* Something at this place is not covered. */
void application_leave_out(struct application *a, struct position at,
                           const char *what);

/* Each adds a node, or finds one that is as good. */
uint32_t node_add(struct summary *s, enum node_op op, uint32_t a, uint32_t b,
                  uint32_t c);
uint32_t node_not(struct summary *s, uint32_t a);
uint32_t node_and(struct summary *s, uint32_t a, uint32_t b);
uint32_t node_or(struct summary *s, uint32_t a, uint32_t b);
uint32_t node_equal(struct summary *s, uint32_t a, uint32_t b);
uint32_t node_choose(struct summary *s, uint32_t condition, uint32_t b,
                     uint32_t c);
void summary_init(struct summary *s);
/* Frees what it has. */
void summary_free(struct summary *s);

#endif
