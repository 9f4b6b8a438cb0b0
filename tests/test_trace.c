/* Traces of registers: what a parser adds, in a short notation, and what comes
 * out of it; the same against a simple twin on random input. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/facts.h"
#include "suites.h"
#include "trace_script.h"

/* ---- numbers and sources ---- */

START_TEST(numbers_follow_sessions)
{
	expect_trace(
		"A1:wx=1 B2:wy=2 A3:rx=1 B4:ry=2 A5:ry=0",
		"A [1 wx=1] [3 rx=1<1] [5 ry=0<0] | B [2 wy=2] [4 ry=2<2]");
	expect_trace(
		"A1:wx=1 B2:wx=2 A1:wy=3 B2:wy=4 A1:ry=3 C3:rx=1 C3:ry=4 B4",
		"A [1 wx=1 wy=3 ry=3<s] | B [2 wx=2 wy=4] [4] | "
		"C [3 rx=1<1 ry=4<2]");
	expect_trace("A1", "A [1]");
}
END_TEST

START_TEST(reads_by_value)
{
	/* the last write of a transaction is final, its own read sees it */
	expect_trace(
		"A1:wx=1 A1:rx=1 A1:wx=2 A1:rx=2 B2:rx=2 B3:rx=0",
		"A [1 wx=1- rx=1<s wx=2 rx=2<s] | B [2 rx=2<1] [3 rx=0<0]");
	/* who writes the initial value is read, unless it stands for init */
	expect_trace("A1:wx=0 B2:rx=0 B2:ry=0",
	             "A [1 wx=0] | B [2 rx=0<1 ry=0<0]");
	/* numbers, texts and null are different values */
	expect_trace("A1:wx=1 A1:wy=\"1\" B2:wx=\"1\" B2:wy=1 B3:wx=nil "
	             "C4:rx=1 C4:ry=\"1\" C5:rx=\"1\" C6:rx=nil",
	             "A [1 wx=1 wy=\"1\"] | B [2 wx=\"1\" wy=1] [3 wx=null] | "
	             "C [4 rx=1<1 ry=\"1\"<1] [5 rx=\"1\"<2] [6 rx=null<3]");
}
END_TEST

START_TEST(anomalies)
{
	expect_trace("A1:rx=7", "A [1 rx=7<?]; thin-air 1 rx=7<?");
	expect_trace("A1!:wx=7 B2:rx=7", "A [1! wx=7] | B [2 rx=7<?]; "
	                                 "G1a 2 rx=7<? by 1 other wx=7");
	expect_trace("A1:wx=7 A1:wx=8 B2:rx=7",
	             "A [1 wx=7- wx=8] | B [2 rx=7<1]; "
	             "G1b 2 rx=7<1 by 1 other wx=7-");
	expect_trace("A1:wx=7 B2:wx=8 B2:rx=7",
	             "A [1 wx=7] | B [2 wx=8 rx=7<?]; "
	             "internal 2 rx=7<? other wx=8");
	expect_trace("A1:wx=7 A1:wx=8 A1:rx=7",
	             "A [1 wx=7- wx=8 rx=7<?]; internal 1 rx=7<? other wx=8");
	expect_trace("A1:wx=7 A1:rx=0", "A [1 wx=7 rx=0<?]; "
	                                "internal 1 rx=0<? other wx=7");
	expect_trace("A1:rx=7 A1:wx=7", "A [1 rx=7<? wx=7]; "
	                                "future 1 rx=7<? other wx=7");
	ck_assert(trace_anomaly_forbidden_always(ANOMALY_THIN_AIR));
	ck_assert(!trace_anomaly_forbidden_always(ANOMALY_ABORTED));
	ck_assert_str_eq(trace_anomaly_name(ANOMALY_ABORTED),
	                 "aborted read (G1a)");
}
END_TEST

