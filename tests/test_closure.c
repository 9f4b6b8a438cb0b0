/* The incremental form of none, rc, ra and cc: a random history is appended
 * read by read, and each time the valid writers are held against the
 * definition. Then parts are taken back and appended again. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/closure.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

struct growth {
	struct closure closure;
	struct region region;
	const struct history *whole;
	struct history part; /* the appended part, as a history */
	enum level level;
	uint32_t written[64][8]; /* per transaction */
	uint32_t shift; /* of all numbers but init's, so that rows grow */
};

static uint32_t number_of(const struct growth *g, uint32_t t)
{
	return t ? t + g->shift : 0;
}

/* The first `count` transactions of the order, of the last one only
 * `events` events: the others are emptied, which leaves them harmless. */
static void take_part(struct growth *g, uint32_t count, uint32_t events)
{
	const struct history *h = g->whole;
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		uint32_t t = h->order[i];
		g->part.transactions[t] = h->transactions[t];
		if (i + 1 == count)
			g->part.transactions[t].event_count = events;
		if (i + 1 > count) g->part.transactions[t].event_count = 0;
	}
}

/* Would the part be allowed with this event reading from `from`? */
static bool twin_may_read(struct growth *g, uint32_t t, uint32_t event,
                          uint32_t from)
{
	struct event *e = &g->whole->transactions[t].events[event];
	uint32_t old = e->from;
	e->from = from;
	bool allowed = twin_allows(g->level, &g->part);
	e->from = old;
	return allowed;
}

static bool is_before(const struct history *h, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		if (h->order[i] == b) return false;
		if (h->order[i] == a) return true;
	}
	return false;
}

/* The valid writers, asked for in one of two ways. */
static word *valid_row(struct closure *c, uint32_t key)
{
	word *row = calloc(BITS_WORDS(c->n), sizeof *row);
	uint32_t count;
	const uint32_t *list = closure_list_writers(c, key, STRENGTH_PLAIN,
	                                            UINT32_MAX, &count);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(!i ||
		          c->position[list[i - 1]] < c->position[list[i]]);
		bits_add(row, list[i]);
	}
	if (!c->forward) {
		word *same = calloc(c->words, sizeof *same);
		closure_valid_writers(c, key, STRENGTH_PLAIN, same);
		ck_assert(!memcmp(row, same, c->words * sizeof *row));
		free(same);
	}
	return row;
}

static void compare_writers(struct growth *g, uint32_t t, uint32_t event)
{
	const struct history *h = g->whole;
	struct closure *c = &g->closure;
	uint32_t key = h->transactions[t].events[event].key;
	word *valid = valid_row(c, key);
	for (uint32_t from = 0; from < h->transaction_count; from++) {
		bool expected = is_before(h, from, t) &&
		                twin_writes(h, from, key) &&
		                twin_may_read(g, t, event, from);
		uint32_t number = number_of(g, from);
		bool is_valid = number < c->n && bits_has(valid, number);
		if (is_valid != expected)
			ck_abort_msg("%s: %s, transaction %u, event %u from %u"
			             ": should be %s",
			             history_to_notation(h),
			             level_word(g->level), t, event, from,
			             expected ? "valid" : "invalid");
		if (is_before(h, from, t) && twin_writes(h, from, key))
			ck_assert(closure_may_read(c, key, STRENGTH_PLAIN,
			                           number) == expected);
	}
	free(valid);
}

static void append_end(struct growth *g, uint32_t t)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < g->whole->key_count; k++)
		if (twin_writes(g->whole, t, k)) g->written[t][count++] = k;
	closure_end(&g->closure, g->written[t], count);
}

/* Reads and ends transaction number `place` of the order, which is pending. */
static void append_reads(struct growth *g, uint32_t place, bool compare)
{
	const struct history *h = g->whole;
	uint32_t t = h->order[place];
	const struct transaction *w = &h->transactions[t];
	for (uint32_t i = 0; i < w->event_count; i++) {
		const struct event *e = &w->events[i];
		if (e->kind != EVENT_READ || e->from == HISTORY_SELF) continue;
		take_part(g, place + 1, i + 1);
		if (compare) compare_writers(g, t, i);
		closure_read(&g->closure, e->key, number_of(g, e->from));
	}
	append_end(g, t);
}

static void append(struct growth *g, uint32_t place)
{
	const struct history *h = g->whole;
	uint32_t t = h->order[place];
	const struct transaction *w = &h->transactions[t];
	closure_begin(&g->closure, number_of(g, t),
	              w->index ? number_of(g, t - 1) : 0,
	              h->sessions[w->session].after_all);
	append_reads(g, place, true);
}

