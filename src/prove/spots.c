#include "prove/spots.h"

Z3_ast same_term(const struct instances *x, struct term a, struct term b)
{
	return both(x->z, Z3_mk_eq(x->z, a.tag, b.tag),
	            Z3_mk_eq(x->z, a.number, b.number));
}

Z3_ast meet(const struct instances *x, struct spot a, struct spot b)
{
	const struct access *m = access_at(a), *n = access_at(b);
	if (m->family != n->family) return NULL;
	assert(m->index_count == n->index_count);
	Z3_ast same = both(x->z, happens(a), happens(b));
	for (uint32_t i = 0; i < m->index_count; i++)
		same = both(x->z, same,
		            same_term(x, a.t->nodes[m->indexes[i]].value,
		                      b.t->nodes[n->indexes[i]].value));
	return same;
}

Z3_ast read_meets_write(const struct instances *x, struct spot read,
                        struct spot write)
{
	assert(!access_at(read)->write);
	Z3_ast met = access_at(write)->write ? meet(x, read, write) : NULL;
	return met ? both(x->z, met, commits(write.t)) : NULL;
}

Z3_ast reads_from(const struct instances *x, struct spot read,
                  const struct instance *s)
{
	Z3_ast writes = NULL;
	for (uint32_t j = 0; j < s->s->access_count; j++) {
		Z3_ast met = read_meets_write(x, read, (struct spot){ s, j });
		if (met) writes = some(x->z, writes, met);
	}
	if (!writes) return Z3_mk_false(x->z);
	return both(x->z, writes,
	            Z3_mk_eq(x->z, read.t->source[read.i], s->commit));
}

Z3_ast writes_more(const struct instances *x, struct spot read,
                   const struct instance *s)
{
	Z3_ast more = NULL;
	for (uint32_t j = 0; j < s->s->access_count; j++) {
		const struct access *w = &s->s->accesses[j];
		if (!w->write || !w->many ||
		    w->family != access_at(read)->family)
			continue;
		more = some(
			x->z, more,
			both(x->z, commits(s), happens((struct spot){ s, j })));
	}
	return more;
}

Z3_ast same_values(const struct instances *x, struct spot a, struct spot b)
{
	const struct access *m = access_at(a), *n = access_at(b);
	Z3_ast same = Z3_mk_true(x->z);
	assert(m->family == n->family);
	for (uint32_t i = 0; i < x->app->families[m->family].value_count; i++)
		same = both(x->z, same,
		            same_term(x, a.t->nodes[m->values[i]].value,
		                      b.t->nodes[n->values[i]].value));
	return same;
}
