/* A recorded history in compact form: what files are read into, what files are
 * written from, for up to many millions of operations.
 *
 * A history (history.h) is rich and small; a trace is plain and large: an
 * operation takes 24 bytes, and keys, numbers and texts are told apart by
 * integers. A trace is made by a builder (trace_build.h), which sorts, numbers
 * and resolves; it does not change afterwards.
 */
#ifndef ISO_HISTORY_TRACE_H
#define ISO_HISTORY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/text.h"
#include "history/history.h"

/* Transactions are numbered as in history.h: 0 is init, the others session by
 * session, in session order. */
#define TRACE_INIT HISTORY_INIT
#define TRACE_SELF HISTORY_SELF /* read of the own write */
#define TRACE_NOBODY                                                \
	(UINT32_MAX - 1)      /* READ whose writer is not known:    \
	                       * there is an anomaly for it, or the \
	                       * transaction did not commit */
#define TRACE_NONE UINT32_MAX /* no operation, no session */

enum {
	TRACE_TEXT = 1,    /* value is an index of trace.texts */
	TRACE_NULL = 2,    /* value is null (nil) */
	TRACE_LIST = 4,    /* READ of a list: the value is its last element;
	                    * with TRACE_NULL the list is empty. WRITE: an
	                    * append */
	TRACE_FINAL = 8,   /* WRITE: the transaction's last one of this key */
	TRACE_MISSING = 16 /* the file names the writer and not the value */
};

struct trace_value {
	int64_t number; /* or index of texts, or 0 when null */
	uint8_t flags;  /* TRACE_TEXT, TRACE_NULL, TRACE_MISSING */
};

struct trace_op {
	int64_t value;
	uint32_t key;
	uint32_t from; /* READ: number of the writer, or one of the above;
	                * WRITE: its own transaction */
	uint32_t line; /* in the file; 0 when unknown */
	uint8_t kind;  /* enum event_kind */
	uint8_t flags;
	uint8_t strength; /* enum strength; of a write, PLAIN means UPDATE */
	bool joined;      /* as in history.h */
};

/* That of the lock it takes. */
static inline enum strength trace_strength(const struct trace_op *op)
{
	return op->kind == EVENT_WRITE && op->strength == STRENGTH_PLAIN
	               ? STRENGTH_UPDATE
	               : (enum strength)op->strength;
}

/* The read whose lock ends at operation `end` of a transaction that begins with
 * operation `first`; TRACE_NONE: there is none. Reads up to there are resolved.
 */
uint32_t trace_given_up(const struct trace_op *ops, uint32_t end,
                        uint32_t first);

enum trace_status {
	TRACE_COMMITTED,
	TRACE_ABORTED, /* its writes are invisible, its reads count if kept */
	TRACE_UNKNOWN  /* outcome unknown, and nobody read from it whose reads
	                * count: neither writes nor reads. One that somebody
	                * read from has become COMMITTED */
};

struct trace_transaction {
	const char *name;  /* NULL: none */
	int64_t number;    /* its name in the file when has_number */
	uint32_t first_op; /* its operations lie together, in program order */
	uint32_t op_count;
	uint32_t session; /* TRACE_NONE for init */
	uint32_t line;    /* 0 when unknown */
	uint8_t status;   /* enum trace_status */
	own_level own;
	bool has_number;
};

struct trace_session {
	const char *name; /* "alice", "3" */
	uint32_t first;   /* number of its first transaction */
	uint32_t count;
	bool after_all; /* follows all transactions of other sessions */
};

struct trace_key {
	const char *name; /* NULL: its name is its number */
	int64_t number;
	struct trace_value initial;
};

/* What is wrong before any level is considered. */
/*     identifier, word, usual name, does `none` forbid it too */
#define TRACE_ANOMALY_TABLE(X)                                                \
	X(ANOMALY_THIN_AIR, "thin-air", "read of a value nobody wrote", true) \
	X(ANOMALY_ABORTED, "G1a", "aborted read (G1a)", false)                \
	X(ANOMALY_INTERMEDIATE, "G1b", "intermediate read (G1b)", false)      \
	X(ANOMALY_INTERNAL, "internal",                                       \
	  "internal inconsistency: not its own last write", true)             \
	X(ANOMALY_FUTURE, "future", "read of the own later write", true)      \
	X(ANOMALY_LISTS, "incompatible-order",                                \
	  "lists that are no prefix of each other", true)                     \
	X(ANOMALY_REPEATED, "duplicate-elements",                             \
	  "list that has an element twice", true)

