/* Do the assertions about final states hold, for any number of transactions,
 * with any arguments, whatever is there at first if they hold of that?
 *
 * I says of a state that no claim (finals.h) fails of it. One rule: of every
 * transaction T, of all states that it reads from and every state s' that it
 * commits over, all with I, what T writes over s' leaves a state with I. What
 * these states have in common is what the level says.
 *
 * Let C be the committed transactions of an execution in its commit order,
 * which extends sessions and who reads from whom, and has the writers of each
 * key in their order. For a set V of them, state(V) is what is there at first
 * when those in V have written over it, one after the other in the order of C.
 * Transactions that abort write nothing.
 *
 * Prefixes (ser, si, pc, prc, rc, and mixes). I(state(P)) for every prefix P of
 * C, by induction: let t be the last of P, s' = state(P without t), which has
 * I. What t reads, but for its own writes, was committed before t commits. A
 * read of what u has written reads state(P'), P' being the prefix up to u,
 * which has I. So at worst each read has a state of its own (rc). Reads of
 * which the level says that they see all that has committed by some moment, and
 * nothing else, have the state of that moment in common: all of t (pc, si,
 * ser), or the plain ones of one statement (prc). What else is common:
 *  - under ser the moment is right before t commits: it is s';
 *  - where rivals exclude each other (si), who has written a key that t writes
 *    and commits before t is in sight of t: s and s' agree on that key;
 *  - a read that excludes all writes of its key has the version that is the
 *    newest when t commits: it reads from s'. (Not under levels without moments
 *    below, of which only the weaker thing is said.)
 * Reads beside the snapshot, for constraints, have states of their own.
 * So what t writes over s' leaves a state with I, which is state(P).
 *
 * Sets (ra, cc, psi, each for all transactions). A read of t has the newest
 * version of its key by those in V(t), which are before t in C: state(V(t)).
 *  - ra, cc: s and s' have nothing in common, so the rule says that what any T
 *    writes from any state with I leaves I over any state with I. By induction
 *    over C, what each t has read from has I (it is state(V) of a set V of
 * those before), and so every state(V) has I: it is made by such writes, one
 * after the other.
 *  - psi: V(t) is closed: with u it has V(u). By induction over their size, all
 *    closed V have I: without its last transaction t it is closed (nobody in it
 *    has seen t), so s' = state(V without t) has I; V(t) is within it, and is
 *    closed, so s = state(V(t)) has I; who is in V and has written a key that t
 *    writes is in V(t), as it is before t and a rival, so that s and s' agree
 * on the keys that t writes. Both need that all transactions are alike: a set
 * that is closed for those of cc need not have all that those of si have seen.
 * In a mix those of ra and cc are therefore as those of rc above.
 *
 * The last transaction comes after all others in their sessions, so it sees all
 * of C, which is a prefix and closed, and no claim fails; but at rc, where each
 * of its reads may have a state of its own: then it has to be shown that no
 * claim fails of reads of any states with I.
 *
 * Totals: sums and counts over all rows of a table (finals.h). The rule needs
 * of a state no more than what claims find in it, and any state has finitely
 * many rows. Let R be some rows, with all that t writes among them, each once
 * however often t writes it. The other rows are the same in s' and in what t
 * leaves, and what a row is to a total depends on nothing but the row. So the
 * total is U + w(R) in s', and U + w'(R) behind t, w and w' being what the rows
 * of R are to it before and after (nothing, if a row is not there): the change
 * is w'(R) - w(R). U is a number of which nothing is known but that it is what
 * some rows make: it is 0 if there are none, and there are never fewer. All of
 * this is about s' and what is written over it, whatever t reads, so it holds
 * at each of these levels; they differ in what s' and what t has read have in
 * common. Of other states nothing is known of their totals but that no claim
 * fails. Of the last transaction at rc nothing is known of what it sums up: its
 * reads need not be of one state. What t itself sums up is that of the state
 * that it reads from, with what t has written over it by then, if all rows are
 * read from one state: but where each read has a state of its own.
 *
 * What holds of all runs is asked of formulas that have all runs among their
 * models: what a summary leaves open may be so or so. A summary that leaves out
 * writes ("any number like this one") has not, so nothing is proved of it.
 *
 * Gotsman, Yang, Ferreira, Najafzadeh, Shapiro, POPL 2016; Kaki, Nagar,
 * Najafzadeh, Jagannathan, POPL 2018.
 */
#ifndef ISO_PROVE_INVARIANT_H
#define ISO_PROVE_INVARIANT_H

#include "prove/prove.h"

struct assertion;

/* Why nothing is proved. */
enum invariant_obstacle {
	INVARIANT_NONE,
	INVARIANT_NOTHING,          /* is asserted of final states */
	INVARIANT_NO_PROGRAM,       /* there are no transactions */
	INVARIANT_LEVEL,            /* there are no proofs for it */
	INVARIANT_UNCOVERED,        /* of the application */
	INVARIANT_MANY,             /* `which` writes any number of keys */
	INVARIANT_UNKNOWN_AT_FIRST, /* whether they hold at first */
	INVARIANT_ERROR_AT_FIRST,   /* when they are evaluated at first */
	INVARIANT_READS,            /* they may fail of what is read at rc */
	INVARIANT_STEP,             /* `which` may break them */
	INVARIANT_UNDECIDED         /* the solver gave up */
};

struct invariance {
	struct prove_options options; /* terms, as, and the budget */
	const struct application *app;
	enum verdict verdict;
	enum stop_reason stop;
	enum invariant_obstacle obstacle;
	const struct summary *which;
	uint32_t line; /* INVARIANT_MANY */
	struct prove_costs costs;
	/* INVARIANT_STEP: what it may read and write, and over what. */
	struct text call, reads, writes, over, after;
	/* Violated: what was explored, and what was found. */
	bool at_first; /* they fail before anything runs */
	bool declared; /* it begins with what the program has at first */
	struct text calls, client;
	struct program *program;
	struct history *history;
	const struct assertion *assertion; /* the program's */
};

/* As prove_load(), and what is asserted is looked at, too. Also asserted is
 * `invariant`, if that is not NULL: an expression of globals in .tx, a query in
 * SQL. */
struct program *invariant_load(struct application *out, const char *path,
                               const struct load_text *text,
                               const char *invariant,
                               const struct sql_arguments *given,
                               struct diags *d);
/* The application is borrowed. To be freed with invariance_free(). */
void prove_invariant(struct invariance *out, struct application *app,
                     const struct prove_options *o);
void invariance_free(struct invariance *p);

#endif
