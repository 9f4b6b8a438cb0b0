/* Connections of those that are served: what has come from them, and in which
 * order it is taken.
 *
 * A client that has heard of something says what follows from that on its own
 * connection, and who ends a transaction need not wait until that is known
 * here. So what ended before something is asked is taken before it: whatever
 * was sent before a message that has come, has come by then. */
#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "postgres/command.h"
#include "postgres/wire.h"
#include "serve/serving.h"

/* ---- What has come of one ---- */

/* The next record, if it is whole. */
static bool next_record(const struct client *c, struct wire_head *h)
{
	const struct channel *ch = &c->channel;
	size_t there = ch->in.length - ch->taken;
	if (there < sizeof *h) return false;
	memcpy(h, ch->in.data + ch->taken, sizeof *h);
	return there - sizeof *h >= h->length;
}

/* Does what it is told depend on what others have said? */
static bool asks(const struct wire_head *h)
{
	return h->kind == WIRE_BEGIN || h->kind == WIRE_READ ||
	       h->kind == WIRE_NEWS;
}

/* Without `all`, up to the first that asks something; else up to where others
 * were heard first. */
static bool take_records(struct service *s, struct client *c, bool all)
{
	struct channel *ch = &c->channel;
	struct wire_head h;
	while (!c->waits && next_record(c, &h)) {
		if (asks(&h) && (!all || ch->taken >= c->heard)) break;
		const char *body = ch->in.data + ch->taken + sizeof h;
		ch->taken += sizeof h + h.length;
		if (!serving_take_record(s, c, &h, body)) return false;
	}
	if (ch->taken < ch->in.length) return true;
	text_clear(&ch->in);
	ch->taken = c->heard = 0;
	return true;
}

static bool take_all_records(struct service *s, bool all)
{
	for (uint32_t i = s->client_count; i-- > 0;)
		if (!take_records(s, s->clients[i], all)) return false;
	return true;
}

/* ---- Who comes and goes ---- */

void served_client_drop(struct service *s, uint32_t i)
{
	struct client *c = s->clients[i];
	c->waits = false;
	if (c->open) serving_abort(s, c);
	commits_end_session(s->commits, c->session);
	row_versions_drop_reader(s->versions, c->reader);
	s->client_count--;
	memmove(s->clients + i, s->clients + i + 1,
	        (s->client_count - i) * sizeof *s->clients);
	channel_close(&c->channel);
	text_free(&c->statement);
	text_free(&c->images);
	text_free(&c->out);
	free(c->writes);
	free(c->locks);
	free(c->asked_keys);
	free(c);
}

static void add_client(struct service *s)
{
	struct client *c = mem_take0(1, sizeof *c);
	if (!channel_accept(&c->channel, s->library->clients)) {
		channel_close(&c->channel);
		free(c);
		return;
	}
	c->session = commits_add_session(s->commits);
	c->reader = row_versions_add_reader(s->versions);
	snprintf(c->name, sizeof c->name, "c%u", ++s->run->counts.sessions);
	recording_add_session(s->recording, c->name);
	VEC_RESERVE(s->clients, s->client_count, s->client_capacity);
	s->clients[s->client_count++] = c;
}

/* ---- All of them ---- */

/* Has somebody said what was not taken, since others were not heard first? */
static bool is_left(const struct service *s)
{
	struct wire_head h;
	for (uint32_t i = 0; i < s->client_count; i++)
		if (!s->clients[i]->waits && next_record(s->clients[i], &h))
			return true;
	return false;
}

static void poll_for(struct service *s, int milliseconds)
{
	uint32_t n = s->client_count + 2;
	for (uint32_t i = 0; i < n; i++) s->polled[i].revents = 0;
	poll(s->polled, n, milliseconds);
}

void served_clients_wait(struct service *s, const struct command *command)
{
	uint32_t n = s->client_count + 2;
	if (n > s->polled_capacity) {
		s->polled_capacity = 2 * n;
		s->polled = mem_grow(s->polled, s->polled_capacity,
		                     sizeof *s->polled);
	}
	for (uint32_t i = 0; i < s->client_count; i++)
		s->polled[i] = (struct pollfd){ .fd = s->clients[i]->channel.fd,
			                        .events = POLLIN };
	s->polled[n - 2] =
		(struct pollfd){ .fd = s->library->clients, .events = POLLIN };
	s->polled[n - 1] = (struct pollfd){ .fd = command ? command->ended : -1,
		                            .events = POLLIN };
	poll_for(s, is_left(s) ? 0 : 100);
}

bool served_command_ended(const struct service *s)
{
	return s->polled[s->polled_count + 1].revents;
}

static void receive(struct service *s)
{
	for (uint32_t i = 0; i < s->polled_count; i++)
		if (s->polled[i].revents && !s->clients[i]->closed)
			s->clients[i]->closed =
				!channel_take(&s->clients[i]->channel);
}

/* Somebody comes, or asks: what others have said before that has come, too. */
static void hear_others(struct service *s, bool comes)
{
	struct wire_head h;
	bool any = comes && s->client_count;
	for (uint32_t i = 0; i < s->client_count; i++) {
		struct client *c = s->clients[i];
		c->heard = c->channel.in.length;
		any |= s->client_count > 1 && next_record(c, &h);
	}
	if (!any) return;
	poll_for(s, 0);
	receive(s);
}

static bool send_all(struct service *s)
{
	for (uint32_t i = s->client_count; i-- > 0;) {
		struct client *c = s->clients[i];
		if (c->out.length)
			/* It ends by itself if its backend has gone. */
			(void)channel_send(&c->channel, c->out.data,
			                   c->out.length);
		text_clear(&c->out);
		if (c->closed) served_client_drop(s, i);
	}
	return !s->run->problem.length;
}

bool served_clients_take(struct service *s)
{
	s->polled_count = s->client_count;
	bool comes = s->polled[s->polled_count].revents;
	receive(s);
	hear_others(s, comes);
	if (!take_all_records(s, false)) return false;
	if (comes) add_client(s);
	do {
		s->more = false;
		if (!take_all_records(s, true)) return false;
	} while (s->more);
	serving_end_standstill(s);
	return send_all(s);
}
