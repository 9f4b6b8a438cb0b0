/* Orders of a program's statements, depth first: what a session sends is a
 * move, and a path of moves is run from its beginning each time, since a server
 * does not go back.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "confirm/expected.h"
#include "confirm/inside.h"

struct moves {
	struct plan_item *items;
	uint32_t count, capacity;
};

struct orders {
	struct attempt *attempt;
	struct moves *moves; /* by session */
	uint32_t *sent;      /* by session: of these */
	/* By depth: who moves, and which sessions with a greater number can. */
	uint32_t *path;
	uint64_t *others;
	uint32_t fixed, depth, length;
};

static void add(struct moves *m, enum plan_kind kind, uint32_t session,
                uint32_t unit, uint32_t last)
{
	VEC_RESERVE(m->items, m->count, m->capacity);
	m->items[m->count++] = (struct plan_item){ kind, session, unit, last };
}

/* From an added BEGIN on: the last unit before its COMMIT. */
static uint32_t end_of_added(const struct script_session *s, uint32_t begin)
{
	uint32_t u = begin + 1;
	while (u < s->count && !s->units[u].added) u++;
	return u - 1;
}

/* A statement that is all of its transaction may be done long before that is.
 * BEGIN does nothing by itself, so it is one move with what follows. */
static void find_moves(const struct script *s, uint32_t session,
                       struct moves *m)
{
	const struct script_session *x = &s->sessions[session];
	for (uint32_t u = 0; u < x->count; u++) {
		const struct script_unit *y = &x->units[u];
		if (y->added && y->kind == SCRIPT_BEGIN) {
			uint32_t last = end_of_added(x, u);
			add(m, PLAN_WHOLE, session, u + 1, last);
			u = last + 1;
			continue;
		}
		if (y->alone) add(m, PLAN_BEGIN, session, u, u);
		add(m, PLAN_UNIT, session, u, u);
		if (y->alone)
			add(m, PLAN_COMMIT, session, u, u);
		else if (u + 1 == x->count ? y->kind != SCRIPT_END
		                           : x->units[u + 1].transaction !=
		                                             y->transaction &&
		                                     y->kind != SCRIPT_END)
			add(m, PLAN_ROLLBACK, session, u, u);
	}
}

static bool is_begin(const struct orders *o, const struct plan_item *i)
{
	const struct script *s = &o->attempt->confirmer->script;
	return i->kind == PLAN_BEGIN ||
	       (i->kind == PLAN_UNIT &&
	        s->sessions[i->session].units[i->unit].kind == SCRIPT_BEGIN);
}

/* Steps whose statements were all sent and have ended: did they return what is
 * expected? */
static bool is_as_expected(const struct orders *o)
{
	const struct attempt *a = o->attempt;
	const struct script *s = &a->confirmer->script;
	for (uint32_t i = 0; i < s->spec.session_count; i++) {
		const struct moves *m = &o->moves[i];
		uint32_t until = s->spec.sessions[i].step_count;
		if (a->confirmer->stock->sessions[i].waits) continue;
		if (o->sent[i] < m->count)
			until = s->sessions[i]
			                .units[m->items[o->sent[i]].unit]
			                .step;
		for (uint32_t k = 0; until != SCRIPT_SETUP && k < until; k++)
			if (strcmp(a->expected.steps[i][k],
			           a->found.steps[i][k]))
				return false;
	}
	return true;
}

static uint64_t movable(const struct orders *o)
{
	const struct stock *s = o->attempt->confirmer->stock;
	uint64_t set = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (o->sent[i] < o->moves[i].count && !s->sessions[i].waits)
			set |= 1ull << i;
	return set;
}

static bool move(struct orders *o, uint32_t session)
{
	const struct moves *m = &o->moves[session];
	const struct plan_item *i;
	do {
		i = &m->items[o->sent[session]++];
		if (!attempt_send(o->attempt, i)) return false;
	} while (is_begin(o, i) && o->sent[session] < m->count);
	return is_as_expected(o);
}

/* The path as far as it is fixed, and then whoever is first. */
static bool run_path(struct orders *o)
{
	struct attempt *a = o->attempt;
	uint32_t n = a->confirmer->script.spec.session_count;
	uint64_t can;
	memset(o->sent, 0, n * sizeof *o->sent);
	if (!attempt_begin(a)) return false;
	for (o->depth = 0; (can = movable(o)); o->depth++) {
		uint32_t *who = &o->path[o->depth];
		assert(o->depth < o->length);
		if (o->depth >= o->fixed) *who = (uint32_t)__builtin_ctzll(can);
		o->others[o->depth] = can & ~((2ull << *who) - 1);
		if (!(can >> *who & 1) || !move(o, *who)) {
			o->depth++;
			return false;
		}
	}
	attempt_end(a);
	return a->out->answer == CONFIRM_YES;
}

/* The next one that does not begin like that; false: there is none. */
static bool next_path(struct orders *o)
{
	while (o->depth > 0) {
		uint32_t d = --o->depth;
		if (!o->others[d]) continue;
		o->path[d] = (uint32_t)__builtin_ctzll(o->others[d]);
		o->fixed = d + 1;
		return true;
	}
	return false;
}

static void begin(struct orders *o, struct attempt *a)
{
	const struct script *s = &a->confirmer->script;
	uint32_t n = s->spec.session_count;
	*o = (struct orders){ .attempt = a };
	o->moves = mem_take0(n + (size_t)1, sizeof *o->moves);
	o->sent = mem_take0(n + (size_t)1, sizeof *o->sent);
	for (uint32_t i = 0; i < n; i++) {
		find_moves(s, i, &o->moves[i]);
		o->length += o->moves[i].count;
	}
	o->path = mem_take0(o->length + (size_t)1, sizeof *o->path);
	o->others = mem_take0(o->length + (size_t)1, sizeof *o->others);
}

static void end(struct orders *o)
{
	uint32_t n = o->attempt->confirmer->script.spec.session_count;
	for (uint32_t i = 0; i < n; i++) free(o->moves[i].items);
	free(o->moves);
	free(o->sent);
	free(o->path);
	free(o->others);
}

bool orders_try(struct attempt *a, uint32_t *count, bool *all)
{
	struct orders o;
	bool found = false;
	begin(&o, a);
	*all = false;
	*count = 0;
	while (*count < a->confirmer->orders && !found && !*all) {
		++*count;
		found = run_path(&o);
		if (a->out->answer == CONFIRM_NOT_TRIED) break;
		*all = !found && !next_path(&o);
	}
	end(&o);
	return found;
}
