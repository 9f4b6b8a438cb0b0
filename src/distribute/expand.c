#include "distribute/expand.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/engine.h"

/* An exploration of one engine, which is never asked to explore all that is
 * under a branch. */
struct expander {
	struct shared shared;
	struct engine engine;
};

struct expander *expander_new(const struct program *p,
                              const struct explore_options *o)
{
	struct expander *x = mem_take0(1, sizeof *x);
	shared_init(&x->shared, p, o, NULL, NULL);
	x->shared.wall_start = seconds_now();
	engine_init(&x->engine, &x->shared, 0);
	engine_start_clock(&x->engine);
	return x;
}

void expander_free(struct expander *x)
{
	if (!x) return;
	engine_free(&x->engine);
	shared_free(&x->shared);
	free(x);
}

bool expander_expand(struct expander *x, struct branch *b,
                     struct branch_list *out)
{
	bool stopped = atomic_load(&x->shared.stop) != STOP_NONE;
	if (stopped) {
		branch_list_add(out, b);
		return false;
	}
	engine_expand(&x->engine, b, out);
	free(b);
	return atomic_load(&x->shared.stop) == STOP_NONE;
}

bool expander_failed(const struct expander *x)
{
	return x->engine.impossible;
}

void expander_tally(struct expander *x, struct tally *to)
{
	engine_finish(&x->engine);
	engine_measure(&x->engine);
	x->engine.tally.stats.seconds = seconds_now() - x->shared.wall_start;
	tally_add(to, &x->engine.tally);
}
