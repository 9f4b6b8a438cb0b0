/* isoscope: the histories of transactions under isolation levels. The library
 * does what the program does:
 *
 *     explore         iso_check_new(), iso_check_run(); iso_program_levels(),
 *                     iso_program_estimate(), iso_program_sample(),
 *                     iso_program_repair();
 *                     iso_check_with_files() for --checkpoint, --resume,
 *                     --unit and --histories
 *     split, merge    iso_program_split(), iso_program_merge()
 *     run             iso_program_run()
 *     record          iso_program_record()
 *     compare         iso_program_compare()
 *     check           iso_history_check()
 *     predict         iso_history_predict()
 *     convert         iso_reader_open(), iso_history_print()
 *     generate        iso_history_generate()
 *     separate        iso_levels_separate()
 *     decide          iso_program_decide(), iso_program_decide_levels()
 *     runs            iso_program_runs()
 *     prove           iso_program_prove()
 *     audit           iso_logs_audit()
 *     compile, fmt    iso_program_load(), iso_source_format()
 *
 * Exploring a program, for example:
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
 * - Functions that can fail return an int: 0 or more means success, a negative
 *   number is one of ISO_ERRORS, and iso_strerror() puts it in words.
 * - Every object has one owner. What a function stores through `**out` belongs
 *   to the caller, who frees it with the type's _free function, which accepts
 *   NULL. Strings and `const` pointers that are returned live as long as the
 *   object they came from.
 * - There is no global state. A program is immutable: any number of threads may
 *   use one at a time. A check belongs to one thread at a time, except that
 *   iso_check_stop() may be called from anywhere.
 * - The library prints nothing (except the output of code in C, if you ask for
 *   it), and reads no environment variables.
 * - When memory runs out, functions that return an int return ISO_E_MEMORY, and
 *   functions that look into a history return nothing (NULL, 0).
 * - An options structure that is all zero stands for the defaults. Structures
 *   begin with their size, so that fields can be added at the end without
 *   breaking callers.
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

/* The version of the library at run time, "0.1.0"; the macros give the version
 * that the caller was compiled with. */
ISO_API const char *iso_version(void);

/* ---- errors ---- */

/* X(identifier, number, text, when it happens and what is left) */
#define ISO_ERRORS(X)                                                          \
	X(ISO_E_ARGUMENT, -1, "invalid argument",                              \
	  "a required pointer is NULL, or a number is out of range; "          \
	  "nothing was changed")                                               \
	X(ISO_E_PROGRAM, -2, "the program cannot be read or compiled",         \
	  "the diagnostics say why; no program was made")                      \
	X(ISO_E_LEVEL, -3, "unusable isolation level or base level",           \
	  "the base is not causally extensible, or is stronger than the "      \
	  "level; no check was made")                                          \
	X(ISO_E_STATE, -4, "the check has already run, or has not run yet",    \
	  "the call came at the wrong time; nothing was changed")              \
	X(ISO_E_RANGE, -5, "no element has this index",                        \
	  "the index is not below the count; the output was not written")      \
	X(ISO_E_CLIENT, -6, "code in C is not deterministic",                  \
	  "nothing that was found counts; iso_program_fault() says why")       \
	X(ISO_E_HISTORY, -7, "the history cannot be used",                     \
	  "it cannot be read, the format cannot express it, or it does not "   \
	  "fit what was asked; the diagnostics say why")                       \
	X(ISO_E_LIMIT, -8, "stopped by a limit or an interruption",            \
	  "there is no result, or only a partial one")                         \
	X(ISO_E_FILE, -9, "a file cannot be written",                          \
	  "the diagnostics say why; part of it may be there")                  \
	X(ISO_E_MEMORY, -10, "out of memory",                                  \
	  "nothing was made, and outputs are NULL; all that can be done with " \
	  "a check that was running is to free it")                            \
	X(ISO_E_PART, -11, "the unit or checkpoint cannot be used",            \
	  "a unit, checkpoint or result cannot be read, or belongs to "        \
	  "another program or split; the diagnostics say why")

enum {
#define ISO_X(id, number, text, when) id = number,
	ISO_ERRORS(ISO_X)
#undef ISO_X
		ISO_OK = 0
};

/* The text of an error; never NULL, even for numbers that are not errors. */
ISO_API const char *iso_strerror(int error);

/* ---- isolation levels ---- */

typedef enum iso_level {
	ISO_LEVEL_DEFAULT, /* in options: what the program says, else cc */
	ISO_LEVEL_NONE,    /* no isolation */
	ISO_LEVEL_RC,      /* Read Committed */
	ISO_LEVEL_RA,      /* Read Atomic */
	ISO_LEVEL_CC,      /* Causal Consistency */
	ISO_LEVEL_PRC,     /* PostgreSQL's Read Committed */
	ISO_LEVEL_PC,      /* Prefix Consistency */
	ISO_LEVEL_PSI,     /* Parallel Snapshot Isolation */
	ISO_LEVEL_SI,      /* Snapshot Isolation */
	ISO_LEVEL_SER      /* Serializability */
} iso_level;

