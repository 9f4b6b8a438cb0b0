/* The least number of stale reads, against all orders of the transactions. */
#include <stdio.h>
#include <stdlib.h>

#include "axioms/allows.h"
#include "axioms/dead_ends.h"
#include "axioms/level.h"
#include "axioms/staleness.h"
#include "history/relation.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_staleness.h"

enum { RUNS = 10, HISTORIES = 6000 }; /* histories per run */

static struct history_shape random_shape(struct rng *r)
{
	return (struct history_shape){ .sessions = 2 + rng_below(r, 5),
		                       .transactions = 3 + rng_below(r, 5),
		                       .events = 2 + rng_below(r, 4),
		                       .keys = 1 + rng_below(r, 4),
		                       .causal = rng_below(r, 2) };
}

static uint32_t count_reads(const struct history *h)
{
	uint32_t count = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			const struct event *e = &h->transactions[t].events[i];
			count += e->kind == EVENT_READ &&
			         e->from != HISTORY_SELF;
		}
	return count;
}

/* Larger ones: mostly a read takes the newest value in the history's order. */
static struct history *random_large(struct rng *r)
{
	struct history_shape shape = random_shape(r);
	shape.transactions += 7;
	shape.keys += 2;
	shape.causal = false;
	struct history *h = history_random(r, shape);
	uint32_t percent = rng_below(r, 100);
	for (uint32_t k = 1; k < h->transaction_count; k++) {
		struct transaction *t = &h->transactions[h->order[k]];
		for (uint32_t i = 0; i < t->event_count; i++) {
			struct event *e = &t->events[i];
			uint32_t last = k - 1;
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF ||
			    rng_below(r, 100) >= percent)
				continue;
			while (!twin_writes(h, h->order[last], e->key)) last--;
			e->from = h->order[last];
		}
	}
	return h;
}

/* Every bound, in an order that does not help: memory is reused. */
static void same_at_every_bound(struct staleness *s, const struct history *h,
                                uint32_t least, struct rng *rng)
{
	struct relation *r = relation_of_history(h);
	uint32_t bounds = count_reads(h) + 2;
	uint32_t first = rng_below(rng, bounds);
	for (uint32_t i = 0; i < bounds; i++) {
		uint32_t bound = (first + i) % bounds;
		if (staleness_within(s, r, bound) == (bound >= least)) continue;
		ck_abort_msg("%s: %u stale reads are said %sto suffice, "
		             "%u are needed",
		             history_to_notation(h), bound,
		             bound >= least ? "not " : "", least);
	}
	relation_free(r);
}