static uint32_t external_reads(const struct history *h, uint32_t count)
{
	uint32_t reads = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct transaction *w = &h->transactions[h->order[i]];
		for (uint32_t e = 0; e < w->event_count; e++)
			reads += w->events[e].kind == EVENT_READ &&
			         w->events[e].from != HISTORY_SELF;
	}
	return reads;
}

/* Takes the reads of some last transactions back, once they have ended. */
static void append_all(struct growth *g, uint32_t from, struct rng *r)
{
	const struct history *h = g->whole;
	for (uint32_t i = from; i < h->transaction_count; i++) {
		append(g, i);
		if (rng_below(r, 2)) continue;
		closure_rewind(&g->closure, i + 1, external_reads(h, i), true);
		append_reads(g, i, rng_below(r, 2));
	}
}

/* Snapshots are kept of every transaction, or of every third one; all, the
 * newest, or none. */
static void choose_snapshots(struct closure *c, struct rng *r)
{
	uint32_t mode = rng_below(r, 3);
	if (rng_below(r, 2)) c->snapshot_every = 3;
	if (mode) closure_go_forward(c, mode == 1);
}

static void compare_rows(const struct closure *a, const struct closure *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t t = a->order[i];
		size_t size = a->words * sizeof(word);
		ck_assert_uint_eq(t, b->order[i]);
		ck_assert(!memcmp(closure_row(a, a->past, t),
		                  closure_row(b, b->past, t), size));
		if (a->level == LEVEL_NONE) continue;
		ck_assert(!memcmp(closure_row(a, a->reach, t),
		                  closure_row(b, b->reach, t), size));
		ck_assert(!memcmp(closure_row(a, a->into, t),
		                  closure_row(b, b->into, t), size));
	}
	ck_assert(!memcmp(a->writers, b->writers,
	                  (size_t)a->key_count * a->words * sizeof(word)));
}

/* A copy of the first `keep` transactions is what rewinding to them leaves;
 * `keep` of them are left. */
static void copy_and_rewind(struct growth *g, uint32_t keep, struct rng *r)
{
	struct closure copy, *c = &g->closure;
	closure_init(&copy, g->level, rng_below(r, 2) * c->n, &g->region);
	bool copies = !c->one_snapshot && !c->forward;
	if (copies) closure_copy_prefix(&copy, c, keep);
	closure_rewind(c, keep, external_reads(g->whole, keep), false);
	if (copies) compare_rows(c, &copy);
	closure_free(&copy);
}

static void grow(const struct history *h, enum level l, struct rng *r)
{
	struct growth *g = calloc(1, sizeof *g);
	g->whole = h;
	g->level = l;
	g->part = *h;
	g->part.transactions =
		calloc(h->transaction_count, sizeof *h->transactions);
	region_init(&g->region);
	g->shift = rng_below(r, 2) ? 0 : rng_below(r, 200);
	closure_init(&g->closure, l, rng_below(r, 2) ? 0 : h->transaction_count,
	             &g->region);
	for (uint32_t k = 0; k < h->key_count; k++)
		closure_know_key(&g->closure, k);
	choose_snapshots(&g->closure, r);
	if (rng_below(r, 2))
		closure_go_sparse(&g->closure,
		                  rng_below(r, g->shift + 8) * rng_below(r, 2));
	append_all(g, 1, r);
	uint32_t keep = 1 + rng_below(r, h->transaction_count);
	copy_and_rewind(g, keep, r);
	append_all(g, keep, r);
	closure_free(&g->closure);
	region_free(&g->region);
	free(g->part.transactions);
	free(g);
}

START_TEST(valid_writers)
{
	static const enum level levels[] = { LEVEL_NONE, LEVEL_RC, LEVEL_RA,
		                             LEVEL_CC };
	struct rng r = { first_seed() * 6000 + (uint64_t)_i };
	for (int i = 0; i < 1000; i++) {
		struct history_shape shape = { .sessions = 2 + rng_below(&r, 4),
			                       .transactions =
			                               2 + rng_below(&r, 6),
			                       .events = 1 + rng_below(&r, 4),
			                       .keys = 1 + rng_below(&r, 4) };
		struct history *h = history_random(&r, shape);
		for (int l = 0; l < 4; l++)
			if (twin_allows(levels[l], h)) grow(h, levels[l], &r);
		history_free(h);
	}
}
END_TEST

