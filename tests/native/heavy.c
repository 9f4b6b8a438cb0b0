/* Sessions that need much: stack, memory, restarts, output. -DCASE=name chooses
 * the session; SESSIONS of them run.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isoscope/client.h>

#ifndef SESSIONS
#define SESSIONS 2
#endif
#ifndef PAUSE
#define PAUSE 20000 /* microseconds */
#endif

static int64_t count_down(volatile int64_t depth)
{
	volatile char frame[1000];
	frame[0] = 1;
	if (!depth) return iso_get_int("x");
	return count_down(depth - 1) + frame[0] - 1;
}

/* 4 MiB of stack, with an access at the bottom. */
static void recurses(void *unused)
{
	(void)unused;
	iso_begin("deep");
	iso_put_int("x", count_down(4000) + 1);
	iso_commit();
}

/* As a session that reads a file would do: it is the worker's own business. */
static void deep_locals(void *unused)
{
	volatile char page[5 << 20];
	(void)unused;
	for (size_t i = 0; i < sizeof page; i += 4096) page[i] = 1;
	iso_begin("wide");
	page[1] = (char)iso_get_int("x");
	for (size_t i = 0; i < sizeof page; i += 4096)
		if (page[i] != 1) abort();
	iso_put_int("x", page[1] + 1);
	iso_commit();
}

/* Pages of this process that are in memory. */
static long resident(void)
{
	long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f) return 0;
	if (fscanf(f, "%ld %ld", &size, &pages) != 2) pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A run that is left in the middle never frees: 4 MiB for each. The process
 * has to be replaced before that becomes much. What is written tells apart who
 * wrote after whom, so there are many runs. */
static void allocates(void *name)
{
	iso_begin("allocates");
	char *block = malloc(4 << 20);
	memset(block, 1, 4 << 20);
	if (resident() > (long)1 << 30) abort();
	int64_t seen = 10 * iso_get_int("x") + iso_get_int("y");
	iso_put_int("x", 10 * seen + ((const char *)name)[1] - '0' + 1);
	iso_put_int("y", seen % 1000003);
	printf("allocated\n");
	free(block);
	iso_commit();
}

static void prints_much(void *unused)
{
	(void)unused;
	iso_begin("talks");
	for (int i = 0; i < 2000; i++) {
		printf("output of a client, line %d\n", i);
		fprintf(stderr, "errors of a client, line %d\n", i);
	}
	iso_put_int("x", iso_get_int("x") + 1);
	printf("no line end");
	fflush(stdout);
	iso_commit();
}

/* The lock of the session that was left in the middle is never given back. */
static void locks(void *unused)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	(void)unused;
	pthread_mutex_lock(&lock);
	iso_begin("locked");
	iso_put_int("x", iso_get_int("x") + 1);
	iso_commit();
	pthread_mutex_unlock(&lock);
}

/* Given back before each access: fine. */
static void locks_in_between(void *unused)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	(void)unused;
	iso_begin("careful");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	int64_t x = iso_get_int("x");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	iso_put_int("x", x + 1);
	iso_commit();
}

static void opens_files(void *unused)
{
	(void)unused;
	iso_begin("opens");
	FILE *f = fopen("/dev/null", "r");
	if (!f) abort();
	int64_t x = iso_get_int("x") + iso_get_int("y");
	iso_put_int("x", x + 1);
	fclose(f);
	iso_commit();
}

static void many_transactions(void *unused)
{
	(void)unused;
	for (int i = 0; i < 200; i++) {
		iso_begin("small");
		iso_put_int("y", i);
		iso_commit();
	}
}

/* Its first run takes a while: for tests that come in between. */
static void slow(void *unused)
{
	(void)unused;
	iso_begin("slow");
	usleep(PAUSE);
	iso_put_int("x", iso_get_int("x") + iso_get_int("y") + 1);
	iso_commit();
}

void iso_client(void)
{
	static char names[SESSIONS][16];
	iso_initial_int("x", 0);
	iso_initial_int("y", 0);
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(names[i], sizeof names[i], "s%d", i);
		iso_session(names[i], CASE, names[i]);
	}
}
