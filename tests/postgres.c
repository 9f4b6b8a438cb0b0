#include "postgres.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "base/memory.h"

int shell(const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	int code = system(text_get(&t));
	text_free(&t);
	return code;
}

/* ---- The server ---- */

static void server_exec(const struct postgres *s)
{
	struct text t = { 0 };
	text_format(
		&t,
		"cd %s && exec setpriv %s --pdeathsig QUIT " POSTGRES_PROGRAMS
		"/postgres -D data -k %s -h '' -F -c deadlock_timeout=20ms "
		">>log 2>&1",
		s->folder, s->as, s->folder);
	execl("/bin/sh", "sh", "-c", text_get(&t), (char *)NULL);
	_exit(127);
}

bool postgres_start(struct postgres *s)
{
	enum { TRIES = 600 };
	if (access(POSTGRES_PROGRAMS "/initdb", X_OK)) {
		fprintf(stderr, "nothing is compared with PostgreSQL: install "
		                "postgresql-15\n");
		return false;
	}
	strcpy(s->folder, "/tmp/isoscope-sql-XXXXXX");
	ck_assert(mkdtemp(s->folder) != NULL);
	ck_assert(!chmod(s->folder, 0777));
	s->as = geteuid() ? ""
	                  : "--reuid postgres --regid postgres --init-groups";
	ck_assert(!shell("cd %s && setpriv %s " POSTGRES_PROGRAMS
	                 "/initdb -D data -U test -A trust --no-locale -E UTF8 "
	                 "--no-sync >log 2>&1",
	                 s->folder, s->as));
	s->pid = fork();
	if (!s->pid) server_exec(s);
	ck_assert_int_gt(s->pid, 0);
	for (int i = 0;
	     shell(POSTGRES_PROGRAMS "/pg_isready -q -h %s", s->folder); i++) {
		ck_assert_msg(i < TRIES && !waitpid(s->pid, NULL, WNOHANG),
		              "PostgreSQL does not start: see %s/log",
		              s->folder);
		usleep(100000);
	}
	return true;
}

void postgres_stop(const struct postgres *s)
{
	kill(s->pid, SIGQUIT);
	waitpid(s->pid, NULL, 0);
	shell("rm -rf %s", s->folder);
}

/* ---- Connections: the simple query protocol ---- */

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

static void send_all(const struct connection *c, const struct text *t)
{
	for (size_t sent = 0; sent < t->length;) {
		ssize_t n = write(c->fd, t->data + sent, t->length - sent);
		ck_assert_int_gt(n, 0);
		sent += (size_t)n;
	}
}

static void take_row(struct connection *c, const char *s)
{
	uint32_t count = get(s, 2);
	s += 2;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = get(s, 4);
		s += 4;
		if (i) text_char(&c->rows, '|');
		if (length == UINT32_MAX) {
			text_string(&c->rows, "NULL");
			continue;
		}
		text_bytes(&c->rows, s, length);
		s += length;
	}
	text_char(&c->rows, '\n');
}

static void take_error(struct connection *c, const char *s)
{
	for (; *s; s += strlen(s) + 1)
		if (*s == 'C' && !*c->error)
			snprintf(c->error, sizeof c->error, "%s", s + 1);
}

static void take_message(struct connection *c, char kind, const char *s)
{
	switch (kind) {
	case 'R': ck_assert_uint_eq(get(s, 4), 0); break;
	case 'K': c->pid = (int)get(s, 4); break;
	case 'T': text_clear(&c->rows); break;
	case 'D': take_row(c, s); break;
	case 'E': take_error(c, s); break;
	case 'Z': c->busy = false; break;
	default: break;
	}
}

static void take_messages(struct connection *c)
{
	for (;;) {
		const char *s = c->in.data + c->taken;
		size_t there = c->in.length - c->taken;
		if (there < 5 || there < 1 + (size_t)get(s + 1, 4)) return;
		c->taken += 1 + (size_t)get(s + 1, 4);
		take_message(c, *s, s + 5);
	}
}

bool client_wait(struct connection *c, int milliseconds)
{
	char buffer[1 << 12];
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	while (c->busy && poll(&p, 1, milliseconds) > 0) {
		ssize_t n = read(c->fd, buffer, sizeof buffer);
		ck_assert_int_gt(n, 0);
		text_bytes(&c->in, buffer, (size_t)n);
		take_messages(c);
	}
	return !c->busy;
}

static void wait_long(struct connection *c, const char *what)
{
	enum { LONG = 30000 };
	ck_assert_msg(client_wait(c, LONG), "no answer to: %s", what);
}

void client_open(struct connection *c, const struct postgres *s)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	static const char parameters[] = "user\0test\0database\0postgres\0";
	struct text t = { 0 };
	*c = (struct connection){ .busy = true };
	snprintf(to.sun_path, sizeof to.sun_path, "%s/.s.PGSQL.5432",
	         s->folder);
	c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert(!connect(c->fd, (struct sockaddr *)&to, sizeof to));
	put32(&t, (uint32_t)(8 + sizeof parameters));
	put32(&t, 196608); /* version 3.0 */
	text_bytes(&t, parameters, sizeof parameters);
	send_all(c, &t);
	text_free(&t);
	wait_long(c, "the greeting");
}

void client_close(struct connection *c)
{
	close(c->fd);
	text_free(&c->in);
	text_free(&c->rows);
}

void client_send(struct connection *c, const char *sql)
{
	struct text t = { 0 };
	ck_assert(!c->busy);
	text_char(&t, 'Q');
	put32(&t, (uint32_t)strlen(sql) + 5);
	text_bytes(&t, sql, strlen(sql) + 1);
	c->busy = true;
	*c->error = 0;
	text_clear(&c->in);
	c->taken = 0;
	text_clear(&c->rows);
	send_all(c, &t);
	text_free(&t);
}

void client_run(struct connection *c, const char *sql)
{
	client_send(c, sql);
	wait_long(c, sql);
}
