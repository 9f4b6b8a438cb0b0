#include "execution/context.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/footprint.h"
#include "base/memory.h"
#include "vm/program.h"

bool context_too_many(const struct program *p)
{
	uint64_t sum = 1;
	for (uint32_t i = 0; i < program_session_count(p); i++)
		sum += program_session_bound(p, i);
	return sum > TRANSACTIONS_MAX;
}

/* How many transactions there will be, init included: a few where there is no
 * bound. */
static uint32_t expected(const struct program *p)
{
	enum { FEW = 4 };
	uint64_t sum = 1;
	for (uint32_t i = 0; i < program_session_count(p); i++) {
		uint32_t bound = program_session_bound(p, i);
		sum += bound ? bound : FEW;
	}
	return sum > TRANSACTIONS_MAX ? 1 : (uint32_t)sum;
}

static void start_session(struct context *c, uint32_t session)
{
	struct session_run run;
	struct request r;
	session_run_start(&run, &c->memo, session);
	session_run_step(&run, &r);
	assert(r.kind == REQUEST_BEGIN || r.kind == REQUEST_DONE);
	c->start[session] =
		(struct session_point){ .state = session_run_state(&run),
		                        .ended = r.kind == REQUEST_DONE,
		                        .name = r.name };
}

/* What sessions did is kept in this many bytes, or in a small part of what the
 * whole may take. */
static size_t memo_budget(const struct machine_limits *limits)
{
	enum { MOST = 32 << 20, PART = 4 };
	uint64_t part = limits->memory / PART;
	return limits->memory && part < MOST ? (size_t)part : MOST;
}

void context_init(struct context *c, const struct program *p, uint64_t *reached,
                  const struct machine_limits *limits)
{
	memset(c, 0, sizeof *c);
	c->program = p;
	region_init(&c->region);
	c->machine = (struct machine){ .program = p,
		                       .keys = keys_new(p),
		                       .region = &c->region,
		                       .reached = reached };
	machine_take_guest(&c->machine, limits);
	session_memo_init(&c->memo, &c->machine, memo_budget(limits));
	c->sessions = program_session_count(p);
	c->has_finally = program_has_finally(p);
	c->start = mem_take0(c->sessions, sizeof *c->start);
	ledger_shared_init(&c->ledgers, &c->region);
	c->ledgers.numbers.expect = expected(p);
	for (uint32_t i = 0; i < c->sessions; i++) start_session(c, i);
}

void context_free(struct context *c)
{
	machine_give_guest(&c->machine);
	session_memo_free(&c->memo);
	footprints_free(c->footprints);
	keys_free(c->machine.keys);
	ledger_shared_free(&c->ledgers);
	region_free(&c->region);
	free(c->start);
}

/* ---- Looking ahead ---- */

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

/* Runs the session's transaction to its first read of another one's write, or
 * its end. What writes too much for a look is said to read. */
static bool reads_others(struct context *c, const struct machine_state *begun)
{
	struct session_run run;
	struct written written;
	written.count = 0;
	session_run_resume(&run, &c->memo, begun);
	while (!c->machine.stop && written.count < LOOK_WRITES) {
		struct request r;
		const struct value *own;
		session_run_step(&run, &r);
		switch (r.kind) {
		case REQUEST_WRITE:
			written.keys[written.count] = r.key;
			written.values[written.count++] = r.value;
			break;
		case REQUEST_READ:
			own = own_write(&written, r.key);
			if (!own) return true;
			session_run_answer(&run, *own);
			break;
		case REQUEST_GIVE_UP: break;
		default: return false;
		}
	}
	return true;
}

void context_look(struct context *c, struct session_point *p)
{
	if (!c->looks_ahead || p->ended) return;
	struct region_mark mark = region_mark(&c->region);
	p->readless = !reads_others(c, p->state);
	region_release(&c->region, mark);
}

void context_look_ahead(struct context *c)
{
	c->looks_ahead = true;
	c->footprints = footprints_new(c->program, c->machine.keys);
	for (uint32_t i = 0; i < c->sessions; i++)
		context_look(c, &c->start[i]);
}
