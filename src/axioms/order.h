/* A partial order of points, kept transitively closed while edges are added,
 * and orders of transactions made from it.
 *
 * Functions are always inlined, and take the number of words of a row (`width`
 * for rows of points, `words` for rows of transactions): called with a literal
 * they compile to plain word operations.
 *
 * A check numbers *points*. For rc, ra, cc, psi and ser a transaction is one
 * point, its number. For pc and si it is two: begin(t) = t and
 * commit(t) = 64 * words + t, so that a row of points has the begins in its
 * first half and the commits in its second, each a set of transactions.
 *
 * The memory that all this takes is kept between checks, so that a check
 * allocates nothing once it has grown.
 */
#ifndef ISO_AXIOMS_ORDER_H
#define ISO_AXIOMS_ORDER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/scratch.h"
#include "base/bits.h"
#include "base/memory.h"
#include "history/history.h"
#include "history/relation.h"

/* An entry of the undo log: a word of the closure before it changed. */
struct order_change {
	size_t place; /* counted from `closure` */
	word old;
};

struct order_edge {
	uint32_t from, to; /* points */
};

/* Two edges of which every commit order contains one. */
struct order_choice {
	struct order_edge first, second;
};

/* A choice whose first edge is being tried. */
struct order_frame {
	size_t changes; /* length of the undo log before it */
	struct order_edge second;
};

struct level_scratch {
	char *memory; /* all that follows up to `changes` lies in it */
	size_t capacity;
	/* The closure of what is known of the order: rows of `width` words. */
	word *closure; /* `after` and `before`, one behind the other */
	word *after;   /* points that come after a point */
	word *before;  /* points that come before a point */
	/* Rows of `words` words, one for each transaction. */
	word *placed;  /* transactions earlier in the order tried */
	word *rivals;  /* other writers (not init) of keys it writes */
	word *visible; /* psi: what it sees in the order tried */
	word *spare;   /* 4 rows of `width` words */
	/* Of a mix (mixed.c), as sets of transactions: those that see a prefix
	 * of the commit order, the serial ones among them, and those that have
	 * all rivals that commit before them in sight. */
	word *prefix, *serial, *exclusives;
	word *lockers; /* whose locks count */
	/* One entry for each transaction. */
	uint64_t *keys;  /* for sorting */
	uint32_t *tried; /* the order tried */
	uint32_t *rank;  /* place in it */
	uint32_t *bound; /* pc, si: its snapshot is placed[bound] */
	bool exclusive;  /* pc, si: rivals exclude each other: si */
	/* Search. */
	struct order_change *changes;
	size_t change_count, change_capacity;
	struct order_frame *frames;
	size_t frame_count, frame_capacity;
	bool logging;
	bool (*stop)(void *data); /* level_scratch_stop_when, or NULL */
	void *stop_data;
	struct points *points; /* of points_allows, or NULL */
};

/* Makes room for a relation, with 1 or 2 points for each transaction, and lays
 * the arrays out. Called once at the beginning of each check. */
void scratch_grow(struct level_scratch *s, const struct relation *r,
                  unsigned points);

/* The row of point or transaction i. */
BITS_INLINE word *order_row(word *rows, unsigned i, unsigned width)
{
	return rows + (size_t)i * width;
}

BITS_INLINE bool order_has(const struct level_scratch *s, unsigned from,
                           unsigned to, unsigned width)
{
	return bits_has(order_row(s->after, from, width), to);
}

static inline void order_log(struct level_scratch *s, const word *at)
{
	VEC_RESERVE(s->changes, s->change_count, s->change_capacity);
	struct order_change *c = &s->changes[s->change_count++];
	c->place = (size_t)(at - s->closure);
	c->old = *at;
}
/* Takes back all changes of the closure but the first `count`. */
void order_undo(struct level_scratch *s, size_t count);
/* Sorts numbers by the size of their rows: an order that the closure, whose
 * rows these are, allows. */
void order_sort(struct level_scratch *s, uint32_t *items, uint32_t count,
                const word *rows, size_t stride, unsigned words);

/* Adds the set to the rows of all members of `to`. */
BITS_INLINE void order_spread(struct level_scratch *s, word *rows,
                              const word *to, const word *set, unsigned width)
{
	unsigned first = 0, end = width;
	if (width > 2) {
		while (first < end && !set[first]) first++;
		while (end > first && !set[end - 1]) end--;
	}
	BITS_EACH(i, to, width) {
		word *row = order_row(rows, i, width);
		for (unsigned w = first; w < end; w++) {
			if (!(set[w] & ~row[w])) continue;
			if (s->logging) order_log(s, &row[w]);
			row[w] |= set[w];
		}
	}
}

