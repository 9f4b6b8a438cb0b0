/* One state of an exploration: a history h with at most one pending
 * transaction, the order < of its transactions, and the local states of the
 * sessions. (Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 5.)
 *
 * Because Next always finishes the pending transaction first, and Swap moves a
 * whole transaction to the end, < is an order of transactions: the rows of the
 * closure are indexed by fixed transaction numbers, < is closure.order.
 *
 * What a transaction did is a chain of immutable nodes in the region of the
 * exploration: states share them, and a prefix of a transaction is a pointer.
 */
#ifndef ISO_DPOR_STATE_H
#define ISO_DPOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "history/history.h"
#include "vm/machine.h"

/* One read or write. */
struct event_node {
	const struct event_node *before; /* in its transaction, or NULL */
	struct event event; /* from: transaction number, or HISTORY_SELF */
	/* External reads: the session's state, waiting for the value. */
	const struct machine_state *waiting;
};

struct written_key {
	uint32_t key;
	struct value value;
};

/* Where a session stands between two transactions. */
struct session_point {
	const struct machine_state *state; /* after the BEGIN request */
	bool ended;                        /* there is no next transaction */
	uint32_t name;                     /* of the next transaction */
	bool readless;                     /* which reads nothing of others;
	                                    * known if world.looks_ahead */
};

/* A transaction: immutable once it has ended. */
struct transaction_log {
	uint32_t session, index; /* place in session order */
	uint32_t name;
	bool aborted;
	uint32_t event_count;
	const struct event_node *last; /* newest event */
	uint32_t written_count;        /* 0 when aborted */
	const uint32_t *written;       /* distinct keys */
	const struct value *values;    /* last value of each */
	struct session_point after;
};

/* How a read relates to readLatest (paper, section 5.3). L is the set of
 * transactions after the read's source in < that write its key, precede the
 * reader causally, and were valid when the read was appended. */
enum latest {
	LATEST_YES,  /* the source precedes the reader causally; L is empty */
	LATEST_NO,   /* the source does not precede the reader causally */
	LATEST_MAYBE /* L is not empty: events after the read decide */
};

struct read_note {
	const struct event_node *node;
	enum latest latest;
	bool lonely; /* no writer at all in L, valid or not: YES for good */
};

/* The pending transaction while it runs. */
struct pending {
	bool active;
	uint32_t id;
	uint32_t session, index, name;
	const struct event_node *last;
	uint32_t event_count;
	struct machine_state *live;
};

struct state {
	struct closure closure;
	const struct transaction_log **logs; /* by transaction number */
	struct read_note *notes;             /* parallel to closure.reads */
	uint32_t note_capacity;
	struct pending pending;
	struct session_point *points; /* by session */
	uint32_t *done;               /* by session: how many ended */
	/* Newest write of the pending transaction by key; NULL elsewhere. */
	const struct event_node **own;
	uint32_t own_capacity;
	uint32_t *own_keys; /* keys with an entry in own */
	uint32_t own_count, own_keys_capacity;
	/* Of the filter (filter.c): the longest prefix of < that is known to
	 * satisfy the level, and the shortest known not to; counts of
	 * transactions, init included; good 1 and bad UINT32_MAX: unknown. */
	uint32_t good_prefix, bad_prefix;
};

/* What all states of an exploration share. */
struct world {
	const struct program *program;
	struct machine machine;
	struct region region; /* released in reverse order of taking */
	size_t state_size;
	uint32_t sessions;
	bool has_finally;
	uint32_t *first_id;            /* by session: number of its first
	                                * transaction; sessions + 1 entries */
	uint32_t n;                    /* transaction numbers, init included */
	struct session_point *start;   /* by session, before everything */
	uint64_t steps;                /* calls of explore */
	bool looks_ahead;              /* at session_point.readless */
	struct footprints *footprints; /* if it looks ahead */
};

/* A session without a static bound gets `room` numbers for its transactions.
 * world.n > TRANSACTIONS_MAX: too many of them, do not make states. `reached`
 * (see struct machine) is borrowed and may be NULL. */
void world_init(struct world *w, const struct program *p, uint64_t room,
                uint64_t *reached, const struct machine_limits *limits);
void world_free(struct world *w);
/* Is it the session `finally`, which begins when all others have ended? */
static inline bool world_is_finally(const struct world *w, uint32_t session)
{
	return w->has_finally && session + 1 == w->sessions;
}
/* From now on it is known of the next transactions whether they read, and what
 * they may read. */
void world_look_ahead(struct world *w);
/* Looks ahead from the point, if the world does. */
void world_look(struct world *w, struct session_point *p);

/* How much room to begin with. */
uint64_t world_first_room(const struct program *p);
/* How much to go on with if that was not enough; 0: there is no more. */
uint64_t world_more_room(const struct program *p, uint64_t room);

/* The outcome of running a state forward. */
enum advance {
	ADVANCE_READ,   /* an external read waits for its writer: read_key */
	ADVANCE_COMMIT, /* the pending transaction has just ended */
	ADVANCE_FULL    /* too many transactions, events or keys */
};

void state_init(struct state *s, struct world *w, enum level level);
void state_free(struct state *s);
size_t state_bytes(const struct state *s);

/* Next, between transactions: the first session in oracle order that has a
 * transaction left, or UINT32_MAX. */
uint32_t state_next_session(const struct state *s, const struct world *w,
                            uint32_t from);
/* Begins the next transaction of the session; false if there is no number
 * left for it. */
bool state_begin(struct state *s, struct world *w, uint32_t session);
/* Runs the pending transaction to its next external read, or to its end. */
enum advance state_run(struct state *s, struct world *w,
                       struct request *waiting);
/* The pending transaction's waiting read takes its value from `source`.
 * `valid` is the row of valid writers, or NULL to compute what is needed. */
void state_read(struct state *s, struct world *w, const struct request *r,
                const struct machine_state *waiting, uint32_t source,
                const word *valid);
/* The same for who never swaps: the read gets no note. */
void state_read_once(struct state *s, struct world *w, const struct request *r,
                     uint32_t source);
/* A copy of the pending session's state, in the region. */
struct machine_state *state_copy_live(struct world *w,
                                      const struct machine_state *live);

/* Back to the first `count` transactions, all ended. */
void state_rewind(struct state *s, const struct world *w, uint32_t count);
/* Back to the point where `pending` had just the given number of reads. */
void state_rewind_pending(struct state *s, const struct world *w,
                          uint32_t count, uint32_t reads,
                          const struct pending *pending);
/* `to` becomes h without D of the paper's Swap(h, <, r, t), without r itself:
 * r is read number `read` of `from`, t is the last transaction of `from`. The
 * reader of r is pending in `to`, all its events after and including r gone. */
void state_reduce(struct state *to, const struct state *from, struct world *w,
                  uint32_t read);

#endif
