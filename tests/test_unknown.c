/* What a record does not tell: transactions of unknown outcome, and values that
 * nobody wrote. The verdict is that of the best of all completions, which are
 * tried here one by one. */
#include <string.h>

#include "history/trace_build.h"
#include "recorded_support.h"
#include "suites.h"
#include "twin_axioms.h"

enum { RUNS = 4, HISTORIES = 20000, TRANSACTIONS = 5, OPS = 12, KEYS = 2 };
/* Nobody writes these values and those that follow. */
enum { UNWRITTEN = 100, UNWRITTEN_VALUES = 2, VERSIONS = 4, OMITTED = 99 };

struct record_op {
	uint32_t transaction;
	enum event_kind kind;
	uint32_t key;
	int64_t value;
};

struct record {
	struct record_op ops[OPS];
	uint32_t op_count, transactions, sessions;
	uint32_t session[TRANSACTIONS];
	int status[TRANSACTIONS]; /* enum trace_status, or OMITTED */
	bool aborted_reads;
	/* Of each unwritten version: the unseen transaction that writes it,
	 * from 1; 0: init does. */
	uint32_t writer[VERSIONS];
};

static uint32_t version_of(const struct record_op *op)
{
	return op->key * UNWRITTEN_VALUES + (uint32_t)(op->value - UNWRITTEN);
}

static void make_record(struct record *m, struct rng *r, bool unwritten)
{
	*m = (struct record){ .op_count = 3 + rng_below(r, OPS - 2),
		              .transactions =
		                      2 + rng_below(r, TRANSACTIONS - 1),
		              .sessions = 1 + rng_below(r, 3),
		              .aborted_reads = rng_below(r, 2) };
	for (uint32_t t = 0; t < m->transactions; t++) {
		m->session[t] = rng_below(r, m->sessions);
		m->status[t] = TRACE_COMMITTED;
		if (!unwritten && rng_below(r, 2))
			m->status[t] =
				rng_below(r, 4) ? TRACE_UNKNOWN : TRACE_ABORTED;
	}
	uint32_t keys = 1 + rng_below(r, KEYS);
	for (uint32_t i = 0; i < m->op_count; i++)
		m->ops[i] = (struct record_op){
			.transaction = i * m->transactions / m->op_count,
			.kind = rng_below(r, 5) < 2 ? EVENT_WRITE : EVENT_READ,
			.key = rng_below(r, keys),
			.value = i + 1
		};
	for (uint32_t i = 0; i < m->op_count; i++) {
		struct record_op *op = &m->ops[i];
		if (op->kind == EVENT_WRITE) continue;
		op->value = 0;
		for (int attempt = 0; attempt < 4; attempt++) {
			struct record_op *o =
				&m->ops[rng_below(r, m->op_count)];
			if (o->kind == EVENT_WRITE && o->key == op->key)
				op->value = o->value;
		}
		if (unwritten && rng_below(r, 3))
			op->value = UNWRITTEN + rng_below(r, UNWRITTEN_VALUES);
		if (!unwritten && !rng_below(r, 20)) op->value = 99;
	}
}

static void add_op(struct trace_builder *b, const struct record *m,
                   uint32_t handle, const struct record_op *op, bool completed)
{
	int64_t value = op->value;
	if (completed && value >= UNWRITTEN && !m->writer[version_of(op)])
		value = 0;
	trace_op_add(b, handle, op->kind, trace_key_number(b, op->key),
	             trace_value_number(value), 0);
}

/* With the unseen transactions that `writer` tells, or as isoscope completes
 * it. */
static struct trace *build(const struct record *m, bool completed)
{
	struct trace_rules rules = { .aborted_reads = m->aborted_reads,
		                     .unknown_is_initial = !completed };
	struct diags d = { 0 };
	rules.initial = trace_value_number(0);
	struct trace_builder *b = trace_builder_new("record", &rules);
	for (uint32_t s = 0; s < m->sessions; s++) trace_session_number(b, s);
	for (uint32_t t = 0; t < m->transactions; t++) {
		bool omitted = m->status[t] == OMITTED;
		uint32_t handle = trace_transaction_new(
			b, trace_session_number(b, m->session[t]),
			omitted ? TRACE_COMMITTED
				: (enum trace_status)m->status[t],
			0);
		for (uint32_t i = 0; i < m->op_count && !omitted; i++)
			if (m->ops[i].transaction == t)
				add_op(b, m, handle, &m->ops[i], completed);
	}
	for (uint32_t u = 1; u <= VERSIONS && completed; u++) {
		bool used = false;
		for (uint32_t v = 0; v < VERSIONS; v++)
			used = used || m->writer[v] == u;
		if (!used) continue;
		uint32_t session = trace_session_number(b, 100 + u);
		uint32_t handle =
			trace_transaction_new(b, session, TRACE_COMMITTED, 0);
		for (uint32_t v = 0; v < VERSIONS; v++)
			if (m->writer[v] == u)
				trace_op_add(b, handle, EVENT_WRITE,
				             trace_key_number(
						     b, v / UNWRITTEN_VALUES),
				             trace_value_number(
						     UNWRITTEN +
						     v % UNWRITTEN_VALUES),
				             0);
	}
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_msg(t != NULL, "%s", d.count ? d.items[0].message : "");
	return t;
}

