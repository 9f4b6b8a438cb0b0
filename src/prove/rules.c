/* What a level demands of instances. */
#include "prove/rules.h"

#include "prove/spots.h"

/* A commit order of all, which extends sessions and who reads from whom. */
static void order_commits(struct instances *x)
{
	Z3_ast places[INSTANCES_MAX];
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		places[a] = t->commit;
		instances_assert(x, Z3_mk_lt(x->z, number(x->z, 0), t->commit));
		x->rule = RULE_ASSUMED;
		instances_assert(x, t->nodes[t->s->assumed].truth);
		x->rule = RULE_NONE;
	}
	instances_assert(x, Z3_mk_distinct(x->z, x->count, places));
}

/* Sessions are sequences. */
static void order_sessions(struct instances *x)
{
	x->rule = RULE_SESSIONS;
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
		x->rule = RULE_COMMITTED;
		instances_assert(x, Z3_mk_le(z, number(z, 0), source));
		instances_assert(x, Z3_mk_lt(z, source, t->commit));
		x->rule = RULE_UNWRITTEN + m->family;
		if (!x->app->families[m->family].written)
			instances_assert(x, Z3_mk_eq(z, source, number(z, 0)));
		x->rule = RULE_VALUES;
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
	x->rule = RULE_VALUES;
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
	x->rule = RULE_OWN_READS;
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
			x->rule = RULE_SESSIONS;
			implies(x, k->session, k->direct);
			x->rule = RULE_SIGHT;
			implies(x, k->seen, k->direct);
			implies(x, k->direct, k->past);
			implies(x, k->past, instances_before(x, a, b));
			x->rule = RULE_RIVALS;
			if (rivals) implies(x, k->ww, k->past);
			x->rule = RULE_SIGHT;
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
	x->rule = RULE_VERSIONS;
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

/* ---- writers that are not here ---- */

/* What nobody writes is from init, and was told. */
static bool is_written(const struct instances *x, struct spot a)
{
	return x->app->families[access_at(a)->family].written;
}

/* Read j of u has the version of some transaction that commits at its place.
 * When is that one in sight of read i of t? */
static Z3_ast writer_in_sight(struct instances *x, uint32_t a, uint32_t i,
                              uint32_t b, uint32_t j)
{
	const struct instance *t = &x->items[a], *u = &x->items[b];
	Z3_ast place = u->source[j];
	enum sight sight = level_sight(t->level);
	const struct access *r = access_at((struct spot){ t, i });
	Z3_context z = x->z;
	Z3_ast seen = Z3_mk_false(z);
	if (sight == SIGHT_PREFIX) return Z3_mk_le(z, place, t->begin);
	if (sight == SIGHT_STATEMENT)
		return r->strength == STRENGTH_PLAIN
		               ? Z3_mk_lt(z, place, t->point[i])
		               : seen;
	if (sight == SIGHT_NOTHING) return seen;
	if (sight == SIGHT_PAST && a != b &&
	    !access_at((struct spot){ u, j })->beside)
		seen = x->between[b][a].past;
	for (uint32_t e = 0; e < t->s->access_count; e++) {
		struct spot other = { t, e };
		const struct access *m = access_at(other);
		if (m->write || m->beside || e == i ||
		    (sight == SIGHT_SOURCES && m->statement >= r->statement))
			continue;
		seen = either(z, seen,
		              both(z, happens(other),
		                   Z3_mk_eq(z, t->source[e], place)));
	}
	return seen;
}

/* Whoever wrote what u reads wrote that key: what a level says of writers in
 * sight holds of it as of those that are here. */
static void order_others(struct instances *x, uint32_t a, uint32_t b)
{
	const struct instance *t = &x->items[a], *u = &x->items[b];
	Z3_context z = x->z;
	x->rule = RULE_VERSIONS;
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = 0; j < u->s->access_count; j++) {
			struct spot read = { t, i }, known = { u, j };
			if (access_at(read)->write || access_at(known)->write)
				continue;
			Z3_ast met = meet(x, read, known);
			if (!met) continue;
			implies(x, both(z, met, writer_in_sight(x, a, i, b, j)),
			        Z3_mk_le(z, u->source[j], t->source[i]));
		}
}

