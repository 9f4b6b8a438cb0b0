/* Generated histories: they keep their level and no stronger one, show the
 * anomaly planted in them and no other, and depend on nothing but the seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/level.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/formats.h"
#include "generate/workload.h"
#include "generate/zipf.h"
#include "history/trace.h"
#include "suites.h"
#include "support.h"

static struct trace *generated(const struct workload *w)
{
	struct diags d = { 0 };
	struct trace *t = workload_run(w, &d);
	if (!t) ck_abort_msg("%s", diags_to_text(&d));
	ck_assert_uint_eq(d.count, 0);
	diags_free(&d);
	return t;
}

static uint64_t anomalies_of(const struct trace *t)
{
	uint64_t all = 0;
	for (int k = 0; k < ANOMALY_COUNT; k++) all += t->anomalies_found[k];
	return all;
}

/* Bit l is set when the history satisfies level l. */
static unsigned levels_of(const struct trace *t)
{
	unsigned levels = 0, possible = ~0u;
	for (int k = 0; k < ANOMALY_COUNT; k++) {
		if (!t->anomalies_found[k]) continue;
		possible &= trace_anomaly_forbidden_always(
				    (enum trace_anomaly_kind)k)
		                    ? 0
		                    : 1u << LEVEL_NONE;
	}
	struct history *h = trace_history(t, NULL, NULL);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (possible >> l & 1 && level_allows_history(l, h))
			levels |= 1u << l;
	history_free(h);
	return levels;
}

static void text_of(struct text *out, const struct trace *t, enum format f)
{
	struct diags d = { 0 };
	if (!format_print(out, f, t, NULL, &d))
		ck_abort_msg("%s", diags_to_text(&d));
}

/* ---- levels ---- */

enum { SHAPES = 8, SEEDS = 40 };

/* Few sessions or many, long transactions or short ones, with and without
 * aborts; of up to some 60 transactions, which the kernels decide soon. */
static struct workload shape(int number)
{
	static const struct workload shapes[SHAPES] = {
		{ .ops = 240,
		  .sessions = 5,
		  .length = 4,
		  .keys = 20,
		  .reads = 0.75,
		  .lag = 40 },
		{ .ops = 200,
		  .sessions = 4,
		  .length = 4,
		  .keys = 10,
		  .reads = 0.5,
		  .lag = 20,
		  .aborts = 0.2 },
		{ .ops = 240,
		  .sessions = 8,
		  .length = 4,
		  .keys = 50,
		  .reads = 0.7,
		  .lag = 100,
		  .geometric = true },
		{ .transactions = 12,
		  .sessions = 3,
		  .length = 20,
		  .keys = 12,
		  .reads = 0.8,
		  .lag = 5 },
		{ .transactions = 60,
		  .sessions = 2,
		  .length = 2,
		  .keys = 3,
		  .reads = 0.5,
		  .lag = 3,
		  .aborts = 0.5 },
		{ .transactions = 40,
		  .sessions = 20,
		  .length = 3,
		  .keys = 6,
		  .reads = 0.6,
		  .lag = 1,
		  .geometric = true },
		{ .transactions = 30,
		  .sessions = 6,
		  .length = 3,
		  .keys = 8,
		  .reads = 0.3,
		  .lag = UINT32_MAX,
		  .aborts = 0.1 },
		{ .transactions = 20,
		  .sessions = 1,
		  .length = 5,
		  .keys = 4,
		  .reads = 0.5,
		  .lag = 10 },
	};
	struct workload w = shapes[number];
	w.theta = 0.99;
	w.planted = PLANTED_COUNT;
	return w;
}

START_TEST(levels_hold)
{
	struct workload w = shape(_i % SHAPES);
	w.distribution = _i < SHAPES ? DISTRIBUTION_UNIFORM : DISTRIBUTION_ZIPF;
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++)
		for (int i = 0; i < SEEDS; i++) {
			w.seed = first_seed() * 1000 + (uint64_t)i;
			struct trace *t = generated(&w);
			ck_assert_uint_eq(anomalies_of(t), 0);
			if (!(levels_of(t) >> w.level & 1))
				ck_abort_msg("shape %d, seed %llu: not %s", _i,
				             (unsigned long long)w.seed,
				             level_word(w.level));
			trace_free(t);
		}
}
END_TEST

