/* What the parts of a proof share: questions to the solver. */
#ifndef ISO_PROVE_SEARCH_H
#define ISO_PROVE_SEARCH_H

#include "prove/prove.h"
#include "prove/limiter.h"

struct search {
	struct proof *out;
	double begun;
	Z3_context context;
	struct limiter *limiter;
	uint64_t taken;    /* nodes of instances, in this context */
	uint32_t *members; /* the transactions that there are */
	uint32_t member_count;
	/* Of more than one search; NULL: each has its own. */
	struct answers *answers;
	unsigned clients; /* explored for these members */
	uint32_t length;  /* of the cycle at hand */
	bool found_paths; /* of the length at hand */
	/* Cycles that have models, none of which was confirmed at once. */
	struct pending {
		uint32_t which[INSTANCES_MAX], length;
	} * pending;
	uint32_t pending_count, pending_capacity;
	/* Sets of the first SETS_OF_MOST transactions: */
	uint64_t grounds;   /* enough of them for a path of each length */
	uint64_t confirmed; /* those of the counterexample */
	bool unweighed;     /* what comes of it is not asked */
};

/* What is known of a sequence of transactions. */
struct answer {
	bool asked, path, cycle, undecided;
	bool deepened;  /* more models of the cycle were tried */
	uint64_t tried; /* as another one, which they read from */
};

static inline uint64_t search_bit(uint32_t summary)
{
	return summary < SETS_OF_MOST ? (uint64_t)1 << summary : 0;
}

/* All that was asked, so that it is asked once. */
struct answers *answers_new(void);
void answers_free(struct answers *a); /* NULL is fine */
/* What is known of the sequence, with the levels that its transactions have now
 * (with what `ssi` makes of them) and the keys that somebody writes now: to be
 * filled in, good until the next call. */
struct answer *answers_get(struct answers *a, const struct application *app,
                           const uint32_t *which, uint32_t length, bool ssi);

/* Is every execution of the members serializable? To be asked of a proof that
 * is new. */
void search_members(struct search *x);

/* Is it over, by a limit or an interruption? The proof then has the reason. */
bool search_is_late(struct search *x);
/* Says where it is, to who wants to know. */
void search_tick(struct search *x, uint32_t length);
/* Of these summaries; they are freed before the next ones are taken. */
struct instances *search_take(struct search *x, const uint32_t *which,
                              uint32_t count);
/* With these assumptions. */
Z3_lbool search_find_model(struct search *x, struct instances *in,
                           const Z3_ast *assumed, unsigned count);
/* May what is asserted have a model? Also if the solver gives up. */
bool search_has_model(struct search *x, struct instances *in);

/* After the search of all: decides the sets of transactions. What is written
 * changes in the application, and is as it was at the end. */
void search_subsets(struct search *x, struct application *app);
/* The same for levels: finds the weakest allocations. The transactions' levels
 * change in the application, and are as they were at the end. */
void search_allocations(struct search *x, struct application *app);
/* Searches the members as search_members does, for a proof beside that of all,
 * which has its options; counts what it cost in that of all. */
void search_apart(struct search *x, struct proof *one);

/* At each of the levels to choose from: the reads that are to be locked. */
void search_promotions(struct search *x);
/* After the search of all, which is proved: looks at those that are stale ok.
 */
void search_stale(struct search *x);
/* How bad is what was found, of this model? */
void search_weigh(struct search *x, const struct instances *in, Z3_model m,
                  bool own_values);

/* The first m instances are a path, with its last one the first to commit, and
 * with no other dependency but perhaps the one that closes the cycle. */
void search_assert_path(struct instances *in, uint32_t m);
/* Finds the rules that exclude each cycle, of what is proved. */
void search_explain(struct search *x);

/* Fills in what may depend on what, and if that is asked for, where. */
void search_pairs(struct search *x);

#endif
