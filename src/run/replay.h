/* Running a program along a given history as far as it goes, and recording a
 * serial trace of it.
 */
#ifndef ISO_RUN_REPLAY_H
#define ISO_RUN_REPLAY_H

#include "base/diag.h"
#include "history/trace.h"
#include "run/runner.h"

struct replay_result {
	enum run_end end;  /* the rest means nothing unless COMPLETE */
	bool diverged;     /* somewhere the history could not be followed: a
	                    * transaction of it never ran or ended otherwise,
	                    * an external read was of another key or not
	                    * there, or its writer was not allowed. Reads
	                    * whose writer the history does not know have no
	                    * other */
	uint64_t changed;  /* reads answered by another writer than the
	                    * history's */
	uint64_t values;   /* reads that got another value than the history
	                    * has, though from its writer, and keys that
	                    * ended with another one than the history's last
	                    * write; divergent transactions do not count.
	                    * They count as diverged, and if `changed` is 0
	                    * the history is one of another program. 0 if
	                    * the history numbers its sessions: its format
	                    * may have numbered the values too */
	bool serializable; /* the execution that really resulted */
};

/* What is special about some transactions of a history, by their numbers; NULL:
 * nothing. */
struct replay_parts {
	const bool *truncated; /* only a first part of it is there: reads
	                        * beyond that do not count as diverging */
	const bool *divergent; /* reads in it were answered anew, so it may
	                        * write other values than the history says */
};

/* Is every session of the history one of the program's, as sessions_match (see
 * execution/observed_reads.h) has it? If not, adds an error. */
bool replay_fits(const struct program *p, const struct trace *history,
                 struct diags *d);

/* Runs the history's transactions in the order given (numbers of the trace,
 * init first; it extends so U wr), then the rest of the program, session after
 * session. replay_fits holds. One that cannot run when its turn comes (a
 * `finally` before others have ended) runs with the rest.
 *
 * An external read that the history has takes the writer it has there if that
 * committed, wrote the key and is allowed, else the allowed one that committed
 * nearest to it; reads beyond the history take the latest that is allowed.
 * The runner has the result. */
void replay_history(struct runner *r, const struct trace *history,
                    const uint32_t *order, struct replay_parts parts,
                    struct replay_result *out);

/* Runs the transactions serially, in an order drawn by the seed, every read the
 * latest: the observed, serializable execution. */
enum run_end record_serial(struct runner *r, uint64_t seed);

#endif
