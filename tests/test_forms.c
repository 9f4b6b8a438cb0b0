/* JSON and EDN form by form, and what is wrong in histories written in them,
and where. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "formats/forms.h"
#include "formats_support.h"
#include "suites.h"
#include "support.h"

/* ---- forms: JSON against Jansson, EDN against a list of its forms ---- */

/* How many values there are at the top; -1: malformed. An integer that is too
 * large counts as malformed, as Jansson has it. */
static int count_forms(const char *bytes, size_t length,
                       enum form_syntax syntax)
{
	struct input in = { .file = "test", .bytes = bytes, .length = length };
	struct diags d = { 0 };
	struct forms f;
	struct form x;
	int count = 0;
	bool good, large = false;
	forms_init(&f, &in, bytes, bytes + length, 1, syntax, &d);
	while ((good = form_next(&f, &x)) && x.kind != FORM_END) {
		count += x.kind == FORM_OPEN
		                 ? f.depth == 1
		                 : f.depth == 0 && x.kind != FORM_CLOSE;
		large |= x.kind == FORM_INTEGER && !x.fits;
		ck_assert(x.at <= x.end && x.end <= bytes + length);
	}
	ck_assert_uint_eq(d.errors, !good);
	ck_assert(!good || f.depth == 0);
	forms_free(&f);
	diags_free(&d);
	return good && !large ? count : -1;
}

static const char *const json_seeds[] = {
	"{\"a\":[1,-2,0,3.5e2,-0.1E-2],\"b\":null,\"c\":{\"d\":{}}}",
	"[true,false,\"\\u0041\\n\\\"\\/\\\\\",[],[[]],\"\xc3\xa9\"]",
	" [ \"\\ud83d\\ude00\" , 9223372036854775807 , { \"x\" : 1 } ] ",
	"{\"type\":\"ok\",\"value\":[[\"r\",1,null],[\"w\",\"k\",-5]]}",
	"\"abc\"",
	"12",
	"null",
	"[1,2",
};

enum { JSON_SEEDS = sizeof json_seeds / sizeof *json_seeds };

START_TEST(json_is_what_jansson_takes)
{
	struct rng r = { first_seed() * 1000 + 11 * 10 + (uint64_t)_i };
	int count = (int)programs_or(20000), good = 0;
	const char *seed = json_seeds[_i];
	for (int i = 0; i < count; i++) {
		size_t length = strlen(seed);
		char *bytes = mem_take(length + 1);
		memcpy(bytes, seed, length + 1);
		if (i) damage_json(bytes, length, &r);
		if (i && rng_below(&r, 4) == 0)
			length = rng_below(&r, (uint32_t)length + 1);
		bytes[length] = '\0';
		json_error_t e;
		json_t *j = json_loadb(bytes, length, JSON_DECODE_ANY, &e);
		bool ours = count_forms(bytes, length, FORM_JSON) == 1;
		/* It holds no large reals, and passes over a zero byte
		 * behind a number. */
		bool unsure = memchr(bytes, 0, length) != NULL ||
		              (!j && json_error_code(&e) ==
		                             json_error_numeric_overflow);
		ck_assert_msg(unsure || ours == (j != NULL),
		              "we %s, Jansson %s: %s",
		              ours ? "accept" : "refuse",
		              j ? "accepts" : e.text, bytes);
		good += ours;
		json_decref(j);
		free(bytes);
	}
	ck_assert_int_gt(good, _i == JSON_SEEDS - 1 ? -1 : 0);
}
END_TEST

