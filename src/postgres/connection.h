/* A connection to the private PostgreSQL: its protocol, as far as sessions of a
 * specification need it. */
#ifndef ISO_POSTGRES_CONNECTION_H
#define ISO_POSTGRES_CONNECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "postgres/cluster.h"

struct column {
	char *name;
	uint32_t type; /* oid */
	int32_t modifier;
};

struct connection {
	int fd;  /* -1: none */
	int pid; /* of its backend */
	bool busy, lost;
	char status; /* 'I', 'T' in a transaction, 'E' in a failed one */
	struct text in;
	size_t taken; /* of it */
	/* Of what was sent last: the last result with columns, its rows as
	 * images (wire.h), each behind its length; the first error. */
	struct column *columns;
	uint32_t column_count;
	bool has_result;
	struct text rows;
	uint32_t row_count;
	char state[6];
	struct text message, hint;
	char tag[32]; /* of the last statement: "UPDATE 1" */
	/* Once it is set, who waits for an answer gives up, and the connection
	 * is lost; NULL: never. */
	const atomic_bool *interrupt;
};

/* `options` as PostgreSQL's command line has them. A server that recovers is
 * waited for. False: *why tells, and c->lost whether there is no server. */
bool connection_open(struct connection *c, const struct cluster *to,
                     const char *options, struct text *why);
void connection_close(struct connection *c);
bool connection_is_open(const struct connection *c);
void connection_send(struct connection *c, const char *sql);
/* Takes what has come, and waits so long for more. */
void connection_take(struct connection *c, int milliseconds);
/* Until the answer is complete; false: an error, in `state` and `message`. */
bool connection_run(struct connection *c, const char *sql);
/* Columns of what the statement would return. */
bool connection_describe(struct connection *c, const char *sql);

/* How long a backend is given until it is taken for stuck: so many seconds in
 * which it works, since on a busy machine it may get few of those that pass;
 * and ten times as many in which it may do nothing. */
enum { WORK_MOST = 60, SILENCE_MOST = 600 };
struct patience {
	double work, until;
};

struct patience patience_with(const struct connection *c); /* from now on */
/* "has worked for 60 s"; NULL: it is not over yet. */
const char *patience_end(const struct patience *p, const struct connection *c);

/* The next row, NULL behind the last; *at begins at 0. */
const char *connection_row(const struct connection *c, size_t *at,
                           uint32_t *length);
/* The next column of an image; *text is NULL for NULL. False: there is none. */
bool image_next(const char **image, const char *end, const char **text,
                uint32_t *length);
/* A column's text as a string of the caller's; NULL for NULL. */
char *image_column(const char *image, uint32_t length, uint32_t column);

#endif
