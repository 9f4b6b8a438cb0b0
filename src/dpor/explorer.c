/* The search: explore-ce and its filtered variant (paper, sections 5 and 6),
 * the baseline without reduction, and exploring outwards from an observed
 * history, as one loop over a stack of open choices. */
#include "dpor/explorer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/engine.h"
#include "dpor/origin.h"
#include "history/history.h"
#include "history/relation.h"
#include "vm/program.h"

static struct state *nested_state(struct explorer *e, uint32_t index)
{
	while (index >= e->state_count) {
		e->states = mem_grow(e->states, e->state_count + 1,
		                     sizeof *e->states);
		struct state *s = mem_take(sizeof *s);
		state_init(s, &e->world, e->options.base);
		e->states[e->state_count++] = s;
	}
	return e->states[index];
}

static struct frame *push_frame(struct explorer *e, enum frame_kind kind)
{
	VEC_RESERVE(e->frames, e->frame_count, e->frame_capacity);
	struct frame *f = &e->frames[e->frame_count++];
	const struct state *s = engine_state(e);
	*f = (struct frame){ .kind = kind, .state = e->current,
		             .count = s->closure.count,
		             .reads = s->closure.read_count,
		             .pending = s->pending };
	if (e->frame_count > e->stats.depth_max)
		e->stats.depth_max = e->frame_count;
	return f;
}

static bool stop(struct explorer *e, enum explore_stop why)
{
	e->stats.stop = why;
	return false;
}

static bool is_outward(const struct explorer *e)
{
	return e->options.algorithm == EXPLORE_OUTWARD;
}

/* Are pc, psi, si and ser heeded on the way, not by a filter in the end? */
static bool heeds_strong_level(const struct explorer *e)
{
	return e->options.algorithm != EXPLORE_CE &&
	       !level_is_extensible(e->options.level);
}

/* Only under pc, psi, si or ser, and not in explore-ce: does the history with
 * this read still satisfy the level? */
static bool strong_level_allows(struct explorer *e, uint32_t key,
                                uint32_t source)
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

/* ValidWrites(h, e), in the region. `beyond`: there may be more of them, or
 * there is only one, but it changes more reads than this iteration may. */
static const word *valid_writers(struct explorer *e, uint32_t key,
                                 bool *beyond)
{
	struct closure *c = &engine_state(e)->closure;
	word *valid = region_take(&e->world.region, c->words * sizeof *valid);
	closure_valid_writers(c, key, valid);
	*beyond = is_outward(e) && outward_restrict(e, key, valid);
	if (heeds_strong_level(e))
		BITS_EACH(t, valid, c->words)
			if (!strong_level_allows(e, key, t))
				bits_drop(valid, t);
	return valid;
}

/* Where the search goes on after a step. */
enum go { GO_DEEPER, GO_BACK, GO_STOP };

/* The waiting read takes its value. */
static void take(struct explorer *e, const struct request *r,
                 const struct machine_state *waiting, uint32_t source,
                 const word *valid)
{
	if (is_outward(e)) outward_read(e, r->key, source);
	state_read(engine_state(e), &e->world, r, waiting, source, valid);
}

static enum go branch_on_read(struct explorer *e, const struct request *r)
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
		e->stats.blocked += !beyond;
		return GO_BACK;
	}
	uint32_t second = bits_next(valid, first + 1, words);
	if (second < 64 * words) {
		struct frame *f = push_frame(e, FRAME_READ);
		f->request = *r;
		f->waiting = waiting;
		f->valid = valid;
		f->cursor = second;
		f->mark = region_mark(&w->region);
	}
	take(e, r, waiting, first, valid);
	return GO_DEEPER;
}

/* A transaction without external reads does the same wherever it stands, and
 * nothing but its place in its session keeps it from standing where it could
 * first: no order in which later sessions pass it is the first one. */
