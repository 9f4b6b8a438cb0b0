/* A mix of levels: what a read must see depends on the level of its reader, and
 * all levels are about one commit order.
 *
 * Two points for each transaction, as for pc and si. A reader of pc or si sees
 * what commits before it begins, which it does as early as it can; a serial one
 * sees what commits before it commits. What the readers of weaker levels see
 * does not depend on the order: what their reads force is there from the start.
 * Under si the rivals of t that commit before it, whatever their level, do so
 * before it begins; of rivals that commit later nothing is asked here.
 *
 * A read that locks sees, whatever the level of its reader, what a serial one
 * does, as far as its lock goes. So one level with locks is a mix as well.
 */
#include "axioms/kernels.h"

#include <assert.h>

BITS_INLINE bool mixed_is_serial(const struct level_scratch *s, uint32_t t)
{
	return bits_has(s->serial, t);
}

/* The point of t before which what it sees has committed. */
BITS_INLINE unsigned mixed_sight(const struct level_scratch *s, uint32_t t,
                                 unsigned half)
{
	return mixed_is_serial(s, t) ? half + t : t;
}

BITS_INLINE void mixed_sort(struct level_scratch *s, const struct relation *r,
                            enum level others, unsigned words)
{
	bits_zero(s->prefix, words);
	bits_zero(s->serial, words);
	bits_zero(s->exclusives, words);
	bits_zero(s->lockers, words);
	for (uint32_t k = 1; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		enum level l = level_of(others, r, t);
		if (level_sight(l) != SIGHT_NOTHING) bits_add(s->lockers, t);
		if (level_sight(l) != SIGHT_PREFIX) continue;
		bits_add(s->prefix, t);
		if (level_is_serial(l))
			bits_add(s->serial, t);
		else if (level_excludes_rivals(l))
			bits_add(s->exclusives, t);
	}
}

/* What read number i must see whatever the order is: nothing, if that depends
 * on the order. */
BITS_INLINE enum sight mixed_weak_sight(const struct relation *r,
                                        enum level others, uint32_t i)
{
	enum sight sight = level_sight(level_of(others, r, r->reads[i].reader));
	return sight == SIGHT_PREFIX ? SIGHT_NOTHING : sight;
}

/* Are the reads of weaker levels as this order, which was placed, has them? */
BITS_INLINE bool mixed_weak_in_order(struct level_scratch *s,
                                     const struct relation *r,
                                     enum level others, unsigned words)
{
	for (uint32_t i = 0; i < r->read_count; i++) {
		enum sight sight = mixed_weak_sight(r, others, i);
		if (sight != SIGHT_NOTHING &&
		    !order_sees_latest(s, r, i, sight, words))
			return false;
	}
	return true;
}

/* The edges that they force. */
BITS_INLINE bool mixed_weak_forced(struct level_scratch *s,
                                   const struct relation *r, enum level others,
                                   unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	for (uint32_t i = 0; i < r->read_count; i++) {
		enum sight sight = mixed_weak_sight(r, others, i);
		if (sight != SIGHT_NOTHING &&
		    !order_force_seen(s, r, i, sight, half, width, words))
			return false;
	}
	return true;
}

BITS_INLINE bool mixed_locks(const struct level_scratch *s,
                             struct relation_read a)
{
	return relation_lock(a) != STRENGTH_PLAIN &&
	       bits_has(s->lockers, a.reader);
}

/* The writers of the key that the lock of a read excludes, those of this very
 * row among them: all; or those that lock as DELETE does. */
BITS_INLINE const word *mixed_excluded(struct level_scratch *s,
                                       const struct relation *r,
                                       struct relation_read a, unsigned words)
{
	const word *writers = r->writers + (size_t)a.key * words;
	word *some = s->visible + words; /* row 0 is of order_sight */
	if (a.strength >= STRENGTH_SHARE) return writers;
	bits_zero(some, words);
	for (uint32_t i = 0; i < r->write_count; i++) {
		const struct relation_write *w = &r->writes[i];
		if (w->key == a.key && !w->reads_own &&
		    bits_has(writers, w->writer) &&
		    strength_meets(a.strength, w->strength))
			bits_add(some, w->writer);
	}
	return some;
}

BITS_INLINE bool mixed_reads(struct level_scratch *s, const struct relation *r,
                             bool *changed, unsigned words)
{
	const unsigned half = 64 * words;
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		uint32_t t = a.reader;
		if (bits_has(s->prefix, t) &&
		    !order_force_prefix(s, a, mixed_sight(s, t, half),
		                        r->writers + (size_t)a.key * words,
		                        changed, words))
			return false;
		if (r->locks_reads && mixed_locks(s, a) &&
		    !order_force_prefix(s, a, half + t,
		                        mixed_excluded(s, r, a, words), changed,
		                        words))
			return false;
	}
	return true;
}

/* Forced, for t of si and a rival u: one commits before t begins, or t commits
 * before the other. */
