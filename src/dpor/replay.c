/* From a branch to a state: runs the program along the script. */
#include <assert.h>

#include "dpor/engine.h"

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
 * written the key. UINT32_MAX if it has not. */
static uint32_t next_source(struct engine *e, struct reader *r, uint32_t key)
{
	const uint32_t *read = r->branch->script + r->at;
	const struct world *w = &e->world;
	r->at += 2;
	r->reads--;
	if (!read[0]) return HISTORY_INIT;
	uint32_t session = read[0] - 1;
	if (session >= w->sessions) return UINT32_MAX;
	if (read[1] >= engine_state(e)->done[session]) return UINT32_MAX;
	uint32_t source = w->first_id[session] + read[1];
	return closure_writes(&engine_state(e)->closure, key, source)
	               ? source
	               : UINT32_MAX;
}

static enum replay swap_violates(struct engine *e)
{
	e->tally.stats.swaps_inconsistent++;
	return REPLAY_NOTHING;
}

static enum replay replay_read(struct engine *e, struct reader *r,
                               const struct request *request)
{
	struct state *s = engine_state(e);
	if (!r->reads) return REPLAY_IMPOSSIBLE;
	uint32_t source = next_source(e, r, request->key);
	if (source == UINT32_MAX) return REPLAY_IMPOSSIBLE;
	bool swapped = is_there(r) && r->branch->kind == BRANCH_SWAP;
	if (!closure_may_read(&s->closure, request->key, source))
		return swapped ? swap_violates(e) : REPLAY_IMPOSSIBLE;
	e->tally.stats.swaps_taken += swapped;
	if (e->options.algorithm == EXPLORE_OUTWARD)
		outward_read(e, request->key, source);
	e->uncounted -= is_fresh(r);
	state_read(s, &e->world, request,
	           state_copy_live(&e->world, s->pending.live), source, NULL);
	return REPLAYED;
}

/* The transaction that has just begun: to its end, or to the branch. */
static enum replay replay_events(struct engine *e, struct reader *r)
{
	struct request request;
	while (!is_there(r)) {
		enum replay step;
		switch (state_run(engine_state(e), &e->world, &request)) {
		case ADVANCE_READ:
			step = replay_read(e, r, &request);
			if (step != REPLAYED) return step;
			break;
		case ADVANCE_COMMIT:
			return r->reads ? REPLAY_IMPOSSIBLE : REPLAYED;
		case ADVANCE_FULL:
			return e->world.machine.stop ? REPLAY_STOPPED
			                             : REPLAY_IMPOSSIBLE;
		}
	}
	return REPLAYED;
}

/* What was begun before could begin; a renamed script need not be in the first
 * order of its history. But EXPLORE_OUTWARD counts as it goes. */
static bool may_begin(struct engine *e, const struct reader *r,
                      uint32_t session)
{
	if (is_fresh(r)) return engine_may_begin(e, session);
	return e->options.algorithm != EXPLORE_OUTWARD ||
	       outward_may_begin(e, session);
}

static enum replay replay_transaction(struct engine *e, struct reader *r)
{
	struct state *s = engine_state(e);
	uint32_t session = r->branch->script[r->at];
	if (e->world.steps >= e->next_tick && !engine_may_go_on(e))
		return REPLAY_STOPPED;
	r->reads = r->branch->script[r->at + 1];
	r->at += 2;
	if (session >= e->world.sessions ||
	    state_next_session(s, &e->world, session) != session)
		return REPLAY_IMPOSSIBLE;
	assert(is_last_transaction(r) ||
	       r->at + 2 * (size_t)r->reads < r->branch->script_length);
	if (!may_begin(e, r, session)) return REPLAY_NOTHING;
	if (!state_begin(s, &e->world, session)) {
		uint64_t more = world_more_room(e->program, e->room);
		if (!more) return REPLAY_IMPOSSIBLE;
		atomic_store(&e->shared->room, more);
		e->must_grow = true;
		return REPLAYED;
	}
	e->uncounted -= is_fresh(r);
	return replay_events(e, r);
}

static enum replay replay_once(struct engine *e, const struct branch *b)
{
	struct reader r = { .branch = b };
	struct state *s = engine_nested_state(e, 0);
	e->frame_count = 0;
	e->current = 0;
	state_rewind(s, &e->world, 1);
	region_release(&e->world.region, e->start);
	uint64_t steps = e->world.steps;
	enum replay result = REPLAYED;
	while (result == REPLAYED && r.at < b->script_length && !e->must_grow)
		result = replay_transaction(e, &r);
	e->uncounted += e->world.steps - steps;
	return result;
}

enum replay engine_replay(struct engine *e, const struct branch *b)
{
	e->at_end = false;
	e->wanted = NO_SESSION;
	enum replay result = replay_once(e, b);
	while (e->must_grow) {
		engine_make_world(e);
		result = replay_once(e, b);
	}
	return result;
}
