#include "schedules.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "base/memory.h"

/* A session of the schedule that runs. */
struct going {
	struct connection c;
	uint32_t sent;
	bool waits; /* for a lock; its last step has not ended */
};

struct driver {
	struct schedules *s;
	struct connection control;
	struct going sessions[SCHEDULE_SESSIONS];
	/* Where there was a choice: what was sent, and what could be. */
	uint32_t sent[SCHEDULE_SESSIONS * SCHEDULE_STEPS];
	uint32_t able[SCHEDULE_SESSIONS * SCHEDULE_STEPS]; /* bits */
	uint32_t prefix; /* so many are to be sent again */
	bool raced;      /* what was sent again had another effect */
};

static void take_result(struct driver *d, uint32_t i)
{
	struct going *g = &d->sessions[i];
	struct step_result *r = &d->s->results[i][g->sent - 1];
	free(r->rows);
	r->rows = mem_copy_string(g->c.rows.length ? text_get(&g->c.rows) : "");
	memcpy(r->error, g->c.error, sizeof r->error);
	g->waits = false;
}

/* The sessions whose process identifiers a query gives: bits. */
static uint32_t sessions_of(struct driver *d, const char *query)
{
	uint32_t set = 0;
	client_run(&d->control, query);
	for (const char *p = text_get(&d->control.rows); p && *p;
	     p = strchr(p, '\n') + 1)
		for (uint32_t k = 0; k < d->s->sessions; k++)
			if (atoi(p) == d->sessions[k].c.pid) set |= 1u << k;
	return set;
}

/* Those that wait for a lock, all at one moment. */
static uint32_t blocked_sessions(struct driver *d)
{
	return sessions_of(d, "SELECT pid FROM pg_locks WHERE NOT granted");
}

/* Until its step has ended, or waits for a lock. */
static void watch(struct driver *d, uint32_t i)
{
	struct going *g = &d->sessions[i];
	enum { PATIENCE = 20000 };
	for (int n = 0; !client_wait(&g->c, n ? 1 : 0); n++) {
		ck_assert_int_lt(n, PATIENCE);
		if (blocked_sessions(d) >> i & 1) {
			g->waits = true;
			return;
		}
	}
	take_result(d, i);
}

static uint32_t waiting_sessions(const struct driver *d)
{
	uint32_t set = 0;
	for (uint32_t i = 0; i < d->s->sessions; i++)
		if (d->sessions[i].waits) set |= 1u << i;
	return set;
}

/* Those that waited may go on, one after the other. A session that goes on and
 * waits again may have let go of what one before it waited for, so the end is
 * where all wait at one moment. */
static void watch_waiting(struct driver *d)
{
	uint32_t waiting;
	while ((waiting = waiting_sessions(d)) & ~blocked_sessions(d))
		for (uint32_t i = 0; i < d->s->sessions; i++)
			if (waiting >> i & 1) watch(d, i);
}

static uint32_t able_sessions(const struct driver *d)
{
	uint32_t able = 0;
	for (uint32_t i = 0; i < d->s->sessions; i++)
		if (!d->sessions[i].waits &&
		    d->sessions[i].sent < d->s->counts[i])
			able |= 1u << i;
	return able;
}

/* ---- Deadlocks ---- */

/* Whom this one, which waits, waits for. */
static uint32_t blockers_of(struct driver *d, uint32_t i)
{
	char sql[64];
	snprintf(sql, sizeof sql, "SELECT unnest(pg_blocking_pids(%d))",
	         d->sessions[i].c.pid);
	return sessions_of(d, sql);
}

/* Of the sessions that wait for each other in a circle, the one that sent its
 * step last; `sessions` if there is none. */
static uint32_t find_victim(struct driver *d)
{
	uint32_t n = d->s->sessions, reach[SCHEDULE_SESSIONS] = { 0 };
	for (uint32_t i = 0; i < n; i++)
		if (d->sessions[i].waits) reach[i] = blockers_of(d, i);
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (reach[i] >> k & 1) reach[i] |= reach[k];
	for (uint32_t i = d->s->length; i-- > 0;) {
		uint32_t session = d->s->order[i];
		if (reach[session] >> session & 1) return session;
	}
	return n;
}