/* "cc" and "Causal Consistency"; NULL for ISO_LEVEL_DEFAULT and non-levels. */
ISO_API const char *iso_level_word(iso_level level);
ISO_API const char *iso_level_name(iso_level level);
/* The level for a word such as "cc", or for what a database calls it, such as
 * "postgres-serializable"; ISO_LEVEL_DEFAULT if there is none. */
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
 * with sessions in C (isoscope/client.h). `diags` may be NULL; otherwise it
 * receives a list, possibly empty, that the caller frees, even on success.
 * Returns 0, ISO_E_ARGUMENT or ISO_E_PROGRAM. */
ISO_API int iso_program_load(iso_program **out, const char *path,
                             iso_diags **diags);
/* The same for a text in memory; imports are relative to `path`. */
ISO_API int iso_program_load_text(iso_program **out, const char *path,
                                  const char *source, size_t length,
                                  iso_diags **diags);
/* How code in C is run; zero is the default everywhere. */
typedef struct iso_load_options {
	size_t size;         /* sizeof (iso_load_options); 0: this version */
	double step_timeout; /* seconds that may pass from one call of
	                      * isoscope's functions to the next (10) */
	uint64_t max_transactions; /* that a session begins (3000) */
	uint64_t max_accesses;     /* reads and writes in one (60000) */
	uint64_t memory;   /* bytes; half of them hold what sessions were seen
	                    * to do */
	double timeout;    /* seconds from loading, after which no code in C
	                    * is run (no limit) */
	bool shows_output; /* let its output through */
	/* Of a file of SQL: "name: SQL", and queries that must be true; lists
	 * that end in NULL, or NULL. */
	const char *const *sessions, *const *asserts;
	/* In SQL, conditions read all rows of their tables, as those that can
	 * make no difference. */
	bool read_all_rows;
	/* Transactions at ser beside others at weaker levels are as
	 * PostgreSQL's: serializable among each other only. */
	bool postgres_serializable;
} iso_load_options;
/* iso_program_load() with options, which may be NULL. */
ISO_API int iso_program_load_with(iso_program **out, const char *path,
                                  const iso_load_options *options,
                                  iso_diags **diags);
/* Free the checks of the program first. */
ISO_API void iso_program_free(iso_program *program);

/* Its bytecode in readable form, to be freed with iso_free(). Returns 0,
 * ISO_E_ARGUMENT, or ISO_E_PROGRAM for code in C, which has no bytecode. */
ISO_API int iso_program_print(const iso_program *program, char **out);
/* A program in canonical layout, to be freed with iso_free(); diagnostics name
 * it by `path`.
 * Returns 0, ISO_E_ARGUMENT or ISO_E_PROGRAM. */
ISO_API int iso_source_format(char **out, const char *path, const char *source,
                              size_t length, iso_diags **diags);

/* Sessions in order of declaration; `finally` counts as the last one. */
ISO_API size_t iso_program_session_count(const iso_program *program);
ISO_API const char *iso_program_session_name(const iso_program *program,
                                             size_t session);
/* An assertion in C counts once some session has reached it. */
ISO_API size_t iso_program_assertion_count(const iso_program *program);
/* The condition as the program states it; for code in C, its message. */
ISO_API const char *iso_program_assertion_text(const iso_program *program,
                                               size_t assertion);

/* Why nothing that was found counts: how its code in C was seen not to be
 * deterministic. Several lines of text, or NULL. */
ISO_API const char *iso_program_fault(const iso_program *program);

ISO_API size_t iso_diags_count(const iso_diags *diags);
/* Returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_diags_get(const iso_diags *diags, size_t i, iso_diag *out);
ISO_API void iso_diags_free(iso_diags *diags);

/* ---- histories ---- */

/* Read from a file, generated, recorded, or found by an exploration. Histories
 * do not change; each belongs to one thread at a time. */
typedef struct iso_history iso_history;

typedef enum iso_format {
	ISO_FORMAT_DETECT, /* to read: from the content; to write: ISOSCOPE */
	ISO_FORMAT_ISOSCOPE,
	ISO_FORMAT_PLUME,
	ISO_FORMAT_AWDIT,
	ISO_FORMAT_DBCOP_BINCODE,
	ISO_FORMAT_DBCOP_JSON,
	ISO_FORMAT_DBCOP_TEXT,
	ISO_FORMAT_COBRA, /* a folder */
	ISO_FORMAT_REGISTER_EDN,
	ISO_FORMAT_REGISTER_JSON,
	ISO_FORMAT_LIST_EDN,
	ISO_FORMAT_LIST_JSON,
	ISO_FORMAT_ISOPREDICT
} iso_format;

/* "rw-edn" and "Jepsen and Elle, rw-register, EDN"; NULL for DETECT. */
ISO_API const char *iso_format_word(iso_format format);
ISO_API const char *iso_format_description(iso_format format);
/* ISO_FORMAT_DETECT if there is no format of this name. */
ISO_API iso_format iso_format_from_word(const char *word);

