/* Exploring outwards from an observed history (EXPLORE_OUTWARD): histories
 * that change few of its reads come first.
 *
 * Iterations for k from 0 on: each goes depth first through the serial orders
 * of transactions of which it is not known that they change more than k of the
 * observed reads, and outputs the complete histories that change exactly k. So
 * a history is output in one iteration only. The next k is the least number of
 * changes known of what was cut.
 *
 * And once in it, because of all orders of a history only the first is kept
 * (canonical_order.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/canonical_order.h"
#include "dpor/dfs.h"
#include "dpor/explorer.h"
#include "execution/observed_reads.h"
#include "history/history.h"

#define NOT_PLACED UINT32_MAX

static void end(struct engine *e)
{
	struct outward *o = &e->outward;
	canonical_order_free(&e->order);
	free(o->spent);
	free(o->reserved);
	history_free(o->nearest);
}

static size_t bytes(const struct engine *e)
{
	const struct outward *o = &e->outward;
	return o->spent_capacity * sizeof *o->spent +
	       o->reserved_capacity * sizeof *o->reserved;
}

/* Room for one more element, at `place`. */
static uint32_t *reach(uint32_t *items, uint32_t place, uint32_t *capacity)
{
	if (place < *capacity) return items;
	*capacity = place < 32 ? 64 : 2 * place;
	return mem_grow(items, *capacity, sizeof *items);
}

/* How many reads are changed so far. It may be more than k: where only one
 * writer is left for a read, it is taken, to learn how many changes follow. */
static uint64_t changes_so_far(const struct engine *e)
{
	uint32_t reads = engine_closure(e)->read_count;
	assert(reads <= e->outward.spent_capacity);
	return reads ? e->outward.spent[reads - 1] : 0;
}

/* ---- reads ---- */

/* The transaction that the observed read has its value from, by its number in
 * this exploration; LEDGER_NONE if it has none. */
static uint32_t observed_source(const struct engine *e,
                                const struct observed_read *r)
{
	if (r->session == OBSERVED_INIT) return HISTORY_INIT;
	if (r->session == OBSERVED_NOBODY) return LEDGER_NONE;
	return ledger_number(&e->context.ledgers, r->session, r->index);
}

/* What leaves the pending transaction's next read unchanged. */
static uint32_t unchanged_source(const struct engine *e, uint32_t key)
{
	const struct closure *c = engine_closure(e);
	const struct ledger_pending *p = &engine_ledger(e)->pending;
	uint32_t n = c->read_count - c->blocks[c->count - 1].first_read;
	const struct observed_read *r =
		observed_read(e->options.observed, p->session, p->index, n);
	const char *name = keys_name(e->context.machine.keys, key);
	if (!r || strcmp(r->key, name)) return LEDGER_NONE;
	return observed_source(e, r);
}

/* Something needs so many changes: is that too much? Then it is cut. */
static bool too_many(struct outward *o, uint64_t changes)
{
	if (changes <= o->budget) return false;
	if (changes < o->next) o->next = changes;
	return true;
}

/* Of the writers, drops those for which k changes are not enough, unless it is
 * the only one. True if k changes are not enough for some. */
static bool drop_changing(struct engine *e, uint32_t key, word *valid)
{
	const struct closure *c = engine_closure(e);
	struct outward *o = &e->outward;
	uint64_t needed = changes_so_far(e) + o->reserved[c->count - 1];
	if (needed < o->budget) return false;
	uint32_t kept = unchanged_source(e, key);
	if (bits_count(valid, c->words) == 1) {
		uint32_t only = bits_next(valid, 0, c->words);
		return needed + (only != kept) > o->budget;
	}
	bool dropped = false;
	BITS_EACH(t, valid, c->words) {
		if (!too_many(o, needed + (t != kept))) continue;
		bits_drop(valid, t);
		dropped = true;
	}
	return dropped;
}

static bool filter(struct engine *e, uint32_t key, word *valid)
{
	bool beyond = canonical_order_restrict(e, valid);
	if (bits_empty(valid, engine_closure(e)->words)) return beyond;
	return drop_changing(e, key, valid) || beyond;
}

static enum go read_changing_few(struct engine *e, const struct request *r)
{
	return dfs_read(e, r, filter);
}

/* Notes whether the read is changed. */
static void choose(struct engine *e, const struct request *r,
                   const struct machine_state *waiting, uint32_t source,
                   const word *valid)
{
	struct outward *o = &e->outward;
	uint32_t read = engine_closure(e)->read_count;
	uint32_t before = read ? o->spent[read - 1] : 0;
	o->spent = reach(o->spent, read, &o->spent_capacity);
	o->spent[read] = before + (source != unchanged_source(e, r->key));
	dfs_choose(e, r, waiting, source, valid);
}

/* ---- what is needed at least ---- */

/* Where the source of an observed read stands: from the next place on, if it
 * may still come; NOT_PLACED if it cannot. */
