/* Why a recorded history violates a level: its smallest part that does, and a
 * cycle in that part.
 *
 * Leaving out a transaction, with the reads from it, or a single operation
 * never makes an allowed history forbidden; so a part that is forbidden proves
 * that the whole is.
 */
#ifndef ISO_CHECK_CORE_H
#define ISO_CHECK_CORE_H

#include "check/check.h"

struct check_witness {
	struct history *part;   /* the essential transactions and operations;
	                         * names and indexes are those of the whole */
	uint32_t *numbers;      /* transaction of the trace, for each of part */
	struct witness cycle;   /* in the numbers of part; empty if none was
	                         * made */
	const char *anomaly;    /* usual name: "lost update", ... or NULL */
	enum level weakest;     /* the weakest level that forbids the part */
	uint64_t hidden_ops;    /* operations of these transactions that are
	                         * left out of part */
	bool minimal;           /* no transaction can be left out */
};

/* For a result that is VIOLATED. False if no small part was found within the
 * clock's limits (then out->part is NULL), or if an anomaly of the trace is
 * the reason. Removes transactions, then operations, while the part still
 * violates the level. */
bool check_explain(const struct trace *t, const struct facts *f,
                   enum level l, const struct check_result *r,
                   struct check_clock *c, struct check_witness *out);
void check_witness_free(struct check_witness *w);

#endif
