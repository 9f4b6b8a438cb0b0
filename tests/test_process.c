#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/seconds.h"
#include "fake_worker.h"
#include "file_support.h"
#include "native/runtime/fibre.h"
#include "suites.h"
#include "support.h"

static const struct worker_job no_client;

/* Fewer rounds under slow tools. */
static uint32_t rounds(uint32_t usually)
{
	return is_quick() ? usually / 10 : usually;
}

static uint32_t open_files(void)
{
	uint32_t count = 0;
	for (int i = 0; i < 1000; i++) count += fcntl(i, F_GETFD) >= 0;
	return count;
}

/* Neither running nor a zombie. */
static void check_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static bool says(const char *why, const char *what)
{
	if (strstr(why, what)) return true;
	fprintf(stderr, "not in \"%s\": %s\n", why, what);
	return false;
}

static void check_dies(struct process *p, enum fake_command c, uint64_t number,
                       const char *string, enum crash_kind kind,
                       const char *why)
{
	ck_assert_int_eq(fake_ask(p, c, number, string), PROCESS_DIED);
	ck_assert_int_eq(process_crash(p), kind);
	ck_assert_str_eq(fake_why(p), why);
}

static void check_lives(struct process *p)
{
	ck_assert_int_eq(fake_ask(p, FAKE_COUNT, 3, ""), PROCESS_REPLIED);
	ck_assert_uint_eq(fake_reply(p, 2), 2);
}

/* ---- Answers ---- */

START_TEST(starts_when_needed)
{
	struct process *p = fake_process(&no_client, 10);
	ck_assert(!process_is_new(p));
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	ck_assert_uint_eq(fake_reply(p, 0), 0xfeed);
	ck_assert(process_is_new(p));
	ck_assert(!process_is_new(p));
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	check_lives(p);
	ck_assert(!process_is_new(p));
	process_end(p);
	check_no_children();
	process_end(p);
	check_lives(p);
	ck_assert(process_is_new(p));
	process_free(p);
	process_free(NULL);
	check_no_children();
}
END_TEST

START_TEST(answers_thousands_of_times)
{
	struct process *p = fake_process(&no_client, 10);
	for (uint32_t i = 0; i < rounds(20000); i++) {
		ck_assert_int_eq(fake_ask(p, FAKE_COUNT, 1 + i % 50, ""),
		                 PROCESS_REPLIED);
		ck_assert_uint_eq(fake_reply(p, i % 50), i % 50);
		ck_assert_uint_eq(fake_reply(p, 1 + i % 50), UINT64_MAX);
		if (i % 1000 == 0) usleep(2000);
	}
	process_free(p);
}
END_TEST

START_TEST(answers_on_one_processor)
{
	cpu_set_t set, one;
	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &set)) CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	struct process *p = fake_process(&no_client, 10);
	for (uint32_t i = 0; i < rounds(5000); i++) check_lives(p);
	process_free(p);
	sched_setaffinity(0, sizeof set, &set);
}
END_TEST

/* That this process has in memory. */
static uint64_t shared_kilobytes(void)
{
	char line[200];
	unsigned long long found = 0;
	FILE *f = fopen("/proc/self/status", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "RssShmem: %llu", &found) == 1) break;
	fclose(f);
	return found;
}

/* Memory that long replies took is given back. */
START_TEST(answers_at_length)
{
	struct process *p = fake_process(&no_client, 900);
	uint64_t count = WIRE_BYTES / 8;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(fake_ask(p, FAKE_COUNT, count, ""),
		                 PROCESS_REPLIED);
		struct wire_reader r = wire_read(process_reply(p));
		uint64_t n = 0;
		while (n < count && wire_get_u64(&r) == n) n++;
		ck_assert_uint_eq(n, count);
		ck_assert(!r.bad && !wire_more(&r));
		check_lives(p);
	}
	ck_assert_uint_lt(shared_kilobytes(), WIRE_BYTES >> 12);
	ck_assert_int_eq(fake_ask(p, FAKE_COUNT, count + 1, ""),
	                 PROCESS_REPLIED);
	ck_assert_uint_eq(process_reply(p)->length, 0);
	process_free(p);
}
END_TEST