BITS_INLINE bool mixed_rivals(struct level_scratch *s, const struct relation *r,
                              bool *changed, unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	BITS_EACH(t, s->exclusives, words) {
		const word *rivals = order_row(s->rivals, t, words);
		const word *after_begin = order_row(s->after, t, width) + words;
		const word *after_commit =
			order_row(s->after, half + t, width) + words;
		const word *before_begin =
			order_row(s->before, t, width) + words;
		const word *before_commit =
			order_row(s->before, half + t, width) + words;
		for (unsigned w = 0; w < words; w++) {
			word later =
				rivals[w] & after_begin[w] & ~after_commit[w];
			if (later &&
			    !order_add_from(s, half + t, later, w, half, width))
				return false;
			word sooner =
				rivals[w] & before_commit[w] & ~before_begin[w];
			if (sooner &&
			    !order_add_into(s, sooner, w, half, t, width))
				return false;
			*changed |= (later | sooner) != 0;
		}
	}
	(void)r;
	return true;
}

BITS_INLINE bool mixed_saturate(struct level_scratch *s,
                                const struct relation *r, unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		if (!mixed_reads(s, r, &changed, words) ||
		    !mixed_rivals(s, r, &changed, words))
			return false;
	}
	return true;
}

/* Finds for each transaction that sees a prefix the smallest one that it can
 * see in this order of commits: all before it; or up to the last that it
 * depends on and, under si, the last rival. As snapshot_bounds(). */
BITS_INLINE bool mixed_bounds(struct level_scratch *s, const struct relation *r,
                              const uint32_t *order, bool closed,
                              struct order_choice *out, unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	const word *rows = closed ? s->before + words : r->past;
	const size_t stride = closed ? width : words;
	for (uint32_t k = 1; k < r->order_count; k++) {
		uint32_t t = order[k];
		s->bound[t] = t;
		if (!bits_has(s->prefix, t) || mixed_is_serial(s, t)) continue;
		uint32_t end = order_end(order, k, rows + stride * t);
		s->bound[t] = order[end];
		if (!bits_has(s->exclusives, t)) continue;
		const word *rivals = order_row(s->rivals, t, words);
		uint32_t last = order_end(order, k, rivals);
		if (last <= end) continue;
		s->bound[t] = order[last];
		if (!closed) continue;
		const word *later = order_row(s->after, t, width) + words;
		const word *snapshot = order_row(s->placed, order[last], words);
		if (!bits_meet(later, snapshot, words)) continue;
		uint32_t rival = order[last - 1];
		out->first = (struct order_edge){ half + t, half + rival };
		out->second = (struct order_edge){ half + rival, t };
		return false;
	}
	return true;
}

/* Does the read see in this order, where this is in its sight, no newer version
 * than it has? */
BITS_INLINE bool mixed_read_in_order(const struct level_scratch *s,
                                     struct relation_read a, unsigned sight,
                                     const word *writers, const word *seen,
                                     struct order_choice *out, unsigned words)
{
	const unsigned half = 64 * words;
	unsigned t2 = order_hider(s, writers, seen, a.source, words);
	if (t2 == half) return true;
	out->first = (struct order_edge){ sight, half + t2 };
	out->second = (struct order_edge){ half + t2, half + a.source };
	return false;
}

/* Is this the order of commits of an execution, as far as those go that see a
 * prefix, and locks? */
BITS_INLINE bool mixed_in_order(struct level_scratch *s,
                                const struct relation *r, const uint32_t *order,
                                bool closed, struct order_choice *out,
                                unsigned words)
{
	const unsigned half = 64 * words;
	assert(r->order_count && order[0] == 0);
	order_place(s, order, r->order_count, words);
	if (!mixed_bounds(s, r, order, closed, out, words)) return false;
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		if (bits_has(s->prefix, a.reader) &&
		    !mixed_read_in_order(
			    s, a, mixed_sight(s, a.reader, half),
			    r->writers + (size_t)a.key * words,
			    order_row(s->placed, s->bound[a.reader], words),
			    out, words))
			return false;
		if (r->locks_reads && mixed_locks(s, a) &&
		    !mixed_read_in_order(s, a, half + a.reader,
		                         mixed_excluded(s, r, a, words),
		                         order_row(s->placed, a.reader, words),
		                         out, words))
			return false;
	}
	return true;
}

BITS_INLINE bool mixed_accept(struct level_scratch *s, const struct relation *r,
                              struct order_choice *out, unsigned words)
{
	return mixed_in_order(s, r, s->tried, true, out, words);
}

BITS_INLINE bool mixed_check(struct level_scratch *s, const struct relation *r,
                             enum level others, unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	struct order_choice unused;
	mixed_sort(s, r, others, words);
	order_rivals(s, r, words);
	if (mixed_in_order(s, r, r->order, false, &unused, words) &&
	    mixed_weak_in_order(s, r, others, words) && order_agrees(s, r))
		return true;
	order_begin_two(s, r, words);
	return order_add_known(s, r, half, half, width) &&
	       mixed_weak_forced(s, r, others, words) &&
	       order_search(s, r, words, 2, mixed_saturate, mixed_accept);
}

bool mixed_allows(struct level_scratch *s, const struct relation *r,
                  enum level others)
{
	scratch_grow(s, r, 2);
	return r->words == 1 ? mixed_check(s, r, others, 1)
	                     : mixed_check(s, r, others, r->words);
}
