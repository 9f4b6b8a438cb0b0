/* The traces of IsoPredict: what their lines say, what is wrong in them and
 * where, from histories of other formats and back. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "formats_support.h"
#include "suites.h"
#include "support.h"
#include "trace_shape.h"

#define F FORMAT_ISOPREDICT

/* ---- what lines say ---- */

static const struct {
	const char *text, *shape;
} samples[] = {
	{ "READ KEY[x] Txn(1, 0) From(0, 0)\nWRITE KEY[x] Txn(1, 0)\n"
	  "READ KEY[x] Txn(2, 0) From(1, 0)\n",
	  "0.1: r1<init w1\n1.1: r1<0.1\n" },
	/* Blanks around a line, empty lines; the line end of the last may
	 * lack. */
	{ "\n \t\nWRITE KEY[x] Txn(1, 0)\r\n"
	  "\tREAD KEY[x] Txn(2, 0) From(1, 0) ",
	  "0.1: w1\n1.1: r1<0.1\n" },
	/* A text ends with the first bracket that closes it. */
	{ "WRITE KEY[KEY[a] Txn(1, 0)\nWRITE KEY[b c] Txn((1, 0)\n",
	  "0.1: w1\n1.1: w2\n" },
	/* Rows of sets. */
	{ "INSERT[7] to Set[s] Txn(1, 0)\nDELETE[8] from Set[s] Txn(1, 0)\n"
	  "CONTAINS[7] in Set[s] From(1, 0) Txn(2, 0)\n"
	  "CONTAINS[8] in Set[t] From(0, 0) Txn(2, 0)\n"
	  "READ KEY[Set(s:8)] Txn(2, 0) From(1, 0)\n"
	  "DELETE[7] from Set[s] Txn(2, 1)\n",
	  "0.1: w1 w2\n1.1: r1<0.1 r3<init r2<0.1\n1.2: w1\n" },
	/* init may be there. */
	{ "WRITE KEY[x] Txn(0, 0)\nINSERT[1] to Set[s] Txn(0, 0)\n"
	  "READ KEY[x] Txn(0, 0) From(0, 0)\n"
	  "READ KEY[x] Txn(5, 7) From(0, 0)\n",
	  "0.1: r1<init\n" },
	/* Readers before their writers, transactions mixed. */
	{ "READ KEY[x] Txn(1, 1) From(2, 3)\nREAD KEY[y] Txn(1, 0) From(2, 3)\n"
	  "WRITE KEY[y] Txn(2, 3)\nWRITE KEY[z] Txn(1, 1)\n"
	  "WRITE KEY[x] Txn(2, 3)\nREAD KEY[z] Txn(1, 0) From(1, 1)\n",
	  "0.1: r1<1.1 w2\n0.2: r3<1.1 r2<0.1\n1.1: w3 w1\n" },
	/* Sessions in the order of their ids; ids are texts, gaps are none. */
	{ "WRITE KEY[a] Txn(x y, q)\nWRITE KEY[b] Txn(10, 3)\n"
	  "WRITE KEY[c] Txn(9, 5)\nWRITE KEY[d] Txn(9, 2)\n"
	  "WRITE KEY[e] Txn(09, 1)\nREAD KEY[a] Txn(9, 1, 2) From(x y, q)\n"
	  "WRITE KEY[f] Txn(00, 0)\nREAD KEY[f] Txn(9,  1) From(00, 0)\n",
	  "0.1: w1\n0.2: w2\n0.3: r3<4.1\n0.4: r4<2.1\n1.1: w5\n2.1: w4\n"
	  "3.1: w6\n4.1: w3\n" },
	/* Behind the own write a read is of that, whatever it names; before,
	 * it is not. Of two writes the last counts. */
	{ "READ KEY[x] Txn(1, 0) From(2, 0)\nWRITE KEY[x] Txn(1, 0)\n"
	  "READ KEY[x] Txn(1, 0) From(2, 0)\nREAD KEY[x] Txn(1, 0) From(8, 8)\n"
	  "READ KEY[x] Txn(1, 0) From(0, 0)\nREAD KEY[x] Txn(1, 0) From(1, 0)\n"
	  "WRITE KEY[x] Txn(1, 0)\nWRITE KEY[x] Txn(2, 0)\n"
	  "READ KEY[x] Txn(2, 1) From(1, 0)\n",
	  "0.1: r1<1.1 w1 r1<self r1<self r1<self r1<self w1\n1.1: w1\n"
	  "1.2: r1<0.1\n" },
	/* A read of its own later write is none. */
	{ "READ KEY[x] Txn(1, 0) From(1, 0)\nWRITE KEY[x] Txn(1, 0)\n",
	  "0.1: r1<nobody w1\nfuture 0.1 0 nobody\n" },
	/* Longer than 64 bits. */
	{ "WRITE KEY[18446744073709551616] Txn(18446744073709551616, 1)\n"
	  "READ KEY[18446744073709551616] Txn(2, 99999999999999999999) "
	  "From(18446744073709551616, 1)\n",
	  "0.1: r1<1.1\n1.1: w1\n" },
	{ "WRITE KEY[\xc3\xa4 \xe2\x82\xac] Txn(1, 0)\n", "0.1: w1\n" },
};

