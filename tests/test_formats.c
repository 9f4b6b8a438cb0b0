/* The formats of texts and bytes: what they say, what is wrong in them and
 * where, from one to the other and back. Those of JSON and EDN, and files and
 * folders, have suites of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats_support.h"
#include "history/trace_build.h"
#include "random_trace.h"
#include "suites.h"
#include "support.h"
#include "trace_shape.h"

static void check_shape(enum format f, const char *bytes, size_t length,
                        const char *shape)
{
	struct trace *t = parse_good_bytes(f, bytes, length);
	char *found = shape_of(t, 0);
	ck_assert_str_eq(found, shape);
	free(found);
	trace_free(t);
}

/* ---- samples ---- */

static const struct {
	enum format format;
	const char *text, *shape;
} samples[] = {
	/* Lines of transactions may be mixed; values tell who wrote. */
	{ FORMAT_PLUME,
	  "w(1,10,0,1)\nr(1,10,1,2)\nw(2,5,0,1)\nr(2,0,1,2)\nr(1,10,0,3)\n",
	  "0.1: w1 w2\n0.2: r1<0.1\n1.1: r1<0.1 r2<init\n" },
	/* Leniency: blanks, line ends of Windows, comments, no line end. */
	{ FORMAT_PLUME,
	  "# a comment\r\n\r\n  w ( 1 , 10 , 0 , 1 ) // too\r\n\tr(1,10,0,2)",
	  "0.1: w1\n0.2: r1<0.1\n" },
	/* Aborted ones are told from each other by the ones in between. */
	{ FORMAT_PLUME,
	  "w(1,1,0,-1)\nw(2,1,0,-1)\nr(1,1,1,7)\nw(3,1,0,5)\nw(3,2,0,-1)\n",
	  "0.1!: w1 w2\n0.2: w3\n0.3!: w3\n1.1: r1<nobody\nG1a 1.1 0 0.1\n" },
	/* The reads of aborted ones do not count. */
	{ FORMAT_PLUME, "r(1,9,0,-1)\nw(1,1,0,1)\n", "0.1!:\n0.2: w1\n" },
	/* 64 bits with and without a sign. */
	{ FORMAT_PLUME,
	  "w(18446744073709551615,18446744073709551615,"
	  "18446744073709551615,18446744073709551615)\n"
	  "r(18446744073709551615,18446744073709551615,-1,1)\n"
	  "w(-9223372036854775808,-9223372036854775808,-1,1)\n",
	  "0.1: w1\n1.1: r1<0.1 w2\n" },
	/* A transaction that writes 0 to all is init. */
	{ FORMAT_PLUME, "w(1,0,0,1)\nw(2,0,0,1)\nr(1,0,1,2)\nw(2,1,1,2)\n",
	  "0.1: r1<init w2\n" },
	/* Repeated reads, blind writes, own reads, intermediate and thin air.
	 */
	{ FORMAT_PLUME,
	  "w(1,1,0,1)\nw(1,2,0,1)\nr(1,2,0,1)\nr(1,1,1,2)\nr(1,3,1,3)\n"
	  "r(1,2,1,4)\nr(1,2,1,4)\n",
	  "0.1: w1 w1 r1<self\n1.1: r1<0.1\n1.2: r1<nobody\n"
	  "1.3: r1<0.1 r1<0.1\nG1b 1.1 0 0.1\nthin-air 1.2 0 nobody\n" },
	{ FORMAT_AWDIT, "w 1 10\nr 2 0\n---\nr 1 10\n===\nr 1 10\nw 2 7\n",
	  "0.1: w1 r2<init\n0.2: r1<0.1\n1.1: r1<0.1 w2\n" },
	{ FORMAT_AWDIT,
	  "// a\n\n---\n---\n  w\t1   10  \r\n=\n====\nr 1 10\n==\nw 1 0\n",
	  "0.1: w1\n1.1: r1<0.1\n" },
	{ FORMAT_AWDIT, "w 1 -5\nr 1 -5\n", "0.1: w1 r1<self\n" },
	{ FORMAT_DBCOP_TEXT,
	  "[x:=1 y==2 z==?]\n[x==1]\n---\n[y:=2 z==0] [z:=3]!\n",
	  "0.1: w1 r2<1.1 r3<init\n0.2: r1<0.1\n1.1: w2 r3<init\n"
	  "1.2!: w3\n" },
	{ FORMAT_DBCOP_TEXT,
	  "// x\n[]\n[ a_1 := 5, B== 7 ] ! // y\n\n---\n---\n[x==1]\r\n[B:=7]",
	  "0.1:\n0.2!: w1\n2.1: r2<nobody\n2.2: w3\nthin-air 2.1 0 nobody\n" },
	/* Where 0 is written, it is not the initial value. */
	{ FORMAT_DBCOP_TEXT, "[x:=0 y==0]\n---\n[x==0 x==?]\n",
	  "0.1: w1 r2<init\n1.1: r1<0.1 r1<init\n" },
};

