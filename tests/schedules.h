/* All schedules of a few sessions on a PostgreSQL of the test's own.
 *
 * A session sends its steps one after the other, each a text of SQL; a schedule
 * is the order in which steps are sent. A step that waits for a lock, as
 * PostgreSQL itself says (pg_isolation_test_session_is_blocked), keeps its
 * session from going on, and the others go on meanwhile. So what can be sent
 * next depends on what was sent before: the schedules are found by running
 * them, each from the beginning.
 */
#ifndef TESTS_SCHEDULES_H
#define TESTS_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

#include "postgres.h"

enum { SCHEDULE_SESSIONS = 6, SCHEDULE_STEPS = 16 };

/* What a step gave. (Where sessions wait for each other, the step that closes
 * the circle gives 40P01.) */
struct step_result {
	char *rows;    /* "a|b\n" for each row of its last query with rows */
	char error[6]; /* SQLSTATE of its first error, or "" */
};

struct schedules {
	const struct postgres *server;
	const char *reset; /* SQL that makes the state that all begin with */
	uint32_t sessions;
	uint32_t counts[SCHEDULE_SESSIONS]; /* of steps */
	const char *steps[SCHEDULE_SESSIONS][SCHEDULE_STEPS];
	/* Of the last schedule: results by session and step, and the sessions
	 * in the order in which their steps were sent. */
	struct step_result results[SCHEDULE_SESSIONS][SCHEDULE_STEPS];
	uint32_t order[SCHEDULE_SESSIONS * SCHEDULE_STEPS], length;
};

typedef void schedule_observer(void *data, const struct schedules *s);

/* Runs all, or the first `most`, and calls the observer after each, while the
 * sessions are idle. Returns how many there were; UINT32_MAX: not all, since
 * there are more, or more depends on the server than in which order steps are
 * sent. */
uint32_t schedules_run(struct schedules *s, uint32_t most,
                       schedule_observer *observer, void *data);
/* "1 2 2 1", for messages. */
void schedules_print(struct text *t, const struct schedules *s);

#endif
