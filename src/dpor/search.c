/* The search: explore-ce and its filtered variant (paper, sections 5 and 6),
 * the baseline without reduction, exploring outwards from an observed history,
 * and orderly generation, as one loop over a stack of open choices. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/engine.h"
#include "dpor/first_order.h"
#include "dpor/pool.h"
#include "history/history.h"
#include "vm/program.h"

/* Where the search goes on after a step. */
enum go { GO_DEEPER, GO_BACK, GO_STOP };

static struct frame *push_frame(struct engine *e, enum frame_kind kind)
{
	VEC_RESERVE(e->frames, e->frame_count, e->frame_capacity);
	struct frame *f = &e->frames[e->frame_count++];
	const struct state *s = engine_state(e);
	*f = (struct frame){ .kind = kind,
		             .state = e->current,
		             .at = ledger_mark(&s->execution.ledger) };
	uint64_t depth = e->branch->path_length + e->frame_count;
	if (depth > e->tally.stats.depth_max) e->tally.stats.depth_max = depth;
	return f;
}

static enum go stop(struct engine *e, enum stop_reason why)
{
	engine_stop(e, why);
	return GO_STOP;
}

static bool is_outward(const struct engine *e)
{
	return e->options.algorithm == EXPLORE_OUTWARD;
}

/* Are pc, psi, si and ser heeded on the way, not by a filter in the end? */
static bool heeds_strong_level(const struct engine *e)
{
	return e->options.algorithm != EXPLORE_CE &&
	       !level_is_extensible(e->options.level);
}

/* ValidWrites(h, e), in the region. `beyond`: there may be more of them that
 * belong to other iterations or orders, or there is only one, but it changes
 * more reads than this iteration may. */
static const word *valid_writers(struct engine *e, uint32_t key, bool *beyond)
{
	struct ledger *l = engine_ledger(e);
	const struct closure *c = &l->closure;
	word *valid = region_take(&e->context.region, c->words * sizeof *valid);
	ledger_writers(l, key, valid);
	*beyond = engine_keeps_first_order(e) && first_order_restrict(e, valid);
	if (is_outward(e) && !bits_empty(valid, c->words))
		*beyond |= outward_restrict(e, key, valid);
	if (heeds_strong_level(e))
		BITS_EACH(t, valid, c->words)
			if (!ledger_may_read(l, key, t)) bits_drop(valid, t);
	return valid;
}

/* The waiting read takes its value. */
static void choose(struct engine *e, const struct request *r,
                   const struct machine_state *waiting, uint32_t source,
                   const word *valid)
{
	if (is_outward(e)) outward_read(e, r->key, source);
	state_read(engine_state(e), r, waiting, source, valid);
}

static enum go branch_on_read(struct engine *e, const struct request *r)
{
	struct context *c = &e->context;
	bool beyond;
	const word *valid = valid_writers(e, r->key, &beyond);
	unsigned words = engine_closure(e)->words;
	uint32_t first = bits_next(valid, 0, words);
	if (first >= 64 * words) {
		e->tally.stats.blocked += !beyond;
		return GO_BACK;
	}
	const struct machine_state *waiting =
		context_copy_state(c, engine_state(e)->execution.live);
	if (bits_next(valid, first + 1, words) < 64 * words) {
		uint32_t count = bits_count(valid, words);
		uint32_t *writers =
			region_take(&c->region, count * sizeof *writers);
		ledger_list(engine_ledger(e), valid, writers);
		struct frame *f = push_frame(e, FRAME_READ);
		f->request = *r;
		f->waiting = waiting;
		f->valid = valid;
		f->items = writers;
		f->cursor = 1;
		f->end = count;
		f->mark = region_mark(&c->region);
		first = writers[0];
	}
	choose(e, r, waiting, first, valid);
	return GO_DEEPER;
}

/* The order of the transactions has to stand for its history, or class. */
static bool keeps_order(struct engine *e)
{
	return is_outward(e) ? first_order_keeps(e) : orderly_keeps(e);
}

static enum go after_appended(struct engine *e)
{
	if (!keeps_order(e)) return GO_BACK;
	if (!heeds_strong_level(e)) return GO_DEEPER;
	if (ledger_allows(engine_ledger(e))) return GO_DEEPER;
	e->tally.stats.blocked +=
		!is_outward(e) || outward_changes(e) <= e->outward.budget;
	return GO_BACK;
}

static enum go after_commit(struct engine *e)
{
	if (e->options.algorithm == EXPLORE_DFS) return GO_DEEPER;
	if (e->options.algorithm != EXPLORE_CE) return after_appended(e);
	struct state *scratch = engine_nested_state(e, e->current + 1);
	struct swap_list swaps =
		swap_candidates(engine_state(e), scratch, &e->tally.stats);
	if (!swaps.count) return GO_DEEPER;
	struct frame *f = push_frame(e, FRAME_SWAPS);
	f->items = swaps.reads;
	f->end = swaps.count;
	f->mark = region_mark(&e->context.region);
	return GO_DEEPER;
}

