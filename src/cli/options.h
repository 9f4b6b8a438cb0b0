/* The one table of commands and options: it feeds the parser, --help, the
 * manual page and the completions of the shells. To add an option, add a line
 * here and use its value in the command. */
#ifndef ISO_CLI_OPTIONS_H
#define ISO_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "axioms/level.h"
#include "base/level_words.h"
#include "base/text.h"
#include "formats/formats.h"
#include "generate/workload.h"

/* X(identifier, word, operands, summary)
 * The function <word>_main runs the command. */
#define COMMAND_TABLE(X)                                                    \
	X(EXPLORE, explore, "PROGRAM",                                      \
	  "enumerate every history of a program under an isolation level")  \
	X(SPLIT, split, "PROGRAM|UNIT",                                     \
	  "divide an exploration into units for several machines")          \
	X(MERGE, merge, "FOLDER...",                                        \
	  "add up what was found in the units of a split")                  \
	X(RUN, run, "PROGRAM",                                              \
	  "run a program at random, with reads that a level allows")        \
	X(RECORD, record, "PROGRAM",                                        \
	  "run a program serially, and write what was observed")            \
	X(PREDICT, predict, "HISTORY...",                                   \
	  "find an unserializable execution near an observed one")          \
	X(COMPARE, compare, "PROGRAM",                                      \
	  "compare prediction, random runs and exploration")                \
	X(CHECK, check, "HISTORY...",                                       \
	  "say which isolation levels recorded histories satisfy")          \
	X(CONVERT, convert, "HISTORY",                                      \
	  "write a recorded history in another format")                     \
	X(GENERATE, generate, "",                                           \
	  "make a random history of a store that provides a level")         \
	X(SEPARATE, separate, "LEVEL LEVEL",                                \
	  "find the smallest history that tells two levels apart")          \
	X(DECIDE, decide, "PROGRAM",                                        \
	  "decide assertions without enumerating histories")                \
	X(RUNS, runs, "PROGRAM",                                            \
	  "list what each session can read, and how it can end")            \
	X(PROVE, prove, "PROGRAM",                                          \
	  "prove that any number of transactions are serializable")         \
	X(AUDIT, audit, "LOG...",                                           \
	  "find the anomalies that an application's SQL log can contain")   \
	X(SERVE, serve, "[-- COMMAND...]",                                  \
	  "serve clients of PostgreSQL with reads that a level allows")     \
	X(REPORT, report, "RESULT",                                         \
	  "write a saved result, as --json prints it, in another form")     \
	X(LSP, lsp, "", "serve an editor, by the Language Server Protocol") \
	X(FMT, fmt, "FILE...", "print programs in canonical layout")        \
	X(COMPILE, compile, "FILE",                                         \
	  "check that a program compiles, or show its bytecode")            \
	X(HELP, help, "[COMMAND]", "explain a command and its options")     \
	X(VERSION, version, "", "print the version")

enum command {
#define X(id, word, operands, summary) COMMAND_##id,
	COMMAND_TABLE(X)
#undef X
		COMMAND_COUNT
};

#define IN_EXPLORE (1u << COMMAND_EXPLORE)
#define IN_SPLIT (1u << COMMAND_SPLIT)
#define IN_MERGE (1u << COMMAND_MERGE)
/* Those that say what is to be explored. */
#define IN_EXPLORING (IN_EXPLORE | IN_SPLIT)
#define IN_RUN (1u << COMMAND_RUN)
#define IN_RECORD (1u << COMMAND_RECORD)
#define IN_PREDICT (1u << COMMAND_PREDICT)
#define IN_COMPARE (1u << COMMAND_COMPARE)
#define IN_CHECK (1u << COMMAND_CHECK)
#define IN_CONVERT (1u << COMMAND_CONVERT)
#define IN_GENERATE (1u << COMMAND_GENERATE)
#define IN_SEPARATE (1u << COMMAND_SEPARATE)
#define IN_DECIDE (1u << COMMAND_DECIDE)
#define IN_RUNS (1u << COMMAND_RUNS)
#define IN_PROVE (1u << COMMAND_PROVE)
#define IN_AUDIT (1u << COMMAND_AUDIT)
#define IN_SERVE (1u << COMMAND_SERVE)
#define IN_REPORT (1u << COMMAND_REPORT)
#define IN_LSP (1u << COMMAND_LSP)
#define IN_FMT (1u << COMMAND_FMT)
#define IN_COMPILE (1u << COMMAND_COMPILE)
#define IN_HELP (1u << COMMAND_HELP)
#define IN_COLOURED                                                       \
	(IN_RUNNING | IN_CHECK | IN_CONVERT | IN_GENERATE | IN_SEPARATE | \
	 IN_PROVE | IN_AUDIT | IN_SERVE | IN_FMT | IN_COMPILE)
