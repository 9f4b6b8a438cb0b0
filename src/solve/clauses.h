/* Clauses for a SAT solver, and forms of them that grow: what is known of a
 * program's runs becomes more, and clauses that were added stay.
 */
#ifndef ISO_SOLVE_CLAUSES_H
#define ISO_SOLVE_CLAUSES_H

#include <ccadical.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLAUSES_TRUE = 1 }; /* the literal that is; -CLAUSES_TRUE is false */

struct clauses {
	CCaDiCaL *sat;
	int variables;
	uint64_t literals, questions;
	double deadline;                       /* seconds_now(); 0: none */
	const atomic_bool *interrupt, *enough; /* any of them ends it */
	int *tails;                            /* of open disjunctions */
	size_t tail_count, tail_capacity;
	/* All that was added, if it is kept for a proof: literals, 0 behind
	 * each clause. */
	bool keeps;
	int *kept;
	size_t kept_count, kept_capacity;
};

/* At most one of the literals added so far, and of those to come. */
struct at_most_one {
	int before; /* one of them is true; 0: there are none */
};

/* A premise implies that one of the literals is true, of those added so far;
 * more may come, until then the tail is assumed to be false. */
struct some_of {
	size_t tail; /* in clauses.tails */
};

enum answer { ANSWER_NONE, ANSWER_MODEL, ANSWER_OPEN };

/* A variable that nothing is known of is first tried as `guess`. */
void clauses_init(struct clauses *c, bool guess, bool keeps);
void clauses_free(struct clauses *c);
int clauses_variable(struct clauses *c);
/* A literal, or CLAUSES_TRUE or its negation, and 0 at the end. */
void clauses_add(struct clauses *c, const int *literals);
#define CLAUSE(c, ...) clauses_add((c), (const int[]){ __VA_ARGS__, 0 })
void at_most_one_add(struct clauses *c, struct at_most_one *m, int literal);
struct some_of some_of_begin(struct clauses *c, int premise);
void some_of_add(struct clauses *c, struct some_of *s, int literal);
/* Is there a model in which the literal (0: none) is true? Open if that took
 * so many conflicts (0: any number), or time is over. */
enum answer clauses_ask(struct clauses *c, int literal, int conflicts);
/* Of the last model. */
bool clauses_value(const struct clauses *c, int literal);
/* Roughly what the solver holds. */
uint64_t clauses_bytes(const struct clauses *c);
bool clauses_over(const struct clauses *c); /* time is */

#endif
