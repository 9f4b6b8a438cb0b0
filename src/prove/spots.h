/* Accesses of instances, and when two of them meet: what formulas of more than
 * one place are made of. */
#ifndef ISO_PROVE_SPOTS_H
#define ISO_PROVE_SPOTS_H

#include <assert.h>

#include "prove/instances.h"

struct spot {
	const struct instance *t;
	uint32_t i; /* access */
};

static inline Z3_ast both(Z3_context z, Z3_ast a, Z3_ast b)
{
	Z3_ast parts[] = { a, b };
	return Z3_mk_and(z, 2, parts);
}

static inline Z3_ast either(Z3_context z, Z3_ast a, Z3_ast b)
{
	Z3_ast parts[] = { a, b };
	return Z3_mk_or(z, 2, parts);
}

/* Of any number, the first being NULL. */
static inline Z3_ast some(Z3_context z, Z3_ast sum, Z3_ast more)
{
	return sum ? either(z, sum, more) : more;
}

static inline Z3_ast number(Z3_context z, int64_t n)
{
	return Z3_mk_int64(z, n, Z3_mk_int_sort(z));
}

static inline void implies(struct instances *x, Z3_ast a, Z3_ast b)
{
	instances_assert(x, Z3_mk_implies(x->z, a, b));
}

static inline const struct access *access_at(struct spot a)
{
	assert(a.i < a.t->s->access_count);
	return &a.t->s->accesses[a.i];
}

static inline Z3_ast happens(struct spot a)
{
	return a.t->nodes[access_at(a)->happens].truth;
}

static inline Z3_ast commits(const struct instance *t)
{
	return t->nodes[t->s->commits].truth;
}

Z3_ast same_term(const struct instances *x, struct term a, struct term b);
/* Do both happen, and are they of one key? NULL: never. */
Z3_ast meet(const struct instances *x, struct spot a, struct spot b);
/* The read, and a write of another one that commits. NULL: never. */
Z3_ast read_meets_write(const struct instances *x, struct spot read,
                        struct spot write);
/* Has this read a version that s wrote? A plain `false` if it never has. */
Z3_ast reads_from(const struct instances *x, struct spot read,
                  const struct instance *s);
/* May s write the key of this read by one of many writes that is not here?
 * NULL: it has none. */
Z3_ast writes_more(const struct instances *x, struct spot read,
                   const struct instance *s);
Z3_ast same_values(const struct instances *x, struct spot a, struct spot b);

#endif
