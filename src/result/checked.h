/* One recorded history with all that was found out about it, and the words
 * that every report of it uses. */
#ifndef ISO_RESULT_CHECKED_H
#define ISO_RESULT_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/text.h"
#include "check/check.h"
#include "check/minimal_violation.h"
#include "formats/formats.h"
#include "history/trace.h"

struct result;
struct result_row;
struct result_table;
struct result_values;

/* How many transactions have levels of their own? If some do, a level that is
 * asked about is that of the others. */
enum check_owns { OWNS_NONE, OWNS_SOME, OWNS_ALL };
enum check_owns trace_owns(const struct trace *t);
/* For JSON: how many do, if some do. */
void result_owns(struct result *r, const struct trace *t);

/* Everything is borrowed. */
struct check_case {
	const struct trace *trace;
	enum format format;
	uint64_t number; /* in its file, from 1 */
	unsigned wanted; /* bit l: level l was checked */
	enum check_owns owns;
	const char *as; /* what the database calls it, if one and so said */
	const struct check_result *results; /* LEVEL_COUNT */
	/* LEVEL_COUNT; those without `part` have none. NULL: no witness was
	 * looked for. */
	const struct check_witness *witnesses;
	/* The level whose witness shows why this one is violated: itself or a
	 * weaker one; LEVEL_COUNT: none does. */
	enum level shown_by[LEVEL_COUNT];
	const char *unexplained; /* why a witness is missing, or NULL */
	double read_seconds, check_seconds, explain_seconds;
};

/* "ser" alone was asked for, or LEVEL_COUNT: all levels. */
enum level check_only(const struct check_case *c);
bool check_has(const struct check_case *c, enum level l, enum verdict verdict);
bool check_undecided(const struct check_case *c); /* some level is */
/* Of all levels together: violated if one is, else undecided if one is. */
enum verdict check_overall(const struct check_case *c);
/* The levels that hold and are not implied by another one that does. Returns
 * how many. */
unsigned check_strongest(const struct check_case *c,
                         enum level out[LEVEL_COUNT]);
/* The usual name of what violates the level, or NULL. */
const char *check_anomaly_name(const struct check_case *c, enum level l);

/* "si"; "own" where all transactions have levels of their own. */
const char *checked_level_word(enum check_owns owns, enum level l);
/* What the history satisfies or violates, at this level: "Snapshot Isolation
 * (si)", "its levels, with Snapshot Isolation (si) for the others". */
void name_checked_level(struct text *t, enum check_owns owns, enum level l,
                        const char *as, bool several);
/* "pc, psi and si", by their words; a single one with its name. */
void name_level_or_levels(struct text *t, const enum level *levels,
                          unsigned count);
/* "pc, psi and si", by their words. */
void name_levels(struct text *t, const enum level *levels, unsigned count);
/* "alice.1 enroll", "3.18 t17", "init", as names.h has it for histories. */
void name_trace_transaction(struct text *t, const struct trace *r, uint32_t i);
/* The same as a value. */
void result_trace_transaction(struct result *r, struct result_values *to,
                              const char *name, const struct trace *t,
                              uint32_t i);
/* "x", "key 7" */
void name_trace_key(struct text *t, const struct trace *r, uint32_t key);
/* "reads x = 3", "appends 4 to x", "reads x as a list that ends with 4" */
void name_trace_operation(struct text *t, const struct trace *r, uint32_t op);
/* "h.jsonl:12"; without the line if that is 0. */
void name_trace_place(struct text *t, const struct trace *r, uint32_t line);
/* What stands behind the verdict's word and colon. */
void name_check_reason(struct text *t, const struct check_case *c);
/* One anomaly as a clause: who reads what, and what is wrong with it. */
void name_trace_anomaly(struct text *t, const struct trace *r,
                        const struct trace_anomaly *a);

/* Many histories, of which only counts and a few are kept. */
struct check_summary {
	uint64_t histories, unlisted; /* violating ones that are not listed */
	unsigned wanted;
	enum check_owns owns; /* OWNS_SOME: of some of them, or not of all */
	const char *as;       /* as above */
	uint64_t verdicts[LEVEL_COUNT][VERDICT_UNDECIDED + 1];
	uint64_t overall[VERDICT_UNDECIDED + 1];
	struct text list; /* the first that are violating, a line each */
	unsigned listed;
	const char *stopped; /* why not all were checked, or NULL */
	double seconds;
};

void check_summary_add(struct check_summary *m, const struct check_case *c);
void check_summary_free(struct check_summary *m);
/* Violated if one is, else undecided if one is, or if not all were checked. */
enum verdict check_summary_verdict(const struct check_summary *m);
/* What was found out about a history, as a result; `orders`: with the commit
 * orders of the strongest levels that hold. */
struct result *result_of_check(const struct check_case *c, bool orders);
/* Adds lines of its size, and of what the checking cost. */
void result_check_costs(struct result *r, const struct check_case *c);
/* What was found out about all of them. */
struct result *result_of_checks(const struct check_summary *m);

/* A table of levels, above all else, and its row of this one. */
struct result_table *result_level_table(struct result *r, unsigned columns,
                                        unsigned column_least);
struct result_row *result_level_row(struct result *r, enum check_owns owns,
                                    enum level l);

#endif
