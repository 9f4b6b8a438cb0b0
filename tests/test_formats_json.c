/* The formats in JSON and EDN: what they say, from one to the other and back.
 * Most of it are tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "formats_support.h"
#include "suites.h"
#include "support.h"
#include "trace_shape.h"

static enum format detect(const char *bytes)
{
	struct input in = { .file = "test",
		            .bytes = bytes,
		            .length = strlen(bytes) };
	return elle_detect(&in);
}

/* ---- samples: what they mean, written as isoscope ---- */

struct sample {
	enum format format;
	const char *bytes;
	const char *means; /* without the members "history" and "init"; NULL:
	                    * it cannot be written */
	const char *anomalies; /* words */
};

#define TX(status, events) "{\"status\":\"" status "\",\"events\":[" events "]}"
#define NUMBERED(n, status, events)                                          \
	"{\"name\":\"t" n "\",\"status\":\"" status "\",\"events\":[" events \
	"]}"
#define SESSION(name, transactions) \
	"{\"name\":\"" name "\",\"transactions\":[" transactions "]}"
#define HISTORY(sessions) "\"sessions\":[" sessions "]}\n"

/* clang-format off */
static const struct sample samples[] = {
	/* what may be left out */
	{ FORMAT_ISOSCOPE, "{\"sessions\":[{}]}", HISTORY(SESSION("0", "")),
	  "" },
	{ FORMAT_ISOSCOPE,
	  " { \"verdict\" : {\"x\":[1.5]}, \"sessions\" : [ {\"transactions\":"
	  " [ {} , {\"events\":[ [ \"w\" , \"x\" , 1 ] ] } ] } ] } \n",
	  HISTORY(SESSION("0", TX("committed", "") ","
	                       TX("committed", "[\"w\",\"x\",1]"))), "" },
	/* sources by value, by name, later ones, values by source */
	{ FORMAT_ISOSCOPE,
	  "{\"sessions\":[{\"name\":\"a\",\"transactions\":[{\"events\":["
	  "[\"r\",\"x\",7],[\"r\",\"y\",null,null],[\"r\",\"x\",7,[1,0]],"
	  "{\"from\":[1,0],\"r\":\"x\"},{\"r\":\"x\",\"value\":7}]}]},"
	  "{\"name\":\"a\",\"transactions\":[{\"events\":[[\"w\",\"x\",7],"
	  "{\"value\":\"\\u0041\",\"w\":\"y\"},{\"r\":\"y\",\"from\":\"self\"},"
	  "[\"r\",\"y\",\"A\"],[\"r\",\"y\",\"A\",[1,0]]]}]}]}",
	  HISTORY(SESSION("a", TX("committed",
	      "[\"r\",\"x\",7,[1,0]],[\"r\",\"y\",null,\"init\"],"
	      "[\"r\",\"x\",7,[1,0]],[\"r\",\"x\",7,[1,0]],"
	      "[\"r\",\"x\",7,[1,0]]")) ","
	    SESSION("a", TX("committed",
	      "[\"w\",\"x\",7],[\"w\",\"y\",\"A\"],[\"r\",\"y\",\"A\","
	      "\"self\"],[\"r\",\"y\",\"A\",\"self\"],"
	      "[\"r\",\"y\",\"A\",\"self\"]"))), "" },
	/* events before status; after all; a value twice, told by its source */
	{ FORMAT_ISOSCOPE,
	  "{\"sessions\":[{\"transactions\":[{\"events\":[[\"w\",\"x\",1]],"
	  "\"status\":\"aborted\",\"name\":\"t\"}],\"name\":\"s\"},"
	  "{\"name\":\"p\",\"transactions\":[{\"events\":[[\"w\",\"x\",2]]}]},"
	  "{\"name\":\"q\",\"transactions\":[{\"events\":[[\"w\",\"x\",2]]}]},"
	  "{\"transactions\":[{\"events\":[[\"r\",\"x\",2,[1,0]]]}],"
	  "\"after\":\"all\",\"name\":\"finally\"}]}",
	  HISTORY("{\"name\":\"s\",\"transactions\":[{\"name\":\"t\","
	    "\"status\":\"aborted\",\"events\":[[\"w\",\"x\",1]]}]},"
	    SESSION("p", TX("committed", "[\"w\",\"x\",2]")) ","
	    SESSION("q", TX("committed", "[\"w\",\"x\",2]")) ","
	    "{\"name\":\"finally\",\"after\":\"all\",\"transactions\":["
	    TX("committed", "[\"r\",\"x\",2,[1,0]]") "]}"), "" },
	/* every kind of value, in its canonical form */
	{ FORMAT_ISOSCOPE,
	  "{\"sessions\":[{\"name\":\"\",\"transactions\":[{\"events\":["
	  "[\"w\",\"x\",{\"set\":[3,1,2,1,\"b\",\"a\",null,true]}],"
	  "[\"w\",\"x\", { \"record\" : { \"b\" : 1 , \"a\" : { \"list\" : [ ] "
	  "} } } ],"
	  "[\"w\",\"x\",{\"tuple\":[1,{\"tuple\":[]}]}],[\"w\",\"x\",false],"
	  "[\"w\",\"x\",\"\\u007f\\/\xc3\xa9\\u00e9\"],"
	  "[\"w\",\"x\",-9223372036854775808]]}]}]}",
	  HISTORY(SESSION("", TX("committed",
	    "[\"w\",\"x\",{\"set\":[null,true,1,2,3,\"a\",\"b\"]}],"
	    "[\"w\",\"x\",{\"record\":{\"a\":{\"list\":[]},\"b\":1}}],"
	    "[\"w\",\"x\",{\"tuple\":[1,{\"tuple\":[]}]}],"
	    "[\"w\",\"x\",false],[\"w\",\"x\",\"\\u007f/\xc3\xa9\xc3\xa9\"],"
	    "[\"w\",\"x\",-9223372036854775808]"))), "" },
	/* reads of aborted transactions count; of unknown ones they do not */
	{ FORMAT_ISOSCOPE,
	  "{\"sessions\":[{\"name\":\"a\",\"transactions\":[{\"status\":"
	  "\"aborted\",\"events\":[[\"r\",\"x\",5]]},{\"status\":\"unknown\","
	  "\"events\":[[\"r\",\"x\",6],[\"w\",\"y\",1]]}]}]}",
	  HISTORY(SESSION("a", TX("aborted", "[\"r\",\"x\",5]") ","
	    TX("unknown", "[\"w\",\"y\",1]"))), "thin-air" },
	/* the order of writes */
	{ FORMAT_ISOSCOPE,
	  "{\"sessions\":[{\"name\":\"a\",\"transactions\":[{\"events\":[["
	  "\"w\",\"x\",1]]}]},{\"name\":\"b\",\"transactions\":[{\"events\":[["
	  "\"w\",\"x\",2]]}]}],\"versions\":{\"x\":[2]}}",
	  "\"versions\":{\"x\":[2,1]},"
	  HISTORY(SESSION("a", TX("committed", "[\"w\",\"x\",1]")) ","
	          SESSION("b", TX("committed", "[\"w\",\"x\",2]"))), "" },

	/* both forms, both shapes, null and 0 */
	{ FORMAT_DBCOP_JSON,
	  "[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":1}},"
	  "{\"Read\":{\"version\":null,\"variable\":1}},[\"r\",1,0]],"
	  "\"committed\":true}],[{\"events\":[[\"r\",0,1],[\"w\",1,2]],"
	  "\"committed\":false},{\"events\":[[\"r\",0,1]]}]]",
	  HISTORY(SESSION("0", TX("committed", "[\"w\",\"0\",1],[\"r\",\"1\","
	    "0,\"init\"],[\"r\",\"1\",0,\"init\"]")) ","
	    SESSION("1", TX("aborted", "[\"w\",\"1\",2]") ","
	    TX("committed", "[\"r\",\"0\",1,[0,0]]"))), "" },
	{ FORMAT_DBCOP_JSON,
	  "{\"params\":{\"id\":1},\"info\":\"i\",\"data\":[[{\"events\":["
	  "[\"r\",0,null],[\"r\",0,0],[\"r\",1,0]]}],[{\"events\":[[\"w\",0,0]"
	  "]}]],\"end\":\"e\"}",
	  HISTORY(SESSION("0", TX("committed", "[\"r\",\"0\",null,\"init\"],"
	    "[\"r\",\"0\",0,[1,0]],[\"r\",\"1\",0,\"init\"]")) ","
	    SESSION("1", TX("committed", "[\"w\",\"0\",0]"))), "" },
	{ FORMAT_DBCOP_JSON,
	  "{\"data\":[[{\"success\":true,\"events\":["
	  "{\"write\":true,\"variable\":0,\"value\":5,\"success\":true},"
	  "{\"write\":false,\"variable\":0,\"value\":5,\"success\":true},"
	  "{\"write\":true,\"variable\":0,\"value\":6,\"success\":false},"
	  "{\"write\":false,\"variable\":1,\"value\":0,\"success\":true}]},"
	  "{\"events\":[{\"write\":true,\"variable\":1,\"value\":7,\"success\":"
	  "true}],\"success\":false}]]}",
	  HISTORY(SESSION("0", TX("committed", "[\"w\",\"0\",5],[\"r\",\"0\",5,"
	    "\"self\"],[\"r\",\"1\",0,\"init\"]") ","
	    TX("aborted", "[\"w\",\"1\",7]"))), "" },
	{ FORMAT_DBCOP_JSON,
	  "[[{\"events\":[[\"w\",\"x\",\"v\"],[\"w\",0,18446744073709551615]]}"
	  "]]",
	  HISTORY(SESSION("0", TX("committed", "[\"w\",\"x\",\"v\"],"
	    "[\"w\",\"0\",\"18446744073709551615\"]"))), "" },

	/* ok, fail, info, never completed; nemesis and other functions */
	{ FORMAT_REGISTER_EDN,
	  "{:type :invoke, :f :txn, :value [[:w 1 1] [:r 2 nil]], :process 3}\n"
	  "{:process :nemesis, :type :info, :f :kill, :value {:a [1]}}\n"
	  "{:type :ok, :f :txn, :value [[:w 1 1] [:r 2 nil]], :process 3,"
	  " :index 5, :time 17}\n"
	  "{:type :invoke, :process 3, :value [[:w 1 2] [:r 1 nil]]}\n"
	  "{:type :fail, :process 3, :error [:why \"not\"]}\n"
	  "{:type :invoke, :process 4, :value [[:w 1 3]]}\n"
	  "{:type :info, :process 4, :value nil}\n"
	  "{:type :invoke, :process 5, :value [[:w 1 4] [:r 1 nil]]}\n"
	  "{:type :invoke, :process 6, :f :drain, :value nil}\n"
	  "{:type :ok, :process 6, :f :drain, :value :done}\n"
	  "{:type :ok, :process 7, :value ([:r 1 4] (:r :k nil) [:r 1 3])}\n",
	  HISTORY(SESSION("3", NUMBERED("5", "committed", "[\"w\",\"1\",1],"
	      "[\"r\",\"2\",null,\"init\"]") ","
	      TX("aborted", "[\"w\",\"1\",2]")) ","
	    SESSION("4", TX("committed", "[\"w\",\"1\",3]")) ","
	    SESSION("5", TX("committed", "[\"w\",\"1\",4]")) ","
	    SESSION("7", TX("committed", "[\"r\",\"1\",4,[2,0]],"
	      "[\"r\",\"k\",null,\"init\"],[\"r\",\"1\",3,[1,0]]"))), "" },
	/* one vector, tags, discards, no processes */
	{ FORMAT_REGISTER_EDN,
	  "[#jepsen.history.Op{:type :invoke, :value [[:w x 1]]}\n"
	  " #jepsen.history.Op{:type :ok, :value [[:w x :v] #_ a [:w y \"v\"]]}"
	  "\n {\"type\" \"ok\" \"value\" [[\"r\" \"x\" v] [\"r\" y true]]}]",
	  HISTORY(SESSION("0", TX("committed", "[\"w\",\"x\",\"v\"],[\"w\","
	      "\"y\",\"v\"]")) ","
	    SESSION("1", TX("committed", "[\"r\",\"x\",\"v\",[0,0]],[\"r\","
	      "\"y\",true]"))), "thin-air" },
	/* an aborted and an intermediate read */
	{ FORMAT_REGISTER_JSON,
	  "{\"type\":\"fail\",\"process\":0,\"value\":[[\"w\",\"x\",1]]}\n"
	  "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",\"x\",1],"
	  "[\"r\",\"y\",2],[\"r\",\"y\",3]]}\n"
	  "{\"type\":\"ok\",\"process\":2,\"value\":[[\"w\",\"y\",2],"
	  "[\"w\",\"y\",3]]}\n",
	  HISTORY(SESSION("0", TX("aborted", "[\"w\",\"x\",1]")) ","
	    SESSION("1", TX("committed", "[\"r\",\"x\",1],[\"r\",\"y\",2,[2,0]"
	      "],[\"r\",\"y\",3,[2,0]]")) ","
	    SESSION("2", TX("committed", "[\"w\",\"y\",2],[\"w\",\"y\",3]"))),
	  "G1a G1b" },
	{ FORMAT_REGISTER_JSON,
	  "[{\"type\":\"ok\",\"f\":\"txn\",\"process\":1,\"value\":[[\"w\",3,4]"
	  "]},\n{\"value\":[[\"r\",3,4]],\"process\":2,\"type\":\"ok\"}]",
	  HISTORY(SESSION("1", TX("committed", "[\"w\",\"3\",4]")) ","
	    SESSION("2", TX("committed", "[\"r\",\"3\",4,[0,0]]"))), "" },

	/* lists: the longest tells the order, 8 was not read */
	{ FORMAT_LIST_EDN,
	  "{:type :ok, :process 1, :value [[:append 3 6] [:r 3 [4 5 6]]]}\n"
	  "{:type :ok, :process 2, :value [[:append 3 4] [:r 9 []]]}\n"
	  "{:type :ok, :process 3, :value [[:append 3 5] [:r 3 (4 5)]]}\n"
	  "{:type :ok, :process 3, :value [[:append 3 8] [:r 9 nil]]}\n",
	  "\"versions\":{\"3\":[4,5,6,8]},"
	  HISTORY(SESSION("1", TX("committed", "[\"w\",\"3\",6],[\"r\",\"3\",6,"
	      "\"self\"]")) ","
	    SESSION("2", TX("committed", "[\"w\",\"3\",4],[\"r\",\"9\",null,"
	      "\"init\"]")) ","
	    SESSION("3", TX("committed", "[\"w\",\"3\",5],[\"r\",\"3\",5,"
	      "\"self\"]") ","
	      TX("committed", "[\"w\",\"3\",8],[\"r\",\"9\",null,\"init\"]"))),
	  "" },
	/* only an element in the middle shows that 4 happened */
	{ FORMAT_LIST_JSON,
	  "{\"type\":\"info\",\"process\":1,\"value\":[[\"append\",3,4]]}\n"
	  "{\"type\":\"ok\",\"process\":2,\"value\":[[\"append\",3,5]]}\n"
	  "{\"type\":\"ok\",\"process\":3,\"value\":[[\"r\",3,[4,5]]]}\n",
	  "\"versions\":{\"3\":[4,5]},"
	  HISTORY(SESSION("1", TX("committed", "[\"w\",\"3\",4]")) ","
	    SESSION("2", TX("committed", "[\"w\",\"3\",5]")) ","
	    SESSION("3", TX("committed", "[\"r\",\"3\",5,[1,0]]"))), "" },
	/* no prefixes of each other */
	{ FORMAT_LIST_EDN,
	  "{:type :ok, :process 1, :value [[:append 3 4] [:append 4 0]]}\n"
	  "{:type :ok, :process 2, :value [[:append 3 5]]}\n"
	  "{:type :ok, :process 3, :value [[:r 3 [4 5]]]}\n"
	  "{:type :ok, :process 3, :value [[:r 3 [5]] [:r 3 [5 4]]]}\n",
	  NULL,
	  "incompatible-order incompatible-order" },
	/* an element that nobody appended, one of an aborted append, and one
	 * that comes twice */
	{ FORMAT_LIST_EDN,
	  "{:type :ok, :process 1, :value [[:append a 1] [:append b 1]]}\n"
	  "{:type :ok, :process 1, :value [[:append c 1]]}\n"
	  "{:type :fail, :process 2, :value [[:append b 2]]}\n"
	  "{:type :ok, :process 3, :value [[:r a [7 1]] [:r b [2 1]]]}\n"
	  "{:type :ok, :process 4, :value [[:r c [1 1]]]}\n",
	  NULL,
	  "thin-air G1a duplicate-elements" },
	/* not all own appends, the last one or an earlier one missing */
	{ FORMAT_LIST_EDN,
	  "{:type :ok, :process 1, :value [[:append a 1] [:append a 2] [:r a [2"
	  "]]]}\n"
	  "{:type :ok, :process 2, :value [[:append b 1] [:append b 2] [:r b [1"
	  "]]]}\n"
	  "{:type :ok, :process 3, :value [[:append c 1] [:append c 2] [:r c [1"
	  " 2]]]}\n",
	  NULL,
	  "internal internal" },
};
/* clang-format on */

