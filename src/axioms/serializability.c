/* ser: a read takes the value of the last writer before its transaction. */
#include "axioms/kernels.h"

#include <assert.h>

/* Forced, for a read of t from t1 and another writer t2 of the key: before t1
 * when it is before t; after t when it is after t1. */
BITS_INLINE bool ser_saturate(struct level_scratch *s, const struct relation *r,
                              unsigned words)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < r->read_count; i++) {
			struct relation_read a = r->reads[i];
			uint32_t t = a.reader, t1 = a.source;
			const word *writers =
				r->writers + (size_t)a.key * words;
			const word *before_t = order_row(s->before, t, words);
			const word *before_t1 = order_row(s->before, t1, words);
			const word *after_t = order_row(s->after, t, words);
			const word *after_t1 = order_row(s->after, t1, words);
			for (unsigned w = 0; w < words; w++) {
				word early = writers[w] & before_t[w] &
				             ~before_t1[w];
				if (w == t1 >> 6)
					early &= ~((word)1 << (t1 & 63));
				if (early &&
				    !order_add_into(s, early, w, 0, t1, words))
					return false;
				word late =
					writers[w] & after_t1[w] & ~after_t[w];
				if (w == t >> 6) late &= ~((word)1 << (t & 63));
				if (late &&
				    !order_add_from(s, t, late, w, 0, words))
					return false;
				changed |= (early | late) != 0;
			}
		}
	}
	return true;
}

BITS_INLINE bool ser_in_order(struct level_scratch *s, const struct relation *r,
                              const uint32_t *order, struct order_choice *out,
                              unsigned words)
{
	assert(r->order_count && order[0] == 0);
	order_place(s, order, r->order_count, words);
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		const word *writers = r->writers + (size_t)a.key * words;
		const word *seen = order_row(s->placed, a.reader, words);
		unsigned t2 = order_hider(s, writers, seen, a.source, words);
		if (t2 == 64 * words) continue;
		out->first = (struct order_edge){ a.reader, t2 };
		out->second = (struct order_edge){ t2, a.source };
		return false;
	}
	return true;
}

BITS_INLINE bool ser_accept(struct level_scratch *s, const struct relation *r,
                            struct order_choice *out, unsigned words)
{
	return ser_in_order(s, r, s->tried, out, words);
}

BITS_INLINE bool ser_check(struct level_scratch *s, const struct relation *r,
                           unsigned words)
{
	struct order_choice unused;
	if (ser_in_order(s, r, r->order, &unused, words) && order_agrees(s, r))
		return true;
	order_begin(s, r, words);
	return order_add_known(s, r, 0, 0, words) &&
	       order_search(s, r, words, 1, ser_saturate, ser_accept);
}

bool serial_allows(struct level_scratch *s, const struct relation *r)
{
	scratch_grow(s, r, 1);
	return r->words == 1 ? ser_check(s, r, 1) : ser_check(s, r, r->words);
}
