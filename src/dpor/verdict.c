#include "dpor/verdict.h"

#include <assert.h>
#include <stddef.h>

#include "dpor/explorer.h"
#include "vm/program.h"

_Static_assert(TRANSACTIONS_MAX == 16384 && KEYS_MAX == 1048576 &&
                       EVENTS_MAX == 65535,
               "the limits are as STOP_TABLE says");

bool explorer_slot_checked(const struct explorer *e, uint32_t slot)
{
	assert(slot < explorer_slot_count(e));
	if (slot == explorer_slot_error(e) || slot >= explorer_slot_places(e))
		return false;
	if (slot == explorer_slot_robust(e)) return explorer_options(e)->robust;
	return program_assertion_met(explorer_program(e), slot);
}

bool explorer_slot_violated(const struct explorer *e, uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	return v && v->histories > 0;
}

bool explorer_slot_serializable(const struct explorer *e, uint32_t slot)
{
	if (slot == explorer_slot_robust(e)) return true;
	const struct program *p = explorer_program(e);
	return slot < program_assertion_count(p) &&
	       program_assertion(p, slot)->kind == ASSERTION_SERIALIZABLE;
}

bool explorer_serializability_known(const struct explorer *e)
{
	if (explorer_options(e)->classify) return true;
	for (uint32_t s = 0; s < explorer_slot_count(e); s++)
		if (explorer_slot_checked(e, s) &&
		    explorer_slot_serializable(e, s))
			return true;
	return false;
}

uint32_t explorer_checked_count(const struct explorer *e)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < explorer_slot_count(e); s++)
		n += explorer_slot_checked(e, s);
	return n;
}

uint32_t explorer_violated_count(const struct explorer *e)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < explorer_slot_count(e); s++)
		n += explorer_slot_checked(e, s) &&
		     explorer_slot_violated(e, s);
	return n;
}

enum verdict explorer_verdict(const struct explorer *e)
{
	for (uint32_t s = 0; s < explorer_slot_count(e); s++)
		if (explorer_slot_violated(e, s)) return VERDICT_VIOLATED;
	enum stop_reason stop = explorer_stats(e)->stop;
	bool all = stop == STOP_NONE || stop == STOP_CHANGES;
	/* A part of an exploration may have no end; that assumptions leave
	 * none, or that nothing is like the observed history, proves nothing.
	 */
	const struct explore_stats *s = explorer_stats(e);
	bool judged = s->histories ||
	              (!s->pruned &&
	               explorer_options(e)->algorithm != EXPLORE_OUTWARD);
	return all && judged ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

const char *explorer_algorithm_word(enum explorer_algorithm a)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		EXPLORER_ALGORITHM_TABLE(X)
#undef X
	};
	assert(a < sizeof words / sizeof *words);
	return words[a];
}
