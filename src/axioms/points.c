#include "axioms/points_inside.h"

#include <assert.h>

#include "base/memory.h"

/* ---- Points and edges ---- */

uint32_t points_new_point(struct points *p, uint32_t owner, const word *row)
{
	uint32_t i = p->node_count++;
	assert(i < p->room);
	p->owner[i] = owner;
	bits_copy(before(p, i), row, p->width);
	bits_zero(order_row(p->rows.after, i, p->width), p->width);
	BITS_EACH(b, row, p->width)
		bits_add(order_row(p->rows.after, b, p->width), i);
	return i;
}

static void record(struct points *p, struct point_edge e)
{
	if (!p->recording) return;
	VEC_RESERVE(p->edges, p->edge_count, p->edge_capacity);
	p->edges[p->edge_count++] = e;
}

bool points_add(struct points *p, const struct point_edge *e)
{
	bool fine = p->width == 1
	                    ? order_add(&p->rows, e->from, e->to, 1)
	                    : order_add(&p->rows, e->from, e->to, p->width);
	if (fine)
		record(p, *e);
	else
		p->closing = *e;
	return fine;
}

void points_add_edge(struct points *p, struct point_edge e)
{
	if (!p->failed && !points_add(p, &e)) p->failed = true;
}

/* Init's commit comes after nothing. */
void points_add_choice(struct points *p, struct point_edge first,
                       struct point_edge second)
{
	if (is_before(p, first.from, first.to) ||
	    is_before(p, second.from, second.to))
		return;
	if (first.to == 0 || is_closed(p, &first)) {
		points_add_edge(p, second);
		return;
	}
	if (is_closed(p, &second)) {
		points_add_edge(p, first);
		return;
	}
	VEC_RESERVE(p->choices, p->choice_count, p->choice_capacity);
	p->choices[p->choice_count++] = (struct point_choice){ first, second };
}

/* A read at a point and another writer of its key. */
static void part_writer(struct points *p, const struct point_read *r,
                        uint32_t writer)
{
	uint32_t c = commit_of(p, writer);
	if (is_before(p, r->at, c)) return;
	points_add_choice(
		p,
		(struct point_edge){ c, commit_of(p, r->source), REASON_WW,
	                             r->key, r->reader },
		(struct point_edge){ r->at, c, REASON_RW, r->key, r->source });
}

/* ---- A transaction ---- */

static void record_so(struct points *p, uint32_t t, uint32_t point)
{
	const word *so = order_row(p->so, t, p->words);
	if (!p->recording) return;
	BITS_EACH(u, so, p->words)
		record(p, (struct point_edge){ commit_of(p, u), point,
		                               REASON_SO, 0, t });
}

/* The points before those of a transaction behind these in session order. */
static void take_sessions(const struct points *p, const word *so, word *row)
{
	bits_zero(row, p->width);
	BITS_EACH(u, so, p->words) {
		uint32_t c = commit_of(p, u);
		bits_or(row, before(p, c), p->width);
		bits_add(row, c);
	}
	bits_add(row, 0);
}

void points_begin(struct points *p, uint32_t t, enum level level, bool aborts,
                  const word *so, unsigned words)
{
	word *row = p->rows.spare + 4 * (size_t)p->width;
	bool ssi = p->ssi && level_is_serial(level);
	assert(!p->pending.t && t && t < 64 * p->words);
	assert(words <= p->words);
	/* Snapshot isolation is the strongest level with snapshots. */
	level = level_behind(level, ssi);
	bits_zero(order_row(p->so, t, p->words), p->words);
	bits_copy(order_row(p->so, t, p->words), so, words);
	take_sessions(p, order_row(p->so, t, p->words), row);
	p->pending = (struct points_pending){ .t = t,
		                              .level = level,
		                              .aborts = aborts,
		                              .begin = NONE,
		                              .last = NONE,
		                              .resolved = p->lock_count,
		                              .first = p->lock_count };
	if (level_has_snapshots(level)) {
		p->pending.begin = points_new_point(p, t, row);
		record_so(p, t, p->pending.begin);
		bits_add(row, p->pending.begin);
	}
	p->pending.commit = points_new_point(p, t, row);
	record_so(p, t, p->pending.commit);
	if (p->pending.begin != NONE)
		record(p,
		       (struct point_edge){ p->pending.begin, p->pending.commit,
		                            REASON_COUNT, 0, t });
	p->of[t] = (struct point_transaction){ .begin = p->pending.begin,
		                               .commit = p->pending.commit,
		                               .level = level,
		                               .ssi = ssi };
}

