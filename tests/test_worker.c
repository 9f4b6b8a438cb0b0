/* Workers with real clients, compiled here: what they declare and do, step by
 * step, as the explorer gets to read it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "file_support.h"
#include "suites.h"
#include "worker_support.h"

/* ---- declaring ---- */

static const char everything[] =
	"SESSION(none) { (void)data; }\n"
	"static bool fine(void *data) { return !data; }\n"
	"void iso_client(void) {\n"
	"	char name[] = \"first\";\n"
	"	iso_initial_int(\"x\", -5);\n"
	"	iso_initial(iso_int(7), iso_bytes(\"a\\0b\", 3));\n"
	"	iso_expect(\"is fine\", fine, NULL);\n"
	"	iso_session(name, none, NULL);\n"
	"	iso_finally(none, NULL);\n"
	"	name[0] = 'F';\n"
	"	iso_session(name, none, NULL);\n"
	"	iso_isolation(\"si\");\n"
	"}\n";

START_TEST(workers_tell_what_is_declared)
{
	struct process *p = worker_start(everything);
	ck_assert_str_eq(worker_said(p),
	                 "initial \"x\" -5; "
	                 "initial 7 \"a\\u0000b\"; "
	                 "expect 'is fine'; session 'first'; "
	                 "session 'First'; isolation 'si'; finally; "
	                 "ready");
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_str_eq(worker_steps(p, i, AFRESH, NO_VALUES),
		                 "return 1");
	check_senseless(p, 4, AFRESH);
	process_free(p);
}
END_TEST

/* What iso_client() does, and what is said of it. */
static const struct {
	const char *body, *error;
} refused[] = {
	{ "",
	  "iso_client() declares no session: it has to call iso_session()" },
	{ "iso_session(\"a\", none, 0); iso_session(\"a\", none, 0);",
	  "iso_session(\"a\"): two sessions have this name: take another for "
	  "one of them" },
	{ "iso_session(\"a\", 0, 0);",
	  "iso_session(\"a\"): the function is a null pointer" },
	{ "iso_session(0, none, 0);",
	  "iso_session(): the name is a null pointer" },
	{ "iso_session(\"\", none, 0);",
	  "iso_session(\"\"): the name is empty" },
	{ "iso_finally(none, 0); iso_finally(none, 0);",
	  "iso_finally() was called before: there is one final session at "
	  "most" },
	{ "iso_initial_int(\"x\", 1); iso_initial_int(\"x\", 2);",
	  "iso_initial_int(\"x\"): this key has an initial value already" },
	{ "iso_initial_int(0, 1);",
	  "iso_initial_int(): the key is null, or a null pointer: keys are "
	  "integers, strings or bytes" },
	{ "iso_put_int(\"x\", 1);",
	  "iso_put_int(\"x\") in iso_client(): only sessions may use it" },
	{ "iso_isolation(\"rc\"); iso_isolation(\"ra\");",
	  "iso_isolation(\"ra\") is the second level that is declared: there "
	  "is one at most" },
	{ "} __attribute__((constructor)) static void early(void) { "
	  "iso_isolation(\"rc\");",
	  "iso_isolation(\"rc\") before iso_client() was called: declarations "
	  "belong in iso_client()" },
};

START_TEST(workers_refuse_wrong_declarations)
{
	char source[500], expected[300];
	snprintf(source, sizeof source,
	         "SESSION(none) { (void)data; }\n"
	         "void iso_client(void) { (void)none; %s }\n",
	         refused[_i].body);
	struct process *p = worker_start(source);
	snprintf(expected, sizeof expected, "error '%s'", refused[_i].error);
	const char *found = strstr(worker_said(p), "error ");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, expected);
	process_free(p);
}
END_TEST

START_TEST(workers_say_why_nothing_is_loaded)
{
	struct process *p = worker_start("int unused;\n");
	ck_assert_str_eq(worker_said(p),
	                 "error 'there is no function iso_client() in it: "
	                 "define it, not static, and in C++ as extern \"C\"'");
	process_free(p);
	ck_assert_int_eq(unlink("client.so"), 0);
	static const struct worker_job job = { .client = "client.so" };
	p = process_new(&job, 20, false);
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	ck_assert_str_eq(worker_said(p),
	                 "error 'it cannot be loaded: cannot open "
	                 "shared object file: No such file or "
	                 "directory'");
	process_free(p);
}
END_TEST