enum { SAMPLES = sizeof samples / sizeof *samples };

/* What follows "init" in the text of an isoscope history. */
static const char *behind_init(const char *text)
{
	const char *versions = strstr(text, "\"versions\":");
	return versions ? versions : strstr(text, "\"sessions\":");
}

START_TEST(samples_mean_what_they_say)
{
	const struct sample *s = &samples[_i];
	struct trace *t = parse_good(s->format, s->bytes);
	struct diags d = { 0 };
	struct text printed = { 0 };
	bool good = format_print(&printed, FORMAT_ISOSCOPE, t, NULL, &d);
	ck_assert(good == (s->means != NULL));
	ck_assert_uint_eq(d.errors, !good);
	if (good) ck_assert_str_eq(behind_init(printed.data), s->means);
	check_anomalies(t, s->anomalies);
	diags_free(&d);
	if (s->format >= FORMAT_REGISTER_EDN)
		ck_assert_int_eq(detect(s->bytes), s->format);
	else
		ck_assert_int_eq(detect(s->bytes), FORMAT_COUNT);
	trace_free(t);
	text_free(&printed);
}
END_TEST

START_TEST(initial_values_and_origin_are_kept)
{
	static const char text[] =
		"{\"history\":1,\"program\":\"a\\\"b.tx\",\"level\":\"cc\","
		"\"init\":{\"-5\":0,\"007\":1,\"10\":{\"set\":[1]},\"9\":null,"
		"\"k[1]\":\"\"},\"sessions\":[{\"name\":\"s\","
		"\"transactions\":[]}]}\n";
	struct trace *t = parse_good(FORMAT_ISOSCOPE, text);
	struct text printed = print_good(FORMAT_ISOSCOPE, t, NULL);
	ck_assert_str_eq(printed.data, text);
	ck_assert_str_eq(t->program, "a\"b.tx");
	ck_assert_str_eq(t->level, "cc");
	ck_assert_uint_eq(t->line, 1);
	uint32_t numbers = 0;
	for (uint32_t k = 0; k < t->key_count; k++) numbers += !t->keys[k].name;
	ck_assert_uint_eq(numbers, 3);
	trace_free(t);
	text_free(&printed);
}
END_TEST

