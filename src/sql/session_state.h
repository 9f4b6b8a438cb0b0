/* A session between two of its statements, and how it goes on from there. */
#ifndef ISO_SQL_SESSION_STATE_H
#define ISO_SQL_SESSION_STATE_H

#include "sql/image.h"
#include "sql/run.h"

enum sql_transaction {
	TXN_NONE,
	TXN_IMPLICIT, /* up to the end of the step */
	TXN_OPEN,
	TXN_FAILED,      /* up to its end, or a savepoint, all is refused */
	TXN_FAILED_ENDED /* the same, and it has aborted already */
};

/* What the transaction has locked by reading it. */
struct sql_lock {
	const struct sql_lock *older;
	uint32_t global, point;
	struct value key;
};

struct sql_savepoint {
	const struct sql_savepoint *older;
	const char *name;
	const struct sql_write *writes;
	const struct sql_lock *locks;
};

/* Immutable. */
struct sql_state {
	uint32_t next; /* the item to be carried out */
	enum sql_transaction transaction;
	const struct sql_write *writes;
	/* Up to here they were told. What is written behind a savepoint is not,
	 * until that is released: it may be as if it had never been. */
	const struct sql_write *told;
	bool accessed; /* the transaction has read or written */
	bool ran;      /* and carried out a query or a change */
	bool read_only;
	bool repeats; /* something else that was explored */
	const struct sql_savepoint *savepoints;
	const struct sql_lock *locks; /* since the first of these */
	const struct sql_draws *sequences;
	const struct guest_note *notes;
	const struct finding *findings;  /* a setup that failed */
	const struct guest_note *result; /* of the step at hand, so far */
	/* The error that has ended the transaction, or the last one; up to the
	 * next one. */
	const char *failure;
};

const struct sql_state *sql_state_new(struct region *r,
                                      const struct sql_image *image,
                                      uint32_t session);

struct sql_emitted {
	struct sql_emitted *next;
	struct guest_step step;
	const struct sql_state *state;
	uint32_t reads;
	const struct sql_foreseen *foreseen; /* behind a read; or NULL */
};

/* From a state, with answers to reads of the statement at hand, to what the
 * session asks for next: one thing, or several if no answer is needed. */
struct sql_move {
	struct sql_image *image;
	uint32_t session; /* from the number of sessions on: assertions */
	const struct sql_state *from;
	const struct value *answers;
	uint32_t answer_count;
	struct region *region;  /* for what lasts */
	struct region *scratch; /* for what does not */
	struct sql_emitted *first, **last;
	bool (*gives_up)(void *data); /* asked now and then */
	void *gives_up_data;
	bool gave_up; /* what was emitted is worth nothing */
};

void sql_move(struct sql_move *m);

#endif
