/* Who carries out sessions for a machine: a tree of what they were seen to do,
 * and a backend for each. Shared by guest.c, seat.c, run.c and final.c. */
#ifndef ISO_POSTGRES_GUEST_H
#define ISO_POSTGRES_GUEST_H

#include "native/host/step_tree.h"
#include "postgres/library.h"
#include "postgres/wire.h"
#include "vm/guest_pool.h"
#include "vm/machine.h"

/* Seconds: a statement that reads nothing so long will not end. */
enum { PATIENCE = 60 };

/* Keys that a backend asks for at once. */
struct asked_keys {
	struct server_key **keys;
	uint32_t count;
	const struct server_step_node
		*first; /* the step of the first of them */
};

struct server_step_node {
	struct tree_step tree; /* first */
	const struct asked_keys *request;
	uint32_t place; /* in it */
	uint32_t phase; /* of an assertion, or the last transaction */
};

/* What a backend and isoscope say to each other. */
struct channel {
	int fd; /* 0: none */
	struct text in;
	size_t taken;
	bool *sent; /* versions that it knows, by number */
	uint32_t sent_count;
	uint32_t peer; /* what it has said in its first word */
};

struct clients;

/* The backend of a session. */
struct seat {
	struct connection c;
	struct channel own;
	struct channel *channel; /* of the backend that waits, or did last */
	struct clients *clients; /* of a session that is a command */
	uint64_t live;  /* serial of the step at whose request it waits; 0: none
	                 */
	bool waits;     /* for an answer to some request */
	uint32_t at;    /* the step of the session that is carried out */
	uint32_t begun; /* transactions in it */
	uint32_t point; /* of a statement of a command; 0: that of the step */
};

struct guest {
	struct pooled_guest pooled; /* first */
	struct server_library *library;
	struct region region;
	struct step_tree tree;
	struct server_step_node *roots;
	struct seat *seats;
	struct connection judge;
	uint64_t serial, asked;
	size_t budget;
	struct machine_limits limits;
};

/* ---- guest.c ---- */
/* Why the exploration is worth nothing: the first that is told counts. */
void server_set_fault(struct server_library *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same of a statement, or a step. */
void server_set_fault_at(struct server_library *l, uint32_t point,
                         const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What was told was the server's, and is done again. */
void server_forget_fault(struct server_library *l);
/* A backend has died: shall what it did be done again? Else it is told why not,
 * as of the one who did it. *tries begins at 0. */
bool server_tries_again(struct guest *g, const char *who, uint32_t *tries);
/* Is it no use to go on? */
bool server_gives_up(const struct guest *g);
void server_put_key(struct guest_step *s, const struct server_key *k);

/* ---- seat.c ---- */
bool channel_take(struct channel *c);
void channel_close(struct channel *c);
/* Its first word; false: it has not come. */
bool channel_accept(struct channel *c, int listener);
bool channel_send(struct channel *c, const void *from, size_t length);
/* Appends a record: what is behind its head begins with the key. */
void channel_put_record(struct text *t, struct wire_head h,
                        const struct server_key *k, const char *image,
                        uint32_t length);
/* The version, unless it was told before; a row that somebody has deleted. */
void channel_put_version(struct text *t, struct channel *c,
                         const struct server_version *v);
void channel_put_gone(struct text *t, const struct server_key *k);
/* All that conditions look at is told. */
void channel_put_known(struct guest *g, struct channel *c, struct text *t);
/* Waits so many seconds for PostgreSQL to be done. */
bool seat_is_done(const struct guest *g, struct connection *c, double patience);
/* False: it has gone. */
bool seat_tell_answers(struct guest *g, struct seat *s,
                       const struct asked_keys *r, const struct value *answers);
/* A seat at the beginning of its session. False: the fault is told, or *lost,
 * its backend has died. */
bool seat_begin_anew(struct guest *g, uint32_t session, bool *lost);
void seat_leave(struct seat *s);

/* ---- clients.c ---- */
void clients_free(struct clients *c);
/* Runs the command once more, to the same end; false: it does something else,
 * which is the fault. */
bool server_run_again(struct guest *g, const struct guest_step *end);
struct server_step_node *server_run_command(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to);

/* What follows a step: of a session, of the last transaction, of an assertion.
 * NULL: it was given up, or the fault is told. */
/* ---- run.c ---- */
struct server_step_node *server_run_session(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to);
/* ---- final.c ---- */
struct server_step_node *server_run_finally(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to);
struct server_step_node *server_run_assertion(struct guest *g,
                                              struct server_step_node *from,
                                              struct value answer,
                                              struct region *to);
/* The next key of a request. */
struct server_step_node *server_next_key(struct guest *g,
                                         struct server_step_node *from,
                                         struct value answer,
                                         struct region *to);

#endif