/* ---- damage ---- */

START_TEST(damaged_samples_are_survived)
{
	const struct sample *s = &samples[_i];
	struct rng r = { first_seed() * 1000 + 13 * 10 + (uint64_t)_i };
	size_t length = strlen(s->bytes);
	int count = (int)programs_or(3000);
	char *bytes = mem_take(length + 1);
	for (size_t n = 0; n <= length; n++)
		check_survives(s->format, s->bytes, n);
	for (int i = 0; i < count; i++) {
		memcpy(bytes, s->bytes, length + 1);
		damage_json(bytes, length, &r);
		check_survives(s->format, bytes, length);
		struct input in = { .file = "test",
			            .bytes = bytes,
			            .length = length };
		elle_detect(&in);
	}
	free(bytes);
}
END_TEST

/* ---- there and back ---- */

START_TEST(isoscope_is_canonical)
{
	struct rng r = { first_seed() * 1000 + 14 * 10 };
	int count = (int)programs_or(3000);
	for (int i = 0; i < count; i++) {
		struct history_shape shape = {
			.sessions = 4,
			.transactions = 9,
			.events = 5,
			.keys = 3,
			.causal = i % 2,
		};
		struct history *h = history_random(&r, shape);
		struct text canonical = { 0 };
		history_print_canonical(&canonical, h);
		struct trace *t = parse_good(FORMAT_ISOSCOPE, canonical.data);
		struct text printed = print_good(FORMAT_ISOSCOPE, t, NULL);
		text_char(&canonical, '\n');
		ck_assert_str_eq(printed.data, canonical.data);
		trace_free(t);
		text_free(&printed);
		text_free(&canonical);
		history_free(h);
	}
}
END_TEST

