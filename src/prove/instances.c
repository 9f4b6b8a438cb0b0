#include "prove/instances.h"

#include <assert.h>
#include <inttypes.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	PLAIN_MOST = 100,
	STEPS_MOST = 20000000 /* of the solver, for a question: some seconds */
};

/* ---- formulas ---- */

static Z3_ast truth_of(Z3_context z, bool b)
{
	return b ? Z3_mk_true(z) : Z3_mk_false(z);
}

static Z3_ast both(Z3_context z, Z3_ast a, Z3_ast b)
{
	Z3_ast parts[] = { a, b };
	return Z3_mk_and(z, 2, parts);
}

static Z3_ast either(Z3_context z, Z3_ast a, Z3_ast b)
{
	Z3_ast parts[] = { a, b };
	return Z3_mk_or(z, 2, parts);
}

static Z3_ast number(Z3_context z, int64_t n)
{
	return Z3_mk_int64(z, n, Z3_mk_int_sort(z));
}

static Z3_ast fresh(Z3_context z, bool truth)
{
	return Z3_mk_fresh_const(
		z, "x", truth ? Z3_mk_bool_sort(z) : Z3_mk_int_sort(z));
}

void instances_assert(struct instances *x, Z3_ast condition)
{
	assert(condition);
	Z3_solver_assert(x->z, x->solver, condition);
}

Z3_ast instances_not(const struct instances *x, Z3_ast condition)
{
	return Z3_mk_not(x->z, condition);
}

static void implies(struct instances *x, Z3_ast a, Z3_ast b)
{
	instances_assert(x, Z3_mk_implies(x->z, a, b));
}

Z3_ast instances_before(const struct instances *x, uint32_t a, uint32_t b)
{
	assert(a < x->count && b < x->count);
	return Z3_mk_lt(x->z, x->items[a].commit, x->items[b].commit);
}

/* ---- values ---- */

static Z3_ast has_tag(const struct instances *x, struct term t,
                      enum value_tag tag)
{
	return Z3_mk_eq(x->z, t.tag, number(x->z, tag));
}

static Z3_ast same_term(const struct instances *x, struct term a, struct term b)
{
	return both(x->z, Z3_mk_eq(x->z, a.tag, b.tag),
	            Z3_mk_eq(x->z, a.number, b.number));
}

static Z3_ast within(const struct instances *x, Z3_ast n, int64_t least,
                     int64_t most)
{
	return both(x->z, Z3_mk_le(x->z, number(x->z, least), n),
	            Z3_mk_le(x->z, n, number(x->z, most)));
}

/* Any value; different numbers are different values. */
static struct term any_value(struct instances *x)
{
	struct term t = { fresh(x->z, false), fresh(x->z, false) };
	instances_assert(x, within(x, t.tag, VALUE_NULL, VALUE_STRING));
	implies(x, has_tag(x, t, VALUE_NULL),
	        Z3_mk_eq(x->z, t.number, number(x->z, 0)));
	implies(x, has_tag(x, t, VALUE_BOOL), within(x, t.number, 0, 1));
	implies(x, has_tag(x, t, VALUE_INT),
	        within(x, t.number, INT64_MIN, INT64_MAX));
	return t;
}

static struct term constant_term(const struct instances *x, uint32_t constant)
{
	struct value v = x->app->constants[constant];
	bool scalar = v.tag < VALUE_STRING;
	return (struct term){ number(x->z,
		                     scalar ? (int64_t)v.tag : VALUE_STRING),
		              number(x->z, scalar ? v.i : (int64_t)constant) };
}

static struct term choose(const struct instances *x, Z3_ast c, struct term a,
                          struct term b)
{
	return (struct term){ Z3_mk_ite(x->z, c, a.tag, b.tag),
		              Z3_mk_ite(x->z, c, a.number, b.number) };
}

