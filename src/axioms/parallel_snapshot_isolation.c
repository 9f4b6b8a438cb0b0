/* psi: a transaction sees all that precedes it in so, wr and the order of
 * writers of one key. The closure is of exactly these three. */
#include "axioms/parallel_snapshot.h"

#include "axioms/kernels.h"

/* Forced, for a read of t from t1 and another writer t2 of the key that t
 * sees: t2 is before t1. */
BITS_INLINE bool psi_reads(struct level_scratch *s, const struct relation *r,
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

/* A read that locks, and another writer of its key whose lock it excludes: does
 * the reader come before the writer, as far as the writers' order tells? */
BITS_INLINE bool psi_is_overwritten(const struct level_scratch *s,
                                    const struct relation *r,
                                    const struct relation_read *a,
                                    const struct relation_write *w,
                                    unsigned words)
{
	return a->strength != STRENGTH_PLAIN && w->key == a->key &&
	       !w->reads_own && w->writer != a->reader &&
	       bits_has(r->writers + (size_t)a->key * words, w->writer) &&
	       strengths_exclude(a->strength, w->strength) &&
	       order_has(s, a->source, w->writer, words);
}

/* Who locked what another one replaced commits first. That is no part of what
 * transactions see, but must not contradict it: transactions are taken away as
 * long as there is one that nothing left comes before. */
static bool psi_locks_agree(struct level_scratch *s, const struct relation *r,
                            unsigned words)
{
	word *left = s->spare, *blocked = s->spare + words;
	bits_zero(left, words);
	for (uint32_t k = 0; k < r->order_count; k++)
		bits_add(left, r->order[k]);
	for (bool changed = true; changed;) {
		changed = false;
		bits_zero(blocked, words);
		for (uint32_t i = 0; i < r->read_count; i++)
			for (uint32_t j = 0; j < r->write_count; j++)
				if (bits_has(left, r->reads[i].reader) &&
				    psi_is_overwritten(s, r, &r->reads[i],
				                       &r->writes[j], words))
					bits_add(blocked, r->writes[j].writer);
		BITS_EACH(t, left, words) {
			if (bits_has(blocked, t) ||
			    bits_meet(order_row(s->before, t, words), left,
			              words))
				continue;
			bits_drop(left, t);
			changed = true;
		}
	}
	return bits_empty(left, words);
}

BITS_INLINE bool psi_saturate(struct level_scratch *s, const struct relation *r,
                              unsigned words)
{
	return psi_reads(s, r, words) &&
	       (!r->locks_reads || psi_locks_agree(s, r, words));
}

/* Where reads lock, the order of the writers of their keys decides. */
static bool psi_decided(const struct level_scratch *s, const struct relation *r,
                        struct order_choice *out, unsigned words)
{
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		const word *writers = r->writers + (size_t)a.key * words;
		if (a.strength == STRENGTH_PLAIN) continue;
		BITS_EACH(t2, writers, words) {
			if (t2 == a.source ||
			    order_has(s, t2, a.source, words) ||
			    order_has(s, a.source, t2, words))
				continue;
			out->first = (struct order_edge){ t2, a.source };
			out->second = (struct order_edge){ a.source, t2 };
			return false;
		}
	}
	return true;
}

BITS_INLINE bool psi_accept(struct level_scratch *s, const struct relation *r,
                            struct order_choice *out, unsigned words)
{
	if (r->locks_reads && !psi_decided(s, r, out, words)) return false;
	return psi_in_order(s, r, s->tried, s->before, true, out, words);
}

BITS_INLINE bool psi_check(struct level_scratch *s, const struct relation *r,
                           unsigned words)
{
	struct order_choice unused;
	order_rivals(s, r, words);
	if (!r->locks_reads &&
	    psi_in_order(s, r, r->order, r->past, false, &unused, words) &&
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
