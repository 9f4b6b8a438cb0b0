/* Clients of a private PostgreSQL, served under an isolation level.
 *
 * Each connection is a session. Their transactions run side by side; but one
 * whose level is serial runs alone, from its first access of a table on, and
 * waits for its turn. Who has locked which row is known here (row_locks.h); who
 * wants it waits in PostgreSQL, for the transaction that has it. What a read
 * sees is drawn from the versions that the level allows (commits.h): this is
 * MonkeyDB (Biswas, Kakwani, Vedurada, Enea, Lal, OOPSLA 2021), with locks,
 * snapshots and refusals as PostgreSQL has them.
 */
#ifndef ISO_SERVE_SERVICE_H
#define ISO_SERVE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/diag.h"
#include "base/text.h"
#include "serve/stale_reads.h"

struct program;
struct trace;

/* X(identifier, word): which of the versions that the level allows a read has:
 * any; the newest; the oldest. */
#define ANSWER_TABLE(X)            \
	X(ANSWER_RANDOM, "random") \
	X(ANSWER_LATEST, "latest") \
	X(ANSWER_OLDEST, "oldest")

enum answer_policy {
#define X(id, word) id,
	ANSWER_TABLE(X)
#undef X
		ANSWER_COUNT
};

struct service_options {
	const struct program *program; /* server_load_to_serve() */
	enum level level; /* of transactions that do not ask for one */
	enum answer_policy policy;
	/* Under ANSWER_RANDOM: the share of reads, of those that may get
	 * another version than the newest that is allowed, that do; less than
	 * 0: each version alike. */
	double stale;
	/* No transaction reads what was overwritten so many commits before it
	 * began, or longer; 0: that does not matter. */
	uint32_t within;
	/* The share of commits that are refused with 40001, and of locks with
	 * 40P01, though there is no reason. */
	double faults;
	uint64_t seed;
	/* No other reads are stale but these, whatever the policy; or NULL. */
	const struct stale_reads *only;
	bool real_time; /* what had committed when a transaction asked to begin
	                 * is before it */
	bool notes_stale; /* the result lists them, if they are not too many */
	int output; /* one more than the file that it prints to; 0: standard
	             * error */
	const char *const *command; /* NULL: whoever comes, until interrupted */
	const atomic_bool *interrupt;
	/* Clients can connect: to this folder of a socket. May be NULL. */
	void (*ready)(void *payload);
	void *payload;
};

struct service_counts {
	uint32_t sessions, transactions, committed, aborted;
	uint64_t reads,
		stale;    /* of keys; that did not get the newest version */
	uint64_t drawn;   /* those whose version was drawn by chance */
	uint32_t refused; /* transactions, with 40001 */
	uint32_t faults;  /* transactions, without a reason */
	uint32_t circles; /* of turns and locks, where one was refused */
	uint32_t stuck;   /* connections that were ended: silent ones, */
	uint32_t held;    /* and those that waited for a lock */
};

/* A transaction that was refused without a reason: "c2.1", what it carried out,
 * and the SQLSTATE. */
struct injected_fault {
	struct text transaction, statement;
	char state[6];
};

struct service_run {
	struct service_counts counts;
	bool interrupted;
	struct text lost; /* why the server has ended by itself, which
	                   * interrupts too; empty: it has not */
	int code;         /* of the command; 0 without one */
	struct text died; /* how a backend of the server has died, which
	                   * ends all connections; empty: none has */
	struct injected_fault fault; /* the last of them; empty: none */
	struct trace *trace;         /* NULL: there were no transactions */
	struct stale_reads stale;    /* those that nothing forced to be */
	bool unstarted;              /* the command could not be run, */
	struct text problem; /* why it could not go on; empty: it could */
	double seconds;
};

/* Serves until the command has ended, or it is interrupted. The caller frees
 * what there is. False: `problem` says why not. */
bool service_run(struct service_run *out, const struct service_options *o);
void service_run_free(struct service_run *r);

#endif
