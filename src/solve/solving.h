/* What deciding and listing runs have in common: a program's local runs grow
 * from what an encoding of its histories says can be read, until nothing new
 * can; and models are tried as histories. Calls of one search, in the order in
 * which questions become harder.
 */
#ifndef ISO_SOLVE_SOLVING_H
#define ISO_SOLVE_SOLVING_H

#include "run/runner.h"
#include "solve/decision.h"
#include "solve/encoding.h"
#include "solve/final_circuit.h"
#include "solve/sampling.h"

struct history;

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

struct solving {
	struct decision *out; /* limits, and what became of them */
	struct runs *runs;
	struct engine engines[ENGINES]; /* in the order they are asked */
	uint32_t engine_count, grower;  /* which found the last new run */
	struct runner *runner;
	struct sampling sampling;
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

/* Of the decision's options and program, from `begun` on; with one engine
 * ready. The runs are the caller's to free, after solving_end(). */
void solving_begin(struct solving *s, struct decision *out, struct runs *runs);
void solving_end(struct solving *s);
/* Why it stops, if it does: then the decision says it. */
bool solving_must_stop(struct solving *s);
/* The next questions may take more. */
void solving_strive(struct solving *s);

enum growth { GREW, COMPLETE, STUCK };

/* Looks for something that can be read and no known run reads. COMPLETE: there
 * are no other runs; STUCK: nobody answered, or it is time to stop. */
enum growth solving_grow(struct solving *s);

/* That something can be read that no known run reads, sessions of the same code
 * being in one order: a new literal. */
int solving_growth(struct engine *g);

/* The engine with all that is known of runs. */
struct engine *solving_engine(struct solving *s, uint32_t i);
/* Is there a model in which the literal (0: none) is true? */
enum answer solving_ask(struct solving *s, struct engine *g, int literal,
                        int conflicts);
/* The same, and all sessions are at their ends in it: a history. */
enum answer solving_ask_history(struct solving *s, struct engine *g,
                                int literal);
/* The engine's model as a history, run and checked; it is the caller's, and the
 * runner is at its end. NULL if it is none, which the decision then says, or a
 * limit came first. */
struct history *solving_history(struct solving *s, const struct engine *of);

#endif
