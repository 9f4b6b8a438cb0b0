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

/* The other writers of the key whose lock the read excludes. */
static void psi_excluded(const struct relation *r,
                         const struct relation_read *a, word *out,
                         unsigned words)
{
	const word *writers = r->writers + (size_t)a->key * words;
	bits_copy(out, writers, words);
	if (a->strength < STRENGTH_SHARE) {
		bits_zero(out, words);
		for (uint32_t i = 0; i < r->write_count; i++) {
			const struct relation_write *w = &r->writes[i];
			if (w->key == a->key && !w->reads_own &&
			    bits_has(writers, w->writer) &&
			    strength_meets(a->strength, w->strength))
				bits_add(out, w->writer);
		}
	}
	bits_drop(out, a->reader);
}

/* Fills visible: by transaction, those whose locks it has replaced the version
 * of, as far as the writers' order tells. */
static void psi_replaced(struct level_scratch *s, const struct relation *r,
                         unsigned words)
{
	word *excluded = s->spare;
	for (uint32_t k = 0; k < r->order_count; k++)
		bits_zero(order_row(s->visible, r->order[k], words), words);
	for (uint32_t i = 0; i < r->read_count; i++) {
		const struct relation_read *a = &r->reads[i];
		if (relation_lock(*a) == STRENGTH_PLAIN) continue;
		psi_excluded(r, a, excluded, words);
		bits_and(excluded, order_row(s->after, a->source, words),
		         words);
		BITS_EACH(t, excluded, words)
			bits_add(order_row(s->visible, t, words), a->reader);
	}
}

/* Who locked what another one replaced commits first. That is no part of what
 * transactions see, but must not contradict it: transactions are taken away as
 * long as there is one that nothing left comes before. Fills tried: in this
 * order. */
static bool psi_locks_agree(struct level_scratch *s, const struct relation *r,
                            unsigned words)
{
	word *left = s->spare;
	uint32_t count = 0;
	psi_replaced(s, r, words);
	bits_zero(left, words);
	for (uint32_t k = 0; k < r->order_count; k++)
		bits_add(left, r->order[k]);
	for (bool changed = true; changed;) {
		changed = false;
		BITS_EACH(t, left, words) {
			if (bits_meet(order_row(s->visible, t, words), left,
			              words) ||
			    bits_meet(order_row(s->before, t, words), left,
			              words))
				continue;
			bits_drop(left, t);
			s->tried[count++] = t;
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
		if (relation_lock(a) == STRENGTH_PLAIN) continue;
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
	if (r->locks_reads) {
		if (!psi_decided(s, r, out, words)) return false;
		/* Rivals that are still open follow an order that heeds the
		 * locks. */
		bool agree = psi_locks_agree(s, r, words);
		assert(agree);
		(void)agree;
	}
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
