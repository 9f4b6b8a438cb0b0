/* The transactions of programs/apps/courseware.tx in C: the same reads and
 * writes in the same order.
 *
 * The keys "students", "courses" and "enrollments" hold lists of ids;
 * "students/ID" is "registered" or "new", "courses/ID" the course with that id
 * as text, "open, capacity 3".
 */
#include "courseware.h"

#include <stdio.h>
#include <string.h>

#include <isoscope/client.h>

enum { TEXT = 40 }; /* bytes of a key or a course as text */
enum { STUDENTS = 100 }; /* more than there are */

struct course {
	bool open; /* for enrolments */
	int capacity;
};

/* An enrolment's id says everything, so that no row is ever written. */
static int enrollment_id(int course, int student)
{
	return course * STUDENTS + student;
}

static bool is_of_course(int enrollment, int course)
{
	return enrollment / STUDENTS == course;
}

static void print_key(char key[TEXT], const char *table, int id)
{
	snprintf(key, TEXT, "%s/%d", table, id);
}

static void print_course(char text[TEXT], const struct course *course)
{
	snprintf(text, TEXT, "%s, capacity %d",
	         course->open ? "open" : "closed", course->capacity);
}

static void courses_initial(void)
{
	static const struct course courses[] = {
		{true, 1}, {true, 2}, {true, 3},
		{true, 3}, {true, 3}, {false, 3},
	};
	char key[TEXT], text[TEXT];

	iso_initial_string("courses", "1,2,3,4,5,6");
	for (int i = 0; i < 6; i++) {
		print_key(key, "courses", i + 1);
		print_course(text, &courses[i]);
		iso_initial_string(key, text);
	}
}

/* Only student 1 is not registered yet, so only that student can enrol. */
void courseware_initial(void)
{
	char key[TEXT];

	iso_initial_string("students", "0,1,2,3,4,5,6,7");
	for (int i = 0; i < 8; i++) {
		print_key(key, "students", i);
		iso_initial_string(key, i == 1 ? "new" : "registered");
	}
	courses_initial();
	iso_initial_string("enrollments", "");
}

static bool is_listed(const char *table, int id)
{
	struct ids list = ids_get(table);

	return ids_have(&list, id);
}

/* The row with that id, or a null pointer if it is not listed. */
static const char *read_row(const char *table, int id)
{
	char key[TEXT];

	if (!is_listed(table, id)) return NULL;
	print_key(key, table, id);
	return iso_get_string(key);
}

static bool read_course(int id, struct course *course)
{
	const char *text = read_row("courses", id);
	char status[8];

	if (text == NULL) return false;
	sscanf(text, "%7[^,], capacity %d", status, &course->capacity);
	course->open = strcmp(status, "open") == 0;
	return true;
}

/* Looks twice whether the course is listed, as a database does for a SELECT and
 * the UPDATE that follows it. */
static bool set_open(int id, bool open)
{
	struct course course;
	char key[TEXT], text[TEXT];

	if (!read_course(id, &course) || !is_listed("courses", id))
		return false;
	course.open = open;
	print_key(key, "courses", id);
	print_course(text, &course);
	iso_put_string(key, text);
	return true;
}

/* Reads the rows of all enrolments in the course. */
static int count_enrolled(int course)
{
	struct ids list = ids_get("enrollments");
	char key[TEXT];
	int enrolled = 0;

	for (int i = 0; i < list.count; i++) {
		if (!is_of_course(list.id[i], course)) continue;
		snprintf(key, TEXT, "enrollments/%d/%d", course,
		         list.id[i] % STUDENTS);
		iso_get_string(key);
		enrolled++;
	}
	return enrolled;
}

static void add_enrollment(int course, int student)
{
	struct ids list = ids_get("enrollments");

	ids_add(&list, enrollment_id(course, student));
	ids_put("enrollments", &list);
}

bool enroll(int student, int course_id)
{
	const char *row;
	struct course course;
	bool enrolls;

	iso_begin("enroll");
	row = read_row("students", student);
	if (row == NULL || !read_course(course_id, &course)) {
		iso_abort();
		return false;
	}
	enrolls = strcmp(row, "new") == 0 && course.open &&
	          count_enrolled(course_id) < course.capacity;
	if (enrolls) add_enrollment(course_id, student);
	iso_commit();
	return enrolls;
}

struct ids get_enrollments(void)
{
	struct ids list;

	iso_begin("get_enrollments");
	list = ids_get("enrollments");
	iso_commit();
	return list;
}

bool open_course(int course)
{
	bool opens;

	iso_begin("open_course");
	opens = set_open(course, true);
	iso_commit();
	return opens;
}

bool close_course(int course)
{
	bool closes;

	iso_begin("close_course");
	closes = set_open(course, false);
	iso_commit();
	return closes;
}

static void remove_id(const char *table, int id)
{
	struct ids list = ids_get(table);

	ids_remove(&list, id);
	ids_put(table, &list);
}

void delete_course(int course)
{
	struct ids enrolled;

	iso_begin("delete_course");
	set_open(course, false);
	remove_id("courses", course);
	enrolled = ids_get("enrollments");
	for (int i = 0; i < enrolled.count; i++)
		if (is_of_course(enrolled.id[i], course))
			remove_id("enrollments", enrolled.id[i]);
	iso_commit();
}
