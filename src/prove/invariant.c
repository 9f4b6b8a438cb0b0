#include "prove/invariant.h"

#include <assert.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "history/history.h"
#include "prove/client.h"
#include "prove/invariant_parts.h"
#include "prove/lower.h"
#include "prove/spots.h"
#include "prove/wishes.h"
#include "vm/program.h"

/* ---- what the level says ---- */

static enum level level_of_summary(const struct invariant_search *x,
                                   const struct summary *s)
{
	enum level others = x->out->options.terms.level;
	return s->own ? (enum level)(s->own - 1) : others;
}

/* As is_open() of prove.c. */
static bool find_levels(struct invariant_search *x)
{
	const struct application *app = x->out->app;
	enum level others = x->out->options.terms.level;
	bool serial = false, weaker = false, mixed = false;
	if (level_sight(others) == SIGHT_NOTHING) return false;
	x->alike = true;
	for (uint32_t i = 0; i < app->summary_count; i++) {
		enum level l = level_of_summary(x, &app->summaries[i]);
		if (level_sight(l) == SIGHT_NOTHING) return false;
		if (l != others && (!level_mixes(others) || !level_mixes(l)))
			return false;
		mixed |= l != others;
		serial |= level_is_serial(l);
		weaker |= !level_is_serial(l);
	}
	for (uint32_t k = 0; k < app->finals->count; k++) {
		enum level l = level_of_summary(x, &app->finals->items[k].s);
		if (level_sight(l) == SIGHT_NOTHING ||
		    (l != others && (!level_mixes(others) || !level_mixes(l))))
			return false;
		mixed |= l != others;
	}
	x->alike = !mixed;
	return !(app->ssi && serial && weaker);
}

struct reading reading_of(const struct invariant_search *x, enum level l)
{
	struct reading r = { .how = READ_EACH };
	switch (level_sight(l)) {
	case SIGHT_NOTHING: assert(!"no proofs for this level"); break;
	case SIGHT_SOURCES: r.locked = true; break;
	case SIGHT_STATEMENT:
		r.how = READ_STATEMENTS;
		r.locked = true;
		break;
	case SIGHT_DIRECT:
	case SIGHT_PAST:
		if (!x->alike) break;
		r.how = READ_ONCE;
		r.written = level_excludes_rivals(l);
		break;
	case SIGHT_PREFIX:
		r.how = READ_ONCE;
		r.same = level_is_serial(l);
		r.written = level_excludes_rivals(l);
		r.locked = true;
		break;
	}
	return r;
}

/* Does the read exclude all that write its key until it commits? */
static bool excludes_writes(const struct application *a,
                            const struct access *read)
{
	for (uint32_t i = 0; i < a->summary_count; i++)
		for (uint32_t k = 0; k < a->summaries[i].access_count; k++) {
			const struct access *w = &a->summaries[i].accesses[k];
			if (w->write && w->family == read->family &&
			    !strengths_exclude(read->strength, w->strength))
				return false;
		}
	return read->strength != STRENGTH_PLAIN;
}

/* ---- where assertions are known to hold ---- */

enum { KEYS = 64, TUPLES = 200 /* of a claim and a state */ };

struct known_keys {
	struct known_key {
		uint32_t family;
		const struct instance *t;
		const uint32_t *nodes; /* of the instance; NULL: parameters, */
		uint32_t first;        /* from this one on */
	} items[KEYS];
	uint32_t count;
};

static void add_key(struct known_keys *k, struct known_key key)
{
	if (k->count < KEYS) k->items[k->count++] = key;
}

static struct term parameter_term(const struct instance *t, uint32_t n)
{
	for (uint32_t i = 0; i < t->s->node_count; i++)
		if (t->s->nodes[i].op == NODE_PARAMETER &&
		    t->s->nodes[i].a == n)
			return t->nodes[i].value;
	assert(!"no such parameter");
	return (struct term){ NULL, NULL };
}

