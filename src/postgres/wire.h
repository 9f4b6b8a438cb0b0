/* What isoscope and the backends of its private PostgreSQL say to each other,
 * over a Unix socket: records, each a head and what is behind it. Both are of
 * one build and on one machine.
 *
 * A row, and a key, is an image: for each column four bytes, its length in the
 * order of the network, and its text; no text and -1 for NULL. It is what
 * PostgreSQL's own protocol has behind the number of columns in a DataRow.
 */
#ifndef ISO_POSTGRES_WIRE_H
#define ISO_POSTGRES_WIRE_H

#include <stdint.h>

enum wire_kind {
	/* From a backend: */
	WIRE_HELLO, /* `number`: of the session that it is of; where clients are
	             * served, the process that it is */
	WIRE_BEGIN, /* a transaction begins */
	WIRE_READ,  /* `number` keys, struct wire_key with an image each; waits
	             * for the answer */
	WIRE_WRITE, /* a key and a row, or, `number` 0, none; 2: one that comes
	             * behind another of its key */
	WIRE_GIVE_UP, /* a key: its newest lock ends; where clients are served:
	               * that of `owner`, or, without a key, all of `owner` */
	WIRE_NEWS,    /* where clients are served: waits for what has been
	               * committed, and READY; with a key without an image: from
	               * now on of this table, too */
	WIRE_COMMIT,  /* where clients are served: waits, if `number` is not 0,
	               * for READY or REFUSED */
	WIRE_ABORT,
	WIRE_REPEATS, /* what follows is what is explored in another way */
	WIRE_REFUSE,  /* a text: what it does is not supported */
	/* From a client's: BEGIN has the `number` of the level that the
	 * transaction asks for (enum wire_level), and waits for READY, or for
	 * REFUSED of the same `owner`, which is not 0. */
	WIRE_STATEMENT, /* a text: is carried out next */
	/* Both ways: */
	WIRE_DRAWN, /* a key without an image: the session has drawn `number`
	             * values of this sequence */
	/* To a backend: */
	WIRE_VERSION, /* a key and a row, which is `number`; to a client's, if
	               * not `known`, for this transaction only: no other one of
	               * these has the same `number` and `owner` */
	WIRE_GONE,    /* a key: some session deletes its row */
	WIRE_OVER,    /* a key: its version of this `number` is not read any
	               * more; 0: nor can it be seen that its row was deleted */
	WIRE_READY,   /* behind versions: all are told; to a client's: the
	               * session has begun `number` transactions; its name;
	               * `joined`: all commits wait */
	WIRE_ANSWER,  /* `number` of a version of each key; 0: there is none. To
	               * a client's: of so many as are free, `number` */
	WIRE_STOP,    /* the statement is given up */
	WIRE_REFUSED  /* the transaction is, with this SQLSTATE and, behind its
	               * five letters, words */
};

enum wire_level { WIRE_NO_LEVEL, WIRE_PRC, WIRE_SI, WIRE_SER };

/* In the folder of the server: where clients of a session connect, where those
 * of set-up do, and where their backends find isoscope. */
#define WIRE_DOOR "s%u"
#define WIRE_DOOR_OF_SETUP "setup"
#define WIRE_CLIENTS "clients"
/* Where clients of no session in particular connect, each to be served; their
 * backends find isoscope as those of sessions do. */
#define WIRE_DOOR_OF_SERVICE "serve"
/* By TCP there is one door, which is of set-up until this file is there. */
#define WIRE_SEALED "sealed"

/* In `owner` of HELLO: of what is agreed upon here. Grows with each change. */
enum { WIRE_BUILD = 5 };

struct wire_head {
	uint32_t kind, length; /* of what is behind the head */
	uint32_t number;
	uint8_t strength; /* enum strength */
	uint8_t joined;   /* of the same statement as the access before; ANSWER,
	                   * to a client's: all are of the moment asked for */
	/* VERSION: conditions are tried on it. READ, a client's: the keys were
	 * found by what was told */
	uint8_t known;
	/* VERSION: set-up has left it; to a client's: or another one of its
	 * key. READ, a client's, of one key: if its row may not be there, it is
	 * read without a lock, and ANSWER has the strength that it was */
	uint8_t initial;
	/* A transaction of PostgreSQL, or one behind a savepoint. A client's
	 * READ: that has the lock; to it, ANSWER: that has to end before what
	 * follows is free. */
	uint32_t owner;
	uint8_t changes; /* READ, a client's: its statement changes rows */
	uint8_t unused[3];
};

struct wire_key {
	uint32_t relation; /* oid of a table or of a unique index */
	uint32_t length;   /* of the image behind it */
	uint32_t number;   /* of the key that isoscope has told so, from 1; then
	                    * a backend sends no image. 0: it is not known */
};

#endif
