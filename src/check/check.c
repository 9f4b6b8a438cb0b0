#include "check/check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What the strongest extensible level forbids, or ser allows, is decided. */
static void check_by_statements(const struct facts *f, enum level l,
                                struct check_clock *c, struct check_result *out)
{
	check_weak(f, level_base(l), c, out);
	if (out->verdict == VERDICT_VIOLATED) return;
	check_result_free(out);
	check_strong_guess(f, LEVEL_SERIAL, c, out);
	if (out->verdict == VERDICT_HOLDS) return;
	check_result_free(out);
	if (check_has_known_locks(f))
		check_statements(f, l, c, out);
	else
		check_by_points(f, l, c, out);
}

/* Decided by points, because the strongest extensible level forbids it, or the
 * weakest one that implies this one allows it? */
static bool check_by_others(const struct facts *f, enum level l,
                            struct check_clock *c, struct check_result *out)
{
	enum level strong = l + 1;
	while (!level_has_points(strong) || !check_implies(f, strong, l))
		strong++;
	assert(strong < LEVEL_COUNT);
	check_by_points(f, level_base(l), c, out);
	if (out->verdict == VERDICT_VIOLATED) return true;
	check_result_free(out);
	check_by_points(f, strong, c, out);
	if (out->verdict == VERDICT_HOLDS) return true;
	check_result_free(out);
	return false;
}

/* Reads that lock, of a level to which they say something: what it forbids
 * without locks, or ser allows, is decided. */
static void check_locked(const struct facts *f, enum level l,
                         struct check_clock *c, struct check_result *out)
{
	if (level_needs_order(l))
		check_strong(f, l, c, out);
	else
		check_weak(f, l, c, out);
	if (out->verdict == VERDICT_VIOLATED) return;
	check_result_free(out);
	check_strong_guess(f, LEVEL_SERIAL, c, out);
	if (out->verdict == VERDICT_HOLDS) return;
	check_result_free(out);
	if (level_has_points(l))
		check_by_points(f, l, c, out);
	else if (f->n <= CHECK_SMALL)
		check_small(f, l, out);
	else if (!check_by_others(f, l, c, out))
		check_by_kernel(f, l, c, out);
}

static bool heeds_locks(const struct facts *f, enum level l)
{
	return f->order && level_sight(l) != SIGHT_NOTHING &&
	       !level_is_serial(l) && !check_has_plain_reads(f);
}

bool check_reads_beside(const struct facts *f, enum level others)
{
	unsigned levels = facts_levels(f, others);
	bool ssi = f->ssi && f->owns;
	bool snapshots = false;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		snapshots |= levels >> l & 1 &&
		             level_has_snapshots(level_behind(l, ssi));
	return snapshots && check_reads_for_constraints(f);
}

static void check_large(const struct facts *f, enum level others,
                        struct check_clock *c, struct check_result *out)
{
	*out = (struct check_result){ 0 };
	enum level l = facts_level_of_all(f, others);
	struct facts plain = facts_without_owns(f);
	if (f->order && check_reads_beside(f, others))
		check_by_points(f, others, c, out);
	else if (l == LEVEL_COUNT)
		check_mixed(f, others, c, out);
	else if (level_has_statements(l) && f->order)
		check_by_statements(&plain, l, c, out);
	else if (heeds_locks(&plain, l))
		check_locked(&plain, l, c, out);
	else if (!level_needs_order(l))
		check_weak(&plain, l, c, out);
	else
		check_strong(&plain, l, c, out);
}

void check_level(const struct facts *f, enum level l, struct check_clock *c,
                 struct check_result *out)
{
	if (f->n <= CHECK_BY_KERNEL)
		check_small(f, l, out);
	else
		check_large(f, l, c, out);
}

bool check_commit_order(const struct facts *f, enum level l,
                        struct check_clock *c, struct check_result *r)
{
	if (r->order) return true;
	struct check_result again;
	check_large(f, l, c, &again);
	r->order = again.order;
	again.order = NULL;
	check_result_free(&again);
	return r->order;
}

/* ---- Schedules ---- */

bool check_has_schedule(const struct facts *f, enum level others)
{
	unsigned levels = facts_levels(f, others);
	bool some = false;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels >> l & 1)) continue;
		if (!level_has_points(l)) return false;
		some |= level_has_statements(l);
	}
	return some;
}

static void count_statements(const struct trace *t, const struct facts *f,
                             enum level others, struct schedule *s)
{
	for (uint32_t i = 1; i < f->n; i++) {
		const struct trace_transaction *w = &t->transactions[i];
		enum level l = facts_level(f, others, i);
		if (!level_has_statements(l) &&
		    !(level_has_snapshots(l) && check_reads_for_constraints(f)))
			continue;
		for (uint32_t k = 0; k < w->op_count; k++)
			s->statements[i] += !t->ops[w->first_op + k].joined;
	}
}

/* Does a statement lock something after it has started? Else every schedule
 * can be run. */
static bool locks_later(const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t first = f->lock_first[t], end = f->lock_first[t + 1];
		uint32_t r = f->read_first[t];
		for (uint32_t i = first; i < end; i++) {
			uint32_t statement = f->locks[i].statement;
			if (i > first && f->locks[i - 1].statement == statement)
				return true;
			while (r < f->read_first[t + 1] &&
			       f->reads[r].statement < statement)
				r++;
			if (r < f->read_first[t + 1] &&
			    f->reads[r].statement == statement)
				return true;
		}
	}
	return !check_has_plain_reads(f);
}