#define IN_DRAWING                                                   \
	(IN_EXPLORE | IN_RUN | IN_PREDICT | IN_CHECK | IN_SEPARATE | \
	 IN_DECIDE | IN_PROVE)
#define IN_REPORTING (IN_DRAWING | IN_COMPARE | IN_RUNS)
/* Those whose results have other forms, made from the JSON. */
#define IN_SHOWING                                                             \
	(IN_EXPLORE | IN_RUN | IN_PREDICT | IN_COMPARE | IN_CHECK | IN_PROVE | \
	 IN_DECIDE | IN_AUDIT | IN_REPORT | IN_MERGE | IN_SEPARATE)
/* Those that run programs. */
#define IN_RUNNING                                                            \
	(IN_EXPLORE | IN_SPLIT | IN_MERGE | IN_RUN | IN_RECORD | IN_PREDICT | \
	 IN_COMPARE | IN_DECIDE | IN_RUNS)
#define IN_ALL ((1u << COMMAND_COUNT) - 1)

/* The words that an option's argument may be, with spaces between. */
#define LEVEL_WORD_AND_SPACE(id, word, ...) word " "
#define DEPLOYMENT_AND_SPACE(name, word) name " "
#define CHOICE_LEVELS \
	LEVEL_TABLE(LEVEL_WORD_AND_SPACE) DEPLOYMENT_TABLE(DEPLOYMENT_AND_SPACE)
#define FORMAT_WORD_AND_SPACE(id, word, ending, description) word " "
#define CHOICE_FORMATS FORMAT_TABLE(FORMAT_WORD_AND_SPACE)
#define ANOMALY_WORD_AND_SPACE(id, word, forbidden_by, description) word " "
#define CHOICE_ANOMALIES PLANTED_TABLE(ANOMALY_WORD_AND_SPACE)

/* X(identifier, commands, word, letter or 0, argument or NULL, choices or
 *   NULL, help)
 * Behind a choice that ends in '=' the command reads what it wants.
 * An argument called FILE is completed with the names of files. */