static const enum format ours[] = { FORMAT_ISOSCOPE, FORMAT_DBCOP_JSON,
	                            FORMAT_REGISTER_EDN, FORMAT_REGISTER_JSON };

enum { OURS = sizeof ours / sizeof *ours };

/* Elle has no sessions without transactions. */
static unsigned kept_by(enum format f)
{
	unsigned without = shape_of_format(f);
	return f >= FORMAT_REGISTER_EDN ? without | SHAPE_NO_EMPTY : without;
}

/* Through a format and back nothing changes that the format keeps; and what
 * went through it once is written the same again. */
static void round_trip(enum format f, const struct trace *t)
{
	struct text once = print_good(f, t, NULL);
	struct trace *back = parse_good(f, once.data);
	char *before = shape_of(t, kept_by(f));
	char *after = shape_of(back, kept_by(f));
	ck_assert_msg(!strcmp(before, after), "%s:\n%s%s\ngives\n%s",
	              format_word(f), before, once.data, after);
	struct text twice = print_good(f, back, NULL);
	struct trace *again = parse_good(f, twice.data);
	struct text thrice = print_good(f, again, NULL);
	ck_assert_str_eq(twice.data, thrice.data);
	free(before);
	free(after);
	trace_free(back);
	trace_free(again);
	text_free(&once);
	text_free(&twice);
	text_free(&thrice);
}

