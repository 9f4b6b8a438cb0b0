#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "dpor/state.h"
#include "analyse/footprint.h"
#include "vm/program.h"

/* Numbers for the transactions of every session: the static bound where there
 * is one, else `room`. */
static void number_transactions(struct world *w, const struct program *p,
                                uint64_t room)
{
	uint64_t next = 1;
	for (uint32_t i = 0; i < w->sessions; i++) {
		uint32_t bound = program_session_bound(p, i);
		w->first_id[i] = (uint32_t)next;
		next += bound ? bound : room;
		if (next > TRANSACTIONS_MAX) next = TRANSACTIONS_MAX + 1;
	}
	w->first_id[w->sessions] = (uint32_t)next;
	w->n = (uint32_t)next;
}

/* Native sessions have no bound, and mostly few transactions; many of them
 * shall not take all numbers there are. */
uint64_t world_first_room(const struct program *p)
{
	enum { ROOM = 32, NATIVE_ROOM = 4 };
	uint64_t room = program_is_native(p) ? NATIVE_ROOM : ROOM;
	while (room > 1 &&
	       room * program_session_count(p) >= TRANSACTIONS_MAX / 2)
		room /= 2;
	return room;
}

uint64_t world_more_room(const struct program *p, uint64_t room)
{
	uint64_t unbounded = 0, left = TRANSACTIONS_MAX - 1;
	for (uint32_t i = 0; i < program_session_count(p); i++) {
		uint32_t bound = program_session_bound(p, i);
		left -= bound < left ? bound : left;
		unbounded += !bound;
	}
	uint64_t most = unbounded ? left / unbounded : 0;
	if (room >= most) return 0;
	return 2 * room < most ? 2 * room : most;
}

static void start_session(struct world *w, uint32_t session)
{
	struct machine_state *live = region_take0(&w->region, w->state_size);
	struct request r;
	machine_start(w->program, session, live);
	machine_step(&w->machine, live, &r);
	assert(r.kind == REQUEST_BEGIN || r.kind == REQUEST_DONE);
	w->start[session] = (struct session_point){
		.state = live, .ended = r.kind == REQUEST_DONE, .name = r.name
	};
}

void world_init(struct world *w, const struct program *p, uint64_t room,
                uint64_t *reached, const struct machine_limits *limits)
{
	memset(w, 0, sizeof *w);
	w->program = p;
	region_init(&w->region);
	w->machine = (struct machine){ .program = p,
		                       .keys = keys_new(p),
		                       .region = &w->region,
		                       .reached = reached };
	machine_take_guest(&w->machine, limits);
	w->state_size = machine_state_size(p);
	w->sessions = program_session_count(p);
	w->has_finally = program_has_finally(p);
	w->first_id = mem_take0(w->sessions + 1, sizeof *w->first_id);
	w->start = mem_take0(w->sessions, sizeof *w->start);
	number_transactions(w, p, room);
	for (uint32_t i = 0; i < w->sessions; i++) start_session(w, i);
}

void world_free(struct world *w)
{
	machine_give_guest(&w->machine);
	footprints_free(w->footprints);
	keys_free(w->machine.keys);
	region_free(&w->region);
	free(w->first_id);
	free(w->start);
}

/* What a transaction has written so far, newest last. */
enum { LOOK_WRITES = 64 };
struct written {
	uint32_t count, keys[LOOK_WRITES];
	struct value values[LOOK_WRITES];
};

static const struct value *own_write(const struct written *w, uint32_t key)
{
	for (uint32_t i = w->count; i-- > 0;)
		if (w->keys[i] == key) return &w->values[i];
	return NULL;
}

/* Runs the transaction of a copy of the session to its first read of another
 * one's write, or its end. What writes too much for a look is said to read. */
static bool reads_others(struct world *w, struct machine_state *live)
{
	struct written written = { 0 };
	while (!w->machine.stop && written.count < LOOK_WRITES) {
		struct request r;
		const struct value *own;
		machine_step(&w->machine, live, &r);
		switch (r.kind) {
		case REQUEST_WRITE:
			written.keys[written.count] = r.key;
			written.values[written.count++] = r.value;
			break;
		case REQUEST_READ:
			own = own_write(&written, r.key);
			if (!own) return true;
			machine_answer(w->program, live, *own);
			break;
		default: return false;
		}
	}
	return true;
}

void world_look(struct world *w, struct session_point *p)
{
	if (!w->looks_ahead || p->ended) return;
	struct region_mark mark = region_mark(&w->region);
	struct machine_state *copy = region_take(&w->region, w->state_size);
	memcpy(copy, p->state, w->state_size);
	p->readless = !reads_others(w, copy);
	region_release(&w->region, mark);
}

void world_look_ahead(struct world *w)
{
	w->looks_ahead = true;
	w->footprints = footprints_new(w->program, w->machine.keys);
	for (uint32_t i = 0; i < w->sessions; i++) world_look(w, &w->start[i]);
}
