#include "prove/question.h"

#include <assert.h>

#include "base/memory.h"
#include "prove/spots.h"

struct question *question_new(Z3_context z, const struct application *a,
                              struct instances_terms terms)
{
	struct question *q = mem_take0(1, sizeof *q);
	uint32_t offset = 0;
	q->x.app = a;
	q->x.z = z;
	q->x.solver = Z3_mk_simple_solver(z);
	Z3_solver_inc_ref(z, q->x.solver);
	q->finals = a->finals;
	q->no_errors = terms.no_errors;
	q->offsets = mem_take0((size_t)a->family_count + 1, sizeof *q->offsets);
	for (uint32_t f = 0; f < a->family_count; f++) {
		q->offsets[f] = offset;
		offset += 2 * a->families[f].value_count;
	}
	q->offsets[a->family_count] = offset;
	instances_limit(&q->x, terms.seed);
	return q;
}

void question_free(struct question *q)
{
	if (!q) return;
	for (uint32_t i = 0; i < q->made_count; i++) {
		instance_clear(q->made[i]);
		free(q->made[i]);
	}
	for (uint32_t i = 0; i < q->state_count; i++) {
		free(q->states[i]->decls);
		free(q->states[i]);
	}
	free(q->made);
	free(q->states);
	free(q->sums);
	free(q->offsets);
	Z3_solver_dec_ref(q->x.z, q->x.solver);
	free(q);
}

struct state *question_state(struct question *q)
{
	const struct application *a = q->x.app;
	Z3_context z = q->x.z;
	Z3_sort number = Z3_mk_int_sort(z);
	struct state *s = mem_take0(1, sizeof *s);
	VEC_RESERVE(q->states, q->state_count, q->state_capacity);
	q->states[q->state_count++] = s;
	s->plain.state = s;
	s->decls = mem_take0((size_t)q->offsets[a->family_count] + 1,
	                     sizeof *s->decls);
	for (uint32_t f = 0; f < a->family_count; f++) {
		uint32_t n = 2 * a->families[f].index_count;
		Z3_sort *domain = mem_take0((size_t)n + 1, sizeof *domain);
		for (uint32_t i = 0; i < n; i++) domain[i] = number;
		/* What nobody writes is always the same. */
		bool known = q->state_count > 1 && !a->families[f].written;
		for (uint32_t k = q->offsets[f]; k < q->offsets[f + 1]; k++)
			s->decls[k] =
				known ? q->states[0]->decls[k]
				      : Z3_mk_fresh_func_decl(z, "s", n, domain,
			                                      number);
		free(domain);
	}
	return s;
}

struct instance *question_instance(struct question *q, const struct summary *s,
                                   enum level others)
{
	struct instance *t = mem_take0(1, sizeof *t);
	VEC_RESERVE(q->made, q->made_count, q->made_capacity);
	q->made[q->made_count++] = t;
	instance_make(&q->x, t, s,
	              &(struct instances_terms){ .level = others });
	return t;
}

struct term *question_index(const struct instance *t, uint32_t access)
{
	const struct access *a = access_at((struct spot){ t, access });
	struct term *index =
		mem_take0((size_t)a->index_count + 1, sizeof *index);
	for (uint32_t i = 0; i < a->index_count; i++)
		index[i] = t->nodes[a->indexes[i]].value;
	return index;
}

static struct term *look_at_state(struct question *q, const struct state *s,
                                  uint32_t family, const struct term *index)
{
	const struct family *f = &q->x.app->families[family];
	Z3_context z = q->x.z;
	uint32_t n = 2 * f->index_count;
	Z3_ast *args = mem_take0((size_t)n + 1, sizeof *args);
	struct term *values = mem_take0(f->value_count, sizeof *values);
	for (uint32_t i = 0; i < f->index_count; i++) {
		args[2 * i] = index[i].tag;
		args[2 * i + 1] = index[i].number;
	}
	for (uint32_t v = 0; v < f->value_count; v++) {
		Z3_func_decl *d = &s->decls[q->offsets[family] + 2 * v];
		values[v] =
			instances_any_value(&q->x, Z3_mk_app(z, d[0], n, args),
		                            Z3_mk_app(z, d[1], n, args));
	}
	free(args);
	return values;
}