/* Nothing but the last point keeps this read, in a statement behind it, from
 * being earlier, and so it can be just behind it, whatever happens. */
static bool is_next_to_last(const struct points *p, uint32_t source)
{
	const struct points_pending *t = &p->pending;
	return !p->runnable && t->resolved == p->lock_count &&
	       is_before(p, commit_of(p, source), t->last);
}

/* The point of a read in a statement of prc: that of its reads so far, or a
 * new one. */
static uint32_t statement_point(struct points *p, uint32_t source,
                                uint32_t statement)
{
	struct points_pending *t = &p->pending;
	word *row = p->rows.spare + 4 * (size_t)p->width;
	bool again = t->last != NONE && t->statement == statement;
	if (again && !t->merged) return t->last;
	if (t->last != NONE && is_next_to_last(p, source)) {
		t->merged = true;
		t->statement = statement;
		return t->last;
	}
	/* What its own locks wait for need not be before it: they may be of
	 * the same statement. */
	uint32_t last = t->last;
	t->merged = false;
	if (last == NONE) {
		take_sessions(p, order_row(p->so, t->t, p->words), row);
	} else {
		bits_copy(row, before(p, last), p->width);
		bits_add(row, last);
	}
	t->last = points_new_point(p, t->t, row);
	t->statement = statement;
	if (last == NONE)
		record_so(p, t->t, t->last);
	else
		record(p, (struct point_edge){ last, t->last, REASON_COUNT, 0,
		                               t->t });
	points_add_edge(p, (struct point_edge){ t->last, t->commit,
	                                        REASON_COUNT, 0, t->t });
	points_take_locks(p, statement, t->last);
	return t->last;
}

/* The point of a read beside the snapshot: behind the one before it. That one,
 * if it is behind the source, and nothing was locked since then: nothing else
 * keeps this read from being just behind it. */
static uint32_t beside_point(struct points *p, uint32_t source)
{
	struct points_pending *t = &p->pending;
	word *row = p->rows.spare + 4 * (size_t)p->width;
	uint32_t last = t->last == NONE ? t->begin : t->last;
	assert(last != NONE);
	if (!p->runnable && !t->locks &&
	    is_before(p, commit_of(p, source), last))
		return last;
	bits_copy(row, before(p, last), p->width);
	bits_add(row, last);
	t->last = points_new_point(p, t->t, row);
	record(p, (struct point_edge){ last, t->last, REASON_COUNT, 0, t->t });
	points_add_edge(p, (struct point_edge){ t->last, t->commit,
	                                        REASON_COUNT, 0, t->t });
	t->locks = false;
	return t->last;
}

/* Does the pending transaction read so beside its snapshot? */
static bool is_beside(const struct points *p, enum strength strength)
{
	return strength_is_beside(strength) &&
	       level_has_snapshots(p->pending.level);
}

/* Where the pending transaction reads so; NONE: at no point. */
static uint32_t read_point(struct points *p, uint32_t source,
                           enum strength strength, uint32_t statement)
{
	const struct points_pending *t = &p->pending;
	if (is_beside(p, strength)) return beside_point(p, source);
	if (level_has_statements(t->level))
		return statement_point(p, source, statement);
	if (level_is_serial(t->level)) return t->commit;
	return t->begin;
}

static void read_at(struct points *p, struct point_read r)
{
	points_enter_read(p, r);
	points_add_edge(
		p, (struct point_edge){ commit_of(p, r.source),
	                                r.at == NONE ? p->pending.commit : r.at,
	                                REASON_WR, r.key, r.reader });
	if (r.at == NONE) return;
	for (uint32_t i = p->keys[r.key].first_lock; i != NONE;
	     i = p->locks[i].next)
		if (points_is_version(p, &p->locks[i]) &&
		    p->locks[i].owner != r.source)
			part_writer(p, &r, p->locks[i].owner);
}

/* The statement's reads so far, which were just behind the last point, are at a
 * point of its own. */