typedef struct iso_read_options {
	size_t size; /* sizeof (iso_read_options); 0 means this version */
	iso_format format;
	bool unknown_is_initial; /* a value that nobody wrote is the key's
	                          * initial one */
} iso_read_options;

/* Reads the histories of a file, of a folder, or of standard input ("-"), one
 * after the other; only isoscope's own format holds more than one. */
typedef struct iso_reader iso_reader;
/* `options` and `diags` may be NULL. Returns 0, ISO_E_ARGUMENT or
 * ISO_E_HISTORY. */
ISO_API int iso_reader_open(iso_reader **out, const char *path,
                            const iso_read_options *options, iso_diags **diags);
/* Returns 1, or 0 at the end, with *out NULL, or ISO_E_ARGUMENT or
 * ISO_E_HISTORY. */
ISO_API int iso_reader_next(iso_reader *reader, iso_history **out,
                            iso_diags **diags);
ISO_API iso_format iso_reader_format(const iso_reader *reader);
ISO_API void iso_reader_close(iso_reader *reader);
/* The first history of a file. Returns 0, ISO_E_ARGUMENT or ISO_E_HISTORY. */
ISO_API int iso_history_read(iso_history **out, const char *path,
                             const iso_read_options *options,
                             iso_diags **diags);

/* The history in a format, to be freed with iso_free(); `length` may be NULL,
 * and does not count the zero byte at the end. Returns 0, ISO_E_ARGUMENT or
 * ISO_E_HISTORY: the format cannot express the history, or is a folder. */
ISO_API int iso_history_print(const iso_history *history, iso_format format,
                              char **out, size_t *length, iso_diags **diags);
/* The same into a file or, for Cobra, a folder. Also ISO_E_FILE. */
ISO_API int iso_history_write(const iso_history *history, iso_format format,
                              const char *path, iso_diags **diags);
ISO_API void iso_free(void *printed);

/* One line of JSON, the same for equal histories: see the history format in the
 * manual. NULL if it has none, as a history of lists. */
ISO_API const char *iso_history_text(const iso_history *history);

ISO_API size_t iso_history_session_count(const iso_history *history);
/* NULL if there is no such session. */
ISO_API const char *iso_history_session_name(const iso_history *history,
                                             size_t session);
/* Including `init`, which is number 0; the others follow session by session, in
 * session order. */
ISO_API size_t iso_history_transaction_count(const iso_history *history);
ISO_API size_t iso_history_event_count(const iso_history *history);

#define ISO_NONE SIZE_MAX

typedef enum iso_outcome {
	ISO_COMMITTED,
	ISO_ABORTED,
	ISO_OUTCOME_UNKNOWN /* and nothing reads from it */
} iso_outcome;

typedef struct iso_transaction {
	size_t size;      /* sizeof (iso_transaction), by the caller */
	size_t session;   /* ISO_NONE for init */
	size_t index;     /* in its session, from 0 */
	const char *name; /* NULL: none */
	iso_outcome outcome;
	size_t event_count;
	uint32_t line; /* in the file; 0: unknown */
} iso_transaction;

typedef struct iso_event {
	size_t size; /* sizeof (iso_event), by the caller */
	bool write;  /* else it is a read */
	/* The key's name, or NULL and its number. */
	const char *key;
	int64_t key_number;
	/* The value as JSON text; or NULL, and a number or `absent`. With
	 * `list`: the last element of a list that is read, or the one that is
	 * appended. */
	const char *value;
	int64_t number;
	bool absent; /* null, an empty list, or unknown */
	bool list;
	size_t writer; /* of a read: the transaction it reads from, possibly
	                * its own; ISO_NONE: unknown */
	uint32_t line; /* in the file; 0: unknown */
	bool gives_up; /* it reads nothing: a lock of the key ends */
} iso_event;

/* Each returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_history_transaction(const iso_history *history,
                                    size_t transaction, iso_transaction *out);
ISO_API int iso_history_event(const iso_history *history, size_t transaction,
                              size_t event, iso_event *out);

/* 1 if the history satisfies the level, 0 if not, or ISO_E_ARGUMENT. It takes
 * as long as it takes; iso_history_check() has limits. */
ISO_API int iso_history_satisfies(const iso_history *history, iso_level level);
/* The usual name of the anomaly that the history shows and, in `forbidden_by`,
 * which may be NULL, the weakest level that forbids it. NULL and
 * ISO_LEVEL_DEFAULT if the history is serializable. */
ISO_API const char *iso_history_anomaly(const iso_history *history,
                                        iso_level *forbidden_by);
/* For histories that were read, generated or handed over, not for those that a
 * check or a result owns. */
ISO_API void iso_history_free(iso_history *history);

