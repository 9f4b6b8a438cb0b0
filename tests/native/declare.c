/* Clients that declare too little, too much, or the wrong thing. -DCASE=name
 * chooses what iso_client() does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <isoscope/client.h>

static void idle(void *unused)
{
	(void)unused;
}

static void writer(void *key)
{
	iso_begin("write");
	iso_put_int(key, 1);
	iso_commit();
}

static void reader(void *key)
{
	iso_begin("read");
	iso_note_int("seen", iso_get_int(key));
	iso_commit();
}

static bool fine(void *unused)
{
	(void)unused;
	return true;
}

static void nothing(void)
{
}

static void only_initial(void)
{
	iso_initial_int("x", 0);
}

static void idle_session(void)
{
	iso_session("idle", idle, NULL);
}

static void crashes(void)
{
	*(volatile int *)0 = 1;
}

static void exits(void)
{
	exit(0);
}

static void aborts(void)
{
	fprintf(stderr, "the configuration is missing\n");
	abort();
}

static void spins(void)
{
	for (;;) __asm__ volatile("");
}

static void prints(void)
{
	puts("declaring");
	fprintf(stderr, "declaring\n");
	iso_session("idle", idle, NULL);
}

static void begins(void)
{
	iso_session("idle", idle, NULL);
	iso_begin("too early");
}

static void gets(void)
{
	iso_session("idle", idle, NULL);
	iso_get_int("x");
}

static void asserts(void)
{
	iso_session("idle", idle, NULL);
	iso_assert(true, "too early");
}

static void notes(void)
{
	iso_session("idle", idle, NULL);
	iso_note_int("early", 1);
}

static void duplicate_names(void)
{
	iso_session("twin", idle, NULL);
	iso_session("twin", idle, NULL);
}

static void no_name(void)
{
	iso_session(NULL, idle, NULL);
}

static void empty_name(void)
{
	iso_session("", idle, NULL);
}

static void no_function(void)
{
	iso_session("idle", NULL, NULL);
}

static void two_finals(void)
{
	iso_session("idle", idle, NULL);
	iso_finally(idle, NULL);
	iso_finally(idle, NULL);
}

static void final_without_function(void)
{
	iso_session("idle", idle, NULL);
	iso_finally(NULL, NULL);
}

static void only_finally(void)
{
	iso_finally(idle, NULL);
}

static void session_called_finally(void)
{
	iso_session("finally", idle, NULL);
	iso_finally(idle, NULL);
}

static void session_called_init(void)
{
	iso_session("init", idle, NULL);
}

static void expectation_without_function(void)
{
	iso_session("idle", idle, NULL);
	iso_expect("nothing", NULL, NULL);
}

static void expectation_without_text(void)
{
	iso_session("idle", idle, NULL);
	iso_expect(NULL, fine, NULL);
}

static void wrong_level(void)
{
	iso_session("idle", idle, NULL);
	iso_isolation("snapshot");
}

static void no_level(void)
{
	iso_session("idle", idle, NULL);
	iso_isolation(NULL);
}

static void two_levels(void)
{
	iso_session("idle", idle, NULL);
	iso_isolation("ser");
	iso_isolation("rc");
}

static void level(void)
{
	iso_session("idle", idle, NULL);
	iso_isolation("si");
}

static void initial_twice(void)
{
	iso_initial_int("x", 1);
	iso_initial_int("x", 2);
	iso_session("reader", reader, "x");
}

static void initial_of_null(void)
{
	iso_initial(iso_null(), iso_int(1));
	iso_session("idle", idle, NULL);
}

/* One function, 1,000 sessions, each with its own key. */
static void thousand_sessions(void)
{
	static char names[1000][16];
	for (int i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof names[i], "s%03d", i);
		iso_session(names[i], writer, names[i]);
	}
}

static void too_many_sessions(void)
{
	char name[16];
	for (int i = 0; i < 9000; i++) {
		snprintf(name, sizeof name, "s%d", i);
		iso_session(name, idle, NULL);
	}
}

static void initials(int count)
{
	for (int i = 0; i < count; i++) iso_initial(iso_int(i), iso_int(i));
	iso_session("idle", idle, NULL);
}

static void many_initials(void)
{
	initials(50000);
}

static void too_many_initials(void)
{
	initials(1100000);
}

/* Names that did not stay, as they may not have to. */
static void borrowed_names(void)
{
	char name[16];
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "session %d", i);
		iso_initial_int(name, i);
		iso_session(name, writer, "x");
	}
	snprintf(name, sizeof name, "overwritten");
}

void iso_client(void)
{
	CASE();
}
