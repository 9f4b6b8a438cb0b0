/* What happens to a complete execution: the filter of explore-ce*, the
 * assertions, the observer. */
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/algorithm.h"
#include "dpor/explorer.h"
#include "dpor/orbit_violations.h"
#include "execution/complete.h"
#include "vm/program.h"

static const struct execution *execution_of(const struct explore_execution *x)
{
	return &engine_state(x->engine)->execution;
}

bool explore_satisfies(const struct explore_execution *e, enum level l)
{
	return ledger_satisfies(engine_ledger(e->engine), l);
}

uint64_t explore_hash(const struct explore_execution *e)
{
	return execution_hash(execution_of(e));
}

uint64_t explore_outcome(const struct explore_execution *e)
{
	return execution_outcome(execution_of(e));
}

struct history *explore_history(const struct explore_execution *e)
{
	return execution_history(execution_of(e));
}

static bool already_violated(const struct engine *e, uint32_t slot)
{
	for (uint32_t i = 0; i < e->violated_count; i++)
		if (e->violated[i] == slot) return true;
	return false;
}

/* What an engine explores of one branch comes in depth-first order, but the
 * branches do not. */
static void note_example(struct engine *e, struct explore_violation *v,
                         const struct orbit_violation *of)
{
	struct explore_execution execution = { .engine = e };
	if (v->from == e->branches) return;
	struct branch *here = engine_here(e, BRANCH_END);
	v->from = e->branches;
	if (v->where && branch_compare(v->where, here) < 0) {
		free(here);
		return;
	}
	free(v->where);
	history_free(v->example);
	v->where = here;
	v->example = NULL;
	v->finding = NULL;
	if (of->image) {
		/* It is made from its place in the end. */
		branch_rename(here, of->image);
		return;
	}
	v->example = explore_history(&execution);
	if (of->finding)
		v->finding = finding_copy(&e->tally.findings, of->finding);
}

/* Those that the execution itself violates come first. */
static void add_violated(struct engine *e, const struct orbit_violation *v)
{
	uint32_t at = e->violated_count++;
	if (at == e->violated_capacity) {
		uint32_t most = e->violated_capacity = 2 * at + 8;
		e->violated = mem_grow(e->violated, most, sizeof *e->violated);
		e->violated_by =
			mem_grow(e->violated_by, most, sizeof *e->violated_by);
	}
	if (!v->image) {
		uint32_t own = e->violated_itself++;
		e->violated[at] = e->violated[own];
		e->violated_by[at] = e->violated_by[own];
		at = own;
	}
	e->violated[at] = v->slot;
	e->violated_by[at] = v->histories;
}

/* Notes that the current execution, or one that it stands for, violates the
 * slot; once. */
static void violate_image(struct engine *e, const struct orbit_violation *of)
{
	struct explore_violation *v = &e->tally.violations[of->slot];
	if (already_violated(e, of->slot)) return;
	add_violated(e, of);
	v->histories = tally_sum(v->histories, of->histories);
	note_example(e, v, of);
}

static void violate(struct engine *e, uint32_t slot, const struct finding *f)
{
	struct orbit_violation all = { .slot = slot,
		                       .histories = e->weight,
		                       .finding = f };
	violate_image(e, &all);
}

/* Of the execution, for who is told of it. */
static void keep_error(struct engine *e, const struct finding *f)
{
	e->endless |= f->endless;
	if (e->error) return;
	region_release(&e->errors, e->no_errors);
	e->error = finding_copy(&e->errors, f);
}

const struct finding *explore_error(const struct explore_execution *x)
{
	return x->engine->error;
}

/* Errors count as a whole, and at each place. */
static void violate_place(struct engine *e, const struct finding *f)
{
	keep_error(e, f);
	violate(e,
	        tally_error_slot(&e->tally,
	                         program_position(e->program, f->point)),
	        f);
}

static void violate_by_finding(void *data, uint32_t slot,
                               const struct finding *f)
{
	violate(data, slot, f);
	if (f->kind == FINDING_ERROR) violate_place(data, f);
}

static void violate_by_image(struct engine *e, const struct orbit_violation *v)
{
	if (v->finding && v->finding->kind == FINDING_ERROR)
		keep_error(e, v->finding);
	violate_image(e, v);
}

static void find_violations(struct engine *e)
{
	e->violated_count = e->violated_itself = 0;
	e->error = NULL;
	if (engine_is_symmetric(e))
		orbit_violations(e, violate_by_image);
	else
		execution_findings(&engine_state(e)->execution,
		                   violate_by_finding, e);
}

static uint32_t slot_robust(const struct engine *e)
{
	return program_assertion_count(e->program) + 1;
}

static void add_weight(const struct engine *e, uint64_t *count)
{
	*count = tally_sum(*count, e->weight);
}

