/* Prediction: from one observed execution to a feasible one that the level
 * allows and that is not serializable. (IsoPredict: Geng, Blanas, Bond, Wang,
 * PLDI 2024.)
 *
 * A prediction keeps, of every session, a prefix of the observed transactions,
 * unchanged, and closed under what they read; and of some sessions the
 * transaction behind the prefix, the *divergent* one, with reads that may be
 * answered anew. `strict`: the divergent transaction ends with the first such
 * read. `relaxed`: it is whole, and all its reads may be answered anew, though
 * what it does afterwards may not be what the program would do.
 *
 * An operation is kept or cut, and what is kept counts as in any history: of
 * several writes of a key by a transaction the last one that is kept. So a
 * transaction that writes a key before the cut and again behind it still
 * writes it. (The published tool takes a key to be written at the place of its
 * last write in the observed transaction, and loses what such a prefix wrote.)
 *
 * The search is exact: a SAT solver proposes prefixes, divergent transactions
 * and writers; what it proposes is checked against the level and for
 * serializability; each proposal that is refused teaches it a clause that
 * refuses many.
 */
#ifndef ISO_PREDICT_PREDICT_H
#define ISO_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/diag.h"
#include "check/check.h"
#include "history/trace.h"

enum predict_boundary {
	BOUNDARY_STRICT,
	BOUNDARY_RELAXED,
	BOUNDARY_BOTH /* strict, and then relaxed */
};
enum predict_encoding {
	ENCODING_EXACT, /* not serializable */
	ENCODING_APPROX /* a cycle in pco, the least relation that every commit
	                 * order contains: sufficient, not necessary */
};

struct predict_options {
	enum level level; /* none to si */
	const char *as;   /* what the database calls it, if it was said so */
	enum predict_boundary boundary;
	enum predict_encoding encoding;
	bool enumerate; /* predictor_next is called again and again:
	                 * within a boundary, predictions come with the fewest
	                 * changed reads first, however long that takes */
};

enum predict_answer {
	PREDICT_FOUND,
	PREDICT_NONE,   /* there is none, or no further one: proved */
	PREDICT_UNKNOWN /* a limit came first */
};

/* An external read of a divergent transaction with another writer than
 * observed. Numbers are those of the observed trace; writer 0 is init. */
struct changed_read {
	uint32_t op; /* index of trace.ops */
	uint32_t transaction;
	uint32_t observed, writer;
};

/* How much of a session the prediction has. */
struct session_cut {
	uint32_t kept;      /* transactions, unchanged */
	uint32_t divergent; /* the transaction behind them, if the prediction
	                     * has it: its number in the observed trace;
	                     * else TRACE_NONE */
	uint32_t ops;       /* of the divergent one, that are kept */
};

struct prediction {
	/* The predicted history alone: sessions, names and keys are those of
	 * the observed trace, and so are the values that are written; every
	 * read names its writer, and has the value written there. */
	struct trace *history;
	uint32_t *numbers; /* transaction of the observed trace, by transaction
	                    * of the history */
	uint32_t *order;   /* of the history's transactions, init first: an
	                    * order in which to replay them (extends so U wr) */
	bool *divergent;   /* by transaction of the history */
	bool *truncated;   /* by transaction of the history: only a part of
	                    * the observed one is there (strict) */
	struct changed_read *changed; /* in the order of ops */
	uint32_t changed_count;
	struct session_cut *cuts; /* by session of the observed trace */
	uint32_t divergent_count;
	enum predict_boundary boundary; /* that it is within */
	bool nearest;  /* none within the boundary, but for those that came
	                * before, changes fewer reads: proved */
	bool observed; /* nothing changed and nothing left out: the
	                * observed execution itself is unserializable */
};
void prediction_free(struct prediction *p);

struct predict_stats {
	uint64_t transactions, reads; /* observed, external ones */
	uint64_t contended;     /* reads of keys that somebody but init wrote */
	uint64_t options;       /* (read, writer) that were offered */
	uint64_t rounds;        /* proposals of the solver */
	uint64_t level_clauses; /* proposals that the level forbade */
	uint64_t certificates;  /* proposals that were serializable */
	double seconds;         /* wall */
};

struct predictor;
/* The trace is borrowed. NULL, with an error added, for a trace that
 * prediction does not apply to: one with anomalies (trace.h), or of lists. */
struct predictor *predictor_new(const struct trace *observed,
                                const struct predict_options *o,
                                struct check_clock *c, struct diags *d);
void predictor_free(struct predictor *p); /* NULL is fine */
/* The next prediction; a further one has other changed reads, and not all
 * those of an earlier one. Without `enumerate` there is one within a boundary.
 * FOUND fills `out`, which the caller frees. */
enum predict_answer predictor_next(struct predictor *p, struct prediction *out);
/* Goes on to the next boundary; false if there is none. */
bool predictor_widen(struct predictor *p);
const struct predict_stats *predictor_stats(const struct predictor *p);
/* Why the last answer was UNKNOWN: "the time limit was reached". */
const char *predictor_reason(const struct predictor *p);

#endif
