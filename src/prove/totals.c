/* Totals of states: what transactions write over a state changes them by what
 * it changes of the rows that they write. */
#include <assert.h>

#include "base/memory.h"
#include "prove/question.h"
#include "prove/spots.h"

enum {
	ROWS_MOST = 24 /* of a table and a transaction: then only those that
	                * are written */
};

struct weight {
	Z3_ast counts, value, errs;
};

/* What the row of this key is to the total, if `is`. */
static struct weight weigh(struct question *q, uint32_t total,
                           const struct term *key, const struct view *v,
                           Z3_ast is)
{
	const struct total *t = &q->finals->totals[total];
	Z3_context z = q->x.z;
	q->x.unbounded = q->no_errors || q->finals->inside;
	struct instance *row = question_instance(q, &t->s, LEVEL_SERIAL);
	q->x.unbounded = false;
	for (uint32_t i = 0; i < t->s.node_count; i++)
		if (t->s.nodes[i].op == NODE_PARAMETER)
			implies(&q->x, is,
			        same_term(&q->x, row->nodes[i].value,
			                  key[t->s.nodes[i].a]));
	question_reads(q, row, 0, v);
	implies(&q->x, is, row->nodes[t->s.assumed].truth);
	return (struct weight){
		.counts = both(z, is, row->nodes[t->counts].truth),
		.value = row->nodes[t->value].value.number,
		.errs = both(z, is, row->nodes[t->s.errs].truth),
	};
}

static struct sum plus(Z3_context z, struct sum s, struct weight w, bool minus)
{
	Z3_ast none = number(z, 0);
	Z3_ast more[] = { s.count, Z3_mk_ite(z, w.counts, number(z, 1), none) };
	Z3_ast sum[] = { s.sum, Z3_mk_ite(z, w.counts, w.value, none) };
	s.count = minus ? Z3_mk_sub(z, 2, more) : Z3_mk_add(z, 2, more);
	s.sum = minus ? Z3_mk_sub(z, 2, sum) : Z3_mk_add(z, 2, sum);
	return s;
}

/* Of any rows. */
static void is_sum(struct question *q, struct sum s)
{
	Z3_context z = q->x.z;
	Z3_ast none = number(z, 0);
	instances_assert(&q->x, Z3_mk_le(z, none, s.count));
	implies(&q->x, Z3_mk_eq(z, s.count, none), Z3_mk_eq(z, s.sum, none));
}

/* Accesses of transactions that name rows of a family. */
struct named {
	struct spot *items;
	uint32_t count;
};

/* Of its first accesses all that are written; and what is read, so that more is
 * known of those that stay. */
static void add_named(struct named *n, const struct instance *t,
                      uint32_t accesses, uint32_t family)
{
	const struct summary *s = t->s;
	uint32_t count = 0;
	for (uint32_t i = 0; i < accesses; i++)
		count += s->accesses[i].family == family;
	n->items = mem_grow(n->items, n->count + (size_t)count + 1,
	                    sizeof *n->items);
	for (uint32_t i = 0; i < accesses; i++)
		if (s->accesses[i].family == family &&
		    (s->accesses[i].write || count <= ROWS_MOST))
			n->items[n->count++] = (struct spot){ t, i };
}

/* Does it happen, and is it the first one of its row? */
static Z3_ast is_first(struct question *q, const struct named *n, uint32_t k)
{
	Z3_context z = q->x.z;
	Z3_ast first = both(z, commits(n->items[k].t), happens(n->items[k]));
	for (uint32_t i = 0; i < k; i++) {
		Z3_ast same = meet(&q->x, n->items[i], n->items[k]);
		same = both(z, same, commits(n->items[i].t));
		first = both(z, first, Z3_mk_not(z, same));
	}
	return first;
}

static struct weight weigh_named(struct question *q, uint32_t total,
                                 const struct named *n, uint32_t k,
                                 const struct view *v)
{
	struct term *key = question_index(n->items[k].t, n->items[k].i);
	struct weight w = weigh(q, total, key, v, is_first(q, n, k));
	free(key);
	return w;
}

/* The sum of all rows but these. */
static struct sum others(struct question *q, const struct view *v,
                         uint32_t total, const struct named *n)
{
	Z3_context z = q->x.z;
	struct sum all = question_total(q, v, total), rest = all;
	Z3_ast erred = rest.errs = instances_fresh(z, true);
	for (uint32_t k = 0; k < n->count; k++) {
		struct weight w = weigh_named(q, total, n, k, v);
		rest = plus(z, rest, w, true);
		erred = either(z, erred, w.errs);
	}
	instances_assert(&q->x, Z3_mk_iff(z, all.errs, erred));
	is_sum(q, rest);
	return rest;
}

