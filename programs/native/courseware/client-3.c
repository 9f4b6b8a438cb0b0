/* Courseware, client 3 of the benchmark; in the language of isoscope it
 * is programs/courseware/client-3.tx.
 */
#include "../courseware.h"

#include <isoscope/client.h>

static void session(void *student)
{
	open_course(3);
	enroll(*(int *)student, 3);
	delete_course(3);
}

void iso_client(void)
{
	static int students[] = {2, 4, 0};

	courseware_initial();
	iso_session("s1", session, &students[0]);
	iso_session("s2", session, &students[1]);
	iso_session("s3", session, &students[2]);
}
