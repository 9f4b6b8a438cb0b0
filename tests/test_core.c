/* Smallest violating parts: against the definitions, by leaving out each
 * transaction and each operation, and all sets of transactions. */
#include "check/minimal_violation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/sub_history.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_witness.h"

/* ---- parts of histories, made the plain way ---- */

enum { MOST_EVENTS = 16 };

/* What is left out. */
struct left_out {
	bool transactions[TWIN_TRANSACTIONS];
	bool events[TWIN_TRANSACTIONS][MOST_EVENTS];
};

static bool is_left_out(const struct history *h, const struct left_out *out,
                        uint32_t t, uint32_t i)
{
	const struct event *e = &h->transactions[t].events[i];
	if (out->transactions[t] || out->events[t][i]) return true;
	if (e->kind == EVENT_WRITE || e->from == HISTORY_INIT) return false;
	if (e->from == HISTORY_SELF || out->transactions[e->from]) return true;
	const struct transaction *w = &h->transactions[e->from];
	for (uint32_t j = 0; j < w->event_count; j++)
		if (w->events[j].kind == EVENT_WRITE &&
		    w->events[j].key == e->key && out->events[e->from][j])
			return true;
	return false;
}

static bool writes_in_part(const struct history *h, const struct left_out *out,
                           uint32_t t, uint32_t key)
{
	const struct transaction *w = &h->transactions[t];
	for (uint32_t i = 0; i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE &&
		    w->events[i].key == key && !is_left_out(h, out, t, i))
			return !w->aborted;
	return false;
}

/* All that follows from the known pairs of each key. */
static void tell_known(struct history *p, const struct history *h,
                       const struct left_out *out, const uint32_t *number)
{
	uint32_t n = h->transaction_count;
	bool *before = mem_take0((size_t)n * n, sizeof *before);
	p->known = region_take(&p->region,
	                       (size_t)n * n * h->key_count * sizeof *p->known);
	for (uint32_t x = 0; x < h->key_count; x++) {
		memset(before, 0, (size_t)n * n * sizeof *before);
		for (uint32_t i = 0; i < h->known_count; i++)
			if (h->known[i].key == x)
				before[h->known[i].from * n + h->known[i].to] =
					true;
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t a = 0; a < n; a++)
				for (uint32_t b = 0; b < n; b++)
					before[a * n + b] |=
						before[a * n + k] &&
						before[k * n + b];
		for (uint32_t a = 1; a < n; a++)
			for (uint32_t b = 1; b < n; b++)
				if (before[a * n + b] &&
				    writes_in_part(h, out, a, x) &&
				    writes_in_part(h, out, b, x))
					p->known[p->known_count++] =
						(struct history_known){
							number[a], number[b], x
						};
	}
	free(before);
}

static void copy_events(struct history *p, const struct history *h,
                        const struct left_out *out, uint32_t t,
                        const uint32_t *number)
{
	const struct transaction *w = &h->transactions[t];
	struct transaction *c = &p->transactions[number[t]];
	c->name = w->name;
	c->session = w->session;
	c->index = w->index;
	c->aborted = w->aborted;
	c->events = region_take0(&p->region,
	                         (w->event_count + 1) * sizeof *c->events);
	for (uint32_t i = 0; i < w->event_count; i++) {
		if (is_left_out(h, out, t, i)) continue;
		struct event *e = &c->events[c->event_count++];
		*e = w->events[i];
		if (e->kind == EVENT_READ) e->from = number[e->from];
	}
}

static struct history *part_of(const struct history *h,
                               const struct left_out *out)
{
	struct history *p = mem_take0(1, sizeof *p);
	uint32_t *number = mem_take0(h->transaction_count, sizeof *number);
	uint32_t n = 1;
	region_init(&p->region);
	p->session_count = h->session_count;
	p->key_count = h->key_count;
	p->keys = h->keys;
	p->sessions = region_take0(&p->region, (h->session_count + 1) *
	                                               sizeof *p->sessions);
	p->transactions = region_take0(
		&p->region, h->transaction_count * sizeof *p->transactions);
	p->transactions[0] = h->transactions[0];
	for (uint32_t s = 0; s < h->session_count; s++) {
		const struct history_session *from = &h->sessions[s];
		p->sessions[s] = *from;
		p->sessions[s].first = n;
		for (uint32_t i = 0; i < from->count; i++)
			if (!out->transactions[from->first + i])
				number[from->first + i] = n++;
		p->sessions[s].count = n - p->sessions[s].first;
	}
	p->transaction_count = n;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (number[t]) copy_events(p, h, out, t, number);
	tell_known(p, h, out, number);
	free(number);
	history_find_order(p);
	return p;
}

