/* Who would wait for ever. That one transaction runs at a time is not
 * PostgreSQL's, so it does not see a circle of who waits for its turn and who
 * waits for a lock.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/wire.h"
#include "serve/serving.h"

enum {
	CIRCLE = 1, /* seconds: after so long, circles are looked for */
	STUCK = 10  /* seconds: who is open so long without a word, while others
	             * wait for their turn, is ended */
};

static bool ask(struct service *s, const char *sql)
{
	(void)server_was_reset(s->library);
	return connection_run(&s->library->setup, sql) ||
	       serving_fail(s, "PostgreSQL: %s",
	                    text_get(&s->library->setup.message));
}

static double longest_wait(const struct service *s, double now)
{
	double longest = 0;
	for (uint32_t i = 0; i < s->client_count; i++)
		if (s->clients[i]->waits &&
		    now - s->clients[i]->since > longest)
			longest = now - s->clients[i]->since;
	return longest;
}

/* ---- Circles ---- */

/* Processes that those who are open wait for, and so on. */
static void put_question(struct text *t, const struct service *s)
{
	const char *comma = "";
	text_string(t, "WITH RECURSIVE w(pid) AS (SELECT unnest("
	               "pg_blocking_pids(pid)) FROM unnest(ARRAY[");
	for (uint32_t i = 0; i < s->client_count; i++) {
		const struct client *c = s->clients[i];
		if (!c->open) continue;
		text_format(t, "%s%u", comma, c->channel.peer);
		comma = ", ";
	}
	text_string(t, "]) AS o(pid) UNION SELECT unnest("
	               "pg_blocking_pids(w.pid)) FROM w) SELECT pid FROM w");
}

static struct client *waiting(const struct service *s, unsigned long pid)
{
	for (uint32_t i = 0; i < s->client_count; i++) {
		struct client *c = s->clients[i];
		if (c->waits && c->channel.peer == pid) return c;
	}
	return NULL;
}

/* Of those that wait for their turn, and are waited for by who has it, who came
 * last; NULL: there is none. */
static struct client *in_circle(const struct service *s)
{
	struct client *found = NULL;
	const char *row;
	uint32_t length;
	size_t at = 0;
	while ((row = connection_row(&s->library->setup, &at, &length))) {
		char *pid = image_column(row, length, 0);
		struct client *c = waiting(s, pid ? strtoul(pid, NULL, 10) : 0);
		free(pid);
		if (c && (!found || c->since > found->since)) found = c;
	}
	return found;
}

/* Who waits for its turn waits for all that are open. */
static void break_circle(struct service *s, double now)
{
	struct text sql = { 0 };
	s->sought = now;
	put_question(&sql, s);
	struct client *c = ask(s, text_get(&sql)) ? in_circle(s) : NULL;
	text_free(&sql);
	if (!c) return;
	serving_refuse_turn(c, "40P01deadlock detected: one transaction runs "
	                       "at a time, and the one whose turn it is waits "
	                       "for a lock that this one has");
	s->run->counts.circles++;
}

/* ---- Silence ---- */

/* Of those that are open, who is silent longest, and not because it waits for a
 * row. */
static struct client *silent(const struct service *s)
{
	struct client *found = NULL;
	for (uint32_t i = 0; i < s->client_count; i++) {
		struct client *c = s->clients[i];
		if (c->open && !c->blocked &&
		    (!found || c->since < found->since))
			found = c;
	}
	return found;
}

/* Two transactions of one client that waits for both would wait for ever. Who
 * is at work goes on. */
static void end_stuck(struct service *s, double now)
{
	char sql[192];
	uint32_t length;
	size_t at = 0;
	struct client *c = silent(s);
	if (!c || now - c->since < STUCK) return;
	c->since = now;
	snprintf(sql, sizeof sql,
	         "SELECT wait_event_type, pg_terminate_backend(pid) FROM "
	         "pg_stat_activity WHERE pid = %u AND wait_event_type IN "
	         "('Client', 'Lock')",
	         c->channel.peer);
	if (!ask(s, sql)) return;
	const char *row = connection_row(&s->library->setup, &at, &length);
	if (!row) return;
	char *type = image_column(row, length, 0);
	if (type && !strcmp(type, "Lock"))
		s->run->counts.held++;
	else
		s->run->counts.stuck++;
	free(type);
}

void serving_end_standstill(struct service *s)
{
	double now = seconds_now(), longest = longest_wait(s, now);
	if (longest >= CIRCLE && s->open_count && now - s->sought >= CIRCLE)
		break_circle(s, now);
	if (longest >= STUCK) end_stuck(s, now);
}
