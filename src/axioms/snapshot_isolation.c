/* si: as pc, and of two writers of one key the earlier is in the snapshot of
 * the later. */
#include "axioms/kernels.h"
#include "axioms/snapshot.h"

BITS_INLINE bool si_saturate(struct level_scratch *s, const struct relation *r,
                             unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		if (!snapshot_reads(s, r, &changed, words) ||
		    !snapshot_rivals(s, r, &changed, words))
			return false;
	}
	return true;
}

BITS_INLINE bool si_accept(struct level_scratch *s, const struct relation *r,
                           struct order_choice *out, unsigned words)
{
	return snapshot_in_order(s, r, s->tried, true, true, out, words);
}

BITS_INLINE bool si_check(struct level_scratch *s, const struct relation *r,
                          unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	struct order_choice unused;
	order_rivals(s, r, words);
	if (snapshot_in_order(s, r, r->order, false, true, &unused, words) &&
	    order_agrees(s, r))
		return true;
	order_begin_two(s, r, words);
	return order_add_known(s, r, half, 0, width) &&
	       order_search(s, r, words, 2, si_saturate, si_accept);
}

bool snapshot_allows(struct level_scratch *s, const struct relation *r)
{
	scratch_grow(s, r, 2);
	return r->words == 1 ? si_check(s, r, 1) : si_check(s, r, r->words);
}
