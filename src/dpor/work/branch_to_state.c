/* From a branch to a state: runs the program along the script. */
#include <assert.h>

#include "dpor/algorithm.h"

/* How far the script was followed. */
struct reader {
	const struct branch *branch;
	uint32_t at;    /* the next word of the script */
	uint32_t reads; /* left of the transaction at hand */
};

static bool is_last_transaction(const struct reader *r)
{
	return r->at + 2 * (size_t)r->reads == r->branch->script_length;
}

/* The branch's last transaction stays pending, and this was its last read. */
static bool is_there(const struct reader *r)
{
	return r->at == r->branch->script_length &&
	       r->branch->kind != BRANCH_BETWEEN &&
	       r->branch->kind != BRANCH_END;
}

/* Is what comes last in the script new: nobody was there yet? */
static bool is_fresh(const struct reader *r)
{
	return is_there(r) && r->branch->kind != BRANCH_PENDING;
}

/* The number of the transaction that the next read is from; it has to have
 * written the key. LEDGER_NONE if it has not. */
static uint32_t next_source(struct engine *e, struct reader *r, uint32_t key)
{
	assert(r->reads && r->at + 2 <= r->branch->script_length);
	const uint32_t *read = r->branch->script + r->at;
	r->at += 2;
	r->reads--;
	if (!read[0]) return HISTORY_INIT;
	const struct ledger *l = engine_ledger(e);
	uint32_t session = read[0] - 1;
	if (session >= e->context.sessions) return LEDGER_NONE;
	if (read[1] >= l->done[session]) return LEDGER_NONE;
	uint32_t source = ledger_number(l->shared, session, read[1]);
	return closure_writes(&l->closure, key, source) ? source : LEDGER_NONE;
}

static enum replay swap_violates(struct engine *e)
{
	e->tally.stats.swaps_inconsistent++;
	return REPLAY_NOTHING;
}

static enum replay replay_read(struct engine *e, struct reader *r,
                               const struct request *request)
{
	if (!r->reads) return REPLAY_IMPOSSIBLE;
	uint32_t source = next_source(e, r, request->key);
	if (source == LEDGER_NONE) return REPLAY_IMPOSSIBLE;
	bool swapped = is_there(r) && r->branch->kind == BRANCH_SWAP;
	if (!closure_may_read(&engine_ledger(e)->closure, request->key,
	                      request->strength, source))
		return swapped ? swap_violates(e) : REPLAY_IMPOSSIBLE;
	e->tally.stats.swaps_taken += swapped;
	e->uncounted -= is_fresh(r);
	e->algorithm->choose(e, request,
	                     session_run_keep(&engine_state(e)->execution.live,
	                                      &e->context.region),
	                     source, NULL);
	return REPLAYED;
}

/* The transaction that has just begun: to its end, or to the branch. */
static enum replay replay_events(struct engine *e, struct reader *r)
{
	struct request request;
	while (!is_there(r)) {
		enum replay step;
		switch (execution_run(&engine_state(e)->execution, &request)) {
		case ADVANCE_READ:
			step = replay_read(e, r, &request);
			if (step != REPLAYED) return step;
			break;
		case ADVANCE_ENDED:
			return r->reads ? REPLAY_IMPOSSIBLE : REPLAYED;
		case ADVANCE_FULL:
			return e->context.machine.stop ? REPLAY_STOPPED
			                               : REPLAY_IMPOSSIBLE;
		}
	}
	return REPLAYED;
}

static bool may_begin(struct engine *e, const struct reader *r,
                      uint32_t session)
{
	const struct algorithm *a = e->algorithm;
	return !a->may_begin || a->may_begin(e, session, !is_fresh(r));
}

static enum replay replay_transaction(struct engine *e, struct reader *r)
{
	struct execution *x = &engine_state(e)->execution;
	assert(r->at + 2 <= r->branch->script_length);
	uint32_t session = r->branch->script[r->at];
	if (e->context.steps >= e->next_tick && !engine_may_go_on(e))
		return REPLAY_STOPPED;
	r->reads = r->branch->script[r->at + 1];
	r->at += 2;
	if (session >= e->context.sessions ||
	    execution_next_session(x, session) != session)
		return REPLAY_IMPOSSIBLE;
	assert(is_last_transaction(r) ||
	       r->at + 2 * (size_t)r->reads < r->branch->script_length);
	if (!may_begin(e, r, session)) return REPLAY_NOTHING;
	if (!execution_begin(x, session)) return REPLAY_IMPOSSIBLE;
	e->uncounted -= is_fresh(r);
	return replay_events(e, r);
}

enum replay engine_replay(struct engine *e, const struct branch *b)
{
	struct reader r = { .branch = b };
	struct state *s = engine_nested_state(e, 0);
	e->at_end = e->ends_again = false;
	e->frame_count = 0;
	e->current = 0;
	state_keep(s, 1);
	ledger_forget_numbers(&e->context.ledgers);
	region_release(&e->context.region, e->start);
	uint64_t steps = e->context.steps;
	enum replay result = REPLAYED;
	while (result == REPLAYED && r.at < b->script_length)
		result = replay_transaction(e, &r);
	e->uncounted += e->context.steps - steps;
	return result;
}