static void ignore_alarm(int number)
{
	(void)number;
}

/* Signals interrupt the explorer all the time; it waits on. */
START_TEST(answers_through_signals)
{
	struct sigaction a = { .sa_handler = ignore_alarm };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	struct process *p = fake_process(&no_client, 30);
	check_lives(p);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint32_t i = 0; i < rounds(10000); i++) check_lives(p);
	ck_assert_int_eq(fake_ask(p, FAKE_STEPS, 4, ""), PROCESS_REPLIED);
	process_end(p);
	check_lives(p);
	check_dies(p, FAKE_EXIT, 4, "", CRASH_EXIT, "called exit(4)");
	setitimer(ITIMER_REAL, &never, NULL);
	process_free(p);
	check_no_children();
}
END_TEST

static void *ask_and_kill(void *data)
{
	bool *good = data;
	struct process *p = fake_process(&no_client, 30);
	*good = true;
	for (uint32_t i = 0; i < rounds(100); i++) {
		for (int n = 0; n < 20; n++)
			*good &= fake_ask(p, FAKE_COUNT, 9, "") ==
			                 PROCESS_REPLIED &&
			         fake_reply(p, 8) == 8;
		*good &= fake_ask(p, FAKE_EXIT, i % 50, "") == PROCESS_DIED &&
		         process_crash(p) == CRASH_EXIT;
	}
	process_free(p);
	return NULL;
}

START_TEST(many_threads_have_workers)
{
	enum { THREADS = 4 };
	if (!FORKS_AMONG_THREADS) return;
	pthread_t threads[THREADS];
	bool good[THREADS];
	uint32_t files = open_files();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_and_kill, &good[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert(good[i]);
	}
	ck_assert_uint_eq(open_files(), files);
	check_no_children();
}
END_TEST

START_TEST(nothing_leaks)
{
	struct process *p = fake_process(&no_client, 10);
	uint32_t files = open_files();
	for (uint32_t i = 0; i < rounds(1000); i++) {
		ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
		if (i % 3 == 0) check_lives(p);
		if (i % 3 == 1) fake_ask(p, FAKE_RAISE, SIGKILL, "");
		process_end(p);
	}
	ck_assert_uint_eq(open_files(), files);
	check_no_children();
	process_free(p);
}
END_TEST

/* ---- What a worker finds ---- */

