/* Sessions that end the process that they run in, or try to leave it.
 * -DCASE=name chooses one.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

static void null_pointer(int64_t x)
{
	*(volatile int *)0 = (int)x;
}

static void wild_pointer(int64_t x)
{
	*(volatile int *)0xdeadbeefdeadbee0 = (int)x;
}

static void read_only(int64_t x)
{
	*(volatile char *)(void *)(uintptr_t)"constant" = (char)x;
}

static void null_function(int64_t x)
{
	void (*volatile function)(int64_t x) = NULL;
	function(x);
}

static void division(int64_t x)
{
	volatile int zero = 0;
	volatile int quotient = (int)x / zero;
	(void)quotient;
}

static void illegal(int64_t x)
{
	(void)x;
	__builtin_trap();
}

static void past_the_end_of_a_file(int64_t x)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
	                  file, 0);
	page[0] = (char)x;
}

static void aborts(int64_t x)
{
	(void)x;
	abort();
}

static void asserts(int64_t x)
{
	assert(x == 77);
}

/* What was printed before is shown too, last line first of all. */
static void last_line(int64_t x)
{
	printf("the value was %d\n", (int)x);
	fflush(stdout);
	fprintf(stderr, "cannot go on: [%d]\n", (int)x);
	abort();
}

static int64_t overflow_at(volatile int64_t x)
{
	volatile char frame[1000];
	frame[x & 511] = 1;
	return overflow_at(x + 1) + frame[x & 511];
}

static void overflow(int64_t x)
{
	overflow_at(x);
}

/* Its frames are larger than a page: it could step over a guard. */
static int64_t giant_at(volatile int64_t x)
{
	volatile char frame[40000];
	frame[(x * 977) & 16383] = 1;
	return giant_at(x + 1) + frame[x & 511];
}

static void giant_frames(int64_t x)
{
	giant_at(x);
}

static void giant_array(int64_t x)
{
	volatile char array[64 << 20];
	for (size_t i = 0; i < sizeof array; i += 4096)
		array[sizeof array - 1 - i] = (char)x;
}

static void killed(int64_t x)
{
	(void)x;
	raise(SIGKILL);
}

static void terminated(int64_t x)
{
	(void)x;
	raise(SIGTERM);
}

static void alarmed(int64_t x)
{
	(void)x;
	raise(SIGALRM);
}

static void broken_pipe(int64_t x)
{
	(void)x;
	raise(SIGPIPE);
}

static void stopped(int64_t x)
{
	(void)x;
	raise(SIGSTOP);
}

static void exits(int64_t x)
{
	exit((int)x);
}

static void exits_with_3(int64_t x)
{
	(void)x;
	exit(3);
}

static void exits_at_once(int64_t x)
{
	(void)x;
	_exit(0);
}

static void thread_exits(int64_t x)
{
	(void)x;
	pthread_exit(NULL);
}

/* The exit handlers of the tool are not for clients to run. */
static void loops_at_exit(void)
{
	for (;;) pause();
}

static void exits_slowly(int64_t x)
{
	(void)x;
	atexit(loops_at_exit);
	exit(0);
}

/* The child of the session speaks as if it were the session. */
static void forks(int64_t x)
{
	(void)x;
	fork();
}

static void becomes_another_program(int64_t x)
{
	(void)x;
	execlp("true", "true", (char *)NULL);
}

static void becomes_a_sleeper(int64_t x)
{
	(void)x;
	execlp("sleep", "sleep", "1000", (char *)NULL);
}

static void closes_everything(int64_t x)
{
	(void)x;
	for (int i = 0; i < 1024; i++) close(i);
}

static void writes_everywhere(int64_t x)
{
	(void)x;
	for (int i = 0; i < 1024; i++)
		if (write(i, "xxxxxxxx", 8) < 0) continue;
}

/* Writes over all memory that the process shares with others, or over every
 * 61st byte of it. */
static void spoil(unsigned char with, size_t step)
{
	char line[500];
	unsigned long start, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps)) {
		if (!strstr(line, " rw-s ")) continue;
		if (sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
		if (end - start > 1 << 20) end = start + (1 << 20);
		for (unsigned long at = start; at < end; at += step)
			*(volatile unsigned char *)at = with;
	}
	if (maps) fclose(maps);
}

static void spoils_with_ones(int64_t x)
{
	(void)x;
	spoil(0xff, 1);
}

static void spoils_with_zeros(int64_t x)
{
	(void)x;
	spoil(0, 1);
}

static void spoils_here_and_there(int64_t x)
{
	(void)x;
	spoil(0x41, 61);
}

static void ignores_signals(int64_t x)
{
	signal(SIGSEGV, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	*(volatile int *)0 = (int)x;
}

static void own_handler(int number)
{
	(void)number;
	write(2, "own handler\n", 12);
	_exit(9);
}

static void handles_signals(int64_t x)
{
	signal(SIGSEGV, own_handler);
	*(volatile int *)0 = (int)x;
}

static void takes_the_stack_of_handlers(int64_t x)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	sigaltstack(&none, NULL);
	overflow_at(x);
}

static void frees_twice(int64_t x)
{
	char *volatile p = malloc(100);
	p[0] = (char)x;
	free(p);
	free(p);
}

static void runs_out_of_memory(int64_t x)
{
	char *p = malloc(SIZE_MAX / 4);
	p[x] = 1;
}

/* Only behind a value of another session: the history must show it. */
static void on_one_schedule(int64_t x)
{
	if (x == 1) *(volatile int *)0 = 1;
}

/* Leaving the coroutine sideways. */
static jmp_buf home;

static void jump_from(int64_t x)
{
	if (x >= 0) longjmp(home, 1);
}

/* Into a frame that is alive: nothing is wrong with that. */
static void jumps_inside(int64_t x)
{
	if (!setjmp(home)) jump_from(x);
}

/* Into a frame that ended long ago. */
__attribute__((noinline)) static int remember_frame(void)
{
	return setjmp(home);
}

static void jumps_out(int64_t x)
{
	if (!remember_frame()) jump_from(x);
}

static ucontext_t outside;
static int64_t visits;

/* Into the context of the run before. */
static void switches_context(int64_t x)
{
	(void)x;
	if (visits++) setcontext(&outside);
	getcontext(&outside);
}

static void *thread_reads(void *unused)
{
	(void)unused;
	iso_get_int("x");
	return NULL;
}

static void reads_in_a_thread(int64_t x)
{
	pthread_t thread;
	(void)x;
	pthread_create(&thread, NULL, thread_reads, NULL);
	pthread_join(thread, NULL);
}

static void *thread_crashes(void *unused)
{
	*(volatile int *)0 = 1;
	return unused;
}

static void crashes_in_a_thread(int64_t x)
{
	pthread_t thread;
	(void)x;
	pthread_create(&thread, NULL, thread_crashes, NULL);
	pthread_join(thread, NULL);
}

static void *thread_computes(void *out)
{
	*(int64_t *)out += 1;
	return NULL;
}

/* A thread that only computes is nobody's business. */
static void computes_in_a_thread(int64_t x)
{
	pthread_t thread;
	pthread_create(&thread, NULL, thread_computes, &x);
	pthread_join(thread, NULL);
	iso_assert(x == 1 || x == 2, "the thread has counted");
}
