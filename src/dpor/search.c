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
#include "history/relation.h"
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
		             .count = s->closure.count,
		             .reads = s->closure.read_count,
		             .pending = s->pending };
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

/* Only under pc, psi, si or ser, and not in explore-ce: does the history with
 * this read still satisfy the level? */
static bool strong_level_allows(struct engine *e, uint32_t key, uint32_t source)
{
	struct state *s = engine_state(e);
	uint32_t count = s->closure.count, reads = s->closure.read_count;
	struct relation r;
	closure_read(&s->closure, key, source);
	closure_relation(&s->closure, &r);
	bool allowed = level_allows(e->options.level, &r, e->scratch);
	closure_rewind(&s->closure, count, reads, true);
	return allowed;
}

/* ValidWrites(h, e), in the region. `beyond`: there may be more of them that
 * belong to other iterations or orders, or there is only one, but it changes
 * more reads than this iteration may. */
static const word *valid_writers(struct engine *e, uint32_t key, bool *beyond)
{
	struct closure *c = &engine_state(e)->closure;
	word *valid = region_take(&e->world.region, c->words * sizeof *valid);
	closure_valid_writers(c, key, valid);
	*beyond = engine_keeps_first_order(e) && first_order_restrict(e, valid);
	if (is_outward(e) && !bits_empty(valid, c->words))
		*beyond |= outward_restrict(e, key, valid);
	if (heeds_strong_level(e))
		BITS_EACH(t, valid, c->words)
			if (!strong_level_allows(e, key, t))
				bits_drop(valid, t);
	return valid;
}

/* The waiting read takes its value. */
static void take(struct engine *e, const struct request *r,
                 const struct machine_state *waiting, uint32_t source,
                 const word *valid)
{
	if (is_outward(e)) outward_read(e, r->key, source);
	state_read(engine_state(e), &e->world, r, waiting, source, valid);
}

static enum go branch_on_read(struct engine *e, const struct request *r)
{
	struct state *s = engine_state(e);
	struct world *w = &e->world;
	bool beyond;
	const word *valid = valid_writers(e, r->key, &beyond);
	const struct machine_state *waiting =
		state_copy_live(w, s->pending.live);
	unsigned words = s->closure.words;
	uint32_t first = bits_next(valid, 0, words);
	if (first >= 64 * words) {
		e->tally.stats.blocked += !beyond;
		return GO_BACK;
	}
	uint32_t second = bits_next(valid, first + 1, words);
	if (second < 64 * words) {
		struct frame *f = push_frame(e, FRAME_READ);
		f->request = *r;
		f->waiting = waiting;
		f->valid = valid;
		f->cursor = second;
		f->end = 64 * words;
		f->mark = region_mark(&w->region);
	}
	take(e, r, waiting, first, valid);
	return GO_DEEPER;
}

/* The order of the transactions has to stand for its history, or class. */
static bool keeps_order(struct engine *e)
{
	return is_outward(e) ? first_order_keeps(e) : orderly_keeps(e);
}

static enum go after_appended(struct engine *e)
{
	struct relation r;
	if (!keeps_order(e)) return GO_BACK;
	if (!heeds_strong_level(e)) return GO_DEEPER;
	closure_relation(&engine_state(e)->closure, &r);
	if (level_allows(e->options.level, &r, e->scratch)) return GO_DEEPER;
	e->tally.stats.blocked +=
		!is_outward(e) || outward_changes(e) <= e->outward.budget;
	return GO_BACK;
}

static enum go after_commit(struct engine *e)
{
	if (e->options.algorithm == EXPLORE_DFS) return GO_DEEPER;
	if (e->options.algorithm != EXPLORE_CE) return after_appended(e);
	struct state *scratch = engine_nested_state(e, e->current + 1);
	struct swap_list swaps = swap_candidates(engine_state(e), scratch,
	                                         &e->world, &e->tally.stats);
	if (!swaps.count) return GO_DEEPER;
	struct frame *f = push_frame(e, FRAME_SWAPS);
	f->swaps = swaps;
	f->end = swaps.count;
	f->mark = region_mark(&e->world.region);
	return GO_DEEPER;
}

/* More room for transactions is needed, if the limit allows: what is left is
 * then explored in a larger world. */
static enum go no_number_left(struct engine *e, uint32_t session)
{
	uint64_t more = world_more_room(e->program, e->room);
	uint64_t room = e->room;
	e->wanted = session;
	if (!more) return stop(e, STOP_TRANSACTIONS);
	while (room < more &&
	       !atomic_compare_exchange_weak(&e->shared->room, &room, more))
		;
	e->must_grow = true;
	return GO_STOP;
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
	       !engine_state(e)->points[session].readless;
}

static uint32_t next_to_try(const struct engine *e, uint32_t session)
{
	if (!may_be_passed(e, session)) return UINT32_MAX;
	return state_next_session(engine_state(e), &e->world, session + 1);
}

/* The sessions behind this one that can go on, as a row in the region; NULL if
 * there is none. */
static const word *other_sessions(struct engine *e, uint32_t session)
{
	uint32_t other = next_to_try(e, session);
	if (other == UINT32_MAX) return NULL;
	unsigned words = BITS_WORDS(e->world.sessions);
	word *row = region_take0(&e->world.region, words * sizeof *row);
	for (; other != UINT32_MAX; other = next_to_try(e, other))
		bits_add(row, other);
	return row;
}

