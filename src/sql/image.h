/* A program in SQL, ready to run: its sessions, statement by statement. */
#ifndef ISO_SQL_IMAGE_H
#define ISO_SQL_IMAGE_H

#include <pthread.h>

#include "sql/known.h"
#include "sql/load.h"
#include "sql/resolve.h"
#include "sql/spec.h"
#include "vm/guest.h"
#include "vm/guest_pool.h"

struct machine_limits;
struct program;

/* A statement of a session. */
struct sql_item {
	const struct sql_statement *statement;
	uint32_t step;      /* among all; SQL_NO_STEP in the session's setup */
	uint32_t name;      /* of a transaction that begins with it */
	uint32_t next_step; /* where the session goes on after an error */
};

#define SQL_NO_STEP UINT32_MAX

struct sql_session {
	const char *name;
	struct place at; /* of its name */
	struct sql_item *items;
	uint32_t count, capacity;
	const struct sql_draws *sequences; /* before it draws any */
	uint32_t first_point, point_count; /* places that it has for itself */
};

/* A transaction of a session: the items from its first one up to where it ends.
 */
struct sql_span {
	const struct sql_session *session;
	uint32_t first, end; /* `end` is behind it */
	bool block;          /* it has a BEGIN; else it ends with its step */
};

/* What an assertion has to know: results of steps, and tables, by number. */
struct sql_assertion {
	const struct sql_statement *query;
	uint32_t *steps;
	uint32_t step_count, step_capacity;
};

/* What assertions ask of tables, in one last transaction. */
struct sql_asked {
	const struct sql_relation **relations;
	uint32_t count, capacity;
};

struct sql_image {
	struct guest_library guest; /* first: its address is the image's */
	struct program *program;
	struct region region;
	struct sources all;
	struct sql_catalog catalog;
	struct known known;
	struct spec_block *setups; /* that were run, in the sources */
	uint32_t setup_count;
	struct sql_session *sessions;
	uint32_t session_count;
	struct sql_assertion *assertions;
	uint32_t assertion_count;
	struct sql_asked asked;
	uint32_t finally_name;
	const char **step_sessions; /* by step: whose it is, */
	uint32_t *step_places;      /* and which of its steps, from 1 */
	const char *isolation;      /* as the specification has it, or NULL */
	struct place isolation_at;
	struct sql_arguments given; /* without texts */
	bool settled;    /* the known rows are not to grow any more */
	bool learning;   /* rows that turn up are noted, and are no fault */
	uint64_t growth; /* how often they grew before, */
	uint64_t carried_out; /* and how many statements that took */
	struct guest_pool pool;
	pthread_mutex_t lock; /* for what follows */
	struct known grown;   /* rows that turned up since, */
	char *fault;          /* and what is said of the first */
};

static inline struct sql_image *sql_image_of(struct guest_library *l)
{
	return (struct sql_image *)l;
}

/* sessions.c */
extern const struct guest_ops sql_guest_ops;
/* Sessions wrote a version that was not known. */
void sql_image_grew(struct sql_image *image, const struct sql_table *t,
                    struct value key, struct value row);

/* possible_versions.c: runs sessions in many orders until no new versions turn
 * up, or it takes too long. */
void sql_saturate(struct sql_image *image, const struct machine_limits *limits);
/* sessions.c: what runners know of sessions holds no more. */
void sql_guests_forget(struct sql_image *image);

/* asked.c: notes what the query asks for, in all its parts. */
void sql_find_asked(struct sql_image *image, struct sql_assertion *a,
                    const struct sql_query *q);

/* dump.c: what a statement does, to which rows. */
void sql_dump_statement(struct text *t, const struct sql_statement *s);

/* load.c: does with each transaction that sessions begin what `take` does. */
void sql_each_transaction(const struct sql_image *image,
                          void (*take)(void *data, const struct sql_span *t),
                          void *data);
void sql_image_free(struct sql_image *image);

#endif