/* How a simulated store makes a history. Zero stands for the default. */
typedef struct iso_generate_options {
	size_t size;     /* sizeof (iso_generate_options); 0: this version */
	iso_level level; /* that the store guarantees (ser) */
	uint64_t ops;    /* operations of all transactions together (40) */
	uint64_t transactions; /* their number, in place of ops */
	uint32_t sessions;     /* (5) */
	uint32_t length;       /* operations of a transaction (4) */
	bool geometric;        /* the length varies, and `length` is the mean */
	uint32_t keys;         /* (10) */
	double writes;         /* fraction of the operations (0.5) */
	double theta;          /* key i is used with a probability proportional
	                        * to 1/i^theta (0: all alike) */
	uint32_t lag;          /* how many of the last commits a transaction
	                        * may miss, if the level allows (100) */
	double aborts;         /* fraction of the transactions (0) */
	uint64_t seed;         /* (1) */
	const char *anomaly;   /* plants one: "lost-update", ... (none) */
	iso_format format;     /* in which it is going to be written */
	const char *mix;       /* "rc+si+ser": each transaction has one of these
	                        * levels of its own, in place of `level` (NULL) */
	double locks;          /* fraction of the reads that lock (0) */
} iso_generate_options;

/* `options` may be NULL. Returns 0, or ISO_E_ARGUMENT: the diagnostics say
 * why. */
ISO_API int iso_history_generate(iso_history **out,
                                 const iso_generate_options *options,
                                 iso_diags **diags);

/* ---- results ---- */

enum {
	ISO_HOLDS = 0,
	ISO_VIOLATED = 1,
	ISO_INCONCLUSIVE = 2, /* a limit came first, or nothing counts */
	ISO_NO_VIOLATION = 3  /* random runs, and predictions from a trace,
	                       * never prove that there is none */
};

/* Limits of a call; zero: no limit. */
typedef struct iso_limits {
	double timeout;  /* seconds of wall time */
	uint64_t memory; /* bytes */
	/* Called now and then, in the caller's thread; true stops the call. */
	bool (*stop)(void *payload);
	void *payload;
} iso_limits;

/* What was found. Its strings and histories live as long as it does. */
typedef struct iso_result iso_result;
/* ISO_HOLDS, ISO_VIOLATED, ISO_INCONCLUSIVE, ISO_NO_VIOLATION, or
 * ISO_E_ARGUMENT. */
ISO_API int iso_result_verdict(const iso_result *result);
/* "violated: not serializable; ...": what the program prints, without colours.
 */
ISO_API const char *iso_result_text(const iso_result *result);
/* What the program prints with --json: an object on one line. */
ISO_API const char *iso_result_json(const iso_result *result);
ISO_API void iso_result_free(iso_result *result);

/* Members of the JSON form by name, as the manual lists them: "complete",
 * "stats.histories", "assertions.0.violated".
 *
 * The number of elements of a list, or of members of an object; otherwise 0. */
ISO_API size_t iso_result_size(const iso_result *result, const char *name);
/* NULL if there is no string by this name. */
ISO_API const char *iso_result_string(const iso_result *result,
                                      const char *name);
/* Each returns 0, ISO_E_ARGUMENT, or ISO_E_RANGE: there is nothing of this kind
 * by this name. Counts are numbers, too. */
ISO_API int iso_result_count(const iso_result *result, const char *name,
                             uint64_t *out);
ISO_API int iso_result_number(const iso_result *result, const char *name,
                              double *out);
/* 0 or 1, or an error as above. */
ISO_API int iso_result_flag(const iso_result *result, const char *name);
/* A history, such as "assertions.0.example", for the caller. */
ISO_API int iso_result_history(iso_history **out, const iso_result *result,
                               const char *name);

/* ---- checking a history ---- */

typedef struct iso_history_check_options {
	size_t size;     /* sizeof (iso_history_check_options); 0: this one */
	unsigned levels; /* bit `1 << level` for each; 0: all */
	bool no_witness; /* do not look for why levels are violated */
	bool orders;     /* look for commit orders under the strongest levels
	                  * that hold */
	iso_limits limits;
} iso_history_check_options;

/* `options` may be NULL. The history must live as long as the result. The
 * verdict is that of all levels together. Returns 0 or ISO_E_ARGUMENT. */
ISO_API int iso_history_check(iso_result **out, const iso_history *history,
                              const iso_history_check_options *options);
/* The verdict on a level; ISO_E_RANGE if it was not checked. */
ISO_API int iso_result_level(const iso_result *result, iso_level level);
/* What violates the level, such as "lost update"; or NULL. */
ISO_API const char *iso_result_anomaly(const iso_result *result,
                                       iso_level level);
/* The part of the history that violates the level, or NULL. */
ISO_API const iso_history *iso_result_witness(const iso_result *result,
                                              iso_level level);
/* All transactions, init first, in an order in which they may have committed
 * under the level; NULL if none was found. */
ISO_API const uint32_t *iso_result_order(const iso_result *result,
                                         iso_level level);

/* ---- predicting from a history ---- */

