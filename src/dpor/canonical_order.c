#include "dpor/canonical_order.h"

#include "dpor/engine.h"
#include "analyse/footprint.h"

/* The last place behind `after` and before `end` that a transaction of a later
 * session than this one takes; 0 if there is none. */
static uint32_t place_of_later(const struct ledger *l, uint32_t session,
                               uint32_t after, uint32_t end)
{
	for (uint32_t p = end; --p > after;)
		if (l->transactions[l->closure.order[p]]->session > session)
			return p;
	return 0;
}

/* Where the session's last transaction stands; 0, as init, if none has. */
static uint32_t place_of_last(const struct engine *e, uint32_t session)
{
	const struct ledger *l = engine_ledger(e);
	return l->closure.position[ledger_last(l, session)];
}

uint32_t canonical_order_passed(const struct engine *e, uint32_t session)
{
	const struct ledger *l = engine_ledger(e);
	return place_of_later(l, session, place_of_last(e, session),
	                      l->closure.count);
}

/* The place of the last predecessor of the transaction at the end, by the reads
 * that it has so far. */
static uint32_t last_predecessor(const struct closure *c)
{
	const struct closure_block *b = &c->blocks[c->count - 1];
	uint32_t last = c->position[b->previous];
	for (uint32_t r = b->first_read; r < c->read_count; r++)
		if (c->position[c->reads[r].source] > last)
			last = c->position[c->reads[r].source];
	return last;
}

bool canonical_order_keeps(const struct engine *e)
{
	const struct ledger *l = engine_ledger(e);
	const struct closure *c = &l->closure;
	uint32_t place = c->count - 1;
	if (c->blocks[place].after_all) return true;
	return !place_of_later(l, l->transactions[c->order[place]]->session,
	                       last_predecessor(c), place);
}

/* May the transaction of this session, wherever it stands, still read something
 * that was written at `from` or behind it? */
static bool may_read_from(const struct engine *e,
                          const struct machine_state *session, uint32_t from)
{
	const struct closure *c = engine_closure(e);
	for (uint32_t p = from; p < c->count; p++)
		for (uint32_t i = 0; i < c->blocks[p].written_count; i++)
			if (footprints_may_read(e->context.footprints, session,
			                        c->blocks[p].written[i]))
				return true;
	return false;
}

bool canonical_order_may_begin(const struct engine *e, uint32_t session)
{
	const struct execution *x = &engine_state(e)->execution;
	if (context_is_finally(&e->context, session)) return true;
	uint32_t passed = canonical_order_passed(e, session);
	return !passed || may_read_from(e, x->points[session].state, passed);
}

bool canonical_order_restrict(const struct engine *e, word *valid)
{
	const struct execution *x = &engine_state(e)->execution;
	const struct ledger *l = &x->ledger;
	const struct closure *c = &l->closure;
	const struct closure_block *b = &c->blocks[c->count - 1];
	if (b->after_all) return false;
	uint32_t passed = place_of_later(
		l, l->pending.session, c->position[b->previous], c->count - 1);
	if (!passed || last_predecessor(c) >= passed ||
	    may_read_from(e, x->live, passed))
		return false;
	bool dropped = false;
	BITS_EACH(t, valid, c->words) {
		if (c->position[t] >= passed) continue;
		bits_drop(valid, t);
		dropped = true;
	}
	return dropped;
}