static const struct {
	const char *edn;
	const char *forms; /* kinds and texts; NULL: malformed */
} edn_samples[] = {
	{ "", "" },
	{ " , ; only blanks\n", "" },
	{ "nil true false", "nil true false" },
	{ "1 -2 +3 0 -0 5N", "1 -2 3 0 0 5" },
	{ "99999999999999999999N -9223372036854775808",
	  "large -9223372036854775808" },
	{ "1.5 -2e10 3.0E-2 4M 5.5M 1e+3", "real real real real real real" },
	{ ":a :b/c d/e - + -x ->y ... <= *1", ":a :b/c d/e - + -x ->y ... <= "
	                                      "*1" },
	{ "\"a\\n\\u0041\nb\"", "\"a\nA\nb\"" },
	{ "\\a \\newline \\( \\\" \\;x", "\\a \\newline \\( \\\" \\;x" },
	{ "[1 (2) {3 4} #{5}]", "[ 1 ( 2 ( { 3 4 { # 5 # [" },
	{ "#inst \"2020\" #a/b [1] #x{:a 1}", "\"2020\" [ 1 [ { :a 1 {" },
	{ "#_a b #_[c #_d {e f}] g", "b g" },
	{ "#_ #_ a b c", "c" },
	{ "#_ #tag a b", "b" },
	{ "[#_ a]", "[ [" },
	{ "a;b\nc", "a c" },
	{ "[1", NULL },
	{ "1]", NULL },
	{ "[1)", NULL },
	{ "#{1]", NULL },
	{ "\"a", NULL },
	{ "\"\\q\"", NULL },
	{ "\"\\u00g0\"", NULL },
	{ "\"\x80\"", NULL },
	{ "\"\xed\xa0\x80\"", NULL },
	{ "012", NULL },
	{ "12x", NULL },
	{ "1/2", NULL },
	{ "1e", NULL },
	{ ":", NULL },
	{ "#_", NULL },
	{ "[#_]", NULL },
	{ "#tag", NULL },
	{ "[#tag]", NULL },
	{ "# a", NULL },
	{ "##Inf", NULL },
	{ "@a", NULL },
	{ "\\", NULL },
	{ "a\"b", NULL },
};

enum { EDN_SAMPLES = sizeof edn_samples / sizeof *edn_samples };

static void print_form(struct text *t, const struct form *x)
{
	if (t->length) text_char(t, ' ');
	switch (x->kind) {
	case FORM_OPEN:
	case FORM_CLOSE: text_char(t, x->bracket); return;
	case FORM_NULL: text_string(t, "nil"); return;
	case FORM_BOOL: text_string(t, x->number ? "true" : "false"); return;
	case FORM_REAL: text_string(t, "real"); return;
	case FORM_INTEGER:
		if (x->fits)
			text_int(t, x->number);
		else
			text_string(t, "large");
		return;
	case FORM_STRING: text_char(t, '"'); break;
	case FORM_KEYWORD: text_char(t, ':'); break;
	case FORM_CHARACTER: text_char(t, '\\'); break;
	default: break;
	}
	text_bytes(t, x->text, x->length);
	if (x->kind == FORM_STRING) text_char(t, '"');
}

START_TEST(edn_is_read_form_by_form)
{
	const char *edn = edn_samples[_i].edn;
	struct input in = { .file = "test",
		            .bytes = edn,
		            .length = strlen(edn) };
	struct diags d = { 0 };
	struct text t = { 0 };
	struct forms f;
	struct form x;
	bool good;
	forms_init(&f, &in, edn, edn + in.length, 1, FORM_EDN, &d);
	while ((good = form_next(&f, &x)) && x.kind != FORM_END)
		print_form(&t, &x);
	if (edn_samples[_i].forms) {
		ck_assert(good);
		ck_assert_str_eq(text_get(&t), edn_samples[_i].forms);
	} else {
		ck_assert(!good);
		ck_assert_uint_eq(d.errors, 1);
		ck_assert_uint_eq(d.items[0].line, 1);
	}
	forms_free(&f);
	text_free(&t);
	diags_free(&d);
}
END_TEST