typedef struct iso_predict_options {
	size_t size;      /* sizeof (iso_predict_options); 0: this version */
	iso_level level;  /* default: what the history states, or the program,
	                   * else cc. Not ser */
	bool strict;      /* only predictions that leave out what follows a
	                   * changed read */
	bool relaxed;     /* only those that keep it. Default: both kinds */
	bool approximate; /* IsoPredict's sufficient condition, not the exact
	                   * one */
	uint64_t wanted;  /* predictions, those with the fewest changed reads
	                   * first; 0: any one */
	const iso_program *program; /* to be run along the predictions; NULL:
	                             * none */
	bool no_witness;            /* do not look for why predictions are not
	                             * serializable */
	iso_limits limits;
} iso_predict_options;

/* `options` may be NULL. The history must live as long as the result. Returns
 * 0, ISO_E_ARGUMENT, ISO_E_HISTORY or ISO_E_CLIENT. */
ISO_API int iso_history_predict(iso_result **out, const iso_history *history,
                                const iso_predict_options *options,
                                iso_diags **diags);

typedef struct iso_prediction {
	size_t size;                /* sizeof (iso_prediction), by the caller */
	const iso_history *history; /* owned by the result */
	bool observed;              /* it is the observed one, unchanged */
	size_t changed;      /* reads that read from another transaction */
	bool validated;      /* run along it, the program's execution was not
	                      * serializable */
	bool diverged;       /* the run could not follow it all the way */
	const char *anomaly; /* usual name, or NULL */
} iso_prediction;
ISO_API size_t iso_result_prediction_count(const iso_result *result);
/* Returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_result_prediction(const iso_result *result, size_t i,
                                  iso_prediction *out);

/* ---- levels ---- */

typedef struct iso_separate_options {
	size_t size; /* sizeof (iso_separate_options); 0: this version */
	uint32_t max_transactions; /* of the histories looked at (4) */
	uint32_t max_events;       /* reads and writes together (6) */
	bool locks;                /* also those in which reads lock */
	bool statements;           /* also those with statements of several
	                            * events */
	double timeout;            /* seconds; 0: no limit */
} iso_separate_options;
/* A smallest history that one level allows and the other forbids, and one the
 * other way round. A level is "si"; or one of the two is a mix, "si+ser", in
 * which each transaction has one of these. `options` and `diags` may be NULL.
 * Returns 0 or ISO_E_ARGUMENT. */
ISO_API int iso_levels_separate(iso_result **out, const char *one,
                                const char *other,
                                const iso_separate_options *options,
                                iso_diags **diags);

/* ---- any number of transactions ---- */

typedef struct iso_prove_options {
	size_t size;         /* sizeof (iso_prove_options); 0: this version */
	iso_level level;     /* default: what the program says, else cc */
	bool one_each;       /* each transaction in a session of its own */
	bool no_errors;      /* leave out executions with run-time errors */
	uint32_t max_length; /* of cycles, 2 to 8 (4) */
	double timeout;      /* seconds; 0: no limit */
	bool table;          /* which accesses can conflict, and when */
	bool subsets;        /* which transactions are serializable together,
	                      * of at most 64 */
	bool explain;        /* which rules exclude each cycle */
	uint64_t memory;     /* bytes that the solver may take; 0: half of the
	                      * machine's */
	/* The weakest levels, one for each of at most 64 transactions, out of
	 * these ("prc+si+ser"; in SQL no others); NULL: they are not asked for.
	 */
	const char *allocate;
	/* Transactions whose answers may be stale: "a,b", or "read-only"; NULL:
	 * those that the text marks. */
	const char *stale_ok;
	/* Instead of serializability: what the program asserts of final states,
	 * and that this holds of them (NULL: nothing else). Without table,
	 * explain, subsets and allocate. */
	bool assertions;
	const char *invariant;
} iso_prove_options;
/* Is every execution of the transactions of a program serializable, for any
 * number of them? The program need not have sessions. `options` and `diags`
 * may be NULL. Returns 0, ISO_E_ARGUMENT or ISO_E_PROGRAM. */
ISO_API int iso_program_prove(iso_result **out, const char *path,
                              const iso_prove_options *options,
                              iso_diags **diags);

/* ---- logs of SQL ---- */

typedef struct iso_audit_options {
	size_t size;        /* sizeof (iso_audit_options); 0: this version */
	iso_level level;    /* default: prc; rc, si or ser */
	const char *schema; /* paths; NULL: none */
	const char *hints;
	const char *program;  /* where the transactions are written, as a
	                       * program in SQL; NULL: nowhere */
	bool confirm;         /* explore the transactions of each anomaly */
	double timeout;       /* seconds; 0: no limit */
	const char *group_by; /* what one call is: "connection", "tag:NAME,..",
	                       * "request:NAME,.."; then neither `program` nor
	                       * `confirm` nor `prove`. NULL: transactions by
	                       * themselves */
	bool prove; /* prove, where there are anomalies, that no number
	             * of these transactions has one */
} iso_audit_options;
/* Which anomalies can the transactions in these logs have? `options` and
 * `diags` may be NULL. Returns 0, ISO_E_ARGUMENT, ISO_E_FILE, or ISO_E_HISTORY
 * if a log, the schema or the hints cannot be read. */