/* Puts point a before point b. False, with nothing changed, when that closes a
 * cycle. Costs a row for every point before a that was not before b, and the
 * like on the other side: so n * n rows over a whole check. */
BITS_INLINE bool order_add(struct level_scratch *s, unsigned a, unsigned b,
                           unsigned width)
{
	const word *after_a = order_row(s->after, a, width);
	const word *after_b = order_row(s->after, b, width);
	if (bits_has(after_a, b)) return true;
	if (a == b || bits_has(after_b, a)) return false;
	const word *before_a = order_row(s->before, a, width);
	const word *before_b = order_row(s->before, b, width);
	word few[8] = { 0 };
	word *up = width <= 2 ? few : s->spare;
	word *down = up + width, *sources = down + width;
	word *targets = sources + width;
	bits_copy(up, before_a, width);
	bits_add(up, a);
	bits_copy(down, after_b, width);
	bits_add(down, b);
	for (unsigned w = 0; w < width; w++) {
		sources[w] = up[w] & ~before_b[w];
		targets[w] = down[w] & ~after_a[w];
	}
	order_spread(s, s->after, sources, down, width);
	order_spread(s, s->before, targets, up, width);
	return true;
}

/* The closure of so U wr, one point for each transaction. */
BITS_INLINE void order_begin(struct level_scratch *s, const struct relation *r,
                             unsigned words)
{
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		const word *past = r->past + (size_t)t * words;
		bits_copy(order_row(s->before, t, words), past, words);
		bits_zero(order_row(s->after, t, words), words);
		BITS_EACH(u, past, words)
			bits_add(order_row(s->after, u, words), t);
	}
}

/* The same, two points for each transaction: a transaction begins after those
 * in its past have committed. */
BITS_INLINE void order_begin_two(struct level_scratch *s,
                                 const struct relation *r, unsigned words)
{
	unsigned half = 64 * words, width = 2 * words;
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		const word *past = r->past + (size_t)t * words;
		word *begin = order_row(s->before, t, width);
		word *commit = order_row(s->before, half + t, width);
		bits_copy(begin, past, words);
		bits_copy(begin + words, past, words);
		bits_copy(commit, begin, width);
		bits_add(commit, t);
		bits_zero(order_row(s->after, t, width), width);
		bits_zero(order_row(s->after, half + t, width), width);
		BITS_EACH(u, past, words)
			bits_add(order_row(s->after, half + u, width), t);
	}
	/* So far only begins, and only after commits. */
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		word *begin = order_row(s->after, t, width);
		word *commit = order_row(s->after, half + t, width);
		bits_copy(commit + words, commit, words);
		bits_copy(begin, commit, width);
		bits_add(begin, half + t);
	}
}

/* Adds that the earlier of each known pair (plus `from` each) precedes the
 * later (plus `to` each). */
BITS_INLINE bool order_add_known(struct level_scratch *s,
                                 const struct relation *r, unsigned from,
                                 unsigned to, unsigned width)
{
	for (uint32_t i = 0; i < r->known_count; i++) {
		struct history_known e = r->known[i];
		if (!order_add(s, from + e.from, to + e.to, width))
			return false;
	}
	return true;
}

/* Fills rivals: for each transaction the others that write a key of its. */
BITS_INLINE void order_rivals(struct level_scratch *s, const struct relation *r,
                              unsigned words)
{
	for (uint32_t k = 0; k < r->order_count; k++)
		bits_zero(order_row(s->rivals, r->order[k], words), words);
	for (uint32_t x = 0; x < r->key_count; x++) {
		const word *writers = r->writers + (size_t)x * words;
		BITS_EACH(t, writers, words)
			bits_or(order_row(s->rivals, t, words), writers, words);
	}
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		word *row = order_row(s->rivals, t, words);
		if (k == 0) bits_zero(row, words);
		bits_drop(row, 0);
		bits_drop(row, t);
	}
}

/* Fills placed and rank for this order of all transactions. */
BITS_INLINE void order_place(struct level_scratch *s, const uint32_t *order,
                             uint32_t count, unsigned words)
{
	bits_zero(order_row(s->placed, order[0], words), words);
	s->rank[order[0]] = 0;
	for (uint32_t k = 1; k < count; k++) {
		uint32_t last = order[k - 1], t = order[k];
		word *row = order_row(s->placed, t, words);
		bits_copy(row, order_row(s->placed, last, words), words);
		bits_add(row, last);
		s->rank[t] = k;
	}
}

