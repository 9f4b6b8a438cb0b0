#include "solve/decision.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "execution/complete.h"
#include "history/history.h"
#include "solve/pairs.h"
#include "solve/solving.h"
#include "vm/machine.h"
#include "vm/program.h"

const char *decide_obstacle(const struct program *p, enum level l)
{
	return runs_obstacle(p, l);
}

/* ---- goals ---- */

static uint32_t error_slot(const struct solving *s)
{
	return program_assertion_count(s->out->program);
}

static uint32_t robust_slot(const struct solving *s)
{
	return error_slot(s) + 1;
}

static uint32_t add_goal(struct solving *s, uint32_t slot, uint32_t point)
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
static uint32_t goal_of(struct solving *s, const struct finding *f)
{
	const struct decision *d = s->out;
	if (f->kind == FINDING_ASSERT) return f->assertion;
	uint32_t i = s->given;
	while (i < d->goal_count && d->goals[i].point != f->point) i++;
	return i < d->goal_count ? i : add_goal(s, error_slot(s), f->point);
}

static void see_findings(struct solving *s, struct engine *g)
{
	for (; g->seen < g->e.node_count; g->seen++) {
		const struct run_node *n = s->runs->nodes[g->seen];
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

static struct engine *engine_at(struct solving *s, uint32_t i)
{
	struct engine *g = solving_engine(s, i);
	see_findings(s, g);
	return g;
}

static bool is_open(const struct decide_goal *g)
{
	return g->verdict == VERDICT_INCONCLUSIVE;
}

static bool all_violated(const struct solving *s)
{
	const struct decision *d = s->out;
	for (uint32_t i = 0; i < s->given; i++)
		if (d->goals[i].verdict != VERDICT_VIOLATED) return false;
	return s->given > 0;
}

/* ---- examples ---- */

static void keep_finding(struct solving *s, struct decide_goal *g,
                         const struct finding *f)
{
	if (!g->finding) g->finding = finding_copy(&s->out->region, f);
}

struct error_there {
	struct solving *s;
	struct decide_goal *goal;
};

/* Does the error happen where the goal says? */
static void compare_place(void *wanted, uint32_t slot, const struct finding *f)
{
	const struct error_there *w = wanted;
	if (slot == error_slot(w->s) && f->point == w->goal->point)
		keep_finding(w->s, w->goal, f);
}

/* Is the last run an example of the goal? Then its finding is kept, if it is
 * not the order of the transactions. */
static bool violates(struct solving *s, struct decide_goal *g)
{
	uint32_t count, i = 0;
	if (g->slot == robust_slot(s))
		return !runner_satisfies(s->runner, LEVEL_SERIAL);
	if (g->slot == error_slot(s)) {
		struct error_there w = { s, g };
		execution_findings(runner_execution(s->runner), compare_place,
		                   &w);
		return g->finding;
	}
	const uint32_t *violated = runner_violated(s->runner, &count);
	while (i < count && violated[i] != g->slot) i++;
	if (i == count) return false;
	const struct finding *f = runner_finding(s->runner, g->slot);
	if (f) keep_finding(s, g, f);
	return true;
}

static void keep_example(struct decide_goal *g, struct history *h)
{
	g->verdict = VERDICT_VIOLATED;
	g->example = h;
}

/* The engine's model, as an example of the goal if it is one. False if it is no
 * history, or a limit came first. */
static bool try_example(struct solving *s, const struct engine *of,
                        struct decide_goal *g)
{
	struct history *h = solving_history(s, of);
	bool run = h;
	if (h && violates(s, g))
		keep_example(g, h);
	else
		history_free(h);
	return run;
}

static void note_error(void *search, uint32_t slot, const struct finding *f)
{
	struct solving *s = search;
	if (slot != error_slot(s)) return;
	uint32_t goal = goal_of(s, f); /* moves them */
	struct decide_goal *g = &s->out->goals[goal];
	if (g->verdict == VERDICT_VIOLATED) return;
	keep_finding(s, g, f);
	keep_example(g, runner_history(s->runner));
	s->errors++;
}

/* The run-time errors of the last run. Goals move, and the model is gone. */
static void note_errors(struct solving *s)
{
	execution_findings(runner_execution(s->runner), note_error, s);
}

/* The same of one that is to be an example. */
static bool confirm(struct solving *s, const struct engine *of,
                    struct decide_goal *g)
{
	bool run = try_example(s, of, g);
	if (run && is_open(g)) s->out->refuted = true;
	return run && !s->out->refuted;
}

/* ---- questions ---- */

static void settle(struct solving *s, const struct engine *g, uint32_t goal,
                   enum answer a)
{
	struct decide_goal *x = &s->out->goals[goal];
	if (a == ANSWER_MODEL)
		confirm(s, g, x);
	else if (a == ANSWER_NONE && s->out->complete)
		x->verdict = VERDICT_HOLDS;
}

/* It is not asked again. */
static void tire(struct solving *s, uint32_t goal)
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
static void try_by_pairs(struct solving *s, struct engine *g, uint32_t goal)
{
	enum { TRIES = 2000, TRIES_EARLY = 20 };
	struct clauses *c = &g->e.clauses;
	const struct decision *d = s->out;
	int tried = clauses_variable(c), *clause = NULL;
	uint32_t most = d->complete ? TRIES : TRIES_EARLY, i;
	size_t count, capacity = 0;
	enum answer a = ANSWER_MODEL;
	for (i = 0;
	     i < most && is_open(&d->goals[goal]) && !solving_must_stop(s);
	     i++) {
		a = solving_ask_history(s, g, tried);
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
static void try_histories(struct solving *s, struct engine *g, uint32_t goal)
{
	if (g->form == order_by_pairs())
		try_by_pairs(s, g, goal);
	else
		s->open = true;
}

static bool is_final(const struct solving *s, uint32_t slot)
{
	return slot < error_slot(s) &&
	       program_assertion(s->out->program, slot)->kind ==
	               ASSERTION_FINAL;
}

static bool is_serializable(const struct solving *s, uint32_t slot)
{
	return slot == robust_slot(s) ||
	       (slot < error_slot(s) &&
	        program_assertion(s->out->program, slot)->kind ==
	                ASSERTION_SERIALIZABLE);
}

/* Is there more to ask about the goal? */
static bool is_unsettled(const struct solving *s, uint32_t goal)
{
	const struct decide_goal *g = &s->out->goals[goal];
	return is_open(g) || (is_final(s, g->slot) && !s->safe[g->slot]);
}

static bool is_tired(const struct solving *s, uint32_t goal)
{
	return goal < s->tired_count && s->tired[goal];
}

/* That its evaluation ends in a run-time error, at a place where none has been
 * met, is a goal like others, but nobody knows yet where. Is there one? */
static bool ask_error(struct solving *s, struct engine *g, uint32_t slot,
                      int error)
{
	uint32_t met = s->errors;
	enum answer a = error == -CLAUSES_TRUE
	                        ? ANSWER_NONE
	                        : solving_ask_history(s, g, error);
	if (a == ANSWER_NONE && s->out->complete) s->safe[slot] = true;
	struct history *h = a == ANSWER_MODEL ? solving_history(s, g) : NULL;
	if (!h) return false;
	history_free(h);
	note_errors(s);
	if (s->errors == met) s->out->refuted = true;
	return s->errors > met;
}

/* Where errors have been met. */
static bool is_met(const void *search, uint32_t point)
{
	const struct solving *s = search;
	const struct decision *d = s->out;
	uint32_t i = s->given;
	while (i < d->goal_count && (d->goals[i].point != point ||
	                             d->goals[i].verdict != VERDICT_VIOLATED))
		i++;
	return i < d->goal_count;
}

static void ask_final(struct solving *s, struct engine *g, uint32_t goal)
{
	int fails, error;
	uint32_t slot = s->out->goals[goal].slot;
	bool more = true;
	while (more && is_unsettled(s, goal) && !solving_must_stop(s)) {
		if (final_circuit(&g->e, &g->locals, slot, is_met, s, &fails,
		                  &error) != CIRCUIT_MADE) {
			try_histories(s, g, goal);
			return;
		}
		if (is_open(&s->out->goals[goal]))
			settle(s, g, goal, solving_ask_history(s, g, fails));
		more = !s->safe[slot] && !solving_must_stop(s) &&
		       ask_error(s, g, slot, error);
	}
}

/* Asks an engine about a goal. */
static void ask(struct solving *s, struct engine *g, uint32_t goal)
{
	uint32_t slot = s->out->goals[goal].slot;
	if (is_final(s, slot))
		ask_final(s, g, goal);
	else if (!is_serializable(s, slot))
		settle(s, g, goal,
		       solving_ask_history(s, g, clauses_of(g, goal)->fails));
	else if (level_is_serial(s->out->options.level) && !s->runs->mixed)
		s->out->goals[goal].verdict = VERDICT_HOLDS;
	else
		try_histories(s, g, goal);
}

/* Asks an engine about a goal, and the next where that is too hard for it. */
static void ask_engines(struct solving *s, uint32_t goal)
{
	s->open = true;
	for (uint32_t i = 0; i < s->engine_count && s->open &&
	                     is_unsettled(s, goal) && !solving_must_stop(s);
	     i++) {
		s->open = false;
		ask(s, engine_at(s, i), goal);
	}
}

/* Is there something left to ask? */
static bool ask_all(struct solving *s)
{
	bool left = false;
	s->asked_at = s->runs->count;
	engine_at(s, 0); /* what errors there are */
	for (uint32_t i = 0; i < s->out->goal_count && !solving_must_stop(s);
	     i++) {
		if (!is_tired(s, i)) ask_engines(s, i);
		left |= is_unsettled(s, i) && !is_tired(s, i);
	}
	return left && !solving_must_stop(s);
}

static void grow_runs(struct solving *s)
{
	struct decision *d = s->out;
	while (!solving_must_stop(s) && !d->complete && !all_violated(s)) {
		enum growth g = solving_grow(s);
		if (solving_must_stop(s)) return;
		if (g == GREW && s->runs->count < 2 * s->asked_at) continue;
		d->complete = g == COMPLETE;
		ask_all(s);
		if (g == STUCK) solving_strive(s);
	}
}

static void search(struct solving *s)
{
	struct decision *d = s->out;
	grow_runs(s);
	if (solving_must_stop(s) || !d->complete) return;
	while (ask_all(s)) solving_strive(s);
	if (!solving_must_stop(s)) {
		struct engine *g = engine_at(s, s->grower);
		d->vacuous = solving_ask(s, g, g->e.all_over, 0) == ANSWER_NONE;
	}
}

/* ---- proofs ---- */

/* All sessions are at their ends, and the literal is true. */
static void claim_whole(struct engine *g, struct some_of *any, int literal)
{
	struct clauses *c = &g->e.clauses;
	int whole = clauses_variable(c);
	CLAUSE(c, -whole, literal);
	CLAUSE(c, -whole, g->e.all_over);
	some_of_add(c, any, whole);
}

/* That the goal is violated; false if no clauses say so. */
static bool claim_goal(struct solving *s, struct engine *g, uint32_t goal,
                       struct some_of *any)
{
	int fails, error;
	uint32_t slot = s->out->goals[goal].slot;
	if (is_serializable(s, slot))
		return level_is_serial(s->out->options.level) &&
		       !s->runs->mixed;
	if (!is_final(s, slot)) {
		some_of_add(&g->e.clauses, any, clauses_of(g, goal)->fails);
		return true;
	}
	if (final_circuit(&g->e, &g->locals, slot, is_met, s, &fails, &error) !=
	    CIRCUIT_MADE)
		return false;
	claim_whole(g, any, fails);
	claim_whole(g, any, error);
	return true;
}

/* A literal: there are other runs than those known, or some goal is violated.
 * 0: no clauses say so. */
static int claim(struct solving *s, struct engine *g)
{
	int literal = clauses_variable(&g->e.clauses);
	struct some_of any = some_of_begin(&g->e.clauses, literal);
	some_of_add(&g->e.clauses, &any, solving_growth(g));
	for (uint32_t i = 0; i < s->out->goal_count; i++)
		if (!claim_goal(s, g, i, &any)) return 0;
	return literal;
}

static FILE *open_file(const char *path, const char *ending)
{
	struct text name = { 0 };
	text_string(&name, path);
	text_string(&name, ending);
	FILE *f = fopen(text_get(&name), "we");
	text_free(&name);
	return f;
}

static bool close_file(FILE *f)
{
	bool fine = f && !ferror(f);
	return !(f && fclose(f)) && fine;
}

static enum proof_end write_claim(struct solving *s, const struct clauses *c,
                                  int literal)
{
	const char *path = s->out->options.proof;
	FILE *formula = open_file(path, ".cnf"), *steps = open_file(path, "");
	enum answer a = ANSWER_OPEN;
	if (formula && steps)
		a = proof_write(c, literal, s->conflicts, formula, steps,
		                &s->out->proof_size);
	bool fine = close_file(formula);
	fine &= close_file(steps);
	if (a == ANSWER_MODEL) s->out->refuted = true;
	if (!fine) return PROOF_NO_FILE;
	return a == ANSWER_NONE ? PROOF_WHOLE : PROOF_OPEN;
}

/* In one form of the order or the other. */
static void prove(struct solving *s)
{
	struct decision *d = s->out;
	d->proof = PROOF_OPEN;
	while (d->proof == PROOF_OPEN && !solving_must_stop(s)) {
		for (uint32_t i = 0;
		     i < s->engine_count && d->proof == PROOF_OPEN; i++) {
			struct engine *g = engine_at(s, i);
			int literal = claim(s, g);
			d->proof =
				literal ? write_claim(s, &g->e.clauses, literal)
					: PROOF_LARGE;
		}
		solving_strive(s);
	}
	d->stop = STOP_NONE; /* it stopped nothing else */
	if (!d->refuted) return;
	d->settled = false;
	d->verdict = VERDICT_INCONCLUSIVE;
}

/* ---- the verdict ---- */

/* Is there nothing more to know? */
static bool all_settled(const struct solving *s)
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

static bool meets_false_assumption(const struct solving *s)
{
	uint32_t i = 0;
	while (i < s->runs->count && s->runs->nodes[i]->kind != RUN_VOID) i++;
	return i < s->runs->count;
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

static void begin(struct solving *s)
{
	struct decision *d = s->out;
	s->safe = mem_take0(error_slot(s) + 1, sizeof *s->safe);
	for (uint32_t i = 0; i < error_slot(s); i++) {
		add_goal(s, i, 0);
		s->safe[i] = !is_final(s, i);
	}
	if (d->options.robust) add_goal(s, robust_slot(s), 0);
	s->given = d->goal_count;
}

static void end(struct solving *s)
{
	struct decision *d = s->out;
	d->runs = s->runs->leaves;
	d->assumes = meets_false_assumption(s);
	heed_bound(d);
	d->settled = all_settled(s);
	d->verdict = judge(d);
	if (d->verdict == VERDICT_HOLDS && d->options.proof) prove(s);
	solving_end(s);
	free(s->safe);
	free(s->tired);
}

void decide(struct decision *out, const struct program *p,
            const struct decide_options *o)
{
	struct solving s;
	struct runs runs;
	*out = (struct decision){ .options = *o, .program = p };
	region_init(&out->region);
	solving_begin(&s, out, &runs);
	begin(&s);
	search(&s);
	end(&s);
	bool anew = runs.outgrown && !runs_obstacle(p, o->level);
	runs_free(&runs);
	if (!anew) return;
	decision_free(out);
	decide(out, p, o);
}

void decision_free(struct decision *d)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		history_free(d->goals[i].example);
	free(d->goals);
	region_free(&d->region);
}
