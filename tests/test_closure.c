/* The incremental form of none, rc, ra and cc: a random history is appended
 * read by read, and each time the valid writers are held against the
 * definition. Then parts are taken back and appended again. */
#include <stdlib.h>
#include <string.h>

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

static void compare_writers(struct growth *g, uint32_t t, uint32_t event)
{
	const struct history *h = g->whole;
	struct closure *c = &g->closure;
	uint32_t key = h->transactions[t].events[event].key;
	word *valid = calloc(c->words, sizeof *valid);
	closure_valid_writers(c, key, valid);
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
			ck_assert(closure_may_read(c, key, number) == expected);
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
	if (!c->one_snapshot) closure_copy_prefix(&copy, c, keep);
	closure_rewind(c, keep, external_reads(g->whole, keep), false);
	if (!c->one_snapshot) compare_rows(c, &copy);
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

void add_closure_tests(TCase *tests)
{
	tcase_add_loop_test(tests, valid_writers, 0, 4);
}
