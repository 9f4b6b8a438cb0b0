#include "solve/decision.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "execution/complete.h"
#include "history/history.h"
#include "run/runner.h"
#include "solve/example.h"
#include "solve/final_circuit.h"
#include "solve/pairs.h"
#include "solve/positions.h"
#include "vm/machine.h"
#include "vm/program.h"

/* Conflicts of the solver that a question may take at first, and how many times
 * more after each time that this was not enough. */
enum { CONFLICTS_FIRST = 2000, CONFLICTS_MORE = 4, CONFLICTS_MOST = 1 << 28 };

/* What belongs to a goal while it is open. */
struct goal_clauses {
	int fails;             /* it is violated by a leaf */
	struct some_of leaves; /* namely one of these */
};

/* An encoding, and the goals in it. */
struct engine {
	const struct order_form *form;
	bool begun;
	struct encoding e;
	struct final_locals locals;
	struct goal_clauses *clauses; /* by goal */
	uint32_t clause_count, clause_capacity;
	uint32_t seen; /* nodes whose findings are among the goals */
};

enum { ENGINES = 2 };

struct search {
	struct decision *out;
	struct runs runs;
	struct engine engines[ENGINES]; /* in the order they are asked */
	uint32_t engine_count, grower;  /* which found the last new run */
	struct runner *runner;
	bool *safe;  /* by final assertion: there is no other run-time error in
	              * it than those that were met */
	bool *tired; /* by goal: asking again leads to nothing */
	uint32_t tired_count;
	uint32_t given;    /* goals that are none of errors */
	uint32_t errors;   /* that runs have shown, by note_errors */
	uint32_t asked_at; /* nodes when the goals were asked */
	int conflicts;
	bool open; /* a question was not answered */
	double begun, deadline;
};

const char *decide_obstacle(const struct program *p, enum level l)
{
	return runs_obstacle(p, l);
}

/* ---- goals ---- */

static uint32_t error_slot(const struct search *s)
{
	return program_assertion_count(s->out->program);
}

static uint32_t robust_slot(const struct search *s)
{
	return error_slot(s) + 1;
}

static uint32_t add_goal(struct search *s, uint32_t slot, uint32_t point)
{
	struct decision *d = s->out;
	VEC_RESERVE(d->goals, d->goal_count, d->goal_capacity);
	d->goals[d->goal_count] = (struct decide_goal){
		.slot = slot, .point = point, .verdict = VERDICT_INCONCLUSIVE
	};
	return d->goal_count++;
}

/* The goal's clauses in the engine. */
static struct goal_clauses *clauses_of(struct engine *g, uint32_t goal)
{
	struct clauses *c = &g->e.clauses;
	while (g->clause_count <= goal) {
		VEC_RESERVE(g->clauses, g->clause_count, g->clause_capacity);
		struct goal_clauses *x = &g->clauses[g->clause_count++];
		x->fails = clauses_variable(c);
		x->leaves = some_of_begin(c, x->fails);
		CLAUSE(c, -x->fails, g->e.all_over);
	}
	return &g->clauses[goal];
}

/* Assertions have the goals of their numbers; errors are told apart by where
 * they happen. */
static uint32_t goal_of(struct search *s, const struct finding *f)
{
	const struct decision *d = s->out;
	if (f->kind == FINDING_ASSERT) return f->assertion;
	uint32_t i = s->given;
	while (i < d->goal_count && d->goals[i].point != f->point) i++;
	return i < d->goal_count ? i : add_goal(s, error_slot(s), f->point);
}

static void see_findings(struct search *s, struct engine *g)
{
	for (; g->seen < g->e.node_count; g->seen++) {
		const struct run_node *n = s->runs.nodes[g->seen];
		if (n->kind != RUN_OVER) continue;
		const struct finding *f = machine_findings(n->state);
		for (; f; f = f->older) {
			assert(f->kind != FINDING_ASSUME);
			struct goal_clauses *x = clauses_of(g, goal_of(s, f));
			some_of_add(&g->e.clauses, &x->leaves,
			            g->e.nodes[n->number].at);
		}
	}
}

/* ---- engines ---- */

static void engine_begin(struct search *s, struct engine *g)
{
	g->begun = true;
	encoding_init(&g->e, &s->runs, g->form);
	g->e.clauses.deadline = s->deadline;
	g->e.clauses.interrupt = s->out->options.interrupt;
}

