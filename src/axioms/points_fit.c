#include "axioms/points_fit.h"

#include <assert.h>

/* ---- versions and locks of a key ---- */

/* Of the transaction that did this; NOWHERE: it is not in view. */
static uint32_t rank_in(const struct points_closure *s, const struct closure *c,
                        const struct view *v, const struct happened *h)
{
	if (h->turn < v->turns) return s->rank[c->order[h->turn]];
	return h->turn + 1 == s->turns ? v->last : NOWHERE;
}

static bool has_aborted(const struct points_closure *s, uint32_t turn)
{
	return s->log[points_turn_end(s, turn) - 1].what == ABORTS;
}

static uint32_t last_holder(const struct points_closure *s, uint32_t key)
{
	return key < s->key_count ? s->holders[key] : NOWHERE;
}

/* The first rank above this one of who has written the key; of who has done so
 * in a way that excludes such a lock, if it is one. */
static uint32_t next_version(const struct points_closure *s,
                             const struct closure *c, const struct view *v,
                             uint32_t key, enum strength lock, uint32_t rank)
{
	uint32_t next = NOWHERE;
	for (uint32_t i = last_holder(s, key); i != NOWHERE;
	     i = s->log[i].previous) {
		const struct happened *h = &s->log[i];
		uint32_t other = rank_in(s, c, v, h);
		if (h->what == WRITES && other > rank && other < next &&
		    (lock == STRENGTH_PLAIN ||
		     strength_meets(lock, h->strength)) &&
		    !has_aborted(s, h->turn))
			next = other;
	}
	return next;
}

/* The last rank below the view's of those who had the key locked against such a
 * lock; 0 if nobody had. */
static uint32_t holder_rank(const struct points_closure *s,
                            const struct closure *c, const struct view *v,
                            uint32_t key, enum strength lock)
{
	uint32_t last = 0;
	for (uint32_t i = last_holder(s, key); i != NOWHERE;
	     i = s->log[i].previous) {
		const struct happened *h = &s->log[i];
		uint32_t rank = rank_in(s, c, v, h);
		if (rank > last && rank < v->below &&
		    strengths_exclude(lock, h->strength))
			last = rank;
	}
	return last;
}

/* Likewise of those who have written it. */
static uint32_t version_rank(const struct points_closure *s,
                             const struct closure *c, const struct view *v,
                             uint32_t key)
{
	uint32_t last = 0;
	for (uint32_t i = last_holder(s, key); i != NOWHERE;
	     i = s->log[i].previous) {
		const struct happened *h = &s->log[i];
		uint32_t rank = rank_in(s, c, v, h);
		if (h->what == WRITES && rank > last && rank < v->below &&
		    !has_aborted(s, h->turn))
			last = rank;
	}
	return last;
}

/* ---- weak levels ---- */

/* Does one of these come after the source, which has been read? */
static bool some_later(const struct points_closure *s, const struct closure *c,
                       const word *seen, uint32_t key, uint32_t source)
{
	const word *writers = c->writers + (size_t)key * c->words;
	for (unsigned w = 0; w < c->words; w++)
		for (word both = seen[w] & writers[w]; both; both &= both - 1) {
			uint32_t u = 64 * w + (unsigned)__builtin_ctzll(both);
			if (s->rank[u] > s->rank[source]) return true;
		}
	return false;
}

/* What all reads of the turn see; NULL: each sees the sources before it, or
 * nothing. */
static const word *seen_by(const struct closure *c, enum level l, uint32_t turn)
{
	uint32_t t = c->order[turn];
	if (level_sight(l) == SIGHT_DIRECT) return closure_row(c, c->direct, t);
	if (level_sight(l) == SIGHT_PAST) return closure_row(c, c->past, t);
	return NULL;
}

/* Are the reads of a turn without points as the order has them? From `begin`
 * on; or all of them, where what they see has become more. */
static bool weak_reads_fit(const struct points_closure *s,
                           const struct closure *c, uint32_t turn,
                           uint32_t begin, uint32_t end)
{
	enum level l = points_level(s, turn);
	const word *seen = seen_by(c, l, turn);
	word *sources = closure_row(c, c->scratch, c->n);
	if (level_sight(l) == SIGHT_NOTHING) return true;
	if (seen) begin = s->first[turn];
	bits_zero(sources, c->words);
	for (uint32_t i = s->first[turn]; i < end; i++) {
		const struct happened *h = &s->log[i];
		if (h->what != READS) continue;
		if (i >= begin &&
		    some_later(s, c, seen ? seen : sources, h->key, h->source))
			return false;
		bits_add(sources, h->source);
	}
	return true;
}

