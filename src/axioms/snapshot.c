/* pc: a transaction begins with a snapshot, a prefix of the commit order, and
 * commits later: two points for each transaction. si: besides, of two writers
 * of one key the earlier is in the snapshot of the later. */
#include "axioms/kernels.h"

#include <assert.h>

BITS_INLINE bool snapshot_reads(struct level_scratch *s,
                                const struct relation *r, bool *changed,
                                unsigned words)
{
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		if (!order_force_prefix(s, a, a.reader,
		                        r->writers + (size_t)a.key * words,
		                        changed, words))
			return false;
	}
	return true;
}

/* Forced under si: of two writers of a key, one commits before the other
 * begins; so it does if it begins before the other commits. */
BITS_INLINE bool snapshot_rivals(struct level_scratch *s,
                                 const struct relation *r, bool *changed,
                                 unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	for (uint32_t k = 1; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		const word *rivals = order_row(s->rivals, t, words);
		const word *later = order_row(s->after, t, width) + words;
		const word *after = order_row(s->after, half + t, width);
		for (unsigned w = 0; w < words; w++) {
			word forced = rivals[w] & later[w] & ~after[w];
			if (!forced) continue;
			if (!order_add_from(s, half + t, forced, w, 0, width))
				return false;
			*changed = true;
		}
	}
	return true;
}

/* Finds for each transaction the smallest snapshot that it can have in this
 * order of commits: up to the last that it depends on, and, if they exclude
 * each other, up to the last rival that commits before it. `seen` are the rows
 * (stride words apart) of the transactions that commit before it begins;
 * `closed` tells whether the closure has been built. False when a rival commits
 * after another that must not be in the snapshot: then it is a choice. */
BITS_INLINE bool snapshot_bounds(struct level_scratch *s,
                                 const struct relation *r,
                                 const uint32_t *order, bool closed,
                                 struct order_choice *out, unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	const word *rows = closed ? s->before + words : r->past;
	const size_t stride = closed ? width : words;
	assert(order[0] == 0);
	s->bound[order[0]] = order[0];
	for (uint32_t k = 1; k < r->order_count; k++) {
		uint32_t t = order[k];
		uint32_t end = order_end(order, k, rows + stride * t);
		s->bound[t] = order[end];
		if (!s->exclusive) continue;
		const word *rivals = order_row(s->rivals, t, words);
		uint32_t last = order_end(order, k, rivals);
		if (last <= end) continue;
		s->bound[t] = order[last];
		if (!closed) continue;
		const word *later = order_row(s->after, t, width) + words;
		const word *snapshot = order_row(s->placed, order[last], words);
		if (!bits_meet(later, snapshot, words)) continue;
		uint32_t rival = order[last - 1];
		out->first = (struct order_edge){ half + t, rival };
		out->second = (struct order_edge){ half + rival, t };
		return false;
	}
	return true;
}

/* Is this the order of commits of an execution of the level? */
BITS_INLINE bool snapshot_in_order(struct level_scratch *s,
                                   const struct relation *r,
                                   const uint32_t *order, bool closed,
                                   struct order_choice *out, unsigned words)
{
	const unsigned half = 64 * words;
	assert(r->order_count && r->order_count <= half);
	order_place(s, order, r->order_count, words);
	if (!snapshot_bounds(s, r, order, closed, out, words)) return false;
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		uint32_t t = a.reader;
		const word *writers = r->writers + (size_t)a.key * words;
		const word *seen = order_row(s->placed, s->bound[t], words);
		unsigned t2 = order_hider(s, writers, seen, a.source, words);
		if (t2 == half) continue;
		out->first = (struct order_edge){ t, half + t2 };
		out->second = (struct order_edge){ half + t2, half + a.source };
		return false;
	}
	return true;
}

BITS_INLINE bool snapshot_saturate(struct level_scratch *s,
                                   const struct relation *r, unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		if (!snapshot_reads(s, r, &changed, words)) return false;
		if (s->exclusive && !snapshot_rivals(s, r, &changed, words))
			return false;
	}
	return true;
}

BITS_INLINE bool snapshot_accept(struct level_scratch *s,
                                 const struct relation *r,
                                 struct order_choice *out, unsigned words)
{
	return snapshot_in_order(s, r, s->tried, true, out, words);
}

BITS_INLINE bool snapshot_check(struct level_scratch *s,
                                const struct relation *r, unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	struct order_choice unused;
	if (s->exclusive) order_rivals(s, r, words);
	if (snapshot_in_order(s, r, r->order, false, &unused, words) &&
	    order_agrees(s, r))
		return true;
	order_begin_two(s, r, words);
	return order_add_known(s, r, half, s->exclusive ? 0 : half, width) &&
	       order_search(s, r, words, 2, snapshot_saturate, snapshot_accept);
}

bool snapshot_allows(struct level_scratch *s, const struct relation *r,
                     bool exclusive)
{
	scratch_grow(s, r, 2);
	s->exclusive = exclusive;
	return r->words == 1 ? snapshot_check(s, r, 1)
	                     : snapshot_check(s, r, r->words);
}
