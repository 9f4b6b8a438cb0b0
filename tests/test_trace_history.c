/* Traces to histories and back, parts of them, and their facts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/facts.h"
#include "suites.h"
#include "trace_script.h"
#include "twin_axioms.h"

/* ---- histories ---- */

static struct history_shape random_shape(struct rng *r)
{
	return (struct history_shape){ .sessions = 1 + rng_below(r, 5),
		                       .transactions = 1 + rng_below(r, 12),
		                       .events = 1 + rng_below(r, 6),
		                       .keys = 1 + rng_below(r, 5) };
}

static void expect_same_history(const struct history *a,
                                const struct history *b)
{
	struct text t = { 0 }, u = { 0 };
	history_print_canonical(&t, a);
	history_print_canonical(&u, b);
	ck_assert_str_eq(text_get(&t), text_get(&u));
	text_free(&t);
	text_free(&u);
}

static bool is_order(const struct history *h, const uint32_t *order)
{
	uint32_t place[64] = { 0 };
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		ck_assert_uint_lt(order[i], h->transaction_count);
		ck_assert_uint_eq(place[order[i]], 0);
		place[order[i]] = i + 1;
	}
	for (uint32_t a = 0; a < h->transaction_count; a++)
		for (uint32_t b = 0; b < h->transaction_count; b++)
			if ((twin_session_order(h, a, b) ||
			     twin_write_read(h, a, b)) &&
			    place[a] >= place[b])
				return false;
	return order[0] == HISTORY_INIT;
}

START_TEST(histories_and_back)
{
	struct rng r = trace_rng(100 + (uint64_t)_i);
	for (int i = 0; i < 2000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		for (uint32_t k = 1; k < h->transaction_count; k++)
			h->transactions[k].own = (uint8_t)rng_below(&r, 9);
		if (i % 2) history_give_locks(&r, h);
		if (i % 4 == 3) history_give_up_locks(&r, h);
		struct trace *t = trace_of_history(h, "memory");
		uint32_t *numbers;
		struct history *back = trace_history(t, NULL, &numbers);
		expect_same_history(h, back);
		for (uint32_t k = 0; k < h->transaction_count; k++) {
			ck_assert_uint_eq(numbers[k], k);
			ck_assert_uint_eq(back->transactions[k].own,
			                  h->transactions[k].own);
		}
		ck_assert(is_order(back, back->order));
		ck_assert_uint_eq(t->anomaly_count, 0);
		free(numbers);
		trace_free(t);
		history_free(h);
		history_free(back);
	}
}
END_TEST

/* By value, what the names of sources say. */
START_TEST(values_tell_the_sources)
{
	struct rng r = trace_rng(200 + (uint64_t)_i);
	for (int i = 0; i < 2000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, "memory");
		struct trace_rules rules = plain_rules();
		rules.aborted_reads = true;
		struct trace_builder *b = trace_builder_new("memory", &rules);
		struct diags d = { 0 };
		for (uint32_t k = 0; k < h->key_count; k++)
			trace_key_named(b, h->keys[k].name,
			                strlen(h->keys[k].name));
		for (uint32_t s = 0; s < h->session_count; s++)
			trace_session_named(b, h->sessions[s].name,
			                    strlen(h->sessions[s].name));
		for (uint32_t n = 1; n < h->transaction_count; n++) {
			const struct transaction *w = &h->transactions[n];
			uint32_t handle = trace_transaction_new(
				b, w->session,
				w->aborted ? TRACE_ABORTED : TRACE_COMMITTED,
				0);
			for (uint32_t k = 0; k < w->event_count; k++)
				trace_op_add(b, handle, w->events[k].kind,
				             w->events[k].key,
				             trace_value_number(
						     w->events[k].value.i),
				             0);
		}
		struct trace *u = trace_builder_finish(b, &d);
		char *x = trace_dump(t), *y = trace_dump(u);
		ck_assert_str_eq(x, y);
		free(x);
		free(y);
		trace_free(t);
		trace_free(u);
		history_free(h);
	}
}
END_TEST

static void check_round_trip(struct value v, struct region *r)
{
	struct event e = { .kind = EVENT_WRITE, .value = v };
	struct transaction w[2] = {
		{ .name = "init", .session = UINT32_MAX },
		{ .name = "T", .event_count = 1, .events = &e }
	};
	struct history_session s = { .name = "a", .first = 1, .count = 1 };
	struct history_key k = { .name = "x", .initial = v };
	struct history h = { .session_count = 1,
		             .transaction_count = 2,
		             .key_count = 1,
		             .sessions = &s,
		             .transactions = w,
		             .keys = &k };
	(void)r;
	struct trace *t = trace_of_history(&h, NULL);
	struct history *back = trace_history(t, NULL, NULL);
	expect_same_history(&h, back);
	ck_assert(value_equal(back->keys[0].initial, v));
	ck_assert(value_equal(back->transactions[1].events[0].value, v));
	history_free(back);
	trace_free(t);
}