enum { SAMPLES = sizeof samples / sizeof *samples };

START_TEST(samples_mean_what_they_say)
{
	const char *text = samples[_i].text;
	check_shape(samples[_i].format, text, strlen(text), samples[_i].shape);
	ck_assert_str_eq(format_word(detect_bytes(text, strlen(text))),
	                 format_word(samples[_i].format));
}
END_TEST

/* ---- samples in bytes ---- */

static const struct {
	enum format format;
	const char *notation, *shape;
} byte_samples[] = {
	/* A failed read is none, a failed write is an aborted one. */
	{ FORMAT_DBCOP_BINCODE,
	  "7 2 2 2 3 \"x\" \"\" \"2019\" 2 "
	  "1 3 b1 1 10 b1 b0 2 99 b0 b1 2 20 b0 b1 "
	  "2 2 b0 1 10 b1 b0 2 20 b1 b1 1 b1 1 11 b1 b0",
	  "0.1: w1\n0.2!: w2\n1.1: r1<0.1 r2<nobody\n1.2!: w1\n"
	  "G1a 1.1 1 0.2\n" },
	{ FORMAT_DBCOP_BINCODE, "0 1 0 1 0 \"\" \"\" \"\" 1 1 0 b1", "0.1:\n" },
	{ FORMAT_DBCOP_BINCODE,
	  "0 2 1 1 1 \"\" \"\" \"\" 2 1 1 b1 0xffffffffffffffff "
	  "0xfffffffffffffffe b1 b1 1 1 b0 0xffffffffffffffff "
	  "0xfffffffffffffffe b1 b1",
	  "0.1: w1\n1.1: r1<0.1\n" },
	{ FORMAT_COBRA,
	  ".S 5 .W 100 7 1 .R 0xbebeebee 0xbebeebee 8 0 "
	  ".R 0xdeadbeef 0xdeadbeef 9 0 .C 5 .S 6 .R 5 100 7 1 .C 6",
	  "0.1: w1 r2<init r3<init\n0.2: r1<0.1\n" },
	/* With times; fences are skipped; a log may stop inside a transaction.
	 */
	{ FORMAT_COBRA,
	  ".S 5 1000 .W 100 7 1 .C 5 1001 .S 6 1002 .W 101 7 1 "
	  ".R 0xbebeebee 0x23332333 3 0",
	  "0.1: w1\n0.2!: w1\n" },
};

enum { BYTE_SAMPLES = sizeof byte_samples / sizeof *byte_samples };

static struct text byte_sample(int i)
{
	return bytes_of(byte_samples[i].notation,
	                byte_samples[i].format == FORMAT_DBCOP_BINCODE);
}

START_TEST(byte_samples_mean_what_they_say)
{
	struct text t = byte_sample(_i);
	enum format f = byte_samples[_i].format;
	check_shape(f, t.data, t.length, byte_samples[_i].shape);
	if (f == FORMAT_DBCOP_BINCODE)
		ck_assert_int_eq(detect_bytes(t.data, t.length), f);
	text_free(&t);
}
END_TEST

