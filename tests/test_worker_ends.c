/* How workers end: crashes, exits, threads, other programs, forks; and the
 * places that are told. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/sanitizers.h"
#include "base/text.h"
#include "file_support.h"
#include "suites.h"
#include "worker_support.h"

/* ---- ends ---- */

/* What a session does behind a step, what becomes of the worker, and what is
 * said of it. */
static const struct {
	const char *body;
	enum crash_kind kind;
	const char *why;
} ends[] = {
	{ "*(volatile int *)16 = 1;", CRASH_SIGNAL, "0x10" },
	{ "abort();", CRASH_SIGNAL, "SIGABRT" },
	{ "void (*volatile f)(void) = NULL; f();", CRASH_SIGNAL, "in end()" },
	{ "volatile char a[200]; a[0] = 1; end(data); a[1] = 1;",
	  CRASH_OVERFLOW, "in end()" },
	{ "wide();", CRASH_OVERFLOW, "in wide()" },
	{ "printf(\"to the end\"); exit(3);", CRASH_EXIT, "to the end" },
	{ "_Exit(4);", CRASH_EXIT, "4" },
	{ "pthread_t t; pthread_create(&t, 0, other, 0); pthread_join(t, 0);",
	  CRASH_THREAD, "iso_get_int() was called by a thread" },
	{ "_exit(5);", CRASH_EXIT, "called exit(5), last seen in end() at " },
	{ "execlp(\"true\", \"true\", (char *)NULL);", CRASH_EXIT,
	  "became another program by exec(): \"true\", which called exit(0), "
	  "last seen in end() at " },
	{ "execlp(\"sleep\", \"sleep\", \"99\", (char *)NULL);", CRASH_EXIT,
	  "became another program by exec(): \"sleep\", last "
	  "seen in end() at " },
	{ "for (int i = 3; i < 900; i++) close(i); iso_get_int(\"x\");",
	  CRASH_FILES,
	  "closed file descriptors that are not its own, in end() at " },
	{ "for (int i = 3; i < 900; i++) close(i); iso_commit();", CRASH_FILES,
	  "its own, last seen in end() at " },
	{ "for (int i = 3; i < 900; i++) close(i);"
	  "while (dup(2) < 99); iso_commit();",
	  CRASH_FILES, "its own" },
#if !THREAD_SANITIZER /* it would end the process itself */
	{ "pthread_exit(NULL);", CRASH_THREAD, "pthread_exit()" },
	{ "longjmp(place, 1);", CRASH_THREAD,
	  "by session \"end\" on the stack of session \"waits\"" },
#endif
};

START_TEST(workers_end_with_a_reason)
{
	char source[900];
	struct text why = { 0 };
	snprintf(source, sizeof source,
	         "static jmp_buf place;\n"
	         "static void *other(void *data) {\n"
	         "	iso_get_int(data ? data : \"x\");\n"
	         "	return data;\n"
	         "}\n"
	         "SESSION(waits) {\n"
	         "	iso_begin(data);\n"
	         "	setjmp(place);\n"
	         "	iso_get_int(\"x\");\n"
	         "}\n"
	         "static void wide(void) {\n"
	         "	volatile char a[40 << 20];\n"
	         "	a[0] = 1;\n"
	         "}\n"
	         "SESSION(end) {\n"
	         "	if (!data) { iso_begin(\"last\"); data = other; }\n"
	         "	%s\n"
	         "}\n"
	         "void iso_client(void) {\n"
	         "	iso_session(\"waits\", waits, \"t\");\n"
	         "	iso_session(\"end\", end, NULL);\n"
	         "}\n",
	         ends[_i].body);
	struct process *p = worker_start(source);
	for (int round = 0; round < 2; round++) {
		worker_steps(p, 0, AFRESH, NO_VALUES);
		ck_assert_int_eq(worker_ask(p, 1, AFRESH, NO_VALUES),
		                 PROCESS_DIED);
		ck_assert_int_eq(strncmp(worker_said(p), "begin 'last' ''", 12),
		                 0);
		ck_assert_ptr_null(strstr(worker_said(p), "return"));
		ck_assert_int_eq(process_crash(p), ends[_i].kind);
		text_clear(&why);
		process_why(p, &why);
		ck_assert_ptr_nonnull(strstr(text_get(&why), ends[_i].why));
	}
	text_free(&why);
	process_free(p);
}
END_TEST

