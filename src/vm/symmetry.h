/* Which sessions of a program are interchangeable: permuting them (and, where
 * the program declares it, the values that tell them apart) turns each history
 * of the program into another one of it.
 */
#ifndef ISO_VM_SYMMETRY_H
#define ISO_VM_SYMMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"

struct diags;
struct program;

struct symmetry {
	struct region region;   /* owns all below */
	uint32_t session_count;
	/* By session: the smallest session that it can be exchanged with, all
	 * those between included; itself if there is none. */
	uint32_t *class_of;
	bool trivial;           /* no two sessions can be exchanged */
};

/* Finds the sessions that run the same code on the same arguments, and those
 * that the program declares symmetric. NULL, with an error added, when a
 * declaration does not hold. Freed by symmetry_free(). */
struct symmetry *symmetry_new(const struct program *p, struct diags *d);
void symmetry_free(struct symmetry *s); /* NULL is fine */
/* How many permutations there are; UINT64_MAX if more than that. */
uint64_t symmetry_order(const struct symmetry *s);

#endif