ISO_API int iso_logs_audit(iso_result **out, const char *const *paths,
                           size_t count, const iso_audit_options *options,
                           iso_diags **diags);

/* ---- running a program ---- */

/* A serial run, as an observed history: that of the seed, or of the first seed
 * after it whose run meets no false assumption. The diagnostics warn of what
 * fails in the run. `seed` and `diags` may be NULL; *seed becomes the seed that
 * was used. Returns 0, ISO_E_ARGUMENT, ISO_E_LIMIT or ISO_E_CLIENT. */
ISO_API int iso_program_record(iso_history **out, const iso_program *program,
                               uint64_t *seed, iso_diags **diags);

typedef struct iso_run {
	uint64_t number; /* from 1 */
	uint64_t seed;
	bool serializable;
	size_t violated;            /* assertions, and run-time errors */
	const iso_history *history; /* valid during the call */
} iso_run;

typedef struct iso_run_options {
	size_t size;        /* sizeof (iso_run_options); 0 means this version */
	iso_level level;    /* default: what the program says, else cc */
	const char *policy; /* "uniform" (default), "weak=3", ... */
	uint64_t runs;      /* (1000) */
	uint64_t seed; /* (1) of the first run; each other has the next one */
	bool robust;   /* an unserializable history is a violation */
	bool stop_on_violation;
	bool coverage; /* also explore the program, to tell how much of it the
	                * runs have seen */
	uint64_t max_histories; /* of that exploration; 0: no limit */
	unsigned threads;       /* of that exploration; 0: one */
	/* Called for each run that counts; may be NULL. False stops. */
	bool (*run)(void *payload, const iso_run *run);
	void *payload;
	iso_limits limits;
} iso_run_options;

/* Random runs. `options` may be NULL. Returns 0, ISO_E_ARGUMENT or
 * ISO_E_CLIENT. */
ISO_API int iso_program_run(iso_result **out, const iso_program *program,
                            const iso_run_options *options);

typedef struct iso_replay {
	size_t size;       /* sizeof (iso_replay), by the caller */
	bool diverged;     /* at some point the history could not be followed */
	uint64_t changed;  /* reads from another transaction than in the
	                    * history */
	uint64_t values;   /* reads from the same one, but of another value */
	bool serializable; /* the execution that resulted */
} iso_replay;
/* Runs the program along a history of it, under the level. Returns 0,
 * ISO_E_ARGUMENT, ISO_E_HISTORY, ISO_E_LIMIT (the run met a false assumption,
 * or is too large) or ISO_E_CLIENT. */
ISO_API int iso_program_replay(const iso_program *program,
                               const iso_history *history, iso_level level,
                               iso_replay *out, iso_diags **diags);

typedef struct iso_compare_options {
	size_t size;     /* sizeof (iso_compare_options); 0: this version */
	iso_level level; /* default: what the program says, else cc. Not ser */
	bool strict, relaxed, approximate; /* as in iso_predict_options */
	uint64_t traces;      /* distinct serial ones at most; 0: all */
	uint64_t predictions; /* of each trace at most; 0: one */
	uint64_t runs;        /* random ones; 0: as many executions as
	                       * prediction needs */
	uint64_t seed;
	uint64_t max_histories; /* of the exploration; 0: no limit */
	unsigned threads;       /* of the exploration; 0: one */
	iso_limits limits;
	uint64_t seeds; /* the random runs as often, each time with the seeds
	                 * behind those before; 0: once */
} iso_compare_options;
/* Prediction, random runs and exploration side by side. `options` and `diags`
 * may be NULL. Returns 0, ISO_E_ARGUMENT or ISO_E_CLIENT. */
ISO_API int iso_program_compare(iso_result **out, const iso_program *program,
                                const iso_compare_options *options,
                                iso_diags **diags);

/* ---- checks: one exploration each ---- */

typedef struct iso_check iso_check;
typedef struct iso_execution iso_execution;

typedef enum iso_algorithm {
	ISO_EXPLORE_USUAL,   /* every history once: ISO_EXPLORE_CE at the levels
	                      * none, rc, ra and cc, or with `base`, and at pc
	                      * where its first steps lead to more histories;
	                      * else ISO_EXPLORE_ORDERLY */
	ISO_EXPLORE_DFS,     /* the baseline without reduction: histories repeat
	                      */
	ISO_EXPLORE_ORDERLY, /* every history once, by its first serial order;
	                      * under the level itself */
	ISO_EXPLORE_CE       /* every history once: explore-ce, explore-ce* */
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
	unsigned threads;      /* up to 4096; 0: one. The results are the same;
	                        * any thread may call iso_observer.history,
	                        * but never two at a time */
	/* These two explore orderly, whatever `algorithm` says. */
	bool symmetry; /* one of all histories that differ only in which of
	                * several sessions with the same code did what */
	bool bounded;  /* only histories with a serial order in which at most
	                * max_changes reads do not read the latest */
	uint64_t max_changes;
	/* Begin at this observed history of the program and go outwards,
	 * histories with the fewest changed reads first: up to the first one
	 * that is not serializable or, with `bounded`, to all that change at
	 * most max_changes reads. It must live as long as the check. */
	const iso_history *from;
	/* All sessions, in the order in which they are to be tried:
	 * "bob,alice". NULL: as declared. */
	const char *sessions_order;
} iso_options;