static void close_sessions(struct explorer *e)
{
	const struct closure *c = &engine_state(e)->closure;
	if (!e->frame_count) return;
	struct frame *f = &e->frames[e->frame_count - 1];
	if (f->kind == FRAME_SESSIONS && f->count + 1 == c->count &&
	    c->blocks[f->count].first_read == c->read_count)
		f->cursor = UINT32_MAX;
}

static enum go after_outward_commit(struct explorer *e)
{
	struct relation r;
	close_sessions(e);
	if (!outward_in_order(e)) return GO_BACK;
	if (!heeds_strong_level(e)) return GO_DEEPER;
	closure_relation(&engine_state(e)->closure, &r);
	if (level_allows(e->options.level, &r, e->scratch)) return GO_DEEPER;
	e->stats.blocked += outward_changes(e) <= e->outward.budget;
	return GO_BACK;
}

static enum go after_commit(struct explorer *e)
{
	if (e->options.algorithm == EXPLORE_DFS) return GO_DEEPER;
	if (is_outward(e)) return after_outward_commit(e);
	struct state *scratch = nested_state(e, e->current + 1);
	struct swap_list swaps = swap_candidates(engine_state(e), scratch,
	                                         &e->world, &e->stats);
	if (!swaps.count) return GO_DEEPER;
	struct frame *f = push_frame(e, FRAME_SWAPS);
	f->swaps = swaps;
	f->mark = region_mark(&e->world.region);
	return GO_DEEPER;
}

/* More room for transactions is needed: begin anew with twice as much, if the
 * limit allows. */
static enum go no_number_left(struct explorer *e)
{
	uint64_t more = world_more_room(e->program, e->room);
	if (!more) stop(e, STOP_TRANSACTIONS);
	e->must_grow = more > 0;
	return GO_STOP;
}

/* A complete history is output in the iteration of its number of changes. */
static enum go complete_outward(struct explorer *e)
{
	if (!outward_completes(e)) return GO_BACK;
	if (!engine_output(e)) return GO_STOP;
	if (e->stats.histories && !e->outward.nearest) {
		struct explore_execution x = { .explorer = e };
		e->outward.nearest = explore_history(&x);
	}
	if (e->options.stop_unserializable && e->stats.unserializable) {
		stop(e, STOP_VIOLATION);
		return GO_STOP;
	}
	return GO_BACK;
}

static enum go complete(struct explorer *e)
{
	if (is_outward(e)) return complete_outward(e);
	return engine_output(e) ? GO_BACK : GO_STOP;
}

static bool may_begin(struct explorer *e, uint32_t session)
{
	return !is_outward(e) || outward_may_begin(e, session);
}

static enum go begin_next(struct explorer *e)
{
	struct state *s = engine_state(e);
	uint32_t session = state_next_session(s, &e->world, 0);
	if (session == UINT32_MAX) return complete(e);
	if (e->options.algorithm != EXPLORE_CE) {
		uint32_t other = state_next_session(s, &e->world, session + 1);
		if (other != UINT32_MAX) {
			struct frame *f = push_frame(e, FRAME_SESSIONS);
			f->cursor = other;
			f->mark = region_mark(&e->world.region);
		}
	}
	if (!may_begin(e, session)) return GO_BACK;
	if (!state_begin(s, &e->world, session)) return no_number_left(e);
	return GO_DEEPER;
}

static bool is_time_to_tick(const struct explorer *e)
{
	return e->world.steps >= e->next_tick ||
	       machine_guest_asked(&e->world.machine) != e->asked;
}

static enum go step(struct explorer *e)
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
	if (!e->world.machine.stop) stop(e, STOP_EVENTS);
	return GO_STOP;
}

static bool next_writer(struct explorer *e, struct frame *f)
{
	struct state *s = engine_state(e);
	struct world *w = &e->world;
	uint32_t source = f->cursor;
	if (source >= 64 * s->closure.words) return false;
	f->cursor = bits_next(f->valid, source + 1, s->closure.words);
	state_rewind_pending(s, w, f->count, f->reads, &f->pending);
	region_release(&w->region, f->mark);
	s->pending.live = state_copy_live(w, f->waiting);
	take(e, &f->request, f->waiting, source, f->valid);
	return true;
}

