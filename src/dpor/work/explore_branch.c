/* Exploring one branch: all that is left of it, or up to its first choice. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/algorithm.h"

static void forget_branch(struct engine *e)
{
	free(e->branch);
	e->branch = NULL;
}

/* Takes the branch over; false if nothing is there, or all is stopped. */
static bool begin_branch(struct engine *e, struct branch *b)
{
	assert(b);
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
		if (e->context.machine.stop) search_machine_stopped(e);
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
	while (go == GO_DEEPER && !search_is_stopped(e) && !has_open_choice(e))
		go = search_advance(e);
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
	if (e->context.machine.stop) search_machine_stopped(e);
	engine_measure(e);
}