static void move_reads(struct points *p, uint32_t statement, uint32_t at)
{
	uint32_t t = p->pending.t, first = p->read_count, end = first;
	while (first && p->reads[first - 1].reader == t &&
	       p->reads[first - 1].statement == statement)
		first--;
	for (uint32_t i = first; i < end; i++) {
		struct point_read r = p->reads[i];
		if (r.at == at) break;
		r.at = at;
		read_at(p, r);
	}
}

void points_read(struct points *p, uint32_t key, uint32_t source,
                 enum strength strength, uint32_t statement)
{
	uint32_t t = p->pending.t;
	assert(t && source != t && p->of[source].committed);
	if (strength < STRENGTH_SHARE ||
	    !level_has_statements(p->pending.level)) {
		uint32_t at = read_point(p, source, strength, statement);
		if (level_has_statements(p->pending.level))
			move_reads(p, statement, at);
		read_at(p, (struct point_read){
				   .reader = t,
				   .key = key,
				   .source = source,
				   .at = at,
				   .statement = statement,
				   .beside = is_beside(p, strength) });
	}
	if (strength != STRENGTH_PLAIN &&
	    level_sight(p->pending.level) != SIGHT_NOTHING)
		points_add_lock(p, (struct point_lock){
					   .owner = t,
					   .key = key,
					   .source = source,
					   .statement = statement,
					   .strength = strength,
					   .beside = is_beside(p, strength) });
}

void points_will_write(struct points *p)
{
	assert(p->pending.t && !level_has_statements(p->pending.level));
	p->pending.locks = true;
}

void points_write(struct points *p, uint32_t key, enum strength strength,
                  uint32_t statement)
{
	uint32_t t = p->pending.t;
	bool first = true;
	assert(t);
	/* It was locked until the abort, which only the points of statements
	 * can tell; and it is nobody's rival. */
	if (p->pending.aborts && !level_has_statements(p->pending.level))
		return;
	for (uint32_t i = points_key_at(p, key)->last_lock;
	     i != NONE && p->locks[i].owner == t; i = p->locks[i].previous) {
		const struct point_lock *l = &p->locks[i];
		if (l->writes && l->strength >= strength) return;
		first &= !l->first;
	}
	points_add_lock(p, (struct point_lock){ .owner = t,
	                                        .key = key,
	                                        .statement = statement,
	                                        .strength = strength,
	                                        .writes = true,
	                                        .first = first });
}

void points_lock(struct points *p, uint32_t key, enum strength strength,
                 uint32_t statement)
{
	points_add_lock(
		p, (struct point_lock){ .owner = p->pending.t,
	                                .key = key,
	                                .source = NONE,
	                                .statement = statement,
	                                .strength = strength,
	                                .beside = is_beside(p, strength) });
}

/* The newest of the pending transaction's locks of the key by reads, or of any
 * key, from number i down; NONE: there is none. */
static uint32_t newest_lock(const struct points *p, uint32_t key, uint32_t i)
{
	while (i-- > p->pending.first) {
		const struct point_lock *l = &p->locks[i];
		if (!l->writes && l->source != NONE && !l->moot &&
		    l->end == NONE && (key == NONE || l->key == key))
			return i;
	}
	return NONE;
}

/* A lock of the pending transaction has ended. */
static void give_up(struct points *p, uint32_t i, uint32_t statement)
{
	struct points_pending *t = &p->pending;
	assert(p->gives_up && p->locks[i].owner == t->t);
	VEC_RESERVE(p->given_up, p->given_count, p->given_capacity);
	p->given_up[p->given_count++] = (struct point_given_up){ i, statement };
	if (!level_has_statements(t->level)) {
		p->locks[i].moot = true;
		return;
	}
	/* Those that are given up next to each other end at one point. */
	if (t->last == NONE || t->statement != statement)
		statement_point(p, HISTORY_INIT, statement);
	p->locks[i].end = t->last;
}

void points_give_up(struct points *p, uint32_t key, uint32_t statement)
{
	uint32_t i = newest_lock(p, key, p->lock_count);
	if (i != NONE) give_up(p, i, statement);
}

void points_give_up_all(struct points *p, uint32_t statement)
{
	uint32_t i = p->lock_count;
	while ((i = newest_lock(p, NONE, i)) != NONE) give_up(p, i, statement);
}