struct term *question_look(struct question *q, const struct view *v,
                           uint32_t family, const struct term *index)
{
	if (!v->writer) return look_at_state(q, v->state, family, index);
	const struct instance *t = v->writer;
	const struct family *f = &q->x.app->families[family];
	Z3_context z = q->x.z;
	struct term *values = question_look(q, v->under, family, index);
	for (uint32_t i = 0; i < view_accesses(v); i++) {
		struct spot at = { t, i };
		const struct access *w = access_at(at);
		if (!w->write || w->family != family) continue;
		Z3_ast hit = both(z, commits(t), happens(at));
		for (uint32_t k = 0; k < w->index_count; k++)
			hit = both(z, hit,
			           same_term(&q->x,
			                     t->nodes[w->indexes[k]].value,
			                     index[k]));
		for (uint32_t p = 0; p < f->value_count; p++) {
			struct term new = t->nodes[w->values[p]].value;
			values[p].tag =
				Z3_mk_ite(z, hit, new.tag, values[p].tag);
			values[p].number =
				Z3_mk_ite(z, hit, new.number, values[p].number);
		}
	}
	return values;
}

void question_reads(struct question *q, const struct instance *t, uint32_t i,
                    const struct view *v)
{
	struct spot read = { t, i };
	const struct access *a = access_at(read);
	struct term *index = question_index(t, i);
	struct term *values = question_look(q, v, a->family, index);
	assert(!a->write);
	for (uint32_t p = 0; p < q->x.app->families[a->family].value_count; p++)
		implies(&q->x, happens(read),
		        same_term(&q->x, t->nodes[a->values[p]].value,
		                  values[p]));
	free(values);
	free(index);
}

void question_agrees(struct question *q, const struct instance *t, uint32_t i,
                     const struct view *a, const struct view *b)
{
	struct spot at = { t, i };
	uint32_t family = access_at(at)->family;
	struct term *index = question_index(t, i);
	struct term *one = question_look(q, a, family, index);
	struct term *other = question_look(q, b, family, index);
	for (uint32_t p = 0; p < q->x.app->families[family].value_count; p++)
		implies(&q->x, happens(at), same_term(&q->x, one[p], other[p]));
	free(one);
	free(other);
	free(index);
}

Z3_ast question_fails(struct question *q, const struct claim *k,
                      const struct term *parameters,
                      const struct claim_reads *reads, struct instance **told)
{
	q->x.unbounded = q->no_errors || q->finals->inside;
	struct instance *t = question_instance(q, &k->s, LEVEL_SERIAL);
	q->x.unbounded = false;
	Z3_context z = q->x.z;
	for (uint32_t i = 0; i < k->s.node_count; i++)
		if (k->s.nodes[i].op == NODE_PARAMETER && parameters)
			instances_assert(
				&q->x, same_term(&q->x, t->nodes[i].value,
			                         parameters[k->s.nodes[i].a]));
	for (uint32_t i = 0; i < k->s.access_count; i++) {
		if (k->s.accesses[i].write) continue;
		struct view v = reads->other ? reads->other(q, reads->payload)
		                             : *reads->view;
		question_reads(q, t, i, &v);
	}
	/* Of reads from several states no total is known. */
	for (uint32_t i = 0; i < k->s.total_count && !reads->other; i++)
		question_finds_total(q, t, &k->s.totals[i], reads->view, NULL);
	if (told) *told = t;
	Z3_ast fails =
		either(z, t->nodes[k->s.errs].truth, t->nodes[k->fails].truth);
	return both(z, t->nodes[k->s.assumed].truth, fails);
}

/* What a claim finds is all that it depends on. */
void question_same(struct question *q, const struct claim *k,
                   const struct instance *a, Z3_ast a_fails,
                   const struct instance *b, Z3_ast b_fails)
{
	Z3_context z = q->x.z;
	Z3_ast same = Z3_mk_true(z);
	for (uint32_t i = 0; i < k->s.access_count; i++) {
		const struct access *r = &k->s.accesses[i];
		uint32_t n = q->x.app->families[r->family].value_count;
		for (uint32_t p = 0; p < n && !r->write; p++)
			same = both(z, same,
			            same_term(&q->x,
			                      a->nodes[r->values[p]].value,
			                      b->nodes[r->values[p]].value));
	}
	for (uint32_t i = 0; i < k->s.total_count; i++) {
		const struct found_total *c = &k->s.totals[i];
		same = both(z, same,
		            same_term(&q->x, a->nodes[c->node].value,
		                      b->nodes[c->node].value));
		same = both(z, same,
		            Z3_mk_iff(z, a->nodes[c->errs].truth,
		                      b->nodes[c->errs].truth));
	}
	implies(&q->x, same, Z3_mk_iff(z, a_fails, b_fails));
}