/* A store that keeps a level would be dull if it kept a stronger one. */
START_TEST(stronger_levels_fail)
{
	struct workload w = shape(0);
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++) {
		unsigned held[LEVEL_COUNT] = { 0 };
		for (int i = 0; i < SEEDS; i++) {
			w.seed = first_seed() * 1000 + (uint64_t)i;
			struct trace *t = generated(&w);
			unsigned levels = levels_of(t);
			for (int l = 0; l < LEVEL_COUNT; l++)
				held[l] += levels >> l & 1;
			trace_free(t);
		}
		for (enum level l = 0; l < LEVEL_COUNT; l++) {
			/* Without reads that lock, si is one of those that
			 * imply prc. */
			if (level_implies(w.level, l) || l == LEVEL_PRC)
				continue;
			if (held[l] > SEEDS * 3 / 4)
				ck_abort_msg("%s holds in %u of %d histories "
				             "of %s",
				             level_word(l), held[l], SEEDS,
				             level_word(w.level));
		}
	}
}
END_TEST

/* Makes the order of the writers of each key, as this commit order has it, part
 * of the history. */
static void fix_order(struct history *h, const uint32_t *order, uint32_t count)
{
	uint32_t *last = mem_take0(h->key_count, sizeof *last), n = 0;
	size_t events = 0;
	for (uint32_t t = 0; t < h->transaction_count; t++)
		events += h->transactions[t].event_count;
	h->known = region_take(&h->region, (events + 1) * sizeof *h->known);
	for (uint32_t i = 0; i < count; i++) {
		const struct transaction *t = &h->transactions[order[i]];
		for (uint32_t e = 0; e < t->event_count; e++) {
			uint32_t key = t->events[e].key;
			uint32_t before = last[key];
			if (t->events[e].kind != EVENT_WRITE ||
			    before == order[i])
				continue;
			last[key] = order[i];
			if (before)
				h->known[n++] =
					(struct history_known){ before,
					                        order[i], key };
		}
	}
	h->known_count = n;
	free(last);
}

/* Each committed transaction once, init first, sessions in their order. */
static void check_order(const struct trace *t, const uint32_t *order,
                        uint32_t count)
{
	uint32_t *place = mem_take0(t->transaction_count, sizeof *place);
	uint32_t committed = 1;
	ck_assert_uint_eq(order[0], TRACE_INIT);
	for (uint32_t i = 1; i < count; i++) {
		ck_assert_uint_lt(order[i], t->transaction_count);
		ck_assert_uint_eq(place[order[i]], 0);
		place[order[i]] = i;
	}
	for (uint32_t i = 1, last = 0; i < t->transaction_count; i++) {
		const struct trace_transaction *x = &t->transactions[i];
		if (t->sessions[x->session].first == i) last = 0;
		if (x->status != TRACE_COMMITTED) continue;
		committed++;
		ck_assert_uint_gt(place[i], last);
		last = place[i];
	}
	ck_assert_uint_eq(committed, count);
	free(place);
}

START_TEST(commit_order_shows_level)
{
	struct workload w = shape(_i);
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++)
		for (int i = 0; i < SEEDS; i++) {
			struct diags d = { 0 };
			uint32_t *order, count;
			w.seed = first_seed() * 1000 + (uint64_t)i;
			struct trace *t =
				workload_run_ordered(&w, &order, &count, &d);
			struct history *h = trace_history(t, NULL, NULL);
			check_order(t, order, count);
			fix_order(h, order, count);
			if (!level_allows_history(w.level, h))
				ck_abort_msg("shape %d, seed %llu: not %s", _i,
				             (unsigned long long)w.seed,
				             level_word(w.level));
			history_free(h);
			trace_free(t);
			free(order);
		}
}
END_TEST

/* ---- mixes and locks ---- */

