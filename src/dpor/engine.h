/* The insides of an exploration, shared by the files of this folder.
 *
 * An engine explores branches, one after the other, in one thread: a stack of
 * open choices over states (search.c). An explorer has as many engines as
 * threads, and adds up what they find (explorer.c, pool.c).
 */
#ifndef ISO_DPOR_ENGINE_H
#define ISO_DPOR_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash_set.h"
#include "dpor/algorithm_state.h"
#include "dpor/explore.h"
#include "dpor/state.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"

struct algorithm;
struct pool;

enum replay {
	REPLAYED,
	REPLAY_NOTHING,    /* a swap that violates the level, or a session that
	                    * may not come next: nothing is there */
	REPLAY_IMPOSSIBLE, /* the program cannot do that */
	REPLAY_STOPPED     /* by a limit; or native code was interrupted, or is
	                    * at fault */
};

enum frame_kind {
	FRAME_READ,    /* the writers of an external read */
	FRAME_SWAPS,   /* the swaps after a commit */
	FRAME_SESSIONS /* the sessions that can go on: not EXPLORE_CE */
};

/* A choice that is open: alternatives from `cursor` to before `end` are left.
 * Everything allocated in the region after `mark` belongs to what is explored
 * under it. */
struct frame {
	enum frame_kind kind;
	uint32_t state;        /* index into engine.states */
	struct ledger_mark at; /* of that state */
	struct region_mark mark;
	uint32_t choice; /* number of the alternative being explored */
	/* Writers, reads to swap, or sessions, in the order in which they are
	 * tried; which is the next one; those from `end` on were given away. */
	const uint32_t *items;
	uint32_t cursor, end;
	/* FRAME_READ */
	struct request request;
	const struct machine_state *waiting;
	const word *valid; /* the writers, as a row */
};

enum {
	CACHE_LINE = 64,
	CAPTURE_MOST = 256 << 20,
	TOIL_MOST = 1 << 16 /* reads and keys: some milliseconds */
};

/* What the engines of an exploration share; they change the atomics only. */
struct shared {
	const struct program *program;
	struct explore_options options;
	const struct algorithm *algorithm;
	struct explore_observer observer;
	const struct explorer *explorer;
	bool checks_serializable;
	double wall_start;    /* in seconds_now() */
	struct hash_set seen; /* of check_duplicates; under seen_lock */
	pthread_mutex_t seen_lock;
	uint64_t memory_limit; /* bytes held by all engines */
	bool numbers;          /* histories, since somebody wants to know */
	/* What is read at each step has a cache line apart from what is
	 * written now and then. */
	char apart[CACHE_LINE];
	atomic_int stop;   /* enum stop_reason: all are to end */
	atomic_uint idle;  /* threads that want a branch */
	atomic_bool pause; /* a snapshot is wanted */
	char apart_too[CACHE_LINE];
	_Atomic uint32_t violated; /* levels with a violation (classify), a bit
	                            * each */
	_Atomic uint64_t output;   /* executions output, by all (numbers) */
	_Atomic uint64_t memory;   /* bytes held by all, and the most so far */
	_Atomic uint64_t memory_peak;
};

struct engine {
	struct shared *shared;
	const struct program *program;     /* shared->program */
	struct explore_options options;    /* a copy */
	const struct algorithm *algorithm; /* shared->algorithm */
	struct pool *pool;                 /* NULL: alone */
	/* Of the pool: at ticks, false if all are to stop; and a branch of this
	 * engine for an idle thread, if there is one to give. */
	bool (*visit)(struct pool *p, struct engine *e);
	void (*feed)(struct pool *p, struct engine *e);
	uint32_t worker;
	struct context context;
	struct state **states; /* by nesting of swaps */
	uint32_t state_count;
	uint32_t current; /* index of the state that is explored */
	struct frame *frames;
	size_t frame_count, frame_capacity;
	struct branch *branch; /* being explored; NULL: none */
	uint64_t branches;     /* how many were begun so far */
	bool unopened;         /* it was not yet replayed to its end */
	bool at_end;           /* the current state is dealt with */
	bool ends_again; /* its last transaction is to end once more: all had
	                  * to stop before what follows was known */
	struct region_mark start; /* of the region, with no state */
	bool impossible;          /* a branch was none of this program */
	struct tally tally;
	/* Slots, of the current execution, or of others that it stands for
	 * (those come last), and by how many histories. */
	uint32_t *violated;
	uint64_t *violated_by;
	uint32_t violated_count, violated_capacity, violated_itself;
	uint64_t weight;             /* of the current execution */
	const struct finding *error; /* of it: the first run-time error */
	bool endless;         /* some such error would have gone on and on */
	struct region errors; /* holds it, behind no_errors */
	struct region_mark no_errors;
	uint64_t until;         /* stop after so many end states; 0: never */
	struct outward outward; /* of EXPLORE_OUTWARD */
	struct orderly orderly; /* of EXPLORE_ORDERLY */
	struct first_reads first_reads; /* of these two */
	struct canonical_order order;   /* likewise */
	word *prefix_writers;     /* filter.c: writers among a prefix of < */
	size_t prefix_capacity;   /* words of it */
	double cpu_start;         /* in seconds, of this thread's clock */
	double cpu_before;        /* seconds in other threads */
	double yield_at;          /* puts the branch down then; 0: never */
	bool yields;              /* it is time to */
	uint64_t uncounted;       /* context.steps that are not explore calls
	                           * of this engine, modulo 2^64 */
	uint64_t memory_reported; /* bytes of this engine in shared->memory */
	uint64_t memory_peak;
	uint64_t asked;      /* machine_guest_asked() at the last look */
	uint64_t next_tick;  /* context.steps at which limits are looked at */
	uint64_t tick_steps; /* from one look to the next */
	uint64_t toil;       /* engine_toil() since the last look */
	double ticked;       /* seconds_now() of the last look; 0: none */
};