#define OPTION_TABLE(X)                                                        \
	X(ISOLATION,                                                           \
	  IN_EXPLORING | IN_RUN | IN_DECIDE | IN_RUNS | IN_PROVE | IN_LSP,     \
	  "isolation", 'i', "LEVEL", CHOICE_LEVELS,                            \
	  "the isolation level that the database provides; without it "        \
	  "the one that the program states, else cc (prc in SQL)")             \
	X(PREDICT_LEVEL, IN_PREDICT | IN_COMPARE, "isolation", 'i', "LEVEL",   \
	  CHOICE_LEVELS,                                                       \
	  "the isolation level that the predicted execution satisfies, "       \
	  "any but ser; without it the one that the history or the "           \
	  "program states, else cc")                                           \
	X(FROM_PROGRAM, IN_PREDICT, "program", 0, "PROGRAM", NULL,             \
	  "record serial traces of this program, and predict from each")       \
	X(BOUNDARY, IN_PREDICT | IN_COMPARE, "boundary", 0, "NAME",            \
	  "both strict relaxed",                                               \
	  "what is kept of a transaction that reads something else: "          \
	  "nothing after that read (strict), everything (relaxed), or "        \
	  "both, strict first (both, the default)")                            \
	X(ENCODING, IN_PREDICT | IN_COMPARE, "encoding", 0, "NAME",            \
	  "exact approx",                                                      \
	  "exact (the default), or the sufficient condition of "               \
	  "IsoPredict (approx)")                                               \
	X(ALL, IN_PREDICT | IN_COMPARE, "all", 0, "N", NULL,                   \
	  "up to N predictions from each trace, those with the fewest "        \
	  "changed reads first (1)")                                           \
	X(VALIDATE, IN_PREDICT, "validate", 0, "PROGRAM", NULL,                \
	  "run this program along each prediction")                            \
	X(TRACES, IN_COMPARE, "traces", 0, "N", NULL,                          \
	  "record at most N distinct serial traces; without it all "           \
	  "there are")                                                         \
	X(RUNS, IN_RUN | IN_PREDICT | IN_COMPARE, "runs", 0, "N", NULL,        \
	  "the number of runs: of the program (run: 1000), recorded "          \
	  "ones (predict: 1), random ones (compare: as many executions "       \
	  "as prediction needs)")                                              \
	X(RUN_SEED, IN_RUN | IN_RECORD | IN_PREDICT | IN_COMPARE, "seed", 0,   \
	  "N", NULL,                                                           \
	  "the same number gives the same result, on every machine (1); run "  \
	  "number i has the seed N + i - 1")                                   \
	X(SEEDS, IN_COMPARE, "seeds", 0, "N", NULL,                            \
	  "do the random runs N times with different seeds, and say how "      \
	  "much each time finds (1)")                                          \
	X(POLICY, IN_RUN, "policy", 0, "NAME",                                 \
	  "uniform session-first latest oldest weak=",                         \
	  "how writers are chosen: uniform (the default), session- "           \
	  "first, latest, oldest, or weak=K (at most K reads get a "           \
	  "writer other than the latest that the level allows there)")         \
	X(SERVED_LEVEL, IN_SERVE, "isolation", 'i', "LEVEL", CHOICE_LEVELS,    \
	  "the isolation level of transactions that do not ask for one by "    \
	  "BEGIN (prc)")                                                       \
	X(SERVED_SCHEMA, IN_SERVE, "schema", 0, "FILE", NULL,                  \
	  "SQL that makes the tables, and what is in them")                    \
	X(SET_UP, IN_SERVE, "setup", 0, "COMMAND", NULL,                       \
	  "what the shell runs to make them, as migrations do")                \
	X(LISTEN, IN_SERVE, "listen", 0, "HOST:PORT", NULL,                    \
	  "listen there by TCP, too, and tell clients so (port 0: any that "   \
	  "is free); the password is that of PGPASSWORD, or one is made")      \
	X(ANSWERS, IN_SERVE, "policy", 0, "NAME", "random latest oldest",      \
	  "which of the versions that the level allows a read gets: any "      \
	  "(random, the default), the newest (latest) or the oldest")          \
	X(SERVED_SEED, IN_SERVE, "seed", 0, "N", NULL,                         \
	  "what random versions are drawn by (1)")                             \
	X(SERVED_RUNS, IN_SERVE, "runs", 0, "N", NULL,                         \
	  "run the command up to N times, each with the next seed, until it "  \
	  "fails; then say which few stale reads are enough for that")         \
	X(STALE, IN_SERVE, "stale", 0, "SHARE", NULL,                          \
	  "the share of reads that get another version than the newest, of "   \
	  "those that may; without it each version is as likely")              \
	X(STALE_WITHIN, IN_SERVE, "stale-within", 0, "N", NULL,                \
	  "no transaction reads what was overwritten N commits before it "     \
	  "began, or longer (10000)")                                          \
	X(REAL_TIME, IN_SERVE, "real-time", 0, NULL, NULL,                     \
	  "what has committed when a transaction begins comes before it; "     \
	  "without it, only what its connection has seen, or found")           \
	X(FAULTS, IN_SERVE, "faults", 0, "SHARE", NULL,                        \
	  "refuse so many commits with 40001, and locks with 40P01, for no "   \
	  "reason: is the command ready to try again? (0)")                    \
	X(HISTORY_FILE, IN_SERVE, "history", 0, "FILE", NULL,                  \
	  "write what was served as a recorded history, for isoscope check "   \
	  "and predict")                                                       \
	X(COVERAGE, IN_RUN, "coverage", 0, NULL, NULL,                         \
	  "explore the program as well, and say what share of all "            \
	  "histories the runs have seen")                                      \
	X(EXPLORE_FROM, IN_EXPLORE, "from", 0, "TRACE", NULL,                  \
	  "begin at this observed history of the program and work outwards, "  \
	  "fewest changed reads first, to the first unserializable history")   \
	X(MAX_CHANGES, IN_EXPLORING, "max-changes", 0, "K", NULL,              \
	  "only histories with a serial order in which at most K reads "       \
	  "do not read the latest value; with --from: at most K changed "      \
	  "reads")                                                             \
	X(JOBS, IN_EXPLORE | IN_RUN | IN_COMPARE, "jobs", 'j', "N", NULL,      \
	  "explore in N threads; without it one for each core, but a "         \
	  "single one with --max-histories or --from (run: of "                \
	  "--coverage)")                                                       \
	X(SYMMETRY, IN_EXPLORING, "symmetry", 0, NULL, NULL,                   \
	  "explore one of each class of histories that differ only in which "  \
	  "of several sessions with the same code did what")                   \
	X(ESTIMATE, IN_EXPLORE, "estimate", 0, "[=SECONDS]", NULL,             \
	  "estimate in a moment how many histories there are and how "         \
	  "long exploring them takes")                                         \
	X(RANDOM, IN_EXPLORE, "random", 0, "N", NULL,                          \
	  "instead of exploring all, make N independent random descents")      \
	X(EXPLORE_SEED, IN_EXPLORE, "seed", 0, "N", NULL,                      \
	  "for --random and --estimate: the same number gives the same "       \
	  "descents (1)")                                                      \
	X(CHECKPOINT, IN_EXPLORE, "checkpoint", 0, "FILE", NULL,               \
	  "save what was found and what is left to explore to this "           \
	  "file, at intervals and at the end")                                 \
	X(CHECKPOINT_EVERY, IN_EXPLORE, "checkpoint-every", 0, "SECONDS",      \
	  NULL, "how often to save (60)")                                      \
	X(RESUME, IN_EXPLORE, "resume", 0, "FILE", NULL,                       \
	  "resume from this checkpoint of the same exploration")               \
	X(UNIT, IN_EXPLORE, "unit", 0, "FILE", NULL,                           \
	  "explore this part, written by 'isoscope split', instead of a "      \
	  "PROGRAM")                                                           \
	X(CHECK_LEVEL, IN_CHECK, "isolation", 'i', "LEVEL", CHOICE_LEVELS,     \
	  "the isolation level to check; without it all nine")                 \
	X(AUDIT_LEVEL, IN_AUDIT, "isolation", 'i', "LEVEL", CHOICE_LEVELS,     \
	  "the isolation level that the database provides: rc (with locks), "  \
	  "prc (the default), si or ser")                                      \
	X(SCHEMA, IN_AUDIT, "schema", 0, "FILE", NULL,                         \
	  "the tables: CREATE TABLE, or lines table,column,type,default,key "  \
	  "with PRI and UNI for keys; without it rows are not told apart")     \
	X(HINTS, IN_AUDIT, "hints", 0, "FILE", NULL,                           \
	  "what is known of the application beyond its log (see the manual)")  \
	X(GROUP_BY, IN_AUDIT, "group-by", 0, "CALL", NULL,                     \
	  "what belongs to one call of the application: connection, or the "   \
	  "same comment tags, tag:NAME,.. on a connection, request:NAME,.. "   \
	  "on any")                                                            \
	X(AUDIT_PROGRAM, IN_AUDIT, "program", 0, "FILE", NULL,                 \
	  "write the transactions as a program in SQL, a function for each "   \
	  "class")                                                             \
	X(CONFIRM, IN_AUDIT, "confirm", 0, NULL, NULL,                         \
	  "explore the transactions of each anomaly, with the values that "    \
	  "they have in the log")                                              \
	X(PROVE_ALL, IN_AUDIT, "prove", 0, NULL, NULL,                         \
	  "where there are anomalies, try to prove that no number of these "   \
	  "transactions has one")                                              \
	X(CONFIRM_EXAMPLES, IN_EXPLORE | IN_RUN | IN_PREDICT, "confirm", 0,    \
	  NULL, NULL,                                                          \
	  "in SQL: try each counterexample on an unmodified PostgreSQL, by "   \
	  "its schedule, and say whether it happens there")                    \
	X(REPRODUCE, IN_EXPLORE | IN_RUN | IN_PREDICT, "reproduce", 0, "FILE", \
	  NULL,                                                                \
	  "with --confirm: write the first one that happened there, for "      \
	  "PostgreSQL's isolationtester (FILE.spec) or for psql (FILE.sh)")    \
	X(EXPLAIN, IN_AUDIT, "explain", 0, "CYCLE", NULL,                      \
	  "tell this anomaly in full, by its number")                          \
	X(FORMAT, IN_CHECK | IN_PREDICT, "format", 0, "FORMAT",                \
	  CHOICE_FORMATS,                                                      \
	  "the format of the input; without it, it is recognised by its "      \
	  "content")                                                           \
	X(FROM, IN_CONVERT, "from", 0, "FORMAT", CHOICE_FORMATS,               \
	  "the format of the input; without it, it is recognised by its "      \
	  "content")                                                           \
	X(TO, IN_CONVERT, "to", 0, "FORMAT", CHOICE_FORMATS,                   \
	  "the format to write")                                               \
	X(OUTPUT, IN_CONVERT | IN_GENERATE | IN_RECORD, "output", 'o', "FILE", \
	  NULL,                                                                \
	  "write to this file instead of the standard output (cobra: a "       \
	  "folder)")                                                           \
	X(HISTORY, IN_CHECK | IN_CONVERT | IN_PREDICT, "history", 0, "N",      \
	  NULL, "only the Nth history of an input that has several")           \
	X(UNKNOWN, IN_CHECK | IN_CONVERT | IN_PREDICT, "unknown-is-initial",   \
	  0, NULL, NULL,                                                       \
	  "take a value that nobody wrote for the key's initial one, as "      \
	  "in logs that lack writers")                                         \
	X(STRONGEST, IN_CHECK, "strongest", 0, NULL, NULL,                     \
	  "print just the strongest levels that hold")                         \
	X(COMMIT_ORDER, IN_CHECK, "commit-order", 0, NULL, NULL,               \
	  "print the transactions in an order in which they may have "         \
	  "committed")                                                         \
	X(OPS, IN_GENERATE, "ops", 0, "N", NULL,                               \
	  "the number of operations of all transactions together (40)")        \
	X(TRANSACTIONS, IN_GENERATE, "transactions", 0, "N", NULL,             \
	  "the number of transactions, instead of --ops")                      \
	X(SESSIONS, IN_GENERATE, "sessions", 0, "N", NULL,                     \
	  "the number of sessions (5)")                                        \
	X(LENGTH, IN_GENERATE, "txn-len", 0, "N", NULL,                        \
	  "the number of operations in each transaction (4)")                  \
	X(GEOMETRIC, IN_GENERATE, "geometric", 0, NULL, NULL,                  \
	  "vary the length of transactions, with --txn-len as the mean")       \
	X(KEYS, IN_GENERATE, "keys", 0, "N", NULL, "the number of keys (10)")  \
	X(READS, IN_GENERATE, "reads", 0, "FRACTION", NULL,                    \
	  "the share of operations that are reads (0.5)")                      \
	X(DIST, IN_GENERATE, "dist", 0, "NAME", "uniform zipf",                \
	  "which keys are used: all equally often (uniform), or key i "        \
	  "with a probability proportional to 1/i^theta (zipf)")               \
	X(THETA, IN_GENERATE, "theta", 0, "X", NULL,                           \
	  "the exponent of zipf (0.99)")                                       \
	X(LEVEL, IN_GENERATE, "level", 0, "LEVEL", CHOICE_LEVELS,              \
	  "the isolation level that the simulated store provides (ser); "      \
	  "or several, rc+si+ser, of which each transaction has one")          \
	X(LOCKED_READS, IN_GENERATE, "locks", 0, "FRACTION", NULL,             \
	  "the share of reads that take a shared or exclusive lock (0)")       \
	X(LAG, IN_GENERATE, "lag", 0, "N", NULL,                               \
	  "how many of the last commits a transaction may miss, if the "       \
	  "level allows it (100)")                                             \
	X(ABORTS, IN_GENERATE, "aborts", 0, "FRACTION", NULL,                  \
	  "the share of transactions that abort (0)")                          \
	X(SEED, IN_GENERATE, "seed", 0, "N", NULL,                             \
	  "the same number gives the same history, on every machine "          \
	  "(1)")                                                               \
	X(ANOMALY, IN_GENERATE, "anomaly", 0, "NAME", CHOICE_ANOMALIES,        \
	  "add a few transactions that show this anomaly: thin-air, "          \
	  "G1a, G1b, internal, G1c, otv, fractured-read, causality, "          \
	  "long-fork, lost-update or write-skew")                              \
	X(GENERATED, IN_GENERATE | IN_RECORD, "format", 0, "FORMAT",           \
	  CHOICE_FORMATS, "the format to write (isoscope)")                    \
	X(SMALL_TRANSACTIONS, IN_SEPARATE, "max-transactions", 0, "N", NULL,   \
	  "search histories of up to N transactions (4)")                      \
	X(SMALL_EVENTS, IN_SEPARATE, "max-events", 0, "N", NULL,               \
	  "search histories of up to N reads and writes together (6)")         \
	X(LOCKS, IN_SEPARATE, "locks", 0, NULL, NULL,                          \
	  "include histories in which reads take shared or exclusive "         \
	  "locks")                                                             \
	X(STATEMENTS, IN_SEPARATE, "statements", 0, NULL, NULL,                \
	  "include histories in which one statement makes several "            \
	  "accesses")                                                          \
	X(MAX_LENGTH, IN_PROVE, "max-length", 0, "N", NULL,                    \
	  "look for cycles of up to N transactions (4; at most 8)")            \
	X(ONE_EACH, IN_PROVE, "one-each", 0, NULL, NULL,                       \
	  "each transaction runs in a session of its own; without it a "       \
	  "session may run any number")                                        \
	X(NO_ERRORS, IN_PROVE, "no-errors", 0, NULL, NULL,                     \
	  "leave out executions in which a transaction ends by a run-time "    \
	  "error, such as an overflow")                                        \
	X(TABLE, IN_PROVE, "table", 0, NULL, NULL,                             \
	  "say which accesses of two transactions can conflict, on which "     \
	  "keys and under which conditions")                                   \
	X(EXPLAIN_PROOF, IN_PROVE, "explain", 0, NULL, NULL,                   \
	  "say of each cycle that two and two would allow which rules "        \
	  "exclude it; if it is proved")                                       \
	X(SUBSETS, IN_PROVE, "subsets", 0, NULL, NULL,                         \
	  "say which of the transactions are serializable together: the "      \
	  "largest sets")                                                      \
	X(STALE_OK, IN_PROVE, "stale-ok", 0, "WHICH", NULL,                    \
	  "what these transactions answer may be stale (a,b; or read-only: "   \
	  "all that only read): leave them out, and say what they answer")     \
	X(ASSERTIONS, IN_PROVE, "assertions", 0, NULL, NULL,                   \
	  "prove what the program asserts of final states, instead of "        \
	  "serializability")                                                   \
	X(INVARIANT, IN_PROVE, "invariant", 0, "WHAT", NULL,                   \
	  "prove that this holds in every final state, too: an expression "    \
	  "of globals in .tx, a query in SQL")                                 \
	X(ALLOCATE, IN_PROVE, "allocate", 0, NULL, NULL,                       \
	  "say at which levels, one for each transaction, they are "           \
	  "serializable: the weakest ones")                                    \
	X(AMONG, IN_PROVE, "among", 0, "LEVELS", NULL,                         \
	  "with --allocate: choose from these levels (prc+si+ser)")            \
	X(CLIENT, IN_PROVE, "client", 0, "FILE", NULL,                         \
	  "write the program with the counterexample, to be explored")         \
	X(RESULT, IN_EXPLORE, "output", 'o', "FILE", NULL,                     \
	  "with --unit: where to write its result; without it, beside "        \
	  "the unit")                                                          \
	X(UNITS, IN_SPLIT, "units", 'n', "K", NULL, "the number of units")     \
	X(FOLDER, IN_SPLIT, "output", 'o', "DIR", NULL,                        \
	  "the folder to write the units to; for a unit that is split, "       \
	  "its own")                                                           \
	X(MERGED_PROGRAM, IN_MERGE, "program", 0, "PROGRAM", NULL,             \
	  "where the program is now, if it has moved")                         \
	X(PARTIAL, IN_MERGE, "partial", 0, NULL, NULL,                         \
	  "accept units that are not finished, and report what is known so "   \
	  "far")                                                               \
	X(BASE, IN_EXPLORING, "base", 0, "LEVEL",                              \
	  LEVEL_TABLE(LEVEL_WORD_AND_SPACE),                                   \
	  "explore under this weaker level (none, rc, ra or cc) and "          \
	  "filter; with --algorithm ce the default for prc is rc, for "        \
	  "pc, psi, si and ser cc")                                            \
	X(ALGORITHM, IN_EXPLORING, "algorithm", 0, "NAME", "ce dfs orderly",   \
	  "ce and orderly give every history once: ce is the default "         \
	  "for none, rc, ra and cc, orderly for the other levels (pc: "        \
	  "whichever is quicker at first) and "                                \
	  "with --symmetry and --max-changes; dfs, the baseline without "      \
	  "reduction, repeats histories")                                      \
	X(ROBUST, IN_EXPLORING | IN_RUN | IN_DECIDE, "robust", 0, NULL, NULL,  \
	  "require that every history is serializable")                        \
	X(FIX, IN_EXPLORE, "fix", 0, NULL, NULL,                               \
	  "find the cheapest edits of the program under which nothing is "     \
	  "violated: reads that lock, atomic updates, transactions at a "      \
	  "stronger level")                                                    \
	X(WATCH, IN_EXPLORE, "watch", 0, NULL, NULL,                           \
	  "explore again whenever a file of the program changes, until "       \
	  "Ctrl-C")                                                            \
	X(MAX_EDITS, IN_EXPLORE, "max-edits", 0, "N", NULL,                    \
	  "with --fix: at most N edits together (3)")                          \
	X(MAX_REPAIRS, IN_EXPLORE, "max-repairs", 0, "N", NULL,                \
	  "with --fix: stop after N repairs (8)")                              \
	X(WEIGHTS, IN_EXPLORE, "weights", 0, "FILE", NULL,                     \
	  "with --fix: a file with the costs of edits, in lines such as "      \
	  "'lock 1', 'transaction ser 5' and 'atomic never'")                  \
	X(ORACLE, IN_EXPLORE, "oracle", 0, NULL, NULL,                         \
	  "with --fix: only what Oracle has; a locked read counts as a "       \
	  "write, as with FOR UPDATE there")                                   \
	X(LEVELS, IN_EXPLORE, "levels", 0, NULL, NULL,                         \
	  "print a table of assertions and histories under all levels")        \
	X(DECIDE_LEVELS, IN_DECIDE, "levels", 0, NULL, NULL,                   \
	  "print a table: what holds of each assertion under which level")     \
	X(PROOF, IN_DECIDE, "proof", 0, "FILE", NULL,                          \
	  "write the solver's proof that all holds, as DRAT, and what it is "  \
	  "a proof of, as DIMACS, to FILE.cnf")                                \
	X(HISTORIES, IN_EXPLORE | IN_RUN | IN_PREDICT, "histories", 0, "FILE", \
	  NULL, "write every history, one line of JSON each")                  \
	X(SORTED, IN_EXPLORE, "sorted", 0, NULL, NULL,                         \
	  "write --histories in the order of a single thread, so that "        \
	  "the file does not depend on the number of threads")                 \
	X(JSON, IN_REPORTING | IN_MERGE | IN_AUDIT | IN_SERVE, "json", 0,      \
	  NULL, NULL, "print the result as JSON")                              \
	X(DOT, IN_DRAWING, "dot", 0, "FILE", NULL,                             \
	  "write a picture of the first violation, for Graphviz")              \
	X(SVG, IN_DRAWING, "svg", 0, "FILE", NULL,                             \
	  "draw that picture with Graphviz")                                   \
	X(HTML, IN_SHOWING, "html", 0, "FILE", NULL,                           \
	  "write the result as a page for a browser, which is a file by "      \
	  "itself")                                                            \
	X(SARIF, IN_SHOWING, "sarif", 0, "FILE", NULL,                         \
	  "write what fails as SARIF 2.1.0, for editors and code scanning")    \
	X(JUNIT, IN_SHOWING, "junit", 0, "FILE", NULL,                         \
	  "write what holds and what fails as JUnit's XML, for CI")            \
	X(TAP, IN_SHOWING, "tap", 0, NULL, NULL,                               \
	  "print that as TAP, and the words on standard error")                \
	X(GITHUB, IN_SHOWING, "github", 0, NULL, NULL,                         \
	  "print annotations for GitHub as well")                              \
	X(MAX_HISTORIES, IN_EXPLORE | IN_RUN | IN_COMPARE, "max-histories", 0, \
	  "N", NULL,                                                           \
	  "stop an exploration after N histories (run: that of --coverage)")   \
	X(TIMEOUT, IN_REPORTING | IN_AUDIT | IN_LSP, "timeout", 0, "SECONDS",  \
	  NULL, "stop after so much time")                                     \
	X(MEMORY, IN_REPORTING & ~IN_SEPARATE, "memory", 0, "SIZE", NULL,      \
	  "stop when the work needs more than SIZE bytes (k, M, G: "           \
	  "powers of 1024)")                                                   \
	X(STEP_TIMEOUT, IN_RUNNING, "step-timeout", 0, "SECONDS", NULL,        \
	  "how long code in C may run between two calls of isoscope's "        \
	  "functions (10; 0: no limit); more is a run-time error of the "      \
	  "program")                                                           \
	X(SESSION, IN_RUNNING | IN_COMPILE, "session", 0, "NAME:SQL", NULL,    \
	  "for a file of SQL: a session, as in 'ann: CALL buy(1)'; may "       \
	  "be repeated")                                                       \
	X(ASSERT, IN_RUNNING | IN_COMPILE, "assert", 0, "QUERY", NULL,         \
	  "for a file of SQL: a query that must be true when all "             \
	  "sessions have ended; may be repeated")                              \
	X(READ_ALL_ROWS, IN_RUNNING, "read-all-rows", 0, NULL, NULL,           \
	  "in SQL, have each condition read every row of its table; "          \
	  "without it, rows that can make no difference are left out")         \
	X(ENGINE, IN_EXPLORE, "engine", 0, "NAME", "builtin postgres",         \
	  "in SQL, who carries statements out: isoscope itself (builtin), "    \
	  "or a private PostgreSQL (postgres)")                                \
	X(SERIALIZABLE,                                                        \
	  IN_EXPLORING | IN_MERGE | IN_RUN | IN_CHECK | IN_PREDICT |           \
	          IN_COMPARE,                                                  \
	  "serializable", 0, "OF", "postgres",                                 \
	  "transactions at ser beside others at weaker levels are as "         \
	  "PostgreSQL's, serializable among each other only (postgres); "      \
	  "without it they see all that commits before them")                  \
	X(MAX_TRANSACTIONS, IN_RUNNING, "max-transactions", 0, "N", NULL,      \
	  "how many transactions a session in C may begin (3000); "            \
	  "executions with more are left out, with a warning")                 \
	X(MAX_ACCESSES, IN_RUNNING, "max-accesses", 0, "N", NULL,              \
	  "how many reads and writes one of its transactions may make "        \
	  "(60000)")                                                           \
	X(CLIENT_OUTPUT, IN_RUNNING, "client-output", 0, NULL, NULL,           \
	  "show what code in C prints each time it runs; without it "          \
	  "only the last lines before a crash are shown")                      \
	X(STOP, IN_EXPLORE | IN_RUN, "stop-on-violation", 0, NULL, NULL,       \
	  "stop at the first violation")                                       \
	X(SESSIONS_ORDER, IN_EXPLORING, "sessions-order", 0, "A,B,...", NULL,  \
	  "explore the sessions in this order; the result is the same")        \
	X(CHECK_DUPLICATES, IN_EXPLORE, "check-duplicates", 0, NULL, NULL,     \
	  "remember all histories, and count those that are repeated "         \
	  "(takes memory)")                                                    \
	X(CHECK, IN_FMT, "check", 0, NULL, NULL,                               \
	  "only print the names of files whose layout would change, "          \
	  "with exit code 1 if there are any")                                 \
	X(WRITE, IN_FMT, "write", 0, NULL, NULL,                               \
	  "change the files instead of printing them")                         \
	X(DUMP, IN_COMPILE, "dump", 0, NULL, NULL, "print the bytecode")       \
	X(MAN, IN_HELP, "man", 0, NULL, NULL, "print the manual page (roff)")  \
	X(COMPLETION, IN_HELP, "completion", 0, "SHELL", "bash zsh",           \
	  "print the completion for this shell")                               \
	X(HELP_JSON, IN_HELP, "json", 0, NULL, NULL,                           \
	  "print all commands and options as JSON")                            \
	X(QUIET, IN_REPORTING | IN_SPLIT | IN_MERGE | IN_AUDIT | IN_SERVE,     \
	  "quiet", 'q', NULL, NULL, "print only the verdict, and no progress") \
	X(COLOR, IN_COLOURED, "color", 0, "WHEN", "auto always never",         \
	  "colours: auto (on a terminal, unless NO_COLOR is set), always or "  \
	  "never")                                                             \
	X(NO_COLOR, IN_COLOURED, "no-color", 0, NULL, NULL,                    \
	  "the same as --color=never")                                         \
	X(HELP, IN_ALL, "help", 'h', NULL, NULL, "print this help")