/* Two levels or more that can stand beside each other. */
static unsigned random_mix(struct rng *r)
{
	unsigned mix = 0;
	while (!(mix & (mix - 1))) {
		enum level l = (enum level)rng_below(r, LEVEL_COUNT);
		if (level_mixes(l)) mix |= 1u << l;
	}
	return mix;
}

/* Its transactions have levels of the mix, and all of these are there. */
static void has_levels(const struct trace *t, unsigned mix)
{
	unsigned found = 0;
	for (uint32_t i = 1; i < t->transaction_count; i++)
		if (t->transactions[i].own)
			found |= 1u << (t->transactions[i].own - 1);
	ck_assert_uint_eq(found & ~mix, 0);
	if (t->transaction_count > 30) ck_assert_uint_eq(found, mix);
}

static void levels_and_locks_hold(const struct workload *w)
{
	struct diags d = { 0 };
	uint32_t *order, count;
	struct trace *t = workload_run_ordered(w, &order, &count, &d);
	ck_assert_ptr_nonnull(t);
	has_levels(t, w->mix);
	struct history *h = trace_history(t, NULL, NULL);
	check_order(t, order, count);
	fix_order(h, order, count);
	bool allowed = w->mix ? level_allows_mix(LEVEL_NONE, h)
	                      : level_allows_history(w->level, h);
	if (!allowed)
		ck_abort_msg("seed %llu, levels %x, level %s, locks %g: %s",
		             (unsigned long long)w->seed, w->mix,
		             level_word(w->level), w->locks,
		             history_to_notation(h));
	history_free(h);
	trace_free(t);
	free(order);
}

START_TEST(mixes_and_locks)
{
	struct workload w = shape(_i);
	struct rng r = { first_seed() * 1000 + (uint64_t)_i };
	for (int i = 0; i < 3 * SEEDS; i++) {
		w.mix = rng_below(&r, 3) ? random_mix(&r) : 0;
		w.level = (enum level)rng_below(&r, LEVEL_COUNT);
		w.locks = w.mix && rng_below(&r, 2)
		                  ? 0
		                  : 0.1 + 0.2 * rng_below(&r, 5);
		w.seed = rng_next(&r);
		levels_and_locks_hold(&w);
	}
}
END_TEST

/* Statements lock rows and their transactions abort while snapshots are old. */
START_TEST(aborted_beside_snapshots)
{
	struct rng r = { first_seed() * 1000 };
	for (int i = 0; i < 10 * SEEDS; i++)
		levels_and_locks_hold(&(struct workload){
			.transactions = 60,
			.sessions = 2 + rng_below(&r, 3),
			.length = 4,
			.keys = 8,
			.reads = 0.4,
			.theta = 0.99,
			.mix = 1u << LEVEL_PRC | 1u << LEVEL_SI,
			.lag = 30,
			.aborts = 0.2,
			.planted = PLANTED_COUNT,
			.seed = rng_next(&r),
		});
}
END_TEST

/* A level of a mix is not kept for all, and reads that lock are all that keeps
 * updates from being lost. */
START_TEST(mixes_are_not_dull)
{
	struct workload w = shape(0);
	int violated = 0, unlocked = 0;
	w.mix = 1u << LEVEL_RC | 1u << LEVEL_SER;
	for (int i = 0; i < SEEDS; i++) {
		w.seed = first_seed() * 1000 + (uint64_t)i;
		struct trace *t = generated(&w);
		violated += !(levels_of(t) >> LEVEL_RA & 1);
		trace_free(t);
	}
	w.mix = 0;
	w.level = LEVEL_RC;
	for (int i = 0; i < 2 * SEEDS; i++) {
		w.seed = first_seed() * 1000 + (uint64_t)i;
		w.locks = i % 2;
		struct trace *t = generated(&w);
		bool serial = levels_of(t) >> LEVEL_SER & 1;
		if (w.locks > 0) ck_assert(serial);
		unlocked += !serial;
		trace_free(t);
	}
	ck_assert_int_gt(violated, SEEDS / 4);
	ck_assert_int_gt(unlocked, SEEDS / 4);
}
END_TEST