START_TEST(a_worker_is_by_itself)
{
	struct process *p = fake_process(&no_client, 10);
	int pipes[2];
	sigset_t set, before;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	ck_assert_int_eq(pipe(pipes), 0);
	signal(SIGINT, ignore_alarm);
	signal(SIGPIPE, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	ck_assert_int_eq(fake_ask(p, FAKE_LOOK, 0, ""), PROCESS_REPLIED);
	ck_assert_uint_eq(fake_reply(p, LOOK_FILES), 5);
	ck_assert_uint_eq(fake_reply(p, LOOK_INPUT), 0);
	ck_assert_uint_eq(fake_reply(p, LOOK_GROUP), 1);
	ck_assert_uint_eq(fake_reply(p, LOOK_HANDLED), 0);
	ck_assert_uint_eq(fake_reply(p, LOOK_BLOCKED), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	ck_assert_int_eq(sigismember(&set, SIGUSR2), 1);
	ck_assert_int_eq(sigismember(&set, SIGUSR1), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	close(pipes[0]);
	close(pipes[1]);
	process_free(p);
}
END_TEST

/* An explorer that is killed while its worker loops. */
static void loop_and_tell(int file)
{
	struct process *p = fake_process(&no_client, 100);
	fake_ask(p, FAKE_LOOK, 0, "");
	int pid = (int)fake_reply(p, LOOK_PID);
	if (write(file, &pid, sizeof pid) == sizeof pid)
		fake_ask(p, FAKE_LOOP_DEAF, 0, "");
	_exit(0);
}

START_TEST(a_worker_does_not_outlive_the_explorer)
{
	int pipes[2], worker, status;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(pipes), 0);
	pid_t explorer = fork();
	if (!explorer) loop_and_tell(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &worker, sizeof worker), sizeof worker);
	usleep(100000);
	ck_assert_int_eq(kill(worker, 0), 0);
	kill(explorer, SIGKILL);
	ck_assert_int_eq(waitpid(explorer, &status, 0), explorer);
	ck_assert_int_eq(waitpid(worker, &status, 0), worker);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(memory_is_the_worker_s_own)
{
	size_t size = 64 << 20;
	char *inherited = malloc(size);
	memset(inherited, 1, size);
	struct process *p = fake_process(&no_client, 10);
	ck_assert_uint_eq(process_memory(p), 0);
	check_lives(p);
	uint64_t before = process_memory(p);
	ck_assert_int_eq(fake_ask(p, FAKE_ALLOCATE, size, ""), PROCESS_REPLIED);
	uint64_t after = process_memory(p);
	ck_assert_uint_lt(before, size / 2);
	ck_assert_uint_ge(after, before + size - size / 16);
	process_free(p);
	free(inherited);
}
END_TEST

/* ---- Deaths ---- */

static const struct crash_report_by {
	int signal;
	const char *why;
} deaths_by[] = { { SIGKILL, "killed by SIGKILL: out of memory?" },
	          { SIGTERM, "killed by SIGTERM" },
	          { SIGSEGV, "killed by SIGSEGV: invalid address" },
	          { SIGBUS, "killed by SIGBUS: memory error" },
	          { SIGFPE, "killed by SIGFPE: arithmetic error" },
	          { SIGILL, "killed by SIGILL: illegal instruction" },
	          { SIGABRT, "killed by SIGABRT: abort()" },
	          { SIGALRM, "killed by SIGALRM: an alarm" },
	          { SIGPIPE, "killed by SIGPIPE: nobody reads what it writes" },
	          { SIGHUP, "killed by SIGHUP" },
	          { SIGUSR1, "killed by SIGUSR1" } };

START_TEST(signals_kill)
{
	struct process *p = fake_process(&no_client, 10);
	const struct crash_report_by *d = &deaths_by[_i];
	for (int i = 0; i < 3; i++) {
		check_dies(p, FAKE_RAISE, (uint64_t)d->signal, "", CRASH_EXIT,
		           d->why);
		ck_assert_uint_eq(process_reply(p)->length, 1);
		ck_assert_uint_eq(process_crash_place(p), 0);
		check_no_children();
	}
	check_lives(p);
	ck_assert_int_eq(process_crash(p), CRASH_NONE);
	process_free(p);
}
END_TEST

START_TEST(processor_time_may_be_limited)
{
	struct process *p = fake_process(&no_client, 900);
	check_dies(p, FAKE_CPU_LOOP, 1, "", CRASH_EXIT,
	           "killed by SIGKILL: the limit of processor time?");
	process_free(p);
}
END_TEST

START_TEST(what_was_done_is_kept)
{
	struct process *p = fake_process(&no_client, 10);
	check_dies(p, FAKE_EXIT_HALF, 3, "", CRASH_EXIT, "called exit(3)");
	struct wire_reader r = wire_read(process_reply(p));
	for (uint8_t i = 1; i <= 3; i++) ck_assert_uint_eq(wire_get_u8(&r), i);
	ck_assert(!wire_more(&r));
	check_dies(p, FAKE_EXIT, 0, "", CRASH_EXIT, "called exit(0)");
	process_free(p);
}
END_TEST

/* With its files closed it cannot be heard; it is not waited for. */
START_TEST(hiding_is_found_out)
{
	struct process *p = fake_process(&no_client, 900);
	double before = seconds_now();
	check_dies(p, FAKE_CLOSE, 0, "", CRASH_EXIT,
	           "closed file descriptors that are not its own");
	check_dies(p, FAKE_EXEC, 0, "sleep", CRASH_EXIT,
	           "became another program by exec(): \"sleep\"");
	check_dies(p, FAKE_EXEC, 0, "false", CRASH_EXIT,
	           "became another program by exec(): \"false\", which "
	           "called exit(1)");
	check_dies(p, FAKE_FORK_EXIT, 0, "", CRASH_EXIT, "called exit(5)");
	ck_assert_double_lt(seconds_now() - before, 800);
	process_free(p);
	check_no_children();
}
END_TEST

/* Whatever is written over the shared memory, there is an end. */
START_TEST(spoilt_memory_does_no_harm)
{
	struct process *p = fake_process(&no_client, 0.3);
	static const uint64_t bytes[] = { 0, 0xff, 0x41, 1 };
	for (size_t i = 0; i < 4; i++) {
		check_lives(p);
		ck_assert_int_eq(fake_ask(p, FAKE_SPOIL, bytes[i], ""),
		                 PROCESS_DIED);
		ck_assert_int_eq(process_crash(p), CRASH_SPOILT);
		ck_assert(says(fake_why(p), "wrote over memory that is not "
		                            "its own"));
		ck_assert_uint_eq(process_reply(p)->length, 0);
		ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
		check_lives(p);
	}
	process_free(p);
	check_no_children();
}
END_TEST

/* A thread of the worker's writes all over it, all the time: what is read is
 * what was there once. */
START_TEST(memory_that_changes_does_no_harm)
{
	struct process *p = fake_process(&no_client, 0.3);
	for (uint32_t i = 0; i < rounds(200); i++) {
		fake_ask(p, FAKE_STORM, i, "");
		const struct wire *w = process_reply(p);
		uint64_t length = w->length;
		ck_assert_uint_le(length, WIRE_BYTES);
		uint64_t before = hash_bytes(1, w->bytes, length);
		usleep(200);
		ck_assert_uint_eq(hash_bytes(1, w->bytes, length), before);
		fake_ask(p, FAKE_COUNT, 100, "x");
		fake_why(p);
	}
	process_end(p);
	check_lives(p);
	process_free(p);
	check_no_children();
}
END_TEST

START_TEST(memory_has_a_limit)
{
	struct process *p = fake_process(&no_client, 900);
	process_set_memory(p, (uint64_t)600 << 20);
	check_dies(p, FAKE_ALLOCATE_LOOP, 0, "", CRASH_MEMORY,
	           "took more than 600 MiB of memory: an endless loop?");
	check_lives(p);
	ck_assert_int_eq(fake_ask(p, FAKE_ALLOCATE, 400 << 20, ""),
	                 PROCESS_REPLIED);
	process_is_new(p);
	usleep(200000);
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	ck_assert(!process_is_new(p));
	process_free(p);
}
END_TEST

/* What is left from one run to the next. */
START_TEST(workers_that_grow_are_replaced)
{
	struct process *p = fake_process(&no_client, 900);
	check_lives(p);
	ck_assert(process_is_new(p));
	ck_assert_int_eq(fake_ask(p, FAKE_ALLOCATE, 520 << 20, ""),
	                 PROCESS_REPLIED);
	usleep(200000);
	ck_assert(!process_is_new(p));
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	ck_assert(process_is_new(p));
	process_free(p);
}
END_TEST

START_TEST(an_end_is_not_waited_for)
{
	struct process *p = fake_process(&no_client, 900);
	ck_assert_int_eq(fake_ask(p, FAKE_STUBBORN, 0, ""), PROCESS_REPLIED);
	double before = seconds_now();
	process_end(p);
	ck_assert_double_lt(seconds_now() - before, 800);
	check_no_children();
	process_free(p);
}
END_TEST

/* ---- Time ---- */

START_TEST(loops_end)
{
	static const enum fake_command loops[] = { FAKE_LOOP, FAKE_LOOP_DEAF,
		                                   FAKE_STEPS_LOOP,
		                                   FAKE_PRINT_LOOP };
	struct process *p = fake_process(&no_client, 0.5);
	double before = seconds_now();
	ck_assert_int_eq(fake_ask(p, loops[_i], 2, "on"), PROCESS_DIED);
	double took = seconds_now() - before;
	ck_assert_int_eq(process_crash(p), CRASH_TIMEOUT);
	ck_assert(says(fake_why(p), "no access for 0.5 s: an endless loop?"));
	ck_assert_double_ge(took, loops[_i] == FAKE_STEPS_LOOP ? 0.6 : 0.5);
	ck_assert_double_lt(took, 600);
	check_no_children();
	check_lives(p);
	process_free(p);
}
END_TEST

START_TEST(steps_are_waited_for)
{
	struct process *p = fake_process(&no_client, 0.4);
	ck_assert_int_eq(fake_ask(p, FAKE_STEPS, 24, ""), PROCESS_REPLIED);
	process_set_timeout(p, 0);
	ck_assert_int_eq(fake_ask(p, FAKE_STEPS, 4, ""), PROCESS_REPLIED);
	process_free(p);
}
END_TEST

/* What it does not get of the processor is not its fault. */
START_TEST(a_wait_is_not_work)
{
	struct process *p = fake_process(&no_client, 0.2);
	ck_assert_int_eq(fake_ask(p, FAKE_PAUSE, 800, ""), PROCESS_REPLIED);
	double before = seconds_now();
	ck_assert_int_eq(fake_ask(p, FAKE_PAUSE, 1000000, ""), PROCESS_DIED);
	ck_assert_double_ge(seconds_now() - before, 2);
	ck_assert_int_eq(process_crash(p), CRASH_TIMEOUT);
	ck_assert(says(fake_why(p), "no access for 2 s, and hardly at work: "
	                            "an endless loop?"));
	process_free(p);
	check_no_children();
}
END_TEST

START_TEST(a_stop_is_a_timeout)
{
	struct process *p = fake_process(&no_client, 0.3);
	check_dies(p, FAKE_RAISE, SIGSTOP, "", CRASH_TIMEOUT,
	           "no access for 0.3 s: stopped by SIGSTOP");
	process_free(p);
	check_no_children();
}
END_TEST

/* ---- Words ---- */

START_TEST(last_words_are_told)
{
	struct process *p = fake_process(&no_client, 10);
	char line[400] = "";
	check_dies(p, FAKE_PRINT_DIE, 1, "one", CRASH_EXIT,
	           "killed by SIGABRT: abort(); it printed: \"one\"");
	check_dies(p, FAKE_PRINT_DIE, 1,
	           "a\tb\x01"
	           "c\r\n\xff\xc3\xa4\n\n",
	           CRASH_EXIT,
	           "killed by SIGABRT: abort(); "
	           "it printed: \"a b?c  / ?\xc3\xa4\"");
	memset(line, 'x', 300);
	ck_assert_int_eq(fake_ask(p, FAKE_PRINT_DIE, 1, line), PROCESS_DIED);
	ck_assert(says(fake_why(p), "xxx...\""));
	ck_assert_uint_eq(strspn(strchr(fake_why(p), '"') + 1, "x."), 200);
	ck_assert_int_eq(fake_ask(p, FAKE_PRINT_DIE, 50000, "so it goes\n"),
	                 PROCESS_DIED);
	ck_assert(says(fake_why(p), "printed: \"so it goes / so it goes / "));
	ck_assert_uint_lt(strlen(fake_why(p)), 300);
	process_free(p);
}
END_TEST

/* Not what an earlier command printed, nor what the explorer has not written
 * yet. */
START_TEST(earlier_words_are_not_told)
{
	struct process *p = fake_process(&no_client, 10);
	printf("from the explorer ");
	ck_assert_int_eq(fake_ask(p, FAKE_PRINT, 3, "early\n"),
	                 PROCESS_REPLIED);
	check_dies(p, FAKE_EXIT, 0, "", CRASH_EXIT, "called exit(0)");
	check_dies(p, FAKE_PRINT_DIE, 1, "late\n", CRASH_EXIT,
	           "killed by SIGABRT: abort(); it printed: \"late\"");
	process_free(p);
}
END_TEST

START_TEST(words_can_be_shown)
{
	char bytes[100] = "";
	struct process *p = process_new_with(&no_client, 10, true, fake_worker);
	FILE *file = tmpfile();
	int errors = dup(2);
	dup2(fileno(file), 2);
	fake_ask(p, FAKE_PRINT_DIE, 2, "shown\n");
	dup2(errors, 2);
	close(errors);
	rewind(file);
	ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, file), 12);
	ck_assert_str_eq(bytes, "shown\nshown\n");
	ck_assert_str_eq(fake_why(p), "killed by SIGABRT: abort()");
	fclose(file);
	process_free(p);
}
END_TEST