START_TEST(workers_declare_very_many)
{
	struct process *p = worker_start(
		"SESSION(none) { (void)data; }\n"
		"void iso_client(void) {\n"
		"	char name[20];\n"
		"	for (int i = 0; i < 5000; i++) {\n"
		"		snprintf(name, sizeof name, \"s%d\", i);\n"
		"		iso_initial_int(name, i);\n"
		"		iso_session(name, none, NULL);\n"
		"	}\n"
		"}\n");
	const char *all = worker_said(p);
	ck_assert_ptr_nonnull(strstr(all, "session 's4999'; ready"));
	ck_assert_ptr_null(strstr(all, "more"));
	ck_assert_str_eq(worker_steps(p, 4999, AFRESH, NO_VALUES), "return 1");
	process_free(p);
}
END_TEST

/* ---- sessions ---- */

static const char copies[] =
	"SESSION(copy) {\n"
	"	const char *to = data;\n"
	"	iso_begin(\"copy\");\n"
	"	int64_t n = iso_get_int(\"x\");\n"
	"	iso_put(iso_get(iso_string(\"where\")), iso_int(n + 1));\n"
	"	iso_commit();\n"
	"	iso_note_int(to, n);\n"
	"	iso_begin(NULL);\n"
	"	iso_put_string(to, iso_get_string(\"s\"));\n"
	"	iso_abort();\n"
	"	iso_assert(n == 7, \"seven\");\n"
	"	iso_assert(true, NULL);\n"
	"}\n"
	"void iso_client(void) {\n"
	"	iso_session(\"one\", copy, \"a\");\n"
	"	iso_session(\"two\", copy, \"b\");\n"
	"}\n";

START_TEST(sessions_go_on_where_they_wait)
{
	struct process *p = worker_start(copies);
	ck_assert_str_eq(worker_steps(p, 0, AFRESH, NO_VALUES),
	                 "begin 'copy' ''; get \"x\"");
	ck_assert_str_eq(worker_steps(p, 1, AFRESH, VALUES(client_int(3))),
	                 "begin 'copy' ''; get \"x\"; get \"where\"");
	ck_assert_str_eq(
		worker_steps(p, 0, GO_ON, VALUES(client_int(7), client_null())),
		"get \"where\"; error 'iso_put(): the key is null, "
		"or a null pointer: keys are integers, strings or "
		"bytes'");
	ck_assert_str_eq(worker_steps(p, 1, GO_ON, VALUES(client_string("z"))),
	                 "put \"z\" 4; commit; note 'b' 3; begin 'txn' ''; "
	                 "get \"s\"");
	ck_assert_str_eq(worker_steps(p, 1, GO_ON, NO_VALUES), "");
	ck_assert_str_eq(worker_steps(p, 1, GO_ON, VALUES(client_null())),
	                 "put \"b\" null; abort; assert 0 'seven'; "
	                 "assert 1 ''; return 1");
	check_senseless(p, 1, GO_ON);
	process_free(p);
}
END_TEST

START_TEST(sessions_begin_anew_often)
{
	struct process *p = worker_start(copies);
	for (int i = 0; i < 3000; i++) {
		struct iso_value v[3] = { client_int(i), client_int(-i),
			                  client_string("t") };
		uint32_t session = i % 2;
		ck_assert_int_eq(worker_ask(p, session, AFRESH, i % 4, v),
		                 PROCESS_REPLIED);
		if (i % 4 != 3) continue;
		char expected[300];
		snprintf(
			expected, sizeof expected,
			"begin 'copy' ''; get \"x\"; get \"where\"; put %d %d; "
			"commit; note 'b' %d; begin 'txn' ''; get \"s\"; "
			"put \"b\" \"t\"; abort; assert %d 'seven'; "
			"assert 1 ''; return 1",
			-i, i + 1, i, i == 7);
		ck_assert_str_eq(worker_said(p), expected);
	}
	process_free(p);
}
END_TEST

/* Each step knows its line: they lie in the client, one behind the other. */
START_TEST(steps_have_places)
{
	struct process *p = worker_start(copies);
	struct text out = { 0 };
	uint64_t last = 0, in_file;
	worker_steps(p, 0, AFRESH,
	             VALUES(client_int(1), client_int(2), client_null()));
	struct wire_reader r = wire_read(process_reply(p));
	for (int i = 0; i < 12; i++) {
		uint64_t pc = worker_show_step(&r, &out);
		const char *object = process_object(p, pc, &in_file);
		ck_assert_ptr_nonnull(object);
		ck_assert_ptr_nonnull(strstr(object, "/client.so"));
		ck_assert_uint_gt(in_file, last);
		last = in_file;
	}
	ck_assert(wire_more(&r));
	text_free(&out);
	process_free(p);
}
END_TEST