/* Does the order that was placed last agree with all known pairs? */
BITS_INLINE bool order_agrees(const struct level_scratch *s,
                              const struct relation *r)
{
	for (uint32_t i = 0; i < r->known_count; i++)
		if (s->rank[r->known[i].from] >= s->rank[r->known[i].to])
			return false;
	return true;
}

/* Puts point or transaction i behind the first `count` items, and before it all
 * members of its row that are not among them. `done`: those that are. The new
 * count. */
BITS_INLINE uint32_t order_put(struct level_scratch *s, uint32_t *items,
                               uint32_t count, word *done, uint32_t i,
                               const word *rows, size_t stride, unsigned width)
{
	uint32_t first = count;
	const word *row = rows + stride * i;
	if (bits_has(done, i)) return count;
	for (unsigned w = 0; w < width; w++) {
		word missing = row[w] & ~done[w];
		done[w] |= missing;
		for (; missing; missing &= missing - 1)
			items[count++] =
				64 * w + (unsigned)__builtin_ctzll(missing);
	}
	if (count - first > 1)
		order_sort(s, items + first, count - first, rows, stride,
		           width);
	bits_add(done, i);
	items[count++] = i;
	return count;
}

/* Fills tried: an order of the transactions that the closure allows, close to
 * the relation's own. Rows are the sets of transactions before each. */
BITS_INLINE void order_extend(struct level_scratch *s, const struct relation *r,
                              const word *rows, size_t stride, unsigned words)
{
	uint32_t count = 0;
	word *done = s->spare;
	bits_zero(done, words);
	for (uint32_t k = 0; k < r->order_count; k++)
		count = order_put(s, s->tried, count, done, r->order[k], rows,
		                  stride, words);
	assert(count == r->order_count);
}

/* The place after the last member of a set among the first `end` of an order;
 * 0 if there is none. */
BITS_INLINE uint32_t order_end(const uint32_t *order, uint32_t end,
                               const word *set)
{
	while (end && !bits_has(set, order[end - 1])) end--;
	return end;
}

/* The first member of (writers and seen, without t1 and what is placed before
 * it), that is, a writer that hides t1 from a transaction that sees `seen`;
 * 64 * words if there is none. */
BITS_INLINE unsigned order_hider(const struct level_scratch *s,
                                 const word *writers, const word *seen,
                                 uint32_t t1, unsigned words)
{
	const word *earlier = s->placed + (size_t)t1 * words;
	for (unsigned w = 0; w < words; w++) {
		word hiding = writers[w] & seen[w] & ~earlier[w];
		if (w == t1 >> 6) hiding &= ~((word)1 << (t1 & 63));
		if (hiding) return 64 * w + (unsigned)__builtin_ctzll(hiding);
	}
	return 64 * words;
}

/* The transactions that the read number i must see, of a level whose sight does
 * not depend on the commit order. `earlier` is kept from one read to the next
 * of its transaction. */
BITS_INLINE const word *order_sight(const struct relation *r, uint32_t i,
                                    enum sight sight, word *earlier,
                                    unsigned words)
{
	const struct relation_read *reads = r->reads;
	uint32_t t = reads[i].reader;
	if (sight == SIGHT_DIRECT) return r->direct + (size_t)t * words;
	if (sight == SIGHT_PAST) return r->past + (size_t)t * words;
	if (i == 0 || reads[i - 1].reader != t)
		bits_zero(earlier, words);
	else
		bits_add(earlier, reads[i - 1].source);
	return earlier;
}

/* Read number i, of a level of that sight: is its source, in the order that was
 * placed last, the last writer of the key of those that it must see? */
BITS_INLINE bool order_sees_latest(struct level_scratch *s,
                                   const struct relation *r, uint32_t i,
                                   enum sight sight, unsigned words)
{
	struct relation_read a = r->reads[i];
	const word *writers = r->writers + (size_t)a.key * words;
	const word *seen = order_sight(r, i, sight, s->visible, words);
	return order_hider(s, writers, seen, a.source, words) == 64 * words;
}

/* Adds t2 -> t1 (plus `base` each) for all t2 in this word of a set. */
BITS_INLINE bool order_add_into(struct level_scratch *s, word set, unsigned w,
                                unsigned base, unsigned to, unsigned width)
{
	for (; set; set &= set - 1) {
		unsigned i = 64 * w + (unsigned)__builtin_ctzll(set);
		if (!order_add(s, base + i, to, width)) return false;
	}
	return true;
}

