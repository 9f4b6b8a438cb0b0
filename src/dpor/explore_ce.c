/* explore-ce, and explore-ce* (Bouajjani, Enea, Roman-Calvo: Dynamic Partial
 * Order Reduction for Checking Correctness against Transaction Isolation
 * Levels, PLDI 2023, sections 5 and 6).
 *
 *	explore(P, h, <, locals)
 *	    j, e, locals' <- Next(P, h, <, locals)
 *	    if e = none
 *	        if Valid(h): output h, locals'
 *	    else if e is an external read
 *	        for all t in ValidWrites(h, e)
 *	            h' <- h + e + wr(t, e)
 *	            explore(P, h', <.e, locals')
 *	            exploreSwaps(P, h', <.e, locals')
 *	    else
 *	        h' <- h + e
 *	        explore(P, h', <.e, locals')
 *	        exploreSwaps(P, h', <.e, locals')
 *
 *	exploreSwaps(P, h, <, locals)
 *	    for all (r, t) in ComputeReorderings(h, <)
 *	        if Optimality(h, <, r, t, locals)
 *	            explore(P, Swap(h, <, r, t, locals))
 *
 * The calls are a stack of open choices (search.c); h, < and locals are the
 * current state, and `+ e` is what running it does to it. Where h' is explored
 * a choice stands on the stack for each `for all`, to be taken up again when
 * the search comes back to it: so swaps come after all that explore(P, h')
 * finds, as above. ComputeReorderings is empty but behind a commit, so nothing
 * is looked at elsewhere.
 */
#include <assert.h>

#include "dpor/algorithm.h"
#include "dpor/swap.h"

/* ---- Next: the pending transaction first, else the oracle order ---- */

/* The oracle order is that of the sessions. If none has a transaction left, the
 * execution is complete: the search counts it and outputs it if Valid(h)
 * (filter.c), which for explore-ce is always so. */
static enum go next(struct engine *e)
{
	uint32_t session =
		execution_next_session(&engine_state(e)->execution, 0);
	return session == UINT32_MAX ? search_complete(e)
	                             : search_begin(e, session);
}

/* ---- ValidWrites ---- */

/* All t that wrote the key such that h with the read from t satisfies the base
 * level. There is one: the base is causally extensible (section 3.2), so no
 * call of explore is in vain. */
static const word *valid_writes(struct engine *e, const struct request *r)
{
	struct ledger *l = engine_ledger(e);
	assert(l->pending.active);
	word *valid = region_take(&e->context.region,
	                          l->closure.words * sizeof *valid);
	ledger_writers(l, request_db_access(r), valid);
	return valid;
}

static enum go read_from_each(struct engine *e, const struct request *r)
{
	enum go go = search_writers(e, r, valid_writes(e, r));
	e->tally.stats.blocked += go == GO_BACK;
	return go;
}

/* The read is noted for Optimality. */
static void choose(struct engine *e, const struct request *r,
                   const struct machine_state *waiting, uint32_t source,
                   const word *valid)
{
	swap_read(engine_state(e), r, waiting, source, valid);
}

/* ---- ComputeReorderings, Optimality, Swap ---- */

/* Optimality(h, <, r, t) asks two things (section 5.3):
 * - r and the reads that Swap deletes, D, read the latest: readLatest(h, <, r',
 *   t) for each r' of D and for r. Of all the histories with the result of the
 *   swap, it is made from one only: that of the latest reads.
 * - the result satisfies the base level.
 * The first is asked of all r together, when t commits; the second when it is
 * the turn of r, since the answer takes the result, which is then explored.
 *
 * Lemma. For r before r' in <, if r' is not in the causal past of t and does
 * not read the latest, no (r, t) is optimal: Swap deletes what stands behind r
 * and not in the past of t, so r' is in D. Hence from the last read to the
 * first, the first one that fails ends the search for reorderings. */

/* The pairs (r, t) with a read r up to number `read`: those refused together.
 */