static const char client_text[] = "int inner(int x)\n"
				  "{ return x; }\n"
				  "int outer(int x)\n"
				  "{ return inner(x) + 1; }\n";

#define PLACE "inner() at client.c:2, called from outer() at client.c:4"

static const struct record {
	enum crash_kind kind;
	const char *why;
} records[] = { { CRASH_SIGNAL, "crashed: SIGSEGV, invalid address 0x10, "
	                        "in " PLACE },
	        { CRASH_OVERFLOW,
	          "the stack is full (8 MiB): endless recursion? "
	          "in " PLACE },
	        { CRASH_EXIT, "called exit(1) in " PLACE },
	        { CRASH_THREAD,
	          "misuse of the functions of isoscope/client.h, in " PLACE } };

/* Frames of others are not told, and the same one only once. */
static void check_record(const struct record *r)
{
	struct worker_job job = { .client = "./client.so" };
	struct process *p = fake_process(&job, 10);
	uint64_t in_file = 0;
	check_dies(p, FAKE_RECORD, r->kind, "", r->kind, r->why);
	uint64_t place = process_crash_place(p);
	ck_assert_str_eq(process_object(p, place, &in_file), "./client.so");
	ck_assert_uint_lt(in_file, 1 << 16);
	ck_assert_ptr_null(process_object(p, 1, &in_file));
	fake_ask(p, FAKE_ADDRESS, 0, "inner");
	ck_assert_str_eq(process_object(p, fake_reply(p, 0), &in_file),
	                 "./client.so");
	process_free(p);
}

