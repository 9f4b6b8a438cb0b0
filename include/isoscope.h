/* isoscope: every history of a transactional program under an isolation level.
 *
 *     iso_program *program;
 *     iso_check *check;
 *     iso_diags *diags;
 *     int status = iso_program_load(&program, "cart.tx", &diags);
 *     ...iso_diags_count(diags), iso_diags_get(diags, i, &diag)...
 *     status = iso_check_new(&check, program, NULL);
 *     status = iso_check_run(check);      ISO_HOLDS, ISO_VIOLATED, ...
 *     iso_check_free(check);
 *     iso_program_free(program);
 *     iso_diags_free(diags);
 *
 * Rules that hold everywhere:
 * - Functions that can fail return an int: 0 or more is success, less is one of
 *   ISO_ERRORS, and iso_strerror() says it in words.
 * - Every object has one owner. What a function stores through `**out` belongs
 *   to the caller, who gives it back with the type's _free function; those take
 *   NULL. Strings and `const` pointers that are returned live as long as the
 *   object they came from.
 * - There is no global state. A program is immutable: any number of threads may
 *   use one at a time. A check belongs to one thread at a time, except that
 *   iso_check_stop() may be called from anywhere.
 * - The library prints nothing and reads no environment variable. The one
 *   exception: when memory cannot be had, it says so on stderr and ends the
 *   process with exit code 70.
 * - Zeroed option structures mean the defaults. Structures begin with their
 *   size, so that fields can be added at the end without breaking callers.
 */
#ifndef ISOSCOPE_H
#define ISOSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISO_VERSION_MAJOR 0
#define ISO_VERSION_MINOR 1
#define ISO_VERSION_PATCH 0
#define ISO_VERSION "0.1.0"

#if defined __GNUC__
#define ISO_API __attribute__((visibility("default")))
#else
#define ISO_API
#endif

/* The version of the library that runs, "0.1.0"; the macros tell the version
 * that the caller was compiled with. */
ISO_API const char *iso_version(void);

/* ---- errors ---- */

/* X(identifier, number, text, when it happens and what state remains) */
#define ISO_ERRORS(X)                                                         \
	X(ISO_E_ARGUMENT, -1, "invalid argument",                             \
	  "a pointer that must not be NULL is, or a number is out of range; " \
	  "nothing was changed")                                              \
	X(ISO_E_PROGRAM, -2, "the program cannot be read or compiled",        \
	  "the diagnostics say why; no program was made")                     \
	X(ISO_E_LEVEL, -3, "unusable isolation level or base level",          \
	  "the base is not causally extensible, or is stronger than the "     \
	  "level; no check was made")                                         \
	X(ISO_E_STATE, -4, "the check has already run, or not yet",           \
	  "the call came at the wrong time; nothing was changed")             \
	X(ISO_E_RANGE, -5, "no element has this index",                       \
	  "the index is not below the count; the output was not written")     \
	X(ISO_E_CLIENT, -6, "code in C does not do the same each time",       \
	  "what was found is worth nothing; iso_program_fault() says why")

enum {
#define ISO_X(id, number, text, when) id = number,
	ISO_ERRORS(ISO_X)
#undef ISO_X
		ISO_OK = 0
};

/* The text of an error; never NULL, also for numbers that are none. */
ISO_API const char *iso_strerror(int error);

/* ---- isolation levels ---- */

typedef enum iso_level {
	ISO_LEVEL_DEFAULT, /* in options: what the program says, else cc */
	ISO_LEVEL_NONE,    /* no isolation */
	ISO_LEVEL_RC,      /* Read Committed */
	ISO_LEVEL_RA,      /* Read Atomic */
	ISO_LEVEL_CC,      /* Causal Consistency */
	ISO_LEVEL_PC,      /* Prefix Consistency */
	ISO_LEVEL_PSI,     /* Parallel Snapshot Isolation */
	ISO_LEVEL_SI,      /* Snapshot Isolation */
	ISO_LEVEL_SER      /* Serializability */
} iso_level;

/* "cc" and "Causal Consistency"; NULL for ISO_LEVEL_DEFAULT and non-levels. */
ISO_API const char *iso_level_word(iso_level level);
ISO_API const char *iso_level_name(iso_level level);
/* The level of this word ("cc"); ISO_LEVEL_DEFAULT when there is none. */
ISO_API iso_level iso_level_from_word(const char *word);