/* ---- errors ---- */

static const struct {
	enum format format;
	const char *text;
	uint32_t line, column;
	const char *message;
} errors[] = {
	{ FORMAT_PLUME, "w(1,1,0,1)\nx(1,1,0,1)\n", 2, 1, "expected r(key" },
	{ FORMAT_PLUME, "w 1 1\n", 1, 3, "expected '('" },
	{ FORMAT_PLUME, "w(1,1,0)\n", 1, 8, "expected ','" },
	{ FORMAT_PLUME, "w(1,1,0,1,2)\n", 1, 10, "expected ')'" },
	{ FORMAT_PLUME, "w(1,1,0,1", 1, 10, "expected ')'" },
	{ FORMAT_PLUME, "w(1,,0,1)", 1, 5, "expected an integer" },
	{ FORMAT_PLUME, "w(1,-,0,1)", 1, 6, "expected an integer" },
	{ FORMAT_PLUME, "w(1,x,0,1)", 1, 5, "expected an integer" },
	{ FORMAT_PLUME, "\n\nw(1, 18446744073709551616,0,1)", 3, 6,
	  "does not fit 64 bits" },
	{ FORMAT_PLUME, "w(1,-9223372036854775809,0,1)", 1, 5,
	  "does not fit 64 bits" },
	{ FORMAT_PLUME, "w(1,1,0,1) w(2,2,0,1)", 1, 12, "one each line" },
	{ FORMAT_PLUME, "w(1,1,0,3)\n#\nr(1,1,5,3)\n", 3, 9,
	  "transaction 3 is in two sessions: line 1" },
	{ FORMAT_PLUME, "w(1,1,0,3)\nw(1,1,0,4)\nr(1,1,1,5)\n", 2, 0, "" },
	{ FORMAT_PLUME, "# nothing\n", 0, 0, "no session" },
	{ FORMAT_AWDIT, "w 1\n", 1, 4, "expected an integer" },
	{ FORMAT_AWDIT, "w 1 2 3\n", 1, 7, "'r KEY VALUE'" },
	{ FORMAT_AWDIT, "w(1,2)\n", 1, 1, "'r KEY VALUE'" },
	{ FORMAT_AWDIT, "w 1 2\n--- 5\n", 2, 5, "'r KEY VALUE'" },
	{ FORMAT_AWDIT, "w 1 99999999999999999999\n", 1, 5,
	  "does not fit 64 bits" },
	{ FORMAT_DBCOP_TEXT, "[x:=1\n[y:=2]", 1, 1, "'[' that is not closed" },
	{ FORMAT_DBCOP_TEXT, "[x=1]", 1, 3, "expected ':='" },
	{ FORMAT_DBCOP_TEXT, "[x:=?]", 1, 5, "expected an integer" },
	{ FORMAT_DBCOP_TEXT, "[x:=1] y", 1, 8, "expected a transaction" },
	{ FORMAT_DBCOP_TEXT, "[\xc3\xa4:=1]", 1, 2, "expected ']'" },
	{ FORMAT_DBCOP_TEXT, "[x:=1 \xc3\xa4]", 1, 7, "expected ']'" },
	{ FORMAT_DBCOP_TEXT, "[x:=1]\n--\n- [x:=2]", 3, 1,
	  "expected a transaction" },
};

enum { ERRORS = sizeof errors / sizeof *errors };

static void check_error(const struct diags *d, uint32_t line, uint32_t column,
                        const char *message)
{
	char *all = diags_to_text(d);
	ck_assert_msg(d->errors > 0, "no error: %s", message);
	ck_assert_str_eq(d->items[0].file, "test");
	ck_assert_msg(strstr(d->items[0].message, message), "%s", all);
	ck_assert_msg(d->items[0].line == line && d->items[0].column == column,
	              "%s", all);
	free(all);
}

