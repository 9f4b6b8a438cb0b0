/* A specification whose sessions a private PostgreSQL carries out. */
#ifndef ISO_POSTGRES_LIBRARY_H
#define ISO_POSTGRES_LIBRARY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/level_words.h"
#include "base/region.h"
#include "base/table.h"
#include "lang/source.h"
#include "postgres/cluster.h"
#include "postgres/connection.h"
#include "sql/spec.h"
#include "vm/guest.h"
#include "vm/guest_pool.h"
#include "vm/program.h"

/* A table, or, `index`, a unique index of one. */
struct server_relation {
	uint32_t oid, global;
	const char *name;
	bool index;
	struct server_relation *table; /* of an index */
	/* Of the columns of a table, or of an index. */
	uint32_t column_count;
	const char **columns;
	uint32_t *types;
	const char **type_names;
	uint32_t key_count; /* 0: rows are known by their birth */
	const uint32_t *key;
	bool asked; /* by an assertion */
};

/* A row that is known, by its key. */
struct server_key {
	struct server_relation *relation;
	uint32_t number; /* in the library */
	const char *image;
	uint32_t length;
	struct value value;
	struct server_version *versions;
	bool known, gone; /* in what conditions look at */
};

struct server_version {
	struct server_version *older;
	struct server_key *key;
	uint32_t number; /* from 1 */
	const char *image;
	uint32_t length;
	struct value value;
	bool known, initial;
};

struct server_step {
	const struct spec_step *spec; /* NULL: the session's setup */
	const struct spec_block *sql;
	const char *text;
	uint32_t session, place; /* which of its steps, from 1 */
	uint32_t point;
	uint32_t
		*names; /* of the transactions that may begin in it, by order */
	uint32_t name_count;
	/* What it returns; no columns: nothing, or it is not known. */
	uint32_t column_count;
	const char **columns, **type_names;
	uint32_t *types;
};

struct server_session {
	const char *name;
	const char *command; /* NULL: it has steps */
	bool here;
	uint32_t door; /* of the command */
	struct server_step *steps;
	uint32_t count;
};

struct server_assertion {
	const char *text; /* the query, where step.error stands as a call */
	uint32_t point;
	const struct server_step **steps; /* that it mentions */
	uint32_t step_count;
	uint32_t *errors; /* offsets in `text` where the error of a step stands,
	                   * in order, and how long that is; the steps */
	uint32_t *error_lengths, *error_steps, error_count;
};

struct server_library {
	struct guest_library guest; /* first: its address is the library's */
	struct program *program;
	struct region region;
	struct sources all;
	struct spec spec;
	struct cluster *cluster;
	const char *folder; /* of the specification; NULL: this one */
	struct connection setup;
	uint32_t door_count;
	int listener; /* where backends of sessions come */
	/* Where those of sessions that are commands come: only one process runs
	 * at a time. */
	int clients;
	pthread_mutex_t turn;
	bool trial; /* what commands ask for is found out */
	uint64_t command_count;
	double command_seconds; /* of all of them */
	struct server_relation **relations;
	uint32_t relation_count, relation_capacity;
	struct server_session *sessions;
	uint32_t session_count;
	struct server_assertion *assertions;
	uint32_t assertion_count;
	bool asks; /* some assertion asks for tables */
	uint32_t finally_name, finally_point;
	/* All that is done with it, estimates too, ends then. */
	const atomic_bool *interrupt;
	double deadline; /* 0: none */
	struct guest_pool pool;
	pthread_mutex_t lock; /* for what follows */
	struct table by_key, by_version;
	struct server_key **keys;
	uint32_t key_count, key_capacity;
	struct server_version **versions;
	uint32_t version_count, version_capacity;
	/* Places in commands: statements, by number. */
	struct table by_statement;
	struct position *statements;
	uint32_t statement_count, statement_capacity;
	bool grew;        /* more is to be */
	uint32_t growths; /* so far */
	char *fault, *lost;
	uint32_t fault_point; /* of the fault, if it has one */
	bool fault_has_point;
	atomic_bool ended; /* `lost` tells why */
};

static inline struct server_library *server_of(struct guest_library *l)
{
	return (struct server_library *)l;
}

struct server_relation *server_relation(struct server_library *l, uint32_t oid);
/* Under the lock. */
struct server_key *server_key(struct server_library *l,
                              struct server_relation *r, const char *image,
                              uint32_t length);
/* The one that a record names at *at, which goes on behind it. NULL: it is of a
 * table that was not there when it was set up. Under the lock. */
struct server_key *server_key_told(struct server_library *l, const char **at,
                                   const char *end);
struct server_version *server_version(struct server_library *l,
                                      struct server_key *k, const char *image,
                                      uint32_t length);
/* The value of a row of the key, or of an entry of an index. */
struct value server_image_value(struct region *r, const struct server_key *k,
                                const char *image, uint32_t length);
/* What set-up has left where the step reads; null: nothing. */
struct value server_initial(struct server_library *l,
                            const struct guest_step *read);
/* A column's value. */
struct value server_value(struct region *r, uint32_t type, const char *text,
                          uint32_t length);
/* A point for what the session says in its n-th statement: under the lock. */
uint32_t server_statement(struct server_library *l, uint32_t session,
                          uint32_t number, const char *text, uint32_t length);
struct position server_position(struct server_library *l, uint32_t point);
/* Opens `setup`, whose commits outlast a backend that dies. */
bool server_open_setup(struct server_library *l, struct text *why);
/* Has the server ended all connections since it was asked last, as it does when
 * a backend dies? Then `setup` is another one. */
bool server_was_reset(struct server_library *l);
void server_library_free(struct server_library *l);

/* guest.c */
extern const struct guest_ops server_guest_ops;
void server_guests_forget(struct server_library *l);
void server_guests_free(struct server_library *l);

#endif
