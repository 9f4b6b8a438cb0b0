/* Replays of histories that a program cannot follow, or only in part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execution/observed_reads.h"
#include "run/replay.h"
#include "suites.h"
#include "support.h"

static const struct replay_parts all;

static struct replay_result replay_notation(const char *source,
                                            const char *notation, enum level l)
{
	struct program *p = program_from_text(source);
	struct history *h = history_from_notation(notation);
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, l, NULL);
	struct replay_result out;
	for (uint32_t i = 0; i < t->op_count; i++)
		t->ops[i].flags |= TRACE_MISSING;
	replay_history(r, t, h->order, all, &out);
	ck_assert_int_eq(out.end, RUN_COMPLETE);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
	return out;
}

static void expect_replay(const char *source, const char *notation,
                          enum level l, bool diverged, uint64_t changed,
                          bool serializable)
{
	struct replay_result out = replay_notation(source, notation, l);
	ck_assert_msg(out.diverged == diverged && out.changed == changed &&
	                      out.serializable == serializable,
	              "%s under %s: diverged %d, changed %d, serializable %d",
	              notation, level_word(l), out.diverged, (int)out.changed,
	              out.serializable);
}

START_TEST(replays_that_diverge)
{
	static const char both[] =
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { let v = x; x = v + 1; } }\n"
		"session s00001 { txn { let v = x; x = v + 1; } }\n"
		"session s00002 { txn { let v = y; } }\n";
	/* The history itself, whole and without what it does not have. */
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx | T3: y<0", LEVEL_CC,
	              false, 0, false);
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx", LEVEL_CC, false, 0,
	              false);
	/* Its writer is not allowed. */
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx", LEVEL_SI, true, 1, true);
	/* Its writer did not write the key. */
	expect_replay(both, "T1: x<0 Wx Wy | T2: x<T1 Wx | T3: y<T1", LEVEL_CC,
	              true, 1, true);
	/* A read of another key, one more, one less. */
	expect_replay(both, "T1: y<0 Wx | T2: x<T1 Wx", LEVEL_CC, true, 0,
	              true);
	expect_replay(both, "T1: x<0 Wx | T2: x<T1 y<0 Wx", LEVEL_CC, true, 0,
	              true);
	expect_replay(both, "T1: Wx | T2: x<T1 Wx", LEVEL_CC, true, 0, true);
	/* An end of another kind, a transaction that does not run. */
	expect_replay(both, "T1: x<0 Wx | T2!: x<0", LEVEL_CC, true, 0, false);
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx ; T4: y<0", LEVEL_CC, true,
	              0, false);
}
END_TEST

/* What a serial run gives. */
static struct history *recorded(const char *source)
{
	struct program *p = program_from_text(source);
	struct runner *r = runner_new(p, LEVEL_SER, NULL);
	ck_assert_int_eq(record_serial(r, 1), RUN_COMPLETE);
	struct history *h = runner_history(r);
	runner_free(r);
	program_free(p);
	return h;
}

/* The last transaction's second read cannot be had with its first (nobody may
 * see a without b when another sees b without a). It is not to be blamed on the
 * write to which the second one led, and which the first does not allow. */
START_TEST(a_replay_blames_reads_before_writes)
{
	struct program *p = program_from_text(
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { let a = x; x = 1; } }\n"
		"session s00001 { txn { y = 1; } }\n"
		"session s00002 { txn { let c = x; let d = y; } }\n"
		"session s00003 { txn { let v = x; let w = y;\n"
		"                       if (w == 1) { x = 5; } } }\n");
	struct history *h = history_from_notation(
		"A: x<0 Wx | B: Wy | C: x<A y<0 | D: x<0 y<B Wx");
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, LEVEL_SI, NULL);
	struct replay_result out;
	replay_history(r, t, h->order, all, &out);
	ck_assert_uint_eq(out.changed, 1);
	struct history *result = runner_history(r);
	const struct transaction *d = &result->transactions[4];
	ck_assert_uint_eq(d->event_count, 2);
	ck_assert_uint_eq(d->events[0].from, HISTORY_INIT);
	ck_assert_uint_eq(d->events[1].from, HISTORY_INIT);
	history_free(result);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
}
END_TEST

/* The writer that D has in the history writes another key in the program: D
 * reads from what ran next to it, the later one of two. */
static void expect_nearest(const uint32_t *order, uint32_t expected)
{
	struct program *p = program_from_text(
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { x = 1; } txn { x = 2; } }\n"
		"session s00001 { txn { y = 1; } }\n"
		"session s00002 { txn { y = 2; } }\n"
		"session s00003 { txn { let v = x; } }\n");
	struct history *h = history_from_notation(
		"A: Wx ; A2: Wx | B: Wx | C: Wy | D: x<B");
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, LEVEL_NONE, NULL);
	struct replay_result out;
	replay_history(r, t, order, all, &out);
	ck_assert(out.diverged);
	ck_assert_uint_eq(out.changed, 1);
	struct history *result = runner_history(r);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_uint_eq(result->order[i], order[i]);
	ck_assert_uint_eq(result->transactions[5].events[0].from, expected);
	history_free(result);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
}

START_TEST(a_replay_takes_the_nearest)
{
	enum { A = 1, A2, B, C, D };
	expect_nearest((uint32_t[]){ 0, A, B, C, A2, D }, A);
	expect_nearest((uint32_t[]){ 0, A, C, B, A2, D }, A2);
	expect_nearest((uint32_t[]){ 0, A, B, A2, C, D }, A2);
	expect_nearest((uint32_t[]){ 0, B, C, A, A2, D }, 0);
	expect_nearest((uint32_t[]){ 0, B, A, A2, C, D }, A);
	expect_nearest((uint32_t[]){ 0, A, A2, C, B, D }, A2);
}
END_TEST

