/* What a command found, as a document: every command fills this structure, and
 * report/ renders it (text, JSON, DOT, and whatever comes). Whoever renders
 * asks nothing of explorers, campaigns or checkers, so a result looks the same
 * wherever it comes from.
 *
 *	options -> a call of the library -> struct result -> a renderer
 *
 * It has a spine of parts that each command fills as far as it has them:
 *
 *	settings     what was asked, and of what: program or file, level, seed
 *	verdict      with the reason in words
 *	findings     what belongs to the answer: whether it is complete, why it
 *	             stopped, counts of predictions
 *	assertions   each with its place and state, and an example
 *	warnings     of vacuous success, with their places
 *	measures     statistics, costs, coverage, estimates
 *	lines        the same for people: a label, a number, and some words
 *
 * Settings, findings and measures are named values: numbers, words, flags, and
 * groups and lists of them. A renderer prints them as they come, in the order
 * in which they were added, so a new number needs no new code in any renderer.
 * What has a form of its own (an assertion, a history, a cycle) is a typed
 * part. A part that a command does not have is left out.
 *
 * The JSON form (docs/manual.md, section 20) is the spine in this order:
 *
 *	{"isoscope":..., "version":..., settings..., "verdict":...,
 *	 "reason":..., findings..., "assertions":[...], "warnings":[...],
 *	 measures...}
 *
 * Memory: all strings and values are copies in the result's own region, so
 * words may be composed in a scratch text. Borrowed are the program, and the
 * histories and findings of examples and parts, which belong to the explorer,
 * campaign, check or trace that they come from: free the result before those.
 *
 * Who fills it: a function for each command, in a file of its name beside this
 * one (explored.c for an exploration).
 */
#ifndef ISO_RESULT_RESULT_H
#define ISO_RESULT_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/schedule.h"
#include "axioms/witness.h"
#include "base/budget.h"
#include "base/diag.h"
#include "base/region.h"
#include "base/text.h"
#include "base/verdict.h"
#include "vm/program.h"

struct finding;
struct history;
struct proof;
struct repair;

/* ---- named values ---- */

enum result_kind {
	RESULT_TEXT, /* a string, or null */
	RESULT_JSON, /* a text that is JSON already */
	RESULT_COUNT,
	RESULT_NUMBER,  /* null for NAN: nobody knows */
	RESULT_SECONDS, /* to a microsecond */
	RESULT_FLAG,
	RESULT_GROUP, /* values with names */
	RESULT_LIST   /* values without */
};

struct result_value;
struct result_values {
	struct result_value *first, *last;
};
struct result_value {
	struct result_value *next;
	const char *name; /* NULL in a list */
	enum result_kind kind;
	union {
		const char *text;
		uint64_t count;
		double number; /* seconds as well */
		bool flag;
		struct result_values values;
	};
};

/* ---- assertions and examples ---- */

/*     identifier, word in the list of assertions */
#define RESULT_STATE_TABLE(X)                                \
	X(ASSERTION_FAILS, "fails")                          \
	X(ASSERTION_HOLDS, "holds")                          \
	/* in all that was seen, which is not all */         \
	X(ASSERTION_PASSES, "passes")                        \
	/* likewise, since a limit came first */             \
	X(ASSERTION_OPEN, "open")                            \
	/* nothing was seen that counts: it is not listed */ \
	X(ASSERTION_UNKNOWN, "unknown")

enum result_state {
#define X(id, word) id,
	RESULT_STATE_TABLE(X)
#undef X
};

/* A read that an observed history has from another writer. */
struct result_change {
	uint32_t reader, event; /* transaction, and event of it */
	uint32_t observed;      /* writer then; UINT32_MAX: it is not in the
	                         * history */
	const char *words; /* "bob.1 add reads x from init, observed ..." */
	struct result_values members;
};
struct result_changes {
	struct result_change *items;
	uint32_t count;
};

/* More of them are only counted, for people. */
enum { RESULT_CHANGES_SHOWN = 20 };

/* A counterexample, or a prediction, was tried on an unmodified PostgreSQL: a
 * line for each statement that was sent, and for each that waited and has
 * ended. */
struct result_confirmation {
	bool confirmed;
	const char *words; /* "confirmed on PostgreSQL 15.5 at READ COMMITTED",
	                    * "not possible on PostgreSQL: .."; NULL: it was not
	                    * tried */
	struct result_line *lines; /* session, what comes of it, statement */
	uint32_t line_count;
	struct result_values members;
};

/* A history in which something fails, and why no serial order explains it. */
struct result_example {
	const struct history *history; /* NULL: there is none. Borrowed */
	const struct finding *finding; /* NULL for serializability. Borrowed */
	struct position failed_at;     /* of the finding */
	const char *source_line; /* worth a line below the finding, or NULL */
	bool serializable;
	const char *anomaly;        /* its usual name, or NULL */
	enum level forbidden_by;    /* the weakest that does, or LEVEL_COUNT */
	struct witness cycle;       /* none: count == 0 */
	struct result_values edges; /* of the cycle, as members */
	enum level level;           /* of transactions without one */
	struct schedule schedule;   /* none: count == 0 */
	struct result_values steps; /* as members: steps.c */
	bool compared;              /* with an observed history: */
	struct result_changes changes;
	struct result_confirmation confirmation;
};

