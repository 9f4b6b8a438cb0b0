/* What the parts of points.h share: the points, the edges between them, and
 * what is still to be chosen. */
#ifndef ISO_AXIOMS_POINTS_INSIDE_H
#define ISO_AXIOMS_POINTS_INSIDE_H

#include "axioms/order.h"
#include "axioms/points.h"
#include "axioms/reason.h"

#define NONE POINTS_NONE

/* A read at a point; one under rc, ra or cc, which do not ask for one, has
 * NONE. */
struct point_read {
	uint32_t reader, key, source, at, statement;
	uint32_t previous, next; /* of its key, or NONE */
	bool beside;             /* the reader's snapshot */
};

/* A write, or a read that locks. */
struct point_lock {
	uint32_t owner, key;
	uint32_t until;  /* u: the owner's first point that it must precede;
	                  * if lines are to be runnable, where it is */
	uint32_t start;  /* then: that of its statement, or NONE */
	uint32_t asked;  /* and where it has been asked for for sure */
	uint32_t source; /* of a read */
	uint32_t statement;
	uint32_t previous, next; /* of its key, or NONE */
	uint32_t held;           /* under levels with snapshots: before this
	                          * point of the owner, or NONE */
	uint32_t end;            /* where it is given up; NONE: at the commit */
	enum strength strength;
	bool writes,
		first; /* is it a write, and the owner's first of the key */
	bool asks;     /* the owner has no such lock yet */
	bool starts;   /* `start` is of no read */
	bool beside;   /* it is no lock, but what was read beside the snapshot
	                */
	bool moot; /* it was given up, and nothing tells that it was there */
};

/* A lock that was given up, and in which statement of its owner. */
struct point_given_up {
	uint32_t lock, statement;
};

/* Why a point comes before another; of two points of one transaction,
 * REASON_COUNT. */
struct point_edge {
	uint32_t from, to;
	enum reason_kind reason;
	uint32_t key, reader;
};

/* Two edges of which every line has one. */
struct point_choice {
	struct point_edge first, second;
};

/* What was noted of a key: the first and the last one, or NONE. */
struct point_key {
	uint32_t first_lock, last_lock, first_read, last_read;
};

struct point_transaction {
	uint32_t begin; /* NONE: it takes no snapshot there */
	uint32_t commit;
	enum level level;
	bool committed;
	bool ssi; /* points_be_ssi, and it is one */
};

/* Edges of which every line has one, that between three transactions
 * (points_be_ssi). */
struct point_danger {
	struct point_edge edges[4];
	uint32_t count;
};

struct points {
	struct level_scratch rows; /* the closure, with its log */
	unsigned width;            /* of rows of points */
	unsigned words;            /* of rows of transactions */
	uint32_t room;             /* points */
	uint32_t node_count, lock_count, read_count;
	uint32_t lock_capacity, read_capacity;
	struct point_given_up *given_up; /* in their order */
	uint32_t given_count, given_capacity;
	size_t choice_count, choice_capacity;
	/* The changes of the closure so far when no choice had one edge left
	 * (saturate); then none has while there is no other change. */
	size_t saturated;
	uint32_t *owner;               /* by point: its transaction */
	uint32_t *line, *rank, *count; /* an order of the points, by place */
	uint32_t lined; /* points in the line found last; 0: there is none */
	struct point_transaction *of; /* by transaction */
	uint32_t transactions;
	word *past; /* rows of transactions: before it in (so U wr)+ */
	word *so;   /* likewise, in session order */
	word *direct, *seen, *hiding; /* one row each: of the pending one */
	struct point_choice *choices;
	struct point_lock *locks;
	struct point_read *reads;
	struct point_key *keys;
	uint32_t key_count; /* room */
	struct points_pending pending;
	bool failed; /* the edges have closed a cycle */
	bool runnable, grows, gives_up, ssi;
	/* Those that a search has met. */
	struct point_danger *dangers;
	uint32_t danger_count, danger_capacity;
	/* For a witness: the edges as they were added, and the one that closed
	 * a cycle. */
	bool recording;
	bool gave_up;
	struct point_edge *edges, closing;
	size_t edge_count, edge_capacity;
};

static inline uint32_t commit_of(const struct points *p, uint32_t t)
{
	return p->of[t].commit;
}
/* Where a lock ends. */
static inline uint32_t end_of(const struct points *p,
                              const struct point_lock *l)
{
	return l->end == NONE ? commit_of(p, l->owner) : l->end;
}
static inline word *before(const struct points *p, uint32_t point)
{
	return order_row(p->rows.before, point, p->width);
}
static inline bool is_before(const struct points *p, uint32_t a, uint32_t b)
{
	return order_has(&p->rows, a, b, p->width);
}
/* Would it close a cycle? */
static inline bool is_closed(const struct points *p, const struct point_edge *e)
{
	return e->from == e->to || is_before(p, e->to, e->from);
}

/* Is it the write of a version that others can read? */
static inline bool points_is_version(const struct points *p,
                                     const struct point_lock *l)
{
	return l->first && p->of[l->owner].committed;
}

/* What there is of the key, which may be new. */
struct point_key *points_key_at(struct points *p, uint32_t key);
/* The newest lock or read, behind those of its key. */
void points_enter_lock(struct points *p, struct point_lock l);
void points_enter_read(struct points *p, struct point_read r);
/* All locks and reads but the first so many are taken away. */
void points_drop_uses(struct points *p, uint32_t locks, uint32_t reads);

/* A point after those of the row, and before none. */
uint32_t points_new_point(struct points *p, uint32_t owner, const word *row);
/* Adds it; false, with nothing changed, when that closes a cycle. */
bool points_add(struct points *p, const struct point_edge *e);
/* Adds what every line has. */
void points_add_edge(struct points *p, struct point_edge e);
/* Every line has one of them. */
void points_add_choice(struct points *p, struct point_edge first,
                       struct point_edge second);

/* Of the pending transaction: it locks this; it has taken what it locked in
 * statements before this one by the point; it ends. */
void points_add_lock(struct points *p, struct point_lock lock);
void points_take_locks(struct points *p, uint32_t statement, uint32_t until);
void points_end_locks(struct points *p);
/* A read that locks and another writer of its key. */
void points_part_locked_read(struct points *p, const struct point_lock *read,
                             const struct point_lock *write);

#endif
