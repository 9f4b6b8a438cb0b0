#include "distribute/results_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"
#include "native/host/library.h"
#include "vm/program.h"

/* A counter that is new there has to be added to RESULTS_FILE_COUNTS. */
#define ONE(name) +1
_Static_assert(sizeof(struct explore_stats) ==
                       (RESULTS_FILE_COUNTS(ONE)) * sizeof(uint64_t) +
                               2 * sizeof(double) + sizeof(uint64_t) +
                               LEVEL_COUNT * sizeof(uint64_t),
               "results_file.h does not know all of explore_stats");
#undef ONE

static void add_slot(struct results_file *f, const struct tally *t,
                     uint32_t slot)
{
	const struct explore_violation *v = &t->violations[slot];
	assert(v->histories);
	assert(!f->slot_count || f->slots[f->slot_count - 1].slot < slot);
	VEC_RESERVE(f->slots, f->slot_count, f->slot_capacity);
	struct results_file_slot *s = &f->slots[f->slot_count++];
	*s = (struct results_file_slot){ .slot = slot,
		                         .histories = v->histories };
	memcpy(s->per_level, v->per_level, sizeof s->per_level);
	if (v->where) s->where = branch_copy(v->where);
	s->is_place = slot >= t->program_slots;
	if (!s->is_place) return;
	s->at = t->errors.items[slot - t->program_slots];
	if (s->at.file) s->at.file = mem_copy_string(s->at.file);
}

static void add_reached(struct results_file *f, uint32_t point)
{
	assert(!f->reach_count || f->reached[f->reach_count - 1] < point);
	VEC_RESERVE(f->reached, f->reach_count, f->reach_capacity);
	f->reached[f->reach_count++] = point;
}

static void add_assertions(struct results_file *f, const struct program *p)
{
	struct library_assertion a;
	for (uint32_t i = 0; library_assertion_met(p, i, &a); i++) {
		VEC_RESERVE(f->assertions, f->assertion_count,
		            f->assertion_capacity);
		f->assertions[f->assertion_count++] =
			(struct results_file_assertion){
				.slot = i,
				.message = mem_copy_string(a.message),
				.object = a.object ? mem_copy_string(a.object)
			                           : NULL,
				.address = a.address,
			};
	}
}

void results_file_init(struct results_file *f, const struct tally *t,
                       const struct program *p)
{
	*f = (struct results_file){ .stats = t->stats };
	for (uint32_t i = 0; i < t->slot_count; i++)
		if (t->violations[i].histories) add_slot(f, t, i);
	BITS_EACH(point, t->reached, BITS_WORDS(t->reach_count + 1))
		add_reached(f, point);
	if (program_is_native(p)) add_assertions(f, p);
}

void results_file_clear(struct results_file *f)
{
	for (size_t i = 0; i < f->slot_count; i++) {
		free(f->slots[i].where);
		free((char *)f->slots[i].at.file);
	}
	for (size_t i = 0; i < f->assertion_count; i++) {
		free(f->assertions[i].message);
		free(f->assertions[i].object);
	}
	free(f->slots);
	free(f->reached);
	free(f->assertions);
	*f = (struct results_file){ 0 };
}

/* The slot in this process of what was `slot` in that one. */
static uint32_t slot_here(const struct results_file *f, const struct program *p,
                          uint32_t slot)
{
	assert(f && p);
	if (!program_is_native(p)) return slot;
	for (size_t i = 0; i < f->assertion_count; i++) {
		const struct results_file_assertion *a = &f->assertions[i];
		if (a->slot != slot) continue;
		return library_meet_assertion(
			p, slot,
			(struct library_assertion){ a->message, a->object,
		                                    a->address });
	}
	return slot;
}

/* Those that no history violates are known to be checked, too. */
static void meet_assertions(const struct results_file *f,
                            const struct program *p)
{
	for (size_t i = 0; i < f->assertion_count; i++)
		slot_here(f, p, f->assertions[i].slot);
}

static bool add_violation(const struct results_file_slot *s, uint32_t slot,
                          struct tally *t)
{
	if (s->is_place)
		slot = tally_error_slot(t, s->at);
	else if (slot >= t->program_slots)
		return false;
	struct explore_violation *v = &t->violations[slot];
	if (v->histories) return false;
	v->histories = s->histories;
	memcpy(v->per_level, s->per_level, sizeof v->per_level);
	if (s->where) v->where = branch_copy(s->where);
	return true;
}

static bool errors_have_places(const struct tally *t)
{
	uint64_t all =
		t->violations[program_assertion_count(t->program)].histories;
	uint64_t sum = 0;
	for (uint32_t i = t->program_slots; i < t->slot_count; i++) {
		if (t->violations[i].histories > all) return false;
		sum = tally_sum(sum, t->violations[i].histories);
	}
	return sum >= all;
}

bool results_file_tally(const struct results_file *f, const struct program *p,
                        struct tally *t)
{
	bool fits = true;
	tally_init(t, p);
	t->stats = f->stats;
	if (program_is_native(p)) meet_assertions(f, p);
	for (size_t i = 0; i < f->slot_count; i++)
		fits = fits &&
		       add_violation(&f->slots[i],
		                     slot_here(f, p, f->slots[i].slot), t);
	fits = fits && errors_have_places(t);
	for (size_t i = 0; i < f->reach_count; i++) {
		fits = fits && f->reached[i] < t->reach_count;
		if (fits) bits_add(t->reached, f->reached[i]);
	}
	return fits;
}