typedef enum iso_stop {
	ISO_STOP_NONE,      /* everything was explored */
	ISO_STOP_VIOLATION, /* stop_on_violation, and there was one */
	ISO_STOP_HISTORIES,
	ISO_STOP_TIME,
	ISO_STOP_MEMORY,
	ISO_STOP_INTERRUPTED,  /* by iso_check_stop() or a callback */
	ISO_STOP_TRANSACTIONS, /* too many transactions in one session */
	ISO_STOP_KEYS,         /* too many distinct keys */
	ISO_STOP_EVENTS,       /* too many events in one transaction */
	ISO_STOP_CLIENT,       /* iso_check_run() returned ISO_E_CLIENT */
	ISO_STOP_BOUND,        /* a session in C reached max_transactions or
	                        * max_accesses, and was cut short */
	ISO_STOP_CHANGES,      /* max_changes: others change more reads */
	ISO_STOP_STALE,        /* max_changes: others have more stale reads */
	ISO_STOP_SERVER        /* PostgreSQL has ended */
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

/* Callbacks; each may be NULL. They return true to go on, false to stop the
 * check. */
typedef struct iso_observer {
	/* A history was found. `e` is valid during the call. */
	bool (*history)(void *payload, const iso_execution *e);
	/* Called now and then, by the thread of iso_check_run(). */
	bool (*tick)(void *payload, const iso_stats *so_far, uint32_t depth);
} iso_observer;

/* The program is borrowed, the options are copied; `options` may be NULL.
 * Returns 0, ISO_E_ARGUMENT (also for options that exclude each other),
 * ISO_E_LEVEL, ISO_E_HISTORY (`from` is of another program) or ISO_E_PROGRAM
 * (its symmetric histories cannot be counted in 64 bits). */
ISO_API int iso_check_new(iso_check **out, const iso_program *program,
                          const iso_options *options);

/* Files of an exploration; each path may be NULL. */
typedef struct iso_check_files {
	size_t size; /* sizeof (iso_check_files); 0: this version */
	/* What to continue: a checkpoint or a unit of a split, not both. It
	 * decides what is explored: of the options, only limits and threads
	 * may be set. */
	const char *resume, *unit;
	/* The file that says how far it is, written now and then and at the
	 * end. Default: the checkpoint that is resumed or, beside
	 * unit-003.json, result-003.json. If that result exists already, the
	 * exploration continues from it. */
	const char *checkpoint;
	double every; /* seconds between checkpoints; 0: 60 */
	/* Takes each history as a line of JSON: in the order in which they are
	 * found or, `sorted`, in which one thread finds them; that excludes
	 * the files above. */
	const char *histories;
	bool sorted;
	const char *temporary; /* folder for sorting; NULL: /tmp */
} iso_check_files;
/* iso_check_new() with files. `options`, `files` and `diags` may be NULL; the
 * paths must live as long as the check. Also returns ISO_E_PART. */
ISO_API int iso_check_with_files(iso_check **out, const iso_program *program,
                                 const iso_options *options,
                                 const iso_check_files *files,
                                 iso_diags **diags);
ISO_API void iso_check_free(iso_check *check);
/* Adds an observer, before the run; there may be several. Returns 0,
 * ISO_E_ARGUMENT or ISO_E_STATE. */
ISO_API int iso_check_observe(iso_check *check, const iso_observer *observer,
                              void *payload);
/* Explores; once per check. Returns ISO_HOLDS, ISO_VIOLATED, ISO_INCONCLUSIVE
 * (stopped by a limit, before any violation was found), or a negative error.
 * After ISO_E_FILE, iso_check_result() has the result nevertheless. */
ISO_API int iso_check_run(iso_check *check);
/* Which file could not be written, and why; NULL if all could. */
ISO_API const char *iso_check_problem(const iso_check *check);
/* After the run: what was found, as other calls return it. Returns 0,
 * ISO_E_ARGUMENT or ISO_E_STATE. */
ISO_API int iso_check_result(iso_result **out, const iso_check *check);

/* Explorations of other kinds. `options` are those of a check, and may be NULL.
 * Each returns 0, an error of iso_check_new() (ISO_E_ARGUMENT also for options
 * that make no sense here), or ISO_E_CLIENT.
 *
 * Under all levels: a table of assertions. */
ISO_API int iso_program_levels(iso_result **out, const iso_program *program,
                               const iso_options *options);
/* Explores for so many seconds, then estimates how many histories there are and
 * how long it takes to explore them all. */
ISO_API int iso_program_estimate(iso_result **out, const iso_program *program,
                                 const iso_options *options, double seconds,
                                 uint64_t seed);
/* Independent random descents. */
ISO_API int iso_program_sample(iso_result **out, const iso_program *program,
                               const iso_options *options, uint64_t descents,
                               uint64_t seed);
typedef struct iso_repair_options {
	size_t size;          /* sizeof (iso_repair_options); 0: this version */
	uint32_t max_edits;   /* at most so many together (3) */
	const char *weights;  /* a file with what edits cost, or NULL */
	bool oracle;          /* what Oracle has, where a read that locks counts
	                       * as a write */
	uint32_t max_repairs; /* stop after so many (8) */
} iso_repair_options;
/* The cheapest edits of a program in .tx or SQL under which nothing is
 * violated; its files are read anew. Also returns ISO_E_PROGRAM, for a file of
 * weights that cannot be read too. `repair` and `diags` may be NULL. */
ISO_API int iso_program_repair(iso_result **out, const iso_program *program,
                               const iso_options *options,
                               const iso_repair_options *repair,
                               iso_diags **diags);
typedef struct iso_decide_options {
	size_t size;     /* sizeof (iso_decide_options); 0: this version */
	iso_level level; /* default: what the program says, else cc */
	double timeout;  /* seconds; 0: no limit */
	uint64_t memory; /* bytes; 0: half of the machine's */
	bool robust;     /* every history must be serializable */
} iso_decide_options;
/* The program's assertions, without enumerating its histories. `options` may be
 * NULL. Returns 0, ISO_E_CLIENT, or ISO_E_ARGUMENT, also for levels and
 * programs that it does not cover, as far as that is known beforehand. */
ISO_API int iso_program_decide(iso_result **out, const iso_program *program,
                               const iso_decide_options *options);
/* The same under every level: the level asked for may be one that does not
 * cover the program if another one does. */
ISO_API int iso_program_decide_levels(iso_result **out,
                                      const iso_program *program,
                                      const iso_decide_options *options);
/* The same for what each of its sessions can read, and how it can end; `robust`
 * says nothing there. */
ISO_API int iso_program_runs(iso_result **out, const iso_program *program,
                             const iso_decide_options *options);
/* Asks the run to end soon. Async-signal-safe, and safe from any thread. */
ISO_API void iso_check_stop(iso_check *check);
/* Fills out->size bytes of `out`. Returns 0, ISO_E_ARGUMENT or ISO_E_STATE. */
ISO_API int iso_check_stats(const iso_check *check, iso_stats *out);

/* An execution, within the history callback. */
ISO_API uint64_t iso_execution_number(const iso_execution *e); /* from 1 */
/* Equal for equal histories. */
ISO_API uint64_t iso_execution_hash(const iso_execution *e);
/* How many assertions it violates. */
ISO_API size_t iso_execution_violated(const iso_execution *e);
/* A copy of its history, which is the caller's. */
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
	uint64_t histories;         /* that violate it */
	const iso_history *example; /* the first of them, owned by the check */
} iso_violation;