static Z3_ast node_truth(struct instances *x, const struct instance *t,
                         const struct node *n)
{
	Z3_context z = x->z;
	const union node_term *of = t->nodes;
	switch (n->op) {
	case NODE_FALSE: return truth_of(z, false);
	case NODE_TRUE: return truth_of(z, true);
	case NODE_NOT: return Z3_mk_not(z, of[n->a].truth);
	case NODE_AND: return both(z, of[n->a].truth, of[n->b].truth);
	case NODE_OR: return either(z, of[n->a].truth, of[n->b].truth);
	case NODE_EQUAL: return same_term(x, of[n->a].value, of[n->b].value);
	case NODE_LESS:
		return Z3_mk_lt(z, of[n->a].value.number,
		                of[n->b].value.number);
	case NODE_IS_INT: return has_tag(x, of[n->a].value, VALUE_INT);
	case NODE_IS_BOOL: return has_tag(x, of[n->a].value, VALUE_BOOL);
	case NODE_IS_STRING: return has_tag(x, of[n->a].value, VALUE_STRING);
	case NODE_FIRST: return Z3_mk_eq(z, t->source[n->a], number(z, 0));
	case NODE_HOLDS:
		return both(z, has_tag(x, of[n->a].value, VALUE_BOOL),
		            Z3_mk_eq(z, of[n->a].value.number, number(z, 1)));
	case NODE_FITS:
		return within(x, of[n->a].value.number, INT64_MIN, INT64_MAX);
	default: assert(n->op == NODE_GUESS); return fresh(z, true);
	}
}

static struct term node_value(struct instances *x, const struct instance *t,
                              const struct node *n)
{
	Z3_context z = x->z;
	const union node_term *of = t->nodes;
	struct term v = { .tag = number(z, VALUE_INT) };
	Z3_ast parts[2];
	switch (n->op) {
	case NODE_CONSTANT: return constant_term(x, n->a);
	case NODE_TRUTH:
		v.tag = number(z, VALUE_BOOL);
		v.number = Z3_mk_ite(z, of[n->a].truth, number(z, 1),
		                     number(z, 0));
		return v;
	case NODE_CHOOSE:
		return choose(x, of[n->a].truth, of[n->b].value,
		              of[n->c].value);
	case NODE_SUM:
	case NODE_DIFFERENCE:
	case NODE_PRODUCT:
		parts[0] = of[n->a].value.number;
		parts[1] = of[n->b].value.number;
		v.number = n->op == NODE_SUM       ? Z3_mk_add(z, 2, parts)
		           : n->op == NODE_PRODUCT ? Z3_mk_mul(z, 2, parts)
		                                   : Z3_mk_sub(z, 2, parts);
		return v;
	default: return any_value(x);
	}
}

/* ---- accesses ---- */

struct spot {
	const struct instance *t;
	uint32_t i; /* access */
};

static const struct access *access_at(struct spot a)
{
	assert(a.i < a.t->s->access_count);
	return &a.t->s->accesses[a.i];
}

static Z3_ast happens(struct spot a)
{
	return a.t->nodes[access_at(a)->happens].truth;
}

static Z3_ast commits(const struct instance *t)
{
	return t->nodes[t->s->commits].truth;
}

/* Do both happen, and are they of one key? NULL: never. */
static Z3_ast meet(const struct instances *x, struct spot a, struct spot b)
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

/* The read, and a write of another one that commits. NULL: never. */
static Z3_ast read_meets_write(const struct instances *x, struct spot read,
                               struct spot write)
{
	assert(!access_at(read)->write);
	Z3_ast met = access_at(write)->write ? meet(x, read, write) : NULL;
	return met ? both(x->z, met, commits(write.t)) : NULL;
}

static Z3_ast some(Z3_context z, Z3_ast sum, Z3_ast more)
{
	return sum ? either(z, sum, more) : more;
}

static Z3_ast or_false(Z3_context z, Z3_ast sum)
{
	return sum ? sum : Z3_mk_false(z);
}