START_TEST(places_are_told)
{
	ck_assert_int_eq(FIBRE_STACK, 8 << 20);
	folder_enter();
	file_write_text("client.c", client_text);
	if (compile_c(NULL, "-g -shared -fPIC -o client.so client.c"))
		for (size_t i = 0; i < sizeof records / sizeof *records; i++)
			check_record(&records[i]);
	folder_leave();
}
END_TEST

START_TEST(places_without_lines_are_told)
{
	struct worker_job job = { .client = "./client.so" };
	struct process *p = fake_process(&job, 10);
	folder_enter();
	file_write_text("client.c", client_text);
	if (compile_c(NULL, "-g0 -shared -fPIC -o client.so client.c"))
		check_dies(p, FAKE_RECORD, CRASH_SIGNAL, "", CRASH_SIGNAL,
		           "crashed: SIGSEGV, invalid "
		           "address 0x10, in inner() of client.so, called "
		           "from outer() of client.so");
	process_free(p);
	folder_leave();
}
END_TEST

START_TEST(wrong_records_do_no_harm)
{
	struct process *p = fake_process(&no_client, 10);
	for (uint64_t kind = 0; kind <= CRASH_SPOILT; kind++) {
		ck_assert_int_eq(fake_ask(p, FAKE_RECORD_WRONG, kind, ""),
		                 PROCESS_DIED);
		ck_assert_uint_gt(strlen(fake_why(p)), 0);
		ck_assert_uint_eq(process_crash_place(p), 0);
	}
	check_dies(p, FAKE_RECORD_WRONG, 0xeeee, "", CRASH_EXIT,
	           "called exit(1)");
	process_free(p);
}
END_TEST

