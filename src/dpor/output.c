/* What happens to a complete execution: the filter of explore-ce*, the
 * assertions, the observer. */
#include "dpor/engine.h"
#include "dpor/execution.h"
#include "history/relation.h"
#include "vm/program.h"

/* The wrappers of an observer: the world is only lent to be read. */
static struct execution execution_of(const struct explore_execution *x)
{
	const struct explorer *e = x->explorer;
	return (struct execution){ (struct world *)&e->world,
		                   e->states[e->current] };
}

bool explore_satisfies(const struct explore_execution *e, enum level l)
{
	struct execution x = execution_of(e);
	return execution_satisfies(&x, l, e->explorer->scratch);
}

uint64_t explore_hash(const struct explore_execution *e)
{
	struct execution x = execution_of(e);
	return execution_hash(&x);
}

uint64_t explore_outcome(const struct explore_execution *e)
{
	struct execution x = execution_of(e);
	return execution_outcome(&x);
}

struct history *explore_history(const struct explore_execution *e)
{
	struct execution x = execution_of(e);
	return execution_history(&x);
}

static bool already_violated(const struct explorer *e, uint32_t slot)
{
	for (uint32_t i = 0; i < e->violated_count; i++)
		if (e->violated[i] == slot) return true;
	return false;
}

/* Notes that the current execution violates the slot, once. */
static void violate(struct explorer *e, uint32_t slot, const struct finding *f)
{
	struct explore_violation *v = &e->violations[slot];
	if (already_violated(e, slot)) return;
	e->violated[e->violated_count++] = slot;
	if (v->histories++) return;
	struct explore_execution execution = { .explorer = e };
	v->example = explore_history(&execution);
	if (f) v->finding = finding_copy(&e->findings, f);
}

static void violate_by_finding(void *data, uint32_t slot,
                               const struct finding *f)
{
	violate(data, slot, f);
}

static void check_serializable(struct explorer *e, const struct relation *r)
{
	if (!e->checks_serializable) return;
	if (e->options.level == LEVEL_SER ||
	    level_allows(LEVEL_SER, r, e->scratch))
		return;
	e->stats.unserializable++;
	if (e->options.robust) violate(e, explorer_slot_robust(e), NULL);
	if (program_is_native(e->program)) return;
	for (uint32_t i = 0; i < program_assertion_count(e->program); i++)
		if (program_assertion(e->program, i)->kind ==
		    ASSERTION_SERIALIZABLE)
			violate(e, i, NULL);
}

static void classify(struct explorer *e, const struct relation *r)
{
	for (int l = 0; l < LEVEL_COUNT; l++) {
		bool known = level_implies(e->options.level, (enum level)l);
		if (!known && !level_allows((enum level)l, r, e->scratch))
			continue;
		e->stats.per_level[l]++;
		for (uint32_t i = 0; i < e->violated_count; i++)
			e->violations[e->violated[i]].per_level[l]++;
	}
}

static void sort_slots(uint32_t *slots, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i; j && slots[j] < slots[j - 1]; j--) {
			uint32_t slot = slots[j];
			slots[j] = slots[j - 1];
			slots[j - 1] = slot;
		}
}

static bool tell_observer(struct explorer *e, struct explore_execution *x)
{
	if (!e->observer.history) return true;
	sort_slots(e->violated, e->violated_count);
	x->violated_count = e->violated_count;
	x->violated = e->violated;
	return e->observer.history(e->observer.payload, x);
}

/* Goes on unless a limit on histories, a violation or the observer says no. */
static bool may_go_on(struct explorer *e, bool told)
{
	const struct explore_options *o = &e->options;
	if (!told)
		e->stats.stop = STOP_INTERRUPTED;
	else if (o->stop_on_violation && e->violated_count)
		e->stats.stop = STOP_VIOLATION;
	else if (o->max_histories && e->stats.histories >= o->max_histories)
		e->stats.stop = STOP_HISTORIES;
	return e->stats.stop == STOP_NONE;
}

bool engine_output(struct explorer *e)
{
	struct explore_stats *stats = &e->stats;
	struct explore_execution execution = { .explorer = e };
	struct execution x = { &e->world, e->states[e->current] };
	struct relation r;
	if (stats->end_states++ < e->skip) return true;
	closure_relation(&e->states[e->current]->closure, &r);
	if (execution_pruned(&x)) {
		stats->pruned++;
		return true;
	}
	if (!engine_passes_filter(e)) {
		stats->filtered++;
		return true;
	}
	execution.number = ++stats->histories;
	e->violated_count = 0;
	execution_findings(&x, violate_by_finding, e);
	check_serializable(e, &r);
	if (e->options.classify) classify(e, &r);
	if (e->options.check_duplicates &&
	    !hash_set_add(&e->seen, execution_hash(&x)))
		stats->duplicates++;
	return may_go_on(e, tell_observer(e, &execution));
}