/* In order of transaction and operation, whatever the order of the file. */
START_TEST(anomalies_in_order)
{
	expect_trace("B2:rx=7 A1:ry=8 B2:ry=9 A1:wx=1",
	             "B [2 rx=7<? ry=9<?] | A [1 ry=8<? wx=1]; "
	             "thin-air 2 rx=7<?; thin-air 2 ry=9<?; thin-air 1 ry=8<?");
	struct trace_builder *b = script_run(
		"B2:rx=7 A1:ry=8 B2:ry=1 C3:rx=0 A1:wy=1", plain_rules());
	trace_anomaly_add(b, ANOMALY_LISTS, 2, 3);
	trace_anomaly_add(b, ANOMALY_LISTS, 2, 3);
	trace_anomaly_add(b, ANOMALY_INTERNAL, 1, TRACE_NONE);
	expect_finished(b, "B [2 rx=7<? ry=1<1] | A [1 ry=8<? wy=1] | "
	                   "C [3 rx=0<0]; thin-air 2 rx=7<?; "
	                   "incompatible-order 2 ry=1<1 by 3 other rx=0<0; "
	                   "thin-air 1 ry=8<?; internal 1 ry=8<?");
}
END_TEST

START_TEST(anomalies_beyond_those_kept)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("test.txt", &rules);
	struct diags d = { 0 };
	uint32_t key = trace_key_number(b, -5);
	for (uint32_t i = 0; i < 3000; i++)
		trace_op_add(b,
		             trace_transaction_new(
				     b, trace_session_number(b, i % 3), 0, i),
		             EVENT_READ, key, trace_value_number(i + 1), i);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_uint_eq(t->anomaly_count, TRACE_ANOMALIES_KEPT);
	ck_assert_uint_eq(t->anomalies_found[ANOMALY_THIN_AIR], 3000);
	for (uint32_t i = 0; i < t->anomaly_count; i++)
		ck_assert_uint_eq(t->anomalies[i].transaction, i + 1);
	trace_free(t);
}
END_TEST

START_TEST(outcomes)
{
	struct trace_rules counting = plain_rules();
	counting.aborted_reads = true;
	/* reads of aborted transactions count only if the format says so */
	expect_trace("A1!:rx=7 A1!:wy=1 A1!:ry=1", "A [1! rx=7<? wy=1 ry=1<?]");
	expect_under("A1!:rx=7 A2:wx=8 A3!:rx=8 A3!:wx=9 A3!:rx=9", counting,
	             "A [1! rx=7<?] [2 wx=8] [3! rx=8<2 wx=9 rx=9<s]; "
	             "thin-air 1 rx=7<?");
	/* unknown: committed if somebody read from it who did */
	expect_trace("A1?:wx=1 A1?:ry=5 B2:rx=1 C3?:wx=2 D4?:rx=2",
	             "A [1 wx=1 ry=5<?] | B [2 rx=1<1] | C [3? wx=2] | "
	             "D [4? rx=2<?]; thin-air 1 ry=5<?");
	expect_trace("B2:rx=1 A1?:wx=1 A1?:ry=2 C3?:wy=2",
	             "B [2 rx=1<1] | A [1 wx=1 ry=2<3] | C [3 wy=2]");
}
END_TEST

#define WRITES_INITIAL                                                      \
	", which in this format is the value that it has initially; it is " \
	"then unclear who reads it: write another value, or use a format "  \
	"that names the writer that is read (isoscope)\n"

START_TEST(the_initial_transaction)
{
	struct trace_rules rules = plain_rules();
	rules.initial_transaction = true;
	/* its session goes with it when nothing else is there */
	expect_under("Z9:wx=0 Z9:wy=0 A1:rx=0 A1:wx=1 B2:ry=0 B2:rx=1", rules,
	             "A [1 rx=0<0 wx=1] | B [2 ry=0<0 rx=1<1]");
	expect_under("A1:rx=0 A1:wx=1 Z9:wx=0 Z9:wy=0", rules,
	             "A [1 rx=0<0 wx=1]");
	expect_under("A1:rx=0 Z9:wx=0 A1:wx=1 Z9:wy=0 A1:ry=0", rules,
	             "A [1 rx=0<0 wx=1 ry=0<0]");
	/* in two parts, at the beginning of a session */
	expect_under("A9:wx=0 A8:wy=0 A1:rx=0 A1:wx=1 B2:ry=0", rules,
	             "A [1 rx=0<0 wx=1] | B [2 ry=0<0]");
	/* not what comes later, reads, or writes something else */
	expect_error(
		"A1:wx=1 A9:wx=0 B3:wy=0 B3:rx=1 C5:rx=0 C5:ry=0", rules,
		"error:2:0: A.2 t9 (line 2) writes 0 to key x" WRITES_INITIAL
		"error:3:0: B.1 t3 (line 3) writes 0 to key y, which in this "
		"format is the value that it has initially\n");
	expect_error(
		"A9!:wx=0 B1:rx=0", rules,
		"error:1:0: A.1 t9 (line 1) writes 0 to key x" WRITES_INITIAL);
	/* nothing but it */
	expect_under("A9:wx=0 B8:wy=0", rules, "A | B");
}
END_TEST

