/* The solver that proposes: which transactions are kept, which copies diverge,
 * and what their free reads take.
 *
 * Variables: out(t), transaction t is not kept; in(c), copy c is there; and one
 * for each option, of which every free read of a copy that is there has one.
 * Clauses say what a proposal is; what is learnt about levels and serial orders
 * comes later.
 */
#ifndef ISO_PREDICT_PROPOSAL_H
#define ISO_PREDICT_PROPOSAL_H

#include <ccadical.h>

#include "base/table.h"
#include "predict/divergent_copies.h"

struct definition {
	int variable;
	size_t first, count; /* its clauses, in proposal.defined */
};

/* The option cannot be taken while the transaction is kept. */
struct option_rival {
	size_t option;
	uint32_t transaction;
};

struct proposal {
	const struct observed_history *o;
	const struct divergent_copies *c;
	CCaDiCaL *sat;
	int variables;
	uint64_t literals; /* of all clauses */
	/* The last proposal. */
	word *kept;       /* a row, without init */
	uint32_t *chosen; /* copies that are there, increasing */
	uint32_t chosen_count;
	bool *taken;                 /* by option */
	struct option_rival *rivals; /* by option */
	size_t rival_count, rival_capacity;
	/* Variables that stand for clauses, see proposal_implying. */
	struct definition *definitions;
	uint32_t definition_count;
	size_t definition_capacity;
	int *defined; /* their clauses, one behind the other */
	size_t defined_count, defined_capacity;
	struct table by_clauses;
	/* At most so many changed reads, when that is counted. */
	int *counter; /* outputs: more than i reads are changed */
	uint32_t counter_size;
	bool counted_all; /* never more changes than the counter has */
	int patience;     /* conflicts of the solver before it stops; 0: any */
};

enum proposal_answer { PROPOSAL_MADE, PROPOSAL_NONE, PROPOSAL_STOPPED };

/* Observed execution and copies are borrowed. False if the time was over
 * first; to be freed in either case. */
bool proposal_init(struct proposal *p, const struct observed_history *o,
                   const struct divergent_copies *c, struct check_clock *clock);
void proposal_free(struct proposal *p);
/* The next proposal: any model of the clauses so far. */
enum proposal_answer proposal_next(struct proposal *p);
/* The same, with at most `changes` changed reads. */
enum proposal_answer proposal_next_within(struct proposal *p, uint32_t changes);
/* How many reads the last proposal changes. */
uint32_t proposal_changes(const struct proposal *p);
/* Makes the last proposal keep all that may be there with its copies, as far as
 * its clauses tell: but what happened after their transactions, and rivals. */
void proposal_keep_most(struct proposal *p);
/* Keeps neither t nor what happened after it. */
void proposal_leave_out(struct proposal *p, uint32_t t);
/* Learning: literals are added one by one, 0 ends a clause. */
void proposal_add(struct proposal *p, int literal);
int proposal_variable(struct proposal *p); /* a new one */
/* A literal that, when it is true, makes these clauses true, each with a 0 at
 * its end. The same clauses always get the same one: what is learnt time and
 * again is mostly what was learnt before. */
int proposal_implying(struct proposal *p, const int *clauses, size_t count);
/* Roughly what the solver holds. */
uint64_t proposal_bytes(const struct proposal *p);

static inline int literal_out(uint32_t t)
{
	return (int)t;
}
static inline int literal_copy(const struct proposal *p, size_t copy)
{
	return (int)(p->o->n + copy);
}
static inline int literal_option(const struct proposal *p, size_t option)
{
	return (int)(p->o->n + p->c->count + option);
}

#endif