/* Would they be, with one from there as well? */
static bool weak_writer_fits(const struct points_closure *s,
                             const struct closure *c, uint32_t key,
                             uint32_t source)
{
	uint32_t turn = s->turns - 1;
	enum level l = points_level(s, turn);
	const word *seen = seen_by(c, l, turn);
	const word *past = closure_row(c, c->past, source);
	if (level_sight(l) == SIGHT_NOTHING) return true;
	if (some_later(s, c, seen ? seen : c->seen, key, source)) return false;
	if (!seen) return true;
	for (uint32_t i = s->first[turn]; i < s->count; i++) {
		const struct happened *h = &s->log[i];
		if (h->what != READS) continue;
		if (closure_writes(c, h->key, source) &&
		    s->rank[source] > s->rank[h->source])
			return false;
		if (level_sight(l) == SIGHT_PAST &&
		    some_later(s, c, past, h->key, h->source))
			return false;
	}
	return true;
}

/* ---- a transaction ---- */

struct fit points_fit_of_begin(const struct points_closure *s,
                               const struct closure *c, const struct view *v,
                               uint32_t turn)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = v->below < NOWHERE ? v->below : s->next_rank;
	return (struct fit){ .end = s->first[turn] + 1,
		             .low = b->after_all ? end
		                                 : s->rank[b->previous] + 1,
		             .high = v->below };
}

/* A statement begins. */
static void start_statement(struct fit *f, uint32_t below)
{
	if (f->low < f->locked) f->low = f->locked;
	f->high = below;
}

/* The statement reads a version of this rank, the next one having the other. */
static void narrow(struct fit *f, uint32_t rank, uint32_t next)
{
	if (f->low <= rank) f->low = rank + 1;
	if (f->high > next) f->high = next;
}

static void be_behind(uint32_t *at, uint32_t rank)
{
	if (*at <= rank) *at = rank + 1;
}

/* Has its transaction locked the key just so before? */
static bool is_held(const struct points_closure *s, const struct happened *h)
{
	const struct happened *before = &s->log[h->previous];
	return h->previous != NOWHERE && before->turn == h->turn &&
	       before->strength == h->strength;
}

/* A statement of prc goes on with this. */
static bool fits_statement(const struct points_closure *s,
                           const struct closure *c, const struct view *v,
                           const struct happened *h, struct fit *f)
{
	uint32_t rank = h->what == READS ? s->rank[h->source] : 0;
	if (!h->joined) start_statement(f, v->below);
	if (h->what == READS && h->strength < STRENGTH_SHARE) {
		if (last_holder(s, h->key) == NOWHERE) return f->low <= f->high;
		narrow(f, rank,
		       next_version(s, c, v, h->key, STRENGTH_PLAIN, rank));
		if (f->low > f->high) return false;
	}
	if (h->what == READS && h->strength > STRENGTH_CHECK &&
	    (rank >= v->below ||
	     next_version(s, c, v, h->key, h->strength, rank) < v->below))
		return false;
	if (h->strength > STRENGTH_CHECK && h->what < COMMITS && !is_held(s, h))
		be_behind(&f->locked,
		          holder_rank(s, c, v, h->key, h->strength));
	return true;
}

/* It commits: its rivals did so before it began, or begin after that. */
static bool fits_rivals(const struct points_closure *s, const struct closure *c,
                        const struct view *v, uint32_t turn, struct fit *f)
{
	for (uint32_t i = s->first[turn]; i < points_turn_end(s, turn); i++)
		if (s->log[i].what == WRITES)
			be_behind(&f->low,
			          version_rank(s, c, v, s->log[i].key));
	return f->low <= f->high;
}

/* Who comes behind a lock of an earlier statement is behind all that held the
 * key. */
static void next_statement(struct fit *f, const struct happened *h)
{
	if (f->statement == h->statement) return;
	f->statement = h->statement;
	f->waits = f->waits_next;
}

