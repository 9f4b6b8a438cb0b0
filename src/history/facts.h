/* What the axioms of isolation levels look at in a history, in flat arrays:
 * session order, external reads, final writes. For histories of any size.
 */
#ifndef ISO_HISTORY_FACTS_H
#define ISO_HISTORY_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"

struct trace;

struct facts_read {
	uint32_t key;
	uint32_t from; /* transaction; 0 is init */
	/* Of one transaction, they increase from statement to statement. */
	uint32_t statement : 28;
	enum strength strength : 4;
};

/* A write, or a read of the own write, as what it locks. */
struct facts_lock {
	uint32_t key;
	uint32_t statement : 27;
	enum strength strength : 4;
	bool reads_own : 1;
};

/* Transactions 0 .. n - 1 have the numbers of the trace; 0 is init, which
 * writes every key and precedes everything. Aborted ones write nothing; ones
 * that did not happen (TRACE_UNKNOWN) have neither reads nor writes. */
struct facts {
	uint32_t n, key_count, session_count;
	uint32_t *session_first; /* session_count + 1; the last is n */
	uint32_t *session_of;    /* n; of init UINT32_MAX */
	uint32_t after_all;      /* session that follows all others, or
	                          * UINT32_MAX */
	/* External reads of t, in program order, repeated ones too:
	 * reads[read_first[t]] .. reads[read_first[t + 1] - 1]. */
	uint32_t *read_first; /* n + 1 */
	struct facts_read *reads;
	/* Keys that t wrote, each once, increasing. Those of init are not
	 * listed. */
	uint32_t *write_first; /* n + 1 */
	uint32_t *writes;
	/* All writes of t in program order, though it may have aborted. */
	uint32_t *lock_first; /* n + 1 */
	struct facts_lock *locks;
	/* Committed writers of each key in the order of their numbers,
	 * without init. */
	uint32_t *writer_first; /* key_count + 1 */
	uint32_t *writers;
	struct history_known *known;
	uint32_t known_count;
	/* A topological order of so U wr, init first, in which the sessions
	 * advance side by side; NULL if there is a cycle. */
	uint32_t *order;
	uint32_t *rank; /* place in it, by transaction; or NULL */
	/* n: levels that transactions have of their own. NULL: none has one,
	 * or these are not to count. */
	own_level *owns;
	bool ssi; /* as in relation.h */
};

/* Both free with facts_free. Linear. */
struct facts *facts_of_trace(const struct trace *t);
struct facts *facts_of_history(const struct history *h);
void facts_free(struct facts *f); /* NULL is fine */
/* Frees only what the arrays of the structure are. */
void facts_clear(struct facts *f);
/* For who fills a structure itself: the writers of each key, of `writes`. */
void facts_list_writers(struct facts *f);

/* The number of this write in `writes`, or UINT32_MAX if t does not write the
 * key, or is init. By binary search. */
uint32_t facts_write(const struct facts *f, uint32_t t, uint32_t key);
/* Does t write the key? (init does.) */
bool facts_writes(const struct facts *f, uint32_t t, uint32_t key);
/* Does a precede b in session order? */
static inline bool facts_so(const struct facts *f, uint32_t a, uint32_t b)
{
	if (a == 0 || b == 0) return a == 0 && b != 0;
	uint32_t s = f->session_of[a], u = f->session_of[b];
	return s == u ? a < b : u == f->after_all;
}

#endif
