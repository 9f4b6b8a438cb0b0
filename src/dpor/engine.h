/* The explorer's insides, shared by the files of this folder. */
#ifndef ISO_DPOR_ENGINE_H
#define ISO_DPOR_ENGINE_H


#include "dpor/explorer.h"
#include "dpor/hash_set.h"
#include "dpor/outward.h"
#include "dpor/state.h"
#include "dpor/swap.h"

enum frame_kind {
	FRAME_READ,    /* the writers of an external read */
	FRAME_SWAPS,   /* the swaps after a commit */
	FRAME_SESSIONS /* the sessions that can go on: not EXPLORE_CE */
};

/* A choice that is open. Everything allocated in the region after `mark`
 * belongs to what is explored under it. */
struct frame {
	enum frame_kind kind;
	uint32_t state;         /* index into explorer.states */
	uint32_t count;         /* transactions of that state */
	uint32_t reads;
	struct region_mark mark;
	uint32_t cursor;        /* next writer, swap or session to try */
	/* FRAME_READ */
	struct request request;
	const struct machine_state *waiting;
	const word *valid;      /* the writers to try */
	struct pending pending;
	/* FRAME_SWAPS */
	struct swap_list swaps;
};

struct explorer {
	const struct program *program;
	struct explore_options options;
	struct explore_observer observer;
	struct explore_stats stats;
	struct world world;
	struct state **states;  /* by nesting of swaps */
	uint32_t state_count;
	uint32_t current;       /* index of the state that is explored */
	struct frame *frames;
	size_t frame_count, frame_capacity;
	uint64_t *reached;      /* bit set of reach points */
	uint32_t reach_count;
	struct level_scratch *scratch;
	struct explore_violation *violations; /* by slot */
	struct region findings; /* copies of findings of the examples */
	uint32_t *violated;     /* slots, of the current execution */
	uint32_t violated_count;
	struct hash_set seen;
	struct outward outward; /* of EXPLORE_OUTWARD */
	bool checks_serializable;
	uint64_t skip;          /* end states already treated before a restart
	                         * with more room for transactions */
	uint64_t room;          /* numbers given to a session without bound */
	bool must_grow;
	word *prefix_writers;   /* filter.c: writers among a prefix of < */
	size_t prefix_capacity; /* words of it */
	double wall_start, cpu_start; /* in seconds */
	uint64_t asked;         /* machine_guest_asked() at the last look */
	uint64_t next_tick;     /* world.steps at which limits are looked at */
};

/* output.c: the current state is a complete execution. False to stop. */
bool engine_output(struct explorer *e);
/* filter.c: does the current, complete history satisfy the level? */
bool engine_passes_filter(struct explorer *e);
/* limits.c */
void engine_start_clock(struct explorer *e);
/* Updates times and memory in the statistics. */
void engine_measure(struct explorer *e);
/* Looks at the limits; false (and stats.stop set) when one is hit. */
bool engine_tick(struct explorer *e);

static inline struct state *engine_state(struct explorer *e)
{
	return e->states[e->current];
}

#endif