/* The server would find it out by itself, but which transaction it aborts then
 * is a matter of milliseconds. */
static void break_deadlocks(struct driver *d)
{
	enum { LONG = 20000 };
	uint32_t i;
	char sql[64];
	while (waiting_sessions(d) && (i = find_victim(d)) < d->s->sessions) {
		struct going *g = &d->sessions[i];
		snprintf(sql, sizeof sql, "SELECT pg_cancel_backend(%d)",
		         g->c.pid);
		client_run(&d->control, sql);
		ck_assert(client_wait(&g->c, LONG));
		snprintf(g->c.error, sizeof g->c.error, "40P01");
		take_result(d, i);
		watch_waiting(d);
	}
}

/* ---- A schedule ---- */

static void send_step(struct driver *d, uint32_t i)
{
	struct going *g = &d->sessions[i];
	client_send(&g->c, d->s->steps[i][g->sent++]);
	watch(d, i);
	watch_waiting(d);
	break_deadlocks(d);
}

static uint32_t first_of(uint32_t set)
{
	return (uint32_t)__builtin_ctz(set);
}

/* All wait: what they wait for was seen while it went. */
static void wait_longer(struct driver *d, int *patience)
{
	ck_assert_int_gt(--*patience, 0);
	poll(NULL, 0, 1);
	watch_waiting(d);
	break_deadlocks(d);
}

/* One schedule: the prefix again, then always the first session that can. */
static void run_one(struct driver *d)
{
	struct schedules *s = d->s;
	client_run(&d->control, s->reset);
	ck_assert_str_eq(d->control.error, "");
	for (uint32_t i = 0; i < s->sessions; i++) d->sessions[i].sent = 0;
	s->length = 0;
	int patience = 20000; /* ms */
	for (;;) {
		uint32_t able = able_sessions(d), n = s->length;
		if (!able && !waiting_sessions(d)) break;
		if (!able) {
			wait_longer(d, &patience);
			continue;
		}
		/* Of several that wait for one lock, the server lets any go on
		 * first. */
		if (n < d->prefix && d->able[n] != able) {
			d->raced = true;
			d->prefix = n;
		}
		if (n >= d->prefix) {
			d->sent[n] = first_of(able);
			d->able[n] = able;
		}
		s->order[s->length++] = d->sent[n];
		send_step(d, d->sent[n]);
	}
}

/* The next schedule in lexical order; false if there is none. */
static bool turn(struct driver *d)
{
	for (uint32_t n = d->s->length; n-- > 0;) {
		uint32_t more = d->able[n] & ~((2u << d->sent[n]) - 1);
		if (!more) continue;
		d->sent[n] = first_of(more);
		d->prefix = n + 1;
		return true;
	}
	return false;
}

static void driver_end(struct driver *d)
{
	struct schedules *s = d->s;
	for (uint32_t i = 0; i < s->sessions; i++) {
		client_close(&d->sessions[i].c);
		for (uint32_t k = 0; k < s->counts[i]; k++)
			free(s->results[i][k].rows);
	}
	memset(s->results, 0, sizeof s->results);
	client_close(&d->control);
	free(d);
}

uint32_t schedules_run(struct schedules *s, uint32_t most,
                       schedule_observer *observer, void *data)
{
	struct driver *d = mem_take0(1, sizeof *d);
	uint32_t count = 0;
	bool more = true;
	d->s = s;
	client_open(&d->control, s->server);
	for (uint32_t i = 0; i < s->sessions; i++) {
		client_open(&d->sessions[i].c, s->server);
		client_run(&d->sessions[i].c, "SET deadlock_timeout = '1min'");
	}
	for (; more && count < most; count++) {
		run_one(d);
		observer(data, s);
		more = turn(d) || d->raced;
		if (d->raced) most = 0;
	}
	driver_end(d);
	return more ? UINT32_MAX : count;
}

void schedules_print(struct text *t, const struct schedules *s)
{
	for (uint32_t i = 0; i < s->length; i++)
		text_format(t, "%s%u", i ? " " : "", s->order[i] + 1);
}