/* shared.c: the program is borrowed, the rest is copied. */
void shared_init(struct shared *s, const struct program *p,
                 const struct explore_options *o,
                 const struct explore_observer *observer,
                 const struct explorer *explorer);
void shared_free(struct shared *s);

/* engine.c: of one thread. `shared` is borrowed. */
void engine_init(struct engine *e, struct shared *shared, uint32_t worker);
void engine_free(struct engine *e);
struct state *engine_nested_state(struct engine *e, uint32_t index);

/* work/explore_branch.c: explores the branch, which is taken over, to its end
 * or until something stops it (shared->stop); then engine_capture() tells what
 * is left of it. */
void engine_explore(struct engine *e, struct branch *b);
/* Explores the branch, which is borrowed, up to its first choice, and adds the
 * alternatives to `out`, first in depth-first order first; swaps that violate
 * the level are left out, and counted. Where no choice comes, the end is dealt
 * with as always (engine_output), and nothing is added. If something stops it,
 * what is left is added. */
void engine_expand(struct engine *e, const struct branch *b,
                   struct branch_list *out);
/* Nothing more will be explored: runs native code once more, and adds up. */
void engine_finish(struct engine *e);

/* work/branch_to_state.c: makes state 0 that of the branch, with no choice
 * open. */
enum replay engine_replay(struct engine *e, const struct branch *b);

/* work/branch_from_stack.c */
/* Takes the last alternative of the outermost open choice away; NULL if there
 * is none. */
struct branch *engine_give(struct engine *e);
/* Does what is left of the branch being explored take no more than CAPTURE_MOST
 * bytes? Each alternative is a script of its own; with a thousand transactions
 * and more that adds up. */
bool engine_can_capture(const struct engine *e);
/* All that is left of the branch being explored, depth first. The engine can
 * go on nevertheless. */
void engine_capture(const struct engine *e, struct branch_list *out);
/* Where the engine is. */
struct branch *engine_here(const struct engine *e, enum branch_kind kind);

/* history_output.c: the current state is a complete execution. False to stop.
 */
bool engine_output(struct engine *e);
/* filter.c: does the current, complete history satisfy the level? */
bool engine_passes_filter(struct engine *e);
/* limits.c */
void engine_start_clock(struct engine *e);
/* Updates times and memory in the statistics. */
void engine_measure(struct engine *e);
/* Looks at the limits; false when one is hit, by any engine: all stop. */
bool engine_may_go_on(struct engine *e);
/* The same, and others are given what they wait for. */
bool engine_tick(struct engine *e);
/* The current state is about to be copied, once more in the same step. The same
 * as engine_may_go_on(), now and then. */
bool engine_toil(struct engine *e);
/* All engines are to stop for this reason, unless they do for another one
 * already. Always false. */
bool engine_stop(struct engine *e, enum stop_reason why);

/* Does an execution stand for others as well? */
static inline bool engine_is_symmetric(const struct engine *e)
{
	return !e->orderly.trivial;
}

static inline struct state *engine_state(const struct engine *e)
{
	return e->states[e->current];
}
static inline struct ledger *engine_ledger(const struct engine *e)
{
	return &engine_state(e)->execution.ledger;
}
static inline const struct closure *engine_closure(const struct engine *e)
{
	return &engine_ledger(e)->closure;
}

#endif