START_TEST(rich_values)
{
	struct region r;
	region_init(&r);
	struct value items[] = { value_int(3), value_string(&r, "b\"\n", 3),
		                 value_null(), value_bool(true),
		                 value_int(INT64_MIN) };
	struct value pairs[] = { value_string(&r, "set", 3), value_int(1),
		                 value_string(&r, "a", 1), items[1] };
	struct value all[8] = { value_null(),
		                value_bool(false),
		                value_string(&r, "", 0),
		                value_sequence(&r, VALUE_TUPLE, items, 5),
		                value_sequence(&r, VALUE_LIST, items, 0),
		                value_set(&r, items, 5),
		                value_record(&r, pairs, 2),
		                value_record(&r, pairs, 1) };
	for (int i = 0; i < 8; i++) check_round_trip(all[i], &r);
	check_round_trip(value_sequence(&r, VALUE_LIST, all, 8), &r);
	struct value deep = value_int(1);
	for (int i = 0; i < VALUE_DEPTH_MAX; i++)
		deep = value_sequence(&r, VALUE_TUPLE, &deep, 1);
	check_round_trip(deep, &r);
	region_free(&r);
}
END_TEST

/* What is no value of the language is shown as it is. */
START_TEST(foreign_values)
{
	static const char *const texts[] = { "1.5", "18446744073709551616",
		                             "[1,2]", "{\"x\":1}", "tru" };
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	struct diags d = { 0 };
	uint32_t t = trace_transaction_new(b, trace_session_number(b, 1), 0, 0);
	for (int i = 0; i < 5; i++)
		trace_op_add(b, t, EVENT_WRITE, trace_key_number(b, i),
		             trace_value_text(b, texts[i], strlen(texts[i])),
		             0);
	struct trace *r = trace_builder_finish(b, &d);
	struct history *h = trace_history(r, NULL, NULL);
	struct text out = { 0 };
	for (int i = 0; i < 5; i++) {
		value_print_json(&out, h->transactions[1].events[i].value);
		text_char(&out, ' ');
	}
	ck_assert_str_eq(text_get(&out),
	                 "\"1.5\" \"18446744073709551616\" {\"list\":[1,2]} "
	                 "{\"record\":{\"x\":1}} \"tru\" ");
	text_free(&out);
	history_free(h);
	trace_free(r);
}
END_TEST

/* ---- parts ---- */

static void expect_part(const struct trace *t, const struct trace_part *part,
                        const char *notation)
{
	struct history *h = trace_history(t, part, NULL);
	char *got = history_to_notation(h);
	ck_assert_str_eq(got, notation);
	ck_assert_ptr_nonnull(h->order);
	ck_assert(is_order(h, h->order));
	free(got);
	history_free(h);
}

START_TEST(parts)
{
	struct trace *t =
		script_trace("A1:wx=1 A1:rx=1 A2:ry=0 B3:rx=1 B3:wy=2 "
	                     "C4?:wy=9 C5!:wz=3 D6:rz=3 D6:ry=2",
	                     plain_rules());
	uint32_t some[] = { 1, 3, 6 };
	bool ops[] = { true, true, true, true, false, true, true, true, true };
	struct trace_part part = { .transactions = some, .count = 3 };
	expect_part(t, NULL,
	            "t1: Wx x<self ; t2: y<0 | t3: x<t1 Wy | "
	            "t5!: Wz | t6: y<t3");
	expect_part(t, &part, "t1: Wx x<self | t3: x<t1 Wy | t6: y<t3");
	part.ops = ops;
	expect_part(t, &part, "t1: Wx x<self | t3: x<t1 | t6:");
	ops[0] = false;
	expect_part(t, &part, "t1: | t3: | t6:");
	part = (struct trace_part){ .ops = ops };
	expect_part(t, &part, "t1: ; t2: y<0 | t3: | t5!: Wz | t6:");
	uint32_t *numbers;
	part = (struct trace_part){ .transactions = some + 2, .count = 1 };
	struct history *h = trace_history(t, &part, &numbers);
	ck_assert_uint_eq(h->session_count, 1);
	ck_assert_uint_eq(h->key_count, 0);
	ck_assert_str_eq(h->sessions[0].name, "D");
	ck_assert_uint_eq(numbers[1], 6);
	free(numbers);
	history_free(h);
	trace_free(t);
}
END_TEST