/* Has this read a version that s wrote? A plain `false` if it never has. */
static Z3_ast reads_from(const struct instances *x, struct spot read,
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

/* May s write the key of this read by one of many writes that is not here?
 * NULL: it has none. */
static Z3_ast writes_more(const struct instances *x, struct spot read,
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

static Z3_ast same_values(const struct instances *x, struct spot a,
                          struct spot b)
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

/* ---- what depends on what ---- */

Z3_ast instances_conflict(const struct instances *x, uint32_t first, uint32_t i,
                          uint32_t second, uint32_t j)
{
	const struct instance *s = &x->items[first], *t = &x->items[second];
	struct spot m = { s, i }, n = { t, j };
	Z3_context z = x->z;
	Z3_ast met, how;
	if (!access_at(m)->write && !access_at(n)->write) return NULL;
	if (!access_at(n)->write) {
		met = read_meets_write(x, n, m);
		how = Z3_mk_eq(z, t->source[j], s->commit);
	} else if (!access_at(m)->write) {
		met = read_meets_write(x, m, n);
		how = Z3_mk_lt(z, s->source[i], t->commit);
	} else {
		met = meet(x, m, n);
		how = both(z, both(z, commits(s), commits(t)),
		           instances_before(x, first, second));
	}
	return met ? both(z, met, how) : NULL;
}

static void find_conflicts(struct instances *x, uint32_t a, uint32_t b)
{
	struct between *k = &x->between[a][b];
	const struct instance *s = &x->items[a], *t = &x->items[b];
	Z3_context z = x->z;
	Z3_ast wr = NULL, ww = NULL, rw = NULL, seen = NULL;
	for (uint32_t i = 0; i < s->s->access_count; i++)
		for (uint32_t j = 0; j < t->s->access_count; j++) {
			const struct access *n =
				access_at((struct spot){ t, j });
			bool writes = access_at((struct spot){ s, i })->write;
			Z3_ast one = instances_conflict(x, a, i, b, j);
			if (!one) continue;
			if (writes && n->write)
				ww = some(z, ww, one);
			else if (writes)
				wr = some(z, wr, one);
			else
				rw = some(z, rw, one);
			if (writes && !n->write && !n->beside)
				seen = some(z, seen, one);
		}
	k->wr = or_false(z, wr);
	k->seen = or_false(z, seen);
	k->ww = or_false(z, ww);
	k->rw = or_false(z, rw);
	Z3_ast all[] = { k->session, k->wr, k->ww, k->rw };
	k->depends = Z3_mk_or(z, 4, all);
}

/* ---- axioms ---- */

/* A commit order of all, which extends sessions and who reads from whom. */
static void order_commits(struct instances *x)
{
	Z3_ast places[INSTANCES_MAX];
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		places[a] = t->commit;
		instances_assert(x, Z3_mk_lt(x->z, number(x->z, 0), t->commit));
		instances_assert(x, t->nodes[t->s->assumed].truth);
	}
	instances_assert(x, Z3_mk_distinct(x->z, x->count, places));
}

/* Sessions are sequences. */
static void order_sessions(struct instances *x)
{
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++) {
			Z3_ast ab = x->between[a][b].session;
			if (a == b) continue;
			implies(x, ab, instances_before(x, a, b));
			for (uint32_t c = 0; c < x->count; c++) {
				if (c == a || c == b) continue;
				Z3_ast bc = x->between[b][c].session;
				Z3_ast ac = x->between[a][c].session;
				implies(x, both(x->z, ab, bc), ac);
				implies(x, both(x->z, ab, ac),
				        either(x->z, bc,
				               x->between[c][b].session));
				implies(x, both(x->z, ac, bc),
				        either(x->z, ab,
				               x->between[b][a].session));
			}
		}
}

/* A read has a version that somebody wrote before: of one of these instances,
 * what it wrote last. Of one version there is one value. */