/* A lock of a transaction that has one snapshot. */
static void fits_lock(const struct points_closure *s, const struct closure *c,
                      const struct view *v, const struct happened *h,
                      struct fit *f)
{
	next_statement(f, h);
	be_behind(&f->waits_next, holder_rank(s, c, v, h->key, h->strength));
}

/* A read beside the snapshot: at a point behind that and those of the ones
 * before it. `locked` is the least rank at which the last of them can be, if
 * the snapshot lets it. */
static bool fits_beside(const struct points_closure *s, const struct closure *c,
                        const struct view *v, const struct happened *h,
                        struct fit *f)
{
	uint32_t rank = s->rank[h->source], next;
	if (rank >= v->below) return false;
	next = next_version(s, c, v, h->key, STRENGTH_PLAIN, rank);
	next_statement(f, h);
	if (f->locked < f->waits) f->locked = f->waits;
	be_behind(&f->locked, rank);
	if (f->high > next) f->high = next;
	return f->locked <= next && f->low <= f->high;
}

/* Of a transaction that commits: has nobody written what it has inserted since
 * it looked for it? Under si that follows, since they would be rivals. */
static bool fits_inserts(const struct points_closure *s,
                         const struct closure *c, const struct view *v,
                         uint32_t turn)
{
	for (uint32_t i = s->first[turn]; i < points_turn_end(s, turn); i++) {
		const struct happened *h = &s->log[i];
		if (h->what == READS && h->strength == STRENGTH_INSERT &&
		    closure_writes(c, h->key, c->order[turn]) &&
		    next_version(s, c, v, h->key, STRENGTH_PLAIN,
		                 s->rank[h->source]) < v->below)
			return false;
	}
	return true;
}

/* Does this read beside the snapshot of its transaction? */
static bool reads_beside(const struct points_closure *s, uint32_t turn,
                         enum strength strength)
{
	return strength_is_beside(strength) &&
	       level_has_snapshots(points_level(s, turn));
}

/* The same under other levels, but for what reads of weak ones see. */
static bool fits_plain(const struct points_closure *s, const struct closure *c,
                       const struct view *v, const struct happened *h,
                       struct fit *f)
{
	enum level l = points_level(s, h->turn);
	bool prefix = level_sight(l) == SIGHT_PREFIX;
	if (h->what == COMMITS && level_orders_rivals(l))
		return fits_rivals(s, c, v, h->turn, f);
	if (h->what == COMMITS)
		return !level_has_snapshots(l) ||
		       fits_inserts(s, c, v, h->turn);
	if (h->what <= READS_OWN && reads_beside(s, h->turn, h->strength))
		return h->what != READS || fits_beside(s, c, v, h, f);
	if (prefix && h->what != BEGINS && h->what < GIVES_UP &&
	    h->strength != STRENGTH_PLAIN)
		fits_lock(s, c, v, h, f);
	if (h->what != READS) return true;
	uint32_t rank = s->rank[h->source], next;
	if (rank >= v->below) return false;
	if (h->strength != STRENGTH_PLAIN && level_sight(l) != SIGHT_NOTHING &&
	    next_version(s, c, v, h->key, h->strength, rank) < v->below)
		return false;
	if (!prefix) return true;
	next = next_version(s, c, v, h->key, STRENGTH_PLAIN, rank);
	if (level_is_serial(l)) return next >= v->below;
	narrow(f, rank, next);
	return f->low <= f->high;
}

bool points_fit(const struct points_closure *s, const struct closure *c,
                const struct view *v, uint32_t turn, struct fit *f)
{
	uint32_t end = points_turn_end(s, turn), begin = f->end;
	bool statements = points_has_statements(s, turn);
	for (; f->end < end; f->end++) {
		const struct happened *h = &s->log[f->end];
		assert(h->turn == turn);
		if (!(statements ? fits_statement(s, c, v, h, f)
		                 : fits_plain(s, c, v, h, f)))
			return false;
	}
	if (statements) return f->locked <= v->below;
	return begin == end ||
	       level_sight(points_level(s, turn)) == SIGHT_PREFIX ||
	       weak_reads_fit(s, c, turn, begin, end);
}

/* ---- others ---- */

static bool is_locked_since(const struct points_closure *s, uint32_t key,
                            uint32_t from)
{
	uint32_t i = last_holder(s, key);
	return i != NOWHERE && i >= from;
}

