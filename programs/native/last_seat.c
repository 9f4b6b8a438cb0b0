/* Two students race for the last seat of a course.
 *
 * Each enrolment reads who is in, checks the capacity, and writes the list
 * back. When both read the list before either writes it, both are told that
 * they are enrolled, and one of them is lost. Snapshot isolation and
 * serializability forbid that; every weaker level allows it.
 *
 * programs/examples/last-seat.tx says the same in the language of isoscope.
 */
#include <stdio.h>

#include <isoscope/client.h>

/* Students in a list that is text. */
static int size(const char *list)
{
	int commas = 0;

	for (const char *c = list; *c != '\0'; c++) commas += *c == ',';
	return *list == '\0' ? 0 : commas + 1;
}

static bool enroll(const char *student)
{
	const char *enrolled;
	char with_student[200];

	iso_begin("enroll");
	if (iso_get_int("open/db") == 0) goto full;
	enrolled = iso_get_string("enrolled/db");
	if (size(enrolled) >= iso_get_int("seats/db")) goto full;
	snprintf(with_student, sizeof with_student, "%s%s%s", enrolled,
	         *enrolled == '\0' ? "" : ",", student);
	iso_put_string("enrolled/db", with_student);
	iso_commit();
	return true;
full:
	iso_abort();
	return false;
}

static void student(void *name)
{
	iso_note_int("ok", enroll(name));
}

static bool at_most_one(void *unused)
{
	(void)unused;
	return !(iso_noted_int("alice", "ok", 0) == 1 &&
	         iso_noted_int("bob", "ok", 0) == 1);
}

void iso_client(void)
{
	iso_isolation("cc");
	iso_initial_int("open/db", 1);
	iso_initial_int("seats/db", 1);
	iso_initial_string("enrolled/db", "");
	iso_session("alice", student, "alice");
	iso_session("bob", student, "bob");
	iso_expect("only one may be told that the seat is theirs",
	           at_most_one, NULL);
}