START_TEST(errors_have_their_place)
{
	struct diags d = { 0 };
	struct trace *t = parse_bytes(errors[_i].format, errors[_i].text,
	                              strlen(errors[_i].text), &d);
	ck_assert_ptr_null(t);
	check_error(&d, errors[_i].line, errors[_i].column, errors[_i].message);
	diags_free(&d);
}
END_TEST

static const struct {
	enum format format;
	const char *notation, *message;
} byte_errors[] = {
	{ FORMAT_DBCOP_BINCODE, "7 2 2", "byte 24: the file ends inside" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 0xffffffffffffffff",
	  "byte 40: 18446744073709551615 bytes of a text are said" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 0x1000000000",
	  "byte 64: 68719476736 sessions are said" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 1 3 0 b1",
	  "byte 72: 3 transactions are said" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 1 1 1 b1 1 1 b1",
	  "the file ends inside a transaction" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 1 1 1 b7 1 1 b1 b1",
	  "byte 88: the flag of an event is 7" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 1 1 0 b2",
	  "byte 88: the flag of a transaction is 2" },
	{ FORMAT_DBCOP_BINCODE, "7 2 2 2 2 \"\" \"\" \"\" 1 1 0 b1 5",
	  "byte 89: 8 bytes follow the history" },
	{ FORMAT_COBRA, ".S 5 .W 1 2", "byte 9: the log ends inside" },
	{ FORMAT_COBRA, ".W 1 2 3", "byte 0: a write outside" },
	{ FORMAT_COBRA, ".R 1 2 3 4", "byte 0: a read outside" },
	{ FORMAT_COBRA, ".C 1", "byte 0: a commit outside" },
	{ FORMAT_COBRA, ".S 1 .S 2", "byte 9: a transaction begins before" },
	{ FORMAT_COBRA, ".S 1 .C 2", "byte 9: the commit is of another" },
	{ FORMAT_COBRA, ".S 1 .A 1", "byte 9: an aborted transaction (A)" },
	{ FORMAT_COBRA, ".S 1 b0", "byte 9: no record begins with 0x00" },
	{ FORMAT_COBRA, ".S 1 .R 0xabcdefab 0xabcdefab 1 0 .C 1",
	  "byte 9: a read of a key that was deleted" },
};

enum { BYTE_ERRORS = sizeof byte_errors / sizeof *byte_errors };

START_TEST(byte_errors_have_their_place)
{
	struct diags d = { 0 };
	enum format f = byte_errors[_i].format;
	struct text t =
		bytes_of(byte_errors[_i].notation, f == FORMAT_DBCOP_BINCODE);
	ck_assert_ptr_null(parse_bytes(f, t.data, t.length, &d));
	check_error(&d, 0, 0, byte_errors[_i].message);
	text_free(&t);
	diags_free(&d);
}
END_TEST

/* ---- damaged input ---- */

static void damage(enum format f, const char *bytes, size_t length,
                   struct rng *rng)
{
	char *copy = mem_take(length + 1);
	for (size_t i = 0; i <= length; i++) check_survives(f, bytes, i);
	for (int i = 0; i < 300 && length; i++) {
		memcpy(copy, bytes, length);
		for (uint32_t n = 1 + rng_below(rng, 3); n; n--)
			copy[rng_below(rng, (uint32_t)length)] =
				rng_below(rng, 2)
					? (char)rng_next(rng)
					: bytes[rng_below(rng,
			                                  (uint32_t)length)];
		check_survives(f, copy, length);
	}
	free(copy);
}

START_TEST(damaged_texts_are_survived)
{
	struct rng rng = { process_seed(_i, 0) };
	damage(samples[_i].format, samples[_i].text, strlen(samples[_i].text),
	       &rng);
}
END_TEST

START_TEST(damaged_bytes_are_survived)
{
	struct rng rng = { process_seed(_i, 0) };
	struct text t = byte_sample(_i);
	damage(byte_samples[_i].format, t.data, t.length, &rng);
	text_free(&t);
}
END_TEST

/* ---- there and back ---- */

