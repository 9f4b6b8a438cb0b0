/* Sessions that do not always do the same after the same values. -DCASE=name
 * chooses one. A session beside it writes, so that there is a reason to run it
 * again.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <isoscope/client.h>

static int64_t read_x(void)
{
	return iso_get_int("x");
}

static void put_between(int64_t value)
{
	iso_begin("unsteady");
	read_x();
	iso_put_int("y", value);
	read_x();
	iso_commit();
}

static void reads_the_clock(void *unused)
{
	struct timespec now;
	(void)unused;
	clock_gettime(CLOCK_MONOTONIC, &now);
	put_between((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void draws(void *unused)
{
	(void)unused;
	put_between(rand());
}

static void counts_runs(void *unused)
{
	static int runs;
	(void)unused;
	put_between(++runs);
}

static void chooses_keys(void *unused)
{
	static int runs;
	char key[32];
	(void)unused;
	iso_begin("unsteady");
	snprintf(key, sizeof key, "key %d", runs++);
	iso_get(iso_string(key));
	iso_commit();
}

/* Nothing that was allocated before is ever freed, so no address returns. */
static void uses_an_address(void *unused)
{
	(void)unused;
	put_between((int64_t)(intptr_t)malloc(1000));
}

static void uses_its_process(void *unused)
{
	(void)unused;
	put_between(getpid());
}

/* Whatever is in it: nothing worse than a report may happen. */
static void uses_the_stack(void *unused)
{
	volatile int64_t garbage[64];
	(void)unused;
	put_between(garbage[33]);
}

static void has_more_to_do(void *unused)
{
	static int runs;
	(void)unused;
	runs++;
	for (int i = 0; i < runs; i++) {
		iso_begin("one more");
		iso_put_int("y", i);
		iso_commit();
	}
}

static void has_less_to_do(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("first");
	read_x();
	iso_commit();
	if (runs++) return;
	iso_begin("only once");
	read_x();
	iso_commit();
}

static void crashes_the_second_time(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("works once");
	read_x();
	if (runs++) *(volatile int *)0 = 1;
	read_x();
	iso_commit();
}

static void crashes_the_first_time(void *unused)
{
	(void)unused;
	iso_begin("works later");
	read_x();
	if (access("was-here", F_OK)) {
		FILE *f = fopen("was-here", "w");
		if (f) fclose(f);
		*(volatile int *)0 = 1;
	}
	iso_commit();
}

static void fails_the_second_time(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("asserts");
	read_x();
	iso_assert(!runs++, "only the first time");
	iso_commit();
}

static void assumes_the_second_time(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("assumes");
	read_x();
	iso_assume(!runs++);
	iso_commit();
}

static void notes_something_else(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("notes");
	read_x();
	iso_note_int("run", runs++);
	iso_commit();
}

static void renames_itself(void *unused)
{
	static int runs;
	char name[32];
	(void)unused;
	snprintf(name, sizeof name, "run %d", runs++);
	iso_begin(name);
	read_x();
	iso_commit();
}

static void aborts_the_second_time(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("or not");
	read_x();
	if (runs++)
		iso_abort();
	else
		iso_commit();
}

static void loops_the_second_time(void *unused)
{
	static int runs;
	(void)unused;
	iso_begin("quick once");
	read_x();
	if (runs++)
		for (;;) pause();
	iso_commit();
}

/* What one session leaves in memory, another finds: no values of the database
 * say so. */
static int shared_in_memory;

static void whispers(void *unused)
{
	(void)unused;
	iso_begin("whisper");
	int64_t x = read_x();
	if (x) shared_in_memory = 1;
	iso_put_int("y", shared_in_memory);
	read_x();
	iso_commit();
}

/* A cache that is filled once: the first run reads the database, others do
 * not. The usual mistake. */
static void caches(void *unused)
{
	static int64_t cached = -1;
	(void)unused;
	iso_begin("cached");
	if (cached < 0) cached = read_x();
	iso_put_int("y", cached);
	iso_commit();
}

/* Static, but set anew in each run: nothing wrong with that. */
static void starts_afresh(void *unused)
{
	static char buffer[64];
	static int used;
	(void)unused;
	used = 0;
	memset(buffer, 0, sizeof buffer);
	iso_begin("afresh");
	buffer[used++] = (char)('0' + read_x());
	buffer[used++] = (char)('0' + read_x());
	iso_put_string("y", buffer);
	iso_commit();
}

/* A seed that is set in each run makes the same numbers. */
static void draws_from_a_seed(void *unused)
{
	unsigned seed = 7;
	(void)unused;
	put_between(rand_r(&seed));
}

static void writer(void *unused)
{
	(void)unused;
	iso_begin("write");
	iso_put_int("x", 1);
	iso_commit();
}

void iso_client(void)
{
	iso_initial_int("x", 0);
	iso_session("unsteady", CASE, NULL);
	iso_session("writer", writer, NULL);
}