/* A complete history is output in the iteration of its number of changes. */
static enum go complete_outward(struct engine *e)
{
	if (!outward_completes(e)) return GO_BACK;
	if (!engine_output(e)) return GO_STOP;
	if (e->tally.stats.histories && !e->outward.nearest) {
		struct explore_execution x = { .engine = e };
		e->outward.nearest = explore_history(&x);
	}
	if (e->options.stop_unserializable && e->tally.stats.unserializable)
		return stop(e, STOP_VIOLATION);
	return GO_BACK;
}

static enum go complete(struct engine *e)
{
	e->at_end = true;
	if (is_outward(e)) return complete_outward(e);
	return engine_output(e) ? GO_BACK : GO_STOP;
}

bool engine_may_begin(struct engine *e, uint32_t session)
{
	if (!engine_keeps_first_order(e)) return true;
	if (!first_order_may_begin(e, session)) return false;
	return is_outward(e) ? outward_may_begin(e, session)
	                     : orderly_may_begin(e, session);
}

/* A transaction without external reads does the same wherever it stands, and
 * nothing but its place in its session keeps it from standing where it could
 * first: no order in which later sessions pass it is the first one. */
static bool may_be_passed(const struct engine *e, uint32_t session)
{
	return e->options.algorithm == EXPLORE_DFS ||
	       !engine_state(e)->execution.points[session].readless;
}

static uint32_t next_to_try(const struct engine *e, uint32_t session)
{
	if (!may_be_passed(e, session)) return UINT32_MAX;
	return execution_next_session(&engine_state(e)->execution, session + 1);
}

/* The sessions that can go on, this one first. */
static void branch_on_session(struct engine *e, uint32_t session)
{
	struct region *r = &e->context.region;
	uint32_t count = 1, next;
	for (next = session; (next = next_to_try(e, next)) != UINT32_MAX;)
		count++;
	if (count == 1) return;
	uint32_t *items = region_take(r, count * sizeof *items);
	items[0] = session;
	for (uint32_t i = 1; i < count; i++)
		items[i] = next_to_try(e, items[i - 1]);
	struct frame *f = push_frame(e, FRAME_SESSIONS);
	f->choice = session;
	f->items = items;
	f->cursor = 1;
	f->end = count;
	f->mark = region_mark(r);
}

static enum go begin_next(struct engine *e)
{
	struct execution *x = &engine_state(e)->execution;
	uint32_t session = execution_next_session(x, 0);
	size_t frames = e->frame_count;
	if (session == UINT32_MAX) return complete(e);
	if (e->options.algorithm != EXPLORE_CE) branch_on_session(e, session);
	if (!engine_may_begin(e, session)) return GO_BACK;
	if (execution_begin(x, session)) return GO_DEEPER;
	e->at_end = e->frame_count > frames;
	if (e->at_end) e->frames[frames].cursor--;
	return stop(e, STOP_TRANSACTIONS);
}

static bool is_time_to_tick(const struct engine *e)
{
	return e->context.steps >= e->next_tick ||
	       machine_guest_asked(&e->context.machine) != e->asked;
}

static enum go step(struct engine *e)
{
	struct execution *x = &engine_state(e)->execution;
	struct request r;
	if (is_time_to_tick(e) && !engine_tick(e)) return GO_STOP;
	if (!x->ledger.pending.active) return begin_next(e);
	switch (execution_run(x, &r)) {
	case ADVANCE_READ: return branch_on_read(e, &r);
	case ADVANCE_ENDED: return after_commit(e);
	case ADVANCE_FULL: break;
	}
	return e->context.machine.stop ? GO_STOP : stop(e, STOP_EVENTS);
}

static bool next_writer(struct engine *e, struct frame *f)
{
	struct state *s = engine_state(e);
	if (f->cursor >= f->end) return false;
	uint32_t source = f->items[f->cursor++];
	f->choice++;
	state_rewind(s, &f->at);
	region_release(&e->context.region, f->mark);
	s->execution.live = context_copy_state(&e->context, f->waiting);
	choose(e, &f->request, f->waiting, source, f->valid);
	return true;
}