/* Through a format and back nothing changes that the format keeps; and what
 * went through it once is written the same again. */
static bool round_trip(enum format f, const struct trace *t)
{
	struct text once = { 0 };
	struct diags d = { 0 };
	if (format_may_refuse(f, t)) {
		ck_assert(!format_print(&once, f, t, NULL, &d));
		ck_assert_uint_eq(d.errors, 1);
		text_free(&once);
		diags_free(&d);
		return false;
	}
	once = print_good(f, t, NULL);
	struct trace *back = parse_good_bytes(f, once.data, once.length);
	check_same_shape(f, t, back, once.data);
	if (strcmp(once.data, "[]\n") != 0) /* which is JSON as well */
		ck_assert_int_eq(detect_bytes(once.data, once.length), f);
	struct text twice = print_good(f, back, NULL);
	struct trace *again = parse_good_bytes(f, twice.data, twice.length);
	struct text thrice = print_good(f, again, NULL);
	ck_assert_uint_eq(twice.length, thrice.length);
	ck_assert(!memcmp(twice.data, thrice.data, twice.length));
	trace_free(back);
	trace_free(again);
	text_free(&once);
	text_free(&twice);
	text_free(&thrice);
	return true;
}

static const enum format ours[] = { FORMAT_PLUME, FORMAT_AWDIT,
	                            FORMAT_DBCOP_BINCODE, FORMAT_DBCOP_TEXT };

enum { OURS = sizeof ours / sizeof *ours };

START_TEST(random_traces_go_there_and_back)
{
	struct rng r = { first_seed() * 1000 + 1 * 10 + (uint64_t)_i };
	int count = (int)programs_or(2000), written = 0;
	for (int i = 0; i < count; i++) {
		struct trace *t = trace_random(&r);
		written += round_trip(ours[_i], t);
		trace_free(t);
	}
	ck_assert_int_gt(written, count / 4);
}
END_TEST

START_TEST(random_histories_go_there_and_back)
{
	struct rng r = { first_seed() * 1000 + 2 * 10 + (uint64_t)_i };
	int count = (int)programs_or(2000), written = 0;
	for (int i = 0; i < count; i++) {
		struct history_shape shape = {
			.sessions = 4,
			.transactions = 7,
			.events = 5,
			.keys = 3,
			.causal = i % 2,
		};
		struct history *h = history_random(&r, shape);
		struct trace *t = trace_of_history(h, "test");
		struct diags d = { 0 };
		if (format_can_write(t, ours[_i], 0, &d))
			written += round_trip(ours[_i], t);
		diags_free(&d);
		trace_free(t);
		history_free(h);
	}
	ck_assert_int_gt(written, count / 10);
}
END_TEST

/* ---- values that are not unique ---- */

/* A transaction writes these values to one key, and another one reads one. */
static const struct {
	const char *writes, *read;
} repeated[] = {
	{ "[\"w\",\"x\",1],[\"w\",\"x\",1]", "1" },
	{ "[\"w\",\"x\",1],[\"w\",\"x\",2],[\"w\",\"x\",1]", "1" },
	{ "[\"w\",\"x\",1],[\"w\",\"x\",2],[\"w\",\"x\",1]", "2" },
	{ "[\"w\",\"x\",\"a\"],[\"w\",\"x\",\"a\"]", "\"a\"" },
};

START_TEST(the_last_of_equal_writes_is_read)
{
	static const enum format others[] = { FORMAT_DBCOP_JSON,
		                              FORMAT_REGISTER_EDN,
		                              FORMAT_REGISTER_JSON,
		                              FORMAT_ISOSCOPE };
	struct text t = { 0 };
	text_format(&t,
	            "{\"history\":1,\"init\":{\"x\":0},\"sessions\":["
	            "{\"name\":\"a\",\"transactions\":[{\"events\":[%s]}]},"
	            "{\"name\":\"b\",\"transactions\":[{\"events\":"
	            "[[\"r\",\"x\",%s,[0,0]]]}]}]}\n",
	            repeated[_i].writes, repeated[_i].read);
	struct trace *r = parse_good_bytes(FORMAT_ISOSCOPE, t.data, t.length);
	for (int i = 0; i < OURS; i++) ck_assert(round_trip(ours[i], r));
	for (int i = 0; i < 4; i++) ck_assert(round_trip(others[i], r));
	trace_free(r);
	text_free(&t);
}
END_TEST