enum option_id {
#define X(id, in, word, letter, argument, choices, help) OPTION_##id,
	OPTION_TABLE(X)
#undef X
		OPTION_COUNT
};

struct option_entry {
	unsigned commands;
	const char *word;
	char letter;
	const char *argument; /* NULL: takes none; "[=NAME]": may be left out,
	                       * and stands behind '=' if not */
	const char *choices;  /* NULL: anything */
	const char *help;
};

struct command_entry {
	const char *word, *operands, *summary;
};

/* May the option stand without its argument? Its value is then "". */
bool option_alone(const struct option_entry *o);

extern const struct option_entry option_table[OPTION_COUNT];
extern const struct command_entry command_table[COMMAND_COUNT];

/* What was given on the command line; strings are borrowed from argv. */
enum { OPTION_SPELLING = 32 }; /* bytes, at most */

struct command_line {
	enum command command;
	const char *value[OPTION_COUNT]; /* NULL: not given; "" for flags, and
	                                  * for arguments that were left out */
	/* As the user gave it: "-n", "--units". */
	char spelling[OPTION_COUNT][OPTION_SPELLING];
	const char **operands; /* owned */
	size_t operand_count;
	const char **sessions, **asserts; /* --session, --assert: in order, and
	                                   * NULL; owned; NULL: none */
	struct said *said;                /* see cli/output.h; borrowed */
};

/* COMMAND_COUNT if there is no such command. */
enum command command_from_word(const char *word);
/* The command that was probably meant, or NULL. */
const char *command_nearest(const char *word);
/* Reads the arguments after the command's word. False when they are wrong,
 * after saying why on stderr. */
bool command_line_read(struct command_line *c, enum command command, int count,
                       char **arguments);
/* "isoscope explore a.tx -i si": the command, without what only says how its
 * result is written. */
void command_line_say(const struct command_line *c, struct text *t);
void command_line_free(struct command_line *c);

/* The commands. Each returns the exit code. */
#define X(id, word, operands, summary) \
	int word##_main(const struct command_line *c);
COMMAND_TABLE(X)
#undef X

#endif