static bool next_swap(struct engine *e, struct frame *f)
{
	if (f->cursor == 0) state_keep(engine_state(e), f->at.count);
	while (f->cursor < f->end) {
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

/* True also if there were too many transactions: then all stop, and it is
 * still to be tried. */
static bool next_session(struct engine *e, struct frame *f)
{
	struct state *s = engine_state(e);
	if (f->cursor >= f->end) return false;
	state_keep(s, f->at.count);
	region_release(&e->context.region, f->mark);
	while (f->cursor < f->end) {
		uint32_t session = f->items[f->cursor++];
		f->choice = session;
		if (!engine_may_begin(e, session)) continue;
		if (execution_begin(&s->execution, session)) return true;
		f->cursor--;
		e->at_end = true;
		engine_stop(e, STOP_TRANSACTIONS);
		return true;
	}
	return false;
}

/* Takes the next alternative of the newest open choice; false when there is
 * none left anywhere. */
static bool go_back(struct engine *e)
{
	while (e->frame_count) {
		struct frame *f = &e->frames[e->frame_count - 1];
		bool more = false;
		e->current = f->state;
		e->at_end = false;
		switch (f->kind) {
		case FRAME_READ: more = next_writer(e, f); break;
		case FRAME_SWAPS: more = next_swap(e, f); break;
		case FRAME_SESSIONS: more = next_session(e, f); break;
		}
		if (more) return true;
		e->frame_count--;
	}
	e->at_end = true;
	return false;
}

static enum go machine_stopped(struct engine *e)
{
	const atomic_bool *interrupt = e->options.interrupt;
	switch (e->context.machine.stop) {
	case MACHINE_FAULT: return stop(e, STOP_GUEST);
	case MACHINE_INTERRUPTED:
		return stop(e, interrupt && atomic_load(interrupt)
		                       ? STOP_INTERRUPTED
		                       : STOP_TIME);
	default: return stop(e, STOP_KEYS);
	}
}

static bool is_stopped(const struct engine *e)
{
	return atomic_load_explicit(&e->shared->stop, memory_order_relaxed) !=
	       STOP_NONE;
}

/* One step, and back to the next alternative where it led to an end. */
static enum go advance(struct engine *e)
{
	enum go go = e->context.machine.stop ? GO_STOP : step(e);
	if (e->context.machine.stop) go = machine_stopped(e);
	return go == GO_BACK && go_back(e) ? GO_DEEPER : go;
}

/* A thread without work gets a branch of this one. */
static void feed_others(struct engine *e)
{
	if (e->pool &&
	    atomic_load_explicit(&e->shared->hungry, memory_order_relaxed))
		pool_feed(e->pool, e);
}

/* Until nothing is left of the branch (true), or something stops it. */
static bool search(struct engine *e)
{
	for (;;) {
		if (is_stopped(e) || e->yields) return false;
		feed_others(e);
		enum go go = advance(e);
		if (go == GO_BACK) return true;
		if (go == GO_STOP) return false;
	}
}

static void forget_branch(struct engine *e)
{
	free(e->branch);
	e->branch = NULL;
}

/* Takes the branch over; false if nothing is there, or all is stopped. */
static bool begin_branch(struct engine *e, struct branch *b)
{
	free(e->branch);
	e->branch = b;
	e->branches++;
	e->unopened = true;
	if (context_too_many(e->program))
		return engine_stop(e, STOP_TRANSACTIONS);
	switch (engine_replay(e, b)) {
	case REPLAYED: e->unopened = false; return true;
	case REPLAY_NOTHING: break;
	case REPLAY_IMPOSSIBLE: e->impossible = true; break;
	case REPLAY_STOPPED:
		if (e->context.machine.stop) machine_stopped(e);
		return false;
	}
	forget_branch(e);
	return false;
}

void engine_explore(struct engine *e, struct branch *b)
{
	if (begin_branch(e, b) && search(e)) forget_branch(e);
}

static bool has_open_choice(const struct engine *e)
{
	for (size_t i = 0; i < e->frame_count; i++)
		if (e->frames[i].cursor < e->frames[i].end) return true;
	return false;
}

/* Swaps become what they lead to, if anything. */
static void try_swaps(struct engine *e, struct branch_list *l, size_t from)
{
	size_t kept = from;
	for (size_t i = from; i < l->count; i++) {
		struct branch *b = l->items[i];
		if (b->kind == BRANCH_SWAP) {
			if (engine_replay(e, b) == REPLAY_NOTHING) {
				free(b);
				continue;
			}
			b->kind = BRANCH_PENDING;
		}
		l->items[kept++] = b;
	}
	l->count = kept;
}

void engine_expand(struct engine *e, const struct branch *b,
                   struct branch_list *out)
{
	size_t from = out->count;
	enum go go = GO_DEEPER;
	if (!begin_branch(e, branch_copy(b))) {
		engine_capture(e, out);
		return;
	}
	while (go == GO_DEEPER && !is_stopped(e) && !has_open_choice(e))
		go = advance(e);
	if (go == GO_BACK) {
		forget_branch(e);
		return;
	}
	engine_capture(e, out);
	try_swaps(e, out, from);
	forget_branch(e);
}

void engine_finish(struct engine *e)
{
	machine_settle(&e->context.machine);
	if (e->context.machine.stop) machine_stopped(e);
	engine_measure(e);
}
