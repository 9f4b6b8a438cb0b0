/* Courseware, client 1 of the benchmark; in the language of isoscope it
 * is programs/courseware/client-1.tx.
 */
#include "../courseware.h"

#include <isoscope/client.h>

static void s1(void *unused)
{
	(void)unused;
	enroll(1, 1);
	get_enrollments();
	enroll(1, 2);
}

static void s2(void *unused)
{
	(void)unused;
	enroll(2, 1);
	get_enrollments();
	delete_course(2);
}

static void s3(void *unused)
{
	(void)unused;
	enroll(2, 1);
	close_course(-1);
	delete_course(1);
}

void iso_client(void)
{
	courseware_initial();
	iso_session("s1", s1, NULL);
	iso_session("s2", s2, NULL);
	iso_session("s3", s3, NULL);
}
