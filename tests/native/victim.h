/* The client of the files that define CASE: a transaction that reads x, comes
 * to CASE(), and writes y; beside it one that sets x to 1. So there are two
 * histories, and CASE() gets 0 in one and 1 in the other.
 */
#ifndef TESTS_NATIVE_VICTIM_H
#define TESTS_NATIVE_VICTIM_H

#include <isoscope/client.h>

static void CASE(int64_t x);

static void set_x(void *unused)
{
	(void)unused;
	iso_begin("set x");
	iso_put_int("x", 1);
	iso_commit();
}

static void victim(void *unused)
{
	(void)unused;
	iso_begin("last words");
	CASE(iso_get_int("x"));
	iso_put_int("y", 1);
	iso_commit();
}

void iso_client(void)
{
	iso_initial_int("x", 0);
	iso_session("setter", set_x, NULL);
	iso_session("victim", victim, NULL);
}

#endif