/* ---- the twin of parts ---- */

struct cut {
	const struct history *h;
	const struct trace *t;
	bool transactions[64];
	bool *ops; /* NULL: all */
};

static uint32_t place_of(const struct cut *c, uint32_t t, uint32_t event)
{
	return c->t->transactions[t].first_op + event;
}

/* Is a write of the key kept, among the first `end` events of t? */
static bool still_written(const struct cut *c, uint32_t t, uint32_t key,
                          uint32_t end)
{
	const struct transaction *w = &c->h->transactions[t];
	if (t == HISTORY_INIT) return true;
	for (uint32_t i = 0; i < end && i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE &&
		    w->events[i].key == key &&
		    (!c->ops || c->ops[place_of(c, t, i)]))
			return c->transactions[t];
	return false;
}

static bool is_kept(const struct cut *c, uint32_t t, uint32_t event)
{
	const struct event *e = &c->h->transactions[t].events[event];
	if (c->ops && !c->ops[place_of(c, t, event)]) return false;
	if (e->kind == EVENT_WRITE) return true;
	return e->from == HISTORY_SELF
	               ? still_written(c, t, e->key, event)
	               : still_written(c, e->from, e->key, UINT32_MAX);
}

static void compare_event(const struct cut *c, const struct history *part,
                          const struct event *a, const struct event *b,
                          const uint32_t *numbers)
{
	ck_assert_int_eq(a->kind, b->kind);
	ck_assert_str_eq(c->h->keys[a->key].name, part->keys[b->key].name);
	ck_assert(value_equal(a->value, b->value));
	if (a->kind == EVENT_WRITE) return;
	if (a->from == HISTORY_SELF)
		ck_assert_uint_eq(b->from, HISTORY_SELF);
	else
		ck_assert_uint_eq(numbers[b->from], a->from);
}

static void compare_cut(const struct cut *c, const struct history *part,
                        const uint32_t *numbers)
{
	uint32_t n = 0;
	for (uint32_t t = 1; t < c->h->transaction_count; t++) {
		const struct transaction *w = &c->h->transactions[t], *v;
		uint32_t event = 0;
		if (!c->transactions[t]) continue;
		ck_assert_uint_lt(++n, part->transaction_count);
		ck_assert_uint_eq(numbers[n], t);
		v = &part->transactions[n];
		ck_assert_str_eq(v->name, w->name);
		ck_assert_uint_eq(v->index, w->index);
		ck_assert_int_eq(v->aborted, w->aborted);
		ck_assert_str_eq(part->sessions[v->session].name,
		                 c->h->sessions[w->session].name);
		for (uint32_t i = 0; i < w->event_count; i++) {
			if (!is_kept(c, t, i)) continue;
			ck_assert_uint_lt(event, v->event_count);
			compare_event(c, part, &w->events[i],
			              &v->events[event++], numbers);
		}
		ck_assert_uint_eq(event, v->event_count);
	}
	ck_assert_uint_eq(n + 1, part->transaction_count);
	ck_assert(is_order(part, part->order));
}

static void cut_and_compare(struct cut *c, struct rng *r)
{
	uint32_t chosen[64], *numbers;
	uint32_t modes = 1 + rng_below(r, 3);
	struct trace_part part = { 0 };
	for (uint32_t t = 1; t < c->h->transaction_count; t++) {
		c->transactions[t] = modes == 2 || rng_below(r, 3);
		if (c->transactions[t]) chosen[part.count++] = t;
	}
	c->ops = mem_take0(c->t->op_count, sizeof *c->ops);
	for (uint32_t i = 0; i < c->t->op_count; i++)
		c->ops[i] = rng_below(r, 4);
	if (modes != 2) part.transactions = chosen;
	bool *ops = c->ops;
	if (modes == 1) c->ops = NULL;
	part.ops = c->ops;
	struct history *h = trace_history(c->t, &part, &numbers);
	compare_cut(c, h, numbers);
	free(ops);
	free(numbers);
	history_free(h);
}

START_TEST(parts_like_the_twin)
{
	struct rng r = trace_rng(500 + (uint64_t)_i);
	for (int i = 0; i < 3000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, NULL);
		struct cut c = { .h = h, .t = t };
		cut_and_compare(&c, &r);
		trace_free(t);
		history_free(h);
	}
}
END_TEST