static void engine_end(struct engine *g)
{
	if (!g->begun) return;
	final_locals_free(&g->locals);
	encoding_free(&g->e);
	free(g->clauses);
	*g = (struct engine){ .form = g->form };
}

/* The engine with all that is known of runs. */
static struct engine *engine_ready(struct search *s, uint32_t i)
{
	struct engine *g = &s->engines[i];
	if (g->begun && g->form->close && g->e.node_count < s->runs.count)
		engine_end(g);
	if (!g->begun) engine_begin(s, g);
	while (g->e.node_count < s->runs.count)
		encoding_add(&g->e, s->runs.nodes[g->e.node_count]);
	see_findings(s, g);
	return g;
}

static enum answer engine_ask(struct search *s, struct engine *g, int literal,
                              int conflicts)
{
	s->out->questions++;
	enum answer a = clauses_ask(&g->e.clauses, literal, conflicts);
	s->open |= a == ANSWER_OPEN;
	return a;
}

static bool is_open(const struct decide_goal *g)
{
	return g->verdict == VERDICT_INCONCLUSIVE;
}

static bool all_violated(const struct search *s)
{
	const struct decision *d = s->out;
	for (uint32_t i = 0; i < s->given; i++)
		if (d->goals[i].verdict != VERDICT_VIOLATED) return false;
	return s->given > 0;
}

/* ---- limits ---- */

static uint64_t bytes(const struct search *s)
{
	uint64_t sum = runs_bytes(&s->runs) + runner_bytes(s->runner);
	for (uint32_t i = 0; i < s->engine_count; i++)
		if (s->engines[i].begun)
			sum += clauses_bytes(&s->engines[i].e.clauses);
	return sum;
}

static void tick(struct search *s)
{
	const struct decide_options *o = &s->out->options;
	struct decide_progress p = { .runs = s->runs.leaves,
		                     .questions = s->out->questions,
		                     .complete = s->out->complete,
		                     .seconds = seconds_now() - s->begun };
	if (o->tick) o->tick(o->payload, &p);
}

/* Why it stops, if it does. */
static bool must_stop(struct search *s)
{
	struct decision *d = s->out;
	const struct machine *m = &s->runs.context.machine;
	uint64_t held = bytes(s);
	if (held > d->memory) d->memory = held;
	tick(s);
	if (d->stop || d->obstacle || d->refuted) return true;
	d->obstacle = s->runs.obstacle;
	d->obstacle_point = s->runs.point;
	if (d->options.interrupt && atomic_load(d->options.interrupt))
		d->stop = STOP_INTERRUPTED;
	else if (s->deadline > 0 && seconds_now() > s->deadline)
		d->stop = STOP_TIME;
	else if (held > d->options.memory)
		d->stop = STOP_MEMORY;
	else if (m->stop == MACHINE_KEYS_FULL)
		d->stop = STOP_KEYS;
	else if (m->stop)
		d->stop = m->stop == MACHINE_FAULT ? STOP_GUEST : STOP_TIME;
	return d->stop || d->obstacle;
}

/* ---- runs ---- */

enum growth { GREW, COMPLETE, STUCK };

struct wanted {
	struct run_node *at;
	struct value value;
};