static void check_serializable(struct engine *e)
{
	if (!e->shared->checks_serializable) return;
	bool serial =
		level_is_serial(e->options.level) && !engine_closure(e)->owns;
	if (serial || ledger_satisfies(engine_ledger(e), LEVEL_SERIAL)) return;
	add_weight(e, &e->tally.stats.unserializable);
	if (e->options.robust) violate(e, slot_robust(e), NULL);
	if (program_is_native(e->program)) return;
	for (uint32_t i = 0; i < program_assertion_count(e->program); i++)
		if (program_assertion(e->program, i)->kind ==
		    ASSERTION_SERIALIZABLE)
			violate(e, i, NULL);
}

/* Is the history allowed if those without a level of their own have this one?
 */
static bool allows_others(const struct engine *e, enum level l)
{
	const struct ledger *ledger = engine_ledger(e);
	if (!ledger->closure.owns) return ledger_satisfies(ledger, l);
	return level_mixes(l) && ledger_allows_at(ledger, l);
}

static void classify(struct engine *e)
{
	bool checks = program_checks(e->program);
	enum level behind =
		level_behind(e->options.level, program_is_ssi(e->program));
	for (int l = 0; l < LEVEL_COUNT; l++) {
		bool known =
			checks ? level_implies_checks(behind, (enum level)l)
			       : level_implies(e->options.level, (enum level)l);
		if (!known && !allows_others(e, (enum level)l)) continue;
		add_weight(e, &e->tally.stats.per_level[l]);
		if (e->violated_count)
			atomic_fetch_or(&e->shared->violated, 1u << l);
		for (uint32_t i = 0; i < e->violated_count; i++) {
			uint64_t *n = &e->tally.violations[e->violated[i]]
			                       .per_level[l];
			*n = tally_sum(*n, e->violated_by[i]);
		}
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

static bool tell_observer(struct engine *e, struct explore_execution *x)
{
	const struct explore_observer *o = &e->shared->observer;
	if (!o->history) return true;
	uint32_t count = e->violated_itself;
	sort_slots(e->violated, count);
	while (count && e->violated[count - 1] >= e->tally.program_slots)
		count--; /* errors are in it as a whole */
	x->violated_count = count;
	x->violated = e->violated;
	return o->history(o->payload, x);
}

static bool all_levels_violated(const struct engine *e)
{
	uint32_t violated = atomic_load(&e->shared->violated);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if ((l == e->options.level ||
		     level_base(l) == e->options.level) &&
		    !(violated >> l & 1))
			return false;
	return true;
}

/* Goes on unless a limit on histories, a violation or the observer says no. */
static bool may_go_on(struct engine *e, bool told, uint64_t number)
{
	const struct explore_options *o = &e->options;
	if (!told) return engine_stop(e, STOP_INTERRUPTED);
	/* The loop would have to be run to its limit again and again. */
	if (e->endless) return engine_stop(e, STOP_BOUND);
	if (o->stop_on_violation && e->violated_count)
		return engine_stop(e, STOP_VIOLATION);
	if (o->stop_when_all_violated && e->violated_count &&
	    all_levels_violated(e))
		return engine_stop(e, STOP_VIOLATION);
	if (o->max_histories && number >= o->max_histories)
		return engine_stop(e, STOP_HISTORIES);
	return true;
}

static void note_duplicate(struct engine *e)
{
	struct shared *s = e->shared;
	if (!e->options.check_duplicates) return;
	uint64_t hash = execution_hash(&engine_state(e)->execution);
	mem_lock(&s->seen_lock);
	e->tally.stats.duplicates += !hash_set_add(&s->seen, hash);
	mem_unlock(&s->seen_lock);
}

/* Everything about a history that is output, number `number` of all. */
static bool output(struct engine *e, uint64_t number)
{
	struct explore_execution execution = { .explorer = e->shared->explorer,
		                               .engine = e,
		                               .worker = e->worker,
		                               .branch = e->branch,
		                               .branch_number = e->branches,
		                               .number = number,
		                               .weight = e->weight,
		                               .changes =
		                                       e->tally.stats.changes };
	add_weight(e, &e->tally.stats.histories);
	e->tally.stats.classes++;
	find_violations(e);
	check_serializable(e);
	if (e->options.classify) classify(e);
	note_duplicate(e);
	return may_go_on(e, tell_observer(e, &execution), number);
}

static uint64_t next_number(struct shared *s)
{
	return s->numbers ? atomic_fetch_add(&s->output, 1) + 1 : 0;
}

static bool complete(struct engine *e)
{
	struct explore_stats *stats = &e->tally.stats;
	const struct execution *x = &engine_state(e)->execution;
	stats->end_states++;
	if (!engine_passes_filter(e)) {
		stats->filtered++;
		return true;
	}
	execution_reached(x, e->tally.reached);
	if (execution_pruned(x)) {
		stats->pruned++;
		return true;
	}
	uint64_t number = next_number(e->shared);
	if (e->options.max_histories && number > e->options.max_histories) {
		stats->end_states--;
		e->at_end = false;
		return engine_stop(e, STOP_HISTORIES);
	}
	e->weight = e->algorithm->weight ? e->algorithm->weight(e) : 1;
	return output(e, number);
}

bool engine_output(struct engine *e)
{
	if (!complete(e)) return false;
	if (!e->until || e->tally.stats.end_states < e->until) return true;
	return engine_stop(e, STOP_HISTORIES);
}
