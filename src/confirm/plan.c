/* From a schedule of points to statements, one after the other. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "confirm/inside.h"
#include "history/history.h"

struct planning {
	const struct script *script;
	const struct script_map *map;
	const struct history *history;
	const struct schedule *schedule;
	struct plan *plan;
	uint32_t *next;    /* by session: unit */
	uint32_t *wrapped; /* by session: the unit behind a BEGIN */
};

static void put(struct planning *x, enum plan_kind kind, uint32_t session,
                uint32_t unit)
{
	struct plan *p = x->plan;
	VEC_RESERVE(p->items, p->count, p->capacity);
	p->items[p->count++] = (struct plan_item){ kind, session, unit, unit };
}

static uint32_t session_of(const struct planning *x, uint32_t transaction)
{
	return x->history->transactions[transaction].session;
}

/* Does another session do something between this moment and the one where the
 * transaction ends? */
static bool is_interrupted(const struct planning *x, size_t moment, uint32_t t)
{
	const struct schedule *s = x->schedule;
	for (size_t i = moment + 1; i < s->count; i++) {
		struct schedule_moment m = s->items[i];
		if (m.transaction == t && m.statement == SCHEDULE_ENDS)
			return false;
		if (x->map->transactions[m.transaction] != SCRIPT_NONE &&
		    session_of(x, m.transaction) != session_of(x, t))
			return true;
	}
	return false;
}

/* All of the session up to this unit. */
static void send_to(struct planning *x, uint32_t session, uint32_t unit,
                    bool wrap)
{
	const struct script_session *s = &x->script->sessions[session];
	assert(unit < s->count);
	for (; x->next[session] <= unit; x->next[session]++) {
		uint32_t u = x->next[session];
		bool wraps = wrap && u == unit && s->units[u].alone;
		if (wraps) put(x, PLAN_BEGIN, session, u);
		put(x, PLAN_UNIT, session, u);
		if (wraps) x->wrapped[session] = u;
	}
}

static uint32_t last_unit(const struct script_session *s, uint32_t transaction)
{
	uint32_t last = SCRIPT_NONE;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->units[i].transaction == transaction) last = i;
	assert(last != SCRIPT_NONE);
	return last;
}

static void end(struct planning *x, uint32_t session, uint32_t transaction)
{
	const struct script_session *s = &x->script->sessions[session];
	uint32_t last = last_unit(s, transaction);
	send_to(x, session, last, false);
	if (x->wrapped[session] == last) {
		put(x, PLAN_COMMIT, session, last);
		x->wrapped[session] = SCRIPT_NONE;
	} else if (!s->units[last].alone && s->units[last].kind != SCRIPT_END) {
		put(x, PLAN_ROLLBACK, session, last);
	}
}

/* At si nothing else is asked for where a transaction begins: what it reads it
 * can read later, and its locks it is to have late. */
static void take_snapshot(struct planning *x, uint32_t session,
                          uint32_t transaction)
{
	const struct script_session *s = &x->script->sessions[session];
	uint32_t first = x->next[session];
	while (first < s->count && (s->units[first].transaction < transaction ||
	                            s->units[first].kind != SCRIPT_PLAIN))
		first++;
	if (first == s->count || s->units[first].transaction != transaction)
		return;
	if (first > x->next[session]) send_to(x, session, first - 1, false);
	if (s->units[first].alone) {
		put(x, PLAN_BEGIN, session, first);
		x->wrapped[session] = first;
	}
	put(x, PLAN_SNAPSHOT, session, first);
}

/* The ROLLBACK TO by which the transaction last gives up locks. */
static uint32_t last_giving_up(const struct planning *x, uint32_t t)
{
	const struct transaction *y = &x->history->transactions[t];
	uint32_t j = 0, last = SCRIPT_NONE;
	for (uint32_t i = 0; i < y->event_count; i++) {
		j += !y->events[i].joined;
		if (event_gives_up(&y->events[i]) && j <= x->map->counts[t])
			last = x->map->units[t][j - 1];
	}
	return last;
}

/* Locks that are given up are none to the others at si: so they come and go
 * before anyone else asks for them. */
static void take_beginning(struct planning *x, uint32_t session, uint32_t t)
{
	uint32_t until = last_giving_up(x, t);
	take_snapshot(x, session, x->map->transactions[t]);
	if (until != SCRIPT_NONE && until >= x->next[session])
		send_to(x, session, until, false);
}

static void take_moment(struct planning *x, size_t i)
{
	struct schedule_moment m = x->schedule->items[i];
	uint32_t t = m.transaction, session = session_of(x, t);
	uint32_t transaction = x->map->transactions[t], unit;
	if (transaction == SCRIPT_NONE) return;
	if (m.statement == SCHEDULE_ENDS) {
		end(x, session, transaction);
		return;
	}
	if (m.statement == SCHEDULE_BEGINS) {
		if (is_interrupted(x, i, t)) take_beginning(x, session, t);
		return;
	}
	uint32_t j = m.statement - 1;
	if (j >= x->map->counts[t]) return; /* it has no statements */
	unit = x->map->units[t][j];
	/* Else a function goes on, or is not to yet. */
	if (unit < x->next[session]) return;
	send_to(x, session, unit, is_interrupted(x, i, t));
}

/* From an added BEGIN to its COMMIT, with nothing of other sessions in between:
 * it is sent as it stands, without them. */
static uint32_t length_of_whole(const struct script *s, const struct plan *p,
                                uint32_t from)
{
	const struct plan_item *first = &p->items[from];
	for (uint32_t i = from; i < p->count; i++) {
		const struct plan_item *x = &p->items[i];
		const struct script_unit *u =
			&s->sessions[x->session].units[x->unit];
		if (x->kind != PLAN_UNIT || x->session != first->session ||
		    (i == from && (!u->added || u->kind != SCRIPT_BEGIN)))
			return 0;
		if (i > from && u->added) return i - from + 1;
	}
	return 0;
}

static void join_wholes(const struct script *s, struct plan *p)
{
	uint32_t to = 0, n;
	for (uint32_t i = 0; i < p->count; i += n) {
		n = length_of_whole(s, p, i);
		p->items[to] = p->items[i];
		if (n) {
			p->items[to].kind = PLAN_WHOLE;
			p->items[to].unit = p->items[i + 1].unit;
			p->items[to].last = p->items[i + n - 2].unit;
		} else {
			n = 1;
			p->added |= p->items[i].kind == PLAN_UNIT &&
			            s->sessions[p->items[i].session]
			                    .units[p->items[i].unit]
			                    .added;
		}
		to++;
	}
	p->count = to;
}

void plan_make(const struct script *s, const struct script_map *m,
               const struct history *h, const struct schedule *schedule,
               struct plan *out)
{
	uint32_t n = s->spec.session_count;
	struct planning x = { .script = s,
		              .map = m,
		              .history = h,
		              .schedule = schedule,
		              .plan = out };
	*out = (struct plan){ 0 };
	x.next = mem_take0(2 * (size_t)n + 1, sizeof *x.next);
	x.wrapped = x.next + n;
	for (uint32_t i = 0; i < n; i++) x.wrapped[i] = SCRIPT_NONE;
	for (size_t i = 0; i < schedule->count; i++) take_moment(&x, i);
	for (uint32_t i = 0; i < n; i++)
		if (s->sessions[i].count > x.next[i])
			send_to(&x, i, s->sessions[i].count - 1, false);
	free(x.next);
	join_wholes(s, out);
}

void plan_free(struct plan *p)
{
	free(p->items);
	*p = (struct plan){ 0 };
}
