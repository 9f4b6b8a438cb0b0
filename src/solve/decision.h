/* Decides a program's assertions without enumerating its histories: a SAT
 * solver is asked for one run of each session and a writer for each read, such
 * that the level holds and the assertion does not.
 *
 * 1. Runs grow from below: by random histories, as long as these show new ones
 *    (sampling.h); then the solver finds a history, or the beginning of one, in
 *    which some session reads a value that none of its known runs reads there,
 *    until there is none. That last question can be hard, so that it has
 *    a budget.
 * 2. In between, and in the end, each assertion is asked about on the runs
 *    known so far. A model is a history: it is run, and checked, before it
 *    counts. No model is a proof if all runs are known.
 * 3. A question that an encoding does not answer within its budget goes to the
 *    other one (encoding.h), and then again to each with a larger budget.
 *
 * The method: exact projections of all histories on the sessions, by growth
 * (CheckFence mines observations alike: Burckhardt, Alur, Martin, PLDI 2007).
 */
#ifndef ISO_SOLVE_DECISION_H
#define ISO_SOLVE_DECISION_H

#include "axioms/level.h"
#include "base/budget.h"
#include "base/region.h"
#include "base/verdict.h"
#include "solve/proof.h"

struct finding;
struct history;
struct program;

struct decide_progress {
	uint64_t runs, questions;
	bool complete; /* all runs are known */
	double seconds;
};

struct decide_options {
	enum level level;
	const char *as; /* what the database calls it, if it was said so */
	WITH_BUDGET;    /* max_histories of none */
	/* That every history is serializable is a goal as well: its slot comes
	 * behind that of errors. */
	bool robust;
	const atomic_bool *enough; /* true: somebody else has answered */
	/* Asks by positions first, where the level has them (the tests do). */
	bool positions_first;
	/* Runs no random histories: the solver finds all (likewise). */
	bool unsampled;
	/* Gives up at once, as if memory were short (likewise). */
	bool gives_up;
	/* Runs stay apart (joins.h): who lists them wants that (and the
	 * tests). */
	bool apart;
	/* If all holds, the proof goes to this file, and what it is of to
	 * another, whose name has ".cnf" behind it; or NULL. */
	const char *proof;
	void (*tick)(void *payload, const struct decide_progress *p);
	void *payload;
};

/* What became of a proof. */
enum proof_end {
	PROOF_NONE,   /* not everything holds, or nobody asked for it */
	PROOF_WHOLE,  /* it was written */
	PROOF_LARGE,  /* something was shown by trying histories */
	PROOF_OPEN,   /* a limit came first */
	PROOF_NO_FILE /* a file could not be written */
};

/* An assertion of the program, or run-time errors at one place. */
struct decide_goal {
	uint32_t slot;  /* as in dpor/explorer.h: the assertion, errors, or
	                 * robustness */
	uint32_t point; /* of errors: in the source */
	enum verdict verdict;
	struct history *example;       /* violated: the history, and */
	const struct finding *finding; /* what fails there */
};

struct decision {
	struct decide_options options;
	const struct program *program;
	struct region region;
	enum verdict verdict;
	enum stop_reason stop;
	bool vacuous;  /* there is no history */
	bool assumes;  /* executions were left out: see RUN_VOID */
	bool refuted;  /* a model that was no history: nothing else is told */
	bool complete; /* all runs are known */
	bool settled;  /* and nothing is open */
	/* What was met that is not decided, and where, or NULL. */
	const char *obstacle;
	uint32_t obstacle_point;
	struct decide_goal *goals; /* assertions, robustness, errors */
	uint32_t goal_count, goal_capacity;
	uint64_t runs, transactions, questions;
	/* The answer is that of exploring, and of all these histories. */
	bool explored;
	uint64_t histories;
	enum proof_end proof;
	struct proof_size proof_size; /* PROOF_WHOLE */
	double seconds;
	uint64_t memory;
};

/* Why the program cannot be decided at the level, "reads that lock"; NULL: it
 * can, as far as that is known beforehand. */
const char *decide_obstacle(const struct program *p, enum level l);
/* The program, for which there is no obstacle, is borrowed. */
void decide(struct decision *out, const struct program *p,
            const struct decide_options *o);
void decision_free(struct decision *d);

#endif
