/* What transactions lock: where each lock is taken, and which of two that
 * exclude each other comes first. */
#include "axioms/points_inside.h"

#include <assert.h>

/* Where the owner of a write has its lock; under levels without statements, at
 * its commit, or before it reads beside its snapshot. */
static uint32_t lock_point(const struct points *p, const struct point_lock *l)
{
	if (level_has_statements(p->of[l->owner].level)) return l->until;
	return l->held == NONE ? commit_of(p, l->owner) : l->held;
}

void points_part_locked_read(struct points *p, const struct point_lock *read,
                             const struct point_lock *write)
{
	assert(read->key == write->key);
	bool checks = read->strength == STRENGTH_CHECK;
	if (read->source == write->owner || read->source == NONE ||
	    read->moot || read->beside ||
	    !strength_meets(read->strength, write->strength))
		return;
	if (checks && level_has_statements(p->of[read->owner].level)) return;
	points_add_choice(
		p,
		(struct point_edge){ commit_of(p, write->owner),
	                             commit_of(p, read->source), REASON_WW,
	                             read->key, read->owner },
		(struct point_edge){ end_of(p, read),
	                             checks ? commit_of(p, write->owner)
	                                    : lock_point(p, write),
	                             REASON_RW, read->key, read->source });
}

/* One of two locks that exclude each other ends before the other's owner comes
 * to this point. Where neither has such a point but its end, one of the two
 * ends first, whatever else holds. */
static void part_ends(struct points *p, const struct point_lock *a, uint32_t u,
                      const struct point_lock *b, uint32_t v,
                      enum reason_kind reason)
{
	uint32_t c = end_of(p, a), d = end_of(p, b);
	if (u == c && v == d) return;
	points_add_choice(
		p, (struct point_edge){ d, u, reason, a->key, b->owner },
		(struct point_edge){ c, v, reason, a->key, a->owner });
}

/* A lock of the pending transaction and one of another. Two writes are rivals;
 * but under levels with statements only if both commit, which is open until
 * the end (part_rivals): whoever aborts has kept nobody's snapshot back, but
 * held the row. */
static void part_locks(struct points *p, const struct point_lock *l,
                       const struct point_lock *o)
{
	bool writes = l->writes && o->writes;
	bool aborted = p->pending.aborts || !p->of[o->owner].committed;
	enum reason_kind reason = writes && !aborted ? REASON_WW : REASON_LOCK;
	if (writes && !aborted && !level_has_statements(p->pending.level))
		part_ends(p, l, l->until, o, o->until, reason);
	else
		part_ends(p, l, lock_point(p, l), o, lock_point(p, o), reason);
}

/* The pending transaction, of a level with statements, commits: of those that
 * wrote a key before it and let no rival be concurrent, each has committed
 * before its writes, or begins behind it. */
static void part_rivals(struct points *p)
{
	for (uint32_t i = p->pending.first; i < p->lock_count; i++) {
		const struct point_lock *l = &p->locks[i];
		if (!l->writes) continue;
		for (uint32_t k = p->keys[l->key].first_lock;
		     k < p->pending.first; k = p->locks[k].next) {
			const struct point_lock *o = &p->locks[k];
			if (o->writes && o->until == p->of[o->owner].begin)
				part_ends(p, l, l->until, o, o->until,
				          REASON_WW);
		}
	}
}

/* Is lock number i, and the one before it, of the same statement? */
static bool is_same_statement(const struct points *p, uint32_t i)
{
	const struct point_lock *l = &p->locks[i];
	return i && l[-1].owner == l->owner && l[-1].statement == l->statement;
}

/* Where the statement of lock number i starts; NONE: there is no point yet. */
static uint32_t start_of(const struct points *p, uint32_t i)
{
	const struct point_lock *l = &p->locks[i];
	if (is_same_statement(p, i)) return l[-1].start;
	for (uint32_t k = p->read_count; k-- > 0;) {
		const struct point_read *r = &p->reads[k];
		if (r->reader != l->owner) break;
		if (r->statement == l->statement && r->at != NONE) return r->at;
	}
	return NONE;
}

/* A point of its owner before this one, behind all that is there before. */
static uint32_t point_before(struct points *p, uint32_t owner, uint32_t until)
{
	uint32_t point = points_new_point(p, owner, before(p, until));
	points_add_edge(
		p, (struct point_edge){ point, until, REASON_COUNT, 0, owner });
	return point;
}

/* Has its owner nothing like it yet? */
static bool is_asked_for(const struct points *p, uint32_t i)
{
	const struct point_lock *l = &p->locks[i];
	while (i-- > 0 && p->locks[i].owner == l->owner)
		if (p->locks[i].key == l->key &&
		    p->locks[i].strength >= l->strength)
			return false;
	return true;
}

/* Lock number i gets points of its own. */
static uint32_t take_point(struct points *p, uint32_t i, uint32_t until)
{
	struct point_lock *l = &p->locks[i];
	l->start = start_of(p, i);
	l->starts = l->start == NONE;
	if (l->starts) l->start = point_before(p, l->owner, until);
	uint32_t point = point_before(p, l->owner, until);
	l->asks = is_asked_for(p, i);
	l->asked = l->start;
	for (uint32_t k = i; is_same_statement(p, k); k--)
		if (p->locks[k - 1].asks) l->asked = point;
	return point;
}

/* Of two locks that exclude each other: b is taken after a has ended; or it was
 * asked for, or (if it is not the first one of its statement) taken, before
 * the statement of a started. */
