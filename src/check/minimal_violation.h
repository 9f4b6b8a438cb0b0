/* Why a recorded history violates a level: its smallest part that does, and a
 * cycle in that part.
 *
 * Leaving out a transaction, with the reads from it, or a single operation
 * never makes an allowed history forbidden; so a part that is forbidden proves
 * that the whole is.
 */
#ifndef ISO_CHECK_MINIMAL_VIOLATION_H
#define ISO_CHECK_MINIMAL_VIOLATION_H

#include "axioms/witness.h"
#include "check/check.h"

struct check_witness {
	struct history *part; /* the essential transactions and operations;
	                       * names and indexes are those of the whole */
	uint32_t *numbers;    /* transaction of the trace, for each of part */
	struct witness cycle; /* in the numbers of part; empty if none was
	                       * made */
	const char *anomaly;  /* usual name: "lost update", ... or NULL */
	enum level weakest;   /* the weakest level that forbids the part, of
	                       * the one explained and those it implies */
	uint64_t hidden_ops;  /* operations of these transactions that are
	                       * left out of part */
	bool minimal;         /* no transaction can be left out, and no
	                       * operation */
};

/* For a result that is VIOLATED; f are the facts of t. False if no small part
 * was found within the clock's limits and some seconds (then out->part is
 * NULL), or if an anomaly of the trace is the reason. Removes transactions,
 * then operations, while the part still violates the level. Among several such
 * parts of the core it prefers few transactions, then few operations; it is
 * the same in every run that does not come to its limits. */
bool check_explain(const struct trace *t, const struct facts *f, enum level l,
                   const struct check_result *r, struct check_clock *c,
                   struct check_witness *out);
void check_witness_free(struct check_witness *w);
/* Why the level forbids a part of a history with these facts; false if it does
 * not. */
bool check_cycle(const struct facts *f, enum level l,
                 const struct history *part, struct witness *out);

/* ---- behind check_explain ---- */

/* Transactions of facts, and those of their operations, that violate a level.
 * All three increase. */
struct minimal_violation {
	uint32_t *transactions; /* without init */
	uint32_t *reads;        /* indices of facts.reads */
	uint32_t *writes;       /* indices of facts.writes */
	uint32_t count, read_count, write_count;
	/* The order of writers known among these, in numbers of the facts. */
	struct history_known *known;
	uint32_t known_count;
	bool minimal;
};

/* A small core that consists of some of these transactions (increasing,
 * without init), which violate the level together. False if there was not
 * enough time to find any. */
bool minimal_violation_find(const struct facts *f, enum level l,
                            const uint32_t *transactions, uint32_t count,
                            struct check_clock *c,
                            struct minimal_violation *out);
/* The same, and content with the first one found, though it is minimal. */
bool minimal_violation_find_any(const struct facts *f, enum level l,
                                const uint32_t *transactions, uint32_t count,
                                struct check_clock *c,
                                struct minimal_violation *out);
/* Looks for a better core elsewhere in the history: for a lost update (linear),
 * and in some hundred stretches of it, in which sessions advance side by
 * side. */
void minimal_violation_improve(const struct facts *f, enum level l,
                               struct check_clock *c,
                               struct minimal_violation *best);
void minimal_violation_free(struct minimal_violation *c);

#endif
