/* Local runs: what single sessions can do, given the values that they read.
 *
 * Histories are many, runs of one session are few: a session goes on alike
 * whoever wrote what it reads. The runs of a session are a tree, which branches
 * by the values of its external reads; a node is a stretch of the session, from
 * the answer of a read (the root: from the beginning) to the next external
 * read, or to the end. Trees grow by values that somebody finds can be read.
 * Where sessions go on alike, runs may come together (joins.h).
 */
#ifndef ISO_SOLVE_RUNS_H
#define ISO_SOLVE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "execution/context.h"
#include "solve/joins.h"

/* A key that a transaction has written, and the value that it wrote last. */
struct run_write {
	const struct run_write *older; /* of another key */
	uint32_t key;
	struct value value;
};

/* A key that a transaction has read from another before it reads it again, so
 * that it is locked. */
struct run_lock {
	const struct run_lock *older; /* in the same stretch */
	const struct run_node *at;    /* waits for the first read */
};

/* A key that a transaction has read from another before runs came together, and
 * may read again. */
struct run_known {
	const struct run_known *older;
	const struct run_node *read; /* behind it, in one of the runs */
};

/* A key. */
struct run_key {
	const struct run_key *older;
	uint32_t key;
};

/* A moment of a transaction, where statements have snapshots of their own:
 * `lock` 0 is that of its statement's snapshot; behind it are those of what it
 * locks, in their order. */
struct run_moment {
	uint32_t statement, lock;
};
#define RUN_END \
	((struct run_moment){ UINT32_MAX, 0 }) /* that of the transaction */

static inline bool run_moment_before(struct run_moment a, struct run_moment b)
{
	return a.statement != b.statement ? a.statement < b.statement
	                                  : a.lock < b.lock;
}

/* What a transaction has locked, by a write or a read. */
struct run_hold {
	const struct run_hold *older;
	uint32_t key;
	enum strength strength;
	bool writes;
	const struct run_node *read; /* waits for the value; NULL: a write, or
	                              * a read of what it wrote itself */
	/* Where it has it for sure: at the transaction's first moment, of those
	 * at which it reads or gives up something, that is not before it is
	 * taken. (Nothing else asks for it to be earlier.) */
	struct run_moment from;
	struct run_moment end; /* where it is given up */
};

/* A transaction that ends in the stretch. */
struct run_end_of {
	uint32_t index; /* in its session */
	uint32_t name;  /* for program_transaction_name() */
	bool aborted;
	const struct run_write *writes; /* none if it has aborted */
	/* What it has written besides, if it commits: before runs came
	 * together. */
	const struct run_key *settled;
	const struct run_hold *holds; /* newest first; NULL if no transaction
	                               * of the program has statements */
};

enum run_state {
	RUN_READS, /* it waits for the value of `read` */
	RUN_JOINS, /* it does so where others do: at `join` */
	RUN_OVER,  /* the session has ended */
	RUN_VOID   /* likewise, by a false assumption: no history has it */
};

struct run_node {
	struct run_node *parent, *children, *next;
	uint32_t session, number; /* of all nodes */
	struct value answer;      /* that the parent's read took */
	const struct machine_state *state;
	const struct run_end_of *ended;
	uint32_t ended_count;
	const struct run_lock *locked; /* in the stretch, newest first */
	enum run_state kind;
	/* RUN_JOINS: where it goes on, and what its transaction has written
	 * that it will not look at any more, nor write. */
	struct run_node *join;
	const struct run_write *settled;
	bool joined;          /* runs come together here: there is no parent */
	uint32_t join_number; /* of those of the session */
	const struct run_known *known; /* of the transaction, where joined */
	/* RUN_READS. */
	uint32_t key;
	uint32_t index;      /* of the transaction that reads */
	uint32_t name;       /* likewise, for program_transaction_name() */
	uint32_t occurrence; /* it has read this key so often before, where that
	                      * may tell something else */
	bool locks; /* that read does, and the order of commits tells */
	const struct run_write *writes; /* of that transaction so far, but */
	const struct run_key *settled_keys; /* those of `settled` before */
	const struct run_hold *holds;       /* likewise, with this read */
	struct run_moment now;    /* of the newest access, this read */
	struct run_moment moment; /* where it reads, if the transaction's
	                           * statements have snapshots */
};

struct runs {
	struct context context;
	struct joins joins;
	enum level level; /* of transactions that have none of their own */
	bool mixed;       /* some have */
	bool statements;  /* of some transaction have snapshots of their own */
	struct run_node **nodes;
	uint32_t count, capacity;
	struct run_node **roots;  /* by session */
	struct run_end_of *ended; /* while a stretch runs */
	uint32_t ended_count, ended_capacity;
	uint32_t leaves;      /* whole runs */
	uint32_t *first_same; /* by session: that has the same code */
	uint32_t *longest;    /* by session: transactions of its longest run */
	enum level **levels;  /* by session: those of its transactions */
	uint32_t slots;       /* their sum */
	bool outgrown;        /* that some transaction has a level of its own
	                       * became known only now: who begins anew knows
	                       * it */
	const char *obstacle; /* what was met that cannot be decided, or NULL */
	uint32_t point;       /* where */
};

enum {
	SLOTS_MOST = 160
}; /* of all sessions; orders of more are too many
    * clauses */

/* Why runs of the program cannot be used at the level; NULL: they can, as far
 * as that is known before it runs. */
const char *runs_obstacle(const struct program *p, enum level l);
/* Are two reads of a key by one transaction of the level alike? */
bool runs_repeatable(enum level l);
/* The program is borrowed. `apart`: runs do not come together. */
void runs_init(struct runs *r, const struct program *p, enum level l,
               const struct machine_limits *limits, bool apart);
void runs_free(struct runs *r);
size_t runs_bytes(const struct runs *r);
/* The node behind the read of `at` for this value; NULL if there is none yet.
 * Where the session goes on from there: runs_onwards(). */
struct run_node *runs_child(const struct run_node *at, struct value v);
static inline struct run_node *runs_onwards(struct run_node *n)
{
	return n && n->kind == RUN_JOINS ? n->join : n;
}
/* The node of the same answers in the runs of another session that has the same
 * code. */
struct run_node *runs_counterpart(const struct runs *r,
                                  const struct run_node *n, uint32_t session);
/* Makes it, if there is none, and those of all sessions that run the same code:
 * what one of them can read can each of them, when sessions are exchanged.
 * False if the machine stops, or for an obstacle. */
bool runs_grow(struct runs *r, const struct run_node *at, struct value v);

#endif
