#include "postgres/stock.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"

bool stock_start(struct stock *s, const atomic_bool *interrupt,
                 struct text *why)
{
	const struct cluster_options options = { .interrupt = interrupt };
	*s = (struct stock){ .interrupt = interrupt };
	s->cluster = cluster_start(&options, why);
	if (!s->cluster) return false;
	if (connection_open(&s->control, s->cluster, "", why)) return true;
	stock_stop(s);
	return false;
}

static void end_sessions(struct stock *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		connection_close(&s->sessions[i].c);
	free(s->sessions);
	s->sessions = NULL;
	s->count = 0;
}

void stock_stop(struct stock *s)
{
	end_sessions(s);
	if (s->control.fd) connection_close(&s->control);
	cluster_stop(s->cluster);
	text_free(&s->problem);
	*s = (struct stock){ 0 };
}

static bool fail(struct stock *s, const char *what, const char *why)
{
	if (!s->problem.length)
		text_format(&s->problem, "%s%s%s", what, *why ? ": " : "", why);
	return false;
}

static bool interrupted(struct stock *s)
{
	return s->interrupt && atomic_load(s->interrupt) &&
	       !fail(s, "interrupted", "");
}

static bool control(struct stock *s, const char *sql)
{
	return connection_run(&s->control, sql) ||
	       fail(s, "PostgreSQL", text_get(&s->control.message));
}

/* ---- The beginning ---- */

/* Backends of sessions that were closed end by themselves, and may hold locks
 * until then. */
static bool await_end(struct stock *s)
{
	double until = seconds_now() + SILENCE_MOST;
	do {
		if (interrupted(s)) return false;
		if (seconds_now() > until)
			return fail(s, "sessions that were closed do not end",
			            "");
		if (!control(s, "SELECT pg_terminate_backend(pid) FROM "
		                "pg_stat_activity WHERE backend_type = "
		                "'client backend' AND pid <> "
		                "pg_backend_pid()"))
			return false;
	} while (s->control.row_count);
	return true;
}

/* All that is not PostgreSQL's own. */
static const char empty_database[] =
	"RESET ALL;"
	"DO $$ DECLARE n name; BEGIN "
	"FOR n IN SELECT nspname FROM pg_namespace WHERE nspname <> "
	"'information_schema' AND nspname NOT LIKE 'pg\\_%' LOOP "
	"EXECUTE format('DROP SCHEMA %I CASCADE', n); END LOOP; "
	"FOR n IN SELECT extname FROM pg_extension WHERE extname <> 'plpgsql' "
	"LOOP EXECUTE format('DROP EXTENSION %I CASCADE', n); END LOOP; END $$;"
	"SET client_min_messages = error;"
	"CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO public;"
	"RESET ALL";

static bool open_session(struct stock *s, uint32_t i, const char *options)
{
	struct stock_session *x = &s->sessions[i];
	struct text why = { 0 };
	if (!connection_open(&x->c, s->cluster, options, &why)) {
		fail(s, "PostgreSQL", text_get(&why));
		text_free(&why);
		return false;
	}
	return true;
}

bool stock_begin(struct stock *s, const char *sql, uint32_t sessions,
                 const char *options)
{
	struct text own = { 0 };
	bool fine = true;
	assert(sessions <= STOCK_SESSIONS);
	end_sessions(s);
	text_clear(&s->problem);
	if (!await_end(s) || !control(s, empty_database)) return false;
	if (!connection_run(&s->control, sql))
		return fail(s, "setup failed", text_get(&s->control.message));
	/* Who waits for whom is looked at here. */
	text_format(&own, "-c deadlock_timeout=10min %s", options);
	s->sessions = mem_take0(sessions + 1, sizeof *s->sessions);
	for (; fine && s->count < sessions; s->count++)
		fine = open_session(s, s->count, text_get(&own));
	text_free(&own);
	return fine;
}

/* ---- Who waits ---- */