/* ---- programs ---- */

typedef struct iso_program iso_program;
typedef struct iso_diags iso_diags;

typedef enum iso_severity { ISO_ERROR, ISO_WARNING, ISO_NOTE } iso_severity;

typedef struct iso_diag {
	iso_severity severity;
	const char *file;      /* may be NULL */
	uint32_t line, column; /* from 1; 0 when unknown */
	const char *message;
	const char *source_line; /* may be NULL */
} iso_diag;

/* Reads and compiles a program and what it imports, or loads a shared object
 * with sessions in C (isoscope/client.h). `diags` may be NULL; else
 * it receives a list (empty at best) that the caller frees, on success too.
 * Returns 0, ISO_E_ARGUMENT or ISO_E_PROGRAM. */
ISO_API int iso_program_load(iso_program **out, const char *path,
                             iso_diags **diags);
/* The same for a text in memory; imports are relative to `path`. */
ISO_API int iso_program_load_text(iso_program **out, const char *path,
                                  const char *source, size_t length,
                                  iso_diags **diags);
/* Checks of the program must have been freed before. */
ISO_API void iso_program_free(iso_program *program);

/* Sessions in order of declaration; `finally` counts as the last one. */
ISO_API size_t iso_program_session_count(const iso_program *program);
ISO_API const char *iso_program_session_name(const iso_program *program,
                                             size_t session);
/* Those of code in C are counted when some session has come to them. */
ISO_API size_t iso_program_assertion_count(const iso_program *program);
/* The condition as the program states it; of code in C its message. */
ISO_API const char *iso_program_assertion_text(const iso_program *program,
                                               size_t assertion);

/* Why nothing that was found is worth anything: code in C that does not do the
 * same each time. Lines of text, or NULL. */
ISO_API const char *iso_program_fault(const iso_program *program);

ISO_API size_t iso_diags_count(const iso_diags *diags);
/* Returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_diags_get(const iso_diags *diags, size_t i, iso_diag *out);
ISO_API void iso_diags_free(iso_diags *diags);

/* ---- histories ---- */

typedef struct iso_history iso_history;

/* One line of JSON, the same for equal histories: see the history format in
 * the manual. */
ISO_API const char *iso_history_text(const iso_history *history);
ISO_API size_t iso_history_transaction_count(const iso_history *history);
/* 1 if the history satisfies the level, 0 if not, or ISO_E_ARGUMENT. */
ISO_API int iso_history_satisfies(const iso_history *history, iso_level level);
/* The usual name of the anomaly that the history shows, and through
 * `forbidden_by`, unless that is NULL, the weakest level that forbids it. NULL
 * and ISO_LEVEL_DEFAULT when the history is serializable. */
ISO_API const char *iso_history_anomaly(const iso_history *history,
                                        iso_level *forbidden_by);
/* Histories that iso_execution_history() made; not those of a violation. */
ISO_API void iso_history_free(iso_history *history);

/* ---- checks: one exploration each ---- */

typedef struct iso_check iso_check;
typedef struct iso_execution iso_execution;

typedef enum iso_algorithm {
	ISO_EXPLORE_CE, /* every history once: explore-ce, explore-ce* */
	ISO_EXPLORE_DFS /* the baseline without reduction: histories repeat */
} iso_algorithm;

typedef struct iso_options {
	size_t size; /* sizeof (iso_options); 0 means this version */
	iso_level level;
	iso_level base; /* default: the level itself if it is causally
	                 * extensible (none, rc, ra, cc), else cc */
	iso_algorithm algorithm;
	uint64_t max_histories; /* 0: no limit */
	double timeout;         /* seconds of wall time; 0: no limit */
	uint64_t memory;        /* bytes; 0: half of the machine's */
	bool stop_on_violation;
	bool robust;           /* a history that is not serializable counts as
	                        * a violation */
	bool classify;         /* count the histories of every level */
	bool check_duplicates; /* a debugging aid: remembers all histories */
	unsigned threads;      /* that explore; 0: one. The results are the
	                        * same; iso_observer.history is called by any
	                        * of them, one at a time */
} iso_options;

