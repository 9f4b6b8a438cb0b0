#include "dpor/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "execution/complete.h"
#include "history/history.h"
#include "vm/program.h"

void tally_init(struct tally *t, const struct program *p)
{
	uint32_t slots = program_assertion_count(p) + 2;
	*t = (struct tally){ .slot_count = slots,
		             .program_slots = slots,
		             .slot_capacity = slots,
		             .program = p,
		             .reach_count = program_reach_count(p) };
	t->violations = mem_take0(slots, sizeof *t->violations);
	t->reached = mem_take0(BITS_WORDS(t->reach_count + 1), sizeof(word));
	region_init(&t->findings);
}

void tally_free(struct tally *t)
{
	for (uint32_t i = 0; i < t->slot_count; i++) {
		history_free(t->violations[i].example);
		free(t->violations[i].where);
	}
	free(t->violations);
	error_places_free(&t->errors);
	free(t->reached);
	region_free(&t->findings);
	*t = (struct tally){ 0 };
}

uint32_t tally_error_slot(struct tally *t, struct position at)
{
	uint32_t slot = t->program_slots + error_places_number(&t->errors, at);
	assert(slot <= t->slot_count);
	if (slot < t->slot_count) return slot;
	VEC_RESERVE(t->violations, t->slot_count, t->slot_capacity);
	t->violations[t->slot_count++] = (struct explore_violation){ 0 };
	return slot;
}

void tally_sort_errors(struct tally *t)
{
	struct position *at = t->errors.items;
	struct explore_violation *v = t->violations + t->program_slots;
	assert(t->slot_count == t->program_slots + t->errors.count);
	for (uint32_t i = 1; i < t->errors.count; i++)
		for (uint32_t j = i;
		     j && position_compare(at[j], at[j - 1]) < 0; j--) {
			struct position place = at[j];
			struct explore_violation there = v[j];
			at[j] = at[j - 1];
			v[j] = v[j - 1];
			at[j - 1] = place;
			v[j - 1] = there;
		}
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void tally_add_stats(struct explore_stats *to, const struct explore_stats *from)
{
	assert(to != from);
	to->histories = tally_sum(to->histories, from->histories);
	to->classes += from->classes;
	to->end_states += from->end_states;
	to->filtered += from->filtered;
	to->pruned += from->pruned;
	to->blocked += from->blocked;
	to->duplicates += from->duplicates;
	to->unserializable =
		tally_sum(to->unserializable, from->unserializable);
	to->explore_calls += from->explore_calls;
	to->swaps_considered += from->swaps_considered;
	to->swaps_taken += from->swaps_taken;
	to->swaps_inconsistent += from->swaps_inconsistent;
	to->swaps_not_latest += from->swaps_not_latest;
	to->cut += from->cut;
	to->cpu_seconds += from->cpu_seconds;
	to->depth_max = greater(to->depth_max, from->depth_max);
	to->memory_peak = greater(to->memory_peak, from->memory_peak);
	to->changes = greater(to->changes, from->changes);
	if (from->seconds > to->seconds) to->seconds = from->seconds;
	if (!to->stop) to->stop = from->stop;
	for (int l = 0; l < LEVEL_COUNT; l++)
		to->per_level[l] =
			tally_sum(to->per_level[l], from->per_level[l]);
}

static void add_counts(struct explore_violation *to,
                       const struct explore_violation *from)
{
	to->histories = tally_sum(to->histories, from->histories);
	for (int l = 0; l < LEVEL_COUNT; l++)
		to->per_level[l] =
			tally_sum(to->per_level[l], from->per_level[l]);
}

static bool has_earlier_example(const struct explore_violation *a,
                                const struct explore_violation *b)
{
	assert(a != b);
	if (!a->where) return false;
	return !b->where || branch_compare(a->where, b->where) < 0;
}

static void forget_example(struct explore_violation *v)
{
	history_free(v->example);
	free(v->where);
	v->example = NULL;
	v->finding = NULL;
	v->where = NULL;
}

/* What `to` knows of slot `i` of `from`: places of errors are numbered as they
 * were met. */
static struct explore_violation *
same_violation(struct tally *to, const struct tally *from, uint32_t i)
{
	assert(to->program_slots == from->program_slots);
	if (i >= from->program_slots)
		i = tally_error_slot(
			to, from->errors.items[i - from->program_slots]);
	return &to->violations[i];
}

static void add_all_but_examples(struct tally *to, const struct tally *from)
{
	assert(to->reach_count == from->reach_count);
	tally_add_stats(&to->stats, &from->stats);
	for (uint32_t i = 0; i < from->slot_count; i++)
		add_counts(same_violation(to, from, i), &from->violations[i]);
	for (uint32_t w = 0; w < BITS_WORDS(to->reach_count + 1); w++)
		to->reached[w] |= from->reached[w];
}

void tally_add(struct tally *to, struct tally *from)
{
	add_all_but_examples(to, from);
	for (uint32_t i = 0; i < from->slot_count; i++) {
		struct explore_violation *a = same_violation(to, from, i);
		struct explore_violation *b = &from->violations[i];
		if (!has_earlier_example(b, a)) continue;
		forget_example(a);
		a->example = b->example;
		a->where = b->where;
		if (b->finding)
			a->finding = finding_copy(&to->findings, b->finding);
		b->example = NULL;
		b->where = NULL;
		b->finding = NULL;
	}
}

void tally_add_places(struct tally *to, const struct tally *from)
{
	add_all_but_examples(to, from);
	for (uint32_t i = 0; i < from->slot_count; i++) {
		struct explore_violation *a = same_violation(to, from, i);
		const struct explore_violation *b = &from->violations[i];
		if (!has_earlier_example(b, a)) continue;
		forget_example(a);
		assert(b->where);
		a->where = branch_copy(b->where);
	}
}