static bool allows_part(enum level l, const struct history *h,
                        const struct left_out *out)
{
	struct history *p = part_of(h, out);
	bool allowed = twin_allows(l, p);
	history_free(p);
	return allowed;
}

/* ---- random histories ---- */

/* For some keys, as lists tell it: the order of some writers, and that the
 * others come later. */
static void tell_lists(struct rng *r, struct history *h)
{
	uint32_t n = h->transaction_count;
	h->known = region_take(&h->region,
	                       (size_t)n * h->key_count * sizeof *h->known);
	for (uint32_t x = 0; x < h->key_count; x++) {
		uint32_t last = 0, length = rng_below(r, n);
		for (uint32_t i = 1; i < n; i++) {
			uint32_t t = h->order[i];
			if (!twin_writes(h, t, x)) continue;
			if (last)
				h->known[h->known_count++] =
					(struct history_known){ last, t, x };
			if (!last || i < length) last = t;
		}
	}
}

static struct history *random_history(struct rng *r, int i)
{
	struct history_shape shape = { 4, 7, 5, 3, i % 2 };
	struct history *h = history_random(r, shape);
	if (rng_below(r, 3) == 0) tell_lists(r, h);
	return h;
}

/* The events that read number i, write number i of the facts stand for. */
static void leave_out_reads(const struct history *h, const struct facts *f,
                            const bool *counts, struct left_out *out)
{
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t next = f->read_first[t];
		const struct transaction *w = &h->transactions[t];
		for (uint32_t i = 0; i < w->event_count; i++) {
			const struct event *e = &w->events[i];
			if (e->kind == EVENT_READ && e->from != HISTORY_SELF &&
			    !h->transactions[e->from].aborted)
				out->events[t][i] = !counts[next++];
		}
		ck_assert_uint_eq(next, f->read_first[t + 1]);
	}
}

static void leave_out_writes(const struct history *h, const struct facts *f,
                             const bool *counts, struct left_out *out)
{
	for (uint32_t t = 1; t < f->n; t++) {
		const struct transaction *w = &h->transactions[t];
		for (uint32_t k = f->write_first[t]; k < f->write_first[t + 1];
		     k++)
			for (uint32_t i = 0; i < w->event_count; i++)
				if (w->events[i].kind == EVENT_WRITE &&
				    w->events[i].key == f->writes[k])
					out->events[t][i] = !counts[k];
	}
}

/* Parts of facts are the facts of parts. */
START_TEST(parts)
{
	struct rng r = { first_seed() * 1000 + (uint64_t)_i };
	unsigned allowed[LEVEL_COUNT] = { 0 };
	for (int i = 0; i < fewer(1000); i++) {
		struct history *h = random_history(&r, i);
		struct facts *f = facts_of_history(h);
		struct left_out out = { 0 };
		struct sub_histories p;
		uint32_t chosen[TWIN_TRANSACTIONS], count = 0;
		sub_history_init(&p, f);
		for (uint32_t t = h->transaction_count; t-- > 1;) {
			out.transactions[t] = rng_below(&r, 4) == 0;
			if (!out.transactions[t]) chosen[count++] = t;
		}
		if (rng_below(&r, 2)) sub_history_narrow(&p, chosen, count);
		for (uint32_t k = 0; k < f->read_first[f->n]; k++)
			p.reads[k] = rng_below(&r, 4);
		for (uint32_t k = 0; k < f->write_first[f->n]; k++)
			p.writes[k] = rng_below(&r, 4);
		leave_out_reads(h, f, p.reads, &out);
		leave_out_writes(h, f, p.writes, &out);
		struct history *plain = part_of(h, &out);
		struct facts *part = sub_history_take(&p, chosen, count);
		ck_assert_uint_eq(part->n, plain->transaction_count);
		for (enum level l = 0; l < LEVEL_COUNT; l++) {
			struct check_result c;
			check_small(part, l, &c);
			bool allows = c.verdict == VERDICT_HOLDS;
			allowed[l] += allows;
			if (allows != twin_allows(l, plain))
				ck_abort_msg("%s: %s",
				             history_to_notation(plain),
				             level_word(l));
			check_result_free(&c);
		}
		facts_free(part);
		history_free(plain);
		sub_history_free(&p);
		facts_free(f);
		history_free(h);
	}
	for (enum level l = LEVEL_RC; l < LEVEL_COUNT; l++)
		ck_assert_uint_lt(allowed[l], allowed[LEVEL_NONE]);
}
END_TEST

