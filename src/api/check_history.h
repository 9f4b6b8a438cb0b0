/* One recorded history against isolation levels, and why it violates those that
 * it does.
 */
#ifndef ISO_API_CHECK_HISTORY_H
#define ISO_API_CHECK_HISTORY_H

#include "result/checked.h"

struct checked {
	struct check_case found; /* shows the rest to the reports */
	struct facts *facts;
	struct check_clock *clock; /* borrowed */
	struct check_result results[LEVEL_COUNT];
	struct check_witness witnesses[LEVEL_COUNT];
};

struct problem;

/* Where transactions have levels of their own, the levels to ask about are
 * those that the others can have; if none do, one level will do. False if there
 * is none. */
bool check_levels_fit(const struct trace *t, unsigned *levels,
                      struct problem *problem);
/* Decides the levels (bit l for level l). The trace and the clock are borrowed
 * for as long as the result lives, which must not be moved. */
void check_history(struct checked *c, const struct trace *t, unsigned levels,
                   struct check_clock *clock);
void checked_free(struct checked *c);
/* Finds commit orders for the strongest levels that hold. */
void checked_find_orders(struct checked *c);
/* Finds a witness for each level that is violated, unless an anomaly is reason
 * enough or the witness of a weaker level shows it as well. A witness may
 * decide a level that was open. */
void checked_explain(struct checked *c);
/* The weakest level with a witness of its own; LEVEL_COUNT: none. */
enum level checked_witnessed(const struct checked *c);

#endif