/* An assertion, run-time errors (kind "error"), or "robust". */
struct result_assertion {
	uint32_t slot;       /* in the program, as in dpor/explorer.h */
	const char *text;    /* "assert !(alice.ok == true)" */
	const char *kind;    /* "inline", "final", "serializable", ... */
	const char *message; /* given in the source, or NULL */
	struct position at;  /* no file: no place */
	enum result_state state;
	bool counted;        /* `violations` are known */
	uint64_t violations; /* histories or runs, of those seen */
	/* How it is violated: "fails in 3 of 12 histories, for example:"; NULL:
	 * it is not, or nothing is to be told of it. */
	const char *where;
	const char *repeat; /* the command that shows it again, or NULL */
	/* Who found that it is violated: "prediction, exploration"; NULL: there
	 * is only one way to find it. */
	const char *found_by;
	struct result_values members; /* behind "violated" */
	struct result_example example;
	uint32_t shown_by; /* the first assertion whose example is the same
	                    * history: this one itself, or one before */
};

/* A small history that shows something, behind a line that says what; or the
 * line alone. */
struct result_part {
	const char *heading; /* "... allows what ... forbids, in 2 .." */
	const char *anomaly; /* its usual name, or NULL */
	bool anomaly_leads;  /* it stands before the line, not behind it */
	const char *extent;  /* how much of a history it is, a line, or NULL */
	const char *levels;  /* who has which, a line, or NULL */
	const struct history *history; /* NULL: there is none. Borrowed */
	struct result_changes changes; /* reads that are marked */
	const char *title;             /* of its picture, or NULL */
	const char *cycle_leads;       /* the line above the cycle */
	struct witness cycle;          /* none: count == 0. Borrowed */
	const char *closing;           /* lines below it, or NULL */
};

/* A line: "stale reads     2  at most, in some order". */
struct result_line {
	const char *label, *number, *words; /* number NULL: words follow the
	                                     * label */
};

/* ---- predictions ---- */

/* A transaction: "bob.1 add", and in brief "bob.1". */
struct result_who {
	const char *name, *brief;
};
/* What a read has: a value, NULL if it is not known, and from whom. */
struct result_answer {
	const char *value;
	struct result_who from;
};
/* A read that is predicted otherwise than observed, and how many there are of
 * that transaction that are alike. */
struct result_read {
	struct result_who reader;
	const char *key;
	uint32_t times;
	struct result_answer observed, predicted;
};

/* What is told of one prediction. */
struct result_prediction {
	const char *title; /* "prediction 3"; NULL: only one was wanted */
	bool itself;       /* the observed execution is what is predicted */
	struct result_read *reads;
	uint32_t read_count, more_reads; /* that are shown, and others */
	const char *nearness;   /* whether fewer reads may do, or NULL */
	struct result_part why; /* it is not serializable. No heading: nothing
	                         * is to be told */
	/* What it has of each session: a line, a name and words for each that
	 * is worth it, and lines for the others. NULL: all. */
	const char *sessions_lead, *sessions_rest;
	struct result_line *sessions;
	uint32_t session_count;
	/* What became of running the program along it, in lines. NULL: it was
	 * not run. */
	const char *validation;
	bool validated;
	struct result_confirmation confirmation;
};

/* ---- the rest ---- */

/* A table: rows of cells, each at the right of its column or all at the left,
 * behind labels. The first row may be that of the heads. Columns are as wide as
 * their cells, and at least so wide. */
enum result_mark {
	MARK_NONE,
	MARK_DIM,
	MARK_NAME,
	MARK_ASKED, /* what was asked about, among others */
	MARK_GOOD,
	MARK_BAD,
	MARK_OPEN
};
struct result_cell {
	const char *words;
	enum result_mark mark;
};
struct result_row {
	struct result_row *next;
	const char *label, *note; /* a note is behind all cells; or NULL */
	struct result_cell cells[];
};
struct result_table {
	unsigned columns, column_least, label_least;
	bool left;
	struct result_row *first, *last;
};

/* Of the JSON form. Members that are added leave it as it is. */
enum { RESULT_JSON_VERSION = 1 };

/* How much is told: a verdict is cheap, examples need their anomaly. */
enum result_depth { RESULT_VERDICT, RESULT_WHOLE };

struct result {
	struct region region;          /* of all strings and values */
	const struct program *program; /* NULL: there is none. Borrowed */
	enum level level;

	struct result_values settings;

	enum verdict verdict;
	const char *reason; /* what stands behind the verdict's word */
	/* What is told instead of the reason of an inconclusive verdict, and
	 * below any other: an estimate, or what else can be done; or NULL. */
	const char *outlook;
	const char *note; /* lines below the verdict, or NULL */
	/* Of a recorded history: "h.jsonl:3"; else NULL. And what stands behind
	 * place and verdict in a list of many. */
	const char *place, *brief;

