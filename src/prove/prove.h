/* Is every execution of these transactions serializable, for any number of
 * them, with any arguments, whatever there is at first?
 *
 * Of an execution that is not, take a shortest cycle of dependencies (session
 * order, wr, ww, rw): no two of its transactions depend on each other but along
 * it. Let t(m) be the one that commits first, and t(1) .. t(m) the m that end
 * there, m being at most its length. So
 *
 *	path m: t(1) -> .. -> t(m), no other dependency among them but from t(m)
 *	        to t(1), and t(m) commits before all others
 *
 * has a model, if there is a cycle of length m or more. Where no path of length
 * m has one, and no such cycle of a length below m, there are no cycles at all.
 * Else cycles of length m are tried; one that has a model is a candidate, which
 * is explored: as a program with the arguments and first values of the model.
 */
#ifndef ISO_PROVE_PROVE_H
#define ISO_PROVE_PROVE_H

#include "axioms/level.h"
#include "base/budget.h"
#include "base/diag.h"
#include "base/verdict.h"
#include "prove/consequence.h"
#include "prove/instances.h"
#include "prove/summary.h"

struct history;
struct load_text;
struct program;
struct sql_arguments;

enum {
	PROVE_LENGTH = 4, /* of cycles, by default */
	SETS_OF_MOST = 64 /* transactions */
};

/* To choose from, if nothing is said: what PostgreSQL has. */
#define PROVE_LEVELS "prc+si+ser"

struct prove_options {
	struct instances_terms terms;
	const char *as; /* what the database calls the level, if it was said
	                 * so; borrowed */
	uint32_t max_length;
	bool table;   /* find which accesses of two transactions conflict */
	bool explain; /* find what excludes each cycle, of what is proved */
	bool subsets; /* find which transactions are serializable together, of
	               * at most SETS_OF_MOST */
	/* Find at which of these levels (bit l for level l) they are, of at
	 * most SETS_OF_MOST. More than one only of those that level_mixes();
	 * of SQL only those that PostgreSQL has. 0: it is not asked. */
	unsigned allocate;
	WITH_BUDGET; /* timeout and interrupt */
	/* Called before each question; may be NULL. */
	void (*tick)(void *payload, uint32_t length, uint64_t questions,
	             double seconds);
	void *payload;
};

/* A pair of transactions, and which dependencies can lead from the one to the
 * other under the level, and against the order of commits. */
struct proved_pair {
	bool wr, ww, rw;
	bool against; /* rw, where the other one has committed first */
};

/* An access of one transaction, and one of another that can depend on it. */
struct proved_conflict {
	uint32_t from, to;   /* summaries */
	uint32_t one, other; /* accesses; others may look the same */
	bool against;        /* as of pairs */
};

/* Transactions: holds, then so is all that is within, and it is one of the
 * largest; violated or inconclusive, then so is all that it is within, if that
 * is not violated, and it is one of the smallest. */
struct proved_set {
	uint64_t members; /* summaries */
	enum verdict verdict;
	struct text cycle, client; /* violated */
	struct consequence consequence;
};

/* A level for each transaction, with which all are proved. Whatever is proved
 * with the levels that were to be chosen from gives each transaction what one
 * of these allocations does, or a stronger level. */
struct proved_allocation {
	enum level *levels; /* by summary */
	/* The same, but for one transaction, which has the next level below. */
	struct proved_weaker {
		uint32_t transaction;
		enum level level;
		enum verdict verdict;      /* never holds */
		struct text cycle, client; /* violated */
		struct consequence consequence;
	} * weaker;
	uint32_t weaker_count, weaker_capacity;
};

/* Transactions that might depend on each other in a row, and why they do not so
 * that the last of them commits first; or two that name the same keys, and why
 * the second never depends on the first. */
struct proved_exclusion {
	uint32_t which[INSTANCES_MAX], length; /* summaries */
	bool pair;   /* of two, whenever they commit */
	bool back;   /* only the cycle is excluded: the first depends on the
	              * last, too */
	bool *rules; /* those that exclude it together, none of which can be
	              * left out; by instances_rule_count() */
};

/* Reads that are locked in place of a stronger level. */
struct promoted_read {
	struct text transaction, key;
	uint32_t line;
	const char *lock; /* word */
};

struct promoted_reads {
	struct promoted_read *items;
	uint32_t count;
	struct text diff;
};