struct term *invariant_parameters(const struct claim *c,
                                  const struct instance *t)
{
	struct term *parameters =
		mem_take0((size_t)c->s.param_count + 1, sizeof *parameters);
	for (uint32_t i = 0; i < c->s.param_count; i++)
		parameters[i] = parameter_term(t, i);
	return parameters;
}

static struct term part_of(const struct known_key *k, uint32_t i)
{
	return k->nodes ? k->t->nodes[k->nodes[i]].value
	                : parameter_term(k->t, k->first + i);
}

/* The keys for each row of the claim, from the row on. */
static void assume_of_rows(struct question *q, const struct state *s,
                           const struct claim *c, const struct known_keys *k,
                           struct term *parameters, uint32_t row,
                           uint32_t *tuples)
{
	if (row == c->row_count) {
		struct view v = { .state = s };
		struct claim_reads reads = { .view = &v };
		if (++*tuples > TUPLES) return;
		Z3_ast fails = question_fails(q, c, parameters, &reads, NULL);
		instances_assert(&q->x, Z3_mk_not(q->x.z, fails));
		return;
	}
	const struct claim_row *r = &c->rows[row];
	uint32_t n = q->x.app->families[r->family].index_count;
	for (uint32_t i = 0; i < k->count; i++) {
		if (k->items[i].family != r->family) continue;
		for (uint32_t p = 0; p < n; p++)
			parameters[r->first + p] = part_of(&k->items[i], p);
		assume_of_rows(q, s, c, k, parameters, row + 1, tuples);
	}
}

void invariant_assume(struct question *q,
                      const struct instance *const *instances, uint32_t count)
{
	const struct finals *f = q->finals;
	struct known_keys keys = { .count = 0 };
	uint32_t states = q->state_count;
	for (uint32_t i = 0; i < count; i++) {
		const struct instance *t = instances[i];
		for (uint32_t k = 0; k < f->count; k++) {
			const struct claim *c = &f->items[k];
			for (uint32_t r = 0; t->s == &c->s && r < c->row_count;
			     r++)
				add_key(&keys,
				        (struct known_key){ c->rows[r].family,
				                            t, NULL,
				                            c->rows[r].first });
		}
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < instances[i]->s->access_count; k++) {
			const struct access *a = &instances[i]->s->accesses[k];
			add_key(&keys,
			        (struct known_key){ a->family, instances[i],
			                            a->indexes, 0 });
		}
	for (uint32_t s = 0; s < states; s++)
		for (uint32_t k = 0; k < f->count; k++) {
			const struct claim *c = &f->items[k];
			uint32_t tuples = 0;
			struct term *parameters =
				mem_take0((size_t)c->s.param_count + 1,
			                  sizeof *parameters);
			assume_of_rows(q, q->states[s], c, &keys, parameters, 0,
			               &tuples);
			free(parameters);
		}
}

/* ---- one transaction ---- */

struct statement_states {
	struct statement_state {
		uint32_t statement;
		struct state *state;
	} * items;
	uint32_t count, capacity;
};

static struct state *state_of(struct question *q, struct statement_states *all,
                              uint32_t statement)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->items[i].statement == statement)
			return all->items[i].state;
	VEC_RESERVE(all->items, all->count, all->capacity);
	struct state *new = question_state(q);
	all->items[all->count++] = (struct statement_state){ statement, new };
	return new;
}