START_TEST(unknown_values_as_initial)
{
	struct trace_rules rules = plain_rules();
	rules.unknown_is_initial = true;
	expect_under("A1:rx=7 B2:wy=1 B3:ry=1 B3:ry=2", rules,
	             "A [1 rx=0<0] | B [2 wy=1] [3 ry=1<2 ry=0<0]");
	/* several: each has a writer; what was there initially is another */
	expect_under("A1:rx=7 A2:rx=8 A3:rx=7 B4:ry=1 B5:ry=0", rules,
	             "A [1 rx=7<0] [2 rx=8<0] [3 rx=7<0] | "
	             "B [4 ry=1<0] [5 ry=0<0] | "
	             "unseen1 [0 wx=7] | unseen2 [0 wx=8] | unseen3 [0 wy=1]");
	/* beside transactions that stand for init */
	rules.initial_transaction = true;
	expect_under("A9:wx=0 B1:rx=7 B1:wx=5 B2:rx=8", rules,
	             "B [1 rx=7<0 wx=5] [2 rx=8<0] | unseen1 [0 wx=7] | "
	             "unseen2 [0 wx=8]");
}
END_TEST

START_TEST(named_sources)
{
	/* values may repeat, and may be missing */
	expect_trace(
		"A1:wx=7 B2:wx=7 C3:rx=7<1 D4:rx<2 D4:ry<0 D4:wy=1 D4:ry<s",
		"A [1 wx=7] | B [2 wx=7] | C [3 rx=7<1] | "
		"D [4 rx=7<2 ry=0<0 wy=1 ry=1<s]");
	/* init is read although somebody writes the same value */
	expect_trace("A1:wx=0 B2:rx=0<0 B3:rx=0<1",
	             "A [1 wx=0] | B [2 rx=0<0] [3 rx=0<1]");
	/* the last of equal writes of one transaction is what counts */
	expect_trace("A1:wx=7 A1:wx=8 A1:wx=7 B2:rx=7<1 B3:rx=8<1",
	             "A [1 wx=7- wx=8- wx=7] | B [2 rx=7<1] [3 rx=8<1]; "
	             "G1b 3 rx=8<1 by 1 other wx=8-");
	/* anomalies by name */
	expect_trace(
		"A1!:wx=7 B2:rx<1 C3:rx=7<1",
		"A [1! wx=7] | B [2 rx=7<?] | C [3 rx=7<?]; "
		"G1a 2 rx=7<? by 1 other wx=7; G1a 3 rx=7<? by 1 other wx=7");
	expect_trace(
		"A1:wx=7 B2:wx=8 B2:rx=7<1 B3:rx=9<s B3:wx=9 B4:rx<4 B4:wx=1",
		"A [1 wx=7] | B [2 wx=8 rx=7<?] [3 rx=9<? wx=9] "
		"[4 rx=1<? wx=1]; internal 2 rx=7<? other wx=8; "
		"future 3 rx=9<? other wx=9; future 4 rx=1<? other wx=1");
	expect_trace("A1:wx=7 A1:rx=8<s B2?:wx=1 C3:rx<2",
	             "A [1 wx=7 rx=8<?] | B [2 wx=1] | C [3 rx=1<2]; "
	             "internal 1 rx=8<? other wx=7");
	/* only some are named: the others are looked up */
	expect_trace("A1:wx=7 B2:wx=8 B2:wy=8 C3:rx<1 C4:rx=8",
	             "A [1 wx=7] | B [2 wx=8 wy=8] | C [3 rx=7<1] [4 rx=8<2]");
	/* a read tells the initial value that the file does not */
	expect_trace("A1:rx=7<0 A2:rx<0 A3:rx=7", "A [1 rx=7<0] [2 rx=7<0] "
	                                          "[3 rx=7<0]");
}
END_TEST