/* ---- cores ---- */

static struct check_clock *clock_new(void)
{
	return check_clock_new(&(struct check_limits){ 0 });
}

/* How many transactions the smallest violating part has. */
static uint32_t smallest(enum level l, const struct history *h)
{
	uint32_t n = h->transaction_count - 1, best = n;
	for (uint32_t set = 0; set < 1u << n; set++) {
		uint32_t count = (uint32_t)__builtin_popcount(set);
		struct left_out out = { 0 };
		if (count >= best) continue;
		for (uint32_t t = 1; t <= n; t++)
			out.transactions[t] = !(set >> (t - 1) & 1);
		if (!allows_part(l, h, &out)) best = count;
	}
	return best;
}

static bool is_among(uint32_t number, const uint32_t *all, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (all[i] == number) return true;
	return false;
}

static struct left_out outside(const struct history *h, const struct facts *f,
                               const struct minimal_violation *c)
{
	struct left_out out = { 0 };
	bool *reads = mem_take0(f->read_first[f->n] + 1u, sizeof *reads);
	bool *writes = mem_take0(f->write_first[f->n] + 1u, sizeof *writes);
	for (uint32_t t = 1; t < h->transaction_count; t++)
		out.transactions[t] = !is_among(t, c->transactions, c->count);
	for (uint32_t i = 0; i < c->read_count; i++) reads[c->reads[i]] = true;
	for (uint32_t i = 0; i < c->write_count; i++)
		writes[c->writes[i]] = true;
	leave_out_reads(h, f, reads, &out);
	leave_out_writes(h, f, writes, &out);
	free(reads);
	free(writes);
	return out;
}

/* A read, or the writes of a key together; false for what is not shown. */
static bool leave_out(const struct history *h, struct left_out *out, uint32_t t,
                      uint32_t i)
{
	const struct transaction *w = &h->transactions[t];
	bool write = w->events[i].kind == EVENT_WRITE;
	if (is_left_out(h, out, t, i) || (write && w->aborted)) return false;
	for (uint32_t j = 0; j < w->event_count; j++)
		if (i == j || (write && w->events[j].kind == EVENT_WRITE &&
		               w->events[j].key == w->events[i].key))
			out->events[t][j] = true;
	return true;
}

static void check_core(enum level l, const struct history *h,
                       const struct left_out *out)
{
	const char *text = history_to_notation(h), *word = level_word(l);
	ck_assert_msg(!allows_part(l, h, out), "%s: %s", text, word);
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		struct left_out less = *out;
		if (out->transactions[t]) continue;
		less.transactions[t] = true;
		ck_assert_msg(allows_part(l, h, &less), "%s: %s without T%u",
		              text, word, t);
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			less = *out;
			if (!leave_out(h, &less, t, i)) continue;
			ck_assert_msg(allows_part(l, h, &less),
			              "%s: %s without event %u of T%u", text,
			              word, i, t);
		}
	}
	free((char *)text);
}