/* The states that T reads from: s and s' are there. */
static void read_states(struct question *q, const struct invariant_search *x,
                        const struct instance *t, const struct view *s,
                        const struct view *over)
{
	struct reading how = reading_of(x, t->level);
	struct statement_states states = { .count = 0 };
	for (uint32_t i = 0; i < t->s->access_count; i++) {
		const struct access *a = &t->s->accesses[i];
		if (a->write) {
			if (how.written) question_agrees(q, t, i, s, over);
			continue;
		}
		bool locked = how.locked && excludes_writes(q->x.app, a);
		bool beside = a->beside || strength_is_beside(a->strength);
		bool once = how.how == READ_ONCE && !beside;
		if (locked) question_reads(q, t, i, over);
		if (once) question_reads(q, t, i, s);
		if (locked || once) continue;
		bool together = how.how == READ_STATEMENTS && !beside &&
		                a->strength == STRENGTH_PLAIN;
		struct state *own = together
		                            ? state_of(q, &states, a->statement)
		                            : question_state(q);
		question_reads(q, t, i, &own->plain);
	}
	/* Reads of many rows, each of a state of its own, tell nothing. */
	for (uint32_t i = 0; i < t->s->total_count && how.how != READ_EACH;
	     i++) {
		const struct found_total *f = &t->s->totals[i];
		const struct view *of =
			how.how == READ_ONCE
				? s
				: &state_of(q, &states, f->statement)->plain;
		question_finds_total(q, t, f, of, NULL);
	}
	free(states.items);
}

void invariant_runs(struct question *q, const struct instance *t)
{
	instances_assert(&q->x, t->nodes[t->s->assumed].truth);
	instances_assert(&q->x, commits(t));
	if (q->no_errors)
		instances_assert(&q->x,
		                 Z3_mk_not(q->x.z, t->nodes[t->s->errs].truth));
}

/* Can T break it? If so, says how. */
static Z3_lbool ask_step(struct invariant_search *x, const struct summary *s)
{
	Z3_context z = instances_context();
	struct question *q =
		question_new(z, x->out->app, x->out->options.terms);
	struct instance *t =
		question_instance(q, s, x->out->options.terms.level);
	struct invariant_step step = { .t = t };
	struct view over = { .state = question_state(q) }, from = over;
	if (!reading_of(x, t->level).same) from.state = question_state(q);
	struct view after = { .under = &over, .writer = t };
	struct claim_reads ahead = { .view = &over },
			   behind = { .view = &after };
	uint32_t claims = q->finals->count;
	const struct instance **all =
		mem_take0((size_t)claims + 1, sizeof *all);
	Z3_ast any = NULL;
	step.fails = mem_take0((size_t)claims + 1, sizeof *step.fails);
	step.before = mem_take0((size_t)claims + 1, sizeof *step.before);
	step.after = mem_take0((size_t)claims + 1, sizeof *step.after);
	invariant_runs(q, t);
	read_states(q, x, t, &from, &over);
	for (uint32_t k = 0; k < claims; k++) {
		const struct claim *c = &q->finals->items[k];
		step.fails[k] =
			question_fails(q, c, NULL, &behind, &step.after[k]);
		any = some(z, any, step.fails[k]);
		struct term *same = invariant_parameters(c, step.after[k]);
		Z3_ast failed =
			question_fails(q, c, same, &ahead, &step.before[k]);
		instances_assert(&q->x, Z3_mk_not(z, failed));
		question_same(q, c, step.before[k], failed, step.after[k],
		              step.fails[k]);
		free(same);
		all[k] = step.after[k];
	}
	all[claims] = t;
	instances_assert(&q->x, any);
	invariant_assume(q, all, claims + 1);
	Z3_lbool found = invariant_ask(x, q, NULL, 0);
	if (found == Z3_L_TRUE) {
		/* One that is easy to read, if there is one. */
		Z3_ast plain[] = { instances_fresh(z, true) };
		Z3_ast easy = instance_plain(&q->x, t);
		for (uint32_t k = 0; k < claims; k++)
			easy = both(z, easy,
			            instance_plain(&q->x, step.after[k]));
		implies(&q->x, plain[0], easy);
		if (invariant_ask(x, q, plain, 1) == Z3_L_TRUE ||
		    invariant_ask(x, q, NULL, 0) == Z3_L_TRUE)
			invariant_describe(x, q, &step);
	}
	free(all);
	free(step.fails);
	free(step.before);
	free(step.after);
	question_free(q);
	instances_context_free(z);
	return found;
}