static uint32_t place_of_source(const struct engine *e,
                                const struct observed_read *r)
{
	const struct execution *x = &engine_state(e)->execution;
	const struct closure *c = &x->ledger.closure;
	if (r->session == OBSERVED_INIT) return 0;
	if (r->session == OBSERVED_NOBODY) return NOT_PLACED;
	if (r->index < x->ledger.done[r->session])
		return c->position[observed_source(e, r)];
	return x->points[r->session].ended ? NOT_PLACED : c->count;
}

/* Can the session's next transaction stand behind place `later`, with all its
 * reads unchanged? Only if one of them is from there or behind. If the session
 * is `next` itself, its sources have to be there already. */
static bool unchanged_behind(const struct engine *e, uint32_t session,
                             uint32_t later, uint32_t next)
{
	const struct ledger *l = engine_ledger(e);
	uint32_t index = l->done[session];
	for (uint32_t n = 0;; n++) {
		const struct observed_read *r =
			observed_read(e->options.observed, session, index, n);
		if (!r) return false;
		uint32_t place = place_of_source(e, r);
		if (place == NOT_PLACED || place < later) continue;
		if (session != next || place < l->closure.count) return true;
	}
}

/* Must the session's next transaction change a read, when a transaction of
 * session `next` is placed now? */
static bool must_change(const struct engine *e, uint32_t session, uint32_t next)
{
	const struct execution *x = &engine_state(e)->execution;
	if (x->points[session].ended ||
	    context_is_finally(&e->context, session))
		return false;
	uint32_t later = x->ledger.closure.count;
	if (session >= next) later = canonical_order_passed(e, session);
	return later && !unchanged_behind(e, session, later, next);
}

/* Not if too many reads had to be changed then: a session that was passed over,
 * since a transaction of a later one stands behind its last, has to read from
 * there or later on; if its next transaction did not in the observed history,
 * it changes a read. */
static bool may_begin(struct engine *e, uint32_t session, bool again)
{
	if (!canonical_order_may_begin(e, session, again)) return false;
	struct outward *o = &e->outward;
	uint32_t place = engine_closure(e)->count, others = 0;
	if (context_is_finally(&e->context, session))
		session = e->context.sessions;
	for (uint32_t i = 0; i < e->context.sessions; i++)
		others += i != session && must_change(e, i, session);
	bool itself = session < e->context.sessions &&
	              must_change(e, session, session);
	o->reserved = reach(o->reserved, place, &o->reserved_capacity);
	assert(place < o->reserved_capacity);
	o->reserved[place] = others;
	return !too_many(o, changes_so_far(e) + others + itself);
}

static enum go ended(struct engine *e)
{
	struct ledger *l = engine_ledger(e);
	if (!canonical_order_keeps(e)) return GO_BACK;
	if (ledger_is_extensible(l) || ledger_allows(l)) return GO_DEEPER;
	e->tally.stats.blocked += changes_so_far(e) <= e->outward.budget;
	return GO_BACK;
}

/* ---- Iterations ---- */

/* A complete history is output in the iteration of its number of changes. */
static enum go next(struct engine *e)
{
	struct outward *o = &e->outward;
	if (execution_next_session(&engine_state(e)->execution, 0) !=
	    UINT32_MAX)
		return dfs_next(e);
	uint64_t changes = changes_so_far(e);
	e->at_end = true;
	if (too_many(o, changes) || changes != o->budget) return GO_BACK;
	if (!engine_output(e)) return GO_STOP;
	if (e->tally.stats.histories && !o->nearest) {
		struct explore_execution x = { .engine = e };
		o->nearest = explore_history(&x);
	}
	if (e->options.stop_unserializable && e->tally.stats.unserializable)
		return search_stop(e, STOP_VIOLATION);
	return GO_BACK;
}

static void init(struct engine *e)
{
	e->outward.next = UINT64_MAX;
}

/* Goes on to the next k; false, with the reason for stopping noted, if there
 * is none. */
static bool deepen(struct engine *e)
{
	struct outward *o = &e->outward;
	if (o->next == UINT64_MAX) return false;
	assert(o->next > o->budget);
	if (o->next > e->options.max_changes) {
		e->tally.stats.changes = e->options.max_changes;
		return engine_stop(e, STOP_CHANGES);
	}
	e->tally.stats.changes = o->budget = o->next;
	e->tally.stats.blocked = 0;
	o->next = UINT64_MAX;
	return true;
}

const struct algorithm *explore_outward(void)
{
	static const struct algorithm outward = { .next = next,
		                                  .read = read_changing_few,
		                                  .choose = choose,
		                                  .ended = ended,
		                                  .may_begin = may_begin,
		                                  .next_round = deepen,
		                                  .init = init,
		                                  .end = end,
		                                  .bytes = bytes,
		                                  .heeds_level = true,
		                                  .looks_ahead = true };
	return &outward;
}
