#include "postgres/connection.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"

/* Seconds that a server gets to recover in, when a backend has died. */
enum { RECOVERING = 60 };
#define CANNOT_CONNECT_NOW "57P03"

static void put32(struct text *t, uint32_t n)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		text_char(t, (char)(n >> shift));
}

static uint32_t get(const char *s, int bytes)
{
	uint32_t n = 0;
	for (int i = 0; i < bytes; i++) n = n << 8 | (unsigned char)s[i];
	return n;
}

static void send_all(struct connection *c, const struct text *t)
{
	for (size_t sent = 0; sent < t->length && !c->lost;) {
		ssize_t n = send(c->fd, t->data + sent, t->length - sent,
		                 MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) c->lost = true;
		if (n > 0) sent += (size_t)n;
	}
}

/* ---- Messages ---- */

static void forget_columns(struct connection *c)
{
	for (uint32_t i = 0; i < c->column_count; i++) free(c->columns[i].name);
	free(c->columns);
	c->columns = NULL;
	c->column_count = 0;
}

static void take_columns(struct connection *c, const char *s)
{
	enum { BEHIND_NAME = 18, TYPE_AT = 6, MODIFIER_AT = 12 };
	forget_columns(c);
	c->column_count = get(s, 2);
	s += 2;
	c->columns = mem_take0(c->column_count + 1, sizeof *c->columns);
	for (uint32_t i = 0; i < c->column_count; i++) {
		c->columns[i].name = mem_copy_string(s);
		s += strlen(s) + 1;
		c->columns[i].type = get(s + TYPE_AT, 4);
		c->columns[i].modifier = (int32_t)get(s + MODIFIER_AT, 4);
		s += BEHIND_NAME;
	}
	c->has_result = true;
	text_clear(&c->rows);
	c->row_count = 0;
}

static void take_row(struct connection *c, const char *s, uint32_t length)
{
	assert(length >= 2);
	put32(&c->rows, length - 2);
	text_bytes(&c->rows, s + 2, length - 2);
	c->row_count++;
}

static void take_error(struct connection *c, const char *s)
{
	if (*c->state) return;
	for (; *s; s += strlen(s) + 1) {
		if (*s == 'C') snprintf(c->state, sizeof c->state, "%s", s + 1);
		if (*s == 'M') text_string(&c->message, s + 1);
		if (*s == 'H') text_string(&c->hint, s + 1);
	}
}

/* COPY FROM STDIN, which would wait for ever. */
static void refuse_copy(struct connection *c)
{
	static const char why[] = "there is no standard input: write INSERT";
	struct text t = { 0 };
	text_char(&t, 'f'); /* CopyFail */
	put32(&t, 4 + sizeof why);
	text_bytes(&t, why, sizeof why);
	send_all(c, &t);
	text_free(&t);
}

static void take_message(struct connection *c, char kind, const char *s,
                         uint32_t length)
{
	switch (kind) {
	case 'T': take_columns(c, s); break;
	case 'D': take_row(c, s, length); break;
	case 'E': take_error(c, s); break;
	case 'G': refuse_copy(c); break;
	case 'K': c->pid = (int)get(s, 4); break;
	case 'C': snprintf(c->tag, sizeof c->tag, "%s", s); break;
	case 'Z':
		c->status = *s;
		c->busy = false;
		break;
	default: break;
	}
}

static void take_messages(struct connection *c)
{
	for (;;) {
		const char *s = c->in.data + c->taken;
		size_t there = c->in.length - c->taken;
		if (there < 5 || there < 1 + (size_t)get(s + 1, 4)) break;
		c->taken += 1 + (size_t)get(s + 1, 4);
		take_message(c, *s, s + 5, get(s + 1, 4) - 4);
	}
	if (c->taken < c->in.length) return;
	text_clear(&c->in);
	c->taken = 0;
}

void connection_take(struct connection *c, int milliseconds)
{
	char buffer[1 << 13];
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	while (!c->lost && c->busy && poll(&p, 1, milliseconds) > 0) {
		ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) {
			c->lost = true;
			break;
		}
		text_bytes(&c->in, buffer, (size_t)n);
		take_messages(c);
		milliseconds = 0;
	}
	if (!c->lost) return;
	c->busy = false;
	if (*c->state) return;
	strcpy(c->state, "08006");
	text_string(&c->message, "PostgreSQL has closed the connection");
}

static void begin_answer(struct connection *c)
{
	assert(!c->busy);
	c->busy = true;
	c->has_result = false;
	*c->state = *c->tag = 0;
	text_clear(&c->hint);
	text_clear(&c->message);
	text_clear(&c->rows);
	c->row_count = 0;
}

static void give_up(struct connection *c)
{
	c->lost = true;
	c->busy = false;
	strcpy(c->state, "57014");
	text_clear(&c->message);
	text_string(&c->message, "it was interrupted");
}

