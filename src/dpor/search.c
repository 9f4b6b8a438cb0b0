/* The search: one loop over a stack of open choices, whatever the algorithm
 * (algorithm.h). */
#include <assert.h>

#include "base/memory.h"
#include "dpor/algorithm.h"

/* ---- What there is to choose ---- */

struct frame *search_open(struct engine *e, enum frame_kind kind,
                          const uint32_t *items, uint32_t count)
{
	assert(count && e->branch && e->current < e->state_count);
	VEC_RESERVE(e->frames, e->frame_count, e->frame_capacity);
	struct frame *f = &e->frames[e->frame_count++];
	*f = (struct frame){ .kind = kind,
		             .state = e->current,
		             .at = ledger_mark(engine_ledger(e)),
		             .items = items,
		             .end = count };
	uint64_t depth = e->branch->path_length + e->frame_count;
	if (depth > e->tally.stats.depth_max) e->tally.stats.depth_max = depth;
	return f;
}

enum go search_stop(struct engine *e, enum stop_reason why)
{
	engine_stop(e, why);
	return GO_STOP;
}

enum go search_complete(struct engine *e)
{
	assert(!engine_ledger(e)->pending.active);
	e->at_end = true;
	return engine_output(e) ? GO_BACK : GO_STOP;
}

enum go search_begin(struct engine *e, uint32_t session)
{
	const struct algorithm *a = e->algorithm;
	assert(!engine_ledger(e)->pending.active);
	assert(session < e->context.sessions);
	if (a->may_begin && !a->may_begin(e, session, false)) return GO_BACK;
	if (execution_begin(&engine_state(e)->execution, session))
		return GO_DEEPER;
	return search_stop(e, STOP_TRANSACTIONS);
}

enum go search_writers(struct engine *e, const struct request *r,
                       const word *valid)
{
	struct context *c = &e->context;
	unsigned words = engine_closure(e)->words;
	const struct machine_state *waiting = NULL;
	assert(engine_ledger(e)->pending.active && r->kind == REQUEST_READ);
	uint32_t first = bits_next(valid, 0, words);
	if (first >= 64 * words) return GO_BACK;
	bool several = bits_next(valid, first + 1, words) < 64 * words;
	if (several || e->algorithm->next_swap)
		waiting = session_run_keep(&engine_state(e)->execution.live,
		                           &c->region);
	if (several) {
		uint32_t count = bits_count(valid, words);
		uint32_t *writers =
			region_take(&c->region, count * sizeof *writers);
		ledger_list(engine_ledger(e), valid, writers);
		struct frame *f = search_open(e, FRAME_READ, writers, count);
		f->request = *r;
		f->waiting = waiting;
		f->valid = valid;
		f->cursor = 1;
		f->mark = region_mark(&c->region);
		first = writers[0];
	}
	e->algorithm->choose(e, r, waiting, first, valid);
	return GO_DEEPER;
}

/* ---- The next alternative ---- */

static bool next_writer(struct engine *e, struct frame *f)
{
	struct state *s = engine_state(e);
	if (f->cursor >= f->end) return false;
	assert(f->waiting && f->cursor == f->choice + 1);
	uint32_t source = f->items[f->cursor++];
	f->choice++;
	state_rewind(s, &f->at);
	region_release(&e->context.region, f->mark);
	session_run_resume(&s->execution.live, &e->context.memo, f->waiting);
	e->algorithm->choose(e, &f->request, f->waiting, source, f->valid);
	return true;
}

/* True also if there are too many transactions: then all stop, and it is still
 * to be tried. */
static bool next_session(struct engine *e, struct frame *f)
{
	if (f->cursor >= f->end) return false;
	assert(f->items && f->at.count);
	state_keep(engine_state(e), f->at.count);
	region_release(&e->context.region, f->mark);
	while (f->cursor < f->end) {
		f->choice = f->cursor++;
		enum go go = search_begin(e, f->items[f->choice]);
		if (go == GO_BACK) continue;
		e->at_end = go == GO_STOP;
		f->cursor -= e->at_end;
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
		assert(f->state < e->state_count && f->cursor <= f->end);
		bool more = false;
		e->current = f->state;
		e->at_end = false;
		switch (f->kind) {
		case FRAME_READ: more = next_writer(e, f); break;
		case FRAME_SWAPS: more = e->algorithm->next_swap(e, f); break;
		case FRAME_SESSIONS: more = next_session(e, f); break;
		}
		if (more) return true;
		e->frame_count--;
	}
	e->at_end = true;
	return false;
}

/* ---- The loop ---- */

static bool is_time_to_tick(const struct engine *e)
{
	return e->context.steps >= e->next_tick ||
	       machine_guest_asked(&e->context.machine) != e->asked;
}

static enum go step(struct engine *e)
{
	const struct algorithm *a = e->algorithm;
	struct execution *x = &engine_state(e)->execution;
	struct request r;
	if (is_time_to_tick(e) && !engine_tick(e)) return GO_STOP;
	if (!x->ledger.pending.active) return a->next(e);
	switch (execution_run(x, &r)) {
	case ADVANCE_READ: return a->read(e, &r);
	case ADVANCE_ENDED: return a->ended ? a->ended(e) : GO_DEEPER;
	case ADVANCE_FULL: break;
	}
	return e->context.machine.stop ? GO_STOP : search_stop(e, STOP_EVENTS);
}

enum go search_machine_stopped(struct engine *e)
{
	const atomic_bool *interrupt = e->options.interrupt;
	assert(e->context.machine.stop);
	switch (e->context.machine.stop) {
	case MACHINE_FAULT: return search_stop(e, STOP_GUEST);
	case MACHINE_INTERRUPTED:
		return search_stop(e, program_lost(e->shared->program)
		                              ? STOP_SERVER
		                      : interrupt && atomic_load(interrupt)
		                              ? STOP_INTERRUPTED
		                              : STOP_TIME);
	default: return search_stop(e, STOP_KEYS);
	}
}

bool search_is_stopped(const struct engine *e)
{
	return atomic_load_explicit(&e->shared->stop, memory_order_relaxed) !=
	       STOP_NONE;
}

enum go search_advance(struct engine *e)
{
	enum go go = e->context.machine.stop ? GO_STOP : step(e);
	if (e->context.machine.stop) go = search_machine_stopped(e);
	return go == GO_BACK && go_back(e) ? GO_DEEPER : go;
}

/* A thread without work gets a branch of this one. */
static void feed_others(struct engine *e)
{
	if (e->pool &&
	    atomic_load_explicit(&e->shared->idle, memory_order_relaxed))
		e->feed(e->pool, e);
}

bool search(struct engine *e)
{
	for (;;) {
		if (search_is_stopped(e) || e->yields) return false;
		feed_others(e);
		enum go go = search_advance(e);
		if (go == GO_BACK) return true;
		if (go == GO_STOP) return false;
	}
}