/* ---- what formats cannot say ---- */

/* A transaction of each status, whose read counts, in a last session. */
static struct trace *odd_trace(enum trace_status status, bool after_all)
{
	struct trace_rules rules = { .initial = trace_value_number(0),
		                     .aborted_reads = true };
	struct trace_builder *b = trace_builder_new("test", &rules);
	struct diags d = { 0 };
	uint32_t s = trace_session_number(b, 1), k = trace_key_number(b, 1);
	uint32_t t = trace_transaction_new(b, s, TRACE_COMMITTED, 1);
	trace_op_add(b, t, EVENT_WRITE, k, trace_value_number(1), 1);
	s = trace_session_new(b, "last", 4, after_all);
	t = trace_transaction_new(b, s, status, 2);
	trace_op_add(b, t, EVENT_READ, k, trace_value_number(1), 3);
	struct trace *r = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(r);
	diags_free(&d);
	return r;
}

static void check_refused(struct trace *t, const char *what)
{
	for (int i = 0; i < OURS; i++) {
		struct diags d = { 0 };
		struct text printed = { 0 };
		ck_assert(!format_print(&printed, ours[i], t, NULL, &d));
		ck_assert_uint_eq(d.count, 1);
		ck_assert(strstr(d.items[0].message, format_word(ours[i])));
		ck_assert(strstr(d.items[0].message, what));
		ck_assert(strstr(d.items[0].message, "as isoscope"));
		diags_free(&d);
		text_free(&printed);
	}
	trace_free(t);
}

START_TEST(what_a_format_has_not_is_an_error)
{
	check_refused(odd_trace(TRACE_COMMITTED, true), "follows all others");
	check_refused(odd_trace(TRACE_ABORTED, false), "reads of a transact");
	for (int i = 0; i < OURS; i++) {
		struct trace *t = odd_trace(TRACE_COMMITTED, false);
		ck_assert(round_trip(ours[i], t));
		trace_free(t);
	}
}
END_TEST

/* Lines of a session with another negative number are another aborted
 * transaction of Plume. */
START_TEST(aborted_transactions_of_plume)
{
	static const char text[] = "w(1,1,1,-1)\nw(2,2,1,-1)\nw(3,3,1,-2)\n"
				   "w(4,4,2,-2)\nw(5,5,1,-2)\nw(6,6,1,3)\n"
				   "w(7,7,1,-2)\n";
	struct trace *t = parse_good(FORMAT_PLUME, text);
	ck_assert_uint_eq(t->transaction_count, 1 + 5);
	trace_free(t);
}
END_TEST

/* What is printed of a history in the text of Plume. */
static void check_plume(const char *text, const char *printed)
{
	struct trace *t = parse_good(FORMAT_PLUME, text);
	struct text out = print_good(FORMAT_PLUME, t, NULL);
	ck_assert_str_eq(out.data, printed);
	text_free(&out);
	trace_free(t);
}

START_TEST(integers_are_kept_where_they_can_be)
{
	check_plume("w(7,9,3,5)\nr(7,9,2,8)\nr(7,0,2,8)\nr(7,4,2,8)\n",
	            "w(7,9,3,5)\nr(7,9,2,8)\nr(7,0,2,8)\nr(7,4,2,8)\n");
	/* Negative values and keys, and wide ones, are not. */
	check_plume("w(-7,9,3,5)\nr(-7,-4,2,8)\n", "w(0,9,3,5)\nr(0,1,2,8)\n");
	check_plume("w(7,-9,3,5)\nw(7,1,3,5)\nr(7,-9,3,6)\nr(7,8,3,6)\n",
	            "w(7,1,3,5)\nw(7,2,3,5)\nr(7,1,3,6)\nr(7,3,3,6)\n");
	check_plume("w(7,18446744073709551615,3,5)\n", "w(7,1,3,5)\n");
	check_plume("w(7,1,-3,5)\nw(7,2,-4,18446744073709551615)\n",
	            "w(7,1,0,1)\nw(7,2,1,2)\n");
}
END_TEST

