#include "execution/execution.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/program.h"

void execution_init(struct execution *x, struct context *c, enum level level)
{
	assert(c->program && level < LEVEL_COUNT);
	*x = (struct execution){ .context = c };
	ledger_init(&x->ledger, level, c->sessions, &c->ledgers);
	x->ledger.uniform = c->uniform;
	if (!c->uniform && program_may_mix(c->program))
		ledger_may_mix(&x->ledger);
	if (program_is_ssi(c->program)) ledger_be_ssi(&x->ledger);
	if (program_locks(c->program)) ledger_may_lock(&x->ledger);
	if (program_gives_up(c->program)) ledger_may_give_up(&x->ledger);
	x->points = mem_take0(c->sessions, sizeof *x->points);
	memcpy(x->points, c->start, c->sessions * sizeof *x->points);
}

void execution_free(struct execution *x)
{
	ledger_free(&x->ledger);
	free(x->points);
}

size_t execution_bytes(const struct execution *x)
{
	return ledger_bytes(&x->ledger);
}

uint32_t execution_next_session(const struct execution *x, uint32_t from)
{
	const struct context *c = x->context;
	bool others_ended = true;
	for (uint32_t i = 0; i < c->sessions; i++) {
		if (x->points[i].ended) continue;
		if (i >= from && (!context_is_finally(c, i) || others_ended))
			return i;
		others_ended = false;
	}
	return UINT32_MAX;
}

bool execution_begin(struct execution *x, uint32_t session)
{
	struct context *c = x->context;
	assert(session < c->sessions && !x->points[session].ended);
	const struct session_point *p = &x->points[session];
	own_level own = program_transaction_level(c->program, p->name);
	if (!ledger_begin(&x->ledger, session, p->name, own,
	                  context_is_finally(c, session)))
		return false;
	session_run_resume(&x->live, &c->memo, p->state);
	c->steps++;
	return true;
}

/* The session's own code up to its next transaction. */
static const struct session_point *run_between(struct context *c,
                                               struct session_run *live)
{
	struct session_point *p = region_take(&c->region, sizeof *p);
	struct request r;
	session_run_step(live, &r);
	assert(r.kind == REQUEST_BEGIN || r.kind == REQUEST_DONE);
	*p = (struct session_point){ .state = session_run_state(live),
		                     .ended = r.kind == REQUEST_DONE,
		                     .name = r.name };
	context_look(c, p);
	return p;
}

static void end(struct execution *x, bool aborted)
{
	uint32_t session = x->ledger.pending.session;
	assert(session < x->context->sessions);
	const struct session_point *after = run_between(x->context, &x->live);
	ledger_end(&x->ledger, aborted, after);
	x->points[session] = *after;
	x->context->steps++;
}

enum advance execution_run(struct execution *x, struct request *r)
{
	struct context *c = x->context;
	struct ledger *l = &x->ledger;
	assert(l->pending.active);
	for (;;) {
		if (l->pending.event_count >= EVENTS_MAX) return ADVANCE_FULL;
		session_run_step(&x->live, r);
		if (c->machine.stop) return ADVANCE_FULL;
		switch (r->kind) {
		case REQUEST_READ:
			if (!ledger_own_write(l, r->key)) {
				if (r->key >= l->closure.key_count)
					closure_know_key(&l->closure, r->key);
				return ADVANCE_READ;
			}
			session_run_answer(
				&x->live,
				ledger_read_own(l, request_db_access(r)));
			c->steps++;
			break;
		case REQUEST_WRITE:
			ledger_write(l, request_db_access(r), r->value);
			c->steps++;
			break;
		case REQUEST_GIVE_UP:
			ledger_give_up(l, request_db_access(r));
			c->steps++;
			break;
		default:
			assert(r->kind == REQUEST_COMMIT ||
			       r->kind == REQUEST_ABORT);
			end(x, r->kind == REQUEST_ABORT);
			return ADVANCE_ENDED;
		}
	}
}

void execution_read(struct execution *x, const struct request *r,
                    uint32_t source, const struct machine_state *waiting)
{
	struct context *c = x->context;
	assert(x->ledger.pending.active && r->kind == REQUEST_READ);
	struct value value = source == HISTORY_INIT
	                             ? keys_initial(c->machine.keys, r->key)
	                             : ledger_value(&x->ledger, r->key, source);
	ledger_read(&x->ledger, request_db_access(r), source, value, waiting);
	session_run_answer(&x->live, value);
	c->steps++;
}

/* Those of the transactions from place `count` on stand where they stood before
 * them. */
static void put_back(struct execution *x, uint32_t count)
{
	const struct ledger *l = &x->ledger;
	for (uint32_t i = l->closure.count; i-- > count;) {
		const struct ledger_transaction *t =
			l->transactions[l->closure.order[i]];
		if (!t) continue;
		uint32_t before = t->index
		                          ? ledger_number(l->shared, t->session,
		                                          t->index - 1)
		                          : HISTORY_INIT;
		x->points[t->session] =
			t->index ? *l->transactions[before]->after
				 : x->context->start[t->session];
	}
}

void execution_keep(struct execution *x, uint32_t count)
{
	put_back(x, count);
	ledger_keep(&x->ledger, count);
}

void execution_rewind(struct execution *x, const struct ledger_mark *m)
{
	put_back(x, m->count - m->pending.active);
	ledger_rewind(&x->ledger, m);
}

void execution_place_sessions(struct execution *x)
{
	const struct context *c = x->context;
	const struct ledger *l = &x->ledger;
	memcpy(x->points, c->start, c->sessions * sizeof *x->points);
	for (uint32_t i = 1; i < l->closure.count; i++) {
		const struct ledger_transaction *t =
			l->transactions[l->closure.order[i]];
		x->points[t->session] = *t->after;
	}
}
