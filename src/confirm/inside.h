/* What the files of this folder share. */
#ifndef ISO_CONFIRM_INSIDE_H
#define ISO_CONFIRM_INSIDE_H

#include "confirm/confirm.h"
#include "confirm/script.h"
#include "postgres/stock.h"

struct confirmer {
	struct script script;
	struct stock *stock; /* borrowed */
};

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
	/* Statements of a function that are to wait for something else. */
	bool held;
	/* BEGIN and COMMIT around statements of a step that are one transaction
	 * by themselves, since something else comes in between. */
	bool added;
};

/* Everything that the sessions do, in the order of the schedule. */
void plan_make(const struct script *s, const struct script_map *m,
               const struct history *h, const struct schedule *schedule,
               struct plan *out);
void plan_free(struct plan *p);

#endif