enum trace_anomaly_kind {
#define X(id, word, name, always) id,
	TRACE_ANOMALY_TABLE(X)
#undef X
		ANOMALY_COUNT
};

struct trace_anomaly {
	enum trace_anomaly_kind kind;
	uint32_t transaction; /* the reader */
	uint32_t op;          /* its read, index of trace.ops */
	uint32_t writer;      /* ABORTED, INTERMEDIATE: the writer; LISTS: the
	                       * transaction that read the other list; else
	                       * TRACE_NOBODY */
	uint32_t other;       /* the other operation concerned (a write; LISTS:
	                       * a read), or TRACE_NONE */
};

enum { TRACE_ANOMALIES_KEPT = 1000 };

struct trace {
	struct region region;        /* owns names and texts */
	const char *file;            /* for messages */
	uint32_t line;               /* where it begins, in a file of several */
	const char *program, *level; /* as an isoscope history says; or NULL */
	bool ssi;                    /* as in relation.h, for who asks so */
	uint32_t session_count, transaction_count, key_count, op_count;
	uint32_t text_count, known_count;
	struct trace_session *sessions;
	struct trace_transaction *transactions;
	struct trace_key *keys;
	struct trace_op *ops;
	const char **texts; /* canonical JSON text of a value */
	/* Writers whose order the file itself tells, because lists were read.
	 * First chain_count pairs that follow the lists, those of a key
	 * together in their order; then tail_count from the last that was read
	 * to each that was not. 0 and 0: in no order. */
	struct history_known *known;
	uint32_t chain_count, tail_count;
	bool lists;     /* reads are of lists (Elle list-append) */
	bool valueless; /* no values were observed: those of writes only tell
	                 * them apart, and nobody is to be shown any */
	/* In order of (transaction, operation); TRACE_ANOMALIES_KEPT are kept,
	 * and those of transactions with a level of their own; all are
	 * counted. */
	struct trace_anomaly *anomalies;
	uint32_t anomaly_count; /* kept */
	uint64_t anomalies_found[ANOMALY_COUNT];
};

void trace_free(struct trace *t); /* NULL is fine */

/* Has some transaction a level of its own? */
bool trace_has_owns(const struct trace *t);

const char *trace_anomaly_word(enum trace_anomaly_kind k);
const char *trace_anomaly_name(enum trace_anomaly_kind k);
/* Does this anomaly, already, make it no history under any level, `none`
 * included? The others are forbidden by all levels but none. */
bool trace_anomaly_forbidden_always(enum trace_anomaly_kind k);

/* The key's name, or its number in digits. */
void trace_print_key(struct text *t, const struct trace *r, uint32_t key);
/* The value in JSON: 7, "x", {"set":[..]}, null. */
void trace_print_value(struct text *t, const struct trace *r, int64_t value,
                       uint8_t flags);
/* Its session and its place there from 1, and its name or number: "alice.2
 * enroll", "3.1 t17"; "init". */
void trace_print_transaction(struct text *t, const struct trace *r,
                             uint32_t transaction);

/* ---- To and from the rich form ---- */

/* Which part of a trace; NULL members: all. */
struct trace_part {
	const uint32_t *transactions; /* increasing; init is always included */
	uint32_t count;
	const bool *ops; /* by index of trace.ops: keep it? */
};

/* The history that consists of these transactions: reads from transactions
 * that are left out, or whose writes of the key are, are left out too, and so
 * are reads whose writer is not known, and the transactions that are UNKNOWN.
 * Of a part (not of the whole) sessions without transactions and keys without
 * operations are left out. Sessions keep their names, transactions their
 * `index` in their full session (so `index` is not always the place among the
 * remaining ones); an unnamed transaction with a number is named by it
 * ("t17"). Writers that stand between two others in a list leave these two
 * ordered when they are left out. `numbers`, if not NULL, receives for each
 * transaction of the result its number in the trace (malloc'ed). The caller
 * frees the history, which does not need the trace. Linear in the part and in
 * the keys and known pairs of the trace, but for sorting names. */
struct history *trace_history(const struct trace *t,
                              const struct trace_part *part,
                              uint32_t **numbers);
/* The value of an operation as programs have it, made in the region; null if it
 * is missing. */
struct value trace_rich_value(struct region *region, const struct trace *t,
                              int64_t value, uint8_t flags);
/* The trace of a history; the caller frees it. */
struct trace *trace_of_history(const struct history *h, const char *file);

#endif