/* The edges that read number i, of a level of that sight, forces (plus `base`
 * each): other writers of the key that it must see come before its source. */
BITS_INLINE bool order_force_seen(struct level_scratch *s,
                                  const struct relation *r, uint32_t i,
                                  enum sight sight, unsigned base,
                                  unsigned width, unsigned words)
{
	struct relation_read a = r->reads[i];
	const word *writers = r->writers + (size_t)a.key * words;
	const word *seen = order_sight(r, i, sight, s->visible, words);
	assert(!bits_has(seen, a.reader));
	for (unsigned w = 0; w < words; w++) {
		word forced = writers[w] & seen[w];
		if (w == a.source >> 6) forced &= ~((word)1 << (a.source & 63));
		if (!order_add_into(s, forced, w, base, base + a.source, width))
			return false;
	}
	return true;
}

/* Adds from -> base + t2 for all t2 in this word of a set. */
BITS_INLINE bool order_add_from(struct level_scratch *s, unsigned from,
                                word set, unsigned w, unsigned base,
                                unsigned width)
{
	for (; set; set &= set - 1) {
		unsigned i = 64 * w + (unsigned)__builtin_ctzll(set);
		if (!order_add(s, from, base + i, width)) return false;
	}
	return true;
}

/* Forced, for a read of t from t1 that sees what commits before the point
 * `sight` of t, and each other one of these writers of the key, t2: it commits
 * before t1 does if it is in sight; it is not if it commits after t1. Two
 * points for each transaction. False on a cycle. */
BITS_INLINE bool order_force_prefix(struct level_scratch *s,
                                    struct relation_read a, unsigned sight,
                                    const word *writers, bool *changed,
                                    unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	uint32_t t = a.reader, t1 = a.source;
	const word *before_t = order_row(s->before, sight, width) + words;
	const word *before_t1 = order_row(s->before, half + t1, width) + words;
	const word *after_t = order_row(s->after, sight, width) + words;
	const word *after_t1 = order_row(s->after, half + t1, width) + words;
	assert(sight == t || sight == half + t);
	for (unsigned w = 0; w < words; w++) {
		word early = writers[w] & before_t[w] & ~before_t1[w];
		if (w == t1 >> 6) early &= ~((word)1 << (t1 & 63));
		if (early &&
		    !order_add_into(s, early, w, half, half + t1, width))
			return false;
		word late = writers[w] & after_t1[w] & ~after_t[w];
		if (w == t >> 6) late &= ~((word)1 << (t & 63));
		if (late && !order_add_from(s, sight, late, w, half, width))
			return false;
		*changed |= (early | late) != 0;
	}
	return true;
}

/* What a level does in a search. Saturating adds every edge that is forced, and
 * is false when that closes a cycle. Accepting asks whether s->tried is a
 * commit order; if not, it names a choice that no edge has decided yet. */
typedef bool order_saturate(struct level_scratch *s, const struct relation *r,
                            unsigned words);
typedef bool order_accept(struct level_scratch *s, const struct relation *r,
                          struct order_choice *out, unsigned words);

void order_push(struct level_scratch *s, struct order_edge second);

/* Goes back to the last choice with an edge left, and takes that edge. */
BITS_INLINE bool order_backtrack(struct level_scratch *s, unsigned width)
{
	while (s->frame_count) {
		struct order_frame f = s->frames[--s->frame_count];
		order_undo(s, f.changes);
		s->logging = s->frame_count > 0;
		if (order_add(s, f.second.from, f.second.to, width))
			return true;
	}
	return false;
}

/* Is there a commit order that extends the closure? Saturate, try the order at
 * hand, split on a choice that it gets wrong. Every choice adds an edge, so
 * this ends; the depth is on the heap. */
BITS_INLINE bool order_search(struct level_scratch *s, const struct relation *r,
                              unsigned words, unsigned points,
                              order_saturate *saturate, order_accept *accept)
{
	unsigned width = points * words;
	size_t commit = points == 1 ? 0 : (size_t)64 * words * width + words;
	for (;;) {
		struct order_choice c;
		bool open = saturate(s, r, words);
		if (open) {
			order_extend(s, r, s->before + commit, width, words);
			if (accept(s, r, &c, words)) return true;
			if (s->stop && s->stop(s->stop_data)) return true;
			assert(!order_has(s, c.first.from, c.first.to, width));
			assert(!order_has(s, c.second.from, c.second.to,
			                  width));
			order_push(s, c.second);
			open = order_add(s, c.first.from, c.first.to, width);
		}
		if (!open && !order_backtrack(s, width)) return false;
	}
}

#endif
