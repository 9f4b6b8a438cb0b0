/* pc: a transaction sees a prefix of the commit order. */
#include "axioms/kernels.h"
#include "axioms/snapshot.h"

BITS_INLINE bool pc_saturate(struct level_scratch *s, const struct relation *r,
                             unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		if (!snapshot_reads(s, r, &changed, words)) return false;
	}
	return true;
}

BITS_INLINE bool pc_accept(struct level_scratch *s, const struct relation *r,
                           struct order_choice *out, unsigned words)
{
	return snapshot_in_order(s, r, s->tried, true, false, out, words);
}

BITS_INLINE bool pc_check(struct level_scratch *s, const struct relation *r,
                          unsigned words)
{
	const unsigned half = 64 * words, width = 2 * words;
	struct order_choice unused;
	if (snapshot_in_order(s, r, r->order, false, false, &unused, words) &&
	    order_agrees(s, r))
		return true;
	order_begin_two(s, r, words);
	return order_add_known(s, r, half, half, width) &&
	       order_search(s, r, words, 2, pc_saturate, pc_accept);
}

bool prefix_allows(struct level_scratch *s, const struct relation *r)
{
	scratch_grow(s, r, 2);
	return r->words == 1 ? pc_check(s, r, 1) : pc_check(s, r, r->words);
}