START_TEST(indexes_in_parts)
{
	struct trace *t =
		script_trace("A1:wx=1 A2:wx=2 A3:wx=3", plain_rules());
	uint32_t some[] = { 1, 3 };
	struct trace_part part = { .transactions = some, .count = 2 };
	struct history *h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->transactions[1].index, 0);
	ck_assert_uint_eq(h->transactions[2].index, 2);
	history_free(h);
	trace_free(t);
}
END_TEST

START_TEST(keys_are_sorted)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	struct diags d = { 0 };
	uint32_t t = trace_transaction_new(b, trace_session_number(b, 1), 0, 0);
	for (int i = 12; i >= 8; i--)
		trace_op_add(b, t, EVENT_WRITE, trace_key_number(b, i),
		             trace_value_number(i), 0);
	trace_key_named(b, "a", 1);
	struct trace *r = trace_builder_finish(b, &d);
	struct history *h = trace_history(r, NULL, NULL);
	ck_assert_uint_eq(h->key_count, 6);
	for (uint32_t k = 1; k < h->key_count; k++)
		ck_assert_int_lt(strcmp(h->keys[k - 1].name, h->keys[k].name),
		                 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct event *e = &h->transactions[1].events[i];
		ck_assert_int_eq(e->value.i,
		                 strtol(h->keys[e->key].name, NULL, 10));
	}
	history_free(h);
	trace_free(r);
}
END_TEST

/* Who is left out of a list leaves its neighbours ordered. */
START_TEST(known_order_in_parts)
{
	struct trace_builder *b = script_run(
		"A1:ax=1 B2:ax=2 C3:ax=3 D4:ax=4 E5:lx=3", list_rules());
	struct diags d = { 0 };
	add_versions(b, "x", "123");
	struct trace *t = trace_builder_finish(b, &d);
	uint32_t some[] = { 1, 3, 4 }, ends[] = { 1, 4 };
	struct trace_part part = { .transactions = some, .count = 3 };
	struct history *h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->known_count, 2);
	ck_assert_uint_eq(h->known[0].from, 1);
	ck_assert_uint_eq(h->known[0].to, 2);
	ck_assert_uint_eq(h->known[1].from, 2);
	ck_assert_uint_eq(h->known[1].to, 3);
	history_free(h);
	part = (struct trace_part){ .transactions = ends, .count = 2 };
	h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->known_count, 1);
	ck_assert_uint_eq(h->known[0].from, 1);
	ck_assert_uint_eq(h->known[0].to, 2);
	struct trace *back = trace_of_history(h, NULL);
	ck_assert_uint_eq(back->known_count, 1);
	trace_free(back);
	history_free(h);
	h = trace_history(t, NULL, NULL);
	ck_assert_uint_eq(h->known_count, 3);
	history_free(h);
	trace_free(t);
}
END_TEST

START_TEST(cycles_have_no_order)
{
	struct trace *t =
		script_trace("A1:rx=2 A1:wy=1 B2:ry=1 B2:wx=2", plain_rules());
	struct history *h = trace_history(t, NULL, NULL);
	struct facts *f = facts_of_trace(t);
	ck_assert_ptr_null(h->order);
	ck_assert_ptr_null(f->order);
	ck_assert_ptr_null(f->rank);
	facts_free(f);
	history_free(h);
	trace_free(t);
}
END_TEST

/* ---- facts ---- */

#define SAME_ARRAY(a, b, count) \
	ck_assert_int_eq((count) ? memcmp(a, b, (count) * sizeof *(a)) : 0, 0)

static void expect_same_facts(const struct facts *a, const struct facts *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->key_count, b->key_count);
	ck_assert_uint_eq(a->session_count, b->session_count);
	ck_assert_uint_eq(a->after_all, b->after_all);
	SAME_ARRAY(a->session_first, b->session_first, a->session_count + 1);
	SAME_ARRAY(a->session_of, b->session_of, a->n);
	SAME_ARRAY(a->read_first, b->read_first, a->n + 1);
	SAME_ARRAY(a->write_first, b->write_first, a->n + 1);
	SAME_ARRAY(a->writer_first, b->writer_first, a->key_count + 1);
	SAME_ARRAY(a->reads, b->reads, a->read_first[a->n]);
	SAME_ARRAY(a->writes, b->writes, a->write_first[a->n]);
	SAME_ARRAY(a->writers, b->writers, a->writer_first[a->key_count]);
	SAME_ARRAY(a->order, b->order, a->n);
	SAME_ARRAY(a->rank, b->rank, a->n);
}

