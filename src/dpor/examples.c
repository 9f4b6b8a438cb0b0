/* Examples of violations, made again from their places. */
#include <stdlib.h>

#include "dpor/engine.h"
#include "execution/complete.h"
#include "history/history.h"
#include "vm/program.h"

struct wanted {
	struct tally *tally;
	uint32_t slot;
	const struct finding *finding; /* a copy in the tally's region */
};

static void take_finding(void *data, uint32_t slot, const struct finding *f)
{
	struct wanted *w = data;
	if (w->finding) return;
	if (w->slot >= w->tally->program_slots && f->kind == FINDING_ERROR)
		slot = tally_error_slot(
			w->tally,
			program_position(w->tally->program, f->point));
	if (slot == w->slot) w->finding = finding_copy(&w->tally->findings, f);
}

static bool make_example(struct engine *e, struct tally *t, uint32_t slot)
{
	struct wanted w = { .tally = t, .slot = slot };
	if (engine_replay(e, t->violations[slot].where) != REPLAYED)
		return false;
	if (engine_ledger(e)->pending.active) return false;
	const struct execution *x = &engine_state(e)->execution;
	execution_findings(x, take_finding, &w);
	struct explore_violation *v = &t->violations[slot];
	v->example = execution_history(x);
	v->finding = w.finding;
	return true;
}

bool tally_make_examples(struct tally *t, const struct program *p,
                         const struct explore_options *o)
{
	struct shared shared;
	struct engine engine;
	struct explore_options options = *o;
	bool fine = true;
	options.interrupt = NULL;
	options.timeout = 0;
	options.memory = 0;
	options.jobs = 1;
	shared_init(&shared, p, &options, NULL, NULL);
	engine_init(&engine, &shared, 0);
	for (uint32_t i = 0; i < t->slot_count; i++)
		if (t->violations[i].where && !t->violations[i].example)
			fine = make_example(&engine, t, i) && fine;
	engine_free(&engine);
	shared_free(&shared);
	return fine;
}