START_TEST(cores)
{
	struct rng r = { first_seed() * 2000 + (uint64_t)_i };
	struct check_clock *clock = clock_new();
	unsigned found = 0, larger = 0;
	for (int i = 0; i < (is_quick() ? 30 : 300); i++) {
		struct history *h = random_history(&r, i);
		struct facts *f = facts_of_history(h);
		for (enum level l = LEVEL_RC; l < LEVEL_COUNT; l++) {
			struct minimal_violation c;
			uint32_t all[TWIN_TRANSACTIONS];
			if (twin_allows(l, h)) continue;
			for (uint32_t t = 1; t < f->n; t++) all[t - 1] = t;
			ck_assert(minimal_violation_find(f, l, all, f->n - 1,
			                                 clock, &c));
			ck_assert(c.minimal);
			struct left_out out = outside(h, f, &c);
			check_core(l, h, &out);
			larger += c.count > smallest(l, h);
			found++;
			minimal_violation_free(&c);
		}
		facts_free(f);
		history_free(h);
	}
	ck_assert_uint_gt(found, is_quick() ? 30 : 300);
	ck_assert_uint_le(larger, found / 100 + 2);
	check_clock_free(clock);
}
END_TEST

/* ---- explanations ---- */

static bool is_same_event(const struct history *h, const struct event *a,
                          const struct check_witness *w, const struct event *b)
{
	if (a->kind != b->kind || !value_equal(a->value, b->value) ||
	    strcmp(h->keys[a->key].name, w->part->keys[b->key].name))
		return false;
	return a->kind == EVENT_WRITE ||
	       (a->from != HISTORY_SELF && b->from != HISTORY_SELF &&
	        a->from == w->numbers[b->from]);
}

/* The part has transactions of the history, and events of these in the same
 * order. */
static void check_part(const struct history *h, const struct check_witness *w)
{
	const struct history *part = w->part;
	uint64_t hidden = 0;
	ck_assert_uint_eq(w->numbers[0], 0);
	for (uint32_t t = 1; t < part->transaction_count; t++) {
		const struct transaction *some = &part->transactions[t];
		const struct transaction *all = &h->transactions[w->numbers[t]];
		uint32_t next = 0;
		ck_assert_uint_gt(w->numbers[t], w->numbers[t - 1]);
		ck_assert_str_eq(some->name, all->name);
		ck_assert_str_eq(part->sessions[some->session].name,
		                 h->sessions[all->session].name);
		ck_assert_uint_eq(some->index, all->index);
		ck_assert_int_eq(some->aborted, all->aborted);
		for (uint32_t i = 0; i < all->event_count; i++)
			if (next < some->event_count &&
			    is_same_event(h, &all->events[i], w,
			                  &some->events[next]))
				next++;
		ck_assert_uint_eq(next, some->event_count);
		hidden += all->event_count - next;
	}
	ck_assert_uint_eq(hidden, w->hidden_ops);
}

static struct check_witness explain(enum level l, const struct history *h)
{
	struct check_witness w;
	struct check_result r;
	struct check_clock *clock = clock_new();
	struct trace *t = trace_of_history(h, "some.jsonl");
	struct facts *f = facts_of_trace(t);
	check_level(f, l, clock, &r);
	ck_assert_int_eq(r.verdict, VERDICT_VIOLATED);
	ck_assert(check_explain(t, f, l, &r, clock, &w));
	check_part(h, &w);
	twin_check_witness(l, w.part, &w.cycle);
	check_core(l, w.part, &(struct left_out){ 0 });
	ck_assert(w.minimal);
	ck_assert_ptr_nonnull(w.anomaly);
	ck_assert(!twin_allows(w.weakest, w.part));
	ck_assert(level_implies(l, w.weakest));
	for (enum level m = 0; m < LEVEL_COUNT; m++)
		if (m != w.weakest && level_implies(w.weakest, m))
			ck_assert(twin_allows(m, w.part));
	check_result_free(&r);
	facts_free(f);
	trace_free(t);
	check_clock_free(clock);
	return w;
}

START_TEST(explanations)
{
	struct rng r = { first_seed() * 3000 + (uint64_t)_i };
	unsigned explained[LEVEL_COUNT] = { 0 };
	for (int i = 0; i < fewer(600); i++) {
		struct history *h = random_history(&r, i);
		for (enum level l = LEVEL_RC; l < LEVEL_COUNT; l++) {
			if (twin_allows(l, h)) continue;
			struct check_witness w = explain(l, h);
			explained[l]++;
			check_witness_free(&w);
		}
		history_free(h);
	}
	for (enum level l = LEVEL_RC; l < LEVEL_COUNT; l++)
		ck_assert_uint_gt(explained[l], fewer(10));
}
END_TEST

/* What is left of a history, and its names. */
struct expected {
	enum level level, weakest;
	const char *anomaly, *history, *part;
};

