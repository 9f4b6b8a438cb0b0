/* Sorts: which places of a program may hold the same values.
 *
 * Everything that holds values has a sort: locals, keys, results, what is in
 * a tuple. Two of them are the same sort if a value can get from one to the
 * other, or if values of both are compared. So where two values are exchanged
 * in all places of a sort, nothing outside of it can tell.
 *
 * Unification, as for types; a sort is not that of the values in it.
 */
#ifndef ISO_ANALYSE_SORTS_H
#define ISO_ANALYSE_SORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "lang/ast.h"
#include "vm/value.h"

/* What stands in a value: an item of a collection, a place of a tuple, or a
 * field of a record. */
struct sort_part {
	const void *label;
	struct sort *sort;
};

struct sort {
	struct sort *same; /* united with this one; NULL: by itself */
	struct sort *next; /* all that there are */
	struct sort_part *parts;
	uint32_t part_count, part_capacity;
	bool is_set; /* some value of it may be a set */
	bool is_record;
	/* Why its values cannot be exchanged for others; NULL: they can. */
	const char *use;
	struct place used_at;
	/* The same, of all that is in its values as well. */
	const char *deep_use;
	struct place deep_at;
	/* Of the declaration being checked. */
	bool symmetric;       /* some of its values are exchanged */
	bool holds_symmetric; /* or some in its values */
};

struct sorts {
	struct region *region;
	struct symbols *symbols;
	struct sort *first;
	uint32_t count;
};

struct sort *sort_new(struct sorts *s);
struct sort *sort_find(struct sort *a);
void sort_unite(struct sorts *s, struct sort *a, struct sort *b);
struct sort *sort_item(struct sorts *s, struct sort *a);
struct sort *sort_place(struct sorts *s, struct sort *a, uint32_t place);
struct sort *sort_field(struct sorts *s, struct sort *a,
                        const struct symbol *name);
/* The sort of a part of a value, or NULL if nothing is known of it. */
const struct sort *sort_known_place(const struct sort *a, uint32_t place);
const struct sort *sort_known_field(const struct sort *a,
                                    const struct symbol *name);
/* It cannot be exchanged; the first reason is kept. */
void sort_use(struct sort *a, const char *use, struct place at);
void sort_use_deep(struct sort *a, const char *use, struct place at);
/* A value can be here: its shape. */
void sort_hold(struct sorts *s, struct sort *a, struct value v);

#endif
