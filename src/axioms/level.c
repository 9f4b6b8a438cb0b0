#include "axioms/level.h"

#include <assert.h>

#include "axioms/kernels.h"
#include "axioms/dirty_read.h"
#include "base/level_words.h"
#include "history/history.h"
#include "history/relation.h"

const struct level_row *level_row(enum level l)
{
	static const struct level_row rows[LEVEL_COUNT] = {
#define X(id, ...) { __VA_ARGS__ },
		LEVEL_TABLE(X)
#undef X
	};
	assert(l < LEVEL_COUNT);
	return &rows[l];
}

enum level level_from_word(const char *word)
{
	int number = level_number(word);
	return number < 0 ? LEVEL_COUNT : (enum level)number;
}

/* Each property is ordered, and asks for more the later its value stands. The
 * levels that differ in two of them in opposite directions, pc and psi, do not
 * imply each other. */
bool level_implies(enum level strong, enum level weak)
{
	const struct level_row *s = level_row(strong), *w = level_row(weak);
	bool implies = s->sight >= w->sight && s->moment >= w->moment &&
	               s->rivals >= w->rivals;
	assert(!implies || strong >= weak);
	return implies;
}

enum level level_base(enum level l)
{
	enum level base = l;
	while (!level_is_extensible(base) || !level_implies(l, base)) {
		assert(base > 0);
		base--;
	}
	return base;
}

enum level level_of_all(enum level others, const struct relation *r)
{
	enum level first = others;
	for (uint32_t k = 1; k < r->order_count && r->owns; k++) {
		enum level l = level_of(others, r, r->order[k]);
		assert(level_mixes(l) || l == others);
		if (k == 1) first = l;
		if (l != first) return LEVEL_COUNT;
	}
	return first;
}

bool level_allows(enum level l, const struct relation *r,
                  struct level_scratch *s)
{
	enum level others = l;
	if (r->owns) l = level_of_all(others, r);
	if (l == LEVEL_COUNT)
		return r->locks_reads ? points_allows(s, r, others)
		                      : mixed_allows(s, r, others);
	if (level_has_statements(l) || level_asks_points_for_locks(l, r))
		return points_allows(s, r, l);
	if (level_is_serial(l)) return serial_allows(s, r);
	if (level_has_snapshots(l))
		return snapshot_allows(s, r, level_excludes_rivals(l));
	if (level_excludes_rivals(l)) return parallel_snapshot_allows(s, r);
	return weak_allows(s, r, level_sight(l));
}

static bool history_allowed(enum level l, bool mixed, const struct history *h)
{
	struct dirty_read dirty;
	if (!h->order || dirty_read_find(h, l, mixed, &dirty)) return false;
	struct relation *r = relation_of_history(h);
	struct level_scratch *s = level_scratch_new();
	if (mixed) relation_take_owns(r, h);
	bool allowed = level_allows(l, r, s);
	level_scratch_free(s);
	relation_free(r);
	return allowed;
}

bool level_allows_history(enum level l, const struct history *h)
{
	return history_allowed(l, false, h);
}

bool level_allows_mix(enum level others, const struct history *h)
{
	return history_allowed(others, true, h);
}