START_TEST(formats_with_sources)
{
	struct trace_rules rules = plain_rules();
	rules.sources = true;
	expect_under("A1:wx=7 B2:wx=7 C3:wx=7", rules,
	             "A [1 wx=7] | B [2 wx=7] | C [3 wx=7]");
	expect_under("A1:wx=7 A1:wx=7 B2:rx=7", rules,
	             "A [1 wx=7- wx=7] | B [2 rx=7<1]");
}
END_TEST

#define TOLD                                                                \
	"; it is then unclear who reads it: each write of a key needs a "   \
	"value of its own, or a format that names the writer that is read " \
	"(isoscope)\n"
#define CORRECT                                                             \
	"; correct the writer or the value, or leave the writer out where " \
	"values tell it\n"

START_TEST(values_written_twice)
{
	struct trace_rules rules = plain_rules();
	struct trace_rules sources = plain_rules();
	sources.sources = true;
	/* an error where it is read, and one for all who read it */
	expect_error("A1:wx=7 B2:wy=7 B3:wx=7 C4:rx=7 C5:rx=7", rules,
	             "error:3:0: the value 7 is written twice to key x, by "
	             "A.1 t1 (line 1) and by B.2 t3 (line 3)" TOLD);
	expect_error("A1!:wx=7 B2?:wx=7 C3:rx=7", rules,
	             "error:2:0: the value 7 is written twice to key x, by "
	             "A.1 t1 (line 1) and by B.1 t2 (line 2)" TOLD);
	expect_under("A1:wx=7 B2:wy=7 B3:wx=7 C4:ry=7", rules,
	             "A [1 wx=7] | B [2 wy=7] [3 wx=7] | C [4 ry=7<2]");
	/* one transaction leaves the value, however often it wrote it */
	expect_under("A1:wx=\"a\" A1:wx=\"a\" B2:rx=\"a\"", rules,
	             "A [1 wx=\"a\"- wx=\"a\"] | B [2 rx=\"a\"<1]");
	rules.initial_transaction = true;
	expect_error(
		"B3:rx=1 B3:wx=0 A1:wx=0 C2:rx=0", rules,
		"error:2:0: B.1 t3 (line 2) writes 0 to key x" WRITES_INITIAL);
	expect_under("B3:wx=1 B3:wx=0 C2:rx=1", rules,
	             "B [3 wx=1- wx=0] | C [2 rx=1<3]; "
	             "G1b 2 rx=1<3 by 3 other wx=1-");
	expect_error("A1:wx=7 B2:wx=7 B2:wx=7 C3:rx=7", sources,
	             "error:4:0: C.1 t3 (line 4) reads the value 7 of key x, "
	             "which two transactions wrote: A.1 t1 (line 1) and B.1 "
	             "t2 (line 2); the read has to name its writer\n");
	/* wherever the two stand */
	expect_error("A1:wx=7 B2:wx=7 A1:wx=7 C3:rx=7", sources,
	             "error:4:0: C.1 t3 (line 4) reads the value 7 of key x, "
	             "which two transactions wrote: A.1 t1 (line 3) and B.1 "
	             "t2 (line 2); the read has to name its writer\n");
}
END_TEST

