/* What the files that make a trace share: trace_build.c collects, trace_sort.c
 * numbers and groups, trace_resolve.c finds the sources of reads,
 * trace_unseen.c adds those that the record lacks, trace_versions.c turns lists
 * into an order of their writers.
 *
 * A handle of a transaction is its place in the order of adding, from 1;
 * 0 is init.
 */
#ifndef ISO_HISTORY_TRACE_BUILDER_H
#define ISO_HISTORY_TRACE_BUILDER_H

#include "base/hash.h"
#include "history/trace_build.h"
#include "base/table.h"

/* Flags of operations and initial values that do not outlive the builder. */
enum {
	OP_DUPLICATE = 128, /* the first write of a value written again, or that
	                     * stands for what was there initially */
	OP_LISTED = 64,     /* an append whose element was read in a list */
	OP_TOLD = 32,       /* a duplicate that an error was added for */
	KEY_GIVEN = 128     /* the file gives the initial value */
};

/* Operations that were added one after the other to one transaction: from
 * `first` to the next run's. */
struct trace_run {
	uint32_t first;       /* handle of its first operation */
	uint32_t transaction; /* handle */
	uint32_t place;       /* of its first operation once they are sorted */
};

struct trace_versions {
	uint32_t key, count;
	size_t first; /* in values */
};

struct trace_builder {
	struct trace_rules rules;
	struct trace *trace;
	size_t session_capacity, transaction_capacity, key_capacity,
		op_capacity, text_capacity;
	uint32_t op_limit, transaction_limit; /* more are an error */
	bool too_many, interleaved;
	bool outcomes;   /* some transaction is not COMMITTED */
	bool duplicates; /* some write is an OP_DUPLICATE */
	bool trusted;    /* sources need no check, whatever the values */
	uint32_t last;   /* transaction of the last operation */
	uint32_t reads, sourced;
	int64_t *session_numbers;
	struct table sessions_by_number, sessions_by_name;
	struct table keys_by_number, keys_by_name, texts;
	uint32_t *small_keys; /* by number, for small ones: key + 1, or 0 when
	                       * not looked up yet */
	uint32_t small_count;
	struct trace_run *runs;
	size_t run_count, run_capacity;
	struct trace_versions *versions;
	size_t version_count, version_capacity;
	struct trace_value *values; /* of versions */
	size_t value_count, value_capacity;
	struct trace_anomaly *anomalies; /* `op` and `other` are handles until
	                                  * they are sorted */
	size_t anomaly_count, anomaly_capacity;
	/* After sorting: */
	uint32_t *number;     /* of a transaction, by handle; 0 for those
	                       * that stand for init */
	uint32_t handles;     /* how many, init too */
	uint32_t initial_ops; /* operations of those; they come last */
	/* While resolving: */
	struct diags *diags;
	uint32_t errors;
	const char *advised;    /* the advice that the last error gave */
	struct table by_value;  /* (key, value) -> write */
	struct table by_source; /* (writer, key, value) -> write */
	struct table finals;    /* (writer, key) -> its last write */
	uint32_t *last_write;   /* by key: the last write that was looked at */
	uint32_t *confirmed;    /* transactions of unknown outcome that were
	                         * read, and whose reads wait */
	size_t confirmed_count, confirmed_capacity;
	uint32_t *unwritten; /* reads of values that nobody wrote */
	size_t unwritten_count, unwritten_capacity;
	uint32_t unseen; /* transactions that were added for them, of one write
	                  * each; the last ones */
	uint32_t unseen_sessions;
};

/* Finishes a builder whose reads all have sources, by transactions that write
 * the key: nothing can be wrong with it. */
struct trace *trace_builder_trust(struct trace_builder *b);
/* A key of its own, whatever the names of others; never looked up. */
uint32_t trace_key_new(struct trace_builder *b, const char *name,
                       size_t length);
/* Numbers the transactions session by session; operations of a transaction
 * then lie together, in their order. */
void trace_sort(struct trace_builder *b);
/* Finds the writer of each read. False, with errors added, if one cannot be
 * told. */
bool trace_resolve(struct trace_builder *b);
/* Writers for b->unwritten, and for elements of lists that nobody wrote; their
 * operations come behind those that stand for init, until trace_move_unseen
 * moves them over these. */
void trace_add_unseen(struct trace_builder *b);
void trace_move_unseen(struct trace_builder *b);
/* Enters a write, so that trace_find_value finds it. */
void trace_enter_value(struct trace_builder *b, uint32_t op);
/* The order of writers that lists tell; after trace_resolve. */
void trace_resolve_versions(struct trace_builder *b);

/* Records an anomaly of a read; the numbers are final. */
void trace_note_anomaly(struct trace_builder *b, enum trace_anomaly_kind kind,
                        uint32_t transaction, uint32_t op, uint32_t writer,
                        uint32_t other);
/* The write of this value to this key, or TABLE_NONE; `value` is that of an
 * operation or of a trace_value with these flags. */
uint32_t trace_find_value(const struct trace_builder *b, uint32_t key,
                          int64_t value, uint8_t flags);
/* The flags that tell values apart. */
static inline uint8_t value_kind(uint8_t flags)
{
	return flags & (TRACE_TEXT | TRACE_NULL);
}

static inline bool op_has_value(const struct trace_op *op, int64_t value,
                                uint8_t flags)
{
	return op->value == value && value_kind(op->flags) == value_kind(flags);
}

#endif
