/* States, what transactions read from them and write over them, and what is
 * asserted of them, as a formula.
 *
 * A state says of each key of a family what it holds: functions that nothing is
 * known of. A view is a state, or what is there when a transaction has written
 * over another view.
 */
#ifndef ISO_PROVE_QUESTION_H
#define ISO_PROVE_QUESTION_H

#include "prove/finals.h"
#include "prove/instances.h"

struct view {
	const struct state *state;
	/* Instead of that, if there is a writer: */
	const struct view *under;
	const struct instance *writer; /* which commits, if it writes */
	uint32_t accesses; /* of the writer: the first so many; 0: all */
};

struct state {
	Z3_func_decl *decls; /* tag and number of each part of each family */
	struct view plain;   /* of it */
};

/* Of a total (finals.h), in a view. */
struct sum {
	Z3_ast count, sum;
	Z3_ast errs; /* truth: of some row it ends by an error */
};

struct question {
	struct instances x; /* without instances, but those that a client has */
	const struct finals *finals;
	struct instance **made;
	struct state **states;
	uint32_t made_count, made_capacity, state_count, state_capacity;
	struct known_sum {
		struct view of;
		uint32_t total;
		struct sum sum;
	} * sums;
	uint32_t sum_count, sum_capacity;
	uint32_t *offsets; /* of families, among the functions */
	bool no_errors;
};

/* The context and the application are borrowed. To be freed. */
struct question *question_new(Z3_context z, const struct application *a,
                              struct instances_terms terms);
void question_free(struct question *q);

/* New ones; the question's. */
struct state *question_state(struct question *q);
/* How many accesses of its writer a view has. */
static inline uint32_t view_accesses(const struct view *v)
{
	return v->accesses ? v->accesses : v->writer->s->access_count;
}
struct instance *question_instance(struct question *q, const struct summary *s,
                                   enum level others);

/* What the view has of the key: as many values as the family has parts. To be
 * freed. */
struct term *question_look(struct question *q, const struct view *v,
                           uint32_t family, const struct term *index);
/* The key of the access. To be freed. */
struct term *question_index(const struct instance *t, uint32_t access);
/* Access i of t, a read, has what is there, if it happens. */
void question_reads(struct question *q, const struct instance *t, uint32_t i,
                    const struct view *v);
/* The key of access i is the same in both. */
void question_agrees(struct question *q, const struct instance *t, uint32_t i,
                     const struct view *a, const struct view *b);

/* ---- totals.c ---- */

/* The sum over all rows in the view. It and those under it must stay where they
 * are. */
struct sum question_total(struct question *q, const struct view *v,
                          uint32_t total);
/* These transactions, u may be NULL, name all rows in the view that are in any
 * total. */
Z3_ast question_alone(struct question *q, const struct view *v,
                      const struct instance *t, const struct instance *u);
/* The instance finds this one of its summary in the state, with what it has
 * written itself; under this condition, unless that is NULL. */
void question_finds_total(struct question *q, const struct instance *t,
                          const struct found_total *f,
                          const struct view *before, Z3_ast when);

/* ---- claims ---- */

/* How a claim reads: from one view, or each read from one that `other` gives,
 * if that is not NULL. */
struct claim_reads {
	const struct view *view;
	struct view (*other)(struct question *q, void *payload);
	void *payload;
};
/* Of two instances of a claim with the same parameters: they fail alike if they
 * read the same. */
void question_same(struct question *q, const struct claim *k,
                   const struct instance *a, Z3_ast a_fails,
                   const struct instance *b, Z3_ast b_fails);
/* Fails the claim (or ends by an error, but an overflow where that is none),
 * with these values for its parameters? The instance that tells is put into
 * *told, unless that is NULL. */
Z3_ast question_fails(struct question *q, const struct claim *k,
                      const struct term *parameters,
                      const struct claim_reads *reads, struct instance **told);

#endif