START_TEST(wrong_sources)
{
	struct trace_rules rules = plain_rules();
	expect_error("A1:wy=7 B2:rx=7<1", rules,
	             "error:2:0: B.1 t2 (line 2) reads the value 7 of key x "
	             "from A.1 t1, which does not write that key" CORRECT);
	expect_error("A1:wx=7 B2:rx=8<1 B2:ry<2", rules,
	             "error:2:0: B.1 t2 (line 2) reads the value 8 of key x "
	             "from A.1 t1, which writes 7 to it (line 1)" CORRECT
	             "error:3:0: B.1 t2 (line 3) reads key y from itself, "
	             "which does not write that key before\n");
	expect_error("A1:rx", rules,
	             "error:1:0: A.1 t1 (line 1) reads key x with neither a "
	             "value nor a writer: one of them is needed\n");
	struct trace_builder *b = script_run("A1:rx=7<0", rules);
	trace_key_initial(b, 0, trace_value_number(3));
	expect_error_of(b, "error:1:0: A.1 t1 (line 1) reads the value 7 of "
	                   "key x from init, but the initial value of that "
	                   "key is 3; correct the one or the other\n");
}
END_TEST

START_TEST(few_errors_are_enough)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new(NULL, &rules);
	struct diags d = { 0 };
	uint32_t session = trace_session_number(b, INT64_MIN);
	for (uint32_t i = 0; i < 1000; i++)
		trace_op_add(b, trace_transaction_new(b, session, 0, 0),
		             i % 3 < 2 ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, 1 + i / 3),
		             trace_value_number(1), 0);
	ck_assert_ptr_null(trace_builder_finish(b, &d));
	ck_assert_uint_eq(d.errors, 8);
	ck_assert_str_eq(
		d.items[0].message,
		"the value 1 is written twice to key 1, by "
		"-9223372036854775808.1 and by "
		"-9223372036854775808.2; it is then unclear who reads it"
		": each write of a key needs a value of its own, "
		"or a format that names the writer that is read "
		"(isoscope)");
	/* what to do is said once */
	ck_assert_ptr_null(strstr(d.items[1].message, "who reads it"));
	diags_free(&d);
}
END_TEST

START_TEST(frames)
{
	struct trace_rules rules = plain_rules();
	expect_error("", rules,
	             "error:0:0: the history has no session: nothing was "
	             "recorded, or the file has another format (see "
	             "--format)\n");
	struct trace_builder *b = script_run("A1:wx=1", rules);
	trace_session_new(b, "y", 1, true);
	trace_session_new(b, "z", 1, true);
	expect_error_of(b, "error:0:0: 2 sessions follow all others; only one "
	                   "can\n");
	trace_builder_free(script_run("A1:wx=1 B2:rx=1", rules));
	trace_builder_free(NULL);
	trace_free(NULL);
}
END_TEST

static void add_many(struct trace_builder *b, uint32_t transactions,
                     uint32_t ops)
{
	uint32_t session = trace_session_number(b, 1);
	uint32_t key = trace_key_number(b, 1);
	for (uint32_t i = 0; i < transactions; i++) {
		uint32_t t = trace_transaction_new(b, session, 0, 0);
		for (uint32_t k = 0; k < ops; k++)
			trace_op_add(b, t, EVENT_READ, key,
			             trace_value_number(0), 0);
	}
}

START_TEST(too_many)
{
	static const char message[] =
		"error:0:0: the history has more than 10 operations or "
		"transactions, the most that isoscope holds; check a shorter "
		"part "
		"of it\n";
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("test.txt", &rules);
	b->op_limit = 10;
	add_many(b, 3, 4);
	expect_error_of(b, message);
	b = trace_builder_new("test.txt", &rules);
	b->transaction_limit = 10;
	add_many(b, 12, 1);
	expect_error_of(b, message);
	b = trace_builder_new("test.txt", &rules);
	b->op_limit = b->transaction_limit = 10;
	add_many(b, 2, 5);
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_uint_eq(t->op_count, 10);
	trace_free(t);
}
END_TEST

/* ---- names and values ---- */

static void expect_value(struct trace_builder *b, const char *json,
                         int64_t number, uint8_t flags)
{
	struct trace_value v = trace_value_text(b, json, strlen(json));
	ck_assert_int_eq(v.number, number);
	ck_assert_int_eq(v.flags, flags);
}