static void part_asking(struct points *p, const struct point_lock *a,
                        const struct point_lock *b)
{
	uint32_t v = lock_point(p, b);
	if (!a->asks || !b->asks || a->start == NONE) return;
	points_add_choice(p,
	                  (struct point_edge){ b->start == NONE ? v : b->asked,
	                                       a->start, REASON_LOCK, a->key,
	                                       b->owner },
	                  (struct point_edge){ end_of(p, a), v, REASON_LOCK,
	                                       a->key, a->owner });
}

/* Lock number i, of the pending transaction, and those of others. */
static void part_from_others(struct points *p, uint32_t i)
{
	const struct point_lock *l = &p->locks[i];
	bool reads = !l->writes && l->source != NONE;
	if (l->moot || l->beside) return;
	for (uint32_t k = p->keys[l->key].first_lock; k < i;
	     k = p->locks[k].next) {
		const struct point_lock *o = &p->locks[k];
		if (o->owner == l->owner) break;
		if (!o->moot && !o->beside &&
		    strengths_exclude(o->strength, l->strength)) {
			part_locks(p, l, o);
			if (p->runnable) part_asking(p, l, o);
			if (p->runnable) part_asking(p, o, l);
		}
		if (reads && o->writes && p->of[o->owner].committed)
			points_part_locked_read(p, l, o);
	}
}

/* Lock number i, of the pending transaction, gets its u. */
static void take_until(struct points *p, uint32_t i, uint32_t until)
{
	struct point_lock *l = &p->locks[i];
	l->start = l->asked = NONE;
	l->asks = true;
	l->until = p->runnable && level_has_statements(p->pending.level) &&
	                           l->strength != STRENGTH_CHECK
	                   ? take_point(p, i, until)
	                   : until;
	if (!l->writes && l->source != NONE)
		points_add_edge(p, (struct point_edge){ commit_of(p, l->source),
		                                        l->until, REASON_WR,
		                                        l->key, l->owner });
	if (!p->gives_up) part_from_others(p, i);
}

/* The pending transaction's next lock whose u was still open. */
static void resolve(struct points *p, uint32_t until)
{
	take_until(p, p->pending.resolved++, until);
}

/* Are locks whose u is open held against others from the commit on? They are
 * taken before that, so what is added then holds with any u: once it is known,
 * more is added, and a transaction that ends has no more to do for them. */
static bool holds_at_commit(const struct points *p)
{
	return !p->runnable && !p->gives_up;
}

/* Where what the pending transaction writes must have been locked; or, in an
 * earlier statement, NONE if that is still open. */
static uint32_t until_of(const struct points *p, bool writes)
{
	const struct points_pending *t = &p->pending;
	if (level_has_statements(t->level)) return NONE;
	return writes && t->begin != NONE && level_excludes_rivals(t->level)
	               ? t->begin
	               : t->commit;
}

void points_add_lock(struct points *p, struct point_lock lock)
{
	p->pending.locks |= !lock.beside;
	uint32_t until = until_of(p, lock.writes);
	points_enter_lock(p, lock);
	if (until != NONE)
		resolve(p, until);
	else if (holds_at_commit(p))
		take_until(p, p->lock_count - 1, p->pending.commit);
}

void points_take_locks(struct points *p, uint32_t statement, uint32_t until)
{
	while (p->pending.resolved < p->lock_count &&
	       p->locks[p->pending.resolved].statement < statement)
		resolve(p, until);
}

/* The point of the pending transaction's first read beside its snapshot in a
 * statement behind this one; NONE: there is none. */
static uint32_t beside_after(const struct points *p, uint32_t statement)
{
	uint32_t at = NONE;
	for (uint32_t i = p->read_count; i-- > 0;) {
		const struct point_read *r = &p->reads[i];
		if (r->reader != p->pending.t || r->statement <= statement)
			break;
		if (r->beside) at = r->at;
	}
	return at;
}

/* What the pending transaction has locked before it read beside its snapshot
 * was locked by then. (Without statements writes take no locks: two of a key
 * are told apart elsewhere.) */
static void hold_locks(struct points *p)
{
	const struct points_pending *t = &p->pending;
	if (t->begin == NONE || t->last == NONE) return;
	for (uint32_t i = t->first; i < p->lock_count; i++) {
		struct point_lock *l = &p->locks[i];
		if (l->beside || l->moot) continue;
		l->held = beside_after(p, l->statement);
		if (l->held == NONE) continue;
		for (uint32_t k = p->keys[l->key].first_lock; k < t->first;
		     k = p->locks[k].next) {
			const struct point_lock *o = &p->locks[k];
			if (o->moot || o->beside ||
			    (o->writes && l->writes &&
			     !level_has_statements(p->of[o->owner].level)) ||
			    !strengths_exclude(o->strength, l->strength))
				continue;
			part_ends(p, l, l->held, o, lock_point(p, o),
			          REASON_LOCK);
		}
	}
}

void points_end_locks(struct points *p)
{
	const struct points_pending *t = &p->pending;
	hold_locks(p);
	while (!holds_at_commit(p) && t->resolved < p->lock_count)
		resolve(p, t->commit);
	assert(t->resolved == p->lock_count ||
	       p->locks[t->resolved].until == t->commit);
	for (uint32_t i = t->first; p->gives_up && i < p->lock_count; i++)
		part_from_others(p, i);
	if (!t->aborts && level_has_statements(t->level)) part_rivals(p);
}
