/* What the other checks do not know of: statements, and reads that lock. The
 * weaker and the stronger levels that they do know come first; what these leave
 * open the points of src/axioms decide, as long as memory has room for rows of
 * a bit for each two of them. */
#include <assert.h>
#include <stdlib.h>

#include "axioms/points.h"
#include "base/memory.h"
#include "check/check.h"

static bool is_over(void *clock)
{
	return check_clock_over(clock);
}

/* Enough that all of session order follows, in rows of so many words; all of it
 * where some level goes by single steps, as ra does. */
static void fill_before(const struct facts *f, enum level l, uint32_t t,
                        word *row, unsigned words)
{
	bool steps = f->owns || level_sight(l) == SIGHT_DIRECT;
	bits_zero(row, words);
	bits_add(row, HISTORY_INIT);
	uint32_t s = f->session_of[t];
	for (uint32_t i = 0; i < f->session_count; i++) {
		uint32_t first = f->session_first[i];
		uint32_t end = i == s ? t : f->session_first[i + 1];
		if ((i != s && s != f->after_all) || first == end) continue;
		if (!steps) first = end - 1;
		for (uint32_t u = first; u < end; u++) bits_add(row, u);
	}
}

static void take_transaction(struct points *p, const struct facts *f,
                             uint32_t t)
{
	uint32_t r = f->read_first[t], w = f->lock_first[t];
	uint32_t reads = f->read_first[t + 1], writes = f->lock_first[t + 1];
	while (r < reads || w < writes) {
		struct facts_read a = { 0 };
		struct facts_lock b = { 0 };
		if (r < reads) a = f->reads[r];
		if (w < writes) b = f->locks[w];
		if (w == writes || (r < reads && a.statement <= b.statement)) {
			points_read(p, a.key, a.from, a.strength, a.statement);
			r++;
		} else {
			if (b.strength == STRENGTH_GIVEN_UP)
				points_give_up(p, b.key, b.statement);
			else if (b.reads_own)
				points_lock(p, b.key, b.strength, b.statement);
			else
				points_write(p, b.key, b.strength, b.statement);
			w++;
		}
	}
	points_end(p);
}

/* It has written something, and nothing of that is there. */
static bool has_aborted(const struct facts *f, uint32_t t)
{
	uint32_t i = f->lock_first[t];
	while (i < f->lock_first[t + 1] && f->locks[i].reads_own) i++;
	return i < f->lock_first[t + 1] &&
	       f->write_first[t] == f->write_first[t + 1];
}

static void decide(struct points *p, const struct facts *f, enum level l,
                   struct check_clock *c, struct check_result *out)
{
	unsigned words = BITS_WORDS(f->n);
	word *row = mem_take(words * sizeof *row);
	for (uint32_t k = 1; k < f->n && !check_clock_over(c); k++) {
		uint32_t t = f->order[k];
		fill_before(f, l, t, row, words);
		points_begin(p, t, facts_level(f, l, t), has_aborted(f, t), row,
		             words);
		take_transaction(p, f, t);
	}
	free(row);
	for (uint32_t i = 0; i < f->known_count && !check_clock_over(c); i++)
		points_know(p, f->known[i]);
	bool allowed = !check_clock_over(c) && points_allow(p);
	if (check_clock_over(c)) {
		out->reason = check_clock_reason(c);
	} else if (allowed) {
		out->verdict = VERDICT_HOLDS;
		out->order = mem_take(f->n * sizeof *out->order);
		points_commits(p, out->order);
	} else {
		out->verdict = VERDICT_VIOLATED;
		out->core = mem_take(f->n * sizeof *out->core);
		out->core_count = f->n - 1;
		for (uint32_t t = 1; t < f->n; t++) out->core[t - 1] = t;
	}
}

/* Have reads points of their own? */
static bool has_statements(const struct facts *f, enum level others)
{
	unsigned levels = facts_levels(f, others);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (levels >> l & 1 && level_has_statements(l)) return true;
	return false;
}

static uint32_t count_given_up(const struct facts *f)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < f->lock_first[f->n]; i++)
		count += f->locks[i].strength == STRENGTH_GIVEN_UP;
	return count;
}

/* With as many points as there can be; NULL: these are too many. */
static struct points *make_points(const struct facts *f, enum level l,
                                  struct check_clock *c, bool runnable)
{
	uint64_t points = points_of_transaction(0) * (uint64_t)f->n;
	uint32_t given_up = count_given_up(f);
	points += given_up;
	if (has_statements(f, l) || check_reads_for_constraints(f))
		points += f->read_first[f->n];
	if (runnable)
		points += 2 *
		          ((uint64_t)f->read_first[f->n] + f->lock_first[f->n]);
	assert(f->order);
	if (points > (runnable ? SCHEDULE_POINTS : UINT32_MAX / 2) ||
	    check_clock_too_large(c, points * points / 4 +
	                                     (uint64_t)f->n * f->n / 4))
		return NULL;
	struct points *p = points_new();
	points_only_grow(p);
	if (f->ssi) points_be_ssi(p);
	if (given_up) points_may_give_up(p);
	if (runnable) points_be_runnable(p);
	points_clear(p, f->n, (uint32_t)points);
	return p;
}

void check_by_points(const struct facts *f, enum level l, struct check_clock *c,
                     struct check_result *out)
{
	struct points *p = make_points(f, l, c, false);
	*out = (struct check_result){ .verdict = VERDICT_UNDECIDED };
	if (!p) {
		out->reason = CHECK_MEMORY;
		return;
	}
	points_stop_when(p, is_over, c);
	decide(p, f, l, c, out);
	points_free(p);
}

static void take_point(void *schedule, uint32_t t, uint32_t statement)
{
	schedule_add(schedule, t, statement);
}

bool check_schedule_by_points(const struct facts *f, enum level l,
                              struct check_clock *c, bool runnable,
                              struct schedule *s)
{
	struct points *p = make_points(f, l, c, runnable);
	struct check_result found = { .verdict = VERDICT_UNDECIDED };
	uint32_t steps = 0;
	if (!p) return false;
	if (runnable)
		points_stop_when(p, schedule_is_late, &steps);
	else
		points_stop_when(p, is_over, c);
	decide(p, f, l, c, &found);
	bool holds = found.verdict == VERDICT_HOLDS && !points_gave_up(p);
	if (holds) points_each(p, take_point, s);
	points_free(p);
	check_result_free(&found);
	return holds;
}