/* What is not known to have happened. */
static void drop_unknown(const struct trace *t, struct schedule *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++) {
		uint32_t w = s->items[i].transaction;
		if (t->transactions[w].status != TRACE_UNKNOWN)
			s->items[kept++] = s->items[i];
	}
	s->count = kept;
}

bool check_schedule(const struct trace *t, const struct facts *f, enum level l,
                    struct check_clock *c, struct check_result *r)
{
	struct schedule *s = &r->schedule;
	assert(f->order && !s->statements);
	schedule_init(s, f->n);
	count_statements(t, f, l, s);
	bool found = (locks_later(f) &&
	              check_schedule_by_points(f, l, c, true, s)) ||
	             (!f->owns && check_has_plain_reads(f)
	                      ? check_schedule_by_statements(f, l, c, s)
	                      : check_schedule_by_points(f, l, c, false, s));
	if (found)
		drop_unknown(t, s);
	else
		schedule_free(s);
	return found;
}

/* ---- Several levels ---- */

struct deciding {
	const struct facts *f;
	struct check_clock *clock;
	struct check_result *results;
	unsigned decided; /* bit l: results[l] is final */
};

static uint32_t *copy_of(const uint32_t *from, size_t count)
{
	if (!from) return NULL;
	uint32_t *to = mem_take((count + 1) * sizeof *to);
	memcpy(to, from, count * sizeof *to);
	return to;
}

/* The result for one level as the result for another that follows from it. */
static struct check_result same(const struct deciding *s,
                                const struct check_result *r)
{
	return (struct check_result){ .verdict = r->verdict,
		                      .order = copy_of(r->order, s->f->n),
		                      .core = copy_of(r->core, r->core_count),
		                      .core_count = r->core_count,
		                      .reason = r->reason };
}

bool check_implies(const struct facts *f, enum level strong, enum level weak)
{
	enum level behind = level_behind(strong, f->ssi && f->owns);
	return level_implies(strong, weak) &&
	       (strong == weak || level_implies_checks(behind, weak) ||
	        !check_reads_for_constraints(f));
}

/* What this result decides about the other levels. */
static void spread(struct deciding *s, enum level from)
{
	const struct check_result *r = &s->results[from];
	if (r->verdict == VERDICT_UNDECIDED) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool follows = r->verdict == VERDICT_HOLDS
		                       ? check_implies(s->f, from, l)
		                       : check_implies(s->f, l, from);
		if (!follows || s->decided & 1u << l) continue;
		check_result_free(&s->results[l]);
		s->results[l] = same(s, r);
		s->decided |= 1u << l;
	}
}

/* Does the level of a reader forbid an anomaly of the kind? Those that were not
 * kept are of readers without a level of their own. */
static bool is_forbidden(const struct trace *t, enum trace_anomaly_kind k,
                         enum level others)
{
	uint64_t kept = 0;
	if (trace_anomaly_forbidden_always(k)) return t->anomalies_found[k];
	for (uint32_t i = 0; i < t->anomaly_count; i++) {
		const struct trace_anomaly *a = &t->anomalies[i];
		own_level own = t->transactions[a->transaction].own;
		enum level l = own ? (enum level)(own - 1) : others;
		if (a->kind != k) continue;
		if (level_sight(l) != SIGHT_NOTHING) return true;
		kept++;
	}
	return kept < t->anomalies_found[k] &&
	       level_sight(others) != SIGHT_NOTHING;
}

enum trace_anomaly_kind check_forbidding(const struct trace *t, enum level l)
{
	enum trace_anomaly_kind k = 0;
	while (k < ANOMALY_COUNT && !is_forbidden(t, k, l)) k++;
	return k;
}

/* The order in which levels are decided: the quick ones first, and of each kind
 * those that tell most. Among those that need no order that is the weakest, and
 * then the strongest; among the others, the strong ones. */
static void order_levels(enum level out[LEVEL_COUNT])
{
	unsigned quick = 0, count = 0;
	while (quick < LEVEL_COUNT && !level_needs_order(quick)) quick++;
	assert(quick >= 2);
	out[count++] = 0;
	for (enum level l = quick - 1; count < quick; l = count - 1)
		out[count++] = l;
	for (enum level l = LEVEL_COUNT; l-- > quick;) out[count++] = l;
	assert(count == LEVEL_COUNT);
}

void check_levels(const struct trace *t, const struct facts *f, unsigned wanted,
                  struct check_clock *c, struct check_result *results)
{
	enum level sequence[LEVEL_COUNT];
	struct deciding s = { .f = f, .clock = c, .results = results };
	memset(results, 0, LEVEL_COUNT * sizeof *results);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (check_forbidding(t, l) == ANOMALY_COUNT) continue;
		results[l].verdict = VERDICT_VIOLATED;
		s.decided |= 1u << l;
	}
	order_levels(sequence);
	for (unsigned i = 0; i < LEVEL_COUNT; i++) {
		enum level l = sequence[i];
		if (!(wanted & 1u << l) || s.decided & 1u << l) continue;
		check_level(f, l, c, &results[l]);
		if (results[l].verdict == VERDICT_UNDECIDED) continue;
		s.decided |= 1u << l;
		spread(&s, l);
	}
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!(wanted & 1u << l)) check_result_free(&results[l]);
}
