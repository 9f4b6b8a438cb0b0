#include "axioms/allows.h"

#include <assert.h>

#include "axioms/dirty_read.h"
#include "axioms/kernels.h"
#include "history/history.h"
#include "history/relation.h"

bool level_allows(enum level l, const struct relation *r,
                  struct level_scratch *s)
{
	enum level others = l;
	if (level_asks_points(others, r)) return points_allows(s, r, others);
	if (r->owns) l = level_of_all(others, r);
	if (l == LEVEL_COUNT) return mixed_allows(s, r, others);
	if (level_mixes_locks(l, r)) return mixed_allows(s, r, l);
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
