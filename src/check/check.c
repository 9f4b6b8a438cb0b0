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
	if (check_has_plain_reads(f))
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
	while (!level_has_points(strong) || !level_implies(strong, l)) strong++;
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
		*out = (struct check_result){
			.verdict = VERDICT_UNDECIDED,
			.reason = "reads lock, and there are more than 63 "
				  "transactions"
		};
}

static bool heeds_locks(const struct facts *f, enum level l)
{
	return f->order && level_sight(l) != SIGHT_NOTHING &&
	       !level_is_serial(l) && !check_has_plain_reads(f);
}

static void check_large(const struct facts *f, enum level others,
                        struct check_clock *c, struct check_result *out)
{
	*out = (struct check_result){ 0 };
	enum level l = facts_level_of_all(f, others);
	struct facts plain = facts_without_owns(f);
	if (l == LEVEL_COUNT)
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

/* What has been begun so far, by transaction. */
struct expanding {
	const struct trace *t;
	uint32_t *begun;
	struct check_moment *moments;
	size_t count, capacity;
};

static void add_moment(struct expanding *x, uint32_t transaction,
                       uint32_t statement)
{
	VEC_RESERVE(x->moments, x->count, x->capacity);
	x->moments[x->count++] =
		(struct check_moment){ transaction, statement };
}

static uint32_t count_statements(const struct trace *t, uint32_t transaction)
{
	const struct trace_transaction *w = &t->transactions[transaction];
	uint32_t count = 0;
	for (uint32_t i = 0; i < w->op_count; i++)
		count += !t->ops[w->first_op + i].joined;
	return count;
}

/* Those of which nothing is read begin right before what follows in their
 * transaction: then what they wait for has ended. */
static void expand(struct expanding *x, struct check_moment m)
{
	uint32_t *begun = &x->begun[m.transaction];
	uint32_t end = m.statement ? m.statement
	                           : count_statements(x->t, m.transaction);
	if (x->t->transactions[m.transaction].status == TRACE_UNKNOWN) return;
	while (*begun < end) add_moment(x, m.transaction, ++*begun);
	if (!m.statement) add_moment(x, m.transaction, 0);
}

bool check_schedule(const struct trace *t, const struct facts *f, enum level l,
                    struct check_clock *c, struct check_result *r)
{
	struct check_result again;
	assert(level_has_statements(l) && f->order);
	if (check_has_plain_reads(f))
		check_statements(f, l, c, &again);
	else
		check_by_points(f, l, c, &again);
	bool found = again.schedule != NULL;
	if (found) {
		struct expanding x = {
			.t = t, .begun = mem_take0(f->n, sizeof *x.begun)
		};
		for (size_t i = 0; i < again.schedule_count; i++)
			expand(&x, again.schedule[i]);
		free(x.begun);
		free(r->schedule);
		r->schedule = x.moments;
		r->schedule_count = x.count;
	}
	check_result_free(&again);
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

/* What this result decides about the other levels. */
static void spread(struct deciding *s, enum level from)
{
	const struct check_result *r = &s->results[from];
	if (r->verdict == VERDICT_UNDECIDED) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool follows = r->verdict == VERDICT_HOLDS
		                       ? level_implies(from, l)
		                       : level_implies(l, from);
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