START_TEST(names_and_values)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	expect_value(b, "0", 0, 0);
	expect_value(b, "-17", -17, 0);
	expect_value(b, "9223372036854775807", INT64_MAX, 0);
	expect_value(b, "-9223372036854775808", INT64_MIN, 0);
	expect_value(b, "null", 0, TRACE_NULL);
	expect_value(b, "9223372036854775808", 0, TRACE_TEXT);
	expect_value(b, "-9223372036854775809", 1, TRACE_TEXT);
	expect_value(b, "18446744073709551616", 2, TRACE_TEXT);
	expect_value(b, "-0", 3, TRACE_TEXT);
	expect_value(b, "01", 4, TRACE_TEXT);
	expect_value(b, "-", 5, TRACE_TEXT);
	expect_value(b, "\"1\"", 6, TRACE_TEXT);
	expect_value(b, "1.5", 7, TRACE_TEXT);
	expect_value(b, "9223372036854775808", 0, TRACE_TEXT);
	/* zero bytes do not make names equal */
	uint32_t k = trace_key_named(b, "a\0b", 3);
	ck_assert_uint_ne(k, trace_key_named(b, "a\0c", 3));
	ck_assert_uint_ne(k, trace_key_named(b, "a", 1));
	ck_assert_uint_eq(trace_key_named(b, "a", 1),
	                  trace_key_named(b, "ab", 1));
	ck_assert_uint_eq(trace_key_number(b, 7), trace_key_number(b, 7));
	ck_assert_uint_ne(trace_key_number(b, 7), trace_key_number(b, -7));
	ck_assert_uint_eq(trace_session_named(b, "bob", 3),
	                  trace_session_named(b, "bob2", 3));
	ck_assert_uint_ne(trace_session_named(b, "7", 1),
	                  trace_session_number(b, 7));
	trace_builder_free(b);
}
END_TEST

/* ---- the twin: sources by searching everything ---- */

struct twin_op {
	uint32_t session, transaction; /* transaction: also its number */
	bool write;
	uint32_t key;
	int64_t value;
	int64_t from; /* what the twin finds: -1 self, -2 nobody, 0 init */
	int anomaly;  /* or -1 */
};

enum { MADE_OPS = 60, MADE_TRANSACTIONS = 12 };

struct twin {
	struct twin_op ops[MADE_OPS];
	uint32_t count;
	uint8_t status[MADE_TRANSACTIONS + 1];
	bool read_from[MADE_TRANSACTIONS + 1];
};

/* Operations of transactions whose numbers tell their sessions: as the sorted
 * trace has them. Values of reads are any, mostly written ones. */
static void make_ops(struct twin *w, struct rng *r)
{
	uint32_t keys = 1 + rng_below(r, 4), next = 1;
	*w = (struct twin){ .count = 1 + rng_below(r, MADE_OPS) };
	for (uint32_t t = 1; t <= MADE_TRANSACTIONS; t++)
		w->status[t] = rng_below(r, 4) ? TRACE_COMMITTED
		                               : (uint8_t)rng_below(r, 3);
	for (uint32_t i = 0; i < w->count; i++) {
		struct twin_op *op = &w->ops[i];
		op->transaction = 1 + rng_below(r, MADE_TRANSACTIONS);
		op->session = (op->transaction - 1) / 3;
		op->write = rng_below(r, 2);
		op->key = rng_below(r, keys);
		if (op->write) op->value = next++;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		struct twin_op *op = &w->ops[i];
		if (op->write) continue;
		op->value = rng_below(r, 5) ? 0 : rng_below(r, 40);
		for (int attempt = 0; attempt < 6; attempt++) {
			struct twin_op *o = &w->ops[rng_below(r, w->count)];
			if (o->write && o->key == op->key) op->value = o->value;
		}
	}
}

