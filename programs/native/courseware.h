/* Courseware: students enrol in courses of bounded capacity.
 */
#ifndef COURSEWARE_H
#define COURSEWARE_H

#include "ids.h"

/* Students and courses when the client starts; from iso_client() only. */
void courseware_initial(void);

/* Transactions. Those that return false have not done it. */
bool enroll(int student, int course);
/* See enrollment_id() in courseware.c. */
struct ids get_enrollments(void);
bool open_course(int course);
bool close_course(int course);
void delete_course(int course);

#endif