/* ---- anomalies ---- */

enum { PLANTS = 200 };

START_TEST(planted_anomaly_alone)
{
	struct workload w = workload_default();
	enum level forbidden_by = planted_forbidden_by((enum planted)_i);
	unsigned expected = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!level_implies(l, forbidden_by)) expected |= 1u << l;
	w.planted = (enum planted)_i;
	w.ops = 120;
	for (int i = 0; i < PLANTS; i++) {
		w.seed = first_seed() * 1000 + (uint64_t)i;
		w.sessions = 4 + (uint32_t)i % 4;
		struct trace *t = generated(&w);
		/* prc forbids some that are named after others. */
		if ((levels_of(t) ^ expected) & ~(1u << LEVEL_PRC))
			ck_abort_msg("%s, seed %llu: levels %x, not %x",
			             planted_word(w.planted),
			             (unsigned long long)w.seed, levels_of(t),
			             expected);
		trace_free(t);
	}
}
END_TEST

static uint64_t found(enum planted p, enum trace_anomaly_kind kind)
{
	struct workload w = workload_default();
	w.planted = p;
	struct trace *t = generated(&w);
	uint64_t count = t->anomalies_found[kind];
	ck_assert_uint_eq(anomalies_of(t), count);
	trace_free(t);
	return count;
}

START_TEST(planted_anomalies_are_named)
{
	ck_assert_uint_eq(found(PLANTED_THIN_AIR, ANOMALY_THIN_AIR), 1);
	ck_assert_uint_eq(found(PLANTED_G1A, ANOMALY_ABORTED), 1);
	ck_assert_uint_eq(found(PLANTED_G1B, ANOMALY_INTERMEDIATE), 1);
	ck_assert_uint_eq(found(PLANTED_INTERNAL, ANOMALY_INTERNAL), 1);
	ck_assert_uint_eq(found(PLANTED_G1C, ANOMALY_INTERNAL), 0);
}
END_TEST

START_TEST(words_of_anomalies)
{
	for (int p = 0; p < PLANTED_COUNT; p++)
		ck_assert_int_eq(
			planted_from_word(planted_word((enum planted)p)), p);
	ck_assert_int_eq(planted_from_word("no-such"), PLANTED_COUNT);
	ck_assert_uint_eq(planted_sessions(PLANTED_LONG_FORK), 4);
	ck_assert_uint_eq(planted_sessions(PLANTED_COUNT), 0);
}
END_TEST

/* Sessions, operations and values of a history but for those of the keys from
 * `keys` + 1 on, as text. */
static void outline(struct text *out, const struct trace *t, int64_t keys)
{
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *x = &t->transactions[i];
		const struct trace_op *op = &t->ops[x->first_op];
		if (t->keys[op->key].number > keys) continue;
		text_format(out, "\n%u:", x->session);
		for (uint32_t o = 0; o < x->op_count; o++)
			text_format(out, " %d %lld", op[o].kind,
			            (long long)t->keys[op[o].key].number);
	}
}

/* The anomaly is added to a history that is otherwise as without it. */
START_TEST(anomaly_is_added)
{
	struct workload w = workload_default();
	struct text plain = { 0 }, planted = { 0 };
	w.seed = (uint64_t)_i;
	struct trace *t = generated(&w);
	outline(&plain, t, w.keys);
	trace_free(t);
	w.planted = PLANTED_LONG_FORK;
	t = generated(&w);
	ck_assert_uint_eq(t->op_count, w.ops + 6);
	outline(&planted, t, w.keys);
	ck_assert_str_eq(text_get(&plain), text_get(&planted));
	trace_free(t);
	text_free(&plain);
	text_free(&planted);
}
END_TEST

/* ---- seeds ---- */

static struct workload mixed(uint64_t seed)
{
	struct workload w = workload_default();
	w.ops = 5000;
	w.sessions = 7;
	w.keys = 50;
	w.geometric = true;
	w.distribution = DISTRIBUTION_ZIPF;
	w.aborts = 0.1;
	w.seed = seed;
	return w;
}