/* The sessions whose process identifiers a query gives: bits. */
static uint64_t sessions_of(struct stock *s, const char *sql)
{
	uint64_t set = 0;
	uint32_t length;
	size_t at = 0;
	const char *row;
	if (!control(s, sql)) return 0;
	while ((row = connection_row(&s->control, &at, &length))) {
		char *pid = image_column(row, length, 0);
		for (uint32_t i = 0; i < s->count; i++)
			if (pid && atoi(pid) == s->sessions[i].c.pid)
				set |= 1ull << i;
		free(pid);
	}
	return set;
}

/* All at one moment. */
static uint64_t blocked_sessions(struct stock *s)
{
	return sessions_of(s, "SELECT pid FROM pg_locks WHERE NOT granted");
}

uint64_t stock_blockers(struct stock *s, uint32_t session)
{
	char sql[64];
	snprintf(sql, sizeof sql, "SELECT unnest(pg_blocking_pids(%d))",
	         s->sessions[session].c.pid);
	return sessions_of(s, sql);
}

static uint64_t waiting_sessions(const struct stock *s)
{
	uint64_t set = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->sessions[i].waits) set |= 1ull << i;
	return set;
}

/* Takes what has come from it, and goes on waiting for it? */
static bool attends(struct stock *s, struct stock_session *x,
                    const struct patience *p, int milliseconds)
{
	if (s->problem.length) return false;
	connection_take(&x->c, milliseconds);
	if (!x->c.busy || interrupted(s)) return false;
	const char *why = patience_end(p, &x->c);
	return !why || fail(s, "a backend of PostgreSQL", why);
}

/* Until what was sent has ended, or waits for a lock. */
static void watch(struct stock *s, uint32_t i)
{
	struct stock_session *x = &s->sessions[i];
	struct patience p = patience_with(&x->c);
	for (int n = 0; attends(s, x, &p, n); n = 1)
		if (blocked_sessions(s) >> i & 1) break;
	x->waits = x->c.busy;
}

/* Those that waited may go on, one after the other. A session that goes on and
 * waits again may have let go of what one before it waited for, so the end is
 * where all wait at one moment. */
static void watch_waiting(struct stock *s)
{
	uint64_t waiting;
	while (!s->problem.length &&
	       (waiting = waiting_sessions(s)) & ~blocked_sessions(s))
		for (uint32_t i = 0; i < s->count; i++)
			if (waiting >> i & 1) watch(s, i);
}

/* ---- Deadlocks ---- */

/* Of the sessions that wait for each other in a circle, the one that was sent
 * something last; or their number. */
static uint32_t find_victim(struct stock *s)
{
	uint64_t reach[STOCK_SESSIONS] = { 0 };
	uint32_t n = s->count, victim = n;
	for (uint32_t i = 0; i < n; i++)
		if (s->sessions[i].waits) reach[i] = stock_blockers(s, i);
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (reach[i] >> k & 1) reach[i] |= reach[k];
	for (uint32_t i = 0; i < n; i++)
		if (reach[i] >> i & 1 &&
		    (victim == n ||
		     s->sessions[i].sent > s->sessions[victim].sent))
			victim = i;
	return victim;
}

static void break_deadlocks(struct stock *s)
{
	uint32_t i;
	char sql[64];
	while (!s->problem.length && waiting_sessions(s) &&
	       (i = find_victim(s)) < s->count) {
		struct stock_session *x = &s->sessions[i];
		snprintf(sql, sizeof sql, "SELECT pg_cancel_backend(%d)",
		         x->c.pid);
		if (!control(s, sql)) return;
		struct patience p = patience_with(&x->c);
		/* Its error and its end are two messages. */
		while (attends(s, x, &p, 100)) continue;
		x->waits = false;
		strcpy(x->c.state, "40P01");
		text_clear(&x->c.message);
		text_string(&x->c.message, "deadlock detected");
		watch_waiting(s);
	}
}

bool stock_send(struct stock *s, uint32_t session, const char *sql)
{
	struct stock_session *x = &s->sessions[session];
	assert(session < s->count && !x->waits && !x->c.busy);
	x->sent = ++s->clock;
	connection_send(&x->c, sql);
	watch(s, session);
	watch_waiting(s);
	break_deadlocks(s);
	return !s->problem.length;
}
