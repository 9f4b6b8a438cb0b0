/* The backend of a session: what is said to it, and how it is brought to the
 * beginning of its session. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/guest.h"
#include "postgres/wire.h"

enum { RESETTING = 2 }; /* seconds: a backend that is not free then is left */

/* Waits so many seconds for PostgreSQL to be done. */
bool seat_is_done(const struct guest *g, struct connection *c, double patience)
{
	double until = seconds_now() + patience;
	while (c->busy && !server_gives_up(g) && seconds_now() < until)
		connection_take(c, 100);
	return !c->busy && !c->lost;
}

/* ---- What is said to a backend ---- */

bool channel_send(struct channel *c, const void *from, size_t length)
{
	const char *at = from;
	while (length) {
		ssize_t n = send(c->fd, at, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

void channel_put_record(struct text *t, struct wire_head h,
                        const struct server_key *k, const char *image,
                        uint32_t length)
{
	struct wire_key key = { k->relation->oid, k->length, k->number + 1 };
	h.length = (uint32_t)sizeof key + k->length + length;
	text_bytes(t, (const char *)&h, sizeof h);
	text_bytes(t, (const char *)&key, sizeof key);
	text_bytes(t, k->image, k->length);
	text_bytes(t, image, length);
}

void channel_put_gone(struct text *t, const struct server_key *k)
{
	channel_put_record(t, (struct wire_head){ .kind = WIRE_GONE }, k, "",
	                   0);
}

/* Under the lock. */
void channel_put_version(struct text *t, struct channel *s,
                         const struct server_version *v)
{
	if (v->number >= s->sent_count) {
		uint32_t n = 2 * v->number + 16;
		s->sent = mem_grow0(s->sent, s->sent_count, n, sizeof *s->sent);
		s->sent_count = n;
	}
	if (s->sent[v->number]) return;
	s->sent[v->number] = true;
	channel_put_record(t,
	                   (struct wire_head){ .kind = WIRE_VERSION,
	                                       .number = v->number,
	                                       .known = v->known,
	                                       .initial = v->initial },
	                   v->key, v->image, v->length);
}

void channel_put_known(struct guest *g, struct channel *c, struct text *t)
{
	struct server_library *l = g->library;
	if (c->sent) memset(c->sent, 0, c->sent_count * sizeof *c->sent);
	mem_lock(&l->lock);
	for (uint32_t i = 0; i < l->version_count; i++)
		if (l->versions[i]->known)
			channel_put_version(t, c, l->versions[i]);
	for (uint32_t i = 0; i < l->key_count; i++)
		if (l->keys[i]->gone && l->keys[i]->known)
			channel_put_gone(t, l->keys[i]);
	mem_unlock(&l->lock);
}

static bool tell_known(struct guest *g, struct seat *s)
{
	struct text t = { 0 };
	struct wire_head ready = { .kind = WIRE_READY };
	channel_put_known(g, s->channel, &t);
	text_bytes(&t, (const char *)&ready, sizeof ready);
	bool fine = channel_send(s->channel, t.data, t.length);
	text_free(&t);
	return fine;
}

static struct server_version *version_of(struct server_key *k, struct value v)
{
	struct server_version *x = k->versions;
	while (x && !value_equal(x->value, v)) x = x->older;
	return x;
}

bool seat_tell_answers(struct guest *g, struct seat *s,
                       const struct asked_keys *r, const struct value *answers)
{
	struct text t = { 0 }, numbers = { 0 };
	struct wire_head h = { .kind = WIRE_ANSWER };
	mem_lock(&g->library->lock);
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t number = 0;
		if (answers[i].tag != VALUE_NULL) {
			struct server_version *v =
				version_of(r->keys[i], answers[i]);
			assert(v);
			channel_put_version(&t, s->channel, v);
			number = v->number;
		}
		text_bytes(&numbers, (const char *)&number, sizeof number);
	}
	mem_unlock(&g->library->lock);
	h.length = (uint32_t)numbers.length;
	h.number = r->count;
	text_bytes(&t, (const char *)&h, sizeof h);
	text_bytes(&t, numbers.data, numbers.length);
	s->waits = false;
	bool fine = channel_send(s->channel, t.data, t.length);
	text_free(&t);
	text_free(&numbers);
	return fine;
}

/* ---- Backends ---- */

void channel_close(struct channel *c)
{
	if (c->fd > 0) close(c->fd);
	text_free(&c->in);
	free(c->sent);
	*c = (struct channel){ 0 };
}

void seat_leave(struct seat *s)
{
	connection_close(&s->c);
	channel_close(&s->own);
	clients_free(s->clients);
	*s = (struct seat){ 0 };
}

/* What has come. False: it is closed. */
bool channel_take(struct channel *c)
{
	char buffer[1 << 13];
	for (;;) {
		ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0) return false;
		text_bytes(&c->in, buffer, (size_t)n);
		if ((size_t)n < sizeof buffer) return true;
	}
}

static bool receive_all(int fd, void *to, size_t length)
{
	char *at = to;
	while (length) {
		ssize_t n = recv(fd, at, length, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* A module of another build does not say all of it, or more. */
static bool is_hello(int fd, struct wire_head *h)
{
	static const struct timeval patience = { .tv_sec = 10 }, forever;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	bool fine = receive_all(fd, h, sizeof *h) && h->kind == WIRE_HELLO &&
	            h->owner == WIRE_BUILD;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
	return fine;
}

bool channel_accept(struct channel *c, int listener)
{
	struct wire_head hello;
	c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (c->fd <= 0 || !is_hello(c->fd, &hello)) return false;
	c->peer = hello.number;
	return true;
}

/* The backend of this session comes next: others wait for the lock. */
static bool take_channel(struct server_library *l, struct seat *s)
{
	struct pollfd p = { .fd = l->listener, .events = POLLIN };
	s->channel = &s->own;
	return poll(&p, 1, 10000) > 0 &&
	       channel_accept(s->channel, l->listener);
}

/* What it has said of what is over is of no interest. */
static void drain(struct seat *s)
{
	char buffer[1 << 12];
	assert(!s->c.busy);
	while (recv(s->channel->fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0)
		continue;
	text_clear(&s->channel->in);
	s->channel->taken = 0;
}

static bool take_seat(struct guest *g, uint32_t session, bool *lost)
{
	struct server_library *l = g->library;
	struct seat *s = &g->seats[session];
	struct text options = { 0 }, why = { 0 };
	if (connection_is_open(&s->c)) return true;
	seat_leave(s);
	text_format(&options,
	            "-c default_table_access_method=isoscope "
	            "-c isoscope.session=%u -c isoscope.socket=%s/isoscope "
	            "-c isoscope.name=",
	            session, cluster_folder(l->cluster));
	for (const char *at = l->sessions[session].name; *at; at++) {
		if (*at == ' ' || *at == '\\') text_char(&options, '\\');
		text_char(&options, *at);
	}
	bool fine =
		connection_open(&s->c, l->cluster, text_get(&options), &why);
	if (fine) {
		mem_lock(&l->lock);
		connection_send(&s->c, "SELECT isoscope_engine.restart()");
		fine = take_channel(l, s);
		mem_unlock(&l->lock);
		if (!fine)
			text_string(&why, "a backend does not answer, "
			                  "or its module is of another build");
	}
	fine = fine && tell_known(g, s);
	if (fine && !seat_is_done(g, &s->c, PATIENCE)) {
		fine = false;
		text_string(&why, "it does not answer");
	}
	if (fine && *s->c.state) {
		fine = false;
		text_string(&why, text_get(&s->c.message));
	}
	*lost = !fine && s->c.lost;
	if (fine) drain(s);
	if (!fine && !*lost && !server_gives_up(g)) {
		server_set_fault(l,
		                 "PostgreSQL does not serve session '%s': %s",
		                 l->sessions[session].name, text_get(&why));
	}
	if (!fine) seat_leave(s);
	text_free(&options);
	text_free(&why);
	return fine;
}

/* ---- The beginning of a session ---- */

/* The backend of the seat at the beginning of its session, if it can be brought
 * there. */
static bool reset_seat(struct guest *g, struct seat *s)
{
	struct wire_head stop = { .kind = WIRE_STOP };
	if (!connection_is_open(&s->c) ||
	    (s->waits && !channel_send(s->channel, &stop, sizeof stop)) ||
	    !seat_is_done(g, &s->c, RESETTING))
		return false;
	if (s->c.status != 'I') {
		connection_send(&s->c, "ROLLBACK");
		if (!seat_is_done(g, &s->c, RESETTING)) return false;
	}
	drain(s);
	connection_send(&s->c, "DISCARD ALL");
	if (!seat_is_done(g, &s->c, RESETTING)) return false;
	connection_send(&s->c, "SELECT isoscope_engine.restart()");
	if (!tell_known(g, s) || !seat_is_done(g, &s->c, PATIENCE))
		return false;
	drain(s);
	return !*s->c.state;
}

/* A seat at the beginning of its session. */
bool seat_begin_anew(struct guest *g, uint32_t session, bool *lost)
{
	struct seat *s = &g->seats[session];
	if (!reset_seat(g, s)) {
		seat_leave(s);
		if (!take_seat(g, session, lost)) return false;
	}
	assert(!s->c.busy && s->c.status == 'I');
	s->waits = false;
	s->live = 0;
	s->at = s->begun = 0;
	return true;
}