static uint64_t hash_of(const struct workload *w)
{
	struct text out = { 0 };
	struct trace *t = generated(w);
	text_of(&out, t, FORMAT_ISOSCOPE);
	uint64_t hash = hash_bytes(0, out.data, out.length);
	text_free(&out);
	trace_free(t);
	return hash;
}

START_TEST(seed_decides)
{
	struct workload w = mixed(0);
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++) {
		uint64_t other = ~hash_of(&w);
		for (w.seed = 0; w.seed < 5; w.seed++) {
			uint64_t hash = hash_of(&w);
			ck_assert_uint_eq(hash, hash_of(&w));
			ck_assert_uint_ne(hash, other);
			other = hash;
		}
		w.seed = 0;
	}
}
END_TEST

/* Values and keys of all operations, so that a change of a format does not
 * matter: what a seed gives is to stay. */
static uint64_t digest(const struct trace *t)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < t->transaction_count; i++) {
		const struct trace_transaction *x = &t->transactions[i];
		hash = hash_mix(hash, x->status);
		for (uint32_t o = 0; o < x->op_count; o++) {
			const struct trace_op *op = &t->ops[x->first_op + o];
			hash = hash_mix(hash, (uint64_t)op->value);
			hash = hash_mix(hash,
			                (uint64_t)t->keys[op->key].number);
		}
	}
	return hash;
}

START_TEST(seeds_are_for_ever)
{
	static const uint64_t expected[LEVEL_COUNT] = {
		0x53ffcf60f573c905, 0xcb5e3072f6d499ff, 0xf1b828f5ce6079b9,
		0xcf24f2334380098b, 0x753685db99dfc69a, 0x0527dfbc463d8090,
		0xe76e5a7da0b80734, 0xadee1a4b3802a07f, 0x205f9ad2300b9c2d,
	};
	struct workload w = mixed(20);
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++) {
		struct trace *t = generated(&w);
		ck_assert_msg(digest(t) == expected[w.level], "%s: 0x%016llx",
		              level_word(w.level),
		              (unsigned long long)digest(t));
		trace_free(t);
	}
}
END_TEST

/* ---- settings ---- */

static void check_values(const struct trace *t)
{
	bool *written = mem_take0((size_t)t->op_count + 1, sizeof *written);
	for (uint32_t o = 0; o < t->op_count; o++) {
		if (t->ops[o].kind != EVENT_WRITE) continue;
		ck_assert_int_gt(t->ops[o].value, 0);
		ck_assert_int_le(t->ops[o].value, t->op_count);
		ck_assert(!written[t->ops[o].value]);
		written[t->ops[o].value] = true;
	}
	free(written);
}

START_TEST(sizes_as_asked)
{
	struct workload w = workload_default();
	w.ops = 1003;
	w.sessions = 6;
	w.length = 10;
	struct trace *t = generated(&w);
	ck_assert_uint_eq(t->op_count, 1003);
	ck_assert_uint_eq(t->session_count, 6);
	ck_assert_uint_eq(t->transaction_count, 1 + 101);
	for (uint32_t s = 0; s < 6; s++) {
		ck_assert_uint_ge(t->sessions[s].count, 101 / 6);
		ck_assert_uint_le(t->sessions[s].count, 101 / 6 + 1);
	}
	ck_assert_uint_eq(t->key_count, w.keys);
	for (uint32_t k = 0; k < t->key_count; k++) {
		ck_assert_int_ge(t->keys[k].number, 1);
		ck_assert_int_le(t->keys[k].number, w.keys);
	}
	check_values(t);
	trace_free(t);

	w.transactions = 77;
	t = generated(&w);
	ck_assert_uint_eq(t->transaction_count, 1 + 77);
	ck_assert_uint_eq(t->op_count, 770);
	trace_free(t);
}
END_TEST

static void near(double found, double expected, double within)
{
	ck_assert_msg(fabs(found - expected) <= within, "%g, not %g", found,
	              expected);
}