/* ---- No birth ---- */

static void check_refused(struct process *p, const char *what,
                          const char *way_out)
{
	ck_assert_int_eq(process_start(p), PROCESS_NOT_STARTED);
	ck_assert_int_eq(fake_ask(p, FAKE_COUNT, 1, ""), PROCESS_NOT_STARTED);
	ck_assert(says(fake_why(p), what));
	ck_assert(says(fake_why(p), way_out));
}

START_TEST(too_few_files_are_told)
{
	struct process *p = fake_process(&no_client, 10);
	struct rlimit before, limit;
	uint32_t files = open_files();
	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	for (rlim_t extra = 0; extra < 5; extra++) {
		limit.rlim_cur = 3 + extra;
		setrlimit(RLIMIT_NOFILE, &limit);
		check_refused(p, "Too many open files", "ulimit -n");
	}
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_uint_eq(open_files(), files);
	check_lives(p);
	process_free(p);
}
END_TEST

#if !ADDRESS_SANITIZER && !THREAD_SANITIZER
START_TEST(too_little_memory_is_told)
{
	struct process *p = fake_process(&no_client, 10);
	struct rlimit before, limit;
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = (rlim_t)100 << 20;
	setrlimit(RLIMIT_AS, &limit);
	check_refused(p, "shared memory", "ulimit -v");
	setrlimit(RLIMIT_AS, &before);
	check_lives(p);
	process_free(p);
}
END_TEST
#endif

