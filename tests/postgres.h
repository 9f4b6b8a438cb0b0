/* A private PostgreSQL 15, and connections to it. */
#ifndef TESTS_POSTGRES_H
#define TESTS_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

#define POSTGRES_PROGRAMS "/usr/lib/postgresql/15/bin"

struct postgres {
	char folder[64]; /* of the test's own: its socket is there as well */
	const char *as;  /* root must not run it */
	pid_t pid;
};

/* False, after saying so, where it is not installed. It ends with this process,
 * whatever ends that. */
bool postgres_start(struct postgres *s);
void postgres_stop(const struct postgres *s);
/* Runs a command of the shell; its exit code. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct connection {
	int fd, pid;
	bool busy; /* the answer to what was sent is not complete */
	struct text in;
	size_t taken;     /* of it */
	struct text rows; /* "a|b\n" for each, of the last query with rows */
	char error[6];    /* SQLSTATE of the first error, or "" */
};

void client_open(struct connection *c, const struct postgres *s);
void client_close(struct connection *c);
void client_send(struct connection *c, const char *sql);
/* Waits so long for the rest of the answer; is it there? */
bool client_wait(struct connection *c, int milliseconds);
/* Both; stops the test after half a minute. */
void client_run(struct connection *c, const char *sql);

#endif