static void order_reads(struct instances *x, uint32_t a)
{
	const struct instance *t = &x->items[a];
	Z3_context z = x->z;
	for (uint32_t i = 0; i < t->s->access_count; i++) {
		struct spot read = { t, i };
		const struct access *m = access_at(read);
		if (m->write) continue;
		Z3_ast source = t->source[i];
		instances_assert(x, Z3_mk_le(z, number(z, 0), source));
		instances_assert(x, Z3_mk_lt(z, source, t->commit));
		if (!x->app->families[m->family].written)
			instances_assert(x, Z3_mk_eq(z, source, number(z, 0)));
		for (uint32_t b = 0; b < x->count; b++) {
			const struct instance *s = &x->items[b];
			if (a == b) continue;
			Z3_ast from = Z3_mk_eq(z, source, s->commit);
			Z3_ast more = writes_more(x, read, s);
			implies(x, both(z, happens(read), from),
			        more ? either(z, more, reads_from(x, read, s))
			             : reads_from(x, read, s));
			if (more) continue; /* perhaps written again */
			Z3_ast overwritten = Z3_mk_false(z);
			for (uint32_t j = s->s->access_count; j-- > 0;) {
				struct spot w = { s, j };
				Z3_ast met = read_meets_write(x, read, w);
				if (!met) continue;
				Z3_ast last[] = { met, from,
					          Z3_mk_not(z, overwritten) };
				implies(x, Z3_mk_and(z, 3, last),
				        same_values(x, read, w));
				overwritten = either(z, overwritten, met);
			}
		}
	}
}

static void same_versions(struct instances *x, uint32_t a, uint32_t b)
{
	const struct instance *t = &x->items[a], *u = &x->items[b];
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = a == b ? i + 1 : 0; j < u->s->access_count;
		     j++) {
			struct spot m = { t, i }, n = { u, j };
			const struct access *p = access_at(m),
					    *q = access_at(n);
			if (p->write || q->write) continue;
			Z3_ast met = meet(x, m, n);
			if (!met) continue;
			implies(x,
			        both(x->z, met,
			             Z3_mk_eq(x->z, t->source[i],
			                      u->source[j])),
			        same_values(x, m, n));
		}
}

/* Reads of one key by one transaction: the same version, or at levels at which
 * each read has a moment of its own, no older one. */
static void order_own_reads(struct instances *x, const struct instance *t)
{
	enum sight sight = level_sight(t->level);
	bool moving = level_row(t->level)->moment == MOMENT_READ;
	if (sight == SIGHT_NOTHING) return;
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = i + 1; j < t->s->access_count; j++) {
			struct spot m = { t, i }, n = { t, j };
			if (access_at(m)->write || access_at(n)->write ||
			    access_at(m)->beside || access_at(n)->beside)
				continue;
			if (level_has_statements(t->level) &&
			    access_at(m)->statement >= access_at(n)->statement)
				continue;
			if (access_at(m)->statement > access_at(n)->statement &&
			    moving)
				continue;
			Z3_ast met = meet(x, m, n);
			if (!met) continue;
			implies(x, met,
			        moving ? Z3_mk_le(x->z, t->source[i],
			                          t->source[j])
			               : Z3_mk_eq(x->z, t->source[i],
			                          t->source[j]));
		}
}

/* What is in sight: sessions, what is read from, and rivals where these are.
 * Through others: closed. */
static void order_sight(struct instances *x, bool rivals)
{
	Z3_context z = x->z;
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++) {
			struct between *k = &x->between[a][b];
			if (a == b) continue;
			implies(x, k->session, k->direct);
			implies(x, k->seen, k->direct);
			implies(x, k->direct, k->past);
			implies(x, k->past, instances_before(x, a, b));
			if (rivals) implies(x, k->ww, k->past);
			for (uint32_t c = 0; c < x->count; c++)
				if (c != a && c != b)
					implies(x,
					        both(z, k->past,
					             x->between[b][c].past),
					        x->between[a][c].past);
		}
}

/* When is s in sight of read i of t? */
static Z3_ast in_sight(struct instances *x, uint32_t b, uint32_t a, uint32_t i)
{
	const struct instance *t = &x->items[a], *s = &x->items[b];
	Z3_context z = x->z;
	Z3_ast seen = Z3_mk_false(z);
	switch (level_sight(t->level)) {
	case SIGHT_NOTHING: return seen;
	case SIGHT_SOURCES:
		for (uint32_t e = 0; e < i; e++) {
			struct spot earlier = { t, e };
			if (!access_at(earlier)->write &&
			    access_at(earlier)->statement <
			            access_at((struct spot){ t, i })->statement)
				seen = either(z, seen,
				              reads_from(x, earlier, s));
		}
		return seen;
	case SIGHT_STATEMENT:
		if (access_at((struct spot){ t, i })->strength !=
		    STRENGTH_PLAIN)
			return seen; /* what locks exclude */
		return Z3_mk_lt(z, s->commit, t->point[i]);
	case SIGHT_DIRECT: return x->between[b][a].direct;
	case SIGHT_PAST: return x->between[b][a].past;
	case SIGHT_PREFIX: return Z3_mk_le(z, s->commit, t->begin);
	}
	return seen;
}

