#include "solve/solving.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "history/history.h"
#include "solve/example.h"
#include "solve/pairs.h"
#include "solve/positions.h"
#include "vm/machine.h"

/* Conflicts of the solver that a question may take at first, and how many times
 * more after each time that this was not enough. */
enum { CONFLICTS_FIRST = 2000, CONFLICTS_MORE = 4, CONFLICTS_MOST = 1 << 28 };

/* ---- engines ---- */

static void engine_begin(struct solving *s, struct engine *g)
{
	g->begun = true;
	encoding_init(&g->e, s->runs, g->form, s->out->options.proof);
	g->e.clauses.deadline = s->deadline;
	g->e.clauses.interrupt = s->out->options.interrupt;
	g->e.clauses.enough = s->out->options.enough;
}

static void engine_end(struct engine *g)
{
	if (!g->begun) return;
	final_locals_free(&g->locals);
	encoding_free(&g->e);
	free(g->clauses);
	*g = (struct engine){ .form = g->form };
}

struct engine *solving_engine(struct solving *s, uint32_t i)
{
	struct engine *g = &s->engines[i];
	if (g->begun && g->form->close && g->e.node_count < s->runs->count)
		engine_end(g);
	if (!g->begun) engine_begin(s, g);
	while (g->e.node_count < s->runs->count)
		encoding_add(&g->e, s->runs->nodes[g->e.node_count]);
	return g;
}

enum answer solving_ask(struct solving *s, struct engine *g, int literal,
                        int conflicts)
{
	s->out->questions++;
	enum answer a = clauses_ask(&g->e.clauses, literal, conflicts);
	s->open |= a == ANSWER_OPEN;
	return a;
}

/* ---- limits ---- */

static uint64_t bytes(const struct solving *s)
{
	uint64_t sum = runs_bytes(s->runs) + runner_bytes(s->runner);
	for (uint32_t i = 0; i < s->engine_count; i++)
		if (s->engines[i].begun)
			sum += clauses_bytes(&s->engines[i].e.clauses);
	return sum;
}

static void tick(const struct solving *s)
{
	const struct decide_options *o = &s->out->options;
	struct decide_progress p = { .runs = s->runs->leaves,
		                     .questions = s->out->questions,
		                     .complete = s->out->complete,
		                     .seconds = seconds_now() - s->begun };
	if (o->tick) o->tick(o->payload, &p);
}

bool solving_must_stop(struct solving *s)
{
	struct decision *d = s->out;
	const struct machine *m = &s->runs->context.machine;
	uint64_t held = bytes(s);
	if (held > d->memory) d->memory = held;
	tick(s);
	if (d->stop || d->obstacle || d->refuted) return true;
	d->obstacle = s->runs->obstacle;
	d->obstacle_point = s->runs->point;
	if ((d->options.interrupt && atomic_load(d->options.interrupt)) ||
	    (d->options.enough && atomic_load(d->options.enough)))
		d->stop = STOP_INTERRUPTED;
	else if (s->deadline > 0 && seconds_now() > s->deadline)
		d->stop = STOP_TIME;
	else if (held > d->options.memory || d->options.gives_up)
		d->stop = STOP_MEMORY;
	else if (m->stop == MACHINE_KEYS_FULL)
		d->stop = STOP_KEYS;
	else if (m->stop)
		d->stop = m->stop == MACHINE_FAULT ? STOP_GUEST : STOP_TIME;
	return d->stop || d->obstacle;
}

/* ---- runs ---- */

struct wanted {
	struct run_node *at;
	struct value value;
};

/* The reads that the engine's model answers by what is new. */
static uint32_t list_wanted(const struct solving *s, const struct encoding *e,
                            struct wanted *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->runs->context.sessions; i++) {
		struct run_node *n = encoding_stands(e, i);
		if (n->kind != RUN_READS ||
		    !clauses_value(&e->clauses, e->nodes[n->number].open))
			continue;
		out[count++] =
			(struct wanted){ n, e->form->value(e->order, n) };
	}
	assert(count);
	return count;
}

/* Behind the answer the transaction may go on: what it reads next, in the same
 * beginning of a history, may be the newest that it has in sight, so the solver
 * need not be asked for that. What it locks is another matter. */