/* ---- the last transaction at rc ---- */

static struct view any_view(struct question *q, void *payload)
{
	(void)payload;
	return (struct view){ .state = question_state(q) };
}

/* Can claims fail of reads that each have a state of their own? */
static Z3_lbool ask_reads(struct invariant_search *x)
{
	const struct finals *f = x->out->app->finals;
	struct claim_reads reads = { .other = any_view };
	Z3_lbool found = Z3_L_FALSE;
	for (uint32_t k = 0; k < f->count && found == Z3_L_FALSE; k++) {
		enum level l = level_of_summary(x, &f->items[k].s);
		if (level_sight(l) != SIGHT_SOURCES) continue;
		Z3_context z = instances_context();
		struct question *q =
			question_new(z, x->out->app, x->out->options.terms);
		struct instance *told;
		instances_assert(&q->x, question_fails(q, &f->items[k], NULL,
		                                       &reads, &told));
		const struct instance *all[] = { told };
		invariant_assume(q, all, 1);
		found = invariant_ask(x, q, NULL, 0);
		question_free(q);
		instances_context_free(z);
	}
	return found;
}

/* ---- all ---- */

bool invariant_is_late(struct invariant_search *x)
{
	if (!x->out->stop) x->out->stop = limiter_look(x->limiter);
	return x->out->stop != STOP_NONE;
}

Z3_lbool invariant_ask(struct invariant_search *x, struct question *q,
                       const Z3_ast *assumed, unsigned count)
{
	const struct prove_options *o = &x->out->options;
	x->out->costs.questions++;
	if (o->tick)
		o->tick(o->payload, 1, x->out->costs.questions,
		        seconds_now() - x->begun);
	return limiter_ask(x->limiter, q->x.z, q->x.solver, assumed, count);
}

static struct client_found explore(struct invariant_search *x,
                                   const struct text *client, uint32_t line)
{
	struct invariance *out = x->out;
	struct budget left = limiter_left(x->limiter);
	struct client_found found = client_explore_finals(
		out->app->path, client, line, out->options.terms.level,
		out->options.terms.no_errors, &left);
	out->costs.clients++;
	out->costs.histories += found.histories;
	return found;
}

bool invariant_holds_in(struct invariant_search *x, const struct text *client,
                        uint32_t line)
{
	struct client_found found = explore(x, client, line);
	bool holds = !found.history && found.complete && !found.errs;
	history_free(found.history);
	if (found.history) program_free(found.program);
	return holds;
}

bool invariant_explore(struct invariant_search *x, const struct text *client,
                       uint32_t line, struct client_found *more)
{
	struct invariance *out = x->out;
	struct client_found found = explore(x, client, line);
	if (more) *more = found;
	if (!found.history) return false;
	out->history = found.history;
	out->program = found.program;
	out->assertion = found.assertion;
	out->verdict = VERDICT_VIOLATED;
	return true;
}

/* Do they hold of what the program has at first? */
static bool holds_at_first(struct invariant_search *x)
{
	struct invariance *out = x->out;
	Z3_context z = instances_context();
	struct question *q = question_new(z, out->app, out->options.terms);
	struct client_found found;
	uint32_t line = client_write_finals(&out->client, &q->x, NULL,
	                                    out->options.terms.level, false, 0);
	bool fails = invariant_explore(x, &out->client, line, &found);
	question_free(q);
	instances_context_free(z);
	out->at_first = out->declared = fails;
	if (!fails) text_clear(&out->client);
	if (fails) return false;
	if (!found.complete)
		out->obstacle = INVARIANT_UNKNOWN_AT_FIRST;
	else if (found.errs)
		out->obstacle = INVARIANT_ERROR_AT_FIRST;
	return !out->obstacle;
}

