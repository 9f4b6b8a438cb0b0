#include "solve/local_runs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/history.h"
#include "solve/solving.h"
#include "vm/program.h"

struct listing {
	struct solving search;
	struct local_runs *out;
	uint32_t asked_at; /* nodes when whole runs were asked for */
};

static void make_room(struct local_runs *l)
{
	uint32_t count = l->runs.count;
	if (count <= l->known_count) return;
	l->known = mem_grow0(l->known, l->known_count, count, sizeof *l->known);
	l->known_count = count;
}

/* Of all sessions that run the same code: exchanging these makes each history
 * another one. */
static void note(struct local_runs *l, const struct run_node *leaf,
                 enum run_knowledge known)
{
	const struct runs *r = &l->runs;
	for (uint32_t i = 0; i < r->context.sessions; i++) {
		if (r->first_same[i] != r->first_same[leaf->session]) continue;
		uint32_t n = runs_counterpart(r, leaf, i)->number;
		assert(l->known[n] == RUN_UNKNOWN || l->known[n] == known);
		l->known[n] = known;
	}
}

/* All the runs of a model are those of one history. */
static void note_model(struct listing *x, const struct engine *g)
{
	struct history *h = solving_history(&x->search, g);
	if (!h) return;
	history_free(h);
	for (uint32_t i = 0; i < x->out->runs.context.sessions; i++)
		note(x->out, encoding_stands(&g->e, i), RUN_SEEN);
}

static void ask_engine(struct listing *x, struct engine *g,
                       const struct run_node *leaf)
{
	switch (solving_ask_history(&x->search, g,
	                            g->e.nodes[leaf->number].at)) {
	case ANSWER_MODEL: note_model(x, g); break;
	case ANSWER_NONE:
		if (x->out->decision.complete) note(x->out, leaf, RUN_UNSEEN);
		break;
	case ANSWER_OPEN: break;
	}
}

/* Asks one engine, and the next where that is too hard for it. */
static void ask(struct listing *x, const struct run_node *leaf)
{
	struct solving *s = &x->search;
	s->open = true;
	for (uint32_t i = 0;
	     i < s->engine_count && s->open && !solving_must_stop(s); i++) {
		s->open = false;
		ask_engine(x, solving_engine(s, i), leaf);
	}
}

/* Which runs are those of histories? True if that of some is left open. */
static bool ask_all(struct listing *x)
{
	struct local_runs *l = x->out;
	bool left = false;
	make_room(l);
	x->asked_at = l->runs.count;
	for (uint32_t i = 0; i < x->asked_at && !solving_must_stop(&x->search);
	     i++) {
		const struct run_node *n = l->runs.nodes[i];
		if (n->kind != RUN_OVER || l->known[i] != RUN_UNKNOWN) continue;
		if (sampling_has_seen(&x->search.sampling, n))
			note(l, n, RUN_SEEN);
		else
			ask(x, n);
		left |= l->known[i] == RUN_UNKNOWN;
	}
	return left;
}

static void find(struct listing *x)
{
	struct solving *s = &x->search;
	struct decision *d = &x->out->decision;
	while (!solving_must_stop(s) && !d->complete) {
		enum growth g = solving_grow(s);
		if (solving_must_stop(s)) return;
		if (g == GREW && s->runs->count < 2 * x->asked_at) continue;
		d->complete = g == COMPLETE;
		if (!d->complete) ask_all(x);
		if (g == STUCK) solving_strive(s);
	}
	while (ask_all(x) && !solving_must_stop(s)) solving_strive(s);
}

static void judge(struct local_runs *l)
{
	struct decision *d = &l->decision;
	struct position at;
	bool known = d->complete;
	make_room(l);
	for (uint32_t i = 0; i < l->runs.count; i++) {
		enum run_state kind = l->runs.nodes[i]->kind;
		d->runs += l->known[i] == RUN_SEEN;
		d->assumes |= kind == RUN_VOID;
		known &= kind != RUN_OVER || l->known[i] != RUN_UNKNOWN;
	}
	/* Where code in C was cut short, there are others. */
	if (!d->stop && program_bound_met(d->program, &at))
		d->stop = STOP_BOUND;
	d->vacuous = known && !d->runs;
	d->settled =
		known && d->runs && !d->stop && !d->obstacle && !d->refuted;
	d->verdict = d->settled ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

void local_runs_find(struct local_runs *out, const struct program *p,
                     const struct decide_options *o)
{
	struct listing x = { .out = out };
	*out = (struct local_runs){ .decision = { .options = *o,
		                                  .program = p } };
	out->decision.options.apart = true;
	region_init(&out->decision.region);
	solving_begin(&x.search, &out->decision, &out->runs);
	find(&x);
	solving_end(&x.search);
	judge(out);
	if (!out->runs.outgrown || runs_obstacle(p, o->level)) return;
	local_runs_free(out);
	local_runs_find(out, p, o);
}

void local_runs_free(struct local_runs *l)
{
	decision_free(&l->decision);
	runs_free(&l->runs);
	free(l->known);
}

bool local_runs_seen(const struct local_runs *l, const struct run_node *leaf)
{
	assert(leaf->number < l->known_count);
	return l->known[leaf->number] == RUN_SEEN;
}
