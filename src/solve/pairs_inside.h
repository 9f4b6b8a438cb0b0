/* What the parts of the form by pairs share. */
#ifndef ISO_SOLVE_PAIRS_INSIDE_H
#define ISO_SOLVE_PAIRS_INSIDE_H

#include <assert.h>

#include "solve/pairs.h"

#define YES CLAUSES_TRUE
#define NO (-CLAUSES_TRUE)

struct pair_slot {
	uint32_t *keys; /* that it may write */
	uint32_t key_count, key_capacity;
	const struct run_node **ends; /* nodes in which it commits */
	uint32_t end_count, end_capacity;
	uint32_t first_cut; /* the earliest, or NO_CUT */
};

/* A moment of a slot, as which commits are before it. */
struct cut {
	uint32_t slot;
	struct run_moment at;
	uint32_t next; /* of its slot, or NO_CUT */
	uint32_t rank; /* among those that are compared with each other; NO_CUT:
	                * it is not */
	int *sees;     /* by slot: it commits before */
	uint32_t count, capacity;
	int *after; /* by smaller rank: that cut is before this one */
};

/* What a slot locks in some runs. */
struct encoded_hold {
	uint32_t slot;
	enum strength strength;
	bool writes, commits;
	uint32_t place;     /* whose value it locks; UINT32_MAX: none's */
	uint32_t from, end; /* cuts; NO_CUT: the commit */
	int here;           /* it does */
};

/* A slot that writes a key in some run. */
struct key_writer {
	uint32_t slot;
	int writes;
	int *values; /* by number of the value; as many as the key has */
	uint32_t value_count, value_capacity;
	struct at_most_one one;
};

#define NO_CUT UINT32_MAX

struct place {
	uint32_t slot, key, occurrence;
	uint32_t cut; /* where it reads, or NO_CUT */
	int *reads;   /* by writer of the key; 0: never */
	uint32_t read_count, read_capacity;
	int initial; /* it reads what was there before */
	int read;    /* it is read */
	struct some_of some;
	struct at_most_one one;
	const struct run_node **nodes; /* that read there */
	uint32_t node_count, node_capacity;
	int *seen; /* by writer: it is in sight; 0: never */
	uint32_t seen_count, seen_capacity;
	int locked; /* nobody writes the key between who is read from and this
	             * slot; 0: that is asked of nobody */
};

struct encoded_key {
	struct key_writer *writers;
	uint32_t writer_count, writer_capacity;
	struct value *values; /* that somebody writes or reads */
	uint32_t value_count, value_capacity;
	uint32_t *places;
	uint32_t place_count, place_capacity;
	struct encoded_hold *holds;
	uint32_t hold_count, hold_capacity;
};

struct pair_node {
	uint32_t place;
	uint32_t value; /* number of its answer, of its parent's key */
	int *sources;   /* rc: by slot, read from before in its transaction */
	uint32_t source_count;
};

struct pairs {
	struct encoding *e;
	struct clauses *clauses; /* of e */
	struct pair_slot *slots;
	uint32_t slot_count, slot_capacity;
	int *before, *sees; /* literals: [a * side + b] */
	int *past; /* the same of so and wr, and paths of them; NULL: all levels
	            * are one, which has it in sight where it matters */
	uint32_t side;
	struct encoded_key *keys;
	uint32_t key_count;
	struct place *places;
	uint32_t place_count, place_capacity;
	struct pair_node *nodes; /* by number */
	uint32_t node_count;
	struct cut *cuts;
	uint32_t cut_count, cut_capacity;
	uint32_t *ranked; /* cuts, by rank */
	uint32_t rank_count, rank_capacity;
};

static inline int at(const struct pairs *o, const struct run_node *n)
{
	return o->e->nodes[n->number].at;
}

static inline int open_at(const struct pairs *o, const struct run_node *n)
{
	return o->e->nodes[n->number].open;
}

static inline int before(const struct pairs *o, uint32_t a, uint32_t b)
{
	assert(a < o->e->slot_count && b < o->e->slot_count);
	return o->before[(size_t)a * o->side + b];
}

static inline int sees(const struct pairs *o, uint32_t a, uint32_t b)
{
	assert(a < o->e->slot_count && b < o->e->slot_count);
	return o->sees[(size_t)a * o->side + b];
}

static inline enum level slot_level(const struct pairs *o, uint32_t slot)
{
	return o->e->slots[slot].level;
}

static inline bool has_cuts(const struct pairs *o, uint32_t slot)
{
	return level_has_statements(slot_level(o, slot));
}

/* With room for it. */
struct encoded_key *pairs_key(struct pairs *o, uint32_t key);

/* ---- cuts.c: where statements have snapshots of their own ---- */

/* The cut of a moment of the slot, in any run. */
uint32_t cut_of(struct pairs *o, uint32_t slot, struct run_moment at);
/* Does the slot commit before it? */
static inline int cut_sees(const struct pairs *o, uint32_t cut, uint32_t slot)
{
	assert(slot < o->cuts[cut].count);
	return o->cuts[cut].sees[slot];
}
/* The slot, the last one, is ordered among the others. */
void cuts_meet_slot(struct pairs *o, uint32_t slot);
/* What the transaction that ends in the node has locked. */
void cuts_hold(struct pairs *o, const struct run_node *n,
               const struct run_end_of *t);
/* The place may read from this writer of its key, the last one. */
void cuts_meet_writer(struct pairs *o, uint32_t place, uint32_t writer);
void cuts_free(struct pairs *o);

#endif