/* A bracket that is passed over ends where it ends when it is read. */
START_TEST(passing_over_is_skipping)
{
	struct rng r = { first_seed() * 1000 + 12 * 10 };
	int count = (int)programs_or(20000), good = 0;
	for (int i = 0; i < count; i++) {
		char bytes[128];
		strcpy(bytes, json_seeds[i % 4]);
		if (i >= 4) damage_json(bytes, strlen(bytes), &r);
		struct input in = { .file = "test",
			            .bytes = bytes,
			            .length = strlen(bytes) };
		struct diags d = { 0 };
		struct form x, y;
		struct forms f;
		const char *end = bytes + in.length;
		forms_init(&f, &in, bytes, end, 1, FORM_JSON, &d);
		if (form_next(&f, &x) && x.kind == FORM_OPEN &&
		    form_skip(&f, &x)) {
			uint32_t line = f.line;
			good++;
			forms_restart(&f, bytes, end, 1);
			ck_assert(form_next(&f, &y) && form_pass(&f, &y));
			ck_assert_ptr_eq(x.end, y.end);
			ck_assert_uint_eq(f.line, line);
		}
		forms_free(&f);
		diags_free(&d);
	}
	ck_assert_int_ge(good, count / 20);
}
END_TEST

/* ---- errors and where they are ---- */

