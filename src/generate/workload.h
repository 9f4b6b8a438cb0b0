/* Histories made by simulation: random transactions of many sessions against a
 * store that keeps an isolation level, and planted anomalies.
 */
#ifndef ISO_GENERATE_WORKLOAD_H
#define ISO_GENERATE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/diag.h"
#include "history/trace.h"

enum distribution { DISTRIBUTION_UNIFORM, DISTRIBUTION_ZIPF };

/* X(identifier, word, word of the weakest level that forbids it,
 *   description) */
#define PLANTED_TABLE(X)                                                  \
	X(PLANTED_THIN_AIR, "thin-air", "none", "a value nobody wrote")   \
	X(PLANTED_G1A, "G1a", "rc", "aborted read")                       \
	X(PLANTED_G1B, "G1b", "rc", "intermediate read")                  \
	X(PLANTED_INTERNAL, "internal", "none", "own write not read")     \
	X(PLANTED_G1C, "G1c", "none", "two transactions read each other") \
	X(PLANTED_OTV, "otv", "rc", "observed transaction vanishes")      \
	X(PLANTED_FRACTURED, "fractured-read", "ra",                      \
	  "half of another transaction")                                  \
	X(PLANTED_CAUSAL, "causality", "cc", "effect without its cause")  \
	X(PLANTED_LONG_FORK, "long-fork", "pc",                           \
	  "two readers see two writes in different orders")               \
	X(PLANTED_LOST_UPDATE, "lost-update", "psi",                      \
	  "two transactions read and write the same version")             \
	X(PLANTED_WRITE_SKEW, "write-skew", "ser",                        \
	  "each reads what the other writes")

enum planted {
#define X(id, word, forbidden_by, description) id,
	PLANTED_TABLE(X)
#undef X
		PLANTED_COUNT /* none */
};

/* The largest settings. */
enum {
	WORKLOAD_OPS_MOST = 1 << 30,
	WORKLOAD_SESSIONS_MOST = 1000000,
	WORKLOAD_LENGTH_MOST = 1000000,
	WORKLOAD_KEYS_MOST = 10000000
};

struct workload {
	uint64_t ops;          /* total, init and planted not counted */
	uint64_t transactions; /* if not 0, so many instead of ops */
	uint32_t sessions;
	uint32_t length; /* operations of a transaction */
	bool geometric;  /* length is a mean */
	uint32_t keys;
	double reads; /* fraction of operations, 0 to 1 */
	enum distribution distribution;
	double theta;         /* of zipf; 0.99 */
	enum level level;     /* that the store keeps */
	unsigned mix;         /* several bits l: in its place, transactions have
	                       * one of these levels of their own; 0 */
	double locks;         /* fraction of the reads that lock, shared or to
	                       * write */
	uint32_t lag;         /* how many commits (ra, cc, psi, pc: of other
	                       * sessions) a snapshot may miss */
	double aborts;        /* fraction of transactions that abort */
	bool writes_only;     /* the reads of those do not count: most
	                       * formats have no way to write them */
	uint64_t seed;        /* equal seeds give equal histories, on every
	                       * machine */
	enum planted planted; /* PLANTED_COUNT: none */
};

/* The defaults of the command line. */
struct workload workload_default(void);
/* Values are unique: each write writes the next number, from 1; 0 is initial.
 * A planted anomaly has no level of its own.
 * Sessions, transactions and keys are numbers from 1. A planted anomaly is a
 * few transactions more, of some sessions, at a random place, on keys that no
 * other transaction has: where the store is serializable and nothing aborts,
 * exactly the levels that imply the one that forbids it fail. NULL, with an
 * error added, for settings that are out of range. Linear, but for the search
 * of a version among those of its key. */
struct trace *workload_run(const struct workload *w, struct diags *d);
/* The same, with a commit order that shows the level of the store: the trace's
 * committed transactions, init first (order_count of them), and behind them the
 * others; malloc'ed. */
struct trace *workload_run_ordered(const struct workload *w, uint32_t **order,
                                   uint32_t *order_count, struct diags *d);
/* PLANTED_COUNT: there is none of this name. */
enum planted planted_from_word(const char *word);
const char *planted_word(enum planted p);
/* The weakest level that forbids it. */
enum level planted_forbidden_by(enum planted p);
/* How many sessions it takes part in. */
uint32_t planted_sessions(enum planted p);

#endif
