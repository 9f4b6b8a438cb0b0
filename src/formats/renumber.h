/* Writing a trace in a format that knows integers only: values that are unique
 * integers are kept, others are numbered; so are keys, sessions and
 * transactions. And what formats cannot express at all. */
#ifndef ISO_FORMATS_RENUMBER_H
#define ISO_FORMATS_RENUMBER_H

#include "formats/formats.h"

struct renumber {
	int64_t initial;         /* value that means: nobody wrote yet */
	int64_t least;           /* the smallest number that can be written */
	const int64_t *reserved; /* further numbers that mean something else */
	uint32_t reserved_count;
};

/* By operation. If all written values are integers that can be written, no two
 * of a key equal and none initial, they are kept; else all writes are numbered
 * 1, 2, ... A read has the value of the write that it read (so reads from init
 * have `initial`), a read of what nobody wrote has a value nobody writes.
 * Malloc'ed; expected linear. */
int64_t *renumber_values(const struct trace *r, const struct renumber *n);
/* By key: their numbers if all have one that can be written, else 0, 1, ... */
int64_t *renumber_keys(const struct trace *r, const struct renumber *n);
/* By session: their names if all are integers, else 0, 1, ... */
int64_t *renumber_sessions(const struct trace *r, const struct renumber *n);
/* By transaction: the numbers of those that committed if all have one, else 1,
 * 2, ...; those that did not commit have -1, init has 0. */
int64_t *renumber_transactions(const struct trace *r, const struct renumber *n);

/* By operation: does it say anything? All do but reads of transactions that
 * aborted or whose outcome was unknown: those that have neither a writer nor an
 * anomaly, and those of their own writes. Malloc'ed. */
bool *ops_that_count(const struct trace *r);

/* What not every format has. */
enum format_can {
	CAN_ABORT = 1,       /* transactions that aborted */
	CAN_ABORT_READS = 2, /* whose reads count */
	CAN_KNOWN = 4,       /* the order in which lists were written */
	CAN_AFTER_ALL = 8,   /* a session that follows all others */
	CAN_EMPTY = 16,      /* transactions without operations */
	CAN_LEVELS = 32,     /* levels that transactions have of their own */
	CAN_LOCKS = 64       /* what accesses lock, and statements */
};
/* Can the format, which has these, express the history? If not, adds an error.
 * Lists with anomalies are an error always. Without CAN_ABORT: aborted
 * transactions that nobody read from may be left out, they have no effect.
 * Without CAN_EMPTY: so may empty transactions, as long as there is some
 * operation in the history. A session after all others that has no operations
 * may be left out always (trace_session_is_void). */
bool format_can_write(const struct trace *r, enum format f, unsigned can,
                      struct diags *d);
/* Has it no operations? */
bool trace_session_is_void(const struct trace *r, uint32_t session);

#endif
