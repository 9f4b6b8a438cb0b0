/* The search for a proof of an assertion, between the files that do it. */
#ifndef ISO_PROVE_INVARIANT_PARTS_H
#define ISO_PROVE_INVARIANT_PARTS_H

#include "prove/client.h"
#include "prove/invariant.h"
#include "prove/limiter.h"
#include "prove/question.h"

struct invariant_search {
	struct invariance *out;
	struct limiter *limiter;
	double begun;
	bool alike;   /* all transactions have one level */
	bool *breaks; /* transactions that may */
};

/* From which states a transaction reads, and where they agree with the one that
 * it commits over. */
struct reading {
	enum { READ_ONCE, READ_STATEMENTS, READ_EACH } how;
	bool same;    /* it is that one */
	bool written; /* on keys that it writes */
	bool locked;  /* on keys that it locks */
};

/* A step that breaks the assertions. */
struct invariant_step {
	const struct instance *t;
	/* Of each claim: it fails; what it asks of the state before, and after.
	 */
	Z3_ast *fails;
	struct instance **before, **after;
};

struct reading reading_of(const struct invariant_search *x, enum level l);
/* Those of the instance of the claim. To be freed. */
struct term *invariant_parameters(const struct claim *c,
                                  const struct instance *t);
/* In all states no assertion fails: of the keys that these instances name,
 * some of which are those of claims. */
void invariant_assume(struct question *q,
                      const struct instance *const *instances, uint32_t count);
/* It runs to its end. */
void invariant_runs(struct question *q, const struct instance *t);

bool invariant_is_late(struct invariant_search *x);
/* With these assumptions. */
Z3_lbool invariant_ask(struct invariant_search *x, struct question *q,
                       const Z3_ast *assumed, unsigned count);
/* Does no assertion fail in all of its histories? */
bool invariant_holds_in(struct invariant_search *x, const struct text *client,
                        uint32_t line);
/* True if an assertion fails, which are from this line on: that is the result.
 * *more: what else was found; may be NULL. */
bool invariant_explore(struct invariant_search *x, const struct text *client,
                       uint32_t line, struct client_found *more);

/* ---- invariant_client.c ---- */

/* There is a model: says what the step is, if none was said so far. */
void invariant_describe(struct invariant_search *x, struct question *q,
                        const struct invariant_step *step);
/* Looks for a few transactions after which an assertion fails. */
void invariant_find_client(struct invariant_search *x);

#endif