/* `finally` stands in a history that ends before the sessions do: it is the
 * last to run all the same, and reads what it read if it may. */
START_TEST(a_replay_waits_for_the_last_session)
{
	struct history *h = recorded("global x = 0;\n"
	                             "session s { txn { x = 1; } }\n"
	                             "finally { let v = x; }\n");
	struct trace *t = trace_of_history(h, "history");
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session s { txn { x = 1; } txn { x = 2; } }\n"
		"finally { let v = x; }\n");
	for (int l = LEVEL_NONE; l < LEVEL_COUNT; l++) {
		struct runner *r = runner_new(p, (enum level)l, NULL);
		struct replay_result out;
		replay_history(r, t, h->order, all, &out);
		ck_assert_int_eq(out.end, RUN_COMPLETE);
		ck_assert_uint_eq(out.changed, l > LEVEL_RC);
		ck_assert(out.diverged == (l > LEVEL_RC));
		runner_free(r);
	}
	program_free(p);
	trace_free(t);
	history_free(h);
}
END_TEST

/* The same transactions and writers, but other values. */
START_TEST(replays_of_other_values)
{
	static const char source[] =
		"global x = 0; session a { txn { x = 1; x = %d; } }\n"
		"session b { txn { let v = x; } }\n";
	static const bool divergent[] = { false, true, false };
	static const struct replay_parts anew = { .divergent = divergent };
	for (int value = 7; value <= 8; value++) {
		struct text seven = { 0 }, other = { 0 };
		struct replay_result out;
		text_format(&seven, source, 7);
		text_format(&other, source, value);
		struct program *p = program_from_text(text_get(&seven));
		struct program *q = program_from_text(text_get(&other));
		struct runner *r = runner_new(p, LEVEL_SER, NULL);
		struct runner *s = runner_new(q, LEVEL_CC, NULL);
		struct history *h = NULL;
		for (uint64_t seed = 1; !h || h->order[1] != 1; seed++) {
			history_free(h);
			ck_assert_int_eq(record_serial(r, seed), RUN_COMPLETE);
			h = runner_history(r);
		}
		struct trace *t = trace_of_history(h, "history");
		replay_history(s, t, h->order, all, &out);
		ck_assert_uint_eq(out.values, value == 7 ? 0 : 2);
		ck_assert(out.diverged == (value != 7) && !out.changed);
		replay_history(s, t, h->order, anew, &out);
		ck_assert(!out.values && !out.diverged);
		trace_free(t);
		history_free(h);
		runner_free(r);
		runner_free(s);
		program_free(p);
		program_free(q);
		text_free(&seven);
		text_free(&other);
	}
}
END_TEST

/* Sessions that have numbers are matched by their order, if the keys are the
 * program's. */
START_TEST(sessions_with_numbers_fit)
{
	static const struct {
		const char *names[2], *key, *error;
	} cases[] = {
		{ { "9", "10" }, "x", NULL },
		{ { "10", "9" }, "k[3]", NULL },
		{ { "1", "1" }, "x", "two sessions are called '1'" },
		{ { "9", "b" }, "x", "no session '9'" },
		{ { "0", "1" }, "0", "has no key '0'" },
		{ { "0", "1" }, "kk[1]", "has no key 'kk[1]'" },
	};
	struct program *p = program_from_text(
		"global x = 0; global k[*] = 0;\n"
		"session a { txn { x = 1; } } session b { txn { x = 2; } }\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_session sessions[2] = {
			{ .name = cases[i].names[0] },
			{ .name = cases[i].names[1] },
		};
		struct trace_key key = { .name = cases[i].key };
		struct trace t = { .file = "f",
			           .sessions = sessions,
			           .session_count = 2,
			           .keys = &key,
			           .key_count = 1 };
		struct diags d = { 0 };
		uint32_t of_trace[2];
		bool fits = sessions_match(p, &t, of_trace, &d);
		ck_assert(fits == !cases[i].error);
		if (fits) ck_assert_uint_eq(of_trace[0], i);
		if (fits) ck_assert_uint_eq(of_trace[1], !i);
		if (!fits)
			ck_assert_msg(strstr(d.items[0].message,
			                     cases[i].error) != NULL,
			              "%s", d.items[0].message);
		diags_free(&d);
	}
	program_free(p);
}
END_TEST

START_TEST(replays_of_other_programs)
{
	struct program *p = program_from_text(
		"global x = 0; session s00000 { txn { x = 1; } }\n");
	struct history *h = history_from_notation("T1: Wx | T2: x<T1");
	struct trace *t = trace_of_history(h, "history");
	struct diags d = { 0 };
	ck_assert(!replay_fits(p, t, &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_ptr_nonnull(
		strstr(d.items[0].message, "no session 's00001'"));
	diags_free(&d);
	trace_free(t);
	history_free(h);
	program_free(p);
}
END_TEST

void add_replay_tests(TCase *tests)
{
	tcase_add_test(tests, replays_that_diverge);
	tcase_add_test(tests, a_replay_blames_reads_before_writes);
	tcase_add_test(tests, a_replay_takes_the_nearest);
	tcase_add_test(tests, a_replay_waits_for_the_last_session);
	tcase_add_test(tests, replays_of_other_programs);
	tcase_add_test(tests, replays_of_other_values);
	tcase_add_test(tests, sessions_with_numbers_fit);
}