START_TEST(answers_stay_until_the_end)
{
	struct process *p = worker_start(
		"SESSION(keep) {\n"
		"	const char *s[100];\n"
		"	iso_begin(data);\n"
		"	for (int i = 0; i < 100; i++) s[i] = "
		"iso_get_string(\"k\");\n"
		"	for (int i = 0; i < 100; i++) iso_put_string(\"k\", "
		"s[i]);\n"
		"	iso_commit();\n"
		"}\n"
		"void iso_client(void) { iso_session(\"s\", keep, \"t\"); }\n");
	struct text expected = { 0 }, got = { 0 };
	char value[20];
	text_string(&got, worker_steps(p, 0, AFRESH, NO_VALUES));
	for (int i = 0; i < 100; i++) {
		snprintf(value, sizeof value, "value %d", i);
		text_clear(&got);
		text_string(&got, worker_steps(p, 0, GO_ON,
		                               VALUES(client_string(value))));
		text_format(&expected, "put \"k\" \"%s\"; ", value);
	}
	text_string(&expected, "commit; return 1");
	ck_assert_str_eq(text_get(&got), text_get(&expected));
	text_free(&expected);
	text_free(&got);
	process_free(p);
}
END_TEST

/* Many steps come in pieces; those that are done again at once. */
START_TEST(long_sessions_come_in_pieces)
{
	struct process *p = worker_start(
		"SESSION(count) {\n"
		"	iso_begin(data);\n"
		"	for (int i = 0; i < 10000; i++) iso_put_int(\"k\", "
		"i);\n"
		"	iso_put_int(\"k\", iso_get_int(\"x\"));\n"
		"	iso_commit();\n"
		"}\n"
		"void iso_client(void) { iso_session(\"s\", count, "
		"\"t\"); }\n");
	int pieces = 1, puts = 0;
	const char *all = worker_steps(p, 0, AFRESH, NO_VALUES);
	while (strstr(all, "; more")) {
		for (; (all = strstr(all, "put")); all++) puts++;
		all = worker_steps(p, 0, GO_ON, NO_VALUES);
		pieces++;
	}
	ck_assert_int_eq(pieces, 3);
	for (const char *s = all; (s = strstr(s, "put")); s++) puts++;
	ck_assert_int_eq(puts, 10000);
	ck_assert_ptr_nonnull(strstr(all, "; get \"x\""));
	all = worker_steps(p, 0, AFRESH, VALUES(client_int(5)));
	ck_assert_ptr_null(strstr(all, "more; put \"k\" 9999; get"));
	ck_assert_ptr_nonnull(strstr(all, "put \"k\" 9999; get \"x\"; put"));
	process_free(p);
}
END_TEST

START_TEST(sessions_cannot_do_too_much_at_once)
{
	struct process *p = worker_start(
		"SESSION(giant) {\n"
		"	static char bytes[80 << 20];\n"
		"	iso_begin(data);\n"
		"	iso_put(iso_string(\"k\"), iso_bytes(bytes, 8));\n"
		"	iso_put(iso_string(\"k\"), iso_bytes(bytes, 80 << "
		"20));\n"
		"	iso_commit();\n"
		"}\n"
		"SESSION(many) {\n"
		"	static char bytes[6 << 20];\n"
		"	iso_begin(data);\n"
		"	for (int i = 0; i < 20; i++)\n"
		"		iso_put(iso_int(i), iso_bytes(bytes, 6 << "
		"20));\n"
		"	iso_commit();\n"
		"}\n"
		"void iso_client(void) {\n"
		"	iso_session(\"s\", giant, \"t\");\n"
		"	iso_session(\"u\", many, \"t\");\n"
		"}\n");
	const char *all = worker_steps(p, 0, AFRESH, NO_VALUES);
	ck_assert_ptr_nonnull(strstr(all, "; error 'too much at once: a "
	                                  "session can give isoscope "
	                                  "67108864 bytes of keys"));
	int fresh = AFRESH, pieces = 0;
	do {
		ck_assert_int_eq(worker_ask(p, 1, fresh, NO_VALUES),
		                 PROCESS_REPLIED);
		fresh = GO_ON;
		pieces++;
	} while (process_reply(p)->length > 20 << 20 && pieces < 9);
	ck_assert_int_eq(pieces, 4);
	process_free(p);
}
END_TEST