enum { SAMPLES = sizeof samples / sizeof *samples };

START_TEST(samples_mean_what_they_say)
{
	struct trace *t = parse_good(F, samples[_i].text);
	char *shape = shape_of(t, 0);
	ck_assert_str_eq(shape, samples[_i].shape);
	const char *text = samples[_i].text;
	ck_assert_int_eq(detect_bytes(text, strlen(text)), F);
	free(shape);
	trace_free(t);
}
END_TEST

/* What there is to see in reports and other formats. */
START_TEST(names_and_values_are_kept)
{
	struct trace *t = parse_good(
		F, "WRITE KEY[k] Txn(1, 4)\nREAD KEY[k] Txn(a, b) From(1, 4)\n"
		   "READ KEY[n] Txn(a, b) From(0, 0)\nINSERT[r] to Set[s] "
		   "Txn(a, b)\n");
	struct text printed = print_good(FORMAT_ISOSCOPE, t, NULL);
	ck_assert_str_eq(
		text_get(&printed),
		"{\"history\":1,\"values\":false,\"init\":{\"Set(s:r)\":null,"
		"\"k\":null,"
		"\"n\":null},\"sessions\":[{\"name\":\"1\",\"transactions\":[{"
		"\"name\":\"t4\",\"status\":\"committed\",\"events\":["
		"[\"w\",\"k\",1]]}]},{\"name\":\"a\",\"transactions\":[{"
		"\"name\":"
		"\"b\",\"status\":\"committed\",\"events\":[[\"r\",\"k\",1,[0,"
		"0]],"
		"[\"r\",\"n\",null,\"init\"],[\"w\",\"Set(s:r)\",2]]}]}]}\n");
	text_free(&printed);
	trace_free(t);
}
END_TEST

/* ---- errors ---- */

#define READ_X "READ KEY[x] Txn(1, 0) From"