/* No read has a version that is older than one in sight. */
static void order_versions(struct instances *x, uint32_t a)
{
	const struct instance *t = &x->items[a];
	for (uint32_t i = 0; i < t->s->access_count; i++) {
		struct spot read = { t, i };
		if (access_at(read)->write) continue;
		for (uint32_t b = 0; b < x->count; b++) {
			const struct instance *s = &x->items[b];
			if (a == b) continue;
			Z3_ast seen = in_sight(x, b, a, i);
			for (uint32_t j = 0; j < s->s->access_count; j++) {
				Z3_ast met = read_meets_write(
					x, read, (struct spot){ s, j });
				if (met)
					implies(x, both(x->z, met, seen),
					        Z3_mk_le(x->z, s->commit,
					                 t->source[i]));
			}
		}
	}
}

/* A prefix of the commit order is in sight: what the transaction reads from,
 * what is before it in its session, and where rivals exclude each other, those
 * that commit before it. Under a serial level all that do. */
static void order_snapshot(struct instances *x, uint32_t a)
{
	const struct instance *t = &x->items[a];
	Z3_context z = x->z;
	if (level_sight(t->level) != SIGHT_PREFIX) return;
	instances_assert(x, Z3_mk_lt(z, t->begin, t->commit));
	for (uint32_t i = 0; i < t->s->access_count; i++) {
		struct spot read = { t, i };
		if (!access_at(read)->write && !access_at(read)->beside)
			implies(x, happens(read),
			        Z3_mk_le(z, t->source[i], t->begin));
	}
	for (uint32_t b = 0; b < x->count; b++) {
		if (a == b) continue;
		Z3_ast seen = Z3_mk_le(z, x->items[b].commit, t->begin);
		implies(x, x->between[b][a].session, seen);
		if (level_excludes_rivals(t->level))
			implies(x, x->between[b][a].ww, seen);
		if (level_is_serial(t->level))
			implies(x, instances_before(x, b, a), seen);
	}
}

/* Two accesses, as they are listed: what a statement reads and does not lock is
 * of one moment. */
static void order_two_points(struct instances *x, const struct instance *t,
                             uint32_t j, uint32_t i)
{
	const struct access *a = access_at((struct spot){ t, j });
	const struct access *b = access_at((struct spot){ t, i });
	bool plain = !a->write && !b->write && !a->beside && !b->beside &&
	             a->strength == STRENGTH_PLAIN &&
	             b->strength == STRENGTH_PLAIN;
	if (a->statement < b->statement)
		instances_assert(x, Z3_mk_lt(x->z, t->point[j], t->point[i]));
	if (a->statement == b->statement && plain)
		instances_assert(x, Z3_mk_eq(x->z, t->point[j], t->point[i]));
}

/* Statements have their points one after the other, those of its session
 * before. */
static void order_points(struct instances *x, uint32_t a)
{
	const struct instance *t = &x->items[a];
	Z3_context z = x->z;
	if (!level_has_statements(t->level)) return;
	for (uint32_t i = 0; i < t->s->access_count; i++) {
		struct spot m = { t, i };
		instances_assert(x, Z3_mk_lt(z, t->point[i], t->commit));
		for (uint32_t j = 0; j < i; j++) order_two_points(x, t, j, i);
		if (!access_at(m)->write)
			implies(x, happens(m),
			        Z3_mk_lt(z, t->source[i], t->point[i]));
		for (uint32_t b = 0; b < x->count; b++)
			if (b != a)
				implies(x, x->between[b][a].session,
				        Z3_mk_lt(z, x->items[b].commit,
				                 t->point[i]));
	}
}

/* A read that locks has the newest version when its transaction commits: who
 * writes another one commits before that, or later. Of two accesses that lock,
 * where locks count from their statement on, one comes when the other's
 * transaction has committed. That aborted ones lock as well is left aside. */
