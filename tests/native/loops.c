/* Sessions that do not come to an end. -DCASE=name chooses one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "victim.h"

/* They loop in the history where x is 1: one wait for the timeout. */
static void spins(int64_t x)
{
	while (x) __asm__ volatile("");
}

static void spins_deaf(int64_t x)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	spins(x);
}

static void spins_ignoring(int64_t x)
{
	for (int i = 1; i < 32; i++) signal(i, SIG_IGN);
	spins(x);
}

static void sleeps(int64_t x)
{
	while (x) sleep(1000);
}

static void pauses(int64_t x)
{
	while (x) pause();
}

static void reads_input(int64_t x)
{
	while (x) getchar();
}

static void prints_for_ever(int64_t x)
{
	while (x) puts("and so on");
}

static void waits_for_a_lock(int64_t x)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	if (!x) return;
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
}

static void *spinning_thread(void *unused)
{
	for (;;) __asm__ volatile("");
	return unused;
}

/* The session itself ends: what its thread does is not waited for. */
static void leaves_a_thread(int64_t x)
{
	pthread_t thread;
	(void)x;
	pthread_create(&thread, NULL, spinning_thread, NULL);
}

/* The session keeps its processor busy behind a fork. */
static void leaves_a_process(int64_t x)
{
	if (x && !fork())
		for (;;) pause();
}

/* Short of the limit: patience is rewarded. */
static void takes_its_time(int64_t x)
{
	if (x) usleep(300000);
}

/* These make steps, and never an end of them: a limit has to come. */
static void reads(int64_t x)
{
	while (x) iso_get_int("x");
}

static void reads_new_keys(int64_t x)
{
	for (int64_t i = 0; x; i++) iso_get(iso_int(i));
}

static void writes(int64_t x)
{
	for (int64_t i = 0; x; i++) iso_put_int("z", i);
}

static void begins_and_commits(int64_t x)
{
	while (x) {
		iso_commit();
		iso_begin("again");
	}
}

static void begins_and_aborts(int64_t x)
{
	while (x) {
		iso_abort();
		iso_begin("again");
	}
}

static void writes_again_and_again(int64_t x)
{
	while (x) {
		iso_commit();
		iso_begin("again");
		iso_put_int("z", 1);
	}
}

static void notes(int64_t x)
{
	for (int64_t i = 0; x; i++) iso_note_int("i", i);
}

static void notes_new_names(int64_t x)
{
	char name[32];
	for (long i = 0; x; i++) {
		snprintf(name, sizeof name, "note %ld", i);
		iso_note_int(name, i);
	}
}

static void asserts_truth(int64_t x)
{
	while (x) iso_assert(true, "true");
}

static void asserts_new_messages(int64_t x)
{
	char message[32];
	for (long i = 0; x; i++) {
		snprintf(message, sizeof message, "message %ld", i);
		iso_assert(true, message);
	}
}

static void assumes_truth(int64_t x)
{
	while (x) iso_assume(true);
}