static bool next_swap(struct explorer *e, struct frame *f)
{
	struct world *w = &e->world;
	if (f->cursor == 0) state_rewind(engine_state(e), w, f->count);
	while (f->cursor < f->swaps.count) {
		uint32_t read = f->swaps.reads[f->cursor++];
		region_release(&w->region, f->mark);
		struct state *to = nested_state(e, f->state + 1);
		if (!swap_apply(to, e->states[f->state], w, read)) {
			e->stats.swaps_inconsistent++;
			continue;
		}
		e->stats.swaps_taken++;
		e->current = f->state + 1;
		return true;
	}
	return false;
}

static bool next_session(struct explorer *e, struct frame *f)
{
	struct state *s = engine_state(e);
	uint32_t session;
	if (f->cursor == UINT32_MAX) return false;
	state_rewind(s, &e->world, f->count);
	region_release(&e->world.region, f->mark);
	do {
		session = f->cursor;
		if (session == UINT32_MAX) return false;
		f->cursor = state_next_session(s, &e->world, session + 1);
	} while (!may_begin(e, session));
	if (!state_begin(s, &e->world, session)) no_number_left(e);
	return true;
}

/* Takes the next alternative of the newest open choice; false when there is
 * none left anywhere. */
static bool go_back(struct explorer *e)
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
		if (more) return true;
		e->frame_count--;
	}
	return false;
}

static void free_states(struct explorer *e)
{
	for (uint32_t i = 0; i < e->state_count; i++) {
		state_free(e->states[i]);
		free(e->states[i]);
	}
	free(e->states);
	e->states = NULL;
	e->state_count = 0;
	e->frame_count = 0;
	e->current = 0;
}

static enum go machine_stopped(struct explorer *e)
{
	const atomic_bool *interrupt = e->options.interrupt;
	switch (e->world.machine.stop) {
	case MACHINE_FAULT: stop(e, STOP_GUEST); break;
	case MACHINE_INTERRUPTED:
		stop(e, interrupt && atomic_load(interrupt) ? STOP_INTERRUPTED
		                                            : STOP_TIME);
		break;
	default: stop(e, STOP_KEYS); break;
	}
	return GO_STOP;
}

/* One exploration with the room there is. */
static void search(struct explorer *e)
{
	if (e->world.n > TRANSACTIONS_MAX) {
		stop(e, STOP_TRANSACTIONS);
		return;
	}
	struct state *s = nested_state(e, 0);
	struct region_mark start = region_mark(&e->world.region);
	for (;;) {
		enum go go = e->world.machine.stop ? GO_STOP : step(e);
		if (e->world.machine.stop) go = machine_stopped(e);
		if (go == GO_BACK && !go_back(e)) {
			if (!is_outward(e) || !outward_deepen(e)) return;
			state_rewind(s, &e->world, 1);
			region_release(&e->world.region, start);
		}
		if (go == GO_STOP || e->must_grow || e->stats.stop) return;
	}
}

/* What is remembered of native code may take half of the memory. */
static void make_world(struct explorer *e)
{
	const struct explore_options *o = &e->options;
	struct machine_limits limits = { .interrupt = o->interrupt,
		                         .memory = o->memory / 2 };
	double begun = e->wall_start > 0 ? e->wall_start : seconds_now();
	if (o->timeout > 0) limits.deadline = begun + o->timeout;
	world_init(&e->world, e->program, e->room, e->reached, &limits);
}

/* Forgets what the search built, and counts afresh up to where it came: end
 * states come in the same order again, and `skip` of them are not repeated. */