/* ---- Forward, and far ---- */

enum { WRITES = 3 };

/* Random transactions, each reading from any writer it may; what was wrong is
 * told by the closures that are driven alike. */
struct drive {
	struct rng *rng;
	uint32_t sessions, keys;
	uint32_t most; /* writers asked for, of each session */
	bool compares; /* closures 0 and 1 */
	uint32_t count, closures;
	struct closure *closure;
	struct region region;
	uint32_t *last; /* by session */
	uint32_t (*written)[WRITES];
};

static void drive_begin(struct drive *d, uint32_t transactions)
{
	region_init(&d->region);
	d->last = calloc(d->sessions, sizeof *d->last);
	d->written = calloc(transactions + 1, sizeof *d->written);
	d->count = 1;
}

static void drive_end(struct drive *d)
{
	for (uint32_t i = 0; i < d->closures; i++) closure_free(&d->closure[i]);
	region_free(&d->region);
	free(d->last);
	free(d->written);
}

/* One of the writers that the first closure lists. */
static uint32_t any_writer(struct drive *d, uint32_t key)
{
	uint32_t count;
	const uint32_t *list = closure_list_writers(
		&d->closure[0], key, STRENGTH_PLAIN, d->most, &count);
	ck_assert_uint_gt(count, 0);
	return list[rng_below(d->rng, count)];
}

static void drive_reads(struct drive *d, uint32_t reads)
{
	for (uint32_t i = 0; i < reads; i++) {
		uint32_t key = rng_below(d->rng, d->keys);
		for (uint32_t k = 0; k < d->closures; k++)
			closure_know_key(&d->closure[k], key);
		uint32_t from = any_writer(d, key);
		for (uint32_t k = 0; k < d->closures; k++)
			closure_read(&d->closure[k], key, from);
	}
}

static uint32_t choose_writes(struct drive *d, uint32_t t)
{
	uint32_t count = rng_below(d->rng, WRITES + 1);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = rng_below(d->rng, d->keys);
		for (uint32_t k = 0; k < i; k++)
			if (d->written[t][k] == key) return i;
		d->written[t][i] = key;
		for (uint32_t k = 0; k < d->closures; k++)
			closure_know_key(&d->closure[k], key);
	}
	return count;
}

static uint32_t begin_transaction(struct drive *d, bool after_all)
{
	uint32_t t = d->count++;
	uint32_t session = after_all ? 0 : rng_below(d->rng, d->sessions);
	for (uint32_t k = 0; k < d->closures; k++)
		closure_begin(&d->closure[k], t, d->last[session], after_all);
	d->last[session] = t;
	return t;
}

static void end_transaction(struct drive *d, uint32_t t)
{
	uint32_t count = choose_writes(d, t);
	for (uint32_t k = 0; k < d->closures; k++) {
		struct closure *c = &d->closure[k];
		if (!closure_may_end(c, d->written[t], count)) count = 0;
	}
	for (uint32_t k = 0; k < d->closures; k++)
		closure_end(&d->closure[k], d->written[t], count);
}

/* The index against the rows: of each key the same writers. */
static void compare_lists(struct drive *d)
{
	struct closure *a = &d->closure[0], *b = &d->closure[1];
	if (!d->compares) return;
	for (uint32_t key = 0; key < d->keys; key++) {
		uint32_t i = 0, m, n, seen = 0;
		closure_know_key(a, key);
		closure_know_key(b, key);
		const uint32_t *y = closure_list_writers(b, key, STRENGTH_PLAIN,
		                                         UINT32_MAX, &n);
		const uint32_t *x = closure_list_writers(a, key, STRENGTH_PLAIN,
		                                         UINT32_MAX, &m);
		ck_assert_uint_eq(m, n);
		for (; i < n; i++) ck_assert_uint_eq(x[i], y[i]);
		for (i = 0; i < b->count; i++) {
			uint32_t t = b->order[i];
			bool writes = closure_writes(b, key, t);
			ck_assert(closure_writes(a, key, t) == writes);
			if (!writes) continue;
			bool may = closure_may_read(b, key, STRENGTH_PLAIN, t);
			ck_assert(closure_may_read(a, key, STRENGTH_PLAIN, t) ==
			          may);
			seen += may;
		}
		ck_assert_uint_eq(seen, n);
	}
}

static void rewind_both(struct drive *d, uint32_t count, uint32_t reads,
                        bool pending)
{
	for (uint32_t k = 0; k < 2; k++)
		closure_rewind(&d->closure[k], count, reads, pending);
}