static uint64_t count_refused(const struct closure *c, uint32_t t,
                              uint32_t read)
{
	assert(read < c->read_count && t == c->order[c->count - 1]);
	const word *past = c->past + (size_t)t * c->words;
	uint64_t count = 0;
	for (uint32_t i = 0; i <= read; i++)
		count += closure_writes(c, c->reads[i].key, t) &&
		         !bits_has(past, c->reads[i].reader);
	return count;
}

/* ComputeReorderings(h, <) for the transaction t that has just ended, which are
 * the reads of keys that it wrote outside of its causal past; and of those the
 * ones that pass the first half of Optimality, latest in < first. *count tells
 * how many; *reads is in the region. False if all are to stop first. */
static bool reorderings(struct engine *e, const uint32_t **reads,
                        uint32_t *total)
{
	struct state *s = engine_state(e);
	struct state *scratch = engine_nested_state(e, e->current + 1);
	struct explore_stats *stats = &e->tally.stats;
	const struct closure *c = state_closure(s);
	assert(c->count > 1 && !engine_ledger(e)->pending.active);
	uint32_t t = c->order[c->count - 1], count = 0, *found = NULL;
	const word *past = c->past + (size_t)t * c->words;
	*total = 0;
	if (!c->blocks[c->count - 1].written_count) return true;
	for (uint32_t i = c->blocks[c->count - 1].first_read; i-- > 0;) {
		if (bits_has(past, c->reads[i].reader)) continue;
		if (s->notes[i].latest == LATEST_MAYBE && !engine_toil(e))
			return false;
		if (!swap_reads_latest(s, scratch, i)) {
			uint64_t refused = count_refused(c, t, i);
			stats->swaps_not_latest += refused;
			stats->swaps_considered += refused;
			break;
		}
		if (!closure_writes(c, c->reads[i].key, t)) continue;
		if (!found)
			found = region_take(&e->context.region,
			                    (i + 1) * sizeof *found);
		found[count++] = i;
	}
	stats->swaps_considered += count;
	*reads = found;
	*total = count;
	return true;
}

/* The second half of Optimality, and Swap: the next of the reorderings whose
 * result satisfies the base level is the current state; false if none is left.
 * True also if all are to stop; those that are left are still to be tried. */
static bool next_swap(struct engine *e, struct frame *f)
{
	assert(f->state + 1 < e->state_count);
	if (f->cursor == 0) state_keep(engine_state(e), f->at.count);
	while (f->cursor < f->end) {
		e->at_end = !engine_toil(e);
		if (e->at_end) return true;
		uint32_t read = f->items[f->cursor++];
		f->choice = f->cursor;
		region_release(&e->context.region, f->mark);
		struct state *to = engine_nested_state(e, f->state + 1);
		if (!swap_apply(to, e->states[f->state], read)) {
			e->tally.stats.swaps_inconsistent++;
			continue;
		}
		e->tally.stats.swaps_taken++;
		e->current = f->state + 1;
		return true;
	}
	return false;
}

/* What is left begins behind the last read of t: the steps from there on are
 * not counted now. */
static enum go stop_before_swaps(struct engine *e)
{
	const struct state *s = engine_state(e);
	const struct closure *c = state_closure(s);
	uint32_t t = c->order[c->count - 1];
	bool reads = c->blocks[c->count - 1].first_read < c->read_count;
	const struct ledger_event *last =
		reads ? s->notes[c->read_count - 1].node : NULL;
	const struct ledger_event *v =
		s->execution.ledger.transactions[t]->last;
	for (; v != last; v = v->before) e->uncounted++;
	e->uncounted++;
	e->ends_again = true;
	return GO_STOP;
}

/* exploreSwaps(P, h, <, locals), to be taken up behind explore(P, h, <,
 * locals). */
static enum go explore_swaps(struct engine *e)
{
	const uint32_t *reads;
	uint32_t count;
	if (!reorderings(e, &reads, &count)) return stop_before_swaps(e);
	if (count)
		search_open(e, FRAME_SWAPS, reads, count)->mark =
			region_mark(&e->context.region);
	return GO_DEEPER;
}

const struct algorithm *explore_ce(void)
{
	static const struct algorithm ce = { .next = next,
		                             .read = read_from_each,
		                             .choose = choose,
		                             .ended = explore_swaps,
		                             .next_swap = next_swap };
	return &ce;
}