static void check_facts(const struct facts *f, const struct history *h)
{
	uint32_t reads = 0, writers = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		ck_assert_uint_eq(f->read_first[t], reads);
		for (uint32_t i = 0; i < w->event_count; i++) {
			const struct event *e = &w->events[i];
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF)
				continue;
			ck_assert_uint_eq(f->reads[reads].key, e->key);
			ck_assert_uint_eq(f->reads[reads].from, e->from);
			reads++;
		}
		for (uint32_t k = 0; k < h->key_count; k++)
			ck_assert(facts_writes(f, t, k) ==
			          twin_writes(h, t, k));
		for (uint32_t a = 0; a < h->transaction_count; a++)
			ck_assert(facts_so(f, a, t) ==
			          twin_session_order(h, a, t));
	}
	for (uint32_t k = 0; k < h->key_count; k++) {
		ck_assert_uint_eq(f->writer_first[k], writers);
		for (uint32_t t = 1; t < h->transaction_count; t++)
			if (twin_writes(h, t, k))
				ck_assert_uint_eq(f->writers[writers++], t);
	}
	ck_assert_uint_eq(f->read_first[f->n], reads);
	ck_assert_uint_eq(f->writer_first[f->key_count], writers);
	ck_assert_uint_eq(f->write_first[f->n], writers);
	ck_assert(is_order(h, f->order));
	for (uint32_t i = 0; i < f->n; i++)
		ck_assert_uint_eq(f->rank[f->order[i]], i);
}

START_TEST(facts_of_random_histories)
{
	struct rng r = trace_rng(300 + (uint64_t)_i);
	for (int i = 0; i < 3000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, NULL);
		struct facts *f = facts_of_history(h), *g = facts_of_trace(t);
		check_facts(f, h);
		expect_same_facts(f, g);
		facts_free(f);
		facts_free(g);
		trace_free(t);
		history_free(h);
	}
	facts_free(NULL);
}
END_TEST

static void expect_order(const char *notation, const char *expected)
{
	struct history *h = history_from_notation(notation);
	struct facts *f = facts_of_history(h);
	struct text t = { 0 };
	ck_assert_ptr_nonnull(f->order);
	for (uint32_t i = 1; i < f->n; i++)
		text_format(&t, "%s%s", i > 1 ? " " : "",
		            h->transactions[f->order[i]].name);
	ck_assert_str_eq(text_get(&t), expected);
	text_free(&t);
	facts_free(f);
	history_free(h);
}

START_TEST(sessions_advance_side_by_side)
{
	expect_order("a: ; b: ; c: | d: ; e: | f: ; g:", "a d f b e g c");
	expect_order("a: x<e ; b: | d: ; e: Wx | f: ; g:", "d f e g a b");
	expect_order("a: | * z: | b: ; c:", "a b c z");
	expect_order("* z: ; y:", "z y");
}
END_TEST

START_TEST(facts_leave_out_what_did_not_happen)
{
	struct trace *t = script_trace("A1?:wx=1 A1?:ry=2 B2!:wy=2 C3:ry=2 "
	                               "C3:rx=0 D4?:wy=3 E5:ry=3",
	                               plain_rules());
	struct facts *f = facts_of_trace(t);
	ck_assert_uint_eq(f->read_first[2], 0);
	ck_assert_uint_eq(f->read_first[4], 1);
	ck_assert_uint_eq(f->read_first[6], 2);
	ck_assert_uint_eq(f->reads[1].from, 4);
	ck_assert_uint_eq(f->writer_first[f->key_count], 1);
	ck_assert_uint_eq(f->writers[0], 4);
	facts_free(f);
	trace_free(t);
}
END_TEST

void add_trace_history_tests(TCase *tests)
{
	tcase_add_loop_test(tests, histories_and_back, 0, 2);
	tcase_add_loop_test(tests, values_tell_the_sources, 0, 2);
	tcase_add_test(tests, rich_values);
	tcase_add_test(tests, foreign_values);
	tcase_add_test(tests, parts);
	tcase_add_loop_test(tests, parts_like_the_twin, 0, 2);
	tcase_add_test(tests, indexes_in_parts);
	tcase_add_test(tests, keys_are_sorted);
	tcase_add_test(tests, known_order_in_parts);
	tcase_add_test(tests, cycles_have_no_order);
	tcase_add_loop_test(tests, facts_of_random_histories, 0, 2);
	tcase_add_test(tests, sessions_advance_side_by_side);
	tcase_add_test(tests, facts_leave_out_what_did_not_happen);
}
