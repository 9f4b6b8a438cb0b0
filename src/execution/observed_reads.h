/* The observed history that an exploration begins at (explorer.h,
 * EXPLORE_OUTWARD): what each transaction of a recorded history read from
 * others, with the sessions and keys of the program that is explored.
 *
 * Read number n (from 0, reads of own writes left out) of a transaction is
 * unchanged if read number n of the observed transaction at the same place of
 * the same session reads the same key from the same writer. So how many reads
 * a history changes depends on the history alone.
 */
#ifndef ISO_EXECUTION_OBSERVED_READS_H
#define ISO_EXECUTION_OBSERVED_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "history/trace.h"

struct diags;
struct history;
struct program;

#define OBSERVED_INIT UINT32_MAX         /* as a session: the writer is init */
#define OBSERVED_NOBODY (UINT32_MAX - 1) /* the trace knows no writer */

struct observed_read {
	const char *key;         /* as the language writes it */
	uint32_t session, index; /* of the writer; or session as above */
};

struct observed_transaction {
	const char *name; /* NULL: not told */
	enum trace_status status;
	uint32_t first_read, read_count;
};

struct observed_reads {
	struct region region;   /* owns all below */
	const char *file;       /* the trace, for messages */
	uint32_t session_count; /* of the program */
	uint32_t *first;        /* by session: its first transaction here;
	                         * session_count + 1 entries */
	struct observed_transaction *transactions;
	struct observed_read *reads;
};

/* Which session of the program is each of the trace? The one of its name. Where
 * all names are numbers, and there are as many as in the program: the one of
 * its place when they are put in order; the keys of the trace must then be
 * those of the program. Fills of_trace, by session of the trace. False, with an
 * error added, where one has no match, or two have the same. */
bool sessions_match(const struct program *p, const struct trace *t,
                    uint32_t *of_trace, struct diags *d);

/* Sessions as above, keys are matched by name, transactions by place. NULL,
 * with an error added, when the trace has a session that the program does not
 * have, or more transactions in one than it can run. Nothing is borrowed.
 * Linear in the trace. */
struct observed_reads *observed_reads_new(const struct program *p,
                                          const struct trace *t,
                                          struct diags *d);
void observed_reads_free(struct observed_reads *o); /* NULL is fine */

uint32_t observed_transaction_count(const struct observed_reads *o,
                                    uint32_t session);
/* The observed transaction, or NULL if there is none at this place. */
const struct observed_transaction *
observed_transaction(const struct observed_reads *o, uint32_t session,
                     uint32_t index);
/* Its external read number n, or NULL. */
const struct observed_read *observed_read(const struct observed_reads *o,
                                          uint32_t session, uint32_t index,
                                          uint32_t n);

/* A read of a history of the program that is answered otherwise. */
struct observed_change {
	uint32_t transaction, event;          /* in the history */
	const struct observed_read *observed; /* of the same key; else NULL */
};
/* How many reads the history changes. If `out` is not NULL it receives them,
 * malloc'ed, in order of transactions and events. */
uint32_t observed_changes(const struct observed_reads *o,
                          const struct history *h,
                          struct observed_change **out);

/* How a history that changes no read differs from the observed one all the
 * same: then the program does not run as observed. */
enum observed_difference_kind {
	OBSERVED_SAME,
	OBSERVED_COUNT,  /* the session runs another number of transactions */
	OBSERVED_NAME,   /* the transaction has another name */
	OBSERVED_STATUS, /* one aborted, the other committed */
	OBSERVED_READS   /* it does not make all of the observed reads */
};
struct observed_difference {
	enum observed_difference_kind kind;
	uint32_t session, index; /* the first place where they differ */
};
struct observed_difference observed_compare(const struct observed_reads *o,
                                            const struct history *h);

#endif
