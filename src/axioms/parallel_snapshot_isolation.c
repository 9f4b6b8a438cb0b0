/* psi: a transaction sees all that precedes it in so, wr and the order of
 * writers of one key. The closure is of exactly these three. */
#include "axioms/parallel_snapshot.h"

#include "axioms/kernels.h"

/* Forced, for a read of t from t1 and another writer t2 of the key that t
 * sees: t2 is before t1. */
BITS_INLINE bool psi_saturate(struct level_scratch *s, const struct relation *r,
                              unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < r->read_count; i++) {
			struct relation_read a = r->reads[i];
			uint32_t t1 = a.source;
			const word *writers =
				r->writers + (size_t)a.key * words;
			const word *seen =
				order_row(s->before, a.reader, words);
			const word *before = order_row(s->before, t1, words);
			for (unsigned w = 0; w < words; w++) {
				word early = writers[w] & seen[w] & ~before[w];
				if (w == t1 >> 6)
					early &= ~((word)1 << (t1 & 63));
				if (!early) continue;
				if (!order_add_into(s, early, w, 0, t1, words))
					return false;
				changed = true;
			}
		}
	}
	return true;
}

BITS_INLINE bool psi_accept(struct level_scratch *s, const struct relation *r,
                            struct order_choice *out, unsigned words)
{
	return psi_in_order(s, r, s->tried, s->before, true, out, words);
}

BITS_INLINE bool psi_check(struct level_scratch *s, const struct relation *r,
                           unsigned words)
{
	struct order_choice unused;
	order_rivals(s, r, words);
	if (psi_in_order(s, r, r->order, r->past, false, &unused, words) &&
	    order_agrees(s, r))
		return true;
	order_begin(s, r, words);
	return order_add_known(s, r, 0, 0, words) &&
	       order_search(s, r, words, 1, psi_saturate, psi_accept);
}

bool parallel_snapshot_allows(struct level_scratch *s, const struct relation *r)
{
	scratch_grow(s, r, 1);
	return r->words == 1 ? psi_check(s, r, 1) : psi_check(s, r, r->words);
}
