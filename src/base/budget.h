/* What a computation may take, and why it ended before its end: for all that
 * explore, run, predict, check and compare. */
#ifndef ISO_BASE_BUDGET_H
#define ISO_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_MEMBERS                                                       \
	double timeout;         /* seconds of wall time; 0: no limit */      \
	uint64_t memory;        /* bytes; 0: no limit of its own */          \
	uint64_t max_histories; /* of an exploration; 0: no limit */         \
	/* It stops when this is true; set by a signal handler. May be NULL. \
	 */                                                                  \
	const atomic_bool *interrupt;

/* Limits, once for all. */
struct budget {
	BUDGET_MEMBERS
};

/* The limits among the members of options: `o.timeout`, and all of them handed
 * on at once as `o.budget`. */
#define WITH_BUDGET                    \
	union {                        \
		struct budget budget;  \
		struct {               \
			BUDGET_MEMBERS \
		};                     \
	}

/* Each reason once. In JSON the word is a result's "stop"; in files (work
 * units, checkpoints, results) another one where that was given first.
 *
 *     identifier, in JSON, in files,
 *     for people */
#define STOP_TABLE(X)                                                          \
	/* it came to its end: everything was explored, all runs were made */  \
	X(STOP_NONE, NULL, "none", "")                                         \
	/* the first violation was to be enough, and there was one */          \
	X(STOP_VIOLATION, "violation", "violation",                            \
	  "the first violation was enough")                                    \
	X(STOP_HISTORIES, "histories", "histories",                            \
	  "the limit of histories was reached")                                \
	X(STOP_TIME, "time", "timeout", "the time limit was reached")          \
	X(STOP_MEMORY, "memory", "memory", "the memory limit was reached")     \
	/* *interrupt became true, or a callback said stop */                  \
	X(STOP_INTERRUPTED, "interrupted", "interrupted", "interrupted")       \
	/* more than TRANSACTIONS_MAX, KEYS_MAX, EVENTS_MAX (explorer.h) */    \
	X(STOP_TRANSACTIONS, "transactions", "transactions",                   \
	  "the program runs more than 16,383 transactions, the most that "     \
	  "isoscope holds")                                                    \
	X(STOP_KEYS, "keys", "keys",                                           \
	  "the program touches more than 1,048,576 keys, the most that "       \
	  "isoscope holds")                                                    \
	X(STOP_EVENTS, "events", "events",                                     \
	  "a transaction makes more than 65,535 reads and writes, the most "   \
	  "that isoscope holds")                                               \
	/* native code did not do the same again: nothing found is worth       \
	 * anything (program_fault()) */                                       \
	X(STOP_GUEST, "guest", "guest",                                        \
	  "the program does not do the same again")                            \
	/* a session in C was cut short (program_bound_met()) */               \
	X(STOP_BOUND, "bound", "bound", "a session was cut short")             \
	/* all with max_changes changed reads or fewer were explored, and      \
	 * there may be others */                                              \
	X(STOP_CHANGES, "changes", "changes",                                  \
	  "any histories with more changed reads are left out")                \
	/* the same of stale reads */                                          \
	X(STOP_STALE, "stale-reads", "stale",                                  \
	  "any histories with more stale reads are left out")                  \
	/* PostgreSQL has ended; what was found before holds                   \
	 * (program_lost()) */                                                 \
	X(STOP_SERVER, "server", "server", "PostgreSQL has ended")             \
	/* only random descents were made (random_descents.h) */               \
	X(STOP_DESCENTS, "descents", "descents",                               \
	  "only a part was drawn at random")                                   \
	/* one of transactions, keys and events, where it is not said which */ \
	X(STOP_TOO_LARGE, "too large", "too large", "the program is too large")

enum stop_reason {
#define X(id, json, file, text) id,
	STOP_TABLE(X)
#undef X
		STOP_COUNT
};

/* "time", NULL for STOP_NONE. */
const char *stop_word(enum stop_reason s);
/* "the time limit was reached", "" for STOP_NONE. */
const char *stop_text(enum stop_reason s);
/* "timeout", as in files; and back, false if it is no such word. */
const char *stop_file_word(enum stop_reason s);
bool stop_from_file_word(const char *word, enum stop_reason *out);
/* Too many transactions, keys or events, or code that is not repeatable: said
 * as STOP_TOO_LARGE where that is all that matters. */
enum stop_reason stop_broadly(enum stop_reason s);

#endif