static const struct expected expected[] = {
	{ LEVEL_NONE, LEVEL_NONE, "circular information flow (G1c)",
	  "T0: x<0 Wz | T1: z<T0 Wx y<T2 | T2: Wy x<T1 Wz | T3: x<T1 y<T2",
	  "T1: Wx y<T2 | T2: Wy x<T1" },
	{ LEVEL_NONE, LEVEL_NONE, "circular information flow (G1c)",
	  "T0: Wx | T1: x<T2 Wy ; T2: x<T0 Wx", "T1: x<T2 ; T2: Wx" },
	{ LEVEL_RC, LEVEL_RC, "dirty write (G0)",
	  "T1: Wx Wy | T2: Wx Wy | R: x<T1 y<T2 | S: y<T2 x<T1",
	  "T1: Wx Wy | T2: Wx Wy | R: x<T1 y<T2 | S: y<T2 x<T1" },
	{ LEVEL_RC, LEVEL_RC, "observed transaction vanishes",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1 y<T2 x<T2",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1 x<T2" },
	{ LEVEL_RC, LEVEL_RC, "fractured read",
	  "T1: Wx Wy ; T2: Wx Wy | T3: x<T2 y<T1 | T4: y<T2 x<T2",
	  "T1: Wy ; T2: Wx Wy | T3: x<T2 y<T1" },
	{ LEVEL_RC, LEVEL_RC, "non-monotonic read",
	  "T2: x<0 Wx | T1: x<T2 x<0 Wx", "T2: Wx | T1: x<T2 x<0" },
	{ LEVEL_RA, LEVEL_RA, "non-repeatable read",
	  "T1: x<0 y<0 x<T2 y<0 | T2: x<0 y<0 Wx", "T1: x<0 x<T2 | T2: Wx" },
	{ LEVEL_RA, LEVEL_RA, "read skew (G-single)",
	  "T1: x<0 y<T2 | T2: x<0 y<0 Wx Wy", "T1: x<0 y<T2 | T2: Wx Wy" },
	{ LEVEL_RA, LEVEL_RA, "fractured read",
	  "T1: Wx Wy | T2: Wx Wy | T3: y<T2 y<T2 x<T1",
	  "T1: Wx Wy | T2: Wx Wy | T3: y<T2 x<T1" },
	{ LEVEL_CC, LEVEL_RA, "read-your-writes violation",
	  "T1: x<0 Wx ; T2: y<0 Wy ; T3: x<0 y<T2", "T1: Wx ; T3: x<0" },
	{ LEVEL_CC, LEVEL_CC, "monotonic reads violation",
	  "T0: Wx | T1: x<T0 ; T2: x<0", "T0: Wx | T1: x<T0 ; T2: x<0" },
	{ LEVEL_SER, LEVEL_CC, "causality violation",
	  "T0: Wz | T1: z<T0 Wx | T2: x<T1 z<T0 Wy | T3: y<T2 x<0",
	  "T1: Wx | T2: x<T1 Wy | T3: y<T2 x<0" },
	{ LEVEL_SI, LEVEL_PC, "long fork",
	  "T0: Wz | T1: z<T0 Wx | T2: Wy | T3: x<T1 y<0 | T4: x<0 y<T2",
	  "T1: Wx | T2: Wy | T3: x<T1 y<0 | T4: x<0 y<T2" },
	{ LEVEL_PC, LEVEL_PC, "store buffering",
	  "A1: Wx ; A2: y<0 ; A3: Wz | B0: x<0 ; B1: Wy ; B2: x<0",
	  "A1: Wx ; A2: y<0 | B1: Wy ; B2: x<0" },
	{ LEVEL_SI, LEVEL_PSI, "lost update",
	  "T1: x<0 y<0 Wx Wy | T2: x<0 y<T1 Wx Wz | T3: z<T2",
	  "T1: x<0 Wx | T2: x<0 Wx" },
	{ LEVEL_SER, LEVEL_PSI, "lost update",
	  "A: c<0 Wc | D: c<0 Wc | R1: c<D ; R2: c<A",
	  "A: c<0 Wc | D: c<0 Wc" },
	{ LEVEL_PSI, LEVEL_PSI, "G-single",
	  "T1: x<0 y<0 Wx Wz | T2: x<0 y<0 Wy Wz",
	  "T1: y<0 Wx Wz | T2: x<0 Wy Wz" },
	{ LEVEL_SI, LEVEL_SI, "long fork",
	  "A: Wx y<0 | B: Wy ; D: x<0 | C: x<0 Wx",
	  "A: Wx y<0 | B: Wy ; D: x<0 | C: x<0 Wx" },
	{ LEVEL_PSI, LEVEL_PSI, "G-single", "T1: y<0 Wx Wy Wz | T2: x<0 Wy Wz",
	  "T1: y<0 Wx Wy | T2: x<0 Wy" },
	{ LEVEL_SER, LEVEL_SER, "write skew (G2-item)",
	  "T1: x<0 y<0 Wx Wz | T2: x<0 y<0 Wy | T3: z<T1 x<T1",
	  "T1: y<0 Wx | T2: x<0 Wy" },
	{ LEVEL_SER, LEVEL_SER, "read-only transaction anomaly",
	  "T1: x<0 y<0 Wx | T2: y<0 Wy | T3: x<0 y<T2",
	  "T1: y<0 Wx | T2: Wy | T3: x<0 y<T2" },
};