	struct result_values findings;
	/* While they are added, to be a list of the findings; and the last
	 * one, in words. What it borrows lasts no longer than itself. */
	struct result_values predictions;
	struct result_prediction *prediction;

	bool has_assertions, has_warnings;
	struct result_assertion *assertions;
	uint32_t assertion_count;
	unsigned state_width; /* of a column with the words of their states */
	struct diags warnings;

	struct result_values measures;
	struct result_line *lines;
	uint32_t line_count;
	unsigned label_width, number_width; /* of lines */
	struct result_table *table;         /* NULL: there is none */
	bool table_leads; /* it stands above the assertions and the lines */
	struct result_part *parts;
	uint32_t part_count;
	bool parts_lead;            /* they stand in place of the verdict */
	struct history **histories; /* that were made for parts */
	uint32_t history_count;
	const struct repair *repair; /* of its command; borrowed */
	const struct proof *proof;   /* the same */
	const char *closing;         /* paragraphs below the lines, or NULL */
	/* The command line that gives this result again, or NULL; and parts of
	 * the texts that places are in, which api/sources.h adds. */
	const char *command;
	struct result_values sources;
};

struct result *result_new(const struct program *p, enum level l);
void result_free(struct result *r); /* NULL is fine */

/* Each adds a value behind the others. Strings are copied; names are literals.
 */
void result_text(struct result *r, struct result_values *to, const char *name,
                 const char *value);
void result_count(struct result *r, struct result_values *to, const char *name,
                  uint64_t n);
/* The count, or null. */
void result_count_if(struct result *r, struct result_values *to,
                     const char *name, bool known, uint64_t n);
void result_number(struct result *r, struct result_values *to, const char *name,
                   double n);
void result_seconds(struct result *r, struct result_values *to,
                    const char *name, double seconds);
void result_flag(struct result *r, struct result_values *to, const char *name,
                 bool value);
/* The values of the group or list, to be filled. */
struct result_values *result_group(struct result *r, struct result_values *to,
                                   const char *name);
struct result_values *result_list(struct result *r, struct result_values *to,
                                  const char *name);

/* A value of a program or a history, printed as JSON, which is emptied. */
void result_json(struct result *r, struct result_values *to, const char *name,
                 struct text *printed);
/* The same of words that were composed, which are emptied. */
void result_taken(struct result *r, struct result_values *to, const char *name,
                  struct text *words);
/* A copy of what was composed, which is emptied. */
const char *result_words(struct result *r, struct text *words);
/* The same of what is composed here. */
const char *result_format(struct result *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line of counts; the words are emptied. */
void result_line(struct result *r, const char *label, uint64_t n,
                 struct text *words);
/* The same for what is no plain number, such as "1.4 MB"; emptied as well. */
void result_line_text(struct result *r, const char *label, struct text *number,
                      struct text *words);
/* One of words alone; emptied. */
void result_line_words(struct result *r, const char *label, struct text *words);
/* A table without rows, and a row, each of its cells still without words.
 * Labels are copied. */
struct result_table *result_table(struct result *r, unsigned columns,
                                  unsigned column_least, unsigned label_least);
struct result_row *result_row(struct result *r, const char *label);
/* How a cell looks that has the verdict's word. */
enum result_mark result_mark_of(enum verdict v);
/* Takes the history over. */
const struct history *result_keep(struct result *r, struct history *h);
/* A part without anything. What the returned pointer points to moves with the
 * next one. */
struct result_part *result_part(struct result *r);
/* The value of that name, which is literal; NULL if there is none. */
const struct result_value *result_find(const struct result_values *in,
                                       const char *name);
/* Lines of what it took: how many of `n` there were in each second ("20,000
 * runs per second"), unless that is noise; and the memory, if that is known. */
void result_line_time(struct result *r, double seconds, double cpu_seconds,
                      unsigned threads, uint64_t n, const char *one,
                      const char *many);
/* Lines "time" and "memory"; a time has no word if it is all there is. */
struct result_time {
	double seconds;
	const char *doing; /* "reading", or NULL */
	bool rare;         /* told only if it is worth it */
};
void result_line_costs(struct result *r, const struct result_time *times,
                       unsigned count);

/* ---- assertions: assertions.c ---- */

/* Adds the slot; its state, count and members are the caller's to set. What
 * the returned pointer points to moves with the next one. */
struct result_assertion *result_assertion(struct result *r, uint32_t slot,
                                          const struct finding *f);
/* What happens at this moment of the example's schedule: name_moment(). */
const char *result_moment(const struct result_example *x,
                          struct schedule_moment m);
/* Its example: what is wrong with the history, and which assertion shows it
 * already. */
void result_example(struct result *r, struct result_assertion *a,
                    const struct history *h, const struct finding *f);

#endif