START_TEST(expectations_ask_for_notes)
{
	struct process *p = worker_start(
		"SESSION(none) { (void)data; }\n"
		"static bool same(void *data) {\n"
		"	return iso_noted_int(\"a\", \"n\", 4) ==\n"
		"	       iso_noted(\"b\", data).integer &&\n"
		"	       iso_noted(NULL, NULL).kind == ISO_NULL;\n"
		"}\n"
		"void iso_client(void) {\n"
		"	iso_session(\"s\", none, NULL);\n"
		"	iso_expect(\"same\", same, \"m\");\n"
		"}\n");
	ck_assert_str_eq(worker_steps(p, 1, AFRESH, NO_VALUES),
	                 "noted 'a' 'n'");
	ck_assert_str_eq(worker_steps(p, 1, GO_ON, VALUES(client_null())),
	                 "noted 'b' 'm'");
	ck_assert_str_eq(worker_steps(p, 1, GO_ON, VALUES(client_int(4))),
	                 "return 1");
	ck_assert_str_eq(worker_steps(p, 1, AFRESH,
	                              VALUES(client_int(3), client_int(4))),
	                 "noted 'a' 'n'; noted 'b' 'm'; return 0");
	process_free(p);
}
END_TEST

/* ---- mistakes ---- */

/* What a session does, and what is said of it. */
static const struct {
	const char *body, *error;
} mistakes[] = {
	{ "iso_get_int(\"seat\");",
	  "iso_get_int(\"seat\") outside of a transaction: iso_begin() comes "
	  "first" },
	{ "iso_commit();",
	  "iso_commit() outside of a transaction: iso_begin() comes first" },
	{ "iso_begin(\"a\"); iso_begin(\"b\");",
	  "iso_begin(\"b\") in the middle of transaction \"a\": iso_commit() "
	  "or iso_abort() comes first" },
	{ "iso_begin(\"buy\"); iso_put_int(\"x\", 1);",
	  "returned in the middle of transaction \"buy\": iso_commit() or "
	  "iso_abort() is missing" },
	{ "iso_begin(\"a\"); iso_get_int(\"i\"); iso_get_int(\"s\");",
	  "iso_get_int(\"s\"): the value is no integer, but the string "
	  "\"five\"; use iso_get_string() or iso_get()" },
	{ "iso_begin(\"a\"); iso_get_string(\"i\");",
	  "iso_get_string(\"i\"): the value is no string, but 5; use "
	  "iso_get_int() or iso_get()" },
	{ "iso_begin(\"a\"); iso_get_int(\"i\"); iso_get(iso_int(1));"
	  "iso_get_int(\"n\");",
	  "iso_get_int(\"n\"): the value is no integer, but null, as where "
	  "nothing was written; use iso_get(), or give it an initial "
	  "value" },
	{ "iso_begin(\"a\"); iso_get_int(NULL);",
	  "iso_get_int(): the key is null, or a null pointer: keys are "
	  "integers, strings or bytes" },
	{ "iso_begin(\"a\"); iso_put(iso_int(3), iso_bytes(NULL, 5));",
	  "iso_put(3): the value is a null pointer to 5 bytes" },
	{ "struct iso_value v = { .kind = (enum iso_kind)77 };"
	  "iso_begin(\"a\"); iso_put(iso_int(3), v);",
	  "iso_put(3): the value is of kind 77, which is none: make it with "
	  "iso_int(), iso_string() or iso_bytes()" },
	{ "iso_session(\"late\", 0, 0);",
	  "iso_session(\"late\") in a session: declarations belong in "
	  "iso_client()" },
	{ "iso_noted(\"a\", \"n\");",
	  "iso_noted(\"n\") in a session: only functions of iso_expect() may "
	  "use it" },
	{ "iso_note_int(NULL, 1);",
	  "iso_note_int(): the name is a null pointer" },
};

START_TEST(mistakes_are_explained)
{
	char source[600], expected[300];
	const struct iso_value answers[] = { client_int(5),
		                             client_string("five"),
		                             client_null() };
	snprintf(source, sizeof source,
	         "SESSION(mistake) { (void)data; %s }\n"
	         "SESSION(fine) { iso_begin(data); iso_commit(); }\n"
	         "void iso_client(void) {\n"
	         "	iso_session(\"mistaken\", mistake, NULL);\n"
	         "	iso_session(\"fine\", fine, \"f\");\n"
	         "}\n",
	         mistakes[_i].body);
	struct process *p = worker_start(source);
	const char *found = worker_steps(p, 0, AFRESH, 3, answers);
	found = strstr(found, "error ");
	snprintf(expected, sizeof expected, "error '%s'", mistakes[_i].error);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, expected);
	check_senseless(p, 0, GO_ON);
	ck_assert_str_eq(worker_steps(p, 1, AFRESH, NO_VALUES),
	                 "begin 'f' ''; commit; return 1");
	process_free(p);
}
END_TEST