static void order_locks(struct instances *x, uint32_t a, uint32_t b)
{
	const struct instance *t = &x->items[a], *s = &x->items[b];
	Z3_context z = x->z;
	bool points = level_has_statements(t->level) &&
	              level_has_statements(s->level);
	bool counts =
		level_sight(t->level) != SIGHT_NOTHING && level_mixes(t->level);
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = 0; j < s->s->access_count; j++) {
			struct spot m = { t, i }, n = { s, j };
			const struct access *p = access_at(m),
					    *q = access_at(n);
			if (!strengths_exclude(p->strength, q->strength))
				continue;
			Z3_ast met = meet(x, m, n);
			if (!met) continue;
			met = both(z, met, both(z, commits(s), commits(t)));
			if (points && a < b)
				implies(x, met,
				        either(z,
				               Z3_mk_lt(z, s->commit,
				                        t->point[i]),
				               Z3_mk_lt(z, t->commit,
				                        s->point[j])));
			if (!p->write && q->write && counts)
				implies(x, met,
				        either(z,
				               Z3_mk_le(z, s->commit,
				                        t->source[i]),
				               instances_before(x, a, b)));
		}
}

/* ---- a model that can be run ---- */

static Z3_ast plain_value(const struct instances *x, const struct instance *t,
                          uint32_t node)
{
	const struct node *n = &t->s->nodes[node];
	struct term v = t->nodes[node].value;
	Z3_ast small =
		Z3_mk_implies(x->z, has_tag(x, v, VALUE_INT),
	                      within(x, v.number, -PLAIN_MOST, PLAIN_MOST));
	if (n->op == NODE_READ) {
		uint32_t f = t->s->accesses[n->a].family;
		uint32_t initial = x->app->families[f].initial;
		if (initial != UINT32_MAX)
			small = both(x->z, small,
			             Z3_mk_eq(x->z, v.tag,
			                      constant_term(x, initial).tag));
	} else {
		small = both(x->z, small,
		             Z3_mk_not(x->z, has_tag(x, v, VALUE_NULL)));
	}
	return small;
}

static void prefer(struct instances *x)
{
	Z3_context z = x->z;
	Z3_ast closed = Z3_mk_true(z), fine = Z3_mk_true(z),
	       plain = Z3_mk_true(z);
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		fine = both(z, fine, Z3_mk_not(z, t->nodes[t->s->errs].truth));
		for (uint32_t i = 0; i < t->s->node_count; i++) {
			enum node_op op = t->s->nodes[i].op;
			if (op == NODE_READ || op == NODE_PARAMETER)
				plain = both(z, plain, plain_value(x, t, i));
			/* Where integers are expected, others may be errors. */
			if (op == NODE_IS_INT)
				plain = both(z, plain, t->nodes[i].truth);
		}
		for (uint32_t i = 0; i < t->s->access_count; i++) {
			struct spot read = { t, i };
			if (access_at(read)->write) continue;
			Z3_ast known = Z3_mk_eq(z, t->source[i], number(z, 0));
			for (uint32_t b = 0; b < x->count; b++)
				if (b != a)
					known = either(
						z, known,
						Z3_mk_eq(z, t->source[i],
					                 x->items[b].commit));
			closed = both(z, closed,
			              Z3_mk_implies(z, happens(read), known));
		}
	}
	x->closed = fresh(z, true);
	x->fine = fresh(z, true);
	x->plain = fresh(z, true);
	implies(x, x->closed, closed);
	implies(x, x->fine, fine);
	implies(x, x->plain, plain);
}

/* ---- all ---- */

