/* What traces of lists tell, against a simple twin as well. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "suites.h"
#include "trace_script.h"

/* ---- lists ---- */

static void expect_list(const char *script, const char *elements,
                        const char *expected)
{
	struct trace_builder *b = script_run(script, list_rules());
	add_versions(b, "x", elements);
	expect_finished(b, expected);
}

START_TEST(orders_of_lists)
{
	expect_list("A1:ax=1 A1:ax=2 B2:ax=3 C3:lx=3 C4:lx=nil C5:lx=2", "123",
	            "A [1 ax=1- ax=2] | B [2 ax=3] | "
	            "C [3 lx=3<2] [4 lx=null<0] [5 lx=2<1]; 1 -x-> 2");
	/* what was not read comes last; what aborted or is unknown, not */
	expect_list("A1:ax=1 B2:ax=2 C3:ax=3 C3:ax=7 D4!:ax=4 E5?:ax=5 F6:lx=2",
	            "12",
	            "A [1 ax=1] | B [2 ax=2] | C [3 ax=3- ax=7] | D [4! ax=4] "
	            "| E [5? ax=5] | F [6 lx=2<2]; 1 -x-> 2; 2 -x-> 3");
	/* an element in the middle was read too */
	expect_list("A1?:ax=1 B2:ax=2 C3:lx=2", "12",
	            "A [1 ax=1] | B [2 ax=2] | C [3 lx=2<2]; 1 -x-> 2");
	/* own elements */
	expect_list("A1:ax=1 B2:lx=1 B2:ax=2 B2:lx=2 B2:ax=3", "12",
	            "A [1 ax=1] | B [2 lx=1<1 ax=2- lx=2<s ax=3]; 1 -x-> 2");
	/* mixed appends order both ways: once each */
	expect_list("A1:ax=1 A1:ax=3 A1:ax=5 B2:ax=2 B2:ax=4 C3:lx=5", "12345",
	            "A [1 ax=1- ax=3- ax=5] | B [2 ax=2- ax=4] | "
	            "C [3 lx=5<1]; 1 -x-> 2; 2 -x-> 1");
	expect_list("A1:ax=1 A1:ax=2 B2:ax=3 C3:lx=1", "1",
	            "A [1 ax=1- ax=2] | B [2 ax=3] | C [3 lx=1<1]; "
	            "G1b 3 lx=1<1 by 1 other ax=1-; 1 -x-> 2");
	expect_list("A1:ax=1 B2:lx=nil", "", "A [1 ax=1] | B [2 lx=null<0]");
}
END_TEST

START_TEST(bad_elements_of_lists)
{
	expect_list("A1:ax=1 B2!:ax=2 C3:ax=3 D4:lx=1 D5:lx=2 D6:lx=3", "123",
	            "A [1 ax=1] | B [2! ax=2] | C [3 ax=3] | "
	            "D [4 lx=1<1] [5 lx=2<?] [6 lx=3<3]; "
	            "G1a 5 lx=2<? by 2 other ax=2; "
	            "G1a 6 lx=3<3 by 2 other ax=2; 1 -x-> 3");
	expect_list("A1:ax=1 C3:ax=3 D4:lx=1 D6:lx=3", "193",
	            "A [1 ax=1] | C [3 ax=3] | D [4 lx=1<1] [6 lx=3<3]; "
	            "thin-air 6 lx=3<3; 1 -x-> 3");
}
END_TEST

/* ---- the twin of lists ---- */

enum { LIST_TRANSACTIONS = 8, LIST_APPENDS = 12 };

/* Transactions 1 .. append elements 1 .. to one key; the list that was read
 * has some of the elements, some of which nobody or an aborted one wrote. */
struct lists {
	uint8_t status[LIST_TRANSACTIONS + 1];
	bool read[LIST_TRANSACTIONS + 1];  /* from: so it did commit */
	uint32_t writer[LIST_APPENDS + 1]; /* by element; 0: nobody */
	uint32_t versions[LIST_APPENDS], count;
	bool pairs[LIST_TRANSACTIONS + 1][LIST_TRANSACTIONS + 1];
};

static bool counts(const struct lists *l, uint32_t element)
{
	uint32_t t = l->writer[element];
	return t && (l->status[t] == TRACE_COMMITTED ||
	             (l->status[t] == TRACE_UNKNOWN && l->read[t]));
}

static void make_lists(struct lists *l, struct rng *r)
{
	*l = (struct lists){ .count = 0 };
	for (uint32_t t = 1; t <= LIST_TRANSACTIONS; t++)
		l->status[t] = rng_below(r, 4) ? TRACE_COMMITTED
		                               : (uint8_t)rng_below(r, 3);
	for (uint32_t e = 1; e <= LIST_APPENDS; e++) {
		if (rng_below(r, 12))
			l->writer[e] = 1 + rng_below(r, LIST_TRANSACTIONS);
		bool aborted = l->status[l->writer[e]] == TRACE_ABORTED;
		if (rng_below(r, aborted ? 5 : 3) == 0) {
			l->versions[l->count++] = e;
			uint32_t k = rng_below(r, l->count);
			l->versions[l->count - 1] = l->versions[k];
			l->versions[k] = e;
		}
	}
	for (uint32_t i = 0; i < l->count; i++)
		l->read[l->writer[l->versions[i]]] = true;
}