/* What a read that has no point is to see: rc, ra, cc. */
static const word *sight_of(struct points *p, uint32_t first, uint32_t read)
{
	switch (level_sight(p->pending.level)) {
	case SIGHT_SOURCES:
		bits_zero(p->seen, p->words);
		while (first < read)
			bits_add(p->seen, p->reads[first++].source);
		return p->seen;
	case SIGHT_DIRECT: return p->direct;
	case SIGHT_PAST: return order_row(p->past, p->pending.t, p->words);
	default: return NULL;
	}
}

/* t sees s, but read from another: that is the later writer. */
static void order_seen(struct points *p)
{
	uint32_t first = p->read_count, t = p->pending.t;
	while (first && p->reads[first - 1].reader == t) first--;
	for (uint32_t i = first; i < p->read_count; i++) {
		struct point_read r = p->reads[i];
		const word *seen = r.at == NONE ? sight_of(p, first, i) : NULL;
		if (!seen) continue;
		bits_zero(p->hiding, p->words);
		for (uint32_t k = p->keys[r.key].first_lock; k != NONE;
		     k = p->locks[k].next) {
			const struct point_lock *l = &p->locks[k];
			if (l->owner != r.source && points_is_version(p, l) &&
			    bits_has(seen, l->owner))
				bits_add(p->hiding, l->owner);
		}
		BITS_EACH(s, p->hiding, p->words)
			points_add_edge(p, (struct point_edge){
						   commit_of(p, s),
						   commit_of(p, r.source),
						   REASON_FORCED, r.key, t });
	}
}

/* The pending transaction has committed, and others have read its keys. */
static void enter_versions(struct points *p)
{
	uint32_t t = p->pending.t, first = p->lock_count;
	while (first && p->locks[first - 1].owner == t) first--;
	for (uint32_t i = first; i < p->lock_count; i++) {
		const struct point_lock *l = &p->locks[i];
		if (!l->writes) continue;
		const struct point_key *of = &p->keys[l->key];
		for (uint32_t k = of->first_lock; k < first;
		     k = p->locks[k].next)
			if (!p->locks[k].writes)
				points_part_locked_read(p, &p->locks[k], l);
		for (uint32_t k = l->first ? of->first_read : NONE; k != NONE;
		     k = p->reads[k].next) {
			const struct point_read *r = &p->reads[k];
			if (r->reader != t && r->at != NONE)
				part_writer(p, r, t);
		}
	}
}

static bool has_written(const struct points *p, uint32_t key)
{
	uint32_t i = p->keys[key].last_lock;
	while (i != NONE && p->locks[i].owner == p->pending.t &&
	       !p->locks[i].writes)
		i = p->locks[i].previous;
	return i != NONE && p->locks[i].owner == p->pending.t;
}

/* What the pending transaction has looked for to insert, and has written, is at
 * its commit as it found it, as its lock excludes all writes. (Where rivals are
 * excluded that follows.) */
static void read_inserted(struct points *p)
{
	const struct points_pending *t = &p->pending;
	if (t->aborts || !level_has_snapshots(t->level) ||
	    level_excludes_rivals(t->level))
		return;
	for (uint32_t i = t->first; i < p->lock_count; i++) {
		const struct point_lock *l = &p->locks[i];
		if (l->beside && !l->moot && l->source != NONE &&
		    l->strength == STRENGTH_INSERT && has_written(p, l->key))
			read_at(p, (struct point_read){ .reader = t->t,
			                                .key = l->key,
			                                .source = l->source,
			                                .at = t->commit,
			                                .statement =
			                                        l->statement });
	}
}

void points_abort(struct points *p)
{
	assert(p->pending.t);
	p->pending.aborts = true;
}

void points_end(struct points *p)
{
	struct points_pending *t = &p->pending;
	word *past = order_row(p->past, t->t, p->words);
	assert(t->t);
	points_end_locks(p);
	read_inserted(p);
	bits_copy(p->direct, order_row(p->so, t->t, p->words), p->words);
	for (uint32_t i = p->read_count; i-- > 0 && p->reads[i].reader == t->t;)
		bits_add(p->direct, p->reads[i].source);
	for (uint32_t i = p->lock_count; i-- > 0 && p->locks[i].owner == t->t;)
		if (!p->locks[i].writes && p->locks[i].source != NONE)
			bits_add(p->direct, p->locks[i].source);
	bits_copy(past, p->direct, p->words);
	BITS_EACH(u, p->direct, p->words)
		bits_or(past, order_row(p->past, u, p->words), p->words);
	order_seen(p);
	p->of[t->t].committed = !t->aborts;
	if (!t->aborts) enter_versions(p);
	t->t = 0;
}