/* Has the transaction at this turn to do with what the last one has locked from
 * this entry on? */
static bool meets_last(const struct points_closure *s, uint32_t turn,
                       uint32_t from)
{
	for (uint32_t i = s->first[turn]; i < s->first[turn + 1]; i++)
		if (s->log[i].what != BEGINS && s->log[i].what < COMMITS &&
		    is_locked_since(s, s->log[i].key, from))
			return true;
	return false;
}

bool points_others_fit(const struct points_closure *s, const struct closure *c,
                       uint32_t rank, uint32_t from)
{
	assert(from >= s->first[s->turns - 1]);
	while (from < s->count && !points_is_lock(&s->log[from])) from++;
	for (uint32_t i = 1; from < s->count && i + 1 < s->turns; i++) {
		uint32_t below = s->rank[c->order[i]];
		struct view v = { s->turns - 1, below, rank };
		struct fit f;
		if (below < rank || !meets_last(s, i, from)) continue;
		f = points_fit_of_begin(s, c, &v, i);
		if (!points_fit(s, c, &v, i, &f)) return false;
	}
	return true;
}

/* ---- writers ---- */

/* From the last version before the earliest point on, those before the latest.
 */
static void writers_between(const struct points_closure *s,
                            const struct closure *c, uint32_t key,
                            const struct fit *at, const word *asked, word *out)
{
	const word *writers = c->writers + (size_t)key * c->words;
	uint32_t turn = s->turns - 1, oldest = 0;
	if (at->low > at->high) return;
	BITS_EACH(u, writers, c->words)
		if (c->position[u] < turn && s->rank[u] < at->low &&
		    s->rank[u] >= oldest)
			oldest = s->rank[u];
	BITS_EACH(u, asked, c->words) {
		uint32_t rank = s->rank[u];
		assert(bits_has(writers, u) && c->position[u] < turn);
		if (rank >= oldest && rank < at->high) bits_add(out, u);
	}
}

/* Drops those after which another one commits before the pending transaction
 * does; a lock, only if that excludes it. */
static void drop_overwritten(const struct points_closure *s,
                             const struct closure *c, uint32_t key,
                             enum strength lock, word *out)
{
	const struct view v = { s->turns - 1, s->place.below, NOWHERE };
	BITS_EACH(u, out, c->words)
		if (s->rank[u] >= s->place.below ||
		    next_version(s, c, &v, key, lock, s->rank[u]) <
		            s->place.below)
			bits_drop(out, u);
}

void points_fitting_writers(const struct points_closure *s,
                            const struct closure *c, const struct event *read,
                            const word *asked, word *out)
{
	enum level l = points_level(s, s->turns - 1);
	enum strength lock = read->strength;
	bool statements = points_has_statements(s, s->turns - 1);
	bool beside = reads_beside(s, s->turns - 1, lock);
	struct fit at = s->place.fit;
	bits_zero(out, c->words);
	/* Those behind would have to be asked. */
	if (lock != STRENGTH_PLAIN && !beside && s->place.below < NOWHERE)
		return;
	if (beside) {
		next_statement(
			&at, &(struct happened){
				     .statement = points_statement(s, read) });
		if (at.low < at.locked) at.low = at.locked;
		if (at.low < at.waits) at.low = at.waits;
		at.high = s->place.below;
		writers_between(s, c, read->key, &at, asked, out);
		return;
	}
	if (statements ? lock >= STRENGTH_SHARE
	               : level_sight(l) != SIGHT_PREFIX || level_is_serial(l)) {
		bits_copy(out, asked, c->words);
	} else {
		if (statements && !read->joined)
			start_statement(&at, s->place.below);
		writers_between(s, c, read->key, &at, asked, out);
	}
	if (!statements && level_is_serial(l))
		drop_overwritten(s, c, read->key, STRENGTH_PLAIN, out);
	if (lock > (statements ? STRENGTH_CHECK : STRENGTH_PLAIN) &&
	    level_sight(l) != SIGHT_NOTHING)
		drop_overwritten(s, c, read->key, lock, out);
	if (statements || level_sight(l) == SIGHT_PREFIX) return;
	BITS_EACH(u, out, c->words)
		if (s->rank[u] >= s->place.below ||
		    !weak_writer_fits(s, c, read->key, u))
			bits_drop(out, u);
}
