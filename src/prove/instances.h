/* A few instances of transactions, as a formula: all ways in which they may run
 * among any number of others, under the level of each.
 *
 * Each instance t has a place c(t) > 0 in the commit order of all transactions,
 * init being at 0. Each read has the place of the transaction that it reads
 * from. So with s writing what read i of t reads,
 *
 *     s -wr-> t  is  source(i) = c(s),     t -rw-> s  is  source(i) < c(s).
 *
 * Every axiom of a level says of two or three transactions what must be so: it
 * holds of some instances whatever others there are. What the others do is left
 * open, so that each execution, cut down to these instances, is a model.
 */
#ifndef ISO_PROVE_INSTANCES_H
#define ISO_PROVE_INSTANCES_H

#include <stdatomic.h>
#include <z3.h>

#include "axioms/level.h"
#include "prove/summary.h"

enum { INSTANCES_MAX = 8 };

/* A value is a tag of VALUE_NULL, _BOOL, _INT or _STRING, which stands for all
 * others, and a number. */
struct term {
	Z3_ast tag, number;
};

struct instance {
	const struct summary *s;
	enum level level;
	bool watched; /* of serializable snapshot isolation */
	union node_term {
		Z3_ast truth;
		struct term value;
	} * nodes;
	Z3_ast commit;  /* c(t) */
	Z3_ast begin;   /* all up to here is in sight: of a level with a
	                 * snapshot */
	Z3_ast *source; /* of reads: a place */
	Z3_ast *point;  /* of accesses: places on the line, at a level with
	                 * statements */
};

/* Between two instances. */
struct between {
	Z3_ast session; /* a precedes b in a session */
	Z3_ast wr, ww, rw;
	Z3_ast seen;    /* wr, and so a is in sight of b */
	Z3_ast missed;  /* rw, of a read that is not beside the snapshot */
	Z3_ast depends; /* one of these */
	Z3_ast past;    /* a is in sight of b, through others as well */
	Z3_ast direct;  /* by one step */
};

/* What is asserted of instances, by what it is: an explanation names those that
 * it cannot do without, leaving out the first ones first.
 *
 *     identifier, in JSON, for people */
#define RULE_TABLE(X)                                                         \
	X(RULE_SESSIONS, "sessions",                                          \
	  "what comes before in its session is in sight and commits before")  \
	X(RULE_OWN_READS, "own reads",                                        \
	  "of two reads of a key the later one does not go back")             \
	X(RULE_SIGHT, "sight",                                                \
	  "what is read from is in sight, with what is in its sight")         \
	X(RULE_VALUES, "values",                                              \
	  "a read returns what was written, and of one version one value")    \
	X(RULE_ASSUMED, "assumptions", "what the program assumes is so")      \
	X(RULE_ERRORS, "errors", "no transaction ends by a run-time error")   \
	X(RULE_SHORTEST, "shortest",                                          \
	  "nothing else depends among them, or the cycle would be shorter")   \
	X(RULE_COMMITTED, "committed",                                        \
	  "what a transaction reads was committed before it commits")         \
	X(RULE_LOCKS, "locks",                                                \
	  "of two that lock a key one waits until the other has committed")   \
	X(RULE_STATEMENTS, "statements",                                      \
	  "statements follow one another, and each sees what has committed "  \
	  "by then")                                                          \
	X(RULE_VERSIONS, "versions",                                          \
	  "no read has an older version than one in sight")                   \
	X(RULE_RIVALS, "rivals",                                              \
	  "of two that write a key the later one has the earlier in sight")   \
	X(RULE_SNAPSHOT, "snapshot", "a transaction reads from one snapshot") \
	X(RULE_SERIAL, "serial",                                              \
	  "a serial transaction has all that commit before in sight")         \
	X(RULE_DANGER, "danger",                                              \
	  "of serializable ones none misses what the next one writes, and "   \
	  "that one what a third writes which commits first")                 \
	X(RULE_FIRST, "first commit", "the last of them commits first")

enum rule {
	RULE_NONE, /* what formulas stand for; always asserted */
#define X(id, word, words) id,
	RULE_TABLE(X)
#undef X
	/* "nobody writes this key", for each family of keys */
	RULE_UNWRITTEN,
};

const char *rule_word(enum rule r);
const char *rule_words(enum rule r);

struct instances {
	const struct application *app;
	Z3_context z;
	Z3_solver solver;
	uint32_t count;
	struct instance items[INSTANCES_MAX];
	struct between between[INSTANCES_MAX][INSTANCES_MAX];
	/* To assume of a model: wishes.h. The first ones matter most. */
	Z3_ast *wishes;
	uint32_t wish_count, wish_capacity;
	/* What is asserted next is this rule, RULE_UNWRITTEN + f of the family
	 * f. */
	unsigned rule;
	bool tuples;    /* what constants are as tuples is asserted */
	bool unbounded; /* instances that are made now have integers of any
	                 * size */
	Z3_ast *names; /* of rules, to be assumed; NULL: they are not asked for,
	                * or not asserted */
};

struct instances_terms {
	enum level level; /* of those that have none of their own */
	bool one_each;    /* each in a session of its own */
	bool no_errors;   /* none ends by a run-time error */
	unsigned seed;    /* of the solver */
	bool ssi;   /* those at a serial level are so among each other only */
	bool named; /* a rule counts only where its name is assumed */
};

/* What formulas live in, of any number of instances, one after the other: it
 * only grows. To be freed after them. */
Z3_context instances_context(void);
void instances_context_free(Z3_context z); /* NULL is fine */

/* Of rules and families. */
unsigned instances_rule_count(const struct application *a);

/* What to ask, of the summaries with these numbers. To be freed. */
struct instances *instances_new(Z3_context z, const struct application *a,
                                const uint32_t *which, uint32_t count,
                                struct instances_terms terms);
void instances_free(struct instances *x);

void instances_assert(struct instances *x, Z3_ast condition);
Z3_ast instances_not(const struct instances *x, Z3_ast condition);
/* Is the place of a before that of b? */
Z3_ast instances_before(const struct instances *x, uint32_t a, uint32_t b);

/* When does an access of the second instance depend on this one of the first?
 * Of a write and a read that is wr, of a read and a write rw, of writes ww.
 * NULL: never. */
Z3_ast instances_conflict(const struct instances *x, uint32_t first, uint32_t i,
                          uint32_t second, uint32_t j);

/* ---- parts, of other questions (question.h) ---- */

/* A constant that is new. */
Z3_ast instances_fresh(Z3_context z, bool truth);
struct term instances_constant(const struct instances *x, uint32_t constant);
/* It may be any value; different numbers are different values. */
struct term instances_any_value(struct instances *x, Z3_ast tag, Z3_ast number);
/* A run of the transaction, without what a level demands. To be cleared. */
void instance_make(struct instances *x, struct instance *t,
                   const struct summary *s,
                   const struct instances_terms *terms);
void instance_clear(struct instance *t);
/* The solver is limited in its steps, which are the same wherever it runs, and
 * leaves signals to the program. */
void instances_limit(struct instances *x, unsigned seed);

/* Can instances of these two depend on each other at all, but for sessions? */
bool summaries_conflict(const struct application *a, uint32_t x, uint32_t y);

#endif