/* A transaction that writes what is not in its summary. */
static bool find_many(struct invariance *out)
{
	const struct application *a = out->app;
	for (uint32_t i = 0; i < a->summary_count; i++)
		for (uint32_t k = 0; k < a->summaries[i].access_count; k++) {
			const struct access *w = &a->summaries[i].accesses[k];
			if (!w->write || !w->many) continue;
			out->which = &a->summaries[i];
			out->line = w->line;
			return true;
		}
	return false;
}

static bool writes(const struct summary *s)
{
	for (uint32_t i = 0; i < s->access_count; i++)
		if (s->accesses[i].write) return true;
	return false;
}

/* Nothing is proved then, but counterexamples are looked for. */
static enum invariant_obstacle find_obstacle(struct invariant_search *x)
{
	struct invariance *out = x->out;
	if (out->app->uncovered_count) return INVARIANT_UNCOVERED;
	if (find_many(out)) return INVARIANT_MANY;
	return INVARIANT_NONE;
}

/* Asks of all transactions; those that may break it are looked at. */
static void search(struct invariant_search *x)
{
	struct invariance *out = x->out;
	const struct application *a = out->app;
	bool undecided = false;
	out->obstacle = find_obstacle(x);
	for (uint32_t i = 0; i < a->summary_count; i++) {
		const struct summary *s = &a->summaries[i];
		if (invariant_is_late(x)) return;
		if (!writes(s)) continue;
		Z3_lbool found = ask_step(x, s);
		if (found == Z3_L_UNDEF) undecided = true;
		if (found != Z3_L_TRUE) continue;
		x->breaks[i] = true;
		if (!out->obstacle) {
			out->obstacle = INVARIANT_STEP;
			out->which = s;
		}
	}
	if (invariant_is_late(x)) return;
	if (undecided && !out->obstacle) out->obstacle = INVARIANT_UNDECIDED;
	Z3_lbool reads = ask_reads(x);
	if (reads == Z3_L_UNDEF && !out->obstacle)
		out->obstacle = INVARIANT_UNDECIDED;
	if (reads == Z3_L_TRUE && !out->obstacle) {
		out->obstacle = INVARIANT_READS;
		for (uint32_t i = 0; i < a->summary_count; i++)
			x->breaks[i] = writes(&a->summaries[i]);
	}
	if (invariant_is_late(x)) return;
	if (!out->obstacle)
		out->verdict = VERDICT_HOLDS;
	else
		invariant_find_client(x);
}

void prove_invariant(struct invariance *out, struct application *app,
                     const struct prove_options *o)
{
	struct invariant_search x = { .out = out, .begun = seconds_now() };
	*out = (struct invariance){ .options = *o,
		                    .app = app,
		                    .verdict = VERDICT_INCONCLUSIVE };
	assert(app->finals);
	if (app->image) lower_sql_levels(app);
	x.breaks = mem_take0((size_t)app->summary_count + 1, sizeof *x.breaks);
	x.limiter = limiter_new(&out->options.budget, x.begun);
	if (!app->finals->asserted)
		out->obstacle = INVARIANT_NOTHING;
	else if (!app->summary_count && !app->stale_count &&
	         !app->uncovered_count)
		out->obstacle = INVARIANT_NO_PROGRAM;
	else if (!find_levels(&x))
		out->obstacle = INVARIANT_LEVEL;
	else if (holds_at_first(&x))
		search(&x);
	limiter_free(x.limiter);
	free(x.breaks);
	out->costs.seconds = seconds_now() - x.begun;
}

void invariance_free(struct invariance *p)
{
	text_free(&p->call);
	text_free(&p->reads);
	text_free(&p->writes);
	text_free(&p->over);
	text_free(&p->after);
	text_free(&p->calls);
	text_free(&p->client);
	history_free(p->history);
	program_free(p->program);
	*p = (struct invariance){ .verdict = VERDICT_INCONCLUSIVE };
}