/* The reads that the engine's model answers by what is new. */
static uint32_t list_wanted(const struct search *s, const struct encoding *e,
                            struct wanted *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->runs.context.sessions; i++) {
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

static void grow_by(struct search *s, const struct encoding *e)
{
	struct wanted *wanted =
		mem_take(s->runs.context.sessions * sizeof *wanted);
	uint32_t count = list_wanted(s, e, wanted);
	for (uint32_t i = 0; i < count; i++)
		if (!runs_grow(&s->runs, wanted[i].at, wanted[i].value)) break;
	free(wanted);
}

/* Sessions of the same code may be taken in one order. */
static enum answer ask_growth(struct search *s, struct engine *g)
{
	struct clauses *c = &g->e.clauses;
	int grows = clauses_variable(c);
	CLAUSE(c, -grows, g->e.some_open);
	CLAUSE(c, -grows, g->e.sorted);
	return engine_ask(s, g, grows, s->conflicts);
}

static enum growth grow(struct search *s)
{
	uint32_t first = s->grower;
	for (uint32_t i = 0; i < s->engine_count && !must_stop(s); i++) {
		s->grower = (first + i) % s->engine_count;
		struct engine *g = engine_ready(s, s->grower);
		switch (ask_growth(s, g)) {
		case ANSWER_NONE: return COMPLETE;
		case ANSWER_OPEN: break;
		case ANSWER_MODEL: grow_by(s, &g->e); return GREW;
		}
	}
	return STUCK;
}

/* ---- examples ---- */

static void keep_finding(struct search *s, struct decide_goal *g,
                         struct history *h)
{
	const struct finding *f = g->slot == robust_slot(s)
	                                  ? NULL
	                                  : runner_finding(s->runner, g->slot);
	g->verdict = VERDICT_VIOLATED;
	g->example = h;
	g->finding = f ? finding_copy(&s->out->region, f) : NULL;
}

static bool violates(struct search *s, uint32_t slot)
{
	uint32_t count, i = 0;
	const uint32_t *violated = runner_violated(s->runner, &count);
	if (slot == robust_slot(s))
		return !runner_satisfies(s->runner, LEVEL_SERIAL);
	while (i < count && violated[i] != slot) i++;
	return i < count;
}

/* The engine's model, as an example of the goal if it is one. False if it is no
 * history, or a limit came first. */
static bool try_example(struct search *s, const struct engine *of,
                        struct decide_goal *g)
{
	struct example x;
	example_take(&x, &of->e);
	struct history *h = example_run(&x, s->runner);
	example_free(&x);
	if (h && violates(s, g->slot))
		keep_finding(s, g, h);
	else
		history_free(h);
	if (!h && !must_stop(s)) s->out->refuted = true;
	return h;
}

static void note_error(void *search, uint32_t slot, const struct finding *f)
{
	struct search *s = search;
	if (slot != error_slot(s)) return;
	uint32_t goal = goal_of(s, f); /* moves them */
	struct decide_goal *g = &s->out->goals[goal];
	if (g->verdict == VERDICT_VIOLATED) return;
	g->verdict = VERDICT_VIOLATED;
	g->example = runner_history(s->runner);
	g->finding = finding_copy(&s->out->region, f);
	s->errors++;
}

/* The run-time errors of the last run. Goals move, and the model is gone. */
static void note_errors(struct search *s)
{
	execution_findings(runner_execution(s->runner), note_error, s);
}

/* The same of one that is to be an example. */
static bool confirm(struct search *s, const struct engine *of,
                    struct decide_goal *g)
{
	bool run = try_example(s, of, g);
	if (run && is_open(g)) s->out->refuted = true;
	return run && !s->out->refuted;
}

/* ---- questions ---- */

/* Is there a history in which the literal is true? Open also if a model was
 * found that is none. */
static enum answer ask_history(struct search *s, struct engine *g, int literal,
                               int conflicts)
{
	struct clauses *c = &g->e.clauses;
	int all = clauses_variable(c);
	CLAUSE(c, -all, literal);
	CLAUSE(c, -all, g->e.all_over);
	return engine_ask(s, g, all, conflicts);
}

static void settle(struct search *s, const struct engine *g, uint32_t goal,
                   enum answer a)
{
	struct decide_goal *x = &s->out->goals[goal];
	if (a == ANSWER_MODEL)
		confirm(s, g, x);
	else if (a == ANSWER_NONE && s->out->complete)
		x->verdict = VERDICT_HOLDS;
}

/* It is not asked again. */
static void tire(struct search *s, uint32_t goal)
{
	if (goal >= s->tired_count) {
		uint32_t count = 2 * goal + 8;
		s->tired = mem_grow0(s->tired, s->tired_count, count,
		                     sizeof *s->tired);
		s->tired_count = count;
	}
	s->tired[goal] = true;
}

/* The same for what only whole histories tell: they are tried one by one, which
 * finds what many of them have, and is a proof if they are few. */
static void try_by_pairs(struct search *s, struct engine *g, uint32_t goal)
{
	enum { TRIES = 2000, TRIES_EARLY = 20 };
	struct clauses *c = &g->e.clauses;
	const struct decision *d = s->out;
	int tried = clauses_variable(c), *clause = NULL;
	uint32_t most = d->complete ? TRIES : TRIES_EARLY, i;
	size_t count, capacity = 0;
	enum answer a = ANSWER_MODEL;
	for (i = 0; i < most && is_open(&d->goals[goal]) && !must_stop(s);
	     i++) {
		a = ask_history(s, g, tried, s->conflicts);
		if (a != ANSWER_MODEL) {
			settle(s, g, goal, a);
			s->safe[goal] |= a == ANSWER_NONE && d->complete;
			break;
		}
		count = 0;
		VEC_RESERVE(clause, count, capacity);
		clause[count++] = -tried;
		pairs_choices(&g->e, &clause, &count, &capacity);
		if (!try_example(s, g, &s->out->goals[goal])) break;
		clauses_add(c, clause);
		note_errors(s);
	}
	if (d->complete && a == ANSWER_MODEL) tire(s, goal);
	free(clause);
}

/* By positions, one history has many models. */
static void try_histories(struct search *s, struct engine *g, uint32_t goal)
{
	if (g->form == order_by_pairs())
		try_by_pairs(s, g, goal);
	else
		s->open = true;
}

static bool is_final(const struct search *s, uint32_t slot)
{
	return slot < error_slot(s) &&
	       program_assertion(s->out->program, slot)->kind ==
	               ASSERTION_FINAL;
}

static bool is_serializable(const struct search *s, uint32_t slot)
{
	return slot == robust_slot(s) ||
	       (slot < error_slot(s) &&
	        program_assertion(s->out->program, slot)->kind ==
	                ASSERTION_SERIALIZABLE);
}

/* Is there more to ask about the goal? */
static bool is_unsettled(const struct search *s, uint32_t goal)
{
	const struct decide_goal *g = &s->out->goals[goal];
	return is_open(g) || (is_final(s, g->slot) && !s->safe[g->slot]);
}

static bool is_tired(const struct search *s, uint32_t goal)
{
	return goal < s->tired_count && s->tired[goal];
}

/* That its evaluation ends in a run-time error, at a place where none has been
 * met, is a goal like others, but nobody knows yet where. Is there one? */
static bool ask_error(struct search *s, struct engine *g, uint32_t slot,
                      int error)
{
	struct decide_goal x = { .slot = error_slot(s),
		                 .verdict = VERDICT_INCONCLUSIVE };
	uint32_t met = s->errors;
	enum answer a = error == -CLAUSES_TRUE
	                        ? ANSWER_NONE
	                        : ask_history(s, g, error, s->conflicts);
	if (a == ANSWER_NONE && s->out->complete) s->safe[slot] = true;
	if (a != ANSWER_MODEL || !confirm(s, g, &x)) return false;
	history_free(x.example);
	note_errors(s);
	if (s->errors == met) s->out->refuted = true;
	return s->errors > met;
}

/* Where errors have been met. */
static bool is_met(const void *search, uint32_t point)
{
	const struct search *s = search;
	const struct decision *d = s->out;
	uint32_t i = s->given;
	while (i < d->goal_count && (d->goals[i].point != point ||
	                             d->goals[i].verdict != VERDICT_VIOLATED))
		i++;
	return i < d->goal_count;
}

static void ask_final(struct search *s, struct engine *g, uint32_t goal)
{
	int fails, error;
	uint32_t slot = s->out->goals[goal].slot;
	bool more = true;
	while (more && is_unsettled(s, goal) && !must_stop(s)) {
		if (final_circuit(&g->e, &g->locals, slot, is_met, s, &fails,
		                  &error) != CIRCUIT_MADE) {
			try_histories(s, g, goal);
			return;
		}
		if (is_open(&s->out->goals[goal]))
			settle(s, g, goal,
			       ask_history(s, g, fails, s->conflicts));
		more = !s->safe[slot] && !must_stop(s) &&
		       ask_error(s, g, slot, error);
	}
}

/* Asks an engine about a goal. */
static void ask(struct search *s, struct engine *g, uint32_t goal)
{
	uint32_t slot = s->out->goals[goal].slot;
	if (is_final(s, slot))
		ask_final(s, g, goal);
	else if (!is_serializable(s, slot))
		settle(s, g, goal,
		       ask_history(s, g, clauses_of(g, goal)->fails,
		                   s->conflicts));
	else if (level_is_serial(s->out->options.level))
		s->out->goals[goal].verdict = VERDICT_HOLDS;
	else
		try_histories(s, g, goal);
}

/* Asks an engine about a goal, and the next where that is too hard for it. */
static void ask_engines(struct search *s, uint32_t goal)
{
	s->open = true;
	for (uint32_t i = 0; i < s->engine_count && s->open &&
	                     is_unsettled(s, goal) && !must_stop(s);
	     i++) {
		s->open = false;
		ask(s, engine_ready(s, i), goal);
	}
}

/* Is there something left to ask? */
static bool ask_all(struct search *s)
{
	bool left = false;
	s->asked_at = s->runs.count;
	for (uint32_t i = 0; i < s->out->goal_count && !must_stop(s); i++) {
		if (!is_tired(s, i)) ask_engines(s, i);
		left |= is_unsettled(s, i) && !is_tired(s, i);
	}
	return left && !must_stop(s);
}

static void strive(struct search *s)
{
	if (s->conflicts < CONFLICTS_MOST) s->conflicts *= CONFLICTS_MORE;
}

static void grow_runs(struct search *s)
{
	struct decision *d = s->out;
	while (!must_stop(s) && !d->complete && !all_violated(s)) {
		enum growth g = grow(s);
		if (must_stop(s)) return;
		if (g == GREW && s->runs.count < 2 * s->asked_at) continue;
		d->complete = g == COMPLETE;
		ask_all(s);
		if (g == STUCK) strive(s);
	}
}

static void search(struct search *s)
{
	struct decision *d = s->out;
	grow_runs(s);
	if (must_stop(s) || !d->complete) return;
	while (ask_all(s)) strive(s);
	if (!must_stop(s)) {
		struct engine *g = engine_ready(s, s->grower);
		d->vacuous = engine_ask(s, g, g->e.all_over, 0) == ANSWER_NONE;
	}
}

/* ---- the verdict ---- */

/* Is there nothing more to know? */
static bool all_settled(const struct search *s)
{
	const struct decision *d = s->out;
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (is_unsettled(s, i)) return false;
	return d->complete && !d->vacuous && !d->refuted && !d->stop &&
	       !d->obstacle;
}

static enum verdict judge(const struct decision *d)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (d->goals[i].verdict == VERDICT_VIOLATED)
			return VERDICT_VIOLATED;
	return d->settled ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

static bool meets_false_assumption(const struct search *s)
{
	uint32_t i = 0;
	while (i < s->runs.count && s->runs.nodes[i]->kind != RUN_VOID) i++;
	return i < s->runs.count;
}

/* Where code in C was cut short, executions are left out: nothing holds. */
static void heed_bound(struct decision *d)
{
	struct position at;
	if (!program_bound_met(d->program, &at)) return;
	if (!d->stop) d->stop = STOP_BOUND;
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (d->goals[i].verdict == VERDICT_HOLDS)
			d->goals[i].verdict = VERDICT_INCONCLUSIVE;
}

static void choose_engines(struct search *s)
{
	const struct decide_options *o = &s->out->options;
	bool positions = positions_fit(o->level);
	s->engine_count = positions ? 2 : 1;
	s->engines[positions && o->positions_first].form = order_by_pairs();
	if (positions)
		s->engines[!o->positions_first].form = order_by_positions();
}

static void begin(struct search *s)
{
	struct decision *d = s->out;
	const struct decide_options *o = &d->options;
	s->deadline = o->timeout > 0 ? s->begun + o->timeout : 0;
	struct machine_limits limits = { o->interrupt, s->deadline, o->memory };
	runs_init(&s->runs, d->program, o->level, &limits);
	choose_engines(s);
	s->runner = runner_new(d->program, o->level, o->interrupt);
	runner_deadline(s->runner, s->deadline);
	runner_memory(s->runner, o->memory);
	s->conflicts = CONFLICTS_FIRST;
	s->safe = mem_take0(error_slot(s) + 1, sizeof *s->safe);
	for (uint32_t i = 0; i < error_slot(s); i++) {
		add_goal(s, i, 0);
		s->safe[i] = !is_final(s, i);
	}
	if (o->robust) add_goal(s, robust_slot(s), 0);
	s->given = d->goal_count;
	engine_ready(s, 0);
}

static void end(struct search *s)
{
	struct decision *d = s->out;
	d->runs = s->runs.leaves;
	d->transactions = s->runs.slots;
	d->seconds = seconds_now() - s->begun;
	d->assumes = meets_false_assumption(s);
	heed_bound(d);
	d->settled = all_settled(s);
	d->verdict = judge(d);
	runner_free(s->runner);
	for (uint32_t i = 0; i < s->engine_count; i++)
		engine_end(&s->engines[i]);
	runs_free(&s->runs);
	free(s->safe);
	free(s->tired);
}

void decide(struct decision *out, const struct program *p,
            const struct decide_options *o)
{
	struct search s = { .out = out, .begun = seconds_now() };
	*out = (struct decision){ .options = *o, .program = p };
	region_init(&out->region);
	if (!out->options.memory) out->options.memory = mem_usual_limit();
	begin(&s);
	search(&s);
	end(&s);
}

void decision_free(struct decision *d)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		history_free(d->goals[i].example);
	free(d->goals);
	region_free(&d->region);
}