START_TEST(random_histories_go_there_and_back)
{
	struct rng r = { first_seed() * 1000 + 15 * 10 + (uint64_t)_i };
	enum format f = ours[_i];
	int count = (int)programs_or(2000), written = 0;
	for (int i = 0; i < count; i++) {
		struct history_shape shape = {
			.sessions = 4,
			.transactions = 8,
			.events = 5,
			.keys = 3,
			.causal = i % 2,
		};
		struct history *h = history_random(&r, shape);
		struct trace *t = trace_of_history(h, "test");
		struct diags d = { 0 };
		struct text trial = { 0 };
		if (t->op_count && format_print(&trial, f, t, NULL, &d)) {
			round_trip(f, t);
			written++;
		}
		text_free(&trial);
		diags_free(&d);
		trace_free(t);
		history_free(h);
	}
	ck_assert_int_ge(written, count / 4);
}
END_TEST

/* ---- large ones ---- */

START_TEST(large_histories_are_read)
{
	enum { SESSIONS = 20, EACH = 1000, OPS = 10 };
	struct text t = { 0 };
	text_string(&t, "{\"sessions\":[");
	for (int s = 0; s < SESSIONS; s++) {
		text_string(&t,
		            s ? ",{\"transactions\":[" : "{\"transactions\":[");
		for (int x = 0; x < EACH; x++) {
			text_string(&t, x ? ",{\"events\":[" : "{\"events\":[");
			for (int i = 0; i < OPS; i++)
				text_format(&t, "%s[\"w\",\"k%d\",%d]",
				            i ? "," : "", i,
				            (s * EACH + x) * OPS + i);
			text_string(&t, "]}");
		}
		text_string(&t, "]}");
	}
	text_string(&t, "]}");
	struct trace *one = parse_good(FORMAT_ISOSCOPE, t.data);
	ck_assert_uint_eq(one->op_count, SESSIONS * EACH * OPS);
	for (int i = 0; i < OURS; i++) {
		struct text printed = print_good(ours[i], one, NULL);
		struct trace *back = parse_good(ours[i], printed.data);
		ck_assert_uint_eq(back->op_count, one->op_count);
		ck_assert_uint_eq(back->transaction_count,
		                  one->transaction_count);
		trace_free(back);
		text_free(&printed);
	}
	trace_free(one);
	text_free(&t);
}
END_TEST

