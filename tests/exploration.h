/* Explorations with all that they find, in a form to be compared: by one
 * thread or several, at once or in pieces.
 */
#ifndef TESTS_EXPLORATION_H
#define TESTS_EXPLORATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"
#include "support.h"

enum { JOBS_MAX = 8 };

/* A call of observer.history. */
struct sighting {
	struct branch *at;    /* the place: BRANCH_END */
	struct branch *under; /* the branch that was being explored */
	uint64_t hash, weight, number;
	uint64_t violated; /* hash of the slots */
	uint32_t worker;
};

/* What was found. All but the sightings comes from the explorer's results. */
struct found {
	const struct program *program;
	struct explore_stats stats;
	uint32_t slots, points;
	uint64_t *violations;    /* by slot: under all, then under each level */
	struct strings examples; /* by slot: the history and what fails in it;
	                          * empty if there is none */
	bool *reached;           /* by point */
	struct sighting *sightings; /* in depth-first order */
	size_t count, capacity;
};

void found_free(struct found *f);
/* Is nothing left to be explored? */
bool found_all(const struct found *f);
/* Sorted again, after some were added. */
void found_sort(struct found *f);
/* What is the same for one exploration, however it is done: everything but
 * times, memory, and who called when. False, with the reason added. */
bool found_same(const struct found *a, const struct found *expected,
                struct text *why);
/* Does it fit together: each sighting counted, at a place of its own, all of a
 * branch in one run? False, with the reason added. */
bool found_sound(const struct found *f, struct text *why);
/* Nothing open leads to what was seen, nothing twice; all well formed. */
bool open_sound(const struct branch_list *open, const struct found *f,
                struct text *why);

/* How observers behave. Zeroes: they only look. */
struct manner {
	uint64_t refuse_after; /* calls of history: then it returns false */
	uint64_t steps_after;  /* likewise, but `interrupt` is set after some
	                        * more steps; or tick refuses */
	uint32_t steps;
	bool by_tick;
	atomic_bool *interrupt;
	uint32_t delays; /* one call in so many takes longer; 0: none */
	uint64_t slow;   /* the call of this number takes long; 0: none */
	uint64_t seed;   /* of the delays */
};

/* One exploration, to its end or to a limit. Where to begin is replaced by what
 * is left and was found, so that explorations can be chained; a tally of zeroes
 * is the root, NULLs are nothing but that. What is seen is added to `f`, the
 * rest of it replaced. */
void explore_once(const struct program *p, const struct explore_options *o,
                  const struct manner *m, struct branch_list *open,
                  struct tally *so_far, struct found *f);
/* One engine on its own, from the root up to that step, or until its swaps have
 * copied so many reads and keys, of TOIL_MOST; false if it came to the end
 * before. */
enum explore_end { END_AT_STEP, END_AT_TOIL };
bool explore_until(const struct program *p, const struct explore_options *o,
                   enum explore_end end, uint64_t many,
                   struct branch_list *open, struct tally *so_far,
                   struct found *f);
/* From beginning to end. */
void explore_all(const struct program *p, const struct explore_options *o,
                 const struct manner *m, struct found *f);

/* What tests explore: a random program of some kind, and its text. */
struct subject {
	uint64_t seed;
	struct text source;
	struct program *program;
	struct symmetry *symmetry;
};
/* False: it has more than so many histories, and is not for tests. */
bool subject_new(struct subject *s, uint64_t seed, uint64_t histories);
void subject_free(struct subject *s);
/* A random choice of algorithm, level, base and what is counted. */
struct explore_options random_options(const struct subject *s, struct rng *r);
/* Stops the test. */
__attribute__((noreturn)) void subject_fails(const struct subject *s,
                                             const struct explore_options *o,
                                             const char *what, const char *why);
/* Fails unless these are the same, and what was found is sound. */
void expect_same(const struct subject *s, const struct explore_options *o,
                 const char *what, const struct found *found,
                 const struct found *expected);

/* A random program with sessions of which it is not known how long they are,
 * and that are longer than explorations expect. */
void unbounded_program(struct text *out, uint64_t seed);

#endif