enum { EXPECTED = sizeof expected / sizeof *expected };

START_TEST(anomalies_are_cut_out)
{
	const struct expected *e = &expected[_i];
	struct history *h = history_from_notation(e->history);
	struct check_witness w = explain(e->level, h);
	char *part = history_to_notation(w.part);
	ck_assert_str_eq(part, e->part);
	ck_assert_str_eq(w.anomaly, e->anomaly);
	ck_assert_str_eq(level_word(w.weakest), level_word(e->weakest));
	free(part);
	check_witness_free(&w);
	history_free(h);
}
END_TEST

/* The same among hundreds of others, from the core that the check found and
 * from nothing. */
START_TEST(few_of_many)
{
	const struct expected *e = &expected[_i];
	struct history *h = history_from_notation(e->history);
	struct history *many = history_padded(h, 600);
	struct check_clock *clock = clock_new();
	struct trace *t = trace_of_history(many, "some.jsonl");
	struct facts *f = facts_of_trace(t);
	struct check_result found, nothing = { .verdict = VERDICT_VIOLATED };
	check_level(f, e->level, clock, &found);
	ck_assert_int_eq(found.verdict, VERDICT_VIOLATED);
	for (int i = 0; i < 2; i++) {
		struct check_witness w;
		const struct check_result *r = i ? &nothing : &found;
		ck_assert(check_explain(t, f, e->level, r, clock, &w));
		ck_assert(w.minimal);
		check_core(e->level, w.part, &(struct left_out){ 0 });
		twin_check_witness(e->level, w.part, &w.cycle);
		check_witness_free(&w);
	}
	check_result_free(&found);
	check_clock_free(clock);
	facts_free(f);
	trace_free(t);
	history_free(many);
	history_free(h);
}
END_TEST

static uint32_t number_of(const struct history *h, const char *name)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (!strcmp(h->transactions[t].name, name)) return t;
	ck_abort_msg("no transaction %s", name);
}

/* The check came upon six transactions; two elsewhere say it shorter. */
START_TEST(smaller_elsewhere)
{
	static const char *const names[] = {
		"T1", "T2", "T3", "T4", "T5", "T6"
	};
	struct history *h = history_from_notation(
		"T1: Wx | T2: Wx | T3: x<T1 ; T4: x<T2 | T5: x<T2 ; T6: x<T1 | "
		"A: y<0 Wy | B: z<0 ; C: y<0 Wy");
	struct history *many = history_padded(h, 200);
	struct trace *t = trace_of_history(many, "some.jsonl");
	struct facts *f = facts_of_trace(t);
	struct check_clock *clock = clock_new();
	uint32_t core[6];
	for (int i = 0; i < 6; i++) core[i] = number_of(many, names[i]);
	struct check_result r = { .verdict = VERDICT_VIOLATED,
		                  .core = core,
		                  .core_count = 6 };
	struct check_witness w;
	ck_assert(check_explain(t, f, LEVEL_CC, &r, clock, &w));
	ck_assert_uint_eq(w.part->transaction_count, 7);
	check_witness_free(&w);
	ck_assert(check_explain(t, f, LEVEL_SER, &r, clock, &w));
	ck_assert_uint_eq(w.part->transaction_count, 3);
	ck_assert_str_eq(w.anomaly, "lost update");
	ck_assert_uint_eq(w.numbers[1], number_of(many, "A"));
	ck_assert_uint_eq(w.numbers[2], number_of(many, "C"));
	check_witness_free(&w);
	check_clock_free(clock);
	facts_free(f);
	trace_free(t);
	history_free(many);
	history_free(h);
}
END_TEST

