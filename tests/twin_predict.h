/* Predictions by brute force, for small observed histories: the judge of
 * src/predict, in two forms that know nothing of each other.
 *
 * twin_literal goes by boundaries of sessions, choices of reads, what happens
 * before what, and who is still alive. twin_predict goes by consistent cuts,
 * divergent transactions and their choices. (IsoPredict: Geng, Blanas, Bond,
 * Wang, PLDI 2024.)
 */
#ifndef TESTS_TWIN_PREDICT_H
#define TESTS_TWIN_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "history/history.h"
#include "predict/predict.h"

enum { TWIN_ENCODINGS = 2, TWIN_WORDS = 6 };

/* A set of changed reads: pairs of a read and its new writer, as bits. */
struct twin_set {
	uint64_t words[TWIN_WORDS];
};

/* A read that is not of the own write, or a write of a transaction that
 * commits: all writes, for each can be the last one that is kept. */
struct twin_event {
	uint32_t transaction;
	uint32_t place; /* among all events of the transaction */
	uint32_t key, from;
	uint32_t position; /* in its session; those of writes that abort stay
	                    * empty */
	uint32_t bit;      /* of a read with init as its writer; those with
	                    * the other writers follow */
	bool contended;    /* somebody but init wrote the key */
	bool write;
};

struct twin_trace {
	const struct history *h; /* borrowed */
	uint32_t event_count;
	struct twin_event *events; /* transaction by transaction */
	uint32_t *first;           /* event by transaction, and one more */
	uint32_t *lo, *hi;         /* positions by transaction: lo .. hi - 1 */
	uint32_t *positions;       /* how many, by session */
	uint32_t reads, contended; /* how many */
};
/* False if it has too many reads for sets of them. */
bool twin_trace_init(struct twin_trace *t, const struct history *h);
void twin_trace_free(struct twin_trace *t);
/* Its first write of this key, if it commits and has one. */
const struct twin_event *twin_write_of(const struct twin_trace *t,
                                       uint32_t transaction, uint32_t key);

/* Puts the read, event number `event`, with this writer into the set or out of
 * it. */
void twin_set_put(struct twin_set *s, const struct twin_trace *t,
                  uint32_t event, uint32_t writer, bool in);

/* Is the least relation that contains so and wr, is transitive, and decides
 * for each read about the other writers where one place is closed, cyclic? */
bool twin_pco_cyclic(const struct history *h);

/* ---- cuts ---- */

struct twin_search {
	enum predict_boundary boundary;
	unsigned levels;    /* bit l: look for predictions of level l */
	unsigned encodings; /* bits */
	uint64_t most;      /* histories to judge before giving up */
};

/* Sets none of which includes another. */
struct twin_sets {
	struct twin_set *items;
	size_t count, capacity;
};

struct twin_predictions {
	struct twin_sets sets[LEVEL_COUNT][TWIN_ENCODINGS];
	uint64_t judged;
	bool gave_up;
};
/* The minimal sets of changed reads of all predictions; a level and encoding
 * that has none has no prediction. Exponential. */
void twin_predict(const struct twin_trace *t, const struct twin_search *s,
                  struct twin_predictions *out);
void twin_predictions_free(struct twin_predictions *p);

/* ---- boundaries and choices ---- */

/* Transactions, init included, and keys of what twin_literal takes. */
enum { LITERAL_TRANSACTIONS = 10, LITERAL_KEYS = 8 };

struct twin_answers {
	bool found[LEVEL_COUNT][TWIN_ENCODINGS];
	uint64_t judged;
	bool gave_up;
};
/* For the levels in `levels` at once. Exponential; gives up after `most`
 * choices. */
void twin_literal(const struct twin_trace *t, enum predict_boundary boundary,
                  unsigned levels, uint64_t most, struct twin_answers *out);

#endif