START_TEST(expectations_and_assumptions_have_limits)
{
	struct process *p =
		worker_start("SESSION(assuming) {\n"
	                     "	iso_begin(data);\n"
	                     "	iso_assume(true);\n"
	                     "	iso_assume(false);\n"
	                     "	iso_put_int(\"x\", 1);\n"
	                     "}\n"
	                     "static bool writes(void *data) {\n"
	                     "	iso_put_int(data, 1);\n"
	                     "	return true;\n"
	                     "}\n"
	                     "void iso_client(void) {\n"
	                     "	iso_session(\"s\", assuming, \"t\");\n"
	                     "	iso_expect(\"writes\", writes, \"x\");\n"
	                     "}\n");
	ck_assert_str_eq(worker_steps(p, 0, AFRESH, NO_VALUES),
	                 "begin 't' ''; assume");
	ck_assert_str_eq(worker_steps(p, 1, AFRESH, NO_VALUES),
	                 "error 'iso_put_int(\"x\") in a function of "
	                 "iso_expect(): it may use iso_noted() and "
	                 "iso_noted_int() only'");
	process_free(p);
}
END_TEST

/* ---- functions ---- */

static const char functions[] =
	"int twice(int n) { if (n == 13) abort(); return 2 * n; }\n"
	"const char *greet(const char *who, int64_t n) {\n"
	"	static char out[100];\n"
	"	snprintf(out, sizeof out, \"%s %d\", who, (int)n);\n"
	"	return out;\n"
	"}\n"
	"int64_t reads(void) { return iso_get_int(\"x\"); }\n";

static enum process_answer call(struct process *p, uint32_t function,
                                uint64_t count, const struct iso_value *values)
{
	struct wire_writer w = wire_write(process_command(p));
	wire_put_u8(&w, COMMAND_CALL);
	wire_put_u32(&w, function);
	wire_put_u64(&w, count);
	for (uint64_t i = 0; i < count; i++) wire_put_value(&w, values[i]);
	ck_assert(wire_commit(&w));
	return process_ask(p);
}

START_TEST(functions_are_called)
{
	static const uint8_t types[] = { FOREIGN_STRING, FOREIGN_INT };
	static const struct foreign_function f[] = {
		{ "twice", "./client.so", 1, types + 1, FOREIGN_INT },
		{ "greet", "./client.so", 2, types, FOREIGN_STRING },
		{ "reads", "./client.so", 0, NULL, FOREIGN_INT },
	};
	static const struct worker_job job = { .functions = f,
		                               .function_count = 3 };
	worker_compile(functions, "");
	struct process *p = process_new(&job, 20, false);
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	ck_assert_str_eq(worker_said(p), "ready");
	for (int round = 0; round < 100; round++) {
		call(p, 0, VALUES(client_int(21 + round)));
		char expected[30];
		snprintf(expected, sizeof expected, "return %d",
		         42 + 2 * round);
		ck_assert_str_eq(worker_said(p), expected);
	}
	call(p, 1, VALUES(client_string("hello"), client_int(5)));
	ck_assert_str_eq(worker_said(p), "return \"hello 5\"");
	call(p, 2, NO_VALUES);
	ck_assert_str_eq(worker_said(p),
	                 "error 'iso_get_int(\"x\") in a function "
	                 "that a program calls: only sessions may use "
	                 "it'");
	ck_assert_int_eq(call(p, 0, VALUES(client_int(13))), PROCESS_DIED);
	call(p, 0, VALUES(client_int(12)));
	ck_assert_str_eq(worker_said(p), "return 24");
	process_free(p);
}
END_TEST

void add_worker_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, folder_enter, folder_leave);
	tcase_add_test(tests, workers_tell_what_is_declared);
	tcase_add_loop_test(tests, workers_refuse_wrong_declarations, 0,
	                    COUNT(refused));
	tcase_add_test(tests, workers_say_why_nothing_is_loaded);
	tcase_add_test(tests, workers_declare_very_many);
	tcase_add_test(tests, sessions_go_on_where_they_wait);
	tcase_add_test(tests, sessions_begin_anew_often);
	tcase_add_test(tests, steps_have_places);
	tcase_add_test(tests, answers_stay_until_the_end);
	tcase_add_test(tests, long_sessions_come_in_pieces);
	tcase_add_test(tests, sessions_cannot_do_too_much_at_once);
	tcase_add_test(tests, expectations_ask_for_notes);
	tcase_add_loop_test(tests, mistakes_are_explained, 0, COUNT(mistakes));
	tcase_add_test(tests, expectations_and_assumptions_have_limits);
	tcase_add_test(tests, functions_are_called);
}