/* ---- detection and refusals ---- */

static const struct {
	const char *bytes;
	enum format format; /* COUNT: not of Elle */
} detections[] = {
	{ "", FORMAT_COUNT },
	{ "; nothing\n", FORMAT_COUNT },
	{ "{:type :ok}", FORMAT_REGISTER_EDN },
	{ "; c\n#_x [{:process 1 :type :ok :value [[:r 1 nil] [:r 2 [3]]]}]",
	  FORMAT_LIST_EDN },
	{ "({:value [[:r 1 2]] :type :ok})", FORMAT_REGISTER_EDN },
	{ "{:type :invoke :value [[:r 1 nil]]}\n{:type :info :value :x}\n"
	  "{:type :ok :value [[:r 1 []]]}",
	  FORMAT_LIST_EDN },
	{ "{:type :invoke :value [[:append 1 2]]", FORMAT_LIST_EDN },
	{ "{:a 1}{:type :ok}", FORMAT_COUNT },
	{ "[{\"type\":\"ok\",\"value\":[[\"r\",1,null],[\"append\",1,2]]}]",
	  FORMAT_LIST_JSON },
	{ "\n {\n \"type\":\"ok\",\"value\":[[\"r\",1,7]]}",
	  FORMAT_REGISTER_JSON },
	{ "{\"a\":{\"type\":1}}", FORMAT_COUNT },
	{ "[[{\"type\":1}]]", FORMAT_COUNT },
	{ "{\"sessions\":[]}", FORMAT_COUNT },
	{ "r(1,2,3,4)", FORMAT_COUNT },
	{ "[x:=1]", FORMAT_COUNT },
};