START_TEST(words_are_formats)
{
	for (enum format f = 0; f < FORMAT_COUNT; f++) {
		ck_assert_int_eq(format_from_word(format_word(f)), f);
		ck_assert(strlen(format_description(f)) > 3);
	}
	ck_assert_int_eq(format_from_word("nothing"), FORMAT_COUNT);
	ck_assert_int_eq(format_from_word(""), FORMAT_COUNT);
}
END_TEST

/* What begins like one format and is another. */
static const struct {
	const char *text;
	enum format format;
} detections[] = {
	{ "{\"history\":1,\"sessions\":[]}", FORMAT_ISOSCOPE },
	{ "\n {\"init\":{\"x\":{\"data\":1}}, \"sessions\" :[]}",
	  FORMAT_ISOSCOPE },
	{ "{\"params\":{\"sessions\":1},\"data\":[]}", FORMAT_DBCOP_JSON },
	{ "[[{\"events\":[],\"committed\":true}]]", FORMAT_DBCOP_JSON },
	{ "[ ]", FORMAT_DBCOP_JSON },
	{ "[ ]\n[]", FORMAT_DBCOP_TEXT },
	{ "[x:=1]", FORMAT_DBCOP_TEXT },
	{ "// c\n-----\n[x:=1]", FORMAT_DBCOP_TEXT },
	{ "---\n===\n", FORMAT_AWDIT },
	{ "===\nr 1 -1", FORMAT_AWDIT },
	{ "# r 1 1\nr (1,2,3,4)", FORMAT_PLUME },
	{ "w(", FORMAT_PLUME },
	{ "read 1 2", FORMAT_COUNT },
	{ "r", FORMAT_COUNT },
	{ "r1 2", FORMAT_COUNT },
	{ "", FORMAT_COUNT },
	{ "//", FORMAT_COUNT },
};

enum { DETECTIONS = sizeof detections / sizeof *detections };

START_TEST(formats_are_detected)
{
	const char *text = detections[_i].text;
	ck_assert_str_eq(format_word(detect_bytes(text, strlen(text))),
	                 format_word(detections[_i].format));
}
END_TEST

void add_formats_tests(TCase *tests)
{
	tcase_add_loop_test(tests, samples_mean_what_they_say, 0, SAMPLES);
	tcase_add_loop_test(tests, byte_samples_mean_what_they_say, 0,
	                    BYTE_SAMPLES);
	tcase_add_loop_test(tests, errors_have_their_place, 0, ERRORS);
	tcase_add_loop_test(tests, byte_errors_have_their_place, 0,
	                    BYTE_ERRORS);
	tcase_add_loop_test(tests, damaged_texts_are_survived, 0, SAMPLES);
	tcase_add_loop_test(tests, damaged_bytes_are_survived, 0, BYTE_SAMPLES);
	tcase_add_loop_test(tests, random_traces_go_there_and_back, 0, OURS);
	tcase_add_loop_test(tests, random_histories_go_there_and_back, 0, OURS);
	tcase_add_test(tests, what_a_format_has_not_is_an_error);
	tcase_add_test(tests, integers_are_kept_where_they_can_be);
	tcase_add_test(tests, aborted_transactions_of_plume);
	tcase_add_loop_test(tests, the_last_of_equal_writes_is_read, 0,
	                    sizeof repeated / sizeof *repeated);
	tcase_add_test(tests, words_are_formats);
	tcase_add_loop_test(tests, formats_are_detected, 0, DETECTIONS);
}