/* A long cycle of which nothing can be left out. */
START_TEST(all_are_needed)
{
	struct text ring = { 0 };
	for (int i = 0; i < 100; i++)
		text_format(&ring, "%sT%d: Wk%d k%d<T%d", i ? " | " : "", i, i,
		            (i + 1) % 100, (i + 1) % 100);
	struct history *h = history_from_notation(text_get(&ring));
	struct trace *t = trace_of_history(h, "some.jsonl");
	struct facts *f = facts_of_trace(t);
	struct check_clock *clock = clock_new();
	struct check_result r;
	struct check_witness w;
	check_level(f, LEVEL_NONE, clock, &r);
	ck_assert(check_explain(t, f, LEVEL_NONE, &r, clock, &w));
	ck_assert_uint_eq(w.part->transaction_count, 101);
	ck_assert_uint_eq(w.cycle.count, 100);
	ck_assert_uint_eq(w.hidden_ops, 0);
	ck_assert_str_eq(w.anomaly, "circular information flow (G1c)");
	check_witness_free(&w);
	check_result_free(&r);
	check_clock_free(clock);
	facts_free(f);
	trace_free(t);
	history_free(h);
	text_free(&ring);
}
END_TEST

/* The order of three writers, of which one is left out, stays known. */
START_TEST(lists_are_bridged)
{
	struct history *h = history_from_notation(
		"T1: Wx Wy | T2: Wx | T3: Wx Wy | T4: y<T1");
	struct history_known known[] = { { 1, 2, 0 },
		                         { 2, 3, 0 },
		                         { 3, 1, 1 } };
	h->known = known;
	h->known_count = 3;
	struct check_witness w = explain(LEVEL_RC, h);
	char *part = history_to_notation(w.part);
	ck_assert_str_eq(part, "T1: Wx Wy | T3: Wx Wy");
	ck_assert_uint_eq(w.part->known_count, 2);
	ck_assert_str_eq(w.anomaly, "dirty write (G0)");
	free(part);
	check_witness_free(&w);
	history_free(h);
}
END_TEST

/* No cycle is made up for what the trace itself shows. */
START_TEST(an_anomaly_is_reason_enough)
{
	struct history *h = history_from_notation("T1!: Wx | T2: x<T1");
	struct trace *t = trace_of_history(h, "some.jsonl");
	struct facts *f = facts_of_trace(t);
	struct check_clock *clock = clock_new();
	struct check_result r[LEVEL_COUNT];
	check_levels(t, f, 1u << LEVEL_RC, clock, r);
	ck_assert_int_eq(r[LEVEL_RC].verdict, VERDICT_VIOLATED);
	struct check_witness w;
	ck_assert(!check_explain(t, f, LEVEL_RC, &r[LEVEL_RC], clock, &w));
	ck_assert_ptr_null(w.part);
	check_result_free(&r[LEVEL_RC]);
	check_clock_free(clock);
	facts_free(f);
	trace_free(t);
	history_free(h);
}
END_TEST

void add_core_tests(TCase *tests)
{
	tcase_add_loop_test(tests, explanations, 0, 4);
	tcase_add_loop_test(tests, anomalies_are_cut_out, 0, EXPECTED);
	tcase_add_loop_test(tests, few_of_many, 0, EXPECTED);
	tcase_add_test(tests, smaller_elsewhere);
	tcase_add_test(tests, all_are_needed);
	tcase_add_test(tests, lists_are_bridged);
	tcase_add_test(tests, an_anomaly_is_reason_enough);
	tcase_add_loop_test(tests, parts, 0, 4);
	tcase_add_loop_test(tests, cores, 0, 4);
}