enum { DETECTIONS = sizeof detections / sizeof *detections };

START_TEST(histories_of_elle_are_detected)
{
	ck_assert_int_eq(detect(detections[_i].bytes), detections[_i].format);
}
END_TEST

static void check_refused(enum format from, const char *bytes, enum format to,
                          const char *why)
{
	struct trace *t = parse_good(from, bytes);
	struct diags d = { 0 };
	struct text printed = { 0 };
	ck_assert(!format_print(&printed, to, t, NULL, &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_msg(strstr(d.items[0].message, why) != NULL, "%s",
	              d.items[0].message);
	ck_assert_uint_eq(printed.length, 0);
	trace_free(t);
	diags_free(&d);
	text_free(&printed);
}

START_TEST(what_cannot_be_written_is_told)
{
	check_refused(FORMAT_REGISTER_EDN, "{:type :ok :value [[:w 1 2]]}",
	              FORMAT_LIST_EDN, "no commit order");
	check_refused(FORMAT_LIST_EDN,
	              "{:type :ok :value [[:append 1 2]]}\n"
	              "{:type :ok :value [[:r 1 [3]]]}",
	              FORMAT_LIST_JSON, "no order of appends explains");
	/* 2 and 4 are of one transaction, 3 of another */
	static const char interleaved[] =
		"{:type :ok :value [[:append 1 2] [:append 1 4]]}\n"
		"{:type :ok :value [[:append 1 3]]}\n"
		"{:type :ok :value [[:r 1 [2 3 4]]]}";
	check_refused(FORMAT_LIST_EDN, interleaved, FORMAT_LIST_EDN,
	              "interleaved");
	check_refused(FORMAT_LIST_EDN, interleaved, FORMAT_ISOSCOPE,
	              "interleaved");
	check_refused(FORMAT_ISOSCOPE,
	              "{\"sessions\":[{\"transactions\":[{\"events\":[[\"w\","
	              "\"x\",1]]}],\"after\":\"all\"}]}",
	              FORMAT_REGISTER_JSON, "follows all others");
	check_refused(FORMAT_ISOSCOPE,
	              "{\"sessions\":[{\"transactions\":[{\"events\":[[\"r\","
	              "\"x\",null,\"init\"]],\"status\":\"aborted\"}]}]}",
	              FORMAT_DBCOP_JSON, "aborted");
}
END_TEST

/* Values that are no unique integers: kept if they can be told apart. */
START_TEST(values_are_kept_or_numbered)
{
	struct trace *t = parse_good(
		FORMAT_ISOSCOPE,
		"{\"sessions\":[{\"transactions\":[{\"events\":["
		"[\"w\",\"x\",{\"set\":[\"a\"]}],[\"w\",\"x\",\"v\"],"
		"[\"w\",\"x\",true],[\"w\",\"y\",\"v\"],"
		"[\"r\",\"z\",null]]}]}]}");
	struct text printed = print_good(FORMAT_REGISTER_EDN, t, NULL);
	const char *ok = strstr(printed.data, ":ok");
	ck_assert_str_eq(ok, ":ok, :f :txn, :value [[:w \"x\" "
	                     "\"{\\\"set\\\":[\\\"a\\\"]}\"] [:w \"x\" \"v\"] "
	                     "[:w \"x\" true] [:w \"y\" \"v\"] [:r \"z\" nil]]"
	                     ", :process 0, :index 1}\n");
	trace_free(t);
	text_free(&printed);
	t = parse_good(FORMAT_ISOSCOPE,
	               "{\"init\":{\"x\":5},\"sessions\":[{\"transactions\":[{"
	               "\"events\":[[\"r\",\"x\",5,\"init\"],[\"w\",\"x\",5],"
	               "[\"w\",\"x\",null],[\"r\",\"x\",null]]}]}]}");
	printed = print_good(FORMAT_REGISTER_JSON, t, NULL);
	ok = strstr(printed.data, "\"ok\"");
	ck_assert_str_eq(ok, "\"ok\",\"f\":\"txn\",\"value\":[[\"r\",\"x\","
	                     "null],[\"w\",\"x\",1],[\"w\",\"x\",2],[\"r\","
	                     "\"x\",2]],\"process\":0,\"index\":1}\n");
	trace_free(t);
	text_free(&printed);
}
END_TEST

void add_formats_json_tests(TCase *tests)
{
	tcase_add_loop_test(tests, samples_mean_what_they_say, 0, SAMPLES);
	tcase_add_test(tests, initial_values_and_origin_are_kept);
	tcase_add_loop_test(tests, damaged_samples_are_survived, 0, SAMPLES);
	tcase_add_test(tests, isoscope_is_canonical);
	tcase_add_loop_test(tests, random_histories_go_there_and_back, 0, OURS);
	tcase_add_test(tests, large_histories_are_read);
	tcase_add_loop_test(tests, histories_of_elle_are_detected, 0,
	                    DETECTIONS);
	tcase_add_test(tests, what_cannot_be_written_is_told);
	tcase_add_test(tests, values_are_kept_or_numbered);
}