static void twin_source(struct twin *w, uint32_t i)
{
	struct twin_op *op = &w->ops[i];
	const struct twin_op *own = NULL, *writer = NULL;
	bool final = true;
	op->from = -2;
	op->anomaly = -1;
	if (w->status[op->transaction] == TRACE_ABORTED ||
	    (w->status[op->transaction] == TRACE_UNKNOWN &&
	     !w->read_from[op->transaction]))
		return;
	for (uint32_t k = 0; k < w->count; k++) {
		const struct twin_op *o = &w->ops[k];
		if (!o->write || o->key != op->key) continue;
		if (k < i && o->transaction == op->transaction) own = o;
		if (o->value == op->value)
			writer = o;
		else if (writer && writer->transaction == o->transaction)
			final = false;
	}
	if (own) {
		op->from = own->value == op->value ? -1 : -2;
		if (op->from == -2) op->anomaly = ANOMALY_INTERNAL;
	} else if (!writer) {
		op->from = op->value ? -2 : 0;
		if (op->value) op->anomaly = ANOMALY_THIN_AIR;
	} else if (writer->transaction == op->transaction) {
		op->anomaly = ANOMALY_FUTURE;
	} else if (w->status[writer->transaction] == TRACE_ABORTED) {
		op->anomaly = ANOMALY_ABORTED;
	} else {
		op->from = writer->transaction;
		if (!final) op->anomaly = ANOMALY_INTERMEDIATE;
		w->read_from[writer->transaction] = true;
	}
}

/* Often enough for all that committed to be known. */
static void twin_sources(struct twin *w)
{
	for (int pass = 0; pass < MADE_TRANSACTIONS; pass++)
		for (uint32_t k = 0; k < w->count; k++)
			if (!w->ops[k].write) twin_source(w, k);
}

/* Adds them in the order of `place`, which keeps each transaction's order. */
static struct trace *twin_build(const struct twin *w, const uint32_t *place)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("twin", &rules);
	struct diags d = { 0 };
	uint32_t handles[MADE_TRANSACTIONS + 1];
	for (uint32_t t = 1; t <= MADE_TRANSACTIONS; t++) {
		uint32_t s = trace_session_number(b, (t - 1) / 3);
		handles[t] = trace_transaction_new(
			b, s, (enum trace_status)w->status[t], 0);
		trace_transaction_number(b, handles[t], t);
	}
	for (uint32_t k = 0; k < 4; k++) trace_key_number(b, k);
	for (uint32_t i = 0; i < w->count; i++) {
		const struct twin_op *op = &w->ops[place[i]];
		trace_op_add(b, handles[op->transaction],
		             op->write ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, op->key),
		             trace_value_number(op->value), place[i] + 1);
	}
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_msg(t != NULL, "%s", d.count ? d.items[0].message : "");
	return t;
}

static int anomaly_of(const struct trace *t, uint32_t op)
{
	for (uint32_t i = 0; i < t->anomaly_count; i++)
		if (t->anomalies[i].op == op) return t->anomalies[i].kind;
	return -1;
}

static int64_t source_of(const struct trace_op *op)
{
	if (op->from == TRACE_SELF) return -1;
	return op->from == TRACE_NOBODY ? -2 : (int64_t)op->from;
}

static void twin_compare(const struct twin *w, const struct trace *t)
{
	uint32_t seen = 0;
	ck_assert_uint_eq(t->transaction_count, MADE_TRANSACTIONS + 1);
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *tr = &t->transactions[i];
		int status = w->status[i];
		if (status == TRACE_UNKNOWN && w->read_from[i])
			status = TRACE_COMMITTED;
		ck_assert_int_eq(tr->number, i);
		ck_assert_int_eq(tr->status, status);
		for (uint32_t k = 0; k < tr->op_count; k++, seen++) {
			uint32_t at = tr->first_op + k;
			const struct trace_op *op = &t->ops[at];
			const struct twin_op *o = &w->ops[op->line - 1];
			if (k) ck_assert_uint_gt(op->line, op[-1].line);
			ck_assert_uint_eq(o->transaction, i);
			ck_assert_int_eq(op->value, o->value);
			if (o->write) continue;
			ck_assert_int_eq(source_of(op), o->from);
			ck_assert_int_eq(anomaly_of(t, at), o->anomaly);
		}
	}
	ck_assert_uint_eq(seen, w->count);
}

static int compare_places(const void *a, const void *b, const struct twin *w)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t t = w->ops[x].transaction, u = w->ops[y].transaction;
	if (t != u) return t < u ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Operations of a transaction together, transactions in another order. */