static bool grow_on(const struct solving *s, const struct encoding *e,
                    const struct wanted *w)
{
	const struct run_node *at = w->at;
	struct value v = w->value;
	uint32_t slot = e->slot_of[at->session][at->index];
	while (at->kind == RUN_READS && at->index == w->at->index) {
		if (at != w->at) {
			if (at->locks || at->holds) break;
			v = e->form->newest(e->order, slot, at->key);
		}
		if (!runs_grow(s->runs, at, v)) return false;
		at = runs_onwards(runs_child(at, v));
	}
	return true;
}

static void grow_by(struct solving *s, const struct encoding *e)
{
	struct wanted *wanted =
		mem_take(s->runs->context.sessions * sizeof *wanted);
	uint32_t count = list_wanted(s, e, wanted);
	for (uint32_t i = 0; i < count; i++)
		if (!grow_on(s, e, &wanted[i])) break;
	free(wanted);
}

int solving_growth(struct engine *g)
{
	struct clauses *c = &g->e.clauses;
	int grows = clauses_variable(c);
	CLAUSE(c, -grows, g->e.some_open);
	CLAUSE(c, -grows, g->e.sorted);
	return grows;
}

enum growth solving_grow(struct solving *s)
{
	uint32_t first = s->grower;
	if (sampling_grow(&s->sampling)) return GREW;
	for (uint32_t i = 0; i < s->engine_count && !solving_must_stop(s);
	     i++) {
		s->grower = (first + i) % s->engine_count;
		struct engine *g = solving_engine(s, s->grower);
		switch (solving_ask(s, g, solving_growth(g), s->conflicts)) {
		case ANSWER_NONE: return COMPLETE;
		case ANSWER_OPEN: break;
		case ANSWER_MODEL: grow_by(s, &g->e); return GREW;
		}
	}
	return STUCK;
}

enum answer solving_ask_history(struct solving *s, struct engine *g,
                                int literal)
{
	struct clauses *c = &g->e.clauses;
	int all = clauses_variable(c);
	CLAUSE(c, -all, literal);
	CLAUSE(c, -all, g->e.all_over);
	return solving_ask(s, g, all, s->conflicts);
}

struct history *solving_history(struct solving *s, const struct engine *of)
{
	struct example x;
	example_take(&x, &of->e);
	struct history *h = example_run(&x, s->runner);
	example_free(&x);
	if (!h && !solving_must_stop(s)) s->out->refuted = true;
	return h;
}

void solving_strive(struct solving *s)
{
	if (s->conflicts < CONFLICTS_MOST) s->conflicts *= CONFLICTS_MORE;
}

/* ---- all ---- */

static void choose_engines(struct solving *s)
{
	const struct decide_options *o = &s->out->options;
	bool positions = positions_fit(o->level) && !s->runs->mixed;
	s->engine_count = positions ? 2 : 1;
	s->engines[positions && o->positions_first].form = order_by_pairs();
	if (positions)
		s->engines[!o->positions_first].form = order_by_positions();
}

void solving_begin(struct solving *s, struct decision *out, struct runs *runs)
{
	const struct decide_options *o = &out->options;
	double begun = seconds_now();
	*s = (struct solving){ .out = out,
		               .runs = runs,
		               .begun = begun,
		               .conflicts = CONFLICTS_FIRST };
	s->deadline = o->timeout > 0 ? begun + o->timeout : 0;
	if (!out->options.memory) out->options.memory = mem_usual_limit();
	struct machine_limits limits = { o->interrupt, s->deadline, o->memory };
	runs_init(runs, out->program, o->level, &limits, o->apart);
	choose_engines(s);
	s->runner = runner_new(out->program, o->level, o->interrupt);
	runner_deadline(s->runner, s->deadline);
	runner_memory(s->runner, o->memory);
	sampling_begin(&s->sampling, runs, s->runner, o->unsampled);
	solving_engine(s, 0);
}

void solving_end(struct solving *s)
{
	s->out->seconds = seconds_now() - s->begun;
	s->out->transactions = s->runs->slots;
	sampling_end(&s->sampling);
	runner_free(s->runner);
	for (uint32_t i = 0; i < s->engine_count; i++)
		engine_end(&s->engines[i]);
}
