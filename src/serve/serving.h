/* What service.c, served_clients.c, standstill.c, refusals.c and answers.c
 * share: clients, and what they are served from.
 */
#ifndef ISO_SERVE_SERVING_H
#define ISO_SERVE_SERVING_H

#include "base/region.h"
#include "base/rng.h"
#include "base/text.h"
#include "postgres/guest.h"
#include "postgres/wire.h"
#include "serve/commits.h"
#include "serve/row_locks.h"
#include "serve/recording.h"
#include "serve/service.h"
#include "serve/row_versions.h"

struct command;

/* A transaction: of which session, and which of its transactions. */
struct served_writer {
	uint32_t session, number;
};

/* A write that waits for its commit. */
struct pending_write {
	struct server_key *key;
	struct db_access access;
	bool row, born; /* there is one, in `images`; behind another */
	size_t image;
	uint32_t length;
	uint32_t number; /* of the version, once it is told */
};

/* A lock of a read, that its transaction `tag` of PostgreSQL has taken. */
struct client_lock {
	struct db_access access;
	uint32_t tag;
};

/* A connection. */
struct client {
	struct channel channel;
	char name[16];
	uint32_t session; /* of the commits */
	uint32_t transactions;
	uint32_t reader;  /* of versions */
	uint32_t told_at; /* so many had committed when it heard last */
	bool waits;       /* for its turn */
	bool open;        /* it is in a transaction */
	bool alone;       /* beside which there is no other */
	bool blocked;     /* it waits in PostgreSQL, for a lock */
	struct pending_write *writes;
	uint32_t write_count, write_capacity;
	struct text images;
	struct client_lock *locks; /* in their order */
	uint32_t lock_count, lock_capacity;
	uint32_t tag;                   /* of those that it asks for */
	struct server_key **asked_keys; /* that it reads at once */
	uint32_t asked_count, asked_capacity;
	uint32_t asked;        /* enum wire_level */
	uint32_t asking;       /* what it calls the transaction */
	struct text statement; /* that it carries out */
	double since;          /* it waits, or has said its last word */
	struct text out;       /* is to be sent */
	size_t heard; /* of what has come: what others have said before that */
	bool closed;
};

struct service {
	const struct service_options *options;
	struct service_run *run;
	struct server_library *library;
	struct commits *commits;
	struct row_versions *versions;
	uint32_t *deleted; /* by key: the number of that its row was; or 0 */
	uint32_t deleted_count;
	uint32_t enough; /* overwritten versions, until some are forgotten */
	struct region scratch;
	struct row_locks *locks;
	struct recording *recording;
	struct rng rng;
	struct rng luck; /* of faults: whatever reads get */

	struct client **clients; /* in the order in which they came */
	uint32_t client_count, client_capacity;
	uint32_t open_count;
	bool more; /* somebody has begun, and may have said more before that */
	uint32_t keys; /* of the library that commits know */
	struct read_counts counts;
	struct served_writer *writers; /* by position, from 1 */
	uint32_t writer_count, writer_capacity;
	double looked; /* whether the server runs */
	double sought; /* for circles */
	long log;      /* where that of the server ended when it began */
	struct pollfd *polled;
	uint32_t polled_count, polled_capacity; /* clients */
};

/* ---- service.c ---- */
/* `what` stands in the format. False. */
bool serving_fail(struct service *s, const char *format, const char *what);
bool serving_take_record(struct service *s, struct client *c,
                         const struct wire_head *h, const char *body);
void serving_abort(struct service *s, struct client *c);
/* account[1] */
void serving_name_key(struct text *t, const struct server_key *k);
/* Appends its value, as people read it. */
void serving_print(struct service *s, const struct served_version *v,
                   struct text *t);

/* ---- served_clients.c ---- */
/* Until something comes, or for a moment. The command may be NULL. */
void served_clients_wait(struct service *s, const struct command *command);
/* Behind that: takes what has come. False: it cannot go on. */
bool served_clients_take(struct service *s);
bool served_command_ended(const struct service *s);
void served_client_drop(struct service *s, uint32_t i);

/* ---- refusals.c ---- */
/* `why` begins with the SQLSTATE. */
/* The key has changed. */
void serving_refuse_read(struct service *s, struct client *c,
                         const struct server_key *k);
/* Who waits for its turn does not get it; nor an answer to what it asks behind
 * that. */
void serving_refuse_turn(struct client *c, const char *why);
void serving_refuse_rest(struct client *c);
/* In their share of cases, for no reason: as any client has to expect. */
bool serving_injects(struct service *s, struct client *c, const char *why);

/* ---- standstill.c ---- */
/* Whoever has others wait for ever is refused, or ended. */
void serving_end_standstill(struct service *s);

/* ---- answers.c ---- */
/* In this share of cases. */
bool serving_happens(struct rng *r, double share);
/* The client's transaction reads one of the versions that it may, by the
 * policy. False: there is none. */
bool serving_answer(struct service *s, struct client *c, struct db_access a,
                    struct committed *out);
/* The newest version of the key is a row, or is none: the transaction reads it,
 * and locks nothing. False: it is not that, or may not be seen. */
bool serving_finds(struct service *s, struct client *c, struct db_access a,
                   bool row, struct committed *out);
/* Nothing that it waits for changes that it may not read the key. */
bool serving_is_late(struct service *s, const struct client *c,
                     struct db_access a);

#endif