static void group_places(const struct twin *w, uint32_t *place)
{
	for (uint32_t i = 1; i < w->count; i++)
		for (uint32_t k = i; k; k--) {
			uint32_t swap = place[k];
			if (compare_places(&place[k - 1], &place[k], w) < 0)
				break;
			place[k] = place[k - 1];
			place[k - 1] = swap;
		}
}

START_TEST(sources_like_the_twin)
{
	struct rng r = trace_rng((uint64_t)_i);
	for (int i = 0; i < fewer(5000); i++) {
		struct twin w;
		uint32_t place[MADE_OPS];
		make_ops(&w, &r);
		twin_sources(&w);
		for (uint32_t k = 0; k < w.count; k++) place[k] = k;
		struct trace *mixed = twin_build(&w, place);
		twin_compare(&w, mixed);
		group_places(&w, place);
		struct trace *grouped = twin_build(&w, place);
		twin_compare(&w, grouped);
		char *a = trace_dump(mixed), *b = trace_dump(grouped);
		ck_assert_str_eq(a, b);
		free(a);
		free(b);
		trace_free(mixed);
		trace_free(grouped);
	}
}
END_TEST

/* ---- size ---- */

/* A serial history, whose operations come from several sessions at once. */
static struct trace *large(uint32_t ops, uint32_t keys, bool interleaved)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("large", &rules);
	struct diags d = { 0 };
	struct rng r = trace_rng(7);
	int64_t *current = mem_take0(keys, sizeof *current);
	uint32_t open[20] = { 0 }, s = 0;
	for (uint32_t i = 0; i < ops; i++) {
		if (interleaved || i % 10 == 0) s = rng_below(&r, 20);
		if (!open[s] || i % 10 == 0)
			open[s] = trace_transaction_new(
				b, trace_session_number(b, s), 0, i);
		uint32_t k = rng_below(&r, keys);
		bool write = rng_below(&r, 2);
		if (write) current[k] = i + 1;
		trace_op_add(b, open[s], write ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, k),
		             trace_value_number(current[k]), i + 1);
	}
	free(current);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->op_count, ops);
	return t;
}

START_TEST(large_traces)
{
	for (int mixed = 0; mixed < 2; mixed++) {
		struct trace *t = large(200000, 5000, mixed);
		struct facts *f = facts_of_trace(t);
		ck_assert(mixed || f->order);
		ck_assert(mixed || !t->anomaly_count);
		ck_assert_uint_eq(t->key_count, 5000);
		ck_assert_uint_eq(t->session_count, 20);
		uint64_t ops = 0;
		for (uint32_t i = 1; i < t->transaction_count; i++)
			ops += t->transactions[i].op_count;
		ck_assert_uint_eq(ops, t->op_count);
		struct history *h = trace_history(t, NULL, NULL);
		struct facts *g = facts_of_history(h);
		ck_assert_uint_eq(g->n, f->n);
		ck_assert_uint_eq(g->read_first[g->n], f->read_first[f->n]);
		ck_assert_uint_eq(g->write_first[g->n], f->write_first[f->n]);
		facts_free(f);
		facts_free(g);
		history_free(h);
		trace_free(t);
	}
}
END_TEST

void add_trace_tests(TCase *tests)
{
	tcase_add_test(tests, numbers_follow_sessions);
	tcase_add_test(tests, reads_by_value);
	tcase_add_test(tests, anomalies);
	tcase_add_test(tests, anomalies_in_order);
	tcase_add_test(tests, anomalies_beyond_those_kept);
	tcase_add_test(tests, outcomes);
	tcase_add_test(tests, the_initial_transaction);
	tcase_add_test(tests, unknown_values_as_initial);
	tcase_add_test(tests, named_sources);
	tcase_add_test(tests, formats_with_sources);
	tcase_add_test(tests, values_written_twice);
	tcase_add_test(tests, wrong_sources);
	tcase_add_test(tests, few_errors_are_enough);
	tcase_add_test(tests, frames);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, names_and_values);
	tcase_add_loop_test(tests, sources_like_the_twin, 0, 4);
	tcase_add_test(tests, large_traces);
}