/* Does what locks the key so exclude all who write it? */
static bool excludes_writers(const struct application *app,
                             const struct access *lock)
{
	for (uint32_t s = 0; s < app->summary_count; s++)
		for (uint32_t i = 0; i < app->summaries[s].access_count; i++) {
			const struct access *w = &app->summaries[s].accesses[i];
			if (w->write && w->family == lock->family &&
			    !strengths_exclude(lock->strength, w->strength))
				return false;
		}
	return true;
}

/* Is what t has locked by this locked even if t aborts? What it wrote counts
 * under some levels only, and what is read for a constraint is not always. */
static Z3_ast locked_by(const struct instances *x, struct spot lock)
{
	const struct access *m = access_at(lock);
	return m->write || strength_is_beside(m->strength) ? commits(lock.t)
	                                                   : Z3_mk_true(x->z);
}

/* Of a key that t writes or locks, when may somebody else have committed a
 * version? Where rivals exclude each other, or all are serial, those that
 * commit before t are in its snapshot. NULL: at any time. */
static Z3_ast rival_may_commit(struct instances *x, const struct instance *t,
                               uint32_t i, Z3_ast place)
{
	const struct access *m = access_at((struct spot){ t, i });
	Z3_context z = x->z;
	Z3_ast late = Z3_mk_le(z, t->commit, place);
	bool counts = level_sight(t->level) != SIGHT_NOTHING;
	if (m->write && level_sight(t->level) == SIGHT_PREFIX &&
	    level_excludes_rivals(t->level)) {
		x->rule = RULE_RIVALS;
		return either(z, Z3_mk_le(z, place, t->begin), late);
	}
	if (!m->write && counts && excludes_writers(x->app, m)) {
		x->rule = RULE_LOCKS;
		return either(z, Z3_mk_le(z, place, t->source[i]), late);
	}
	return NULL;
}

