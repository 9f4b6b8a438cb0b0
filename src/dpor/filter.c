/* Valid(h) of explore-ce*: drops the end states that violate the level.
 *
 * Levels are prefix-closed, and many end states share a prefix of <. So a
 * verdict is kept with the prefix it was found for: when an end state is
 * refused, its shorter prefixes are tried, and all the other end states that
 * extend the shortest bad one are refused without a look. Each prefix is
 * tried once.
 *
 * Who explores under the level itself (dfs, orderly, outward) has its verdict
 * at hand.
 */
#include <assert.h>
#include <stdlib.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "dpor/algorithm.h"
#include "dpor/engine.h"
#include "history/relation.h"

/* The writers of each key among the first `count` transactions. */
static word *writers_of_prefix(struct engine *e, const struct closure *c,
                               uint32_t count)
{
	size_t size = (size_t)c->key_count * c->words;
	if (size + c->words > e->prefix_capacity) {
		e->prefix_capacity = 2 * (size + c->words);
		e->prefix_writers = mem_grow(e->prefix_writers,
		                             e->prefix_capacity, sizeof(word));
	}
	word *kept = e->prefix_writers, *rows = kept + c->words;
	bits_zero(kept, c->words);
	for (uint32_t i = 0; i < count; i++) bits_add(kept, c->order[i]);
	for (size_t i = 0; i < size; i++)
		rows[i] = c->writers[i] & kept[i % c->words];
	return rows;
}

static bool prefix_allowed(struct engine *e, uint32_t count)
{
	const struct closure *c = engine_closure(e);
	struct relation r;
	ledger_relation(engine_ledger(e), e->options.level, count, &r);
	if (count < c->count) r.writers = writers_of_prefix(e, c, count);
	return level_allows(e->options.level, &r, e->context.ledgers.scratch);
}

bool engine_passes_filter(struct engine *e)
{
	const struct explore_options *o = &e->options;
	struct state *s = engine_state(e);
	uint32_t count = engine_closure(e)->count;
	struct ledger *l = engine_ledger(e);
	assert(!l->pending.active && s->good_prefix <= count);
	if (o->base == o->level && ledger_is_extensible(l)) return true;
	if (e->algorithm->heeds_level) return ledger_allows(l);
	if (s->bad_prefix <= count) return false;
	if (prefix_allowed(e, count)) {
		s->good_prefix = count;
		return true;
	}
	while (count - 1 > s->good_prefix && !prefix_allowed(e, count - 1))
		count--;
	s->bad_prefix = count;
	s->good_prefix = count - 1;
	return false;
}