START_TEST(fractions_as_asked)
{
	struct workload w = workload_default();
	uint32_t reads = 0, aborted = 0, other = 0;
	w.transactions = 20000;
	w.length = 8;
	w.geometric = true;
	w.reads = 0.3;
	w.aborts = 0.2;
	struct trace *t = generated(&w);
	for (uint32_t o = 0; o < t->op_count; o++)
		reads += t->ops[o].kind == EVENT_READ;
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		aborted += t->transactions[i].status == TRACE_ABORTED;
		other += t->transactions[i].op_count != w.length;
	}
	near((double)t->op_count / 20000, 8, 0.3);
	near((double)reads / t->op_count, 0.3, 0.01);
	near(aborted / 20000.0, 0.2, 0.015);
	ck_assert_uint_gt(other, 10000);
	trace_free(t);
}
END_TEST

START_TEST(zipf_is_zipf)
{
	static const double thetas[] = { 0, 0.5, 0.99, 1.5, 10 };
	enum { COUNT = 100, DRAWS = 400000 };
	double theta = thetas[_i], sum = 0;
	unsigned drawn[COUNT] = { 0 };
	struct rng r = { first_seed() };
	struct zipf *z = zipf_new(COUNT, theta);
	for (int i = 0; i < DRAWS; i++) drawn[zipf_pick(z, &r)]++;
	for (int i = 0; i < COUNT; i++) sum += pow(i + 1, -theta);
	for (int i = 0; i < COUNT; i++) {
		double p = pow(i + 1, -theta) / sum;
		/* Six standard deviations. */
		near((double)drawn[i] / DRAWS, p, 6 * sqrt(p / DRAWS) + 1e-9);
	}
	zipf_free(z);
}
END_TEST

static void refused(struct workload w, const char *part)
{
	struct diags d = { 0 };
	ck_assert_ptr_null(workload_run(&w, &d));
	ck_assert_uint_eq(d.errors, 1);
	if (!strstr(d.items[0].message, part))
		ck_abort_msg("'%s' is not in '%s'", part, d.items[0].message);
	diags_free(&d);
}

START_TEST(settings_out_of_range)
{
	struct workload d = workload_default(), w;
#define REFUSED(member, value, part) w = d, w.member = (value), refused(w, part)
	REFUSED(ops, 0, "operations");
	REFUSED(ops, UINT64_MAX, "operations");
	REFUSED(transactions, UINT64_MAX, "transactions");
	REFUSED(sessions, 0, "sessions, not 0");
	REFUSED(sessions, UINT32_MAX, "sessions");
	REFUSED(length, 0, "operations in a transaction, not 0");
	REFUSED(length, UINT32_MAX, "operations in a transaction");
	REFUSED(keys, 0, "keys, not 0");
	REFUSED(keys, UINT32_MAX, "keys");
	REFUSED(reads, -0.1, "reads");
	REFUSED(reads, 1.1, "reads");
	REFUSED(reads, NAN, "reads");
	REFUSED(aborts, 2, "aborts");
	REFUSED(theta, -1, "theta");
	REFUSED(theta, INFINITY, "theta");
	d.sessions = 3;
	REFUSED(planted, PLANTED_LONG_FORK, "long-fork takes 4 sessions");
	d.transactions = 5;
	REFUSED(length, 0, "operations in a transaction, not 0");
	REFUSED(length, UINT32_MAX, "operations in a transaction");
#undef REFUSED
}
END_TEST

START_TEST(extreme_settings)
{
	struct workload w = workload_default();
	w.ops = 1;
	w.keys = 1;
	w.lag = 0;
	for (w.level = 0; w.level < LEVEL_COUNT; w.level++)
		for (w.sessions = 1; w.sessions < 7; w.sessions++) {
			struct trace *t = generated(&w);
			ck_assert_uint_eq(t->op_count, 1);
			ck_assert_uint_eq(levels_of(t),
			                  (1u << LEVEL_COUNT) - 1);
			trace_free(t);
		}
	w.level = LEVEL_SI;
	w.ops = 30;
	for (int reads = 0; reads < 2; reads++) {
		w.reads = reads;
		struct trace *t = generated(&w);
		for (uint32_t o = 0; o < t->op_count; o++)
			ck_assert_int_eq(t->ops[o].kind == EVENT_READ, reads);
		trace_free(t);
	}
	w.aborts = 1;
	w.reads = 0.5;
	struct trace *t = generated(&w);
	for (uint32_t o = 0; o < t->op_count; o++)
		if (t->ops[o].kind == EVENT_READ)
			ck_assert(t->ops[o].from == TRACE_INIT ||
			          t->ops[o].from == TRACE_SELF);
	trace_free(t);
}
END_TEST

