/* Where the values of a program may get to: gives a sort to everything that
 * holds values, and unites them along the code. */
#ifndef ISO_ANALYSE_FLOW_H
#define ISO_ANALYSE_FLOW_H

#include <stdbool.h>

#include "lang/ast.h"
#include "analyse/sorts.h"

struct program;

/* A constant of the code, with what it is worth. */
struct occurrence {
	struct value value;
	struct sort *sort;
	struct place at;
	const struct item *owner; /* the session whose own code it is in, or
	                           * NULL */
};

/* A loop visits the items of a collection one after the other. */
struct visit {
	struct sort *collection;
	struct place at;
	bool any_order; /* the result is the same in any order */
};

/* What is a set if something else is. */
struct image {
	struct sort *from, *to;
};

/* v in collection, or collection[v]. */
struct lookup {
	struct sort *value, *collection;
	struct place at;
};

struct flow {
	struct sorts sorts;
	struct syntax *syntax;
	const struct program *program;
	struct occurrence *occurrences;
	uint32_t occurrence_count, occurrence_capacity;
	struct visit *visits;
	uint32_t visit_count, visit_capacity;
	struct image *images;
	uint32_t image_count, image_capacity;
	struct lookup *lookups;
	uint32_t lookup_count, lookup_capacity;
	/* While going through the code. */
	const struct item *owner;
	struct sort *result; /* of the transaction */
	uint32_t calls;      /* of functions, around */
	bool too_large;      /* given up */
};

/* The syntax tree must have been compiled: constants are known. */
void flow_init(struct flow *f, struct syntax *syntax, const struct program *p);
void flow_free(struct flow *f);

#endif