static void order_other_rivals(struct instances *x, uint32_t a, uint32_t b)
{
	const struct instance *t = &x->items[a], *u = &x->items[b];
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = 0; j < u->s->access_count; j++) {
			struct spot mine = { t, i }, known = { u, j };
			if (access_at(known)->write || !is_written(x, known))
				continue;
			Z3_ast met = meet(x, mine, known);
			Z3_ast when =
				met ? rival_may_commit(x, t, i, u->source[j])
				    : NULL;
			if (when)
				implies(x, both(x->z, met, locked_by(x, mine)),
				        when);
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
	x->rule = RULE_SNAPSHOT;
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
		x->rule = RULE_SESSIONS;
		implies(x, x->between[b][a].session, seen);
		x->rule = RULE_RIVALS;
		if (level_excludes_rivals(t->level))
			implies(x, x->between[b][a].ww, seen);
		x->rule = RULE_SERIAL;
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
	x->rule = RULE_STATEMENTS;
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

/* A read that locks has the newest version when its transaction ends: who
 * writes another one commits before that, or later. Of two accesses that lock,
 * where locks count from their statement on, one comes when the other's
 * transaction has committed. (That aborted ones lock as well is left aside
 * there.) */
static void order_locks(struct instances *x, uint32_t a, uint32_t b)
{
	const struct instance *t = &x->items[a], *s = &x->items[b];
	Z3_context z = x->z;
	bool points = level_has_statements(t->level) &&
	              level_has_statements(s->level);
	bool counts = level_sight(t->level) != SIGHT_NOTHING;
	x->rule = RULE_LOCKS;
	for (uint32_t i = 0; i < t->s->access_count; i++)
		for (uint32_t j = 0; j < s->s->access_count; j++) {
			struct spot m = { t, i }, n = { s, j };
			const struct access *p = access_at(m),
					    *q = access_at(n);
			if (!strengths_exclude(p->strength, q->strength))
				continue;
			Z3_ast met = meet(x, m, n);
			if (!met) continue;
			met = both(z, met, commits(s));
			if (points && a < b)
				implies(x, both(z, met, commits(t)),
				        either(z,
				               Z3_mk_lt(z, s->commit,
				                        t->point[i]),
				               Z3_mk_lt(z, t->commit,
				                        s->point[j])));
			if (!p->write && q->write && counts)
				implies(x, both(z, met, locked_by(x, m)),
				        either(z,
				               Z3_mk_le(z, s->commit,
				                        t->source[i]),
				               instances_before(x, a, b)));
		}
}

/* Serializable snapshot isolation: a misses what b writes, and b what c writes,
 * which commits first. (a may be c.) See axioms/points.h. */
static void order_danger(struct instances *x, uint32_t a, uint32_t b,
                         uint32_t c)
{
	const struct instance *t = &x->items[a], *u = &x->items[b];
	Z3_context z = x->z;
	if (!t->watched || !u->watched || !x->items[c].watched) return;
	Z3_ast danger[] = {
		x->between[a][b].missed,
		x->between[b][c].missed,
		Z3_mk_lt(z, u->begin, x->items[c].commit),
		instances_before(x, c, b),
		Z3_mk_lt(z, t->begin, u->commit),
		a == c ? Z3_mk_true(z) : instances_before(x, c, a),
	};
	x->rule = RULE_DANGER;
	instances_assert(x, Z3_mk_not(z, Z3_mk_and(z, 6, danger)));
}

/* Is it this key? */
static Z3_ast is_named(const struct instances *x, struct spot read,
                       const struct first_value *f)
{
	Z3_ast same = Z3_mk_true(x->z);
	for (uint32_t k = 0; k < access_at(read)->index_count; k++) {
		uint32_t i = access_at(read)->indexes[k];
		struct term c = instances_constant(x, f->indexes[k]);
		same = both(x->z, same,
		            same_term(x, read.t->nodes[i].value, c));
	}
	return same;
}

/* What is read from init is what the program has there. */
static void begin_as_declared(struct instances *x, struct spot read)
{
	const struct application *app = x->app;
	const struct access *r = access_at(read);
	Z3_context z = x->z;
	struct term v = read.t->nodes[r->values[0]].value;
	struct term rest = { number(z, VALUE_NULL), number(z, 0) };
	Z3_ast first = both(z, happens(read),
	                    Z3_mk_eq(z, read.t->source[read.i], number(z, 0)));
	for (uint32_t i = 0; i < app->first_count; i++) {
		const struct first_value *f = &app->firsts[i];
		if (f->family != r->family) continue;
		if (f->value == UINT32_MAX) return;
		struct term c = instances_constant(x, f->value);
		if (!f->indexes) {
			rest = c;
			continue;
		}
		Z3_ast here = both(z, first, is_named(x, read, f));
		implies(x, here, same_term(x, v, c));
		first = both(z, first, Z3_mk_not(z, is_named(x, read, f)));
	}
	implies(x, first, same_term(x, v, rest));
}

void rules_assert(struct instances *x, enum level others)
{
	order_commits(x);
	order_sessions(x);
	/* Levels that exclude rivals without a prefix are those of all. */
	order_sight(x, level_excludes_rivals(others) && !level_mixes(others));
	for (uint32_t a = 0; a < x->count; a++) {
		order_reads(x, a);
		order_own_reads(x, &x->items[a]);
		order_versions(x, a);
		order_snapshot(x, a);
		order_points(x, a);
		const struct summary *s = x->items[a].s;
		for (uint32_t i = 0; x->app->from_first && i < s->access_count;
		     i++)
			if (!s->accesses[i].write)
				begin_as_declared(
					x, (struct spot){ &x->items[a], i });
		for (uint32_t b = 0; b < x->count; b++) {
			if (a != b) order_locks(x, a, b);
			if (a <= b) same_versions(x, a, b);
			if (a != b) order_others(x, a, b);
			if (a != b) order_other_rivals(x, a, b);
			for (uint32_t c = 0; c < x->count; c++)
				if (a != b && b != c) order_danger(x, a, b, c);
		}
	}
	x->rule = RULE_NONE;
}