static void grow(struct explorer *e)
{
	uint64_t end_states = e->stats.end_states > e->skip
	                          ? e->stats.end_states : e->skip;
	free_states(e);
	world_free(&e->world);
	e->room = world_more_room(e->program, e->room);
	e->must_grow = false;
	e->skip = end_states;
	e->stats.end_states = e->stats.blocked = 0;
	e->stats.swaps_considered = e->stats.swaps_taken = 0;
	e->stats.swaps_inconsistent = e->stats.swaps_not_latest = 0;
	e->stats.changes = 0;
	outward_start(&e->outward);
	e->next_tick = 0;
	make_world(e);
}

void explorer_run(struct explorer *e)
{
	engine_start_clock(e);
	search(e);
	while (e->must_grow) {
		grow(e);
		search(e);
	}
	machine_settle(&e->world.machine);
	if (e->world.machine.stop) machine_stopped(e);
	engine_measure(e);
}

static bool asks_serializable(const struct explorer *e)
{
	for (uint32_t i = 0; i < program_assertion_count(e->program); i++)
		if (program_assertion(e->program, i)->kind ==
		    ASSERTION_SERIALIZABLE)
			return true;
	return e->options.robust || e->options.classify;
}

/* The observed transactions have numbers from the beginning. */
static uint64_t first_room(const struct program *p,
                           const struct explore_options *o)
{
	uint64_t room = world_first_room(p);
	if (o->algorithm != EXPLORE_OUTWARD) return room;
	for (uint32_t s = 0; s < o->origin->session_count; s++)
		while (origin_transaction_count(o->origin, s) >= room)
			room *= 2;
	return room;
}

struct explorer *explorer_new(const struct program *p,
                              const struct explore_options *o,
                              const struct explore_observer *observer)
{
	struct explorer *e = mem_take0(1, sizeof *e);
	e->program = p;
	e->options = *o;
	if (o->algorithm != EXPLORE_CE) e->options.base = o->level;
	if (observer) e->observer = *observer;
	e->reach_count = program_reach_count(p);
	e->reached = mem_take0(BITS_WORDS(e->reach_count + 1), sizeof(word));
	e->scratch = level_scratch_new();
	e->violations =
	    mem_take0(explorer_slot_count(e), sizeof *e->violations);
	e->violated = mem_take0(explorer_slot_count(e), sizeof *e->violated);
	e->checks_serializable = asks_serializable(e);
	region_init(&e->findings);
	e->room = first_room(p, o);
	outward_start(&e->outward);
	make_world(e);
	return e;
}

void explorer_free(struct explorer *e)
{
	if (!e) return;
	free_states(e);
	free(e->frames);
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		history_free(e->violations[i].example);
	free(e->violations);
	free(e->violated);
	free(e->reached);
	free(e->seen.slots);
	free(e->prefix_writers);
	outward_free(&e->outward);
	level_scratch_free(e->scratch);
	region_free(&e->findings);
	world_free(&e->world);
	free(e);
}

const struct explore_stats *explorer_stats(const struct explorer *e)
{
	return &e->stats;
}

const struct explore_options *explorer_options(const struct explorer *e)
{
	return &e->options;
}

const struct history *explorer_nearest(const struct explorer *e)
{
	return e->outward.nearest;
}

const struct program *explorer_program(const struct explorer *e)
{
	return e->program;
}

uint32_t explorer_slot_error(const struct explorer *e)
{
	return program_assertion_count(e->program);
}

uint32_t explorer_slot_robust(const struct explorer *e)
{
	return program_assertion_count(e->program) + 1;
}

uint32_t explorer_slot_count(const struct explorer *e)
{
	return program_assertion_count(e->program) + 2;
}

const struct explore_violation *explorer_violation(const struct explorer *e,
                                                   uint32_t slot)
{
	assert(slot < explorer_slot_count(e));
	return &e->violations[slot];
}

bool explorer_reached(const struct explorer *e, uint32_t point)
{
	assert(point < e->reach_count);
	return bits_has(e->reached, point);
}