/* With all transactions at this level: the smallest sets of reads with which
 * they are proved if these are locked. */
struct proved_promotion {
	enum level level;
	struct promoted_reads *sets; /* an empty one: none is needed */
	uint32_t set_count, set_capacity;
	bool complete; /* there are no others, of so few reads */
};

enum { PROMOTED_MOST = 3 }; /* reads together */

/* A transaction that is stale ok, beside those that are not. */
struct proved_stale {
	uint32_t transaction;      /* UINT32_MAX: all of them together */
	enum verdict verdict;      /* holds: its answer is never out of date */
	struct text cycle, client; /* violated */
	struct consequence consequence;
};

/* What it took. */
struct prove_costs {
	uint64_t questions;          /* to the solver */
	uint64_t clients, histories; /* that were explored */
	double seconds;
};

struct proof {
	struct prove_options options;
	const struct application *app;
	enum verdict verdict;
	enum stop_reason stop;
	uint32_t length; /* of the paths that there are none of, or of
	                  * those that were asked for last */
	struct prove_costs costs;
	bool unconfirmed;          /* there may be cycles that were not found */
	bool clients_out;          /* no more are explored */
	bool undecided;            /* the solver gave up somewhere */
	bool open_level;           /* one for which nothing is proved */
	struct proved_pair *pairs; /* of summaries, count * count */
	struct proved_conflict *conflicts; /* if a table was asked for */
	uint32_t conflict_count, conflict_capacity;
	struct proved_exclusion *exclusions; /* if they were asked for */
	uint32_t exclusion_count, exclusion_capacity;
	struct proved_set *sets; /* if subsets were asked for */
	uint32_t set_count, set_capacity;
	bool sets_left; /* not all sets were decided: too many */
	struct proved_allocation *allocations; /* if they were asked for */
	uint32_t allocation_count, allocation_capacity;
	bool allocations_left; /* not all were decided: too many */
	struct proved_promotion *promotions; /* the same */
	uint32_t promotion_count;
	/* Where those that are not stale ok are proved; else none. */
	struct proved_stale *stale;
	uint32_t stale_count;
	/* Violated: what was explored, as text and loaded, and what was found.
	 */
	struct text client;
	struct program *program;
	struct text cycle; /* "buy(1) -rw-> buy(2) -ww-> back" */
	struct history *history;
	struct consequence consequence;
	/* Not confirmed: the first cycle that may be there. */
	struct text candidate;
};

/* The transactions of a program in .tx or in SQL, which need not have sessions,
 * or of the sessions of a specification; to be freed with application_free()
 * either way. Its file would hold this text, if that is not NULL. NULL, with
 * diagnostics, if it cannot be loaded. */
struct program *prove_load(struct application *out, const char *path,
                           const struct load_text *text, struct diags *d);
/* The same; in SQL with these arguments, which may be NULL. Finals: what is
 * asserted of final states is looked at, too. */
struct program *prove_load_given(struct application *out, const char *path,
                                 const struct load_text *text,
                                 const struct sql_arguments *arguments,
                                 bool finals, struct diags *d);
/* The same, with several of its files as they would be. */
struct program *prove_load_texts(struct application *out, const char *path,
                                 const struct load_text *texts, size_t count,
                                 const struct sql_arguments *arguments,
                                 bool finals, struct diags *d);
/* Marks transactions as stale ok, beside those that the text marks: "read-only"
 * all that write nothing, "a,b" those of these names. False, with the reason,
 * if there is none of a name, or if it writes. */
bool prove_mark_stale(struct application *a, const char *words,
                      struct text *why);
/* Is it the same level, or a weaker one as people have it: si is above prc,
 * although reads that lock may find versions that are newer than its snapshot.
 */
bool prove_level_covers(enum level strong, enum level weak);
/* Levels to choose from, from words as levels_read() has them. False, with the
 * reason, if there is none to be proved among them. */
bool prove_levels(const char *words, unsigned *out, struct text *why);
/* Can sets and levels be asked for of this program? False, with the reason, if
 * not. */
bool prove_fits(const struct program *p, const struct application *app,
                const struct prove_options *o, struct text *why);
/* The application is borrowed; its transactions take the levels that the
 * program gives them now. To be freed with prove_free(). */
void prove(struct proof *out, struct application *app,
           const struct prove_options *o);
void prove_free(struct proof *p);

#endif
