/* Many random runs of one program, and what they show. Run number i, from 1,
 * has the seed `seed + i - 1`: any run is repeated by that seed alone.
 */
#ifndef ISO_RUN_CAMPAIGN_H
#define ISO_RUN_CAMPAIGN_H

#include "base/budget.h"
#include "run/policy.h"
#include "run/runner.h"

struct campaign_options {
	enum level level;
	const char *as; /* what the database calls it, if it was said so */
	struct policy policy;
	uint64_t runs, seed;
	bool robust; /* an unserializable history violates a slot of
	              * its own, as in explorer.h */
	bool stop_on_violation;
	WITH_BUDGET; /* memory of a run and of the distinct hashes;
	              * max_histories of none */
};

struct campaign_stats {
	uint64_t runs;                /* that were begun and not interrupted */
	uint64_t pruned;              /* of them, that met a false assumption */
	uint64_t cut;                 /* with a session in C cut short */
	uint64_t violating;           /* violate at least one slot */
	uint64_t unserializable;      /* always counted */
	uint64_t histories, outcomes; /* distinct ones */
	uint64_t taken_back;
	uint64_t reads; /* external reads of all runs */
	double seconds, cpu_seconds;
	enum stop_reason stop; /* STOP_TOO_LARGE: see campaign_problem */
};

/* One assertion, run-time errors, robustness, or run-time errors at one place
 * (slots as in explorer.h). */
struct campaign_slot {
	uint64_t violating;      /* runs */
	uint64_t first_run;      /* number of the first one; 0: none */
	uint64_t last_counted;   /* of the latest one, its number among the runs
	                          * that count: last_counted / violating is the
	                          * mean number of runs until a violation, each
	                          * count beginning after the last violation */
	struct history *example; /* of the first; the campaign's */
	const struct finding *finding; /* NULL for serializability */
};

/* A point of the coverage curve, at 1, 2, 5, 10, 20, 50, ... runs that count
 * and at the end. */
struct campaign_point {
	uint64_t runs, histories, outcomes;
};

struct campaign;
/* One run that counts, as the callback sees it. */
struct campaign_run {
	struct runner *runner;
	uint64_t number, seed;
	bool new_history, serializable;
	const uint32_t *violated; /* slots, increasing, with robustness */
	uint32_t violated_count;
};
struct campaign_observer {
	void *payload;
	/* May be NULL. False to stop. */
	bool (*run)(void *payload, const struct campaign_run *r);
	/* Now and then; may be NULL. False to stop. */
	bool (*tick)(void *payload, const struct campaign_stats *so_far);
};

/* Options and observer are copied; the program is borrowed. */
struct campaign *campaign_new(const struct program *p,
                              const struct campaign_options *o,
                              const struct campaign_observer *observer);
void campaign_free(struct campaign *c);
void campaign_start(struct campaign *c); /* runs it; call once */
const struct campaign_stats *campaign_stats(const struct campaign *c);
const struct campaign_options *campaign_options(const struct campaign *c);
const struct program *campaign_program(const struct campaign *c);
/* Assertions, two more, and one for each place of a run-time error. */
uint32_t campaign_slot_count(const struct campaign *c);
uint32_t campaign_slot_error(const struct campaign *c);
uint32_t campaign_slot_robust(const struct campaign *c);
const struct campaign_slot *campaign_slot(const struct campaign *c,
                                          uint32_t slot);
const struct campaign_point *campaign_curve(const struct campaign *c,
                                            uint32_t *count);
/* See runner_problem. */
const char *campaign_problem(const struct campaign *c);
/* Did a run have this execution_hash, or this execution_outcome? */
bool campaign_saw_history(const struct campaign *c, uint64_t hash);
bool campaign_saw_outcome(const struct campaign *c, uint64_t hash);

/* What there is in all, found by exploring (dpor/explorer.h), and how much of
 * it the runs have seen. */
struct coverage {
	bool complete; /* else a limit came first: the totals are at least
	                * these */
	uint64_t histories, outcomes;
	uint64_t unserializable;
	uint64_t seen_histories, seen_outcomes; /* of them, by the runs */
	double seconds;
};
void campaign_coverage(const struct campaign *c, const struct budget *limits,
                       unsigned jobs, struct coverage *out);

#endif