/* Reads of transactions that abort do not count; the rest is as before. */
START_TEST(writes_of_aborted_only)
{
	struct workload w = workload_default();
	w.aborts = 0.3;
	w.ops = 400;
	struct trace *all = generated(&w);
	w.writes_only = true;
	struct trace *some = generated(&w);
	uint32_t dropped = 0;
	ck_assert_uint_eq(all->op_count, some->op_count);
	for (uint32_t i = 1; i < all->transaction_count; i++) {
		const struct trace_transaction *x = &all->transactions[i];
		ck_assert_int_eq(x->status, some->transactions[i].status);
		for (uint32_t o = 0; o < x->op_count; o++) {
			const struct trace_op *a = &all->ops[x->first_op + o];
			const struct trace_op *b = &some->ops[x->first_op + o];
			ck_assert_int_eq(a->value, b->value);
			if (a->kind == EVENT_WRITE) continue;
			ck_assert_uint_ne(a->from, TRACE_NOBODY);
			if (x->status == TRACE_ABORTED) {
				ck_assert_uint_eq(b->from, TRACE_NOBODY);
				dropped++;
			}
		}
	}
	ck_assert_uint_gt(dropped, 20);
	trace_free(all);
	trace_free(some);
}
END_TEST

/* Runs the transactions in their order: each reads what was written last. */
START_TEST(large_and_serial)
{
	struct workload w = workload_default();
	struct diags d = { 0 };
	uint32_t *order, count;
	w.ops = 1000000;
	w.sessions = 50;
	w.length = 10;
	w.keys = 1000;
	struct trace *t = workload_run_ordered(&w, &order, &count, &d);
	int64_t *value = mem_take0(t->key_count, sizeof *value);
	ck_assert_uint_eq(t->op_count, 1000000);
	ck_assert_uint_eq(count, 100001);
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_transaction *x = &t->transactions[order[i]];
		for (uint32_t o = 0; o < x->op_count; o++) {
			const struct trace_op *op = &t->ops[x->first_op + o];
			if (op->kind == EVENT_WRITE) value[op->key] = op->value;
			ck_assert(op->value == value[op->key]);
		}
	}
	free(value);
	free(order);
	trace_free(t);
}
END_TEST

void add_generate_tests(TCase *tests)
{
	tcase_add_loop_test(tests, levels_hold, 0, 2 * SHAPES);
	tcase_add_test(tests, stronger_levels_fail);
	tcase_add_loop_test(tests, commit_order_shows_level, 0, SHAPES);
	tcase_add_loop_test(tests, mixes_and_locks, 0, SHAPES);
	tcase_add_test(tests, aborted_beside_snapshots);
	tcase_add_test(tests, mixes_are_not_dull);
	tcase_add_loop_test(tests, planted_anomaly_alone, 0, PLANTED_COUNT);
	tcase_add_test(tests, planted_anomalies_are_named);
	tcase_add_test(tests, words_of_anomalies);
	tcase_add_loop_test(tests, anomaly_is_added, 0, 20);
	tcase_add_test(tests, seed_decides);
	tcase_add_test(tests, seeds_are_for_ever);
	tcase_add_test(tests, sizes_as_asked);
	tcase_add_test(tests, fractions_as_asked);
	tcase_add_loop_test(tests, zipf_is_zipf, 0, 5);
	tcase_add_test(tests, settings_out_of_range);
	tcase_add_test(tests, extreme_settings);
	tcase_add_test(tests, writes_of_aborted_only);
	tcase_add_test(tests, large_and_serial);
}