static const struct {
	const char *text;
	uint32_t line, column;
	const char *message;
} errors[] = {
	{ "hello\n", 1, 1, "this line is not an operation of IsoPredict" },
	{ "\n\nWRITE KEY[x]\n", 3, 13, "from here on, this line is not" },
	{ "WRITE KEY[x] Txn(1, 0)\nREAD KEY[x] Txn(2, 0) Form(1, 0)\n", 2, 24,
	  "from here on" },
	{ "READ KEY[x] Txn(1, 0)\n", 1, 22, "from here on" },
	{ "WRITE KEY[x] Txn(1, 0) From(0, 0)\n", 1, 23, "from here on" },
	{ "WRITE KEY[] Txn(1, 0)\n", 1, 11, "from here on" },
	{ "WRITE KEY[x] Txn(1, 0\n", 1, 18, "from here on" },
	{ "  12:00 WRITE KEY[x] Txn(1, 0)\n", 1, 3, "this line is no" },
	{ "DELETE[1] From Set[s] Txn(1, 0)\n", 1, 11, "from here on" },
	{ "CONTAINS[1] in Set[s] Txn(1, 0)\n", 1, 23, "from here on" },
	{ "\n \n", 0, 0, "the history has no session" },
	{ "WRITE KEY[x] Txn(0, 0)\n", 0, 0, "the history has no session" },
	{ "WRITE KEY[x] Txn(1, 0)\nWRITE KEY[x] Txn(1,1)\n", 2, 18,
	  "expected a session, a comma, a blank and an index" },
	{ "WRITE KEY[x] Txn(1)\n", 1, 18, "expected a session" },
	{ "WRITE KEY[x] Txn(, 1)\n", 1, 18, "expected a session" },
	{ "WRITE KEY[x] Txn(1, )\n", 1, 18, "expected a session" },
	{ "WRITE KEY[x] Txn( )\n", 1, 18, "expected a session" },
	{ READ_X "(1)\n", 1, 28, "expected a session" },
	{ READ_X "(0, 1)\n", 1, 28, "session 0 has one transaction only" },
	{ "WRITE KEY[x] Txn(0, 00)\n", 1, 18, "session 0 has one" },
	{ READ_X "(2, 0)\n", 1, 28,
	  "no line of the file is of transaction "
	  "'2, 0'" },
	{ READ_X "(0, 0)\nCONTAINS[1] in Set[s] From(\xc3\xa4, 0) Txn(1, 0)\n",
	  2, 28, "no line of the file is of transaction '\xc3\xa4, 0'" },
	{ "WRITE KEY[y] Txn(2, 0)\n" READ_X "(2, 0)\n", 2, 28,
	  "transaction '2, 0' does not write that key" },
	{ READ_X "(1, 0)\n", 1, 28, "'1, 0' does not write that key" },
	{ "WRITE KEY[\xc3\xa4\xff] Txn(1, 0)\n", 1, 12, "this is not UTF-8" },
	{ "WRITE KEY[\xed\xa0\x80] Txn(1, 0)\n", 1, 11, "this is not UTF-8" },
};

enum { ERRORS = sizeof errors / sizeof *errors };

START_TEST(errors_have_their_place)
{
	struct diags d = { 0 };
	struct trace *t =
		parse_bytes(F, errors[_i].text, strlen(errors[_i].text), &d);
	char *all = diags_to_text(&d);
	ck_assert_msg(!t, "accepted: %s", errors[_i].text);
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_msg(strstr(d.items[0].message, errors[_i].message), "%s",
	              all);
	ck_assert_msg(d.items[0].line == errors[_i].line &&
	                      d.items[0].column == errors[_i].column,
	              "%s", all);
	free(all);
	diags_free(&d);
}
END_TEST

