/* Histories whose transactions have different levels. What the strongest level
 * forbids that all of them imply, the mix forbids; what one allows that implies
 * them all, it allows. In between saturation and search decide, by each
 * reader's own axiom (strong.h), or the points, where statements or locks
 * matter.
 */
#include <assert.h>

#include "check/check.h"

/* Does the level imply each of these? */
static bool implies_all(enum level l, unsigned levels)
{
	for (enum level m = 0; m < LEVEL_COUNT; m++)
		if (levels >> m & 1 && !level_implies(l, m)) return false;
	return true;
}

static bool implied_by_all(enum level l, unsigned levels)
{
	for (enum level m = 0; m < LEVEL_COUNT; m++)
		if (levels >> m & 1 && !level_implies(m, l)) return false;
	return true;
}

/* The strongest that needs no order. */
static enum level weaker_than_all(unsigned levels)
{
	enum level l = LEVEL_COUNT;
	do l--;
	while (level_needs_order(l) || !implied_by_all(l, levels));
	return l;
}

static enum level stronger_than_all(unsigned levels)
{
	enum level l = 0;
	while (!implies_all(l, levels)) l++;
	assert(l < LEVEL_COUNT);
	return l;
}

/* Do only points decide, for statements or the like? */
static bool asks_points(const struct facts *f, unsigned levels)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (levels >> l & 1 &&
		    (level_has_statements(l) || (f->ssi && level_is_serial(l))))
			return true;
	return !check_has_plain_reads(f);
}

/* Does one level, for all, decide? */
static bool decides(const struct facts *f, enum level l, enum verdict decisive,
                    struct check_clock *c, struct check_result *out)
{
	struct facts plain = facts_without_owns(f);
	if (level_needs_order(l))
		check_strong_guess(&plain, l, c, out);
	else
		check_weak(&plain, l, c, out);
	if (out->verdict == decisive) return true;
	check_result_free(out);
	return false;
}

void check_mixed(const struct facts *f, enum level others,
                 struct check_clock *c, struct check_result *out)
{
	unsigned levels = facts_levels(f, others);
	enum level weak = weaker_than_all(levels);
	assert(f->n > 1 && !check_reads_beside(f, others));
	if (!f->order) {
		check_weak(f, weak, c, out);
		return;
	}
	if (decides(f, weak, VERDICT_VIOLATED, c, out)) return;
	bool points = asks_points(f, levels);
	enum level strong = points ? LEVEL_SERIAL : stronger_than_all(levels);
	if (decides(f, strong, VERDICT_HOLDS, c, out)) return;
	if (points)
		check_by_points(f, others, c, out);
	else
		check_strong(f, others, c, out);
}
