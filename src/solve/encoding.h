/* A program's histories under a level as models of clauses, as far as its local
 * runs are known.
 *
 * A *slot* is a transaction of a session at a place in it, whatever the session
 * does there. There are variables for
 *
 *	at(n)		the session comes to node n of its runs
 *	open(n)		the session stops at the read of node n, with a value
 *			that is known of no child of n
 *
 * and those of an order of the slots, which says who reads what. There are two
 * forms of it: by pairs of slots, for any level, where each read has a writer;
 * and by positions, for levels that see a prefix of the order, where each
 * position has a state of the database. Both have the same models.
 *
 * A session may stop at each of its reads, so the models are the histories of
 * the level that use known runs, and all their beginnings: a part of a history
 * that has, with a transaction, all that precedes it in so and wr, satisfies
 * each level that the whole satisfies. So when no model leaves a node open,
 * there are no other runs: else let the first new value, in the commit order of
 * some history, be read; all before it uses known runs.
 */
#ifndef ISO_SOLVE_ENCODING_H
#define ISO_SOLVE_ENCODING_H

#include "solve/clauses.h"
#include "solve/runs.h"

struct encoding;

struct slot {
	uint32_t session, index;
	enum level level;
	int committed;
	struct some_of commits; /* nodes behind which it has */
};

/* What is told of a node. */
struct encoded_node {
	int at, open; /* open: 0 if it does not read */
	struct at_most_one children;
	struct some_of ways; /* that come together there */
	int settles;         /* the transaction that it is in commits; 0: it has
	                      * settled nothing */
};

/* A form of the order, and how it reads a model. */
struct order_form {
	void *(*begin)(struct encoding *e);
	/* The node, of whose transactions all have slots: the answer that leads
	 * there, those that commit in it, the read it waits at. */
	void (*add)(void *order, const struct run_node *n);
	/* There are no other nodes; NULL: there may be. */
	void (*close)(void *order);
	void (*end)(void *order);
	/* The slot that the node's read takes its value from, UINT32_MAX: init;
	 * and that value. */
	uint32_t (*source)(const void *order, const struct run_node *n);
	struct value (*value)(const void *order, const struct run_node *n);
	/* What the slot, which has not ended, may read of the key as well:
	 * what is newest of all that it has in sight. */
	struct value (*newest)(const void *order, uint32_t slot, uint32_t key);
	/* If the literal is true, slot a comes before b. */
	void (*sort)(void *order, int premise, uint32_t a, uint32_t b);
	/* Does slot a come before b? */
	bool (*before)(const void *order, uint32_t a, uint32_t b);
	bool guess; /* with which models are found sooner: as measured */
};

struct encoding {
	struct clauses clauses;
	struct runs *runs;
	enum level level;
	const struct order_form *form;
	void *order; /* of that form */
	struct slot *slots;
	uint32_t slot_count, slot_capacity;
	uint32_t **slot_of; /* by session, and index in it */
	uint32_t *slots_of; /* by session: how many there are, in a row */
	struct encoded_node *nodes; /* by number */
	uint32_t node_count, node_capacity;
	int *over;             /* by session: its run is at its end */
	struct some_of *overs; /* and by which leaves */
	int all_over;          /* all are */
	int some_open;         /* some node is open */
	int sorted; /* sessions that run the same code come in their order */
	struct some_of opens; /* namely one of these */
};

/* `keeps`: the clauses are, for a proof. */
void encoding_init(struct encoding *e, struct runs *r,
                   const struct order_form *form, bool keeps);
void encoding_free(struct encoding *e);
/* Adds the runs' node, whose parent was added before, if the form allows for
 * it.
 */
void encoding_add(struct encoding *e, struct run_node *n);

/* ---- For forms of the order ---- */

/* Is a before b in session order, as CLAUSES_TRUE, or after it, or neither: 0?
 */
int encoding_session_order(const struct encoding *e, uint32_t a, uint32_t b);
/* The key's value that was there before. */
struct value encoding_initial(const struct encoding *e, uint32_t key);

/* ---- Of a model ---- */

/* The node where the session stands. Of others, the form tells. */
struct run_node *encoding_stands(const struct encoding *e, uint32_t session);
/* All the nodes on its way there, from its beginning; the caller frees them. */
struct run_node **encoding_way(const struct encoding *e, uint32_t session,
                               uint32_t *count);

#endif
