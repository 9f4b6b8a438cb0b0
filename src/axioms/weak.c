/* rc, ra and cc. What a read must see does not depend on the commit order, so
 * the level holds when so, wr, the order of writers that is known and the edges
 * forced by reads have no cycle. */
#include "axioms/kernels.h"

#include <assert.h>

BITS_INLINE bool weak_in_own_order(struct level_scratch *s,
                                   const struct relation *r, enum sight sight,
                                   unsigned words)
{
	order_place(s, r->order, r->order_count, words);
	for (uint32_t i = 0; i < r->read_count; i++)
		if (!order_sees_latest(s, r, i, sight, words)) return false;
	return order_agrees(s, r);
}

BITS_INLINE bool weak_in_some_order(struct level_scratch *s,
                                    const struct relation *r, enum sight sight,
                                    unsigned words)
{
	assert(sight > SIGHT_NOTHING && sight < SIGHT_PREFIX);
	order_begin(s, r, words);
	if (!order_add_known(s, r, 0, 0, words)) return false;
	for (uint32_t i = 0; i < r->read_count; i++)
		if (!order_force_seen(s, r, i, sight, 0, words, words))
			return false;
	return true;
}

BITS_INLINE bool weak_check(struct level_scratch *s, const struct relation *r,
                            enum sight sight, unsigned words)
{
	return weak_in_own_order(s, r, sight, words) ||
	       weak_in_some_order(s, r, sight, words);
}

BITS_INLINE bool weak_with(struct level_scratch *s, const struct relation *r,
                           enum sight sight)
{
	scratch_grow(s, r, 1);
	return r->words == 1 ? weak_check(s, r, sight, 1)
	                     : weak_check(s, r, sight, r->words);
}

bool weak_allows(struct level_scratch *s, const struct relation *r,
                 enum sight sight)
{
	switch (sight) {
	case SIGHT_NOTHING: return true;
	case SIGHT_SOURCES: return weak_with(s, r, SIGHT_SOURCES);
	case SIGHT_DIRECT: return weak_with(s, r, SIGHT_DIRECT);
	case SIGHT_PAST: return weak_with(s, r, SIGHT_PAST);
	case SIGHT_STATEMENT:
	case SIGHT_PREFIX: break;
	}
	assert(!"this sight needs a commit order");
	return false;
}
