/* The observed execution as prediction sees it: the events that matter, what
 * happened before what, a serial order if there is one.
 */
#ifndef ISO_PREDICT_OBSERVED_HISTORY_H
#define ISO_PREDICT_OBSERVED_HISTORY_H

#include "base/bits.h"
#include "check/check.h"
#include "history/facts.h"
#include "predict/predict.h"

/* An external read, or the first write of a key by a transaction, of a
 * contended key: one that somebody besides init wrote. All others can only be
 * answered by init. Each part of a transaction that has a write of the key has
 * the first: from there on it writes the key, and which value is read by
 * others, the last one, matters of whole transactions only, for nobody reads
 * from a part. */
struct observed_event {
	uint32_t key;   /* contended keys are numbered from 0 */
	uint32_t from;  /* READ: the writer */
	uint32_t op;    /* index of trace.ops; says what is before what */
	uint32_t count; /* operations that it stands for: of a read 1, unless
	                 * keys are merged */
	/* The last external read of another key between the event before it,
	 * in the transaction, and this one: its op, + 1; 0: none. */
	uint32_t idle;
	uint32_t statement;
	enum strength strength : 8;
	uint8_t kind; /* enum event_kind */
};

/* A write, or a read that locks without being an event. */
struct observed_lock {
	struct facts_lock lock;
	uint32_t op; /* as in observed_event */
};

struct observed_history {
	const struct trace *trace;
	enum level level; /* of transactions that have none of their own */
	/* Of the level, in a mix of all of them: what reads have in sight, at
	 * least; of two writers of a key, the other one. And does that hold of
	 * some? */
	enum sight sight;
	bool exclusive, some_exclusive;
	bool points;         /* some have statements, or reads lock */
	uint32_t n, words;   /* transactions, init too; words of a row */
	struct facts *facts; /* the whole, with all keys */
	bool allowed;        /* it satisfies the level */
	bool serializable;
	/* A serial order if it is serializable, else one that extends so U wr;
	 * init first. */
	uint32_t *order;
	uint32_t *rank; /* place in it, by transaction */
	/* Events of t: events[first[t]] .. events[first[t + 1] - 1], in program
	 * order. */
	uint32_t *first; /* n + 1 */
	struct observed_event *events;
	uint32_t key_count; /* contended ones */
	/* With points: what t locks, locks[lock_first[t]] ..,
	 * in program order; aborted transactions lock too. Their keys may be
	 * others, with numbers behind those of the contended ones. */
	uint32_t *lock_first; /* n + 1 */
	struct observed_lock *locks;
	uint32_t lock_keys; /* all */
	/* Committed writers of each key without init, in the order. */
	uint32_t *writer_first, *writers;
	word *writer_rows; /* key_count rows, without init */
	/* What has to be there for t: the one before it in its session, or all
	 * last ones for a session that follows the others. */
	uint32_t *need_first, *needs; /* n + 1 */
	word *past;  /* n rows: before it in (so U wr)+, not init */
	word *later; /* n rows: after it, strict */
	bool merged; /* keys stand for several, which are always
	              * written together */
	/* For the trace's keys: the key's number, or UINT32_MAX. */
	uint32_t *key_of;
};

/* False if a limit came first, with the reason in `reason`; `o` is to be freed
 * in either case. With `merge`, keys that are written by the same transactions
 * become one where the level forbids to see one without the other (ra and
 * stronger, observed execution allowed, no read locks). The trace is borrowed.
 */
bool observed_history_init(struct observed_history *o, const struct trace *t,
                           enum level l, bool merge, struct check_clock *c,
                           const char **reason);
void observed_history_free(struct observed_history *o);

static inline const word *observed_row(const struct observed_history *o,
                                       const word *rows, uint32_t i)
{
	return rows + (size_t)i * o->words;
}
/* Is a before b in (so U wr)+? init is before everything. */
static inline bool observed_before(const struct observed_history *o, uint32_t a,
                                   uint32_t b)
{
	if (a == 0 || b == 0) return a == 0 && b != 0;
	return bits_has(observed_row(o, o->past, b), a);
}
/* Adds t, and what happened before it; init is in no row. */
static inline void observed_include(const struct observed_history *o, word *row,
                                    uint32_t t)
{
	if (t == 0) return;
	bits_or(row, observed_row(o, o->past, t), o->words);
	bits_add(row, t);
}
/* What the reads of t have in sight. */
static inline enum sight observed_sight(const struct observed_history *o,
                                        uint32_t t)
{
	return level_sight(facts_level(o->facts, o->level, t));
}
/* Does t write the key? */
static inline bool observed_writes(const struct observed_history *o, uint32_t t,
                                   uint32_t key)
{
	return bits_has(observed_row(o, o->writer_rows, key), t);
}

#endif