static void branch_on_session(struct engine *e, uint32_t session)
{
	const word *others = other_sessions(e, session);
	if (!others) return;
	struct frame *f = push_frame(e, FRAME_SESSIONS);
	f->choice = session;
	f->cursor = session + 1;
	f->end = e->world.sessions;
	f->valid = others;
	f->mark = region_mark(&e->world.region);
}

static enum go begin_next(struct engine *e)
{
	struct state *s = engine_state(e);
	uint32_t session = state_next_session(s, &e->world, 0);
	if (session == UINT32_MAX) return complete(e);
	if (e->options.algorithm != EXPLORE_CE) branch_on_session(e, session);
	if (!engine_may_begin(e, session)) return GO_BACK;
	if (!state_begin(s, &e->world, session))
		return no_number_left(e, session);
	return GO_DEEPER;
}

static bool is_time_to_tick(const struct engine *e)
{
	return e->world.steps >= e->next_tick ||
	       machine_guest_asked(&e->world.machine) != e->asked;
}

static enum go step(struct engine *e)
{
	struct state *s = engine_state(e);
	struct request r;
	if (is_time_to_tick(e) && !engine_tick(e)) return GO_STOP;
	if (!s->pending.active) return begin_next(e);
	switch (state_run(s, &e->world, &r)) {
	case ADVANCE_READ: return branch_on_read(e, &r);
	case ADVANCE_COMMIT: return after_commit(e);
	case ADVANCE_FULL: break;
	}
	return e->world.machine.stop ? GO_STOP : stop(e, STOP_EVENTS);
}

static bool next_writer(struct engine *e, struct frame *f)
{
	struct state *s = engine_state(e);
	struct world *w = &e->world;
	uint32_t source = f->cursor;
	if (source >= f->end) return false;
	f->choice++;
	f->cursor = bits_next(f->valid, source + 1, s->closure.words);
	state_rewind_pending(s, w, f->count, f->reads, &f->pending);
	region_release(&w->region, f->mark);
	s->pending.live = state_copy_live(w, f->waiting);
	take(e, &f->request, f->waiting, source, f->valid);
	return true;
}

static bool next_swap(struct engine *e, struct frame *f)
{
	struct world *w = &e->world;
	if (f->cursor == 0) state_rewind(engine_state(e), w, f->count);
	while (f->cursor < f->end) {
		uint32_t read = f->swaps.reads[f->cursor++];
		f->choice = f->cursor;
		region_release(&w->region, f->mark);
		struct state *to = engine_nested_state(e, f->state + 1);
		if (!swap_apply(to, e->states[f->state], w, read)) {
			e->tally.stats.swaps_inconsistent++;
			continue;
		}
		e->tally.stats.swaps_taken++;
		e->current = f->state + 1;
		return true;
	}
	return false;
}

/* True also if there is no number left for it (must_grow, or stopped). */
static bool next_session(struct engine *e, struct frame *f)
{
	struct state *s = engine_state(e);
	if (f->cursor >= f->end) return false;
	state_rewind(s, &e->world, f->count);
	region_release(&e->world.region, f->mark);
	unsigned words = BITS_WORDS(e->world.sessions);
	for (;;) {
		uint32_t session = bits_next(f->valid, f->cursor, words);
		if (session >= f->end) return false;
		f->choice = session;
		f->cursor = session + 1;
		if (!engine_may_begin(e, session)) continue;
		if (!state_begin(s, &e->world, session))
			no_number_left(e, session);
		return true;
	}
}

/* Takes the next alternative of the newest open choice; false when there is
 * none left anywhere. */
static bool go_back(struct engine *e)
{
	while (e->frame_count) {
		struct frame *f = &e->frames[e->frame_count - 1];
		bool more = false;
		e->current = f->state;
		switch (f->kind) {
		case FRAME_READ: more = next_writer(e, f); break;
		case FRAME_SWAPS: more = next_swap(e, f); break;
		case FRAME_SESSIONS: more = next_session(e, f); break;
		}
		if (more) {
			e->at_end = false;
			return true;
		}
		e->frame_count--;
	}
	return false;
}

static enum go machine_stopped(struct engine *e)
{
	const atomic_bool *interrupt = e->options.interrupt;
	switch (e->world.machine.stop) {
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
	enum go go = e->world.machine.stop ? GO_STOP : step(e);
	if (e->world.machine.stop) go = machine_stopped(e);
	if (go == GO_BACK) {
		e->at_end = true;
		if (!go_back(e)) return GO_BACK;
		return e->must_grow ? GO_STOP : GO_DEEPER;
	}
	return go;
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
	if (e->world.n > TRANSACTIONS_MAX)
		return engine_stop(e, STOP_TRANSACTIONS);
	switch (engine_replay(e, b)) {
	case REPLAYED: e->unopened = false; return true;
	case REPLAY_NOTHING: break;
	case REPLAY_IMPOSSIBLE: e->impossible = true; break;
	case REPLAY_STOPPED:
		if (e->world.machine.stop) machine_stopped(e);
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
	machine_settle(&e->world.machine);
	if (e->world.machine.stop) machine_stopped(e);
	engine_measure(e);
}