typedef enum iso_stop {
	ISO_STOP_NONE,      /* everything was explored */
	ISO_STOP_VIOLATION, /* stop_on_violation, and there was one */
	ISO_STOP_HISTORIES,
	ISO_STOP_TIME,
	ISO_STOP_MEMORY,
	ISO_STOP_INTERRUPTED,  /* iso_check_stop(), or a callback said stop */
	ISO_STOP_TRANSACTIONS, /* too many transactions in one session */
	ISO_STOP_KEYS,         /* too many distinct keys */
	ISO_STOP_EVENTS,       /* too many events in one transaction */
	ISO_STOP_CLIENT        /* iso_check_run() returned ISO_E_CLIENT */
} iso_stop;

typedef struct iso_stats {
	size_t size;             /* sizeof (iso_stats), set by the caller */
	uint64_t histories;      /* complete, and satisfying the level */
	uint64_t end_states;     /* complete executions, before the filter */
	uint64_t filtered;       /* dropped: they violate the level */
	uint64_t pruned;         /* dropped: an assumption was false */
	uint64_t blocked;        /* dead ends of the exploration */
	uint64_t duplicates;     /* with check_duplicates */
	uint64_t unserializable; /* with robust, classify, or an assertion */
	uint64_t explore_calls;
	uint64_t swaps_considered, swaps_taken;
	uint64_t swaps_inconsistent, swaps_not_latest;
	uint64_t depth_max;
	uint64_t memory_peak; /* bytes held by the exploration */
	double seconds, cpu_seconds;
	iso_stop stop;
	/* With classify: histories that satisfy each level, by iso_level. */
	uint64_t per_level[ISO_LEVEL_SER + 1];
} iso_stats;

/* Callbacks; each may be NULL. They run in the thread of iso_check_run() and
 * return true to go on, false to stop the check. */
typedef struct iso_observer {
	/* A history was found. `e` is valid during the call. */
	bool (*history)(void *payload, const iso_execution *e);
	/* Now and then. */
	bool (*tick)(void *payload, const iso_stats *so_far, uint32_t depth);
} iso_observer;

enum { ISO_HOLDS = 0, ISO_VIOLATED = 1, ISO_INCONCLUSIVE = 2 };

/* The program is borrowed, the options are copied; `options` may be NULL.
 * Returns 0, ISO_E_ARGUMENT or ISO_E_LEVEL. */
ISO_API int iso_check_new(iso_check **out, const iso_program *program,
                          const iso_options *options);
ISO_API void iso_check_free(iso_check *check);
/* Adds an observer, before the run; may be called often. Returns 0,
 * ISO_E_ARGUMENT or ISO_E_STATE. */
ISO_API int iso_check_observe(iso_check *check, const iso_observer *observer,
                              void *payload);
/* Explores; once per check. Returns ISO_HOLDS, ISO_VIOLATED, ISO_INCONCLUSIVE
 * (a limit came first, and no violation), or a negative error. */
ISO_API int iso_check_run(iso_check *check);
/* Asks the run to end soon. Async-signal-safe, and safe from any thread. */
ISO_API void iso_check_stop(iso_check *check);
/* Fills out->size bytes of `out`. Returns 0, ISO_E_ARGUMENT or ISO_E_STATE. */
ISO_API int iso_check_stats(const iso_check *check, iso_stats *out);

/* One execution, inside the history callback. */
ISO_API uint64_t iso_execution_number(const iso_execution *e); /* from 1 */
/* Equal for equal histories. */
ISO_API uint64_t iso_execution_hash(const iso_execution *e);
/* How many assertions it violates. */
ISO_API size_t iso_execution_violated(const iso_execution *e);
/* A copy of its history, for the caller. */
ISO_API int iso_execution_history(const iso_execution *e, iso_history **out);

typedef enum iso_violation_kind {
	ISO_VIOLATION_ASSERTION,    /* an assertion of the program */
	ISO_VIOLATION_SERIALIZABLE, /* assert serializable, or robust */
	ISO_VIOLATION_RUN_TIME_ERROR
} iso_violation_kind;

typedef struct iso_violation {
	size_t size; /* sizeof (iso_violation), by the caller */
	iso_violation_kind kind;
	const char *text; /* the condition, or the error's message */
	const char *file; /* NULL when no place is concerned */
	uint32_t line, column;
	uint64_t histories;         /* how many violate it */
	const iso_history *example; /* the first of them, owned by the check */
} iso_violation;

/* What was found violated, after (or in a callback of) the run. */
ISO_API size_t iso_check_violation_count(const iso_check *check);
/* Returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_check_violation(iso_check *check, size_t i, iso_violation *out);

#ifdef __cplusplus
}
#endif

#endif