static const struct {
	enum format format;
	const char *bytes;
	const char *error; /* line:column: its beginning */
} errors[] = {
#define I FORMAT_ISOSCOPE
#define AT "sessions[0].transactions[0].events[0]: "
#define EVENT(e) "{\"sessions\":[{\"transactions\":[{\"events\":[" e "]}]}]}"
	{ I, "", "1:1: expected a history: an object, found the end" },
	{ I, "[]", "1:1: expected a history: an object, found [" },
	{ I, "{}", "1:1: the history has no \"sessions\"" },
	{ I, "{\"sessions\":[]}", "1:0: the history has no session" },
	{ I, "{\"sessions\":[{\"after\":\"all\"},{\"after\":\"all\"}]}",
	  "1:0: 2 sessions follow all others; only one can" },
	{ I, "{\"sessions\":{}}", "1:13: expected an array of sessions" },
	{ I, "{\"sessions\":[{}],\"sessions\":[{}]}",
	  "1:29: sessions are given twice" },
	{ I, "{\"sessions\":[1]}",
	  "1:14: sessions[0]: expected a session: an object, found 1" },
	{ I, "{\"history\":2,\"sessions\":[{}]}",
	  "1:12: expected 1, the version of the format, found 2" },
	{ I, "{\"sessions\":[{}]} x", "1:19: expected a value, found 'x'" },
	{ I, "{\"sessions\":[{}]}{}",
	  "1:18: expected the end of the line, found {" },
	{ I, "{\"sessions\":[{},]}", "1:17: expected a value, found ']'" },
	{ I, "{\"sessions\":[{}", "1:13: '[' that is not closed" },
	{ I, "{\"sessions\" [{}]}", "1:13: expected ':', found '['" },
	{ I, "{\"sessions\":[{\"name\":1}]}",
	  "1:22: sessions[0]: expected a name in quotes, found 1" },
	{ I, "{\"sessions\":[{},{\"after\":\"x\"}]}",
	  "1:26: sessions[1]: expected \"all\", found \"x\"" },
	{ I, "{\"sessions\":[{\"transactions\":[{\"status\":\"done\"}]}]}",
	  "1:41: sessions[0].transactions[0]: expected \"committed\"" },
	{ I, "{\"sessions\":[{\"transactions\":[{\"events\":{}}]}]}",
	  "1:41: sessions[0].transactions[0]: expected an array of events" },
	{ I, "{\"sessions\":[{\"transactions\":[{\"events\":[[}]}]}",
	  "1:43: expected ']', found '}'" },
	{ I, EVENT("7"), "1:42: " AT "expected an event" },
	{ I, EVENT("[]"),
	  "1:43: " AT "expected \"r\", \"w\", \"u\" or \"stmt\", found ]" },
	{ I, EVENT("[\"x\",\"k\",1]"),
	  "1:43: " AT "expected \"r\", \"w\", \"u\" or \"stmt\"" },
	{ I, EVENT("[\"u\"]"), "1:46: " AT "expected a key in quotes" },
	{ I, EVENT("[\"u\",\"k\",1]"), "1:51: " AT "expected ']'" },
	{ I, EVENT("[\"w\",1,1]"), "1:47: " AT "expected a key in quotes" },
	{ I, EVENT("[\"w\",\"k\"]"), "1:50: " AT "expected a value" },
	{ I, EVENT("[\"w\",\"k\",1.5]"), "1:51: " AT "expected a value: null" },
	{ I, EVENT("[\"w\",\"k\",[1]]"), "1:51: " AT "expected a value: null" },
	{ I, EVENT("[\"w\",\"k\",9223372036854775808]"),
	  "1:51: " AT "an integer of more than 64 bits" },
	{ I, EVENT("[\"w\",\"k\",{\"set\":1}]"),
	  "1:51: " AT "expected a value" },
	{ I, EVENT("[\"w\",\"k\",{\"set\":[1.5]}]"),
	  "1:51: " AT "a number that is not an integer" },
	{ I, EVENT("[\"w\",\"k\",{\"a\":[]}]"),
	  "1:51: " AT "expected a value" },
	{ I, EVENT("[\"w\",\"k\",1,\"init\"]"), "1:53: " AT "expected ']'" },
	{ I, EVENT("[\"r\",\"k\",1,\"x\"]"),
	  "1:53: " AT "expected \"init\", \"self\" or" },
	{ I, EVENT("[\"r\",\"k\",1,[1,0]]"),
	  "1:54: " AT "there is no session 1" },
	{ I, EVENT("[\"r\",\"k\",1,[0,-1]]"),
	  "1:56: " AT "session 0 has no transaction -1: it has 1 of them" },
	{ I, EVENT("[\"r\",\"k\",1,[0,0,0]]"), "1:58: " AT "expected ']'" },
	{ I, EVENT("[\"r\",\"k\",1,\"init\",1]"), "1:60: " AT "expected ']'" },
	{ I, EVENT("[\"r\",\"k\",1,\"init\",\"Y\"]"),
	  "1:60: " AT "expected ']' or a lock" },
	{ I, EVENT("[\"w\",\"k\",1,\"S\"]"),
	  "1:42: " AT
	  "a write locks its key as \"N\", \"R\" or \"X\", not as \"S\"" },
	{ I, EVENT("{\"r\":\"k\",\"value\":1,\"lock\":2}"),
	  "1:68: " AT "expected a lock" },
	{ I, EVENT("[\"stmt\"]"), "1:49: " AT "expected the number" },
	{ I, EVENT("[\"stmt\",2,3]"), "1:52: " AT "expected ']'" },
	{ I, EVENT("[\"stmt\",2],[\"stmt\",2]"),
	  "1:61: sessions[0].transactions[0].events[1]: statements are out of "
	  "order: 2 comes after 2" },
	{ I, EVENT("[\"stmt\",1],[\"w\",\"j\",1],[\"r\",\"k\",0,\"init\"]"),
	  "1:65: sessions[0].transactions[0].events[2]: statement 1 is out of "
	  "order" },
	{ I, EVENT("{\"value\":1}"), "1:42: " AT "the event has neither" },
	{ I, EVENT("{\"r\":\"k\"}"), "1:42: " AT "the read has neither" },
	{ I, EVENT("{\"w\":\"k\"}"), "1:42: " AT "the write has no value" },
	{ I, EVENT("{\"w\":\"k\",\"value\":1,\"from\":\"init\"}"),
	  "1:42: " AT "a write has no \"from\"" },
	{ I, EVENT("{\"w\":\"k\",\"r\":\"k\"}"),
	  "1:55: " AT "an event has one" },
	{ I, "{\"init\":[],\"sessions\":[{}]}", "1:9: expected an object" },
	{ I, "{\"init\":{\"x\":[]},\"sessions\":[{}]}",
	  "1:14: expected a value" },
	{ I, "{\"versions\":{\"x\":1},\"sessions\":[{}]}",
	  "1:18: expected an array of values" },
	{ I, "{\"versions\":{\"x\":[],\"x\":[]},\"sessions\":[{}]}",
	  "1:21: the key is given twice" },
	{ I, EVENT("[\"w\",\"k\xff\",1]"), "1:49: this is not UTF-8" },
	{ I, EVENT("[\"w\",\"\\u0000\",1]"), "1:48: a zero character" },

#define D FORMAT_DBCOP_JSON
	{ D, "1", "1:1: expected an array of sessions, found 1" },
	{ D, "{}", "1:1: the history has no \"data\"" },
	{ D, "[]", "0:0: the history has no session" },
	{ D, "[[]] 1", "1:6: expected the end of the file" },
	{ D, "[1]", "1:2: expected a session" },
	{ D, "[[1]]", "1:3: expected a transaction" },
	{ D, "[[{\"events\":1}]]", "1:13: expected an array of events" },
	{ D, "[[{\"committed\":1}]]", "1:16: expected true or false" },
	{ D, "[[\n{\"events\":[\n1]}]]", "3:1: expected an event" },
	{ D, "[[{\"events\":[\n{}]}]]", "2:1: the event is neither" },
	{ D, "[[{\"events\":[{\"Read\":1}]}]]", "1:22: expected an object" },
	{ D, "[[{\"events\":[{\"Read\":{}}]}]]", "1:14: the event has no var" },
	{ D, "[[{\"events\":[{\"Write\":{\"variable\":1}}]}]]",
	  "1:14: the write has no version" },
	{ D, "[[{\"events\":[[\"w\",1,null]]}]]", "1:14: the write has no" },
	{ D, "[[{\"events\":[[\"w\",1.5,1]]}]]", "1:19: expected a variable" },
	{ D, "[[{\"events\":[[\"w\",1,[]]]}]]", "1:21: expected a version" },
	{ D, "[[{\"events\":[[\"w\",1,0]]}],[{\"events\":[[\"w\",1]]}]]",
	  "1:45: expected a version" },
	{ D,
	  "[[{\"events\":[[\"w\",1,5]]},\n{\"events\":[[\"w\",1,5]]},\n"
	  "{\"events\":[[\"r\",1,5]]}]]",
	  "2:0: the value 5 is written twice to key 1" },

#define E FORMAT_REGISTER_EDN
#define L FORMAT_LIST_EDN
#define OK(value) "{:type :ok, :process 0, :value " value "}"
	{ E, "", "0:0: the history has no session" },
	{ E, "x", "1:1: expected a map: an operation, found x" },
	{ E, "[[{:type :ok}]]", "1:2: expected a map: an operation, found [" },
	{ E, "{:process 1}", "1:1: the map has no type" },
	{ E, "{:type :okay}", "1:8: expected the type of an operation" },
	{ E, "{:type :ok :value}", "1:18: the map ends after a key" },
	{ E, "\n{:type :ok :process 1}",
	  "2:1: a transaction that is ok has no value" },
	{ E, OK("5"),
	  "1:32: expected a value that is a vector of "
	  "micro-operations, found 5\n" },
	{ E, OK("[5]"), "1:33: expected a micro-operation" },
	{ E, OK("[[]]"), "1:34: expected r or w, found ]" },
	{ E, OK("[[:x 1 2]]"), "1:34: expected r or w, found :x" },
	{ E, OK("[[:append 1 2]]"), "1:34: append in a history of registers" },
	{ E, OK("[[:r [1] 2]]"), "1:37: expected a key: an integer" },
	{ E, OK("[[:r 1]]"), "1:38: expected a value (or nil), found ]" },
	{ E, OK("[[:r 1 2 3]]"), "1:41: expected the end of the micro-op" },
	{ E, OK("[[:r 1 [2]]]"), "1:39: expected the value of a register" },
	{ E, OK("[[:r 1 1.5]]"), "1:39: expected a value: an integer" },
	{ E, OK("[[:w 1 nil]]"), "1:39: nil is the initial value and" },
	{ E, OK("[[:w 1 2]]") "\n" OK("[[:w 1 2]]") "\n" OK("[[:r 1 2]]"),
	  "2:0: the value 2 is written twice to key 1" },
	{ E, OK("[[:w 1 2]"), "1:41: expected ']', found '}'" },
	{ E, "{:type :ok, :value [[:w 1 2", "1:21: '[' that is not closed" },
	{ L, OK("[[:w 1 2]]"), "1:34: w in a history of lists" },
	{ L, OK("[[:r 1 2]]"), "1:39: expected the list that was read" },
	{ L, OK("[[:r 1 [nil]]]"), "1:40: expected a value: an integer" },
	{ L, OK("[[:append 1 []]]"), "1:44: expected a value: an integer" },
	{ FORMAT_REGISTER_JSON,
	  "{\"type\":\"ok\",\n\"value\":[[\"r\",1,null],"
	  "[\"w\",1,null]]}",
	  "2:30: null is the initial value and cannot" },
	{ FORMAT_LIST_JSON, "{\"type\":\"ok\"\n\"value\":[]}",
	  "2:1: expected ',' or '}', found '\"'" },
};