START_TEST(zero_bytes_are_errors)
{
	static const char bad[] = "WRITE KEY[x\0] Txn(1, 0)\n";
	struct diags d = { 0 };
	ck_assert_ptr_null(parse_bytes(F, bad, sizeof bad - 1, &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_ptr_nonnull(strstr(d.items[0].message, "a zero byte"));
	diags_free(&d);
}
END_TEST

/* Lines that look like operations again and again take linear time. */
START_TEST(long_lines_are_passed)
{
	static const char *const pieces[] = {
		"KEY[",
		"KEY[a]",
		"Txn(",
		"KEY[a] Txn(",
		"Txn(1, 0)",
		"INSERT[",
		"INSERT[a] to Set[",
		"Set[s] Txn(",
		"CONTAINS[a] in Set[s] From(",
		"DELETE[a] from Set[s] Txn",
	};
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct diags d = { 0 };
		struct text t = { 0 };
		text_string(&t, "WRITE KEY[k]]");
		while (t.length < (size_t)fewer(2000000))
			text_string(&t, pieces[i]);
		struct trace *r = parse_bytes(F, t.data, t.length, &d);
		ck_assert_int_eq(!r, d.errors > 0);
		trace_free(r);
		text_free(&t);
		diags_free(&d);
	}
}
END_TEST

/* ---- damaged input ---- */

START_TEST(damaged_texts_are_survived)
{
	struct rng rng = { process_seed(_i, 0) };
	const char *bytes = samples[_i].text;
	size_t length = strlen(bytes);
	char *copy = mem_take(length + 1);
	for (size_t i = 0; i <= length; i++) check_survives(F, bytes, i);
	for (int i = 0; i < 500; i++) {
		memcpy(copy, bytes, length);
		for (uint32_t n = 1 + rng_below(&rng, 3); n; n--)
			copy[rng_below(&rng, (uint32_t)length)] =
				rng_below(&rng, 2)
					? (char)rng_next(&rng)
					: bytes[rng_below(&rng,
			                                  (uint32_t)length)];
		check_survives(F, copy, length);
	}
	free(copy);
}
END_TEST

/* ---- writing ---- */

/* What is printed of a history in the text of Plume. */
static void check_plume(const char *text, const char *printed)
{
	struct diags d = { 0 };
	struct input in = { .file = "test",
		            .bytes = text,
		            .length = strlen(text) };
	struct reader_options o = { .format = FORMAT_PLUME };
	struct trace *t = format_parse(&in, FORMAT_PLUME, &o, &d);
	ck_assert_ptr_nonnull(t);
	struct text out = print_good(F, t, NULL);
	ck_assert_str_eq(text_get(&out), printed);
	text_free(&out);
	trace_free(t);
	diags_free(&d);
}

START_TEST(names_are_kept_where_they_can_be)
{
	/* Session 0 is init, so sessions are numbered; transactions are not. */
	check_plume("w(7,1,0,4)\nw(8,5,0,9)\nr(7,1,5,2)\nr(8,0,5,2)\n",
	            "WRITE KEY[7] Txn(1, 4)\nWRITE KEY[8] Txn(1, 9)\n"
	            "READ KEY[7] Txn(2, 2) From(1, 4)\n"
	            "READ KEY[8] Txn(2, 2) From(0, 0)\n");
	/* Sessions in the order of their names; numbers that decrease. */
	check_plume("w(7,1,2,5)\nw(7,2,2,3)\nr(7,2,3,4)\n",
	            "WRITE KEY[7] Txn(2, 0)\nWRITE KEY[7] Txn(2, 1)\n"
	            "READ KEY[7] Txn(3, 4) From(2, 1)\n");
	check_plume("w(7,1,12,1)\nr(7,1,3,4)\n",
	            "WRITE KEY[7] Txn(1, 1)\n"
	            "READ KEY[7] Txn(2, 4) From(1, 1)\n");
	/* Aborted transactions leave no line, and none is counted. */
	check_plume("w(7,1,1,-1)\nw(7,2,1,-2)\nw(7,3,1,5)\nw(7,4,1,2)\n",
	            "WRITE KEY[7] Txn(1, 0)\nWRITE KEY[7] Txn(1, 1)\n");
	/* The own write. */
	check_plume("w(7,1,1,1)\nr(7,1,1,1)\n",
	            "WRITE KEY[7] Txn(1, 1)\nREAD KEY[7] Txn(1, 1) "
	            "From(1, 1)\n");
}
END_TEST

/* IsoPredict wants writers before their readers; in a circle, whatever. */
START_TEST(writers_come_first)
{
	check_plume("r(7,5,1,2)\nw(8,6,1,3)\nw(9,4,2,4)\nw(7,5,2,5)\n"
	            "r(8,6,2,6)\nr(9,4,3,7)\n",
	            "WRITE KEY[9] Txn(2, 4)\nWRITE KEY[7] Txn(2, 5)\n"
	            "READ KEY[7] Txn(1, 2) From(2, 5)\nWRITE KEY[8] Txn(1, 3)\n"
	            "READ KEY[8] Txn(2, 6) From(1, 3)\n"
	            "READ KEY[9] Txn(3, 7) From(2, 4)\n");
	check_plume("r(7,5,1,1)\nw(8,6,1,2)\nr(8,6,2,3)\nw(7,5,2,4)\n",
	            "READ KEY[7] Txn(1, 1) From(2, 4)\n"
	            "WRITE KEY[8] Txn(1, 2)\n"
	            "READ KEY[8] Txn(2, 3) From(1, 2)\n"
	            "WRITE KEY[7] Txn(2, 4)\n");
}
END_TEST

/* In the format of isoscope: keys k0, k1; sessions and what else is wrong. */
static void check_isoscope(const char *text, const char *printed)
{
	struct trace *t = parse_good(FORMAT_ISOSCOPE, text);
	struct text out = print_good(F, t, NULL);
	ck_assert_str_eq(text_get(&out), printed);
	text_free(&out);
	trace_free(t);
}

#define SESSION(name, key)                                       \
	"{\"name\":\"" name "\",\"transactions\":[{\"events\":[" \
	"[\"w\",\"" key "\",1]]}]}"
#define HISTORY(sessions) "{\"sessions\":[" sessions "]}"

START_TEST(names_that_cannot_be_written_are_numbered)
{
	check_isoscope(HISTORY(SESSION("al, y", "a b") "," SESSION("b", "c")),
	               "WRITE KEY[a b] Txn(1, 0)\nWRITE KEY[c] Txn(2, 0)\n");
	check_isoscope(HISTORY(SESSION("a", "c[1]") "," SESSION("b c", "d")),
	               "WRITE KEY[0] Txn(a, 0)\nWRITE KEY[1] Txn(b c, 0)\n");
	check_isoscope(HISTORY(SESSION("b", "a") "," SESSION("a", "a\\nb")),
	               "WRITE KEY[0] Txn(1, 0)\nWRITE KEY[1] Txn(2, 0)\n");
	check_isoscope(HISTORY(SESSION("a", "x") "," SESSION("a", "")),
	               "WRITE KEY[0] Txn(1, 0)\nWRITE KEY[1] Txn(2, 0)\n");
	check_isoscope(HISTORY(SESSION("x)", "0")), "WRITE KEY[0] Txn(1, 0)\n");
	check_isoscope(HISTORY(SESSION("0", "k")), "WRITE KEY[k] Txn(1, 0)\n");
	check_isoscope(HISTORY(SESSION("9", "k") "," SESSION("10", "k")),
	               "WRITE KEY[k] Txn(9, 0)\nWRITE KEY[k] Txn(10, 0)\n");
}
END_TEST

#define ONE(transactions) HISTORY("{\"transactions\":[" transactions "]}")
#define EVENTS(events) "{\"events\":[" events "]}"
#define ABORTED(events) "{\"status\":\"aborted\",\"events\":[" events "]}"
#define R(value) "[\"r\",\"x\"," #value "]"
#define W(value) "[\"w\",\"x\"," #value "]"
#define INITIAL "[\"r\",\"x\",1,\"init\"]"

static const struct {
	const char *text, *message;
} refusals[] = {
	{ HISTORY("{},{\"after\":\"all\",\"transactions\":[" EVENTS(
		  INITIAL) "]}"),
	  "a session that follows all" },
	{ ONE(ABORTED(INITIAL)), "reads of a transaction that" },
	{ ONE(EVENTS("")), "transactions without operations" },
	{ ONE(EVENTS(R(1))), "values show: read of a value nobody wrote" },
	{ ONE(EVENTS(W(1) "," W(2)) "," EVENTS(R(1))),
	  "values show: intermediate read" },
	{ ONE(EVENTS(R(1) "," W(1))),
	  "values show: read of the own later write" },
	{ ONE(EVENTS(W(1) "," R(2))), "values show: internal inconsistency" },
	{ ONE(ABORTED(W(1)) "," EVENTS(R(1))),
	  "an aborted transaction, from which" },
	{ "{\"versions\":{\"x\":[1,2]},\"sessions\":[{\"transactions\":"
	  "[" EVENTS(W(1)) "," EVENTS(W(2)) "]}]}",
	  "the order of writes" },
};

enum { REFUSALS = sizeof refusals / sizeof *refusals };

START_TEST(what_has_no_lines_is_an_error)
{
	struct trace *t = parse_good(FORMAT_ISOSCOPE, refusals[_i].text);
	struct text printed = { 0 };
	struct diags d = { 0 };
	ck_assert(!format_print(&printed, F, t, NULL, &d));
	char *all = diags_to_text(&d);
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_msg(strstr(all, refusals[_i].message), "%s", all);
	ck_assert_msg(strstr(all, "the format isopredict"), "%s", all);
	ck_assert_uint_eq(printed.length, 0);
	free(all);
	text_free(&printed);
	diags_free(&d);
	trace_free(t);
}
END_TEST

/* ---- there and back ---- */

/* Nothing changes that the format keeps, and what went through it once is
 * written the same again. */
static void check_round_trip(const struct trace *t, const uint32_t *order)
{
	struct text once = print_good(F, t, order);
	ck_assert_int_eq(detect_bytes(text_get(&once), once.length), F);
	struct trace *back = parse_good(F, text_get(&once));
	char *before = shape_of(t, shape_of_format(F));
	char *after = shape_of(back, 0);
	ck_assert_msg(!strcmp(before, after), "%s\n%s\ngives\n%s", before,
	              text_get(&once), after);
	struct text twice = print_good(F, back, NULL);
	struct trace *again = parse_good(F, text_get(&twice));
	struct text thrice = print_good(F, again, NULL);
	ck_assert_str_eq(text_get(&twice), text_get(&thrice));
	free(before);
	free(after);
	trace_free(back);
	trace_free(again);
	text_free(&once);
	text_free(&twice);
	text_free(&thrice);
}

enum { RUNS = 4 };

START_TEST(random_histories_go_there_and_back)
{
	struct rng r = { first_seed() * 1000 + 41 * 10 + (uint64_t)_i };
	int count = (int)programs_or(2000), written = 0;
	for (int i = 0; i < count; i++) {
		struct history_shape shape = {
			.sessions = 1 + rng_below(&r, 5),
			.transactions = 8,
			.events = 5,
			.keys = 3,
			.causal = i % 2,
		};
		struct history *h = history_random(&r, shape);
		struct trace *t = trace_of_history(h, "test");
		struct text printed = { 0 };
		struct diags d = { 0 };
		if (format_print(&printed, F, t, NULL, &d)) {
			check_round_trip(t, NULL);
			if (h->order) check_round_trip(t, h->order);
			written++;
		}
		text_free(&printed);
		diags_free(&d);
		trace_free(t);
		history_free(h);
	}
	ck_assert_int_gt(written, count / 10);
}
END_TEST

void add_isopredict_tests(TCase *tests)
{
	tcase_add_loop_test(tests, samples_mean_what_they_say, 0, SAMPLES);
	tcase_add_test(tests, names_and_values_are_kept);
	tcase_add_loop_test(tests, errors_have_their_place, 0, ERRORS);
	tcase_add_test(tests, zero_bytes_are_errors);
	tcase_add_test(tests, long_lines_are_passed);
	tcase_add_loop_test(tests, damaged_texts_are_survived, 0, SAMPLES);
	tcase_add_test(tests, names_are_kept_where_they_can_be);
	tcase_add_test(tests, writers_come_first);
	tcase_add_test(tests, names_that_cannot_be_written_are_numbered);
	tcase_add_loop_test(tests, what_has_no_lines_is_an_error, 0, REFUSALS);
	tcase_add_loop_test(tests, random_histories_go_there_and_back, 0, RUNS);
}
