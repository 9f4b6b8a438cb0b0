/* What happens to a complete execution: the filter of explore-ce*, the
 * assertions, the observer. */
#include <assert.h>
#include <string.h>

#include "dpor/engine.h"
#include "history/relation.h"
#include "vm/program.h"

static bool is_pruned(const struct explorer *e)
{
	const struct state *s = e->states[e->current];
	for (uint32_t i = 0; i < e->world.sessions; i++)
		if (machine_pruned(s->points[i].state)) return true;
	return false;
}

static struct finding *copy_finding(struct region *r, const struct finding *f)
{
	size_t size = sizeof *f + f->value_count * sizeof f->values[0];
	struct finding *copy = region_take(r, size);
	memcpy(copy, f, size);
	copy->older = NULL;
	if (f->message)
		copy->message =
		    region_copy_string(r, f->message, strlen(f->message));
	for (uint32_t i = 0; i < f->value_count; i++)
		copy->values[i].value = value_copy(r, f->values[i].value);
	return copy;
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
	if (f) v->finding = copy_finding(&e->findings, f);
}

static void violate_by_finding(struct explorer *e, const struct finding *f)
{
	if (f->kind == FINDING_ASSERT)
		violate(e, f->assertion, f);
	else if (f->kind == FINDING_ERROR)
		violate(e, explorer_slot_error(e), f);
}

static void check_findings(struct explorer *e)
{
	const struct state *s = e->states[e->current];
	for (uint32_t i = 0; i < e->world.sessions; i++) {
		const struct finding *f = machine_findings(s->points[i].state);
		for (; f; f = f->older) violate_by_finding(e, f);
	}
}

static void check_serializable(struct explorer *e, const struct relation *r)
{
	if (!e->checks_serializable) return;
	if (e->options.level == LEVEL_SER ||
	    level_allows(LEVEL_SER, r, e->scratch))
		return;
	e->stats.unserializable++;
	for (uint32_t i = 0; i < program_assertion_count(e->program); i++)
		if (program_assertion(e->program, i)->kind ==
		    ASSERTION_SERIALIZABLE)
			violate(e, i, NULL);
	if (e->options.robust) violate(e, explorer_slot_robust(e), NULL);
}

static void check_final_assertions(struct explorer *e)
{
	const struct state *s = e->states[e->current];
	struct world *w = &e->world;
	struct region_mark mark = region_mark(&w->region);
	const struct machine_state **finals =
	    region_take(&w->region, (w->sessions + 1) * sizeof *finals);
	for (uint32_t i = 0; i < w->sessions; i++)
		finals[i] = s->points[i].state;
	for (uint32_t i = 0; i < program_assertion_count(e->program); i++) {
		if (program_assertion(e->program, i)->kind != ASSERTION_FINAL)
			continue;
		const struct finding *f =
		    machine_final_assertion(&w->machine, i, finals);
		if (f) violate_by_finding(e, f);
	}
	region_release(&w->region, mark);
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
	struct relation r;
	if (stats->end_states++ < e->skip) return true;
	closure_relation(&e->states[e->current]->closure, &r);
	if (is_pruned(e)) {
		stats->pruned++;
		return true;
	}
	if (!engine_passes_filter(e)) {
		stats->filtered++;
		return true;
	}
	execution.number = ++stats->histories;
	e->violated_count = 0;
	check_findings(e);
	check_final_assertions(e);
	check_serializable(e, &r);
	if (e->options.classify) classify(e, &r);
	if (e->options.check_duplicates &&
	    !hash_set_add(&e->seen, explore_hash(&execution)))
		stats->duplicates++;
	return may_go_on(e, tell_observer(e, &execution));
}