/* Its constructors are user code, too. */
START_TEST(constructors_have_places)
{
	static const struct worker_job job = { .client = "client.so" };
	struct text why = { 0 };
	worker_compile("__attribute__((constructor)) static void early(void)\n"
	               "{ *(volatile int *)16 = 1; }\n"
	               "void iso_client(void) { }\n",
	               "");
	struct process *p = process_new(&job, 20, false);
	ck_assert_int_eq(process_start(p), PROCESS_DIED);
	process_why(p, &why);
	ck_assert_ptr_nonnull(strstr(text_get(&why), "in early() at "));
	ck_assert_ptr_nonnull(strstr(text_get(&why), "client.c:10"));
	text_free(&why);
	process_free(p);
}
END_TEST

/* The compiler may make jumps of calls: their place is then the function. */
START_TEST(calls_that_are_jumps_have_places)
{
	uint64_t in_file;
	struct text out = { 0 };
	struct process *p = worker_start_with(
		"static bool ok(void *data) { return !data; }\n"
		"SESSION(last) { (void)data; iso_commit(); }\n"
		"void iso_client(void) {\n"
		"	iso_session(\"a\", last, NULL);\n"
		"	iso_expect(\"ok\", ok, NULL);\n"
		"}\n",
		"-O2");
	for (int i = 0; i < 2; i++) {
		struct wire_reader r = wire_read(process_reply(p));
		while (wire_more(&r)) {
			uint64_t pc = worker_show_step(&r, &out);
			const char *o = process_object(p, pc, &in_file);
			ck_assert(!pc || strstr(o, "/client.so"));
		}
		worker_steps(p, 0, AFRESH, NO_VALUES);
	}
	ck_assert_ptr_nonnull(strstr(text_get(&out), "error"));
	text_free(&out);
	process_free(p);
}
END_TEST

/* Of a session that forks, the process that was there before goes on. */
static const char forks[] =
	"SESSION(forks) {\n"
	"	iso_begin(data);\n"
	"	int64_t how = iso_get_int(\"how\");\n"
	"	int pid = fork();\n"
	"	if (pid && how) waitpid(pid, NULL, 0);\n"
	"	if (!pid && how == 2) *(volatile int *)16 = 1;\n"
	"	if (!pid && how == 3) exit(3);\n"
	"	if (!pid && how == 4) return;\n"
	"	if (!pid && how == 5 && !fork()) { setsid(); sleep(999); }\n"
	"	iso_put_int(\"x\", how);\n"
	"	iso_commit();\n"
	"}\n"
	"void iso_client(void) { iso_session(\"s\", forks, \"t\"); }\n";

static void check_forks(struct process *p, int64_t how)
{
	char expected[100];
	for (int i = 0; i < 20; i++) {
		worker_steps(p, 0, AFRESH, NO_VALUES);
		snprintf(expected, sizeof expected,
		         "put \"x\" %d; commit; return 1", (int)how);
		ck_assert_str_eq(
			worker_steps(p, 0, GO_ON, VALUES(client_int(how))),
			expected);
	}
	ck_assert_int_eq(process_crash(p), CRASH_NONE);
}

/* They get a new parent when theirs has ended. */
START_TEST(sessions_fork)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	struct process *p = worker_start(forks);
	int status;
	for (int64_t how = 0; how < 6; how++) check_forks(p, how);
	process_free(p);
	while (waitpid(-1, &status, 0) > 0) continue;
	ck_assert_int_eq(errno, ECHILD);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}
END_TEST

void add_worker_ends_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, folder_enter, folder_leave);
	tcase_add_loop_test(tests, workers_end_with_a_reason, 0, COUNT(ends));
	tcase_add_test(tests, constructors_have_places);
	tcase_add_test(tests, calls_that_are_jumps_have_places);
	tcase_add_test(tests, sessions_fork);
}