/* By brute force; without `none`, which allows what did not commit. */
static unsigned levels_by_definition(const struct record *m)
{
	unsigned levels = 0;
	struct trace *t = build(m, true);
	if (!t->anomaly_count) {
		struct history *h = trace_history(t, NULL, NULL);
		levels = twin_levels(h) & ~1u;
		history_free(h);
	}
	trace_free(t);
	return levels;
}

static void compare(const struct record *m, unsigned expected)
{
	char row[LEVEL_COUNT + 1], other[LEVEL_COUNT + 1];
	struct trace *t = build(m, false);
	unsigned levels = levels_of_trace(t) & ~1u;
	ck_assert_msg(levels == expected, "%s, not %s",
	              levels_to_row(levels, row),
	              levels_to_row(expected, other));
	trace_free(t);
}

/* ---- unknown outcomes ---- */

static unsigned best_outcomes(struct record *m, uint32_t t)
{
	unsigned levels = 0;
	if (t == m->transactions) return levels_by_definition(m);
	if (m->status[t] != TRACE_UNKNOWN) return best_outcomes(m, t + 1);
	m->status[t] = TRACE_COMMITTED;
	levels |= best_outcomes(m, t + 1);
	m->status[t] = OMITTED;
	levels |= best_outcomes(m, t + 1);
	m->status[t] = TRACE_UNKNOWN;
	return levels;
}

START_TEST(unknown_outcomes)
{
	struct rng r = { process_seed(_i, 1) };
	for (uint64_t i = programs_or(HISTORIES) / RUNS; i > 0; i--) {
		struct record m;
		make_record(&m, &r, false);
		/* A value of nobody is no matter of this test. */
		for (uint32_t k = 0; k < m.op_count; k++)
			if (m.ops[k].value == 99) m.ops[k].value = 0;
		compare(&m, best_outcomes(&m, 0));
	}
}
END_TEST

/* ---- values of nobody ---- */

/* Which of them were read, and, of the only one of a key where nobody read what
 * was there initially: that is what was there. */
static void find_versions(const struct record *m, bool *read, bool *initial)
{
	bool zero[KEYS] = { 0 };
	uint32_t many[KEYS] = { 0 };
	for (uint32_t i = 0; i < m->op_count; i++) {
		const struct record_op *op = &m->ops[i];
		bool own = false;
		for (uint32_t k = 0; k < i; k++)
			own |= m->ops[k].transaction == op->transaction &&
			       m->ops[k].kind == EVENT_WRITE &&
			       m->ops[k].key == op->key;
		if (op->kind == EVENT_WRITE || own) continue;
		zero[op->key] |= !op->value;
		if (op->value < UNWRITTEN || read[version_of(op)]) continue;
		read[version_of(op)] = true;
		many[op->key]++;
	}
	for (uint32_t v = 0; v < VERSIONS; v++) {
		uint32_t key = v / UNWRITTEN_VALUES;
		initial[v] = read[v] && many[key] == 1 && !zero[key];
	}
}

/* All ways to give those from v on to unseen transactions, of which one writes
 * a key once; one version of a key whose initial value was not read may be
 * that. */
static unsigned best_writers(struct record *m, uint32_t v, uint32_t used,
                             const bool *read, const bool *initial)
{
	unsigned levels = 0;
	uint32_t first = v / UNWRITTEN_VALUES * UNWRITTEN_VALUES;
	if (v == VERSIONS) return levels_by_definition(m);
	if (!read[v] || initial[v]) {
		m->writer[v] = read[v] ? 0 : VERSIONS + 1;
		return best_writers(m, v + 1, used, read, initial);
	}
	for (uint32_t u = 1; u <= used + 1; u++) {
		bool free = true;
		for (uint32_t o = first; o < v; o++)
			free = free && m->writer[o] != u;
		if (!free) continue;
		m->writer[v] = u;
		levels |= best_writers(m, v + 1, u > used ? u : used, read,
		                       initial);
	}
	return levels;
}

START_TEST(values_of_nobody)
{
	struct rng r = { process_seed(_i, 2) };
	for (uint64_t i = programs_or(HISTORIES) / RUNS / 4; i > 0; i--) {
		struct record m;
		bool read[VERSIONS] = { 0 }, initial[VERSIONS] = { 0 };
		make_record(&m, &r, true);
		find_versions(&m, read, initial);
		compare(&m, best_writers(&m, 0, 0, read, initial));
	}
}
END_TEST

void add_unknown_tests(TCase *tests)
{
	tcase_add_loop_test(tests, unknown_outcomes, 0, RUNS);
	tcase_add_loop_test(tests, values_of_nobody, 0, RUNS);
}
