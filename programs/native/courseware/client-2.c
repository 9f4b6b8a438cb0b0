/* Courseware, client 2 of the benchmark; in the language of isoscope it
 * is programs/courseware/client-2.tx.
 */
#include "../courseware.h"

#include <isoscope/client.h>

static void s1(void *unused)
{
	(void)unused;
	get_enrollments();
	enroll(1, 1);
	get_enrollments();
}

static void s2(void *unused)
{
	(void)unused;
	get_enrollments();
	enroll(2, 1);
	get_enrollments();
}

static void s3(void *unused)
{
	(void)unused;
	get_enrollments();
	delete_course(1);
	get_enrollments();
}

void iso_client(void)
{
	courseware_initial();
	iso_session("s1", s1, NULL);
	iso_session("s2", s2, NULL);
	iso_session("s3", s3, NULL);
}
