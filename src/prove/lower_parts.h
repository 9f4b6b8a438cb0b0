/* From the tree to summaries: between the files that do it. */
#ifndef ISO_PROVE_LOWER_PARTS_H
#define ISO_PROVE_LOWER_PARTS_H

#include "lang/ast.h"
#include "prove/build.h"
#include "vm/bytecode.h"

enum {
	LOWER_ROUNDS = 16 /* of a loop with known ends that are told apart */
};

struct binding {
	const struct local *local;
	uint32_t value;
};

/* Of a list, or a set: the items that there may be, in their order. */
struct items {
	uint32_t value; /* node: the collection */
	bool set;
	uint32_t count;
	struct listed {
		uint32_t value, there; /* node, and condition */
	} * all;
};

struct lowering {
	struct builder b;
	struct sources *all;
	struct binding *bound;
	uint32_t bound_count, bound_capacity;
	bool in_statement;
	uint32_t statements; /* of the program, that were looked at */
	uint32_t failing;    /* condition: an assertion in it is false */
	/* Collections that were filtered, with what was bound then. */
	struct filtered {
		uint32_t value, collection; /* nodes */
		const struct expr *filter;
		struct binding *bound;
		uint32_t bound_count;
	} * filtered;
	uint32_t filtered_count, filtered_capacity;
	struct items *lists; /* that are known */
	uint32_t list_count, list_capacity;
	bool blunt; /* of no list that is made the items are told */
};

/* Something at this place is not covered. */
void lower_leave_out(struct lowering *l, struct place at, const char *what);
void lower_bind(struct lowering *l, const struct local *local, uint32_t value);
uint32_t lower_constant(struct lowering *l, struct value v);
/* The condition that a value is, which must be one; and back. */
uint32_t lower_condition(struct lowering *l, struct expr *e);
uint32_t lower_truth(struct lowering *l, uint32_t condition);
uint32_t lower_sum(struct lowering *l, enum opcode op, uint32_t a, uint32_t b);
/* From here on things may be as they never are. */
void lower_note_untold(struct lowering *l);
uint32_t lower_expr(struct lowering *l, struct expr *e);
void lower_block(struct lowering *l, const struct block *b);
/* Notes when it fails. */
void lower_assert(struct lowering *l, struct expr *e);
/* What the block sets may be anything. *ends, *returns: it may end the
 * transaction, other than by an error. */
void lower_forget(struct lowering *l, const struct block *b, bool *ends,
                  bool *returns);

/* ---- lower_values.c ---- */

uint32_t lower_tuple(struct lowering *l, struct expr *e);
uint32_t lower_record(struct lowering *l, struct expr *e);
/* Items of items of a value. */
uint32_t lower_index(struct lowering *l, struct expr *e);
/* Is a in b? */
uint32_t lower_in(struct lowering *l, uint32_t a, uint32_t b);

/* ---- lower_items.c ---- */

/* The items of a list that is written down, or of a set of constants, in its
 * order; of up to LOWER_ROUNDS. Nothing is evaluated if it is none of these. */
bool lower_items(struct lowering *l, struct expr *in, uint32_t *values,
                 uint32_t *count);
/* sum(map(x in .. : e)) over items that are known; false if it is not that. */
bool lower_sum_of(struct lowering *l, struct expr *call, uint32_t *sum);
/* What is known of an item of this collection: it is in it, or in the one that
 * filters have made it of, and passes them. */
uint32_t lower_passes(struct lowering *l, uint32_t collection, uint32_t item);
/* filter, map, exists, forall. */
uint32_t lower_comprehension(struct lowering *l, struct expr *e);

/* ---- lower_lists.c ---- */

/* A list that is written down. */
uint32_t lower_list(struct lowering *l, struct expr *e);
/* The items of a collection, if they are known. */
bool lower_list_of(struct lowering *l, uint32_t value, struct items *out);
void lower_note_list(struct lowering *l, uint32_t value, const struct items *k);
/* List a with list b behind it; false if not all of it is known. */
bool lower_append(struct lowering *l, uint32_t a, uint32_t b, uint32_t *out);
/* As node_choose, also of lists that are known. */
uint32_t lower_choose(struct lowering *l, uint32_t c, uint32_t a, uint32_t b);
/* exists, forall over these items. */
uint32_t lower_quantifier(struct lowering *l, struct expr *e,
                          const struct items *k);
/* filter, map, exists, forall; false if the items are not known. */
bool lower_of_list(struct lowering *l, struct expr *e, uint32_t collection,
                   uint32_t *out);
/* A condition: it is one of the items. */
uint32_t lower_is_listed(struct lowering *l, uint32_t item,
                         const struct items *k);
/* size, min, max; false if the items are not known. */
bool lower_list_call(struct lowering *l, uint32_t builtin, uint32_t value,
                     uint32_t *out);
/* list[at]; false if that is not known. */
bool lower_listed_item(struct lowering *l, uint32_t list, uint32_t at,
                       uint32_t *out);

/* ---- lower_first.c ---- */

/* What the program has at first, if it is asked about that
 * (application.from_first). */
void lower_first_values(struct lowering *l, const struct syntax *tree);
/* The items of a collection that is read, as it is at first: from then on the
 * transaction is looked at only where it reads that one. False if it is none,
 * or is not known. */
bool lower_first_list(struct lowering *l, uint32_t value, struct items *out);

/* ---- lower_finals.c ---- */

/* The last transaction, and the assertions about what it has. */
void lower_finals(struct application *a, const struct syntax *tree,
                  struct sources *all);
/* The texts of these assertions: what a client needs beside `finally`. */
void lower_keep_assertions(struct application *a, const struct syntax *tree,
                           struct sources *all);

#endif