START_TEST(random_histories)
{
	struct rng rng = { first_seed() * 1000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	uint32_t seen[5] = { 0 };
	for (int i = 0; i < fewer(HISTORIES); i++) {
		struct history *h = history_random(&rng, random_shape(&rng));
		uint32_t least = twin_staleness(h);
		same_at_every_bound(s, h, least, &rng);
		seen[least < 4 ? least : 4]++;
		history_free(h);
	}
	for (int i = 0; i < 5; i++)
		ck_assert_msg((int)seen[i] > fewer(HISTORIES) / 100,
		              "hardly any history needs %d", i);
	staleness_free(s);
}
END_TEST

START_TEST(none_is_serializable)
{
	struct rng rng = { first_seed() * 2000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	struct level_scratch *scratch = level_scratch_new();
	uint32_t serializable_count = 0;
	for (int i = 0; i < fewer(HISTORIES); i++) {
		struct history *h = random_large(&rng);
		struct relation *r = relation_of_history(h);
		bool serializable = level_allows(LEVEL_SER, r, scratch);
		ck_assert_msg(staleness_within(s, r, 0) == serializable, "%s",
		              history_to_notation(h));
		serializable_count += serializable;
		relation_free(r);
		history_free(h);
	}
	ck_assert_uint_gt(serializable_count, fewer(HISTORIES) / 20);
	ck_assert_uint_lt(serializable_count, fewer(HISTORIES) / 2);
	level_scratch_free(scratch);
	staleness_free(s);
}
END_TEST

/* Each prefix of a history's own order needs no more than the whole. */
START_TEST(prefixes_need_no_more)
{
	struct rng rng = { first_seed() * 3000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	for (int i = 0; i < fewer(HISTORIES) / 10; i++) {
		struct history *h = random_large(&rng);
		struct relation *r = relation_of_history(h);
		uint32_t reads = r->read_count, bound = 0;
		while (!staleness_within(s, r, bound)) bound++;
		ck_assert_uint_le(bound, reads);
		while (--r->order_count) {
			uint32_t gone = r->order[r->order_count], kept = 0;
			for (uint32_t k = 0; k < r->read_count; k++)
				if (r->reads[k].reader != gone)
					r->reads[kept++] = r->reads[k];
			r->read_count = kept;
			for (uint32_t x = 0; x < r->key_count; x++)
				bits_drop(r->writers + (size_t)x * r->words,
				          gone);
			ck_assert(staleness_within(s, r, bound));
			while (bound && staleness_within(s, r, bound - 1))
				bound--;
		}
		ck_assert_uint_eq(bound, 0);
		relation_free(r);
		history_free(h);
	}
	staleness_free(s);
}
END_TEST

START_TEST(many_transactions)
{
	struct rng rng = { first_seed() * 4000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	for (int i = 0; i < fewer(HISTORIES) / 20; i++) {
		struct history *h = history_random(&rng, random_shape(&rng));
		struct history *p = history_padded(h, 57 + rng_below(&rng, 90));
		same_at_every_bound(s, p, twin_staleness(h), &rng);
		history_free(p);
		history_free(h);
	}
	staleness_free(s);
}
END_TEST

/* Pairs of sessions that increment a counter of their own at the same time, and
 * a third that reads the lost one: each needs one stale read. */
static struct history *lost_updates(uint32_t pairs)
{
	size_t room = (size_t)pairs * 80 + 1;
	char *text = malloc(room), *end = text;
	for (uint32_t i = 0; i < pairs; i++)
		end += snprintf(end, room - (size_t)(end - text),
		                "%sA%u: k%u<0 Wk%u | B%u: k%u<0 Wk%u "
		                "; C%u: k%u<A%u",
		                i ? " | " : "", i, i, i, i, i, i, i, i, i);
	struct history *h = history_from_notation(text);
	free(text);
	return h;
}

START_TEST(independent_conflicts_add_up)
{
	struct staleness *s = staleness_new();
	for (uint32_t pairs = 1; pairs <= 40; pairs += 13) {
		struct history *h = lost_updates(pairs);
		struct relation *r = relation_of_history(h);
		ck_assert(!staleness_within(s, r, pairs - 1));
		ck_assert(staleness_within(s, r, pairs));
		relation_free(r);
		history_free(h);
	}
	ck_assert_uint_lt(staleness_bytes(s), 4 << 20);
	staleness_free(s);
}
END_TEST

START_TEST(known_orders_are_heeded)
{
	struct rng rng = { first_seed() * 5000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	uint32_t matters = 0;
	for (int i = 0; i < fewer(HISTORIES) / 4; i++) {
		struct history *h = history_random(&rng, random_shape(&rng));
		uint32_t free_least = twin_staleness(h);
		uint32_t n = h->transaction_count;
		h->known = region_take(&h->region, 3 * sizeof *h->known);
		for (int tries = 0; n > 1 && tries < 3; tries++) {
			uint32_t a = 1 + rng_below(&rng, n - 1);
			uint32_t b = 1 + rng_below(&rng, n - 1);
			uint32_t x = rng_below(&rng, h->key_count);
			if (a != b && twin_writes(h, a, x) &&
			    twin_writes(h, b, x))
				h->known[h->known_count++] =
					(struct history_known){ a, b, x };
		}
		uint32_t least = twin_staleness(h);
		same_at_every_bound(s, h, least, &rng);
		matters += least != free_least;
		history_free(h);
	}
	ck_assert_uint_gt(matters, fewer(HISTORIES) / 100);
	staleness_free(s);
}
END_TEST

/* Searches that come to the same place several times, at other prices. */
START_TEST(longer_histories)
{
	struct rng rng = { first_seed() * 6000 + (uint64_t)_i };
	struct staleness *s = staleness_new();
	for (int i = 0; i < fewer(HISTORIES) / 40; i++) {
		struct history_shape shape = { 4, 12, 4, 3, false };
		struct history *h = history_random(&rng, shape);
		same_at_every_bound(s, h, twin_staleness(h), &rng);
		history_free(h);
	}
	staleness_free(s);
}
END_TEST

/* Against an array: places of one word or three, of few values each. */
START_TEST(failures_are_remembered)
{
	enum { VALUES = 4096, BUDGETS = 5 };
	struct rng rng = { first_seed() * 7000 + (uint64_t)_i };
	struct dead_ends f = { 0 };
	uint32_t *known = calloc(VALUES, sizeof *known);
	for (int round = 0; round < 20; round++) {
		unsigned words = rng_below(&rng, 2) ? 3 : 1;
		uint32_t calls = 1 + rng_below(&rng, 4 * VALUES);
		for (int i = 0; i < VALUES; i++) known[i] = 0;
		dead_ends_begin(&f, words);
		for (uint32_t i = 0; i < calls; i++) {
			uint32_t v = rng_below(&rng, VALUES);
			uint32_t budget = rng_below(&rng, BUDGETS);
			word place[3] = { v, 7, 7 };
			if (words == 3) {
				place[0] = v & 15;
				place[1] = v >> 4 & 15;
				place[2] = v >> 8;
			}
			ck_assert(dead_ends_has(&f, place, words, budget) ==
			          (budget < known[v]));
			dead_ends_add(&f, place, words, budget);
			if (known[v] <= budget) known[v] = budget + 1;
		}
	}
	free(known);
	dead_ends_free(&f);
}
END_TEST

void add_staleness_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_histories, 0, RUNS);
	tcase_add_loop_test(tests, none_is_serializable, 0, RUNS);
	tcase_add_loop_test(tests, prefixes_need_no_more, 0, RUNS);
	tcase_add_loop_test(tests, many_transactions, 0, RUNS);
	tcase_add_loop_test(tests, known_orders_are_heeded, 0, RUNS);
	tcase_add_loop_test(tests, longer_histories, 0, RUNS);
	tcase_add_loop_test(tests, failures_are_remembered, 0, RUNS);
	tcase_add_test(tests, independent_conflicts_add_up);
}