void points_know(struct points *p, struct history_known k)
{
	assert(p->of[k.from].committed && p->of[k.to].committed);
	points_add_edge(p, (struct point_edge){ commit_of(p, k.from),
	                                        commit_of(p, k.to), REASON_WW,
	                                        k.key, k.from });
}

/* What precedes what the pending transaction does next; NULL: that depends on
 * what else it reads. */
static const word *before_next(const struct points *p, enum strength lock)
{
	const struct points_pending *t = &p->pending;
	if (level_has_statements(t->level))
		return before(p, t->last != NONE ? t->last : t->commit);
	if (is_beside(p, lock))
		return before(p, t->last != NONE ? t->last : t->begin);
	if (lock >= STRENGTH_SHARE && !p->gives_up &&
	    level_sight(t->level) != SIGHT_NOTHING)
		return before(p, t->commit);
	if (level_is_serial(t->level)) return before(p, t->commit);
	return t->begin != NONE ? before(p, t->begin) : NULL;
}

void points_refuse(struct points *p, const word *writers, enum strength lock,
                   const word *sources, word *valid, unsigned words)
{
	const word *next = before_next(p, lock);
	word *early = p->rows.spare, *hidden = early + 4 * (size_t)p->width;
	if (!next) return;
	bits_copy(early, next, p->width);
	BITS_EACH(s, sources, words) {
		bits_or(early, before(p, commit_of(p, s)), p->width);
		bits_add(early, commit_of(p, s));
	}
	bits_zero(hidden, p->width);
	BITS_EACH(s, writers, words)
		if (bits_has(early, commit_of(p, s)))
			bits_or(hidden, before(p, commit_of(p, s)), p->width);
	BITS_EACH(u, valid, words)
		if (bits_has(hidden, commit_of(p, u))) bits_drop(valid, u);
}

/* ---- Going back ---- */

struct points_mark points_mark(const struct points *p)
{
	return (struct points_mark){ .changes = p->rows.change_count,
		                     .choices = p->choice_count,
		                     .saturated = p->saturated,
		                     .points = p->node_count,
		                     .locks = p->lock_count,
		                     .reads = p->read_count,
		                     .given_up = p->given_count,
		                     .failed = p->failed,
		                     .pending = p->pending };
}

/* Points enter the rows of those before them without a note in the log. */
static void drop_points(struct points *p, uint32_t count)
{
	unsigned first = count / 64;
	word kept = ((word)1 << count % 64) - 1;
	for (uint32_t i = 0; i < count; i++) {
		word *row = order_row(p->rows.after, i, p->width);
		row[first] &= kept;
		for (unsigned w = first + 1; w < p->width; w++) row[w] = 0;
	}
	p->node_count = count;
}

void points_back(struct points *p, const struct points_mark *m)
{
	assert(!p->recording && !p->grows);
	assert(m->points <= p->node_count);
	assert(m->choices <= p->choice_count && m->locks <= p->lock_count);
	order_undo(&p->rows, m->changes);
	if (m->points < p->node_count) drop_points(p, m->points);
	p->choice_count = m->choices;
	p->saturated = m->saturated;
	while (p->given_count > m->given_up) {
		uint32_t i = p->given_up[--p->given_count].lock;
		struct point_lock *l = &p->locks[i];
		l->end = NONE;
		l->moot = false;
	}
	points_drop_uses(p, m->locks, m->reads);
	for (uint32_t i = m->pending.resolved; i < m->locks; i++) {
		if (i >= p->pending.resolved) break;
		p->locks[i].until = m->pending.commit;
	}
	for (uint32_t i = m->pending.first; m->pending.t && i < m->locks; i++)
		p->locks[i].held = NONE;
	p->failed = m->failed;
	p->pending = m->pending;
	if (m->pending.t) p->of[m->pending.t].committed = false;
}
