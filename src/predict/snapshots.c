#include "predict/snapshots.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* The first variables of each kind; that of session s and transaction t is
 * number s * n + t among its kind. A session has one copy at most. */
struct snapshots {
	struct proposal *p;
	const struct observed_history *o;
	uint32_t sessions;
	int commits; /* t commits after the snapshot of the copy of s */
	int begins;  /* t begins after it */
	int before; /* by two sessions: the first one's is before the other's */
	int diverges;            /* by transaction: a copy of it is there */
	uint32_t *first, *later; /* by session, to work in */
	uint32_t later_count;
};

static int take_variables(struct snapshots *x, size_t count)
{
	int first = x->p->variables + 1;
	for (size_t i = 0; i < count; i++) proposal_variable(x->p);
	return first;
}

static int of_session(const struct snapshots *x, int kind, uint32_t s,
                      uint32_t t)
{
	assert(s < x->sessions && t < x->o->n);
	return kind + (int)(s * x->o->n + t);
}

/* If a and b, then c. */
static void both_imply(struct snapshots *x, int a, int b, int c)
{
	proposal_add(x->p, -a);
	proposal_add(x->p, -b);
	proposal_add(x->p, c);
	proposal_add(x->p, 0);
}

static void implies(struct snapshots *x, int a, int b)
{
	proposal_add(x->p, -a);
	proposal_add(x->p, b);
	proposal_add(x->p, 0);
}

/* Those who overwrite this version in every order, the first ones of them, in
 * x->later: the others happened after these. */
static void find_later(struct snapshots *x, uint32_t key, uint32_t w)
{
	const struct observed_history *o = x->o;
	uint32_t count = 0;
	for (uint32_t s = 0; s < x->sessions; s++) x->first[s] = 0;
	for (uint32_t i = o->writer_first[key]; i < o->writer_first[key + 1];
	     i++) {
		uint32_t u = o->writers[i], s = o->facts->session_of[u];
		if (u == w || !observed_before(o, w, u)) continue;
		if (!x->first[s] || u < x->first[s]) x->first[s] = u;
	}
	for (uint32_t s = 0; s < x->sessions; s++) {
		uint32_t u = x->first[s];
		bool least = u;
		for (uint32_t k = 0; k < x->sessions && least; k++)
			least = !x->first[k] || x->first[k] == u ||
			        !observed_before(o, x->first[k], u);
		if (least) x->later[count++] = u;
	}
	x->later_count = count;
}

/* A read, if `read` is true, is before these commit. */
static void add_overwriting(struct snapshots *x, int read, uint32_t s,
                            uint32_t reader)
{
	for (uint32_t i = 0; i < x->later_count; i++)
		if (x->later[i] != reader)
			both_imply(x, read, -literal_out(x->later[i]),
			           of_session(x, x->commits, s, x->later[i]));
}

/* t needs w, or reads from it. */
static void add_following(struct snapshots *x, uint32_t w, uint32_t t)
{
	if (!w) return;
	for (uint32_t s = 0; s < x->sessions; s++)
		both_imply(x, of_session(x, x->commits, s, w), -literal_out(t),
		           of_session(x, x->begins, s, t));
}

/* A copy of session b sees w, if `sees` is true. */
static void add_seeing(struct snapshots *x, uint32_t w, int sees, uint32_t b)
{
	if (!w) return;
	for (uint32_t s = 0; s < x->sessions; s++)
		both_imply(x, of_session(x, x->commits, s, w), sees,
		           x->before + (int)(s * x->sessions + b));
}

static void add_transaction(struct snapshots *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	int diverges = x->diverges + (int)t;
	uint32_t session = o->facts->session_of[t];
	for (uint32_t s = 0; s < x->sessions; s++)
		implies(x, of_session(x, x->begins, s, t),
		        of_session(x, x->commits, s, t));
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++) {
		add_following(x, o->needs[i], t);
		add_seeing(x, o->needs[i], diverges, session);
	}
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ) continue;
		add_following(x, e->from, t);
		find_later(x, e->key, e->from);
		for (uint32_t s = 0; s < x->sessions; s++)
			add_overwriting(x, of_session(x, x->begins, s, t), s,
			                t);
	}
}

static void add_copy(struct snapshots *x, size_t copy)
{
	const struct divergent_copies *c = x->p->c;
	const struct copy *y = &c->copies[copy];
	uint32_t s = x->o->facts->session_of[y->transaction];
	implies(x, literal_copy(x->p, copy), x->diverges + (int)y->transaction);
	for (uint32_t k = y->first; k < y[1].first; k++) {
		const struct free_read *r = &c->reads[k];
		for (uint32_t a = r->first; a < r[1].first; a++) {
			uint32_t w = c->options[a].writer;
			find_later(x, x->o->events[r->event].key, w);
			add_overwriting(x, literal_option(x->p, a), s, 0);
			add_seeing(x, w, literal_option(x->p, a), s);
		}
	}
}

static void add_order(struct snapshots *x)
{
	int n = (int)x->sessions;
	for (int a = 0; a < n; a++) {
		proposal_add(x->p, -(x->before + a * n + a));
		proposal_add(x->p, 0);
		for (int b = 0; b < n; b++)
			for (int c = 0; c < n; c++)
				both_imply(x, x->before + a * n + b,
				           x->before + b * n + c,
				           x->before + a * n + c);
	}
}

/* Clauses, roughly, and steps to find them. */
enum { CLAUSES_MOST = 2000000, SESSIONS_MOST = 64 };

void snapshots_demand(struct proposal *p)
{
	const struct observed_history *o = p->o;
	size_t sessions = o->facts->session_count;
	size_t each = 2 * (size_t)o->n + 2 * (size_t)o->first[o->n] +
	              p->c->option_count;
	struct snapshots x = { .p = p, .o = o, .sessions = (uint32_t)sessions };
	assert(o->sight == SIGHT_PREFIX);
	if (sessions > SESSIONS_MOST || sessions * each > CLAUSES_MOST) return;
	x.commits = take_variables(&x, sessions * o->n);
	x.begins = take_variables(&x, sessions * o->n);
	x.before = take_variables(&x, sessions * sessions);
	x.diverges = take_variables(&x, o->n);
	x.first = mem_take0(sessions + 1, sizeof *x.first);
	x.later = mem_take0(sessions + 1, sizeof *x.later);
	for (uint32_t t = 1; t < o->n; t++) add_transaction(&x, t);
	for (size_t i = 0; i < p->c->count; i++) add_copy(&x, i);
	add_order(&x);
	free(x.first);
	free(x.later);
}
