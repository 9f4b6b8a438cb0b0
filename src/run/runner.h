/* Running a program once: its transactions one after the other, each external
 * read answered by a writer that the level allows. Somebody else chooses which
 * session goes on and which writer it is; the runner sees to it that the
 * result satisfies the level. (MonkeyDB: Biswas, Kakwani, Vedurada, Enea, Lal,
 * OOPSLA 2021, section 4. Their store tests reads only, which is sound for rc,
 * ra and cc; here writes and commits are tested too, for pc, psi, si and ser.)
 *
 * A choice of writers that leads to a transaction which the level forbids is
 * taken back, and the next one is tried. That ends well: a transaction whose
 * reads all are the latest in a commit order is always allowed.
 */
#ifndef ISO_RUN_RUNNER_H
#define ISO_RUN_RUNNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"

struct execution;
struct program;
struct history;
struct finding;
struct runner;

struct run_writer {
	uint32_t id;             /* the runner's number; 0 is init */
	uint32_t session, index; /* session UINT32_MAX: init */
};

/* An external read that waits for its writer. */
struct run_read {
	uint32_t session, index; /* its transaction */
	uint32_t number;         /* external reads of the transaction so far */
	uint32_t total;          /* external reads of the run so far */
	const char *key;         /* as the language writes it */
	uint32_t key_number;     /* in the runner */
};

struct run_chooser {
	void *data;
	/* A run begins, or begins anew because keys of earlier runs filled the
	 * table: it has to make the same choices again. May be NULL. */
	void (*begin)(void *data);
	/* A transaction is to run: which of the ready sessions? They come in
	 * increasing order; returns one of them. `finally` is ready only when
	 * nobody else is. */
	uint32_t (*session)(void *data, const uint32_t *ready, uint32_t count);
	/* Puts the writers of a read in the order in which to try them: the
	 * first that the level allows is taken. They are those that the level
	 * may allow (exactly those that it allows for none, rc, ra, cc) and
	 * come in the order in which they committed, init first. count > 0.
	 * Called again for a read that is reached again after a choice was
	 * taken back. */
	void (*writers)(void *data, const struct run_read *read,
	                struct run_writer *writers, uint32_t count);
	/* The first writers are likely to be allowed: tests them at the end of
	 * a transaction, not read by read. It makes no other difference but in
	 * time, and in how often the functions are called. */
	bool likely;
};

enum run_end {
	RUN_COMPLETE,
	RUN_PRUNED,      /* it met a false assumption: it does not count */
	RUN_BOUND,       /* likewise: a session in C was cut short */
	RUN_INTERRUPTED, /* *interrupt became true, or the deadline passed */
	RUN_MEMORY,      /* the limit was reached: see runner_memory */
	RUN_TOO_LARGE    /* too many transactions, keys or events: see
	                  * runner_problem */
};

/* The program is borrowed; `interrupt` may be NULL. */
struct runner *runner_new(const struct program *p, enum level l,
                          const atomic_bool *interrupt);
void runner_free(struct runner *r); /* NULL is fine */
const struct program *runner_program(const struct runner *r);
enum level runner_level(const struct runner *r);
/* When runs end at the latest, as seconds_now counts; 0: never. */
void runner_deadline(struct runner *r, double seconds);
/* How many bytes the runner may hold, runs and tests of levels together; a run
 * that would need more ends. 0: any number. */
void runner_memory(struct runner *r, uint64_t bytes);
uint64_t runner_bytes(const struct runner *r); /* held now */
/* Seconds of the processor that native code took. */
double runner_guest_cpu(const struct runner *r);
/* Runs the program once more, from the beginning. */
enum run_end runner_run(struct runner *r, const struct run_chooser *c);
/* "the program runs more than 16,383 transactions, ...", after RUN_TOO_LARGE
 * and RUN_MEMORY; else NULL. */
const char *runner_problem(const struct runner *r);

/* ---- About the last run, if it was COMPLETE; valid until the next ---- */

/* In readable form, with the order in which it ran; the caller frees it. */
struct history *runner_history(const struct runner *r);
uint64_t runner_hash(const struct runner *r);    /* execution_hash */
uint64_t runner_outcome(const struct runner *r); /* execution_outcome */
bool runner_satisfies(struct runner *r, enum level l);
uint32_t runner_reads(const struct runner *r); /* external reads */
/* Slots that it violates, increasing: assertions by number (`serializable`
 * too), then run-time errors. */
const uint32_t *runner_violated(struct runner *r, uint32_t *count);
/* What failed there; NULL for `assert serializable`, and for slots that are
 * not violated. Only after runner_violated; valid until the next run. */
const struct finding *runner_finding(const struct runner *r, uint32_t slot);
/* Choices of all runs so far that were taken back. */
uint64_t runner_taken_back(const struct runner *r);
/* For those who compare what ran with something else (execution/complete.h). */
const struct execution *runner_execution(const struct runner *r);

#endif
