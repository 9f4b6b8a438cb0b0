/* How random runs choose sessions and writers. The next session is always
 * drawn uniformly among those that have a transaction left. */
#ifndef ISO_RUN_POLICY_H
#define ISO_RUN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "run/runner.h"

/* X(identifier, word): all allowed writers alike; first a session that wrote,
 * then one of its transactions; the allowed writer that committed last, or
 * first; at most K reads are not the latest. */
#define POLICY_TABLE(X)                          \
	X(POLICY_UNIFORM, "uniform")             \
	X(POLICY_SESSION_FIRST, "session-first") \
	X(POLICY_LATEST, "latest")               \
	X(POLICY_OLDEST, "oldest")               \
	X(POLICY_WEAK, "weak")

enum policy_kind {
#define X(id, word) id,
	POLICY_TABLE(X)
#undef X
		POLICY_COUNT
};

struct policy {
	enum policy_kind kind;
	uint32_t weak; /* K of weak=K: so many reads of a run may get another
	                * writer than the latest of those that the level allows
	                * there. That one need not be the last that committed:
	                * what was read before may forbid it */
};

/* "uniform", "weak=3". False if there is no such policy. */
bool policy_from_word(const char *word, struct policy *out);
const char *policy_word(enum policy_kind k); /* "weak" */

/* Makes the choices of one run; the same seed makes the same ones. */
struct random_chooser {
	struct policy policy;
	uint64_t seed;
	struct rng rng;
	uint32_t expected_reads; /* weak: about how many reads of a run have
	                          * several writers */
	uint32_t open_reads;     /* that had, so far */
	uint32_t weak_left;
};
/* `expected_reads` spreads the weak reads over the run: 0 if unknown. A weak
 * read that the runner takes back is spent all the same. */
void random_chooser_begin(struct random_chooser *c, struct policy p,
                          uint64_t seed, uint32_t expected_reads);
/* The callbacks, for runner_run. */
struct run_chooser random_chooser(struct random_chooser *c);

#endif