static void make_instance(struct instances *x, struct instance *t,
                          const struct summary *s, enum level others)
{
	*t = (struct instance){ .s = s,
		                .level = s->own ? (enum level)(s->own - 1)
		                                : others,
		                .commit = fresh(x->z, false),
		                .begin = fresh(x->z, false) };
	t->nodes = mem_take0(s->node_count, sizeof *t->nodes);
	t->source = mem_take0((size_t)s->access_count + 1, sizeof *t->source);
	t->point = mem_take0((size_t)s->access_count + 1, sizeof *t->point);
	for (uint32_t i = 0; i < s->access_count; i++) {
		t->source[i] = fresh(x->z, false);
		t->point[i] = fresh(x->z, false);
	}
	for (uint32_t i = 0; i < s->node_count; i++) {
		const struct node *n = &s->nodes[i];
		if (node_is_value(n))
			t->nodes[i].value = node_value(x, t, n);
		else
			t->nodes[i].truth = node_truth(x, t, n);
	}
}

static void make_between(struct instances *x, bool sessions)
{
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++) {
			struct between *k = &x->between[a][b];
			if (a == b) continue;
			k->session = sessions ? fresh(x->z, true)
			                      : Z3_mk_false(x->z);
			k->past = fresh(x->z, true);
			k->direct = fresh(x->z, true);
		}
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++)
			if (a != b) find_conflicts(x, a, b);
}

/* A question that cannot be answered has the answer `undecided`; nothing else
 * of what is asked can fail. */
static void on_error(Z3_context z, Z3_error_code e)
{
	(void)z;
	(void)e;
}

static void release_context(void *z)
{
	Z3_del_context(z);
}

/* A limit of steps: it is the same wherever it runs, and the solver needs no
 * thread that looks at a clock. */
static void limit(struct instances *x)
{
	Z3_params p = Z3_mk_params(x->z);
	Z3_params_inc_ref(x->z, p);
	Z3_params_set_uint(x->z, p, Z3_mk_string_symbol(x->z, "rlimit"),
	                   STEPS_MOST);
	Z3_solver_set_params(x->z, x->solver, p);
	Z3_params_dec_ref(x->z, p);
}

Z3_context instances_context(void)
{
	Z3_config config = Z3_mk_config();
	Z3_set_param_value(config, "model", "true");
	Z3_context z = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(z, on_error);
	mem_hold(z, release_context);
	return z;
}

void instances_context_free(Z3_context z)
{
	if (!z) return;
	mem_let_go(z);
	Z3_del_context(z);
}

struct instances *instances_new(Z3_context z, const struct application *app,
                                const uint32_t *which, uint32_t count,
                                struct instances_terms terms)
{
	enum level others = terms.level;
	struct instances *x = mem_take0(1, sizeof *x);
	assert(count > 1 && count <= INSTANCES_MAX);
	x->app = app;
	x->z = z;
	x->solver = Z3_mk_simple_solver(x->z);
	Z3_solver_inc_ref(x->z, x->solver);
	x->count = count;
	for (uint32_t i = 0; i < count; i++)
		make_instance(x, &x->items[i], &app->summaries[which[i]],
		              others);
	make_between(x, !terms.one_each);
	order_commits(x);
	order_sessions(x);
	/* Levels that exclude rivals without a prefix are those of all. */
	order_sight(x, level_excludes_rivals(others) && !level_mixes(others));
	for (uint32_t a = 0; a < count; a++) {
		order_reads(x, a);
		order_own_reads(x, &x->items[a]);
		order_versions(x, a);
		order_snapshot(x, a);
		order_points(x, a);
		for (uint32_t b = 0; b < count; b++) {
			if (a != b) order_locks(x, a, b);
			if (a <= b) same_versions(x, a, b);
		}
	}
	limit(x);
	prefer(x);
	if (terms.no_errors) instances_assert(x, x->fine);
	return x;
}

void instances_free(struct instances *x)
{
	if (!x) return;
	for (uint32_t i = 0; i < x->count; i++) {
		free(x->items[i].nodes);
		free(x->items[i].source);
		free(x->items[i].point);
	}
	Z3_solver_dec_ref(x->z, x->solver);
	free(x);
}

bool summaries_conflict(const struct application *app, uint32_t x, uint32_t y)
{
	const struct summary *s = &app->summaries[x], *t = &app->summaries[y];
	for (uint32_t i = 0; i < s->access_count; i++)
		for (uint32_t j = 0; j < t->access_count; j++)
			if (s->accesses[i].family == t->accesses[j].family &&
			    (s->accesses[i].write || t->accesses[j].write))
				return true;
	return false;
}