enum { ERRORS = sizeof errors / sizeof *errors };

START_TEST(errors_have_their_place)
{
	struct diags d = { 0 };
	struct trace *t = parse_bytes(errors[_i].format, errors[_i].bytes,
	                              strlen(errors[_i].bytes), &d);
	ck_assert_msg(!t, "accepted: %s", errors[_i].bytes);
	ck_assert_uint_eq(d.errors, 1);
	char *all = diags_to_text(&d);
	const char *expected = errors[_i].error;
	const char *found = all + strlen("error:");
	ck_assert_msg(!strncmp(found, expected, strlen(expected)),
	              "expected %s\nfound %s", expected, found);
	free(all);
	diags_free(&d);
}
END_TEST

/* Deep values up to the limit of the language, and not beyond; other depth is
 * bounded too. */
static struct text nested(const char *open, unsigned depth, const char *close)
{
	struct text t = { 0 };
	for (unsigned i = 0; i < depth; i++) text_string(&t, open);
	for (unsigned i = 0; i < depth; i++) text_string(&t, close);
	return t;
}

START_TEST(depth_is_bounded)
{
	for (unsigned depth = 195; depth < 100000; depth = depth * 5 / 4) {
		struct diags d = { 0 };
		struct text value = nested("{\"set\":[", depth, "]}");
		struct text line = { 0 };
		text_format(&line, EVENT("[\"w\",\"k\",%s]"), value.data);
		struct trace *t = parse_bytes(I, line.data, line.length, &d);
		ck_assert_int_eq(t != NULL, depth <= VALUE_DEPTH_MAX);
		ck_assert_uint_eq(d.errors, !t);
		trace_free(t);
		diags_free(&d);
		text_free(&value);
		text_free(&line);
	}
	static const char *const opens[] = { "[", "{\"a\":", "{:a ", "#{" };
	for (size_t i = 0; i < 4; i++) {
		struct diags d = { 0 };
		struct text t = nested(opens[i], 1000000, "");
		ck_assert_int_eq(count_forms(t.data, t.length,
		                             i < 2 ? FORM_JSON : FORM_EDN),
		                 -1);
		ck_assert(!parse_bytes(i < 2 ? FORMAT_LIST_JSON : L, t.data,
		                       t.length, &d));
		ck_assert(!parse_bytes(i < 2 ? D : E, t.data, t.length, &d));
		diags_free(&d);
		text_free(&t);
	}
}
END_TEST
#undef I
#undef D
#undef E
#undef L

void add_forms_tests(TCase *tests)
{
	tcase_add_loop_test(tests, json_is_what_jansson_takes, 0, JSON_SEEDS);
	tcase_add_loop_test(tests, edn_is_read_form_by_form, 0, EDN_SAMPLES);
	tcase_add_test(tests, passing_over_is_skipping);
	tcase_add_loop_test(tests, errors_have_their_place, 0, ERRORS);
	tcase_add_test(tests, depth_is_bounded);
}
