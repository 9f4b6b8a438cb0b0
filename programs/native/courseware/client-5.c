/* Courseware, client 5 of the benchmark; in the language of isoscope it
 * is programs/courseware/client-5.tx.
 */
#include "../courseware.h"

#include <isoscope/client.h>

static void s1(void *unused)
{
	(void)unused;
	delete_course(3);
	enroll(0, 3);
	get_enrollments();
}

static void s2(void *unused)
{
	(void)unused;
	open_course(3);
	enroll(2, 3);
	get_enrollments();
}

static void s3(void *unused)
{
	(void)unused;
	open_course(3);
	enroll(2, 3);
	delete_course(3);
}

void iso_client(void)
{
	courseware_initial();
	iso_session("s1", s1, NULL);
	iso_session("s2", s2, NULL);
	iso_session("s3", s3, NULL);
}
