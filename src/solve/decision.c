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
#include "vm/machine.h"
#include "vm/program.h"

/* Conflicts of the solver: for the question of new runs at first, and how many
 * times more after each time that this was not enough. Assertions get as many,
 * before all runs are known. */
enum { CONFLICTS_FIRST = 2000, CONFLICTS_MORE = 4, CONFLICTS_MOST = 1 << 28 };

/* What belongs to a goal while it is open. */
struct goal_clauses {
	int fails;             /* it is violated by a leaf */
	struct some_of leaves; /* namely one of these */
};

struct search {
	struct decision *out;
	struct runs runs;
	struct encoding e;
	struct final_locals locals;
	struct runner *runner;
	struct goal_clauses *clauses; /* by goal */
	uint32_t clause_count, clause_capacity;
	bool *safe; /* by final assertion: there is no other run-time error in
	             * it than those that were met */
	uint32_t errors;   /* that runs have shown, by note_errors */
	uint32_t seen;     /* nodes whose findings are among the goals */
	uint32_t asked_at; /* nodes when the goals were asked */
	int conflicts;
	double begun;
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

static uint32_t add_goal(struct search *s, uint32_t slot, uint32_t point)
{
	struct decision *d = s->out;
	struct clauses *c = &s->e.clauses;
	VEC_RESERVE(d->goals, d->goal_count, d->goal_capacity);
	VEC_RESERVE(s->clauses, s->clause_count, s->clause_capacity);
	assert(s->clause_count == d->goal_count);
	d->goals[d->goal_count] = (struct decide_goal){
		.slot = slot, .point = point, .verdict = VERDICT_INCONCLUSIVE
	};
	struct goal_clauses *g = &s->clauses[s->clause_count++];
	g->fails = clauses_variable(c);
	g->leaves = some_of_begin(c, g->fails);
	CLAUSE(c, -g->fails, s->e.all_over);
	return d->goal_count++;
}

/* Assertions have the goals of their numbers; errors are told apart by where
 * they happen. */
static uint32_t goal_of(struct search *s, const struct finding *f)
{
	const struct decision *d = s->out;
	if (f->kind == FINDING_ASSERT) return f->assertion;
	uint32_t i = error_slot(s);
	while (i < d->goal_count && d->goals[i].point != f->point) i++;
	return i < d->goal_count ? i : add_goal(s, error_slot(s), f->point);
}

static void see_findings(struct search *s)
{
	for (; s->seen < s->runs.count; s->seen++) {
		const struct run_node *n = s->runs.nodes[s->seen];
		if (n->kind != RUN_OVER) continue;
		const struct finding *f = machine_findings(n->state);
		for (; f; f = f->older) {
			assert(f->kind != FINDING_ASSUME);
			uint32_t g = goal_of(s, f);
			some_of_add(&s->e.clauses, &s->clauses[g].leaves,
			            s->e.nodes[n->number].at);
		}
	}
}

static bool is_open(const struct decide_goal *g)
{
	return g->verdict == VERDICT_INCONCLUSIVE;
}

static bool all_violated(const struct search *s)
{
	const struct decision *d = s->out;
	for (uint32_t i = 0; i < error_slot(s); i++)
		if (d->goals[i].verdict != VERDICT_VIOLATED) return false;
	return error_slot(s) > 0;
}

/* ---- limits ---- */

static uint64_t bytes(const struct search *s)
{
	return runs_bytes(&s->runs) + clauses_bytes(&s->e.clauses) +
	       runner_bytes(s->runner);
}

static void tick(struct search *s)
{
	const struct decide_options *o = &s->out->options;
	struct decide_progress p = { .runs = s->runs.leaves,
		                     .questions = s->e.clauses.questions,
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
	else if (clauses_over(&s->e.clauses))
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

/* The reads that a model answers by what is new. */
static uint32_t list_wanted(const struct search *s, struct wanted *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->runs.context.sessions; i++) {
		struct run_node *n = encoding_stands(&s->e, i);
		if (n->kind != RUN_READS ||
		    !clauses_value(&s->e.clauses, s->e.nodes[n->number].open))
			continue;
		out[count++] = (struct wanted){ n, encoding_answer(&s->e, n) };
	}
	assert(count);
	return count;
}

static enum growth grow(struct search *s)
{
	struct wanted *wanted;
	switch (clauses_ask(&s->e.clauses, s->e.some_open, s->conflicts)) {
	case ANSWER_NONE: return COMPLETE;
	case ANSWER_OPEN: return STUCK;
	case ANSWER_MODEL: break;
	}
	wanted = mem_take(s->runs.context.sessions * sizeof *wanted);
	uint32_t count = list_wanted(s, wanted);
	for (uint32_t i = 0; i < count; i++) {
		struct run_node *n =
			runs_grow(&s->runs, wanted[i].at, wanted[i].value);
		if (!n) break;
		encoding_add(&s->e, n);
	}
	free(wanted);
	see_findings(s);
	return GREW;
}

/* ---- examples ---- */

static void keep_finding(struct search *s, struct decide_goal *g,
                         struct history *h)
{
	const struct finding *f = runner_finding(s->runner, g->slot);
	g->verdict = VERDICT_VIOLATED;
	g->example = h;
	g->finding = f ? finding_copy(&s->out->region, f) : NULL;
}

static bool violates(struct search *s, uint32_t slot)
{
	uint32_t count, i = 0;
	const uint32_t *violated = runner_violated(s->runner, &count);
	while (i < count && violated[i] != slot) i++;
	return i < count;
}

/* The last model, as an example of the goal if it is one. False if it is no
 * history, or a limit came first. */
static bool try_example(struct search *s, struct decide_goal *g)
{
	struct example x;
	example_take(&x, &s->e);
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
	struct decide_goal *g = &s->out->goals[goal_of(s, f)];
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
static bool confirm(struct search *s, struct decide_goal *g)
{
	bool run = try_example(s, g);
	if (run && is_open(g)) s->out->refuted = true;
	return run && !s->out->refuted;
}

/* ---- questions ---- */

/* Is there a history in which the literal is true? Open also if a model was
 * found that is none. */
static enum answer ask_history(struct search *s, int literal, int conflicts)
{
	struct clauses *c = &s->e.clauses;
	int all = clauses_variable(c);
	CLAUSE(c, -all, literal);
	CLAUSE(c, -all, s->e.all_over);
	return clauses_ask(c, all, conflicts);
}

static void settle(struct search *s, uint32_t goal, enum answer a)
{
	struct decide_goal *g = &s->out->goals[goal];
	if (a == ANSWER_MODEL)
		confirm(s, g);
	else if (a == ANSWER_NONE && s->out->complete)
		g->verdict = VERDICT_HOLDS;
}

/* The same for what only whole histories tell: they are tried one by one, which
 * finds what many of them have, and is a proof if they are few. */
static void try_histories(struct search *s, uint32_t goal, int conflicts)
{
	enum { TRIES = 2000, TRIES_EARLY = 20 };
	struct clauses *c = &s->e.clauses;
	const struct decision *d = s->out;
	int tried = clauses_variable(c), *clause = NULL;
	uint32_t most = d->complete ? TRIES : TRIES_EARLY;
	size_t count, capacity = 0;
	for (uint32_t i = 0;
	     i < most && is_open(&d->goals[goal]) && !must_stop(s); i++) {
		enum answer a = ask_history(s, tried, conflicts);
		if (a != ANSWER_MODEL) {
			settle(s, goal, a);
			s->safe[goal] |= a == ANSWER_NONE && d->complete;
			break;
		}
		count = 0;
		VEC_RESERVE(clause, count, capacity);
		clause[count++] = -tried;
		encoding_choices(&s->e, &clause, &count, &capacity);
		if (!try_example(s, &s->out->goals[goal])) break;
		clauses_add(c, clause);
		note_errors(s);
	}
	free(clause);
}

static bool is_final(const struct search *s, uint32_t slot)
{
	return slot < error_slot(s) &&
	       program_assertion(s->out->program, slot)->kind ==
	               ASSERTION_FINAL;
}

static bool is_serializable(const struct search *s, uint32_t slot)
{
	return slot < error_slot(s) &&
	       program_assertion(s->out->program, slot)->kind ==
	               ASSERTION_SERIALIZABLE;
}

/* Is there more to ask about the goal? */
static bool is_unsettled(const struct search *s, uint32_t goal)
{
	const struct decide_goal *g = &s->out->goals[goal];
	return is_open(g) || (is_final(s, g->slot) && !s->safe[g->slot]);
}

/* That its evaluation ends in a run-time error, at a place where none has been
 * met, is a goal like others, but nobody knows yet where. Is there one? */
static bool ask_error(struct search *s, uint32_t slot, int error, int conflicts)
{
	struct decide_goal g = { .slot = error_slot(s),
		                 .verdict = VERDICT_INCONCLUSIVE };
	uint32_t met = s->errors;
	enum answer a = error == -CLAUSES_TRUE
	                        ? ANSWER_NONE
	                        : ask_history(s, error, conflicts);
	if (a == ANSWER_NONE && s->out->complete) s->safe[slot] = true;
	if (a != ANSWER_MODEL || !confirm(s, &g)) return false;
	history_free(g.example);
	note_errors(s);
	if (s->errors == met) s->out->refuted = true;
	return s->errors > met;
}

/* Where errors have been met. */
static bool is_met(const void *search, uint32_t point)
{
	const struct search *s = search;
	const struct decision *d = s->out;
	uint32_t i = error_slot(s);
	while (i < d->goal_count && (d->goals[i].point != point ||
	                             d->goals[i].verdict != VERDICT_VIOLATED))
		i++;
	return i < d->goal_count;
}

static void ask_final(struct search *s, uint32_t goal, int conflicts)
{
	int fails, error;
	uint32_t slot = s->out->goals[goal].slot;
	bool more = true;
	while (more && is_unsettled(s, goal) && !must_stop(s)) {
		if (final_circuit(&s->e, &s->locals, slot, is_met, s, &fails,
		                  &error) != CIRCUIT_MADE) {
			try_histories(s, goal, conflicts);
			return;
		}
		if (is_open(&s->out->goals[goal]))
			settle(s, goal, ask_history(s, fails, conflicts));
		more = !s->safe[slot] && !must_stop(s) &&
		       ask_error(s, slot, error, conflicts);
	}
}

/* Asks about a goal; `conflicts` 0: for as long as it takes. */
static void ask(struct search *s, uint32_t goal, int conflicts)
{
	uint32_t slot = s->out->goals[goal].slot;
	if (is_final(s, slot))
		ask_final(s, goal, conflicts);
	else if (!is_serializable(s, slot))
		settle(s, goal,
		       ask_history(s, s->clauses[goal].fails, conflicts));
	else if (!level_is_serial(s->out->options.level))
		try_histories(s, goal, conflicts);
	else
		s->out->goals[goal].verdict = VERDICT_HOLDS;
}

static bool ask_all(struct search *s, int conflicts)
{
	s->asked_at = s->runs.count;
	for (uint32_t i = 0; i < s->out->goal_count; i++) {
		if (must_stop(s)) return false;
		if (is_unsettled(s, i)) ask(s, i, conflicts);
	}
	return !must_stop(s);
}

static void search(struct search *s)
{
	struct decision *d = s->out;
	while (!must_stop(s) && !d->complete) {
		if (all_violated(s)) return;
		enum growth g = grow(s);
		if (must_stop(s)) return;
		if (g == GREW && s->runs.count < 2 * s->asked_at) continue;
		d->complete = g == COMPLETE;
		if (!ask_all(s, d->complete ? 0 : s->conflicts)) return;
		if (g == STUCK && s->conflicts < CONFLICTS_MOST)
			s->conflicts *= CONFLICTS_MORE;
	}
	if (!d->stop && !d->obstacle)
		d->vacuous = clauses_ask(&s->e.clauses, s->e.all_over, 0) ==
		             ANSWER_NONE;
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

static void begin(struct search *s)
{
	struct decision *d = s->out;
	const struct decide_options *o = &d->options;
	double deadline = o->timeout > 0 ? s->begun + o->timeout : 0;
	struct machine_limits limits = { o->interrupt, deadline, o->memory };
	runs_init(&s->runs, d->program, o->level, &limits);
	encoding_init(&s->e, &s->runs);
	s->e.clauses.deadline = deadline;
	s->e.clauses.interrupt = o->interrupt;
	s->runner = runner_new(d->program, o->level, o->interrupt);
	runner_deadline(s->runner, deadline);
	runner_memory(s->runner, o->memory);
	s->conflicts = CONFLICTS_FIRST;
	s->safe = mem_take0(error_slot(s) + 1, sizeof *s->safe);
	for (uint32_t i = 0; i < error_slot(s); i++) {
		add_goal(s, i, 0);
		s->safe[i] = !is_final(s, i);
	}
	see_findings(s);
}

static void end(struct search *s)
{
	struct decision *d = s->out;
	d->runs = s->runs.leaves;
	d->transactions = s->e.slot_count;
	d->questions = s->e.clauses.questions;
	d->seconds = seconds_now() - s->begun;
	d->assumes = meets_false_assumption(s);
	heed_bound(d);
	d->settled = all_settled(s);
	d->verdict = judge(d);
	runner_free(s->runner);
	final_locals_free(&s->locals);
	encoding_free(&s->e);
	runs_free(&s->runs);
	free(s->clauses);
	free(s->safe);
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