/* What was found to be violated, after the run or in one of its callbacks. */
ISO_API size_t iso_check_violation_count(const iso_check *check);
/* Returns 0, ISO_E_ARGUMENT or ISO_E_RANGE. */
ISO_API int iso_check_violation(iso_check *check, size_t i, iso_violation *out);

/* ---- explorations in parts ---- */

typedef struct iso_split {
	size_t size;        /* sizeof (iso_split), by the caller */
	size_t branches;    /* in all units together */
	uint64_t histories; /* found so far, which are in no unit */
	uint32_t units;     /* that were made: fewer than asked for if there are
	                     * not as many branches; 0: nothing is left */
} iso_split;
/* Divides an exploration into at most so many units, and writes them into a
 * folder, which is made if need be: unit-001.json and so on, and split.json
 * with what was found on the way. What is divided is the exploration of the
 * program or, if `part` is not NULL, what is left of that unit or checkpoint;
 * then only limits may be set in the options, and the default folder is the
 * part's own. `options`, `out` and `diags` may be NULL. Returns 0, an error of
 * iso_check_new(), ISO_E_PART, ISO_E_LIMIT (the program is too large),
 * ISO_E_FILE or ISO_E_CLIENT. */
ISO_API int iso_program_split(const iso_program *program,
                              const iso_options *options, const char *part,
                              uint32_t units, const char *folder,
                              iso_split *out, iso_diags **diags);
/* Adds up what was found of all units of a split, from the files in its
 * folders. With `partial`, units need not be finished: the verdict is that of
 * what was found. Returns 0, ISO_E_ARGUMENT, ISO_E_PART or ISO_E_CLIENT. */
ISO_API int iso_program_merge(iso_result **out, const iso_program *program,
                              const char *const *folders, size_t count,
                              bool partial, iso_diags **diags);
/* The path of the program that a unit, checkpoint or result belongs to, to be
 * freed with iso_free(). Returns 0, ISO_E_ARGUMENT or ISO_E_PART. */
ISO_API int iso_part_program(char **out, const char *part, iso_diags **diags);

#ifdef __cplusplus
}
#endif

#endif
