/* A program's histories under a level as models of clauses, as far as its local
 * runs are known.
 *
 * A *slot* is a transaction of a session at a place in it, whatever the session
 * does there; a *place* is where a slot reads a key. There are variables for
 *
 *	before(a, b)	slot a commits before b: a total order, of all slots
 *	sees(a, b)	a is in sight of b, as the level has it
 *	reads(p, w)	at place p, slot w is read from
 *	at(n)		the session comes to node n of its runs
 *	writes(w, k)	slot w has committed, and written key k,
 *	writes(w, k, v)	with v as its last value
 *	open(n)		the session stops at the read of node n, with a value
 *			that is known of no child of n
 *
 * Orders and sights do not depend on the number of runs; these are tied to them
 * by what is read. A session may stop at each of its reads, so the models are
 * the histories of the level that use known runs, and all their beginnings: a
 * part of a history that has, with a transaction, all that precedes it in so
 * and wr, satisfies each level that the whole satisfies. So when no model
 * leaves a node open, there are no other runs: else let the first new value, in
 * the commit order of some history, be read; all before it uses known runs.
 */
#ifndef ISO_SOLVE_ENCODING_H
#define ISO_SOLVE_ENCODING_H

#include "solve/clauses.h"
#include "solve/runs.h"

struct slot {
	uint32_t session, index;
	int committed;
	struct some_of commits; /* nodes behind which it has */
	uint32_t *keys;         /* that it may write */
	uint32_t key_count, key_capacity;
	const struct run_node **ends; /* nodes in which it commits */
	uint32_t end_count, end_capacity;
};

/* A slot that writes a key in some run. */
struct key_writer {
	uint32_t slot;
	int writes;
	int *values; /* by number of the value; as many as the key has */
	uint32_t value_count, value_capacity;
	struct at_most_one one;
};

struct place {
	uint32_t slot, key, occurrence;
	int *reads; /* by writer of the key; 0: never */
	uint32_t read_count, read_capacity;
	int initial; /* it reads what was there before */
	int read;    /* it is read */
	struct some_of some;
	struct at_most_one one;
	struct run_node **nodes; /* that read there */
	uint32_t node_count, node_capacity;
	int *seen; /* by writer: it is in sight; 0: never */
	uint32_t seen_count, seen_capacity;
};

struct encoded_key {
	struct key_writer *writers;
	uint32_t writer_count, writer_capacity;
	struct value *values; /* that somebody writes or reads */
	uint32_t value_count, value_capacity;
	uint32_t *places;
	uint32_t place_count, place_capacity;
};

/* What is told of a node. */
struct encoded_node {
	int at, open; /* open: 0 if it does not read */
	uint32_t place;
	uint32_t value; /* number of its answer, of its parent's key */
	int *sources;   /* rc: by slot, read from before in its transaction */
	uint32_t source_count;
	struct at_most_one children;
};

struct encoding {
	struct clauses clauses;
	struct runs *runs;
	enum level level;
	struct slot *slots;
	uint32_t slot_count, slot_capacity;
	uint32_t **slot_of; /* by session, and index in it */
	uint32_t *slots_of; /* by session: how many there are, in a row */
	int *before, *sees; /* literals: [a * side + b] */
	uint32_t side;
	struct encoded_key *keys;
	uint32_t key_count, key_capacity;
	struct place *places;
	uint32_t place_count, place_capacity;
	struct encoded_node *nodes; /* by number */
	uint32_t node_count, node_capacity;
	int *over;             /* by session: its run is at its end */
	struct some_of *overs; /* and by which leaves */
	int all_over;          /* all are */
	int some_open;         /* some node is open */
	struct some_of opens;  /* namely one of these */
};

void encoding_init(struct encoding *e, struct runs *r);
void encoding_free(struct encoding *e);
/* Adds the runs' node, whose parent was added before. */
void encoding_add(struct encoding *e, struct run_node *n);

/* ---- Of a model ---- */

/* The node where the session stands. */
struct run_node *encoding_stands(const struct encoding *e, uint32_t session);
/* The slot that the node's read takes its value from, UINT32_MAX: init. */
uint32_t encoding_source(const struct encoding *e, const struct run_node *n);
/* What that gives. */
struct value encoding_answer(const struct encoding *e,
                             const struct run_node *n);
/* Adds the negation of what it says of who reads from whom, in growable array
 * as VEC_RESERVE has it, and 0. */
void encoding_choices(const struct encoding *e, int **literals, size_t *count,
                      size_t *capacity);
/* Does slot a come before b? */
bool encoding_before(const struct encoding *e, uint32_t a, uint32_t b);

#endif
