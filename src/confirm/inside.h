/* What the files of this folder share. */
#ifndef ISO_CONFIRM_INSIDE_H
#define ISO_CONFIRM_INSIDE_H

#include "confirm/confirm.h"
#include "confirm/expected.h"
#include "confirm/script.h"
#include "postgres/stock.h"

struct confirmer {
	struct script script;
	struct stock *stock; /* borrowed */
	uint32_t orders;     /* so many are tried of a history */
};
enum { CONFIRM_ORDERS = 64 };

/* What is sent next: a statement of the script, or what it does not have. */
enum plan_kind {
	PLAN_UNIT,
	PLAN_WHOLE, /* all from this unit to `last`, as they are one transaction
	             * without BEGIN */
	PLAN_BEGIN,
	PLAN_SNAPSHOT, /* a SELECT that reads nothing takes the snapshot */
	PLAN_COMMIT,
	PLAN_ROLLBACK
};
struct plan_item {
	enum plan_kind kind;
	uint32_t session, unit; /* of BEGIN and COMMIT, what is between them */
	uint32_t last;
};
struct plan {
	struct plan_item *items;
	uint32_t count, capacity;
	/* BEGIN and COMMIT around statements of a step that are one transaction
	 * by themselves, since something else comes in between. */
	bool added;
};

/* An attempt to bring something about. */
struct attempt {
	struct confirmer *confirmer;
	struct region *to;
	struct confirmation *out;
	struct outcome expected, found;
	bool drops_levels;  /* those that the texts ask for do not count */
	const char **first; /* by table: its rows in the beginning */
	uint32_t *failed;   /* by session: the step that failed, or NONE */
	uint32_t *sent;     /* by session: the line of its last statement */
	uint32_t capacity;
};

/* Empties the text. */
const char *attempt_words(struct attempt *a, struct text *t);
/* The server is as the program's setup leaves it, with new sessions. False, as
 * below: what is there is not to be gone on with, and a->out says why. */
bool attempt_begin(struct attempt *a);
bool attempt_send(struct attempt *a, const struct plan_item *i);
/* All was sent: is it what was expected? */
void attempt_end(struct attempt *a);

/* All orders of the program's statements, up to the first that brings it about,
 * which is true; but so many at most as the confirmer has. Those are left out
 * that begin as one in which a step gave something else, or was waited for.
 * *count were tried; are these *all? */
bool orders_try(struct attempt *a, uint32_t *count, bool *all);

/* A history by its schedule, at one of PostgreSQL's levels: does this come of
 * it? */
void confirm_outcome(struct confirmer *c, const struct history *h,
                     const struct schedule *schedule, enum level level,
                     const struct outcome *expected, struct region *to,
                     struct confirmation *out);

/* Everything that the sessions do, in the order of the schedule. */
void plan_make(const struct script *s, const struct script_map *m,
               const struct history *h, const struct schedule *schedule,
               struct plan *out);
void plan_free(struct plan *p);

#endif
