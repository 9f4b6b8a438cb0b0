/* What a command found, as a document: every command fills this structure, and
 * report/ renders it (text, JSON, DOT, and whatever comes). Whoever renders
 * asks nothing of explorers, campaigns or checkers, so a result looks the same
 * wherever it comes from.
 *
 *	options -> a call of the library -> struct result -> a renderer
 *
 * It has a spine of fixed parts that each command fills as far as it has them:
 *
 *	settings     what was asked, and of what: program or file, level, seed
 *	verdict      with the reason in words, and why it stopped
 *	findings     counts that belong to the answer (predictions, ways)
 *	assertions   each with its place and state, and an example
 *	warnings     of vacuous success, with their places
 *	measures     statistics, costs, coverage, estimates
 *	lines        the same for people: a label, a number, and some words
 *
 * Settings, findings and measures are named values: numbers, words, flags, and
 * groups and lists of them. A renderer prints them as they come, in the order
 * in which they were added, so a new number needs no new code in any renderer.
 * What has a form of its own (a history, a cycle, a table of levels) is a
 * typed part. A part that a command does not have is empty, and left out.
 *
 * The JSON form (docs/manual.md, "Results in JSON") is the spine in this order:
 *
 *	{"isoscope":..., settings..., "verdict":..., "reason":...,
 *	 "complete":..., "stop":..., findings..., "assertions":[...],
 *	 "warnings":[...], measures...}
 *
 * Memory: all strings and values are copies in the result's own region, so
 * words may be composed in a scratch text. Borrowed are the program, and the
 * histories and findings of examples, which belong to the explorer, campaign
 * or trace that they come from: free the result before those.
 *
 * Who fills it: one function for each command, in a file of its name beside
 * this one (explored.c for an exploration).
 */
#ifndef ISO_RESULT_RESULT_H
#define ISO_RESULT_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/budget.h"
#include "base/diag.h"
#include "base/region.h"
#include "base/text.h"
#include "base/verdict.h"
#include "vm/program.h"

struct finding;
struct history;

/* ---- named values ---- */

enum result_kind {
	RESULT_TEXT, /* a string, or null */
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

enum result_state {
	ASSERTION_FAILS,
	ASSERTION_HOLDS,
	ASSERTION_PASSES, /* in all that was seen, which is not all */
	ASSERTION_OPEN    /* likewise, since a limit came first */
};

/* A read that an observed history has from another writer. */
struct result_change {
	uint32_t reader, event; /* transaction, and event of it */
	uint32_t observed;      /* writer then; UINT32_MAX: it is not in the
	                         * history */
	const char *words; /* "bob.1 add reads x from init instead of ..." */
	struct result_values more;
};

/* A history in which something fails, and why no serial order explains it. */
struct result_example {
	const struct history *history; /* NULL: there is none. Borrowed */
	const struct finding *finding; /* NULL for serializability. Borrowed */
	struct position failed_at;     /* of the finding */
	bool serializable;
	const char *anomaly;     /* its usual name, or NULL */
	enum level forbidden_by; /* the weakest that does, or LEVEL_COUNT */
	struct witness cycle;    /* none: count == 0 */
	struct result_change *changes; /* of an observed history; NULL: it is
	                                * not compared with one */
	uint32_t change_count;
};

/* An assertion, run-time errors (kind "error"), or "robust". */
struct result_assertion {
	const char *text;    /* "assert !(alice.ok == true)" */
	const char *kind;    /* "inline", "final", "serializable", ... */
	const char *message; /* given in the source, or NULL */
	bool may_have_message;
	struct position at; /* no file: no place */
	enum result_state state;
	uint64_t violations; /* histories or runs, of so many as were seen */
	const char *where;   /* "fails in 3 of 12 histories, for example:" */
	const char *repeat;  /* the command that shows it again, or NULL */
	struct result_values more; /* behind "violated" */
	struct result_example example;
	uint32_t shown_by; /* the assertion whose example is the same history:
	                    * this one itself, or one before */
};

/* ---- the rest ---- */

/* A line below the result: "stale reads     2  at most, in some order". */
struct result_line {
	const char *label, *number, *words;
};

struct result {
	struct region region;          /* of all strings and values */
	const struct program *program; /* NULL: there is none. Borrowed */
	enum level level;
	const char *fault; /* nothing found is worth anything, and why; then
	                    * there is nothing else but settings */

	struct result_values settings;

	enum verdict verdict;
	const char *reason; /* what stands behind the verdict's word */
	bool complete;      /* it came to the end */
	enum stop_reason stop;
	const char *stop_words; /* for people, of the stop */
	const char *note;       /* a paragraph below the verdict, or NULL */

	struct result_values findings;

	struct result_assertion *assertions;
	uint32_t assertion_count;
	struct diags warnings;

	struct result_values measures;
	struct result_line *lines;
	uint32_t line_count;
};

struct result *result_new(const struct program *p, enum level l);
void result_free(struct result *r); /* NULL is fine */

/* Each adds a value behind the others. Strings are copied; names are literals.
 */
void result_text(struct result *r, struct result_values *to, const char *name,
                 const char *value);
void result_count(struct result *r, struct result_values *to, const char *name,
                  uint64_t n);
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

/* A copy of what was composed, which is emptied. */
const char *result_words(struct result *r, struct text *words);
/* A line of counts; both texts are emptied. */
void result_line(struct result *r, const char *label, struct text *number,
                 struct text *words);

#endif