static bool wait_all(struct connection *c)
{
	while (c->busy) {
		connection_take(c, 100);
		if (c->busy && c->interrupt && atomic_load(c->interrupt))
			give_up(c);
	}
	return !*c->state;
}

struct patience patience_with(const struct connection *c)
{
	return (struct patience){ seconds_of_process(c->pid) + WORK_MOST,
		                  seconds_now() + SILENCE_MOST };
}

const char *patience_end(const struct patience *p, const struct connection *c)
{
	if (seconds_of_process(c->pid) > p->work) return "has worked for 60 s";
	return seconds_now() > p->until ? "has waited for 600 s" : NULL;
}

/* ---- Asking ---- */

static void put_option(struct text *t, const char *name, const char *value)
{
	text_bytes(t, name, strlen(name) + 1);
	text_bytes(t, value, strlen(value) + 1);
}

static void put_options(struct text *all, const char *options)
{
	struct text t = { 0 };
	put32(&t, 3 << 16); /* version 3.0 */
	put_option(&t, "user", "isoscope");
	put_option(&t, "database", "postgres");
	put_option(&t, "options", options);
	text_char(&t, 0);
	put32(all, (uint32_t)t.length + 4);
	text_bytes(all, t.data, t.length);
	text_free(&t);
}

static bool try_open(struct connection *c, const struct cluster *to,
                     const char *options, struct text *why)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct text all = { 0 };
	*c = (struct connection){ 0 };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.%u",
	         cluster_folder(to), cluster_port(to));
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&at, sizeof at)) {
		text_format(why, "cannot connect to PostgreSQL: %s",
		            strerror(errno));
		c->lost = true;
		return false;
	}
	put_options(&all, options);
	begin_answer(c);
	send_all(c, &all);
	text_free(&all);
	if (wait_all(c)) return true;
	text_string(why, text_get(&c->message));
	return false;
}

bool connection_open(struct connection *c, const struct cluster *to,
                     const char *options, struct text *why)
{
	double until = seconds_now() + RECOVERING;
	bool fine = try_open(c, to, options, why);
	while (!fine && !strcmp(c->state, CANNOT_CONNECT_NOW) &&
	       seconds_now() < until) {
		connection_close(c);
		text_clear(why);
		usleep(50000);
		fine = try_open(c, to, options, why);
	}
	bool lost = c->lost;
	if (!fine) connection_close(c);
	c->lost = lost;
	return fine;
}

void connection_close(struct connection *c)
{
	if (c->fd > 0) close(c->fd);
	forget_columns(c);
	text_free(&c->in);
	text_free(&c->rows);
	text_free(&c->message);
	text_free(&c->hint);
	*c = (struct connection){ 0 };
}

bool connection_is_open(const struct connection *c)
{
	return c->fd > 0 && !c->lost;
}

static void put_message(struct text *t, char kind, const char *body,
                        size_t length)
{
	text_char(t, kind);
	put32(t, (uint32_t)length + 4);
	text_bytes(t, body, length);
}

void connection_send(struct connection *c, const char *sql)
{
	struct text t = { 0 };
	put_message(&t, 'Q', sql, strlen(sql) + 1);
	begin_answer(c);
	send_all(c, &t);
	text_free(&t);
}

bool connection_run(struct connection *c, const char *sql)
{
	connection_send(c, sql);
	return wait_all(c);
}

bool connection_describe(struct connection *c, const char *sql)
{
	struct text parse = { 0 }, t = { 0 };
	text_char(&parse, 0);
	text_bytes(&parse, sql, strlen(sql) + 1);
	text_bytes(&parse, "\0", 2);
	put_message(&t, 'P', parse.data, parse.length);
	put_message(&t, 'D', "S", 2);
	put_message(&t, 'S', "", 0);
	begin_answer(c);
	send_all(c, &t);
	text_free(&parse);
	text_free(&t);
	return wait_all(c);
}

/* ---- Rows ---- */

const char *connection_row(const struct connection *c, size_t *at,
                           uint32_t *length)
{
	if (*at >= c->rows.length) return NULL;
	*length = get(c->rows.data + *at, 4);
	const char *row = c->rows.data + *at + 4;
	*at += 4 + (size_t)*length;
	assert(*at <= c->rows.length);
	return row;
}

bool image_next(const char **image, const char *end, const char **text,
                uint32_t *length)
{
	if (end - *image < 4) return false;
	*length = get(*image, 4);
	*image += 4;
	*text = *length == UINT32_MAX ? NULL : *image;
	if (!*text) *length = 0;
	*image += *length;
	assert(*image <= end);
	return true;
}

char *image_column(const char *image, uint32_t length, uint32_t column)
{
	const char *end = image + length, *text = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i <= column; i++)
		if (!image_next(&image, end, &text, &n)) return NULL;
	if (!text) return NULL;
	char *copy = mem_take(n + (size_t)1);
	memcpy(copy, text, n);
	copy[n] = 0;
	return copy;
}
