/* What a transaction sees under psi when the order of writers of each key is
 * taken from an order of all transactions. */
#ifndef ISO_AXIOMS_PARALLEL_SNAPSHOT_H
#define ISO_AXIOMS_PARALLEL_SNAPSHOT_H

#include "axioms/order.h"

/* Fills visible for this order; `rows` are the sets of transactions that are
 * known to be seen by each. */
BITS_INLINE void psi_see(struct level_scratch *s, const struct relation *r,
                         const uint32_t *order, const word *rows,
                         unsigned words)
{
	word *steps = s->spare;
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = order[k];
		const word *placed = order_row(s->placed, t, words);
		const word *rivals = order_row(s->rivals, t, words);
		const word *known = rows + (size_t)t * words;
		word *visible = order_row(s->visible, t, words);
		for (unsigned w = 0; w < words; w++)
			steps[w] = known[w] | (rivals[w] & placed[w]);
		bits_copy(visible, steps, words);
		/* Going back, what a nearer one sees needs no visit. */
		for (uint32_t j = k; j-- > 0 && !bits_empty(steps, words);) {
			uint32_t u = order[j];
			if (!bits_has(steps, u)) continue;
			const word *more = order_row(s->visible, u, words);
			bits_or(visible, more, words);
			for (unsigned w = 0; w < words; w++)
				steps[w] &= ~more[w];
			bits_drop(steps, u);
		}
	}
}

/* In the order tried, t sees t2 though the closure does not have it so: finds
 * the first pair of writers of one key on the way back that only this order,
 * not the closure, decides. */
BITS_INLINE struct order_edge psi_open_pair(const struct level_scratch *s,
                                            const uint32_t *order, uint32_t t,
                                            uint32_t t2, unsigned words)
{
	for (;;) {
		const word *known = order_row(s->before, t, words);
		const word *rivals = order_row(s->rivals, t, words);
		uint32_t j = s->rank[t];
		for (;;) {
			assert(j > s->rank[t2]);
			uint32_t u = order[--j];
			bool leads =
				u == t2 ||
				bits_has(order_row(s->visible, u, words), t2);
			if (!leads) continue;
			if (bits_has(known, u)) {
				t = u;
				break;
			}
			if (bits_has(rivals, u))
				return (struct order_edge){ u, t };
		}
	}
}

BITS_INLINE bool psi_in_order(struct level_scratch *s, const struct relation *r,
                              const uint32_t *order, const word *rows,
                              bool closed, struct order_choice *out,
                              unsigned words)
{
	order_place(s, order, r->order_count, words);
	psi_see(s, r, order, rows, words);
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		uint32_t t1 = a.source;
		const word *writers = r->writers + (size_t)a.key * words;
		const word *seen = order_row(s->visible, a.reader, words);
		unsigned t2 = order_hider(s, writers, seen, t1, words);
		if (t2 == 64 * words) continue;
		if (!closed) return false;
		struct order_edge open = { t1, t2 };
		if (order_has(s, t1, t2, words))
			open = psi_open_pair(s, order, a.reader, t2, words);
		out->first = (struct order_edge){ open.to, open.from };
		out->second = open;
		return false;
	}
	return true;
}

#endif