void add_process_tests(TCase *tests)
{
	tcase_add_test(tests, starts_when_needed);
	tcase_add_test(tests, answers_thousands_of_times);
	tcase_add_test(tests, answers_on_one_processor);
	tcase_add_test(tests, answers_at_length);
	tcase_add_test(tests, answers_through_signals);
	tcase_add_test(tests, many_threads_have_workers);
	tcase_add_test(tests, nothing_leaks);
	tcase_add_test(tests, a_worker_is_by_itself);
	tcase_add_test(tests, a_worker_does_not_outlive_the_explorer);
	tcase_add_test(tests, memory_is_the_worker_s_own);
	tcase_add_loop_test(tests, signals_kill, 0,
	                    sizeof deaths_by / sizeof *deaths_by);
	tcase_add_test(tests, processor_time_may_be_limited);
	tcase_add_test(tests, what_was_done_is_kept);
	tcase_add_test(tests, hiding_is_found_out);
	tcase_add_test(tests, spoilt_memory_does_no_harm);
	tcase_add_test(tests, memory_that_changes_does_no_harm);
	tcase_add_test(tests, memory_has_a_limit);
	tcase_add_test(tests, workers_that_grow_are_replaced);
	tcase_add_test(tests, an_end_is_not_waited_for);
	tcase_add_loop_test(tests, loops_end, 0, 4);
	tcase_add_test(tests, steps_are_waited_for);
	tcase_add_test(tests, a_wait_is_not_work);
	tcase_add_test(tests, a_stop_is_a_timeout);
	tcase_add_test(tests, last_words_are_told);
	tcase_add_test(tests, earlier_words_are_not_told);
	tcase_add_test(tests, words_can_be_shown);
	tcase_add_test(tests, places_are_told);
	tcase_add_test(tests, places_without_lines_are_told);
	tcase_add_test(tests, wrong_records_do_no_harm);
	tcase_add_test(tests, too_few_files_are_told);
#if !ADDRESS_SANITIZER && !THREAD_SANITIZER
	tcase_add_test(tests, too_little_memory_is_told);
#endif
}