/* Let R be the rows that the writer names, each once, so that those that it
 * writes are among them. The other rows are the same in both views. So a total
 * is U + w(R), w(R) being what these rows are to it in the view, and U what the
 * others are, the same number in both. */
static struct sum over(struct question *q, const struct view *v, uint32_t total)
{
	Z3_context z = q->x.z;
	struct named n = { .count = 0 };
	add_named(&n, v->writer, view_accesses(v),
	          q->finals->totals[total].family);
	struct sum sum = others(q, v->under, total, &n);
	for (uint32_t k = 0; k < n.count; k++) {
		struct weight w = weigh_named(q, total, &n, k, v);
		sum = plus(z, sum, w, false);
		sum.errs = either(z, sum.errs, w.errs);
	}
	free(n.items);
	return sum;
}

Z3_ast question_alone(struct question *q, const struct view *v,
                      const struct instance *t, const struct instance *u)
{
	Z3_context z = q->x.z;
	Z3_ast alone = Z3_mk_true(z);
	for (uint32_t i = 0; i < q->finals->total_count; i++) {
		struct named n = { .count = 0 };
		uint32_t family = q->finals->totals[i].family;
		add_named(&n, t, t->s->access_count, family);
		if (u) add_named(&n, u, u->s->access_count, family);
		alone = both(
			z, alone,
			Z3_mk_eq(z, others(q, v, i, &n).count, number(z, 0)));
		free(n.items);
	}
	return alone;
}

static struct sum any_sum(struct question *q)
{
	struct sum s = { instances_fresh(q->x.z, false),
		         instances_fresh(q->x.z, false),
		         instances_fresh(q->x.z, true) };
	is_sum(q, s);
	return s;
}

static bool same_view(const struct view *a, const struct view *b)
{
	return a->state == b->state && a->under == b->under &&
	       a->writer == b->writer && a->accesses == b->accesses;
}

/* All rows are no fewer than some of them. */
static void count_all(struct question *q, const struct view *v, uint32_t total,
                      struct sum sum)
{
	const struct total *t = &q->finals->totals[total];
	for (uint32_t i = 0; i < q->sum_count; i++) {
		const struct known_sum *k = &q->sums[i];
		const struct total *u = &q->finals->totals[k->total];
		if (u->family != t->family || !same_view(&k->of, v)) continue;
		if (u->all)
			instances_assert(&q->x, Z3_mk_le(q->x.z, sum.count,
			                                 k->sum.count));
		if (t->all)
			instances_assert(&q->x, Z3_mk_le(q->x.z, k->sum.count,
			                                 sum.count));
	}
}

struct sum question_total(struct question *q, const struct view *v,
                          uint32_t total)
{
	const struct total *t = &q->finals->totals[total];
	struct view of = v->writer ? *v : (struct view){ .state = v->state };
	/* What nobody writes is always the same. */
	if (!q->x.app->families[t->family].written) of = (struct view){ 0 };
	for (uint32_t i = 0; i < q->sum_count; i++) {
		const struct known_sum *k = &q->sums[i];
		if (k->total == total && same_view(&k->of, &of)) return k->sum;
	}
	struct sum sum = of.writer ? over(q, v, total) : any_sum(q);
	count_all(q, &of, total, sum);
	VEC_RESERVE(q->sums, q->sum_count, q->sum_capacity);
	q->sums[q->sum_count++] = (struct known_sum){ of, total, sum };
	return sum;
}

static struct term total_term(struct question *q, struct sum s, bool counts)
{
	Z3_context z = q->x.z;
	Z3_ast whole = number(z, VALUE_INT);
	if (counts) return (struct term){ whole, s.count };
	/* SUM of no rows is NULL. */
	Z3_ast empty = Z3_mk_eq(z, s.count, number(z, 0));
	return (struct term){ Z3_mk_ite(z, empty, number(z, VALUE_NULL), whole),
		              s.sum };
}

void question_finds_total(struct question *q, const struct instance *t,
                          const struct found_total *f,
                          const struct view *before, Z3_ast when)
{
	struct view own = { .under = before,
		            .writer = t,
		            .accesses = f->access };
	struct sum sum = question_total(q, f->access ? &own : before, f->total);
	struct term found = total_term(q, sum, f->counts);
	Z3_ast is = same_term(&q->x, found, t->nodes[f->node].value);
	if (f->errs != FALSE_NODE)
		is = both(q->x.z, is,
		          Z3_mk_iff(q->x.z, sum.errs, t->nodes[f->errs].truth));
	instances_assert(&q->x, when ? Z3_mk_implies(q->x.z, when, is) : is);
}
