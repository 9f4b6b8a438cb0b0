/* Statements that follow each other: those of a transaction, or of a call,
 * which may be several transactions. */
#ifndef ISO_AUDIT_STEPS_H
#define ISO_AUDIT_STEPS_H

#include "audit/classes.h"

struct step {
	uint32_t template, line;
	uint32_t first_row; /* values of its places */
	uint32_t first_literal;
	bool ends; /* the last one of a transaction that is not the last of its
	            * call */
};

struct step_literal {
	uint64_t value;
	uint32_t text; /* in the steps' */
};

struct steps {
	struct step *steps;
	uint32_t count, capacity;
	uint64_t *rows;
	uint32_t row_count, row_capacity;
	struct step_literal *literals; /* if they are kept */
	uint32_t literal_count, literal_capacity;
	struct text texts;
};

/* ---- classes.c ---- */

/* Makes loops two rounds. */
void classes_fold(struct classes *c, struct steps *s);
/* One more instance of its class, which may be new. At least one step. */
void classes_add_instance(struct classes *c, struct steps *s);

/* ---- sessions.c ---- */

struct sessions *sessions_new(void);
void sessions_free(struct sessions *s);

/* ---- calls.c ---- */

void steps_clear(struct steps *s);
void steps_free(struct steps *s);
/* A transaction that was committed: by itself, or as a part of the call that it
 * belongs to, `tag` being hash of the values of its tags, 0 without. */
void calls_add(struct classes *c, uint64_t session, uint64_t tag,
               struct steps *s);
/* The session's calls are over, if they end with it. */
void calls_end_session(struct classes *c, uint64_t session);
/* All calls are over. */
void calls_end(struct classes *c);
struct calls *calls_new(void);
void calls_free(struct calls *c);

#endif