static void drive_one(struct drive *d, bool after_all)
{
	struct rng *r = d->rng;
	const struct closure *c = &d->closure[1];
	uint32_t t = begin_transaction(d, after_all), first = c->read_count;
	drive_reads(d, rng_below(r, 5));
	if (!rng_below(r, 4)) compare_lists(d);
	if (!rng_below(r, 3)) {
		uint32_t made = c->read_count - first;
		rewind_both(d, c->count, first + rng_below(r, made + 1), true);
		if (!rng_below(r, 4)) compare_lists(d);
		drive_reads(d, rng_below(r, 3));
	}
	end_transaction(d, t);
	if (rng_below(r, 4)) return;
	rewind_both(d, c->count, first, true);
	drive_reads(d, rng_below(r, 5));
	end_transaction(d, t);
}

START_TEST(index_is_rows)
{
	struct rng r = { first_seed() * 6000 + (uint64_t)_i };
	uint64_t rounds = is_quick() ? 10 : 60;
	for (uint64_t i = 0; i < rounds; i++) {
		struct closure both[2];
		struct drive d = { .rng = &r,
			           .sessions = 2 + rng_below(&r, 12),
			           .keys = 1 + rng_below(&r, 6),
			           .most = UINT32_MAX,
			           .compares = true,
			           .closures = 2,
			           .closure = both };
		uint32_t count = 20 + rng_below(&r, 200);
		drive_begin(&d, count + 3);
		for (int k = 0; k < 2; k++)
			closure_init(&both[k], (enum level)_i, 0, &d.region);
		closure_go_sparse(&both[0], rng_below(&r, 2) * 50);
		for (uint32_t k = 0; k < count; k++) drive_one(&d, false);
		d.last[0] = 0;
		for (uint32_t k = 0; k < 3; k++) drive_one(&d, true);
		drive_end(&d);
	}
}
END_TEST

/* What is made in order satisfies the level, at every step. */
START_TEST(in_order)
{
	struct rng r = { first_seed() * 6000 + (uint64_t)_i };
	struct level_scratch *scratch = level_scratch_new();
	for (uint64_t i = 0; i < (is_quick() ? 100 : 1000); i++) {
		struct closure both[2];
		struct drive d = { .rng = &r,
			           .sessions = 1 + rng_below(&r, 5),
			           .keys = 1 + rng_below(&r, 4),
			           .most = UINT32_MAX,
			           .closures = 2,
			           .closure = both };
		uint32_t count = 2 + rng_below(&r, 12);
		drive_begin(&d, count + 1);
		for (int k = 0; k < 2; k++)
			closure_init(&both[k], LEVEL_NONE, 0, &d.region);
		closure_go_in_order(&both[0], (enum level)_i);
		for (uint32_t k = 0; k < count; k++) {
			struct relation relation;
			drive_one(&d, false);
			closure_relation(&both[1], &relation);
			ck_assert(level_allows((enum level)_i, &relation,
			                       scratch));
		}
		drive_end(&d);
	}
	level_scratch_free(scratch);
}
END_TEST

/* A great many transactions in fifty sessions. */
START_TEST(far)
{
	static const enum level levels[] = { LEVEL_CC, LEVEL_RA, LEVEL_RC,
		                             LEVEL_SI };
	struct rng r = { first_seed() };
	struct closure c;
	uint32_t count = is_quick() ? 60000 : 1000000;
	struct drive d = { .rng = &r,
		           .sessions = 50,
		           .keys = 10000,
		           .most = 8,
		           .closures = 1,
		           .closure = &c };
	drive_begin(&d, count);
	closure_init(&c, levels[_i], 0, &d.region);
	if (levels[_i] > LEVEL_CC)
		closure_go_in_order(&c, levels[_i]);
	else
		closure_go_sparse(&c, 1024);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t t = begin_transaction(&d, false);
		drive_reads(&d, 2);
		end_transaction(&d, t);
	}
	ck_assert_uint_eq(c.count, count + 1);
	ck_assert_uint_lt(closure_bytes(&c) / count, 620);
	drive_end(&d);
}
END_TEST

void add_closure_tests(TCase *tests)
{
	tcase_add_loop_test(tests, valid_writers, 0, 4);
	tcase_add_loop_test(tests, index_is_rows, LEVEL_NONE, LEVEL_CC + 1);
	tcase_add_loop_test(tests, in_order, LEVEL_PC, LEVEL_SER + 1);
	tcase_add_loop_test(tests, far, 0, 4);
}