static bool is_listed(const struct lists *l, uint32_t element)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (l->versions[i] == element) return true;
	return false;
}

/* By definition: neighbours among the elements that count, and the last of
 * these before all that were not read. */
static void find_pairs(struct lists *l)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t e = l->versions[i];
		if (!counts(l, e)) continue;
		if (last && last != l->writer[e])
			l->pairs[last][l->writer[e]] = true;
		last = l->writer[e];
	}
	for (uint32_t e = 1; last && e <= LIST_APPENDS; e++)
		if (counts(l, e) && !is_listed(l, e) && l->writer[e] != last)
			l->pairs[last][l->writer[e]] = true;
}

/* Every prefix is read, by a transaction each. */
static struct trace *build_lists(const struct lists *l)
{
	struct trace_rules rules = list_rules();
	struct trace_builder *b = trace_builder_new("lists", &rules);
	struct trace_value values[LIST_APPENDS];
	struct diags d = { 0 };
	uint32_t key = trace_key_number(b, 5);
	for (uint32_t t = 1; t <= LIST_TRANSACTIONS; t++)
		trace_transaction_new(b, trace_session_number(b, 0),
		                      (enum trace_status)l->status[t], 0);
	for (uint32_t e = 1; e <= LIST_APPENDS; e++) {
		if (!l->writer[e]) continue;
		trace_op_add(b, l->writer[e], EVENT_WRITE, key,
		             trace_value_number(e), 0);
		trace_op_list(b);
	}
	for (uint32_t i = 0; i <= l->count; i++) {
		struct trace_value v = trace_value_null();
		if (i) v = trace_value_number(l->versions[i - 1]);
		uint32_t t = trace_transaction_new(
			b, trace_session_number(b, 1), TRACE_COMMITTED, 0);
		trace_op_add(b, t, EVENT_READ, key, v, 0);
		trace_op_list(b);
		if (i) values[i - 1] = v;
	}
	trace_key_versions(b, key, values, l->count);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(t);
	return t;
}

/* Does a read of the first `length` elements see one that should not be? And
 * is its last one not the last of its transaction? */
static bool sees_bad(const struct lists *l, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		uint32_t t = l->writer[l->versions[i]];
		if (!t || l->status[t] == TRACE_ABORTED) return true;
	}
	return false;
}

static bool sees_part(const struct lists *l, uint32_t length)
{
	uint32_t e = length ? l->versions[length - 1] : 0;
	for (uint32_t later = e + 1; e && later <= LIST_APPENDS; later++)
		if (l->writer[later] == l->writer[e]) return true;
	return false;
}

static void compare_lists(const struct lists *l, const struct trace *t)
{
	uint32_t pairs = 0;
	for (uint32_t a = 1; a <= LIST_TRANSACTIONS; a++)
		for (uint32_t b = 1; b <= LIST_TRANSACTIONS; b++)
			pairs += l->pairs[a][b];
	ck_assert_uint_eq(t->known_count, pairs);
	for (uint32_t i = 0; i < t->known_count; i++)
		ck_assert(l->pairs[t->known[i].from][t->known[i].to]);
	for (uint32_t i = 0; i <= l->count; i++) {
		bool bad = false, part = false;
		for (uint32_t k = 0; k < t->anomaly_count; k++) {
			const struct trace_anomaly *a = &t->anomalies[k];
			if (a->transaction != LIST_TRANSACTIONS + 1 + i)
				continue;
			if (a->kind == ANOMALY_INTERMEDIATE) part = true;
			if (a->kind == ANOMALY_ABORTED ||
			    a->kind == ANOMALY_THIN_AIR)
				bad = true;
		}
		ck_assert(bad == sees_bad(l, i));
		if (!bad) ck_assert(part == sees_part(l, i));
	}
}

START_TEST(lists_like_the_twin)
{
	struct rng r = trace_rng(400 + (uint64_t)_i);
	for (int i = 0; i < 10000; i++) {
		struct lists l;
		make_lists(&l, &r);
		find_pairs(&l);
		struct trace *t = build_lists(&l);
		compare_lists(&l, t);
		trace_free(t);
	}
}
END_TEST

void add_trace_lists_tests(TCase *tests)
{
	tcase_add_test(tests, orders_of_lists);
	tcase_add_test(tests, bad_elements_of_lists);
	tcase_add_loop_test(tests, lists_like_the_twin, 0, 2);
}
