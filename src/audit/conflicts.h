/* Which operations of two classes of transactions conflict, and when an
 * instance must do what: the graph in which anomalies are cycles.
 *
 * A dependency a -> b between two instances puts a moment of the first before a
 * moment of the second: it is *left* and the second is *entered* then. Moments
 * of an instance are numbers:
 *
 *	rc (locks)	reads at their turn; writes lock, until the end
 *	prc		a snapshot for each statement; writes lock after it
 *	si		one snapshot, at the beginning, for reads and writes
 *
 * and MOMENT_END, when it commits. What was written is seen, and what was
 * locked is free, from then on: only by a read that another overwrites (rw)
 * is an instance left earlier. So each cycle that can happen has an instance
 * that is left before it is entered, by an rw edge. Where instances are calls
 * of several transactions, these have beginnings and ends of their own, and any
 * edge can leave a call before it is over; at ser each transaction is at one
 * moment. */
#ifndef ISO_AUDIT_CONFLICTS_H
#define ISO_AUDIT_CONFLICTS_H

#include "audit/classes.h"
#include "audit/hints.h"
#include "audit/limit.h"
#include "axioms/level.h"

enum { INSTANT_END = UINT32_MAX };

enum conflict_kind { CONFLICT_RW, CONFLICT_WR, CONFLICT_WW };

/* Operations of one kind at one place of a statement of a class. */
struct audit_node {
	uint32_t of, statement,
		place;               /* class; statement; place of the class */
	uint32_t table, row;         /* row: CATALOG_NONE, unless it is one */
	const struct audit_key *key; /* that names the row; NULL: none does */
	unsigned flags;
	bool any;                            /* one of its columns is "*" */
	uint32_t first_column, column_count; /* ascending, each once */
};

/* When one instance is left and another entered. */
struct audit_order {
	uint32_t leave, entry;
	/* The place where one row is read then, without a snapshot: whoever
	 * enters there comes before whoever leaves there, whatever the moments
	 * are; CATALOG_NONE: it is nothing of that kind. */
	uint32_t left, entered;
};

/* Dependencies from one class to another that are alike in all that decides
 * whether a cycle can happen. */
struct audit_edge {
	uint32_t from, to; /* classes */
	struct audit_order order;
	uint32_t from_row, to_row; /* CATALOG_NONE: not known to be one row */
	enum conflict_kind kind;
	uint32_t from_node, to_node;         /* of the first such */
	uint32_t first_column, column_count; /* over which there are some */
	bool alive; /* some of its columns is not protected */
};

struct conflicts {
	const struct classes *classes; /* borrowed */
	const struct catalog *catalog;
	enum level level;
	struct audit_node *nodes;
	uint32_t node_count, node_capacity;
	uint32_t *nodes_of; /* first of each class; one more at the end */
	uint32_t *columns;  /* of nodes and edges */
	uint32_t column_count, column_capacity;
	struct audit_edge *edges; /* by from and to */
	uint32_t edge_count, edge_capacity;
	uint64_t *moving;          /* tables whose rows come and go */
	const uint64_t *protected; /* columns; borrowed; NULL: none is */
	uint32_t *edges_of; /* first of each class; one more at the end */
	const struct hints *hints; /* borrowed */
	/* Borrowed. Where it is reached, edges are missing. */
	struct audit_limit *limit;
	/* As counted by IsoDiff: pairs of classes and of operations that
	 * conflict, different ones and the same; and rw edges. */
	uint64_t class_pairs, class_selves, pairs, selves;
	uint64_t dangerous;
};

/* Is it a level that it knows? */
bool conflicts_level(enum level l);
void conflicts_init(struct conflicts *g, const struct classes *c,
                    const struct catalog *catalog, const struct hints *h,
                    enum level l, struct audit_limit *limit);
void conflicts_free(struct conflicts *g);

/* Marks the edges that are left when the columns are protected: bit c of
 * `protected`. */
void conflicts_protect(struct conflicts *g, const uint64_t *protected);

/* The edges [*from, *to) from one class to another. */
void conflicts_between(const struct conflicts *g, uint32_t one, uint32_t other,
                       uint32_t *from, uint32_t *to);

/* When instances are left and entered, if the first operation of two that
 * conflict or exclude each other comes before the other. */
struct audit_order conflicts_order(const struct conflicts *g,
                                   const struct audit_node *first,
                                   const struct audit_node *then);
/* If both are of one row: must one instance have ended, or a read have been,
 * before the other operation, whatever the columns are? Not where there may be
 * no row: a write that finds none locks nothing. */
bool conflicts_in_order(const struct conflicts *g, const struct audit_node *a,
                        const struct audit_node *b);
/* Do they conflict over a column; one that is not protected, if `open`? */
bool conflicts_over_column(const struct conflicts *g,
                           const struct audit_node *a,
                           const struct audit_node *b, bool open);

#endif
