/* Checking recorded histories of any size against isolation levels.
 *
 * rc, ra and cc are decided in the best published bounds (AWDIT, PLDI 2025);
 * pc, psi, si and ser exactly, by saturation, guessing and, for what that
 * leaves open, a complete search by SAT. Histories of few transactions are
 * decided by the kernels of src/axioms, which are quicker there; with more,
 * their search can take for ever.
 *
 * Where transactions have levels of their own (facts.owns), a level that is
 * asked about is that of the others.
 */
#ifndef ISO_CHECK_CHECK_H
#define ISO_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check_result.h"
#include "check/levels.h"
#include "history/trace.h"

struct check_limits {
	double seconds;  /* of wall time for all levels; 0: no limit */
	uint64_t memory; /* bytes that a check may hold; 0: half of what
	                  * the machine has */
	bool (*stop)(void *data); /* asked now and then; NULL: never */
	void *stop_data;
};

/* The limits as they are being used up; shared by all checks of a run. */
struct check_clock;
struct check_clock *check_clock_new(const struct check_limits *l);
void check_clock_free(struct check_clock *c);
/* True once the time is over or a stop was asked for. Cheap enough for inner
 * loops of some microseconds. */
bool check_clock_over(struct check_clock *c);
/* "the time limit was reached", "it was interrupted", ... NULL if not over. */
const char *check_clock_reason(const struct check_clock *c);
/* Do `bytes` for one check exceed the memory limit? The check is undecided
 * then, with CHECK_MEMORY as its reason. */
bool check_clock_too_large(const struct check_clock *c, uint64_t bytes);
#define CHECK_MEMORY "the memory limit was reached"

/* One level. Facts of a trace without anomalies that forbid the level. */
void check_level(const struct facts *f, enum level l, struct check_clock *c,
                 struct check_result *out);
/* For a result that HOLDS: makes its order, if it has none yet. False if the
 * clock's limits came first. */
bool check_commit_order(const struct facts *f, enum level l,
                        struct check_clock *c, struct check_result *r);
/* Has a transaction moments that its commit order does not tell: statements? */
bool check_has_schedule(const struct facts *f, enum level others);
/* The same for the schedule, if there is one. */
bool check_schedule(const struct trace *t, const struct facts *f, enum level l,
                    struct check_clock *c, struct check_result *r);
/* All the levels in `wanted` (bit l for level l), using that some imply
 * others; regards anomalies. `results` has LEVEL_COUNT entries; those not
 * wanted stay zero, without being VERDICT_HOLDS in any sense. */
void check_levels(const struct trace *t, const struct facts *f, unsigned wanted,
                  struct check_clock *c, struct check_result *results);

/* The first kind of anomaly in the trace that forbids the level, whatever the
 * order of the transactions; or ANOMALY_COUNT. */
enum trace_anomaly_kind check_forbidding(const struct trace *t, enum level l);

/* Behind check_level. weak: rc, ra, cc (and none), and histories without an
 * order, which no level allows; strong: levels that need an order, and mixes of
 * levels without statements; mixed: all mixes; small: any level and mix, up to
 * CHECK_SMALL transactions, init included, without order. */
enum { CHECK_SMALL = 64, CHECK_BY_KERNEL = 16 };
void check_small(const struct facts *f, enum level l, struct check_result *out);
/* The same of any size, slowly. */
void check_by_kernel(const struct facts *f, enum level l, struct check_clock *c,
                     struct check_result *out);
void check_weak(const struct facts *f, enum level l, struct check_clock *c,
                struct check_result *out);
/* Guesses only: HOLDS, VIOLATED, or nothing is said. */
void check_strong_guess(const struct facts *f, enum level l,
                        struct check_clock *c, struct check_result *out);
/* A level with statements; histories with an order whose locks are known. */
void check_statements(const struct facts *f, enum level l,
                      struct check_clock *c, struct check_result *out);
/* Does what the history says at the first level hold at the other? So it is if
 * that is the weaker one; but prc alone takes checks for plain reads. */
bool check_implies(const struct facts *f, enum level strong, enum level weak);
/* Does no read lock? */
bool check_has_plain_reads(const struct facts *f);
/* Does every lock exclude all writers, none ended before its transaction, and
 * did no statement read plainly behind one? For those alone check_statements is
 * made. */
bool check_has_known_locks(const struct facts *f);
/* Are some reads for constraints (strength_is_beside)? */
bool check_reads_for_constraints(const struct facts *f);
/* And are these beside a snapshot, at some of its levels? Only points know of
 * them then. */
bool check_reads_beside(const struct facts *f, enum level others);
struct strong_locks;
/* Behind it: facts of which each transaction is one point. */
void check_strong_locks(const struct facts *f, enum level l,
                        const struct strong_locks *locks, struct check_clock *c,
                        struct check_result *out);
/* Any level but psi; histories with an order. */
void check_by_points(const struct facts *f, enum level l, struct check_clock *c,
                     struct check_result *out);
/* Adds the moments to a schedule, if the history satisfies the level; if
 * `runnable`, of one in which no statement has to be held before its locks,
 * which is not looked for long. */
bool check_schedule_by_points(const struct facts *f, enum level l,
                              struct check_clock *c, bool runnable,
                              struct schedule *s);
/* The same for the histories of check_statements. */
bool check_schedule_by_statements(const struct facts *f, enum level l,
                                  struct check_clock *c, struct schedule *s);
void check_strong(const struct facts *f, enum level l, struct check_clock *c,
                  struct check_result *out);
void check_mixed(const struct facts *f, enum level others,
                 struct check_clock *c, struct check_result *out);

#endif
