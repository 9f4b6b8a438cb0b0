/* Which sessions of a program are interchangeable: permuting them (and, where
 * the program declares it, the values that tell them apart) turns each history
 * of the program into another one of it.
 */
#ifndef ISO_ANALYSE_SYMMETRY_H
#define ISO_ANALYSE_SYMMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"

struct diags;
struct program;

#define SYMMETRY_NONE UINT32_MAX

/* A final assertion may tell interchangeable sessions apart: these are those
 * that it names, increasing. */
struct symmetry_named {
	uint32_t assertion;
	uint32_t count;
	const uint32_t *sessions;
};

struct symmetry {
	struct region region; /* owns all below */
	uint32_t session_count;
	/* By session: the smallest session that it can be exchanged with, all
	 * those between included; itself if there is none. */
	uint32_t *class_of;
	bool trivial; /* no two sessions can be exchanged; in SQL also why: */
	const char *why;
	/* By assertion, for those in the own code of a session that can be
	 * exchanged: that session, else SYMMETRY_NONE; and the assertion that
	 * stands in the same place of the first session of the class, of all
	 * others itself. */
	uint32_t assertion_count;
	uint32_t *assertion_session, *assertion_twin;
	/* By place in the source (program_position): likewise. */
	uint32_t point_count;
	uint32_t *point_session, *point_twin;
	/* By reach point: likewise. */
	uint32_t reach_count;
	uint32_t *reach_twin;
	uint32_t named_count;
	struct symmetry_named *named;
};

/* Finds the sessions that run the same code on the same arguments, or whose
 * statements in SQL have the same text, and those that the program declares
 * symmetric. NULL, with an error added, when there
 * are too many permutations to count in 64 bits. Functions in C do not tell
 * whether they are the same: their sessions are not exchanged. Freed by
 * symmetry_free(). */
struct symmetry *symmetry_new(const struct program *p, struct diags *d);
void symmetry_free(struct symmetry *s); /* NULL is fine */
/* The first session that runs the same code on the same arguments, as far as
 * bytecode tells; the session itself if none before it does. */
uint32_t symmetry_first_same(const struct program *p, uint32_t session);
/* How many permutations there are; UINT64_MAX if more than that. */
uint64_t symmetry_order(const struct symmetry *s);
/* How many sessions there are in the class of this one. */
uint32_t symmetry_class_size(const struct symmetry *s, uint32_t session);
/* What some session reached, all others of its class can reach: adds it to the
 * bit set. */
void symmetry_spread_reached(const struct symmetry *s, uint64_t *reached);

#endif
