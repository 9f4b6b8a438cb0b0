/* What is explored, what an exploration tells, and whom: options, statistics,
 * and observers.
 */
#ifndef ISO_DPOR_EXPLORE_H
#define ISO_DPOR_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/budget.h"
#include "execution/ledger.h"
#include "vm/machine.h"

struct branch;
struct branch_list;
struct engine;
struct explorer;
struct history;
struct observed_reads;
struct program;
struct symmetry;
struct tally;

/*     identifier, word in files and results */
#define EXPLORER_ALGORITHM_TABLE(X)                                          \
	X(EXPLORE_CE, "ce")                                                  \
	X(EXPLORE_DFS, "dfs")                                                \
	/* from an observed history, histories with the fewest changed reads \
	 * first, each once (outward.c) */                                   \
	X(EXPLORE_OUTWARD, "outward")                                        \
	/* each history once, by its first serial order; one of each class   \
	 * of symmetric ones (orderly.c) */                                  \
	X(EXPLORE_ORDERLY, "orderly")

enum explorer_algorithm {
#define X(id, word) id,
	EXPLORER_ALGORITHM_TABLE(X)
#undef X
};

struct explore_options {
	enum explorer_algorithm algorithm;
	enum level level; /* histories output satisfy this */
	const char *as;   /* what the database calls it, if it was said so */
	enum level base;  /* explored under this, extensible and weaker;
	                   * equal to level when that is extensible. Only
	                   * EXPLORE_CE: the others explore under level */
	WITH_BUDGET;      /* memory 0: half of the machine's */
	bool uniform; /* all transactions have that level, whatever they have of
	               * their own */
	bool stop_on_violation;
	/* With classify: stop when levels of which this one is the base, and
	 * itself, each have a violation. */
	bool stop_when_all_violated;
	bool robust;           /* count unserializable histories, and take each
	                        * as a violation of `assert serializable` */
	bool classify;         /* count histories of every level (--levels) */
	bool check_duplicates; /* remember the hash of each history */
	unsigned jobs;         /* threads that explore; 0 is 1. More than one
	                        * calls observer.history from all of them.
	                        * EXPLORE_OUTWARD: one */
	uint64_t max_steps; /* of one thread: it stops there, as after so many
	                     * histories; 0: never */
	double max_cpu; /* seconds that a thread may work: it stops there, as
	                 * when its time is over; 0: no limit */
	double snapshot_every; /* seconds from one call of observer.snapshot
	                        * to the next; 0: never */
	/* EXPLORE_OUTWARD only. */
	const struct observed_reads
		*observed; /* where to begin (observed_reads.h); borrowed */
	/* EXPLORE_OUTWARD: explore no history with more changed reads;
	 * EXPLORE_ORDERLY: none in which, in each of its serial orders, more
	 * reads are stale (staleness.h). UINT64_MAX: no limit. */
	uint64_t max_changes;
	/* EXPLORE_ORDERLY: classes of symmetric sessions (symmetry.h), or NULL;
	 * borrowed. */
	const struct symmetry *symmetry;
	bool stop_unserializable; /* stop at the first such history; for it to
	                           * be seen, set robust as well */
};

struct explore_stats {
	uint64_t histories;  /* complete, satisfy the level. With symmetry:
	                      * those that the classes stand for */
	uint64_t classes;    /* output: without symmetry, the same */
	uint64_t end_states; /* complete executions, before the filter */
	uint64_t filtered;   /* dropped by the filter */
	uint64_t pruned;     /* dropped because an assumption was false */
	uint64_t blocked;    /* explore calls that led to no end state.
	                      * EXPLORE_OUTWARD: prefixes of orders that the
	                      * level let no writer or no end of a transaction
	                      * continue, in the iteration at hand; what was
	                      * cut for the number of changes, or for not
	                      * being the first order, is not among them */
	uint64_t duplicates; /* histories output before (check_duplicates) */
	uint64_t unserializable; /* of the histories; when serializability was
	                          * asked for (robust, assertion, classify) */
	uint64_t explore_calls;
	uint64_t swaps_considered; /* pairs (read, committed writer) */
	uint64_t swaps_taken;
	uint64_t swaps_inconsistent; /* refused: violates the base level */
	uint64_t swaps_not_latest;   /* refused: a deleted read, or the swapped
	                              * one, does not read the latest */
	uint64_t depth_max;          /* deepest stack of choices */
	uint64_t memory_peak;        /* bytes held by the exploration */
	uint64_t cut;       /* EXPLORE_ORDERLY: prefixes of orders with too
	                     * many stale reads */
	uint64_t changes;   /* EXPLORE_OUTWARD: changed reads of the
	                     * histories output now; all those with fewer
	                     * were output before */
	double seconds;     /* wall */
	double cpu_seconds; /* of all threads, and of native code */
	enum stop_reason stop;
	/* With classify: histories that satisfy each level, of those output. */
	uint64_t per_level[LEVEL_COUNT];
};

/* What is known of one assertion (indices as in program_assertion; one more
 * slot behind them stands for run-time errors and one for robust; then each
 * place of a run-time error has its own). */
struct explore_violation {
	uint64_t histories; /* that violate it */
	/* With classify: the violating histories that satisfy each level. */
	uint64_t per_level[LEVEL_COUNT];
	struct history *example;       /* the first; owned by the explorer */
	const struct finding *finding; /* what failed there; NULL for
	                                * serializable; the explorer's */
	struct branch *where;          /* the example's place; NULL if there
	                                * is none */
	uint64_t from;                 /* of an engine: number of the branch
	                                * whose first example was seen last;
	                                * 0: none */
};

/* One complete history, as a callback sees it; valid during the call. */
struct explore_execution {
	const struct explorer *explorer;
	struct engine *engine; /* whose state it is (engine.h) */
	uint32_t worker;       /* which thread calls: from 0 to jobs - 1 */
	const struct branch *branch; /* the branch being explored: what a
	                              * worker outputs of one branch comes in
	                              * depth-first order, and no other worker
	                              * outputs anything in between */
	uint64_t branch_number;      /* of that branch, among this worker's */
	uint64_t number;             /* from 1, in the order of calls */
	uint64_t changes;            /* EXPLORE_OUTWARD: changed reads */
	uint64_t weight;             /* histories that it stands for */
	uint64_t violated_count;
	const uint32_t *violated; /* slots, increasing; those of places are not
	                           * among them */
};

struct explore_observer {
	void *payload;
	/* A history was output. Return false to stop. With several jobs, it is
	 * called by several threads at a time. */
	bool (*history)(void *payload, const struct explore_execution *e);
	/* Called now and then, by the thread that called explorer_run (with
	 * one job at least every 4,096 explore calls, else ten times a
	 * second). Return false to stop. */
	bool (*tick)(void *payload, const struct explore_stats *so_far,
	             uint32_t depth);
	/* All threads pause: what was found, and what is left to explore; not
	 * called where that is too large. Return false to stop. Called by the
	 * thread that called explorer_run. */
	bool (*snapshot)(void *payload, const struct tally *so_far,
	                 const struct branch_list *open);
};

#endif
